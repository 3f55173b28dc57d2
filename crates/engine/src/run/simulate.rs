//! The run from its start to `run.json`.

use super::observer::{RunObserver, RunResults};
use super::options::RunOptions;
use super::report::RunReport;
use crate::failure::{Failure, FailureKind};
use crate::outputs::{Changes, Ended, Folder, OutputPlan, Outputs, Schedule, Session, Writer};
use crate::picture::Camera;
use crate::simulation::Simulation;
use crate::snapshot::state_hash;
use frazil_io::{Checkpoint, RecordingMeta};
use frazil_scene::Scene;
use frazil_vk::Device;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// A run that is about to start.
pub struct RunStart<'a> {
    /// Duration, outputs and place of the checkpoint.
    pub options: &'a RunOptions,
    /// Device that takes the steps.
    pub device: &'a Device,
    /// Scene at the start.
    pub scene: Scene,
    /// Changes of its parameters while it runs.
    pub changes: Changes,
    /// Checkpoint to resume from, with the scene at its step.
    pub checkpoint: Option<(Checkpoint, Scene)>,
    /// Folder of the outputs.
    pub folder: &'a Folder,
    /// Report with the warnings so far.
    pub report: RunReport,
    /// Ends the run early when it is set.
    pub interrupt: &'a AtomicBool,
}

/// Result of a finished run.
pub struct RunEnd {
    /// Outcome.
    pub ended: Ended,
    /// Last step that was taken.
    pub step: u64,
    /// Output intervals.
    pub schedule: Schedule,
}

/// Runs to the end, or to an interrupt, and writes all files of the folder.
///
/// # Errors
/// The scene or the checkpoint does not fit the device or the outputs; a fault that is no overflow, or a
/// violated invariant; a file cannot be written; the device was lost.
pub fn simulate(start: RunStart<'_>, observer: &mut dyn RunObserver) -> Result<RunEnd, Failure> {
    let RunStart { options, device, scene, changes, checkpoint, folder, mut report, interrupt } = start;
    let schedule = Schedule::new(&options.schedule, &scene);
    let meta = RecordingMeta {
        scene_json: serde_json::to_string(&described(&scene, &changes)).map_err(Failure::other)?,
        seed: scene.seed,
        device: device.info().name.clone(),
    };
    let mut simulation = match &checkpoint {
        Some((checkpoint, changed)) => {
            let mut simulation = Simulation::restore(device, changed.clone(), checkpoint)
                .map_err(|failure| of_checkpoint(options, folder, failure))?;
            let before = changes.made_before(&scene, checkpoint.step)?;
            simulation.set_history(scene, before);
            simulation
        }
        None => Simulation::watched(device, scene, &mut |_, _| !interrupt.load(Ordering::Relaxed))?,
    };
    let mut warn = |observer: &mut dyn RunObserver, warning: String| {
        observer.warn(&warning);
        report.warn(warning);
    };
    for warning in &simulation.warnings {
        warn(observer, warning.clone());
    }
    // Checked before files of an earlier run are touched.
    let recorded = recorded_columns(options, &simulation)?;
    let metrics = simulation.metrics();
    let outputs = match &checkpoint {
        Some((checkpoint, _)) if is_new(options, folder) => {
            let (step, root) = (checkpoint.step, folder.root().display());
            warn(observer, format!("outputs in {root} begin at the checkpoint's step {step}"));
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
        warn(observer, warning.to_owned());
    }
    let camera = schedule.picture.map(|_| Camera::new(&simulation)).transpose()?;
    let writer = Writer::start(outputs)?;
    report.set_up();

    let progress = observer.progress(&simulation, schedule.last_step);
    let plan = OutputPlan {
        schedule,
        changes,
        recorded,
        camera,
        writer: &writer,
        progress: &*progress,
        timer: observer.timer(),
    };
    let ended = Session::new(&mut simulation, plan).run(interrupt);
    report.stepped();
    // If the loop stopped because the writer did, the writer has the cause.
    writer.finish()?;
    let final_state = match &ended {
        Ok(Ended::Complete) => Some(state_hash(&simulation)?),
        Ok(Ended::Interrupted) => None,
        Err(failure) => {
            // The caller shows it.
            report.warn(failure.to_string());
            None
        }
    };
    if ended.is_ok() {
        for warning in simulation.final_warnings().map_err(Failure::from)? {
            observer.warn(&warning);
            report.warn(warning);
        }
    }
    let results = RunResults {
        simulation: &simulation,
        folder,
        schedule: &schedule,
        final_state: final_state.as_deref(),
    };
    observer.evaluate(&results, &mut report)?;
    report.write(folder, &simulation, final_state, options)?;
    // If the cache cannot be written, only the next start takes longer.
    let _ = device.save_pipeline_cache();
    if ended.is_ok() {
        device.check_validation()?;
    }
    Ok(RunEnd { ended: ended?, step: simulation.step(), schedule })
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

/// Returns the columns of the frames of the recording, as selected by the options or else by the scene.
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
