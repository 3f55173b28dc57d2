//! Update of the nodes.

use super::block::{Block, axes};
use crate::axis::{Axis, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_reference::mpm::Grid;
use frazil_solvers::mpm::Stage;
use frazil_testkit::ROUNDING;
use frazil_testkit::twins::mpm::{node_places, node_sums, node_vectors};
use frazil_vk::{Device, Recorder};
use glam::DVec3;

pub struct UpdateNodes;

/// Roundings of what is added: a quotient, a product and two sums, and of constants such as 1/3 before them.
const ROUNDINGS: f64 = 16.0;

struct Workload {
    block: Block,
    /// Expected nodes, in the device's order.
    expected: Vec<Expected>,
}

struct Expected {
    velocity: DVec3,
    change: DVec3,
    /// Sum of the magnitudes that are added, in m/s.
    scale: f64,
}

impl Bench for UpdateNodes {
    fn id(&self) -> &'static str {
        "mpm.update_nodes"
    }

    fn about(&self) -> &'static str {
        "velocities of nodes after forces, gravity and walls, of a block of snow"
    }

    fn axes(&self) -> Vec<Axis> {
        axes()
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let mut block = Block::new(device, point)?;
        block.run_before(device, Stage::UpdateNodes)?;
        // A node depends only on itself, so the twin can compute all nodes.
        let places = node_places(device, &block.mpm)?;
        let nodes = node_sums(device, &block.mpm, places.len())?;
        let mut grid = Grid { nodes: places.iter().copied().zip(nodes).collect(), ..Grid::default() };
        grid.update_velocity(&block.p);
        grid.collide(&block.p, 0.0);
        let expected = places.iter().map(|at| {
            let node = grid.node(*at);
            let pull = if node.mass > 0.0 { node.force / node.mass } else { DVec3::ZERO };
            let gained = block.p.dt_s * (pull.length() + block.p.gravity_m_s2.length());
            let scale = node.before.length() + gained;
            Expected { velocity: node.velocity, change: node.velocity - node.before, scale }
        });
        let expected = expected.collect();
        Ok(Prepared::Device(Box::new(Workload { block, expected })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        // Momentum, mass and force read; velocity, and for FLIP its change, written.
        let written = if self.block.mpm.parameters().has_flip { 24 } else { 12 };
        Work { elements: self.block.n as u64, bytes_minimum: (28 + written) * self.block.n_nodes() }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(self.block.mpm.node_velocity(), u32::MAX);
        recorder.fill(self.block.mpm.node_change(), u32::MAX);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        Ok(self.block.mpm.record_stage(recorder, Stage::UpdateNodes)?)
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let (mpm, n) = (&self.block.mpm, self.expected.len());
        let velocity = node_vectors(device, mpm.node_velocity(), n)?;
        let n_changes = if mpm.parameters().has_flip { n } else { 0 };
        let change = node_vectors(device, mpm.node_change(), n_changes)?;
        for (i, expected) in self.expected.iter().enumerate() {
            let tolerance = ROUNDINGS * ROUNDING * expected.scale;
            let changed = change.get(i).copied().unwrap_or(expected.change);
            for (name, found, expected) in
                [("velocity", velocity[i], expected.velocity), ("change", changed, expected.change)]
            {
                let error = (found - expected).length();
                if error.is_nan() || error > tolerance {
                    return Ok(Some(Difference(format!(
                        "{name} of node {i} is {found}, expected {expected} to {tolerance:e}"
                    ))));
                }
            }
        }
        Ok(None)
    }
}
