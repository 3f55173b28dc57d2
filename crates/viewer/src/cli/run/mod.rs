//! `frazil run`: simulates a scene from its initial state or from a checkpoint, and writes all results.

mod args;
mod display;
mod progress;

pub use progress::{ProgressDisplay, time_left};

use crate::cli::interrupt;
use crate::cli::profile::PassLog;
use crate::say;
pub use args::RunArgs;
use display::RunDisplay;
use frazil_engine::outputs::{
    Changes, Ended, Existing, Folder, FolderLock, Output, Schedule, default_folder, read_checkpoint,
};
use frazil_engine::run::{RunEnd, RunReport, RunStart, simulate};
use frazil_engine::{Failure, FailureKind, device};
use frazil_scene::Scene;
use std::path::Path;

/// Runs a scene.
pub fn run(args: &RunArgs, validation: bool) -> Result<(), Failure> {
    // From here on, so that an interrupt while the device is set up ends the run cleanly, too.
    let interrupt = interrupt::flag();
    let mut report = RunReport::begin();
    let mut warn = |warning: String| {
        display::warn(&warning);
        report.warn(warning);
    };
    let scene = args.scene.load()?;
    let options = args.options();
    let changes = Changes::new(&args.changes_at, &scene, Schedule::new(&options.schedule, &scene).last_step)?;
    let checkpoint =
        args.resume.as_deref().map(|path| read_checkpoint(path, &scene, &changes)).transpose()?;
    for advice in scene.advice() {
        warn(advice.to_string());
    }
    let selector = args.device.device.as_deref();
    let device = if args.profile {
        device::open_to_profile(selector, validation, false)?
    } else {
        device::open(selector, validation, Vec::new())?
    };
    say::note(format_args!("device {}: {}", device.info().index, device::describe(device.info())));
    if device.is_software() {
        warn(device::SOFTWARE_WARNING.to_owned());
    }
    let (folder, lock) = open_folder(args, &scene)?;
    if let Some(warning) = lock.warning() {
        warn(warning.to_owned());
    }
    if checkpoint.is_none()
        && let Some(aside) = folder.set_checkpoint_aside()?
    {
        warn(format!("the checkpoint of an earlier run is now {}", aside.display()));
    }
    let passes = args.profile.then(|| PassLog::new(&device)).transpose().map_err(Failure::from);
    let start = RunStart {
        options: &options,
        device: &device,
        scene,
        changes,
        checkpoint,
        folder: &folder,
        report,
        interrupt,
    };
    let end = passes.and_then(|passes| simulate(start, &mut RunDisplay { passes }));
    let end = end.map_err(|failure| match failure.kind {
        // A checkpoint of an earlier run has been set aside.
        FailureKind::Device if folder.checkpoint().exists() => {
            failure.with_remedy(format_args!("go on with --resume {}", folder.checkpoint().display()))
        }
        _ => failure,
    })?;
    match end.ended {
        Ended::Complete => {
            say::note(format_args!("{} steps done; results are in {}", end.step, folder.root().display()));
            Ok(())
        }
        Ended::Interrupted => Err(interrupted(&end, &folder)),
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

fn interrupted(end: &RunEnd, folder: &Folder) -> Failure {
    let (step, last) = (end.step, end.schedule.last_step);
    let next = match end.schedule.checkpoint {
        Some(_) if step > 0 => format!("go on with --resume {}", folder.checkpoint().display()),
        Some(_) => "there is no checkpoint yet: start it again".to_owned(),
        _ => "with --checkpoint EVERY it could be resumed".to_owned(),
    };
    Failure::other(format!("interrupted at step {step} of {last}; {next}"))
}
