//! Data-parallel primitives on the device: counts, reduction, scan, compaction, radix sort, the uniform grid, interlinks.
//!
//! Each is an object that owns its kernels and its scratch for a capacity, and records passes. Counts come from the device
//! ([`frazil_vk::DeviceCount`]); nothing waits for the host. All of them are correct on any subgroup size, because none uses
//! subgroups, and give the same bits on every run, but for [`Builder::CompareAndSwap`], which is there to be asked for.
//!
//! The kernels are `glsl/primitives`, `glsl/grid` and `glsl/interlinks`; their CPU twins are in `frazil-reference`. Nothing here
//! knows what a particle is beyond a position and, for interlinks, a temperature and an id.

mod compaction;
mod count;
mod error;
mod grid;
mod interlinks;
mod length;
mod radix_sort;
mod reduction;
mod scan;

pub use compaction::Compaction;
pub use count::Counts;
pub use error::KernelError;
pub use grid::UniformGrid;
pub use interlinks::{Builder, INVALID_INDEX, Interlinks, LinkLimit, LinkRule, LinkedParticles};
pub use radix_sort::RadixSort;
pub use reduction::{Operation, ReductionF32, ReductionU32};
pub use scan::ExclusiveScan;
