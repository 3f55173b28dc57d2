//! `frazil run`: simulates a scene from its initial state or from a checkpoint, and writes all results.

mod args;
mod flow;
mod impacts;
mod interrupt;
mod options;
mod plots;
mod progress;
mod report;
mod solver_plots;

pub use flow::draw_map;
pub use interrupt::flag as interrupt_flag;
pub use options::RunOptions;
pub use progress::time_left;
pub use report::Report;

use crate::cli::profile;
use crate::cli::profile::PassLog;
use crate::say;
pub use args::RunArgs;
use frazil_engine::outputs::{
    Changes, Ended, Existing, Folder, FolderLock, Output, OutputPlan, Outputs, Schedule, Session, StepTimer,
    Writer, default_folder, read_checkpoint,
};
use frazil_engine::picture::Camera;
use frazil_engine::snapshot::state_hash;
use frazil_engine::{Failure, FailureKind, Simulation, device};
use frazil_io::{Checkpoint, RecordingMeta};
use frazil_scene::Scene;
use frazil_vk::Device;
use indicatif::ProgressBar;
use progress::ProgressDisplay;
use std::path::Path;

/// Runs a scene.
pub fn run(args: &RunArgs, validation: bool) -> Result<(), Failure> {
    // From here on, so that an interrupt while the device is set up ends the run cleanly, too.
    interrupt::flag();
    let mut report = Report::begin();
    let scene = args.scene.load()?;
    let options = args.options();
    let changes = Changes::new(&args.changes_at, &scene, Schedule::new(&options.schedule, &scene).last_step)?;
    let checkpoint =
        args.resume.as_deref().map(|path| read_checkpoint(path, &scene, &changes)).transpose()?;
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
    let (folder, lock) = open_folder(args, &scene)?;
    if let Some(warning) = lock.warning() {
        report.warn(warning.to_owned(), args.quiet);
    }
    if checkpoint.is_none()
        && let Some(aside) = folder.set_checkpoint_aside()?
    {
        report.warn(format!("the checkpoint of an earlier run is now {}", aside.display()), args.quiet);
    }
    let start = Start {
        options: &options,
        device: &device,
        scene,
        changes,
        checkpoint,
        folder: &folder,
        report,
        bar: None,
    };
    let ran = simulate(start, |_| Ok(())).map_err(|failure| match failure.kind {
        // A checkpoint of an earlier run has been set aside.
        FailureKind::Device if folder.checkpoint().exists() => {
            failure.with_remedy(format_args!("go on with --resume {}", folder.checkpoint().display()))
        }
        _ => failure,
    })?;
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

/// Opens the output folder of the arguments; without `--out` that of the checkpoint, or a numbered one.
fn open_folder(args: &RunArgs, scene: &Scene) -> Result<(Folder, FolderLock), Failure> {
    let default = default_folder(&scene.name, "");
    let of_checkpoint = args.resume.as_deref().and_then(Path::parent);
    let of_checkpoint = of_checkpoint.filter(|folder| Folder::existing(folder).has_outputs());
    let of_checkpoint = of_checkpoint.map(|folder| if folder == "" { Path::new(".") } else { folder });
    let requested = args.out.as_deref().or(of_checkpoint);
    let existing = match (requested, &args.resume) {
        // Nothing is resumed in a folder that nobody named.
        (None, Some(_)) => Existing::Refuse,
        _ => Existing::of(args.overwrite, args.resume.is_some()),
    };
    Output { requested, default: &default, existing }.claim_and_lock()
}

/// A run that is about to start.
pub struct Start<'a> {
    pub options: &'a RunOptions,
    pub device: &'a Device,
    pub scene: Scene,
    /// Changes of its parameters while it runs.
    pub changes: Changes,
    /// Checkpoint to resume from, with the scene at its step.
    pub checkpoint: Option<(Checkpoint, Scene)>,
    pub folder: &'a Folder,
    pub report: Report,
    /// Progress bar shared by several runs, and the position at which this one begins; without it the run has
    /// its own bar.
    pub bar: Option<(&'a ProgressBar, u64)>,
}

/// Result of a finished run.
pub struct Ran {
    pub ended: Ended,
    pub step: u64,
    pub schedule: Schedule,
}

/// Runs to the end, or to an interrupt. `at_end` writes its files of the final state before `run.json` is
/// written.
pub fn simulate(
    start: Start<'_>,
    at_end: impl FnOnce(&Simulation) -> Result<(), Failure>,
) -> Result<Ran, Failure> {
    let Start { options, device, scene, changes, checkpoint, folder, mut report, bar } = start;
    let schedule = Schedule::new(&options.schedule, &scene);
    let meta = RecordingMeta {
        scene_json: serde_json::to_string(&described(&scene, &changes)).map_err(Failure::other)?,
        seed: scene.seed,
        device: device.info().name.clone(),
    };
    let mut passes = options.profile.then(|| PassLog::new(device)).transpose()?;
    let mut simulation = match &checkpoint {
        Some((checkpoint, changed)) => {
            let mut simulation = Simulation::restore(device, changed.clone(), checkpoint)
                .map_err(|failure| of_checkpoint(options, folder, failure))?;
            let before = changes.made_before(&scene, checkpoint.step)?;
            simulation.set_history(scene, before);
            simulation
        }
        None => Simulation::new(device, scene)?,
    };
    for warning in &simulation.warnings {
        report.warn(warning.clone(), options.quiet);
    }
    // Checked before files of an earlier run are touched.
    let recorded = recorded_columns(options, &simulation)?;
    let metrics = simulation.solver.metrics();
    let outputs = match &checkpoint {
        Some((checkpoint, _)) if is_new(options, folder) => {
            let (step, root) = (checkpoint.step, folder.root().display());
            report.warn(format!("outputs in {root} begin at the checkpoint's step {step}"), options.quiet);
            Outputs::create(folder, &schedule, &meta, &metrics)?
        }
        Some((checkpoint, _)) => Outputs::resume(folder, &schedule, &meta, &metrics, checkpoint)?,
        None => Outputs::create(folder, &schedule, &meta, &metrics)?,
    };
    if simulation.step() > schedule.last_step {
        let (step, last) = (simulation.step(), schedule.last_step);
        return Err(Failure::input(format!(
            "the checkpoint is of step {step}, past the run's last step {last}"
        )));
    }
    if let Some(warning) = outputs.warning() {
        report.warn(warning.to_owned(), options.quiet);
    }
    let camera = schedule.picture.map(|_| Camera::new(&simulation)).transpose()?;
    let interrupt = interrupt::flag();
    let writer = Writer::start(outputs)?;
    report.set_up();

    let progress = match bar {
        Some((bar, before)) => ProgressDisplay::shared(bar, before),
        None => {
            ProgressDisplay::new(simulation.step(), schedule.last_step, simulation.n_particles, options.quiet)
        }
    };
    let timer = passes.as_mut().map(|passes| passes as &mut dyn StepTimer);
    let plan =
        OutputPlan { schedule, changes, recorded, camera, writer: &writer, progress: &progress, timer };
    let ended = Session::new(&mut simulation, plan).run(interrupt);
    report.stepped();
    // If the loop stopped because the writer did, the writer has the cause.
    writer.finish()?;
    let final_state = match &ended {
        Ok(Ended::Complete) => Some(state_hash(&simulation)?),
        Ok(Ended::Interrupted) => None,
        Err(failure) => {
            report.warn(failure.to_string(), true);
            None
        }
    };
    if ended.is_ok() {
        for warning in simulation.solver.final_warnings(device).map_err(Failure::from)? {
            report.warn(warning, options.quiet);
        }
    }
    if let Some(passes) = &passes {
        let (memory, kernels) = (profile::memory(device), profile::kernel_facts(device, &passes.rows()));
        let profile = profile::document(&simulation, passes, memory, kernels, final_state.clone())?;
        profile::write(folder, &profile, &passes.spans(), None)?;
        for gap in passes.gaps() {
            report.warn(gap, options.quiet);
        }
    }
    if schedule.metrics.is_some() {
        plots::write(folder, &simulation.scene, &simulation.factory.plots())?;
        impacts::write(folder, &simulation.scene)?;
    }
    if let Ok(Ended::Complete) = &ended {
        if let Some(run_out) = flow::write_flow(folder, &simulation)? {
            report.ran_out(&run_out, options.quiet)?;
        }
        if schedule.record.is_some() && simulation.factory.flow_material(&simulation.scene).is_some() {
            flow::write_front(folder, &simulation.scene)?;
        }
        at_end(&simulation)?;
    }
    report.write(folder, &simulation, final_state)?;
    // If the cache cannot be written, only the next start takes longer.
    let _ = device.save_pipeline_cache();
    if ended.is_ok() {
        device.check_validation()?;
    }
    Ok(Ran { ended: ended?, step: simulation.step(), schedule })
}

/// Adds the path of the checkpoint to an error of the state that it holds.
fn of_checkpoint(options: &RunOptions, folder: &Folder, failure: Failure) -> Failure {
    let path = options.resume.clone().unwrap_or_else(|| folder.checkpoint());
    if failure.kind == FailureKind::Input { failure.within(path.display()) } else { failure }
}

/// Returns true if a resumed run begins new outputs: by request, or in a folder that has none and is not that
/// of the checkpoint.
fn is_new(options: &RunOptions, folder: &Folder) -> bool {
    let resumes_here = options.resume.as_deref().and_then(Path::parent).is_none_or(|of_checkpoint| {
        match [of_checkpoint, folder.root()].map(|path| path.join(".").canonicalize()) {
            [Ok(a), Ok(b)] => a == b,
            _ => true,
        }
    });
    options.discard_outputs || !resumes_here && !folder.has_outputs()
}

/// Returns the scene whose description names the changes while it runs, for the recording.
fn described(scene: &Scene, changes: &Changes) -> Scene {
    let mut scene = scene.clone();
    scene.description += &changes.sentence();
    scene
}

/// Returns the columns of the frames of the recording, as selected by the command line or else by the scene.
fn recorded_columns(options: &RunOptions, simulation: &Simulation) -> Result<Vec<String>, Failure> {
    let columns = simulation.solver.columns();
    let available: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
    let from_scene = simulation.scene.output.record_columns.as_ref();
    let Some(chosen) = options.record_columns.as_ref().or(from_scene) else {
        return Ok(available.into_iter().map(str::to_owned).collect());
    };
    if let Some(i) = chosen.iter().position(|name| !available.contains(&name.as_str())) {
        let (found, expected) = (format!("\"{}\"", chosen[i]), format!("one of {}", available.join(", ")));
        return Err(match &options.record_columns {
            Some(_) => Failure::input(format!("--record-columns: found {found}, expected {expected}")),
            None => {
                let key = format!("output.record_columns.{i}");
                simulation.scene.value_error(&key, found, expected).into()
            }
        });
    }
    // Every frame requires these two.
    Ok(["position", "id"].map(str::to_owned).into_iter().chain(chosen.iter().cloned()).collect())
}

fn interrupted(ran: &Ran, folder: &Folder) -> Failure {
    let (step, last) = (ran.step, ran.schedule.last_step);
    let next = match ran.schedule.checkpoint {
        Some(_) if step > 0 => format!("go on with --resume {}", folder.checkpoint().display()),
        Some(_) => "there is no checkpoint yet: start it again".to_owned(),
        _ => "with --checkpoint EVERY it could be resumed".to_owned(),
    };
    Failure::other(format!("interrupted at step {step} of {last}; {next}"))
}
