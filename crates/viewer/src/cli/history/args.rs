//! Arguments of `--history`.

use frazil_report::{Detection, Order};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct HistoryArgs {
    /// Print the logged measurements of this command instead of measuring, of names that contain NAME: series
    /// over builds, and the steps in them. Exit status 1 if a series is slower since its last step.
    #[arg(
        long, value_name = "NAME", num_args = 0..=1, default_missing_value = "",
        conflicts_with_all = ["against", "runs"],
    )]
    pub history: Option<String>,
    /// Folder of the log, to which every measurement is appended; 0 for none [default: $FRAZIL_HISTORY, or
    /// else $XDG_DATA_HOME/frazil/history].
    #[arg(long, value_name = "DIR|0")]
    pub history_dir: Option<PathBuf>,
    /// Order of the runs: by the date of the commit, or by their own.
    #[arg(
        long, value_name = "commit|time", default_value = "commit", value_parser = order,
        requires = "history",
    )]
    pub order: Order,
    /// Take the newest N runs of each series.
    #[arg(
        long, value_name = "N", default_value_t = 200, requires = "history",
        value_parser = clap::value_parser!(u16).range(1..=2000),
    )]
    pub last: u16,
    /// Probability that any step is found where there is only noise.
    #[arg(
        long, value_name = "P", default_value_t = 0.05, value_parser = significance, requires = "history",
        allow_hyphen_values = true,
    )]
    pub significance: f64,
    /// Minimum number of runs between two steps.
    #[arg(
        long, value_name = "N", default_value_t = 3, requires = "history",
        value_parser = clap::value_parser!(u16).range(1..),
    )]
    pub min_runs: u16,
    /// Write the series as an HTML page with a plot of each.
    #[arg(long, value_name = "FILE", requires = "history")]
    pub page: Option<PathBuf>,
    /// Print the series as JSON.
    #[arg(long, requires = "history", conflicts_with = "csv")]
    pub json: bool,
}

impl HistoryArgs {
    /// Options with a value that processes which only measure do without.
    pub const OPTIONS: [(&str, bool); 1] = [("history-dir", true)];

    /// Returns the parameters of the search for steps.
    pub fn detection(&self, tolerance: f64) -> Detection {
        Detection { significance: self.significance, min_runs: self.min_runs.into(), tolerance }
    }
}

fn order(text: &str) -> Result<Order, String> {
    match text {
        "commit" => Ok(Order::Commit),
        "time" => Ok(Order::Time),
        _ => Err(format!("found \"{text}\", expected commit or time")),
    }
}

fn significance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (1e-4..=0.5).contains(&value) => Ok(value),
        _ => Err(format!("found \"{text}\", expected a probability from 0.0001 to 0.5, such as 0.05")),
    }
}
