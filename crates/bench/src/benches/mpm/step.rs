//! A step of snow on a grid.

use super::block::{Before, Block, CPU_VARIANT, axes, spline_axis, state_of, step_variant_axis};
use super::moved::Moved;
use crate::axis::{Axis, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, HostWorkload, Prepared, Work};
use crate::benches::idle;
use crate::error::Result;
use frazil_reference::mpm::{Parameters, State};
use frazil_solvers::{Solver as _, SourceParameters};
use frazil_testkit::twins::mpm::particles_of_state;
use frazil_vk::{Device, Recorder};

pub struct Step;

struct Workload {
    block: Block,
    before: Before,
    after: Moved,
}

/// The twin on the CPU, compared with a step of the device.
struct OneCore {
    p: Parameters,
    before: State,
    state: State,
    after: Moved,
    work: Work,
}

impl Bench for Step {
    fn id(&self) -> &'static str {
        "mpm.step"
    }

    fn about(&self) -> &'static str {
        "one step of a block of snow on a grid, strained and in motion amid empty space"
    }

    fn axes(&self) -> Vec<Axis> {
        axes().into_iter().chain([spline_axis(), step_variant_axis(), idle::axis()]).collect()
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let sources = SourceParameters { drains: idle::drains(point)?, ..idle::emitters(point)? };
        let mut block = Block::with_sources(device, point, sources)?;
        let state = State::new(block.particles(device)?);
        // No wall is touched: only gravity adds momentum.
        let momentum = state.momentum() + block.p.dt_s * state.mass() * block.p.gravity_m_s2;
        if point.name("variant")? == CPU_VARIANT {
            let mut recorder = device.recorder()?;
            block.mpm.record_step(&mut recorder);
            device.submit(recorder)?.wait()?;
            let after = Moved::new(block.n, block.particles(device)?, momentum);
            let (work, p) = (work(&block), block.p);
            return Ok(Prepared::Host(Box::new(OneCore { p, before: state.clone(), state, after, work })));
        }
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

fn work(block: &Block) -> Work {
    let elements = block.n as u64;
    let [matrix, _, affine] = block.words();
    // Position, velocity, F_E, J_P and C read and written, mass and volume read; stress follows from F_E.
    let words = 2 * (7 + matrix + affine) + 2;
    Work { elements, bytes_minimum: 4 * words * elements }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        work(&self.block)
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

impl HostWorkload for OneCore {
    fn work(&self) -> Work {
        self.work
    }

    fn reset(&mut self) {
        self.state.clone_from(&self.before);
    }

    fn run(&mut self) {
        std::hint::black_box(self.state.step(&self.p));
    }

    fn verify(&self) -> Option<Difference> {
        let stresses: Vec<_> =
            self.state.particles.iter().map(|particle| particle.stress(&self.p.material)).collect();
        self.after.difference_of(&self.p, &self.state.particles, &stresses)
    }
}
