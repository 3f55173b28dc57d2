//! CPU twins of the device kernels: plain, sequential Rust with the same stage split, names and binding order as the
//! `.comp` files, so that a device result can be checked stage by stage and a wrong pipeline bisected.
//!
//! - [`primitives`]: reduction, scan, compaction, radix sort, uniform grid and the brute-force neighbour oracle.
//! - [`sph`]: the smoothing kernels, in f32 and f64, and the share of a kernel that a plane wall cuts off.
//! - [`fluid`]: the position-based fluid, one function a kernel, f32 like the device.
//! - [`linalg`]: singular values and polar factors of small matrices, with f64 oracles and the contract as a check.
//! - [`interlinks`]: the bonds between solid particles, and what must hold of them whoever made them.
//! - [`snow`]: the two-phase step of snow and water, one method a stage.
//! - [`mpm`]: snow by the material point method, f64.
//! - [`dem`]: grains that touch, f64.
//! - [`surface`]: densities at nodes, marching cubes, and what must hold of a closed mesh; f64.
//! - [`render`]: the triangles of a terrain's chunks, and which particles are spray.
//!
//! Tests and benches use it; nothing else does. It never knows Vulkan, another crate of the workspace, files or threads,
//! and is written to be read rather than to be fast.

pub mod dem;
pub mod fluid;
pub mod interlinks;
pub mod linalg;
pub mod mpm;
pub mod primitives;
pub mod render;
pub mod snow;
pub mod sph;
pub mod surface;
pub mod world;
