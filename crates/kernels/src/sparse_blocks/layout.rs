//! Numbers of the blocks and nodes of a lattice.

use crate::KernelError;
use frazil_shaders::sparse::blocks::BLOCK_SIDE;
use frazil_shaders::types::BlockLattice;
use std::ops::Range;

/// Lattice of nodes in a plane (D = 2) or in space (D = 3), in blocks of 4^D, with particles that each reach
/// at most `4` nodes per axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockLayout {
    dimensions: u32,
    lattice: BlockLattice,
}

impl BlockLayout {
    /// Returns the maximum number of blocks of a lattice: keys have 32 bits, of which 2 D are the node in its
    /// block.
    pub fn max_blocks(dimensions: u32) -> u64 {
        1 << (u32::BITS - 2 * dimensions)
    }

    /// Makes the lattice of cells of side `cell_m` around a domain, including the nodes that particles on its
    /// walls reach.
    ///
    /// `shift_cells` is the distance from the first node that a particle reaches up to the particle: 1 for a
    /// cubic spline, ½ for a quadratic one.
    ///
    /// # Errors
    /// It would have more blocks than keys can number.
    pub fn new(
        dimensions: u32,
        domain_min_m: [f32; 3],
        domain_max_m: [f32; 3],
        cell_m: f32,
        shift_cells: f32,
    ) -> Result<Self, KernelError> {
        let margin_m = BLOCK_SIDE as f32 * cell_m;
        let is_used = |axis: usize| axis < dimensions as usize;
        let blocks: [f64; 3] = std::array::from_fn(|axis| {
            let extent = f64::from(domain_max_m[axis]) - f64::from(domain_min_m[axis]);
            let nodes = (extent / f64::from(cell_m)).ceil() + 2.0 * f64::from(BLOCK_SIDE) + 1.0;
            if is_used(axis) { (nodes / f64::from(BLOCK_SIDE)).ceil() } else { 1.0 }
        });
        let total: f64 = blocks.iter().product();
        if total.is_nan() || total > Self::max_blocks(dimensions) as f64 {
            let max = Self::max_blocks(dimensions);
            let problem = format!("{total:.0} blocks of 4^{dimensions} nodes, at most {max} can be numbered");
            return Err(KernelError::Grid { problem });
        }
        let lattice =
            BlockLattice {
                origin_m: std::array::from_fn(|axis| {
                    if is_used(axis) { domain_min_m[axis] - margin_m } else { 0.0 }
                }),
                cells_per_m: 1.0 / cell_m,
                blocks: blocks.map(|n| n as u32),
                shift_cells,
            };
        Ok(Self { dimensions, lattice })
    }

    /// Returns D.
    pub fn dimensions(&self) -> u32 {
        self.dimensions
    }

    /// Returns the lattice, as kernels take it.
    pub fn lattice(&self) -> BlockLattice {
        self.lattice
    }

    /// Returns the number of nodes of a block, 4^D.
    pub fn block_nodes(&self) -> u32 {
        1 << (2 * self.dimensions)
    }

    /// Returns the number of blocks that the particles based in one block can reach, 2^D.
    pub fn reach(&self) -> u32 {
        1 << self.dimensions
    }

    /// Returns the number of blocks of the whole lattice, stored or not.
    pub fn n_blocks(&self) -> u64 {
        self.lattice.blocks.iter().map(|&n| u64::from(n)).product()
    }

    /// Returns the bits of keys that distinguish particles.
    pub fn key_bits(&self) -> Range<u32> {
        0..64 - (self.n_blocks() * u64::from(self.block_nodes()) - 1).max(1).leading_zeros()
    }
}
