//! A run: from its initial state or a checkpoint to the last step, with all outputs of its folder.
//!
//! [`simulate`] takes the steps and writes the files; a [`RunObserver`] shows what goes on, and evaluates the
//! results.

mod observer;
mod options;
mod report;
mod simulate;

pub use observer::{RunObserver, RunResults};
pub use options::RunOptions;
pub use report::RunReport;
pub use simulate::{RunEnd, RunStart, simulate};
