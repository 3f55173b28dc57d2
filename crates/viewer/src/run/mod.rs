//! `frazil run`: a scene, simulated from its beginning or from a checkpoint, with all that it writes.

mod flow;
mod impacts;
mod interrupt;
mod outputs;
mod picture;
mod progress;
mod report;
mod schedule;
mod session;
mod writer;

pub use interrupt::flag as interrupt_flag;
pub use outputs::{Folder, create_dir, default_folder};
pub use picture::draw;
pub use report::{GIT_COMMIT, Report};
pub use schedule::Schedule;
pub use session::Ended;

use crate::args::RunArgs;
use crate::device;
use crate::failure::Failure;
use crate::invariants;
use crate::plots;
use crate::profile;
use crate::profiling::PassLog;
use crate::say;
use crate::simulation::Simulation;
use crate::state;
use frazil_io::{Checkpoint, Frame, RecordingMeta, StateHasher};
use frazil_scene::{Output, Render, Scene};
use frazil_vk::{Device, ReadbackRing};
use indicatif::ProgressBar;
use outputs::Outputs;
use picture::Camera;
use progress::Progress;
use session::Session;
use std::path::Path;
use writer::Writer;

/// Runs a scene.
pub fn run(args: &RunArgs, validation: bool) -> Result<(), Failure> {
    let mut report = Report::begin();
    let scene = args.scene.load()?;
    let checkpoint = args.resume.as_deref().map(|path| read_checkpoint(path, &scene)).transpose()?;
    for advice in scene.advice() {
        report.warn(advice.to_string(), args.quiet);
    }
    let selector = args.device.device.as_deref();
    let device = if args.profile {
        device::open_to_profile(selector, validation)?
    } else {
        device::open(selector, validation, Vec::new())?
    };
    if !args.quiet {
        say::note(format_args!("device {}: {}", device.info().index, device::describe(device.info())));
    }
    if device.is_software() {
        report.warn(device::SOFTWARE_WARNING.to_owned(), args.quiet);
    }
    let folder = Folder::create(&args.out.clone().unwrap_or_else(|| default_folder(&scene)))?;
    let start = Start { args, device: &device, scene, checkpoint, folder: &folder, report, bar: None };
    let ran = simulate(start, |_| Ok(()))?;
    match ran.ended {
        Ended::Complete => {
            if !args.quiet {
                say::note(format_args!(
                    "{} steps done; results are in {}",
                    ran.step,
                    folder.root().display()
                ));
            }
            Ok(())
        }
        Ended::Interrupted => Err(interrupted(&ran, &folder)),
    }
}

/// A run about to begin.
pub struct Start<'a> {
    pub args: &'a RunArgs,
    pub device: &'a Device,
    pub scene: Scene,
    /// The state to go on from.
    pub checkpoint: Option<Checkpoint>,
    pub folder: &'a Folder,
    pub report: Report,
    /// The bar of several runs, and where on it this one begins; without it the run has a bar of its own.
    pub bar: Option<(&'a ProgressBar, u64)>,
}

/// A run that is over.
pub struct Ran {
    pub ended: Ended,
    pub step: u64,
    pub schedule: Schedule,
}

