//! Field in blocks of nodes, 0 elsewhere.

use std::collections::BTreeMap;

/// Number of nodes of a block along an axis.
pub const BLOCK_SIDE: i64 = 4;

/// Values of nodes in blocks of 4³.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// Blocks by position in the order z, y, x, so that they ascend like their numbers.
    blocks: BTreeMap<[i64; 3], [f64; 64]>,
}

/// Returns the block of a node, in the order z, y, x, and the node's index in it, x fastest.
pub(super) fn split([x, y, z]: [i64; 3]) -> ([i64; 3], usize) {
    let local = [z, y, x].map(|n| n.rem_euclid(BLOCK_SIDE));
    let place = (local[0] * BLOCK_SIDE + local[1]) * BLOCK_SIDE + local[2];
    ([z, y, x].map(|n| n.div_euclid(BLOCK_SIDE)), place as usize)
}

impl Nodes {
    /// Inserts the values of a block, x fastest.
    pub fn insert(&mut self, [x, y, z]: [i64; 3], values: [f64; 64]) {
        self.blocks.insert([z, y, x], values);
    }

    /// Returns the value of a node.
    pub fn value(&self, node: [i64; 3]) -> f64 {
        let (block, place) = split(node);
        self.blocks.get(&block).map_or(0.0, |values| values[place])
    }

    /// Returns the positions of the blocks that have values, ascending by z, y, x.
    pub fn blocks(&self) -> impl Iterator<Item = [i64; 3]> {
        self.blocks.keys().map(|[z, y, x]| [*x, *y, *z])
    }

    /// Returns the central differences at a node: its gradient times two cells.
    pub fn twice_gradient(&self, node: [i64; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| {
            let beside = |by: i64| {
                let mut at = node;
                at[axis] += by;
                self.value(at)
            };
            beside(1) - beside(-1)
        })
    }
}
