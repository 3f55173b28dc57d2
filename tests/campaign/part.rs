//! Parts of the campaign, and what they share.

use crate::table::Count;
use std::path::PathBuf;
use std::time::Instant;

/// A part of the campaign.
pub struct Part {
    /// Name on the command line and of its table.
    pub name: &'static str,
    /// Subject and fault, in one line.
    pub about: &'static str,
    /// Runs all cases that have no row yet; returns the counts of all cases.
    pub run: fn(&Setting) -> Result<Count, String>,
}

/// Paths and limits of all parts.
pub struct Setting {
    /// The program `frazil`.
    pub program: PathBuf,
    /// Folder of tables and runs; it holds the preloaded libraries and layers that `tools/campaign` compiles,
    /// `NAME.so` of `NAME.c`.
    pub folder: PathBuf,
    /// End of the time for a part; cases that have not begun by then are left for the next start.
    pub deadline: Option<Instant>,
    /// Number of runs at a time.
    pub jobs: usize,
}

impl Setting {
    /// Returns true once the time for the part has passed.
    pub fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
