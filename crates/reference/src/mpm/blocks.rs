//! The lattice of nodes in blocks of 4 an axis, of which only those are stored that particles reach.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Parameters, Particle, Stencil};

/// Nodes of a block along an axis.
const SIDE: i64 = 4;

/// All the nodes that a particle of the domain can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lattice {
    dimensions: usize,
    /// Blocks along each axis.
    pub blocks: [i64; 3],
}

impl Lattice {
    /// About a domain, with room for the stencil of a particle on its surface.
    pub fn new(p: &Parameters) -> Self {
        let extent = (p.domain_max_m - p.domain_min_m) / p.cell_size_m;
        let blocks = std::array::from_fn(|axis| {
            let nodes = extent[axis].ceil() as i64 + 9;
            if axis < p.dimensions { (nodes + SIDE - 1) / SIDE } else { 1 }
        });
        Self { dimensions: p.dimensions, blocks }
    }

    /// Nodes of a block.
    pub fn nodes_per_block(&self) -> u64 {
        SIDE.pow(self.dimensions as u32) as u64
    }

    /// The number of a block, x fastest.
    pub fn block(&self, [x, y, z]: [i64; 3]) -> u64 {
        ((z * self.blocks[1] + y) * self.blocks[0] + x) as u64
    }

    /// Where a block is.
    pub fn position(&self, block: u64) -> [i64; 3] {
        let block = block as i64;
        let row = block / self.blocks[0];
        [block % self.blocks[0], row % self.blocks[1], row / self.blocks[1]]
    }

    /// The number of a node: its block's number, then its place within, x fastest.
    pub fn key(&self, node: [i64; 3]) -> u64 {
        let [x, y, z] = node.map(|n| n.rem_euclid(SIDE));
        let local = (z * SIDE + y) * SIDE + x;
        self.block(node.map(|n| n.div_euclid(SIDE))) * self.nodes_per_block() + local as u64
    }

    /// The key of a particle: that of the first node about it.
    pub fn particle_key(&self, p: &Parameters, particle: &Particle) -> u64 {
        self.key(Stencil::new(p, particle.position).base)
    }

    /// The blocks of keys, ascending, each once.
    pub fn occupied_blocks(&self, keys: &[u64]) -> Vec<u64> {
        let blocks: BTreeSet<u64> = keys.iter().map(|key| key / self.nodes_per_block()).collect();
        blocks.into_iter().collect()
    }

    /// The blocks that have nodes about particles of occupied blocks, ascending, each once: those and the next along any axes.
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

/// For each key that occurs the places that have it, of keys in ascending order.
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
