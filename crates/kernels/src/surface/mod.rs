//! Surfaces: densities of particles at nodes, and the mesh of an isosurface of a field of nodes.
//!
//! - `splat_density`: from particles to values of nodes.
//! - `marching_cubes`: from values of nodes to vertices, normals and triangles.
//! - `cases`: the triangles of a cube, for each of the 256 cases of corners inside or outside.

mod cases;
mod marching_cubes;
mod splat_density;

use crate::{BlockLayout, KernelError};
use frazil_vk::{Buffer, DeviceCount};

pub use marching_cubes::{MarchingCubes, MeshCapacity, RequiredMeshCapacity};
pub use splat_density::{SplatDensity, SplatMass};

/// Minimum threads per workgroup: one for each node of a block.
const MIN_WORKGROUP: u32 = 64;

fn check_workgroup(primitive: &'static str, workgroup_size: u32) -> Result<(), KernelError> {
    if workgroup_size < MIN_WORKGROUP {
        return Err(KernelError::WorkgroupSize { primitive, found: workgroup_size, minimum: MIN_WORKGROUP });
    }
    Ok(())
}

fn check_layout(layout: &BlockLayout) -> Result<(), KernelError> {
    if layout.dimensions() != 3 {
        let problem = format!("blocks in {} dimensions, expected 3", layout.dimensions());
        return Err(KernelError::Surface { problem });
    }
    Ok(())
}

/// Checks that a buffer is large enough for a value at each node of the maximum number of blocks.
fn check_nodes(
    primitive: &'static str,
    blocks: &DeviceCount,
    value: &Buffer<f32>,
) -> Result<(), KernelError> {
    let required = 64 * u64::from(blocks.capacity);
    if (value.len() as u64) < required {
        let (object, found) = (value.name().to_owned(), value.len() as u64);
        return Err(KernelError::TooSmall { primitive, object, found, required });
    }
    Ok(())
}
