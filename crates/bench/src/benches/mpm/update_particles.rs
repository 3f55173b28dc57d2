//! Transfer from nodes to particles.

use super::block::{Before, Block, axes, spline_axis};
use super::moved::Moved;
use crate::axis::{Axis, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_reference::mpm::State;
use frazil_solvers::mpm::Stage;
use frazil_testkit::twins::mpm::grid_of;
use frazil_vk::{Device, Recorder};

pub struct UpdateParticles;

/// Approximate number of particles for the twin; with more, it computes every second, third … one.
const TWIN_PARTICLES: usize = 1 << 15;

struct Workload {
    block: Block,
    before: Before,
    after: Moved,
}

impl Bench for UpdateParticles {
    fn id(&self) -> &'static str {
        "mpm.update_particles"
    }

    fn about(&self) -> &'static str {
        "strain, velocity, position and stress of particles from nodes, of a block of snow"
    }

    fn axes(&self) -> Vec<Axis> {
        axes().into_iter().chain([spline_axis()]).collect()
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let mut block = Block::new(device, point)?;
        block.run_before(device, Stage::UpdateParticles)?;
        let grid = grid_of(device, &block.mpm)?;
        // No wall is touched: particles receive the nodes' momentum.
        let momentum = grid.nodes.values().map(|node| node.mass * node.velocity).sum();
        let particles = block.particles(device)?;
        let some = particles.into_iter().step_by(block.n.div_ceil(TWIN_PARTICLES).max(1));
        let mut state = State::new(some.collect());
        state.update_particles(&block.p, &grid, 0.0);
        let after = Moved::new(block.n, state.particles, momentum);
        let before = Before::copy(device, &block)?;
        Ok(Prepared::Device(Box::new(Workload { block, before, after })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.block.n as u64;
        let [matrix, symmetric, affine] = self.block.words();
        let has_flip = self.block.mpm.parameters().has_flip;
        // Position, F_E and J_P read and written, volume read, velocity, stress and C written; for FLIP also
        // the velocity read, and changes of nodes besides their velocities.
        let words = 2 * (4 + matrix) + 1 + 3 + symmetric + affine + if has_flip { 3 } else { 0 };
        let node_bytes = if has_flip { 24 } else { 12 };
        Work { elements, bytes_minimum: 4 * words * elements + node_bytes * self.block.n_nodes() }
    }

    fn poison(&mut self, _: &mut Recorder) {
        // Empty: the outputs are the inputs, which a step moves by more than the tolerance.
    }

    fn reset(&mut self, recorder: &mut Recorder) {
        self.before.restore(recorder, &self.block.mpm);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        Ok(self.block.mpm.record_stage(recorder, Stage::UpdateParticles)?)
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        self.after.difference(device, &self.block)
    }
}
