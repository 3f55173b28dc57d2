//! Bodies that particles interact with: shapes, motions and meshes as kernels read them, loads on bodies, and
//! bodies that these move.

mod boundary_map;
mod contacts;
mod convert;
mod dynamic_body;
mod dynamics;
mod joints;
mod loads;
mod mesh;
mod motion;
mod surroundings;
mod triangle;

pub use dynamic_body::DynamicBody;
pub(crate) use dynamic_body::Shared;
pub use dynamics::DynamicBodies;
pub use loads::{BodyLoad, BodyLoads, PendingLoads};
pub(crate) use loads::{
    impulse_sums, quanta_per_n_s, with_load_metrics, with_load_values, with_motion_metrics,
    with_motion_values,
};
pub use mesh::mesh_body;
pub use motion::BodyPose;
pub use surroundings::Surroundings;
pub use triangle::MeshProblem;
