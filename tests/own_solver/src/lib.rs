//! A solver outside of frazil: particles in free flight, decelerated by linear drag.
//!
//! It consists of:
//!
//! - a section of the scene file ([`Drag`]);
//! - the scene interface ([`FreeFlightScene`]);
//! - the state on the device with its step ([`FreeFlight`]);
//! - its factory ([`FreeFlightFactory`]).
//!
//! [`register`] registers all of it; the program then runs, shows, measures, stores and profiles it like any
//! other solver.

/// Kernels of this crate, from `glsl/`.
pub mod kernels {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}
mod scene;
mod solver;

pub use scene::{Drag, FreeFlightScene};
pub use solver::{FreeFlight, FreeFlightFactory};

/// Registers the solver.
///
/// # Errors
/// The solver's name or one of its sections is already registered.
pub fn register() -> Result<(), frazil_solvers::RegistryError> {
    frazil_solvers::register(&FreeFlightFactory, &FreeFlightScene)
}
