//! Options of a run.

use crate::outputs::ScheduleRequest;
use std::path::PathBuf;

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Duration and output intervals.
    pub schedule: ScheduleRequest,
    /// Columns of the recording beside position and id, if not those of the scene.
    pub record_columns: Option<Vec<String>>,
    /// Checkpoint that the run resumes from, for error messages.
    pub resume: Option<PathBuf>,
    /// Begins new outputs at the checkpoint's step.
    pub discard_outputs: bool,
    /// Commit that the program is built from, for `run.json`.
    pub commit: Option<String>,
    /// Words of the command line, for `run.json`.
    pub command_line: Option<Vec<String>>,
}
