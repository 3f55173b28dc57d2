//! Parametric studies on the engine, as a library: the command line, tests and other programs use it alike.
//!
//! - [`analyze`]: the studies of Breekveldt2017, and the pieces in recordings, as tables, plots and pages.
//! - [`sweep`]: a scene at each point of a grid of parameters, side by side.
//! - [`validate`]: cases that compare the engine with closed forms, experiments and papers.
//! - [`results`]: results of a run that need statistics: plots, forces on bodies, the flow of an avalanche.
//!
//! It has no command line, no terminal output and no window: messages go to the caller.
//!
//! Feature `twins`: the cases of the validation that compare kernels with their twins on the CPU.

pub mod analyze;
pub mod results;
pub mod sweep;
pub mod validate;
