//! Surfaces: densities of particles at nodes, the isosurface of a field of nodes, and the invariants of a
//! mesh.
//!
//! - `nodes`: a field in blocks of nodes, 0 elsewhere.
//! - `splat`: the density of particles.
//! - `marching_cubes`: the mesh, cube by cube and without a table.
//! - `mesh`: closedness, Euler characteristic, area and volume, of any mesh.

mod marching_cubes;
mod mesh;
mod nodes;
mod splat;

pub use marching_cubes::{IsoMesh, NEAREST, marching_cubes};
pub use mesh::{MeshFault, area, euler_characteristics, volume};
pub use nodes::{BLOCK_SIDE, Nodes};
pub use splat::{splat_densities, splat_density};
