//! Arguments of `frazil analyze`.

use crate::common_args::DeviceArgs;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use frazil_studies::analyze::Study;
use std::path::PathBuf;

fn metres(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err(format!("found \"{text}\", expected a length in metres above 0, such as 0.02")),
    }
}

/// Returns the parser of a study's name, which lists all of them.
fn study() -> impl TypedValueParser<Value = Study> {
    let values = Study::ALL.map(|study| PossibleValue::new(study.name()).help(study.about()));
    PossibleValuesParser::new(values).try_map(|name| {
        let found = Study::ALL.into_iter().find(|study| study.name() == name);
        found.ok_or_else(|| format!("found no study \"{name}\""))
    })
}

#[derive(Debug, clap::Args)]
pub struct AnalyzeArgs {
    /// Study to run.
    #[arg(value_parser = study())]
    pub study: Study,
    /// fragments: recordings of runs (*.frazil-rec).
    #[arg(value_name = "RECORDING")]
    pub recordings: Vec<PathBuf>,
    /// fragments: distance in m within which two particles belong to one piece [default: 1.5 mean distances
    /// of particles at the start].
    #[arg(long = "linking-length", value_name = "M", value_parser = metres, allow_hyphen_values = true)]
    pub linking_length_m: Option<f64>,
    /// Output folder of STUDY.csv, STUDY.svg and STUDY.md [default: out/analyze_STUDY, or if that has results
    /// out/analyze_STUDY-2 and so on].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the results in the output folder. Without it, a folder that holds anything is refused.
    #[arg(long)]
    pub overwrite: bool,
    /// noise: number of steps that a single particle drifts [default: 4096].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(4..=1_000_000))]
    pub steps: Option<u64>,
    /// runtime: maximum number of particles that are timed [default: 65536].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(64..=4_194_304))]
    pub particles: Option<u32>,
    /// Run a few points briefly, to test that the study runs.
    #[arg(long)]
    pub smoke: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
}
