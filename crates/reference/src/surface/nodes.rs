//! A field that is given in blocks of nodes and is 0 elsewhere.

use std::collections::BTreeMap;

/// Nodes of a block along an axis.
pub const BLOCK_SIDE: i64 = 4;

/// Values of nodes in blocks of 4³.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// By the block's place in the order z, y, x, so that they ascend as their numbers do.
    blocks: BTreeMap<[i64; 3], [f64; 64]>,
}

/// The block of a node, in the order z, y, x, and the node's place in it, x fastest.
pub(super) fn split([x, y, z]: [i64; 3]) -> ([i64; 3], usize) {
    let local = [z, y, x].map(|n| n.rem_euclid(BLOCK_SIDE));
    let place = (local[0] * BLOCK_SIDE + local[1]) * BLOCK_SIDE + local[2];
    ([z, y, x].map(|n| n.div_euclid(BLOCK_SIDE)), place as usize)
}

impl Nodes {
    /// Gives the values of a block, x fastest.
    pub fn insert(&mut self, [x, y, z]: [i64; 3], values: [f64; 64]) {
        self.blocks.insert([z, y, x], values);
    }

    /// The value of a node.
    pub fn value(&self, node: [i64; 3]) -> f64 {
        let (block, place) = split(node);
        self.blocks.get(&block).map_or(0.0, |values| values[place])
    }

    /// Places of the blocks that have values, ascending by z, y, x.
    pub fn blocks(&self) -> impl Iterator<Item = [i64; 3]> {
        self.blocks.keys().map(|[z, y, x]| [*x, *y, *z])
    }

    /// Differences of the values about a node: its gradient times two cells.
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
