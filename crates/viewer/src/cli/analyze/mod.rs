//! `frazil analyze`: the four studies of Breekveldt2017 chapter 4, repeated on this engine.
//! Each study is a table, a plot and a page of text, all from results of the solver on the device. Closed
//! formulas of the paper are shown beside the measurements and never replace them. A fifth study,
//! `fragments`, evaluates recordings and needs no device.

mod args;
mod courant;
pub mod feedback;
mod fit;
mod fragments;
mod lab;
mod limits;
mod modulus;
mod noise;
mod report;
pub mod resting;
mod runtime;
mod scaling;
mod study;
pub mod tipping;
mod variants;

pub use study::Study;

use crate::say;
pub use args::AnalyzeArgs;
use frazil_engine::Failure;
use frazil_engine::device;
use frazil_engine::outputs::{Existing, Output};
use report::Report;
use std::path::{Path, PathBuf};
use study::Effort;

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
        (fragments::study(&args.recordings, args.linking_length_m)?, output.claim()?)
    } else {
        on_device(args, output, effort, validation)?
    };
    report.write(&out)?;
    if !args.quiet {
        say::note(format_args!("{}; wrote {study}.csv, .svg and .md in {}", report.summary, out.display()));
    }
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
    // A folder that cannot be created is reported before the study.
    let out = output.claim()?;
    let report = match args.study {
        Study::Noise => noise::study(&device, effort),
        Study::Limits => limits::study(&device, effort),
        Study::Scaling => scaling::study(&device, effort),
        Study::Runtime => runtime::study(&device, effort),
        Study::Fragments => fragments::study(&args.recordings, args.linking_length_m),
    }?;
    device.check_validation()?;
    // If the cache cannot be written, only the next start takes longer.
    let _ = device.save_pipeline_cache();
    Ok((report, out))
}
