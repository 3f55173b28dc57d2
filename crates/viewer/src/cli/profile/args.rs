//! Arguments of `frazil profile`.

use crate::cli::history::HistoryArgs;
use crate::common_args::{CompareArgs, DeviceArgs, SceneChanges};
use frazil_solvers::{Tunable, Tuning, factories};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct ProfileArgs {
    /// Path of a scene file, or the name of a built-in scene (see `frazil scenes`); not needed with --history
    /// and --counters list.
    #[arg(required_unless_present_any = ["history", "counters"])]
    pub scene: Option<String>,
    #[command(flatten)]
    pub changes: SceneChanges,
    /// Number of steps to measure.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: u64,
    /// Number of warm-up steps, so that caches and clocks settle.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub warm_up: u64,
    /// Output folder of profile.json, trace.json and profile.html [default: out/<scene's name>_profile, or if
    /// that has results out/<scene's name>_profile-2 and so on].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the results in the output folder. Without it, a folder that holds anything is refused.
    #[arg(long)]
    pub overwrite: bool,
    /// Print kernels, passes and the step as CSV.
    #[arg(long)]
    pub csv: bool,
    #[command(flatten)]
    pub compare: CompareArgs,
    #[command(flatten)]
    pub history: HistoryArgs,
    /// Measure the same steps with other values of one of the solver's tunables too, interleaved, such as
    /// workgroup_size=64,128,256 or rows_per_thread=1,2,4.
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub vary: Option<VaryArg>,
    /// Draw N pictures too, each after a step, and report the rate of both together.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub pictures: Option<u64>,
    /// Measure hardware counters of each pass too, in steps of their own: those whose names contain a NAME,
    /// or without one a set of load, bytes, cache hits and occupancy. `list` lists all.
    #[arg(
        long, value_name = "NAME,…|list", num_args = 0..=1, default_missing_value = "",
        conflicts_with_all = ["against", "runs"],
    )]
    pub counters: Option<String>,
    #[command(flatten)]
    pub device: DeviceArgs,
}

impl ProfileArgs {
    /// Returns the names of the requested counters, none for the default set; `None` if there are to be none.
    pub fn requested_counters(&self) -> Option<Vec<String>> {
        let names = self.counters.as_deref()?;
        Some(if names.is_empty() { Vec::new() } else { names.split(',').map(str::to_owned).collect() })
    }
}

/// A tunable to vary, and the values to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaryArg {
    pub tunable: &'static Tunable,
    pub values: Vec<u32>,
}

/// Returns the tunables of all solvers, each once.
fn tunables() -> Vec<&'static Tunable> {
    let mut all: Vec<&'static Tunable> = Vec::new();
    for tunable in factories().into_iter().flat_map(|factory| factory.tunables()) {
        if !all.contains(&tunable) {
            all.push(tunable);
        }
    }
    all
}

impl std::str::FromStr for VaryArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, values) = text.split_once('=').unwrap_or((text, ""));
        let known = tunables();
        let tunable = known.iter().find(|tunable| tunable.name == key && !values.is_empty());
        let Some(&tunable) = tunable else {
            let names: Vec<String> = known.iter().map(|tunable| format!("{}=", tunable.name)).collect();
            return Err(format!(
                "found \"{text}\", expected {} and values, such as workgroup_size=64,128,256",
                names.join(" or ")
            ));
        };
        let mut tried: Vec<u32> = Vec::new();
        for text in values.split(',') {
            let value =
                text.trim().parse().map_err(|_| format!("found \"{text}\", expected a whole number"))?;
            if tried.contains(&value) {
                return Err(format!("{key}: {value} is given twice"));
            }
            Tuning::default().with(tunable, value).map_err(|error| error.to_string())?;
            tried.push(value);
        }
        Ok(Self { tunable, values: tried })
    }
}
