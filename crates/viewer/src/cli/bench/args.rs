//! Arguments of `frazil bench`.

use crate::common_args::{CompareArgs, DeviceArgs};
use frazil_bench::AxisOverride;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    /// Measure only benches whose id contains one of these [default: all].
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// List the benches with their axes and metrics; no device is needed.
    #[arg(long)]
    pub list: bool,
    /// Measure a few points briefly, to test that every bench runs and is correct.
    #[arg(long)]
    pub smoke: bool,
    /// Measure these values on an axis, such as count=1000,65537; may be given several times.
    #[arg(long = "axis", value_name = "NAME=VALUE,…")]
    pub axes: Vec<AxisOverride>,
    /// Append a row for each point to this file (JSON Lines).
    #[arg(long, value_name = "FILE", default_value = "out/bench.jsonl")]
    pub out: PathBuf,
    #[command(flatten)]
    pub compare: CompareArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
}
