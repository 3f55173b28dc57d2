//! CPU twins of the device kernels: plain, sequential Rust with the same stage split, names and binding order
//! as the `.comp` files, so that a device result can be checked stage by stage and a wrong pipeline bisected.
//!
//! - [`primitives`]: reduction, scan, compaction, radix sort, uniform grid and the brute-force neighbour
//!   oracle.
//! - [`sph`]: the smoothing kernels, in f32 and f64, and the share of a kernel that a plane wall cuts off.
//! - [`uniform_bodies`]: bodies at rest or in uniform motion, of snow on a grid and grains; f64.
//! - [`bodies`]: bodies among position-based particles: surfaces, motion, boundary density and loads; f64.
//! - [`fluid`]: the position-based fluid, one function a kernel, f32 like the device.
//! - [`sources`]: emitters and drains of the fluid.
//! - [`clock`]: the number of the step that runs, and the step of the first fault.
//! - [`fault`]: faults of position-based steps.
//! - [`linalg`]: singular values and polar factors of small matrices, with f64 oracles and checks of the
//!   contract.
//! - [`bonds`]: bonds between pairs of particles, their rules, and the invariants of every bond table.
//! - [`snow`]: the two-phase step of snow and water, one method per stage.
//! - [`mpm`]: snow by the material point method, f64.
//! - [`dem`]: the discrete element method for grains and slabs, f64.
//! - [`depth_averaged`]: a depth-averaged flow on a terrain, to compare run-outs of grains with; f64.
//! - [`surface`]: densities at nodes, marching cubes, and the invariants of a closed mesh; f64.
//! - [`viscoelastic`]: stress, viscosity and walls of the viscoelastic fluid; f64.
//! - [`render`]: the triangles of a terrain's chunks, and the spray particles.
//!
//! Only tests and benches use it. It does not depend on Vulkan, another crate of the workspace, files or
//! threads, and favours readability over speed.

pub mod bodies;
pub mod bonds;
pub mod clock;
pub mod dem;
pub mod depth_averaged;
pub mod ellipsoids;
mod emission;
pub mod fault;
pub mod fluid;
pub mod joints;
pub mod linalg;
pub mod mpm;
pub mod primitives;
mod projection;
pub mod render;
pub mod rigid;
pub mod snow;
pub mod sources;
pub mod sph;
pub mod surface;
pub mod uniform_bodies;
pub mod viscoelastic;
