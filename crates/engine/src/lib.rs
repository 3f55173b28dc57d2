//! The engine as a library: a simulation that is created, resumed, stepped, changed, read, written and drawn.
//! The command line, the window and the Python package are built on it.
//!
//! - [`engine`]: a simulation for programs, with conversions of what they read. Begin there.
//! - [`simulation`]: a scene on a device, with its step and its changes.
//! - [`stepping`]: steps without outputs: pace of submissions, faults, recovery.
//! - [`outputs`]: the folder of a run, and the loop that steps and writes.
//! - [`run`]: a run with all its outputs, from the start or a checkpoint to the last step.
//! - [`picture`]: pictures of a simulation or of a recording.
//! - [`recording`]: recordings with their scenes.
//! - [`snapshot`], [`state`]: columns and checkpoints on the host.
//! - [`energy_limit`], [`invariants`]: checks of the state.
//! - [`device`], [`stored_tuning`]: choice of the device, and the values of tunables measured on it.
//! - [`failure`]: the error of all functions, with its exit status.
//!
//! It has no command line, no terminal output, no statistics or plots, no kernels and no Vulkan calls.

pub mod device;
pub mod energy_limit;
pub mod engine;
pub mod failure;
pub mod invariants;
pub mod outputs;
pub mod picture;
pub mod recording;
pub mod run;
pub mod simulation;
pub mod snapshot;
pub mod state;
pub mod stepping;
pub mod stored_tuning;

pub use engine::Engine;
pub use failure::{Failure, FailureKind};
pub use simulation::Simulation;
