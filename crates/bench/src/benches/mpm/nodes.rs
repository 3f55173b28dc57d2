//! Nodes of the active blocks, in the device's order.

use super::block::Block;
use crate::error::Result;
use frazil_reference::mpm::{Grid, Lattice, Node};
use frazil_solvers::mpm::Mpm;
use frazil_vk::{Buffer, Device};
use glam::DVec3;

/// Maximum relative error of an operation in f32, 2⁻²⁴.
pub const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

/// Returns the index of each node along each axis.
pub fn places(device: &Device, block: &Block) -> Result<Vec<[i64; 3]>> {
    let lattice = Lattice::new(&block.p);
    let side = i64::from(frazil_kernels::BLOCK_SIDE);
    let blocks = block.mpm.blocks();
    let n_blocks = device.download(&blocks.active_count().count, 1)?[0] as usize;
    let active = device.download(blocks.active(), n_blocks)?;
    let of_block = |number: &u32| {
        let first = lattice.position(u64::from(*number)).map(|n| side * n);
        (0..lattice.nodes_per_block() as i64).map(move |local| {
            let within = [local % side, local / side % side, local / (side * side)];
            std::array::from_fn(|axis| first[axis] + within[axis])
        })
    };
    Ok(active.iter().flat_map(of_block).collect())
}

/// Returns mass, momentum and force of the first `n` nodes.
pub fn sums(device: &Device, mpm: &Mpm, n: usize) -> Result<Vec<Node>> {
    let momentum = device.download(mpm.node_momentum(), n)?;
    let force = device.download(mpm.node_force(), n)?;
    let node = |([x, y, z, mass], force): (&[f32; 4], &[f32; 3])| Node {
        mass: f64::from(*mass),
        momentum: wide([*x, *y, *z]),
        force: wide(*force),
        ..Node::default()
    };
    Ok(momentum.iter().zip(&force).map(node).collect())
}

/// Returns vectors of the first `n` nodes.
pub fn vectors(device: &Device, buffer: &Buffer<[f32; 3]>, n: usize) -> Result<Vec<DVec3>> {
    Ok(device.download(buffer, n)?.into_iter().map(wide).collect())
}

/// Returns the device's nodes as the twin's grid after its velocities are computed.
pub fn grid(device: &Device, block: &Block) -> Result<Grid> {
    let places = places(device, block)?;
    let mut sums = sums(device, &block.mpm, places.len())?;
    let velocity = vectors(device, block.mpm.node_velocity(), places.len())?;
    for (node, velocity) in sums.iter_mut().zip(velocity) {
        node.before = if node.mass > 0.0 { node.momentum / node.mass } else { DVec3::ZERO };
        node.velocity = velocity;
    }
    Ok(Grid { nodes: places.into_iter().zip(sums).collect() })
}

fn wide(v: [f32; 3]) -> DVec3 {
    DVec3::from_array(v.map(f64::from))
}