/// Runs to the end, or to an interrupt. What `at_end` writes of the final state is there before `run.json` is.
pub fn simulate(
    start: Start<'_>,
    at_end: impl FnOnce(&Simulation) -> Result<(), Failure>,
) -> Result<Ran, Failure> {
    let Start { args, device, scene, checkpoint, folder, mut report, bar } = start;
    let schedule = Schedule::new(args, &scene);
    let meta = RecordingMeta {
        scene_json: serde_json::to_string(&scene).map_err(Failure::other)?,
        seed: scene.seed,
        device: device.info().name.clone(),
    };
    let mut passes = args.profile.then(|| PassLog::new(device)).transpose()?;
    let mut simulation = match &checkpoint {
        Some(checkpoint) => Simulation::restore(device, scene, checkpoint)?,
        None => Simulation::new(device, scene)?,
    };
    // Before files of an earlier run are touched.
    let recorded = recorded_columns(args, &simulation)?;
    let metrics = simulation.solver.metrics();
    let outputs = match &checkpoint {
        Some(checkpoint) => Outputs::resume(folder, &schedule, &meta, &metrics, checkpoint.step)?,
        None => Outputs::create(folder, &schedule, &meta, &metrics)?,
    };
    if simulation.step() > schedule.last_step {
        let (step, last) = (simulation.step(), schedule.last_step);
        return Err(Failure::input(format!(
            "the checkpoint is of step {step}, past the run's last step {last}"
        )));
    }
    let camera = schedule.picture.map(|_| Camera::new(&simulation)).transpose()?;
    let interrupt = interrupt::flag();
    let writer = Writer::start(outputs)?;
    report.set_up();

    let progress = match bar {
        Some((bar, before)) => Progress::shared(bar, before),
        None => Progress::new(simulation.step(), schedule.last_step, simulation.n_particles, args.quiet),
    };
    let stamps = passes.as_mut();
    let ended =
        Session::new(&mut simulation, schedule, recorded, camera, &writer, progress, stamps).run(interrupt);
    report.stepped();
    // Where the loop stopped because the writer had, the writer knows why.
    writer.finish()?;
    let final_state = match &ended {
        Ok(Ended::Complete) => Some(state_hash(&simulation)?),
        Ok(Ended::Interrupted) => None,
        Err(failure) => {
            report.warn(failure.to_string(), true);
            None
        }
    };
    if let Some(passes) = &passes {
        let (memory, kernels) = (profile::memory(device), profile::kernel_facts(device, &passes.rows()));
        let profile = profile::document(&simulation, passes, memory, kernels, final_state.clone())?;
        profile::write(folder, &profile, &passes.spans(), None)?;
        for gap in passes.gaps() {
            report.warn(gap, args.quiet);
        }
    }
    if schedule.metrics.is_some() {
        plots::write(folder, &simulation.scene, &simulation.factory.plots())?;
        impacts::write(folder, &simulation.scene)?;
    }
    if let Ok(Ended::Complete) = &ended {
        if schedule.record.is_some() {
            if let Some(material) = simulation.factory.flow_material(&simulation.scene) {
                flow::write(folder, &simulation.scene, material)?;
            }
        }
        at_end(&simulation)?;
    }
    report.write(folder, &simulation, final_state)?;
    // A cache that cannot be written only costs the next start some time.
    let _ = device.save_pipeline_cache();
    Ok(Ran { ended: ended?, step: simulation.step(), schedule })
}

/// What frames of the recording have, as the command line or else the scene chooses it of what the solver has.
fn recorded_columns(args: &RunArgs, simulation: &Simulation) -> Result<Vec<String>, Failure> {
    let columns = simulation.solver.columns();
    let available: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let from_scene = simulation.scene.output.record_columns.as_ref();
    let Some(chosen) = args.record_columns.as_ref().or(from_scene) else {
        return Ok(available.into_iter().map(str::to_owned).collect());
    };
    if let Some(i) = chosen.iter().position(|name| !available.contains(&name.as_str())) {
        let (found, expected) = (format!("\"{}\"", chosen[i]), format!("one of {}", available.join(", ")));
        return Err(match &args.record_columns {
            Some(_) => Failure::input(format!("--record-columns: found {found}, expected {expected}")),
            None => {
                let key = format!("output.record_columns.{i}");
                simulation.scene.value_error(&key, found, expected).into()
            }
        });
    }
    // Without these two a frame is none.
    Ok(["position", "id"].map(str::to_owned).into_iter().chain(chosen.iter().cloned()).collect())
}

fn interrupted(ran: &Ran, folder: &Folder) -> Failure {
    let (step, last) = (ran.step, ran.schedule.last_step);
    let next = match ran.schedule.checkpoint {
        Some(_) if step > 0 => format!("go on with --resume {}", folder.checkpoint().display()),
        _ => "with --checkpoint EVERY it could be resumed".to_owned(),
    };
    Failure::other(format!("interrupted at step {step} of {last}; {next}"))
}

