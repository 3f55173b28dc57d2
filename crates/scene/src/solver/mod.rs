//! Solvers as the scene file knows them: each owns its sections, and is registered by one line of
//! `registry.rs`.
//!
//! A folder here is a solver: the types of its sections, their validation, the sampling of particles, and
//! quantities derived from its parameters. Code outside of these folders accesses solvers through
//! [`SolverScene`] only.

mod constraint_gradient;
pub(crate) mod dem;
mod dispatch;
pub(crate) mod feature;
pub(crate) mod mpm;
pub(crate) mod pbd;
pub(crate) mod registry;
mod schema;
mod solver_scene;
pub(crate) mod viscoelastic;

pub use constraint_gradient::ConstraintGradient;
pub use feature::Feature;
pub use registry::{RegistryError, register, solvers};
pub use schema::json_schema;
pub(crate) use schema::shared_schema;
pub use solver_scene::{ContactDefaults, SolverScene};
