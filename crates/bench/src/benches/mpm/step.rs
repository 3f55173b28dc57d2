//! A step of snow on a grid.

use super::block::{Before, Block, axes, spline_axis, state_of, variant_axis};
use super::moved::Moved;
use crate::axis::{Axis, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_reference::mpm::State;
use frazil_testkit::twins::mpm::particles_of_state;
use frazil_vk::{Device, Recorder};

pub struct Step;

struct Workload {
    block: Block,
    before: Before,
    after: Moved,
}

impl Bench for Step {
    fn id(&self) -> &'static str {
        "mpm.step"
    }

    fn about(&self) -> &'static str {
        "one step of a block of snow on a grid, strained and in motion amid empty space"
    }

    fn axes(&self) -> Vec<Axis> {
        axes().into_iter().chain([spline_axis(), variant_axis()]).collect()
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let block = Block::new(device, point)?;
        let state = State::new(block.particles(device)?);
        // No wall is touched: only gravity adds momentum.
        let momentum = state.momentum() + block.p.dt_s * state.mass() * block.p.gravity_m_s2;
        let particles = if block.is_for_the_twin() {
            let mut state = state;
            state.step(&block.p);
            state.particles
        } else {
            let mut other = block.other(device)?;
            let mut recorder = device.recorder()?;
            other.record_step(&mut recorder);
            device.submit(recorder)?.wait()?;
            particles_of_state(other.parameters(), &state_of(device, &other)?)
        };
        let (before, after) = (Before::copy(device, &block)?, Moved::new(block.n, particles, momentum));
        Ok(Prepared::Device(Box::new(Workload { block, before, after })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.block.n as u64;
        let [matrix, _, affine] = self.block.words();
        // Position, velocity, F_E, J_P and C read and written, mass and volume read; stress follows from F_E.
        let words = 2 * (7 + matrix + affine) + 2;
        Work { elements, bytes_minimum: 4 * words * elements }
    }

    fn poison(&mut self, _: &mut Recorder) {
        // Empty: the outputs are the inputs, which a step moves by more than the tolerance.
    }

    fn reset(&mut self, recorder: &mut Recorder) {
        self.before.restore(recorder, &self.block.mpm);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        self.block.mpm.record_step(recorder);
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        self.after.difference(device, &self.block)
    }
}
