//! Arguments of `frazil predict`.

use crate::common_args::{DeviceArgs, SceneChanges};

#[derive(Debug, clap::Args)]
pub struct PredictArgs {
    /// Scene to count on --device, or a profile: profile.json, or the folder that has it.
    pub scene: String,
    #[command(flatten)]
    pub changes: SceneChanges,
    /// Cards: rtx4090, h100, rx7900xtx, a770, m1, adreno740, or a TOML file with a card's figures [default:
    /// all of these, a line each].
    #[arg(long = "gpu", value_name = "CARD|FILE,…", value_delimiter = ',')]
    pub gpus: Vec<String>,
    /// Cards of these families, such as ada,navi31.
    #[arg(long = "for", value_name = "FAMILY,…", value_delimiter = ',', conflicts_with = "gpus")]
    pub families: Vec<String>,
    /// Predict for --device itself, by its measured rates, beside what was measured.
    #[arg(long, conflicts_with_all = ["gpus", "families"])]
    pub here: bool,
    /// Number of steps to count.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: u64,
    /// Number of steps before them.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub warm_up: u64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
}
