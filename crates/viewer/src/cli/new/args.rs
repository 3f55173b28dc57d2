//! Arguments of `frazil new`.

use super::kind::Kind;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct NewArgs {
    /// Kind of the scene.
    pub kind: Kind,
    /// File to write [default: KIND.toml].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file, which is refused without it.
    #[arg(long)]
    pub overwrite: bool,
}