/// Reads a checkpoint, and refuses one of another simulation than `scene`.
pub fn read_checkpoint(path: &Path, scene: &Scene) -> Result<Checkpoint, Failure> {
    let checkpoint = Checkpoint::read(path).map_err(Failure::input)?;
    let saved = Scene::from_json(&checkpoint.scene_json, &path.display().to_string())?;
    let [found, expected] = [&saved, scene].map(deciding_values);
    if let Some(key) = first_difference("", &found?, &expected?) {
        let path = path.display();
        return Err(Failure::input(format!(
            "{path}: a checkpoint of another simulation: {key} differs from the scene's; give the scene and --set of the \
             run that wrote it"
        )));
    }
    Ok(checkpoint)
}

/// A scene's values as far as they decide what becomes of a state.
fn deciding_values(scene: &Scene) -> Result<serde_json::Value, Failure> {
    let mut scene = scene.clone();
    (scene.render, scene.output) = (Render::default(), Output::default());
    scene.description.clear();
    scene.time.duration_s = 1.0;
    scene.solver.steps_per_submission = 1;
    serde_json::to_value(scene).map_err(Failure::other)
}

/// A hash of a scene's values as far as they decide what becomes of a state.
pub fn scene_hash(scene: &Scene) -> Result<String, Failure> {
    let json = deciding_values(scene)?.to_string();
    Ok(StateHasher::new().bytes("scene", "json", json.len(), json.as_bytes()).finish())
}

/// The path of the first value in which two trees differ.
fn first_difference(path: &str, a: &serde_json::Value, b: &serde_json::Value) -> Option<String> {
    use serde_json::Value::{Array, Object};
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Object(a), Object(b)) => {
            let null = serde_json::Value::Null;
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            keys.into_iter().find_map(|key| {
                first_difference(&join(key), a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null))
            })
        }
        (Array(a), Array(b)) if a.len() == b.len() => {
            (0..a.len()).find_map(|i| first_difference(&join(&i.to_string()), &a[i], &b[i]))
        }
        _ => (a != b).then(|| path.to_owned()),
    }
}

/// The hash of the columns shown, in the device's order. It waits for the device: there are no more steps to feed it with.
pub fn state_hash(simulation: &Simulation) -> Result<String, Failure> {
    Ok(read_frame(simulation)?.state_hash())
}

/// The columns shown, read from the device. It waits for them.
pub fn read_frame(simulation: &Simulation) -> Result<Frame, Failure> {
    let device: &Device = &simulation.device;
    let mut recorder = device.recorder()?;
    let ring = ReadbackRing::new(device);
    simulation.solver.record_output(&mut recorder);
    let columns = state::read_columns(&ring, &mut recorder, &simulation.solver.columns())?;
    let bodies = state::read_columns(&ring, &mut recorder, &simulation.solver.body_columns())?;
    let fault = simulation.solver.record_fault_check(&mut recorder)?;
    device.submit(recorder)?;
    if let Some(fault) = fault {
        invariants::check_fault(fault.wait()?)?;
    }
    let columns = columns.into_iter().map(state::PendingColumn::wait).collect::<Result<Vec<_>, _>>()?;
    let bodies = bodies.into_iter().map(state::PendingColumn::wait).collect::<Result<Vec<_>, _>>()?;
    state::frame(simulation.step(), simulation.time_s(), &columns, &bodies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_named_by_its_path() {
        let scene = |changes: &[&str]| {
            let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
            deciding_values(&frazil_scene::builtin()[0].load(&changes).unwrap()).unwrap()
        };
        let plain = scene(&[]);
        for same in ["time.duration_s=9.0", "render.colour_by=\"density\"", "output.render_every=3"] {
            assert_eq!(first_difference("", &plain, &scene(&[same])), None, "{same}");
        }
        for (change, key) in [
            ("time.dt_s=0.003", "time.dt_s"),
            ("particles.0.shape.box.max_m.1=0.2", "particles.0.shape.box.max_m.1"),
            ("gravity_m_s2=[0.0, -1.0, 0.0]", "gravity_m_s2"),
        ] {
            assert_eq!(first_difference("", &plain, &scene(&[change])).as_deref(), Some(key));
        }
    }
}
