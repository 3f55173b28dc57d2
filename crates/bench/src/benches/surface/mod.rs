//! Surfaces of particles: densities at nodes, and marching cubes.

mod marching_cubes;
mod splat_density;

pub use marching_cubes::MarchingCubes;
pub use splat_density::SplatDensity;
