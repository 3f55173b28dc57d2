//! Arguments of `frazil validate`.

use crate::common_args::DeviceArgs;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct ValidateArgs {
    /// Run only these cases, such as water.rest, or all of a part, such as water [default: all but the long
    /// ones].
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// List the cases with their references and costs; no device is needed.
    #[arg(long, conflicts_with_all = ["quick", "full"])]
    pub list: bool,
    /// Run the quick cases only: bits, twins, conservation and closed forms, in a minute or two.
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Run all cases, the papers' experiments at their own sizes: hours on a processor.
    #[arg(long)]
    pub full: bool,
    /// Output folder [default: out/validation, or if that has results out/validation-2 and so on; the last of
    /// them with --resume].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the results in the output folder. Without it, a folder that holds anything is refused.
    #[arg(long, conflicts_with = "resume")]
    pub overwrite: bool,
    /// Take over the results in the output folder that this device has at the same sizes, and run the other
    /// cases; cases given by name are run again.
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
}
