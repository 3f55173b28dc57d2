//! Outputs of a run: schedule, folder, files, and the session that steps a simulation and writes them.
//!
//! [`Session`] submits steps, records the outputs that are due, and hands them to the [`Writer`], a thread
//! that encodes and writes them into a [`Folder`].

mod batch;
mod change_at;
mod changes;
mod claim;
mod files;
mod folder;
mod identity;
mod lock;
mod observers;
mod schedule;
mod session;
mod writer;

pub use batch::{OutputBatch, StepTime};
pub use change_at::ChangeAt;
pub use changes::Changes;
pub use claim::{Existing, Output, refuse_file, refuse_populated};
pub use files::{Outputs, check_outputs};
pub use folder::{Folder, create_dir, default_folder};
pub use identity::{read_checkpoint, scene_hash};
pub use lock::FolderLock;
pub use observers::{Activity, Progress, StepTimer, TimedSubmission};
pub use schedule::{Cadence, Due, Schedule, ScheduleRequest};
pub use session::{Ended, OutputPlan, Session};
pub use writer::Writer;
