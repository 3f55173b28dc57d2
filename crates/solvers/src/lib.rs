//! Solvers: each a list of passes that one can read like the paper's figure.
//!
//! [`pbd`] is the position-based fluid (papers 000 chapter 5 and 002 chapter 2). A solver is made from a scene and its
//! sampled particles, records steps into a [`frazil_vk::Recorder`], and shows its columns; when to submit, what to read
//! back and where to write it is the caller's business.
//!
//! Invariant: recording a step never waits for the device and never reads anything back. Counts stay on the device, and
//! every dispatch over particles is indirect.

mod body_motion;
pub mod dem;
mod error;
mod mesh_body;
pub mod mpm;
pub mod pbd;
mod saved;
mod surroundings;

pub use body_motion::BodyPose;
pub use error::SolverError;
pub use mesh_body::{MeshProblem, mesh_body};
pub use surroundings::Surroundings;
