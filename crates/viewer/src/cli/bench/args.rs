//! Arguments of `frazil bench`.

use crate::cli::history::HistoryArgs;
use crate::common_args::{CompareArgs, DeviceArgs};
use frazil_bench::AxisOverride;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    /// Measure only benches whose id contains one of these [default: all]; with --state, kernels such as
    /// pbd.solve_density.
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// Measure kernels alone, in the step that follows this state: a checkpoint, or a scene's start. Each is
    /// repeated on equal inputs, and the state at the end of the step must be that of an ordinary one.
    #[arg(long, value_name = "CHECKPOINT|SCENE", requires = "filters")]
    pub state: Option<String>,
    /// Number of steps from the state to the one whose kernels are measured.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "state")]
    pub steps_before: u64,
    /// Which of a kernel's dispatches in the step is measured, from 1.
    #[arg(
        long, value_name = "N", default_value_t = 1, requires = "state",
        value_parser = clap::value_parser!(u32).range(1..),
    )]
    pub pass: u32,
    /// Override a value of the scene of --state, such as scale=2; may be given several times.
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE", requires = "state")]
    pub overrides: Vec<String>,
    /// List the benches with their axes and metrics; no device is needed.
    #[arg(long)]
    pub list: bool,
    /// Measure a few points briefly, to test that every bench runs and is correct.
    #[arg(long)]
    pub smoke: bool,
    /// Measure these values on an axis, such as count=1000,65537; may be given several times. With a scene as
    /// --state an axis is a key of the scene, such as fluid.particle_spacing_m=0.01,0.005.
    #[arg(long = "axis", value_name = "NAME=VALUE,…")]
    pub axes: Vec<AxisOverride>,
    /// Append a row for each point to this file (JSON Lines).
    #[arg(long, value_name = "FILE", default_value = "out/bench.jsonl")]
    pub out: PathBuf,
    /// Print the rows as CSV.
    #[arg(long)]
    pub csv: bool,
    #[command(flatten)]
    pub compare: CompareArgs,
    #[command(flatten)]
    pub history: HistoryArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
}
