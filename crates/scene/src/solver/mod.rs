//! Solvers as the scene file knows them: each owns its sections, and registers in one line of `registry.rs`.
//!
//! A folder here is a solver: the types of its sections, their validation, how particles are sampled, and what follows from its
//! parameters. Outside of these folders scenes know solvers as [`SolverScene`] only.

pub(crate) mod dem;
mod dispatch;
pub(crate) mod feature;
pub(crate) mod mpm;
pub(crate) mod pbd;
pub(crate) mod registry;
mod schema;
pub(crate) mod section;
mod solver_scene;

pub use feature::Feature;
pub use registry::{RegistryError, register, solvers};
pub use schema::json_schema;
pub use section::{Section, SectionType};
pub use solver_scene::SolverScene;
