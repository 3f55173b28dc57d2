//! `frazil analyze`: runs a study and writes its table, its plot and its page.

mod args;

use crate::cli::interrupt;
use crate::say;
pub use args::AnalyzeArgs;
use frazil_engine::Failure;
use frazil_engine::device;
use frazil_engine::outputs::{Existing, Output};
use frazil_studies::analyze::{self, Effort, Report, Study};
use std::path::{Path, PathBuf};

/// Runs a study and writes its table, its plot and its page.
pub fn analyze(args: &AnalyzeArgs, validation: bool) -> Result<(), Failure> {
    let (study, effort) =
        (args.study, Effort { smoke: args.smoke, steps: args.steps, particles: args.particles });
    for (option, is_given, owner) in [
        ("RECORDING", !args.recordings.is_empty(), Study::Fragments),
        ("--linking-length", args.linking_length_m.is_some(), Study::Fragments),
        ("--steps", args.steps.is_some(), Study::Noise),
        ("--particles", args.particles.is_some(), Study::Runtime),
    ] {
        if is_given && study != owner {
            return Err(Failure::input(format!("{option}: found with {study}, expected with {owner} only")));
        }
    }
    let output = Output {
        requested: args.out.as_deref(),
        default: &Path::new("out").join(format!("analyze_{study}")),
        existing: Existing::of(args.overwrite, false),
    };
    let (report, out) = if study == Study::Fragments {
        (analyze::fragments(&args.recordings, args.linking_length_m)?, output.claim()?)
    } else {
        on_device(args, output, effort, validation)?
    };
    report.write(&out)?;
    say::note(format_args!("{}; wrote {study}.csv, .svg and .md in {}", report.summary, out.display()));
    Ok(())
}

/// Runs a study on the device of the arguments. Returns its report and the output folder.
fn on_device(
    args: &AnalyzeArgs,
    output: Output<'_>,
    effort: Effort,
    validation: bool,
) -> Result<(Report, PathBuf), Failure> {
    let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
    device.cancel_when(interrupt::flag());
    // A folder that cannot be created is reported before the study.
    let out = output.claim()?;
    let report = match args.study {
        Study::Noise => analyze::noise(&device, effort),
        Study::Limits => analyze::limits(&device, effort),
        Study::Scaling => analyze::scaling(&device, effort),
        Study::Runtime => analyze::runtime(&device, effort),
        Study::Fragments => analyze::fragments(&args.recordings, args.linking_length_m),
    };
    // Instead of the error that the interrupted study ended with.
    interrupt::check("nothing was written")?;
    let report = report?;
    device.check_validation()?;
    // If the cache cannot be written, only the next start takes longer.
    let _ = device.save_pipeline_cache();
    Ok((report, out))
}
