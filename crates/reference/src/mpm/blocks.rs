//! Lattice of nodes in blocks of 4 per axis; only blocks that particles reach are stored.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Parameters, Particle, Stencil};

/// Number of nodes of a block along an axis.
const SIDE: i64 = 4;

/// Lattice of all nodes that a particle of the domain can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lattice {
    dimensions: usize,
    /// Number of blocks along each axis.
    pub blocks: [i64; 3],
}

impl Lattice {
    /// Lattice around a domain, with a margin for the stencil of a particle on its surface.
    pub fn new(p: &Parameters) -> Self {
        let extent = (p.domain_max_m - p.domain_min_m) / p.cell_size_m;
        let blocks = std::array::from_fn(|axis| {
            let nodes = extent[axis].ceil() as i64 + 9;
            if axis < p.dimensions { (nodes + SIDE - 1) / SIDE } else { 1 }
        });
        Self { dimensions: p.dimensions, blocks }
    }

    /// Returns the number of nodes of a block.
    pub fn nodes_per_block(&self) -> u64 {
        SIDE.pow(self.dimensions as u32) as u64
    }

    /// Returns the number of a block, x fastest.
    pub fn block(&self, [x, y, z]: [i64; 3]) -> u64 {
        ((z * self.blocks[1] + y) * self.blocks[0] + x) as u64
    }

    /// Returns the position of a block.
    pub fn position(&self, block: u64) -> [i64; 3] {
        let block = block as i64;
        let row = block / self.blocks[0];
        [block % self.blocks[0], row % self.blocks[1], row / self.blocks[1]]
    }

    /// Returns the number of a node: its block's number, then its index within the block, x fastest.
    pub fn key(&self, node: [i64; 3]) -> u64 {
        let [x, y, z] = node.map(|n| n.rem_euclid(SIDE));
        let local = (z * SIDE + y) * SIDE + x;
        self.block(node.map(|n| n.div_euclid(SIDE))) * self.nodes_per_block() + local as u64
    }

    /// Returns the key of a particle: that of the first node of its stencil.
    pub fn particle_key(&self, p: &Parameters, particle: &Particle) -> u64 {
        self.key(Stencil::new(p, particle.position).base)
    }

    /// Returns the blocks of keys, ascending and unique.
    pub fn occupied_blocks(&self, keys: &[u64]) -> Vec<u64> {
        let blocks: BTreeSet<u64> = keys.iter().map(|key| key / self.nodes_per_block()).collect();
        blocks.into_iter().collect()
    }

    /// Returns the active blocks, ascending and unique: the occupied ones and the next ones along any axes.
    pub fn active_blocks(&self, occupied: &[u64]) -> Vec<u64> {
        let blocks: BTreeSet<u64> = occupied
            .iter()
            .flat_map(|block| {
                let at = self.position(*block);
                (0..1 << self.dimensions)
                    .map(move |corner| std::array::from_fn(|axis| at[axis] + (corner >> axis & 1)))
            })
            .map(|at| self.block(at))
            .collect();
        blocks.into_iter().collect()
    }
}

/// Returns for each key that occurs its range of indices, for keys in ascending order.
pub fn cell_ranges(keys: &[u64]) -> Vec<(u64, Range<usize>)> {
    let mut ranges: Vec<(u64, Range<usize>)> = Vec::new();
    for (i, key) in keys.iter().enumerate() {
        match ranges.last_mut() {
            Some((last, range)) if last == key => range.end = i + 1,
            _ => ranges.push((*key, i..i + 1)),
        }
    }
    ranges
}

/// Makes the order of particles the identity if a step requires more occupied or active blocks than there is
/// room for, so that it can be discarded.
pub fn keep_order(order: &mut [u32], required: [u32; 2], capacity: [u32; 2]) {
    if required.iter().zip(capacity).any(|(required, capacity)| *required > capacity) {
        order.iter_mut().zip(0..).for_each(|(from, i)| *from = i);
    }
}
