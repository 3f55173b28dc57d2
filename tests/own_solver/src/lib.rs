//! A solver that is not part of frazil: particles in free flight, slowed down by linear drag.
//!
//! What it takes: a section of the scene file ([`Drag`]), what scenes need to know ([`FreeFlightScene`]), the
//! state on the device with its step ([`FreeFlight`]), and what makes it ([`FreeFlightFactory`]).
//! [`register`] makes all of it known; the rest of the program then runs, shows, measures, stores and
//! profiles it like any other.

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
/// Another solver has its name, or one of its sections.
pub fn register() -> Result<(), frazil_solvers::RegistryError> {
    frazil_solvers::register(&FreeFlightFactory, &FreeFlightScene)
}
