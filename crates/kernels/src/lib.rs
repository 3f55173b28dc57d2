//! Data-parallel primitives on the device: counts, reduction, scan, compaction, radix sort, the uniform grid,
//! sparse blocks of nodes and surfaces in them, bonds between pairs, and decompositions of small matrices.
//!
//! Each primitive owns its kernels and its scratch buffers for a capacity, and records passes. Counts are on
//! the device ([`frazil_vk::DeviceCount`]); nothing waits for the host. All primitives are correct at any
//! subgroup size, because only kernels with ballots use subgroups, whose size they require, and give the same
//! bits on every run, except for [`Builder::CompareAndSwap`], which must be chosen explicitly.
//!
//! The kernels are in `glsl/primitives`, `glsl/grid`, `glsl/sparse`, `glsl/surface`, `glsl/bonds` and
//! `glsl/linalg`; their CPU twins are in `frazil-reference`.
//! The crate knows nothing of particles beyond a position and, for bonds, a limit and an id.

mod bonds;
mod cell_sort;
mod compaction;
mod copy;
mod count;
mod decomposition;
mod error;
mod grid;
mod kernel_set;
mod length;
mod litmus;
mod look_back;
mod multiply_add;
mod radix_passes;
mod radix_sort;
mod ranking;
mod reduction;
mod scan;
mod settle;
mod sparse_blocks;
mod surface;

pub use bonds::{
    BOND_FAULTS, BondCapacity, BondColumn, BondSearch, BondedParticles, Builder, INVALID_INDEX, PairBonds,
};
pub use cell_sort::{CellSort, CellSortMethod};
pub use compaction::{Compaction, Move};
pub use copy::{CopyRates, CopyWords};
pub use count::Counts;
pub use decomposition::{Matrix2, Matrix3, Polar2, Polar3, PolarMethod, Svd2, Svd3};
pub use error::KernelError;
pub use grid::{CellOrder, GridOptions, UniformGrid};
pub use litmus::Litmus;
pub use look_back::Method;
pub use multiply_add::MultiplyAdd;
pub use radix_sort::{RadixSort, SortKey, SortOptions};
pub use ranking::Ranking;
pub use reduction::{Operation, ReductionF32, ReductionU32};
pub use scan::{Scan, ScanOptions};
pub use sparse_blocks::{BLOCK_SIDE, BlockCapacity, BlockLayout, MAX_TABLE_BLOCKS, SparseBlocks};
pub use surface::{MarchingCubes, MeshCapacity, RequiredMeshCapacity, SplatDensity, SplatMass};
