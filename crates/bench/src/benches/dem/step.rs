//! Benches of a step of grains, and of its pass in which they collide.

use super::block::{Block, axes};
use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::benches::idle;
use crate::error::Result;
use frazil_solvers::Solver as _;
use frazil_solvers::SourceParameters;
use frazil_solvers::dem::Stage;
use frazil_vk::{Device, Recorder};

/// Number of pieces of ice, as in Gucer2010.
const PIECES: u64 = 232;

/// Bench of all passes.
pub struct Step;

/// Bench of the pass in which grains collide and move.
pub struct Collide;

struct Workload {
    block: Block,
    /// The timed stage; `None` for all.
    stage: Option<Stage>,
}

impl Bench for Step {
    fn id(&self) -> &'static str {
        "dem.step"
    }

    fn about(&self) -> &'static str {
        "one step, between two builds of contact lists, of a cube of grains in contact, with friction, above \
         a terrain and under pieces of ice"
    }

    fn axes(&self) -> Vec<Axis> {
        let pieces = Axis::integers("slab_pieces", Domain::Integers(0, 4096), &[0, PIECES], &[0, 16]);
        axes().into_iter().chain([pieces, idle::axis()]).collect()
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n_pieces = point.integer("slab_pieces")? as usize;
        let block = Block::new(device, point, n_pieces, idle::emitters(point)?)?;
        Ok(Prepared::Device(Box::new(Workload { block, stage: None })))
    }
}

impl Bench for Collide {
    fn id(&self) -> &'static str {
        "dem.collide"
    }

    fn about(&self) -> &'static str {
        "the pass of that step in which grains collide and move, behind sorting"
    }

    fn axes(&self) -> Vec<Axis> {
        axes()
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let block = Block::new(device, point, 0, SourceParameters::default())?;
        Ok(Prepared::Device(Box::new(Workload { block, stage: Some(Stage::Collide) })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.block.n as u64;
        // A grain's state and its contacts' history, read and written.
        let words = Block::GRAIN_WORDS * elements + self.block.contact_words() * self.block.n_ends;
        Work { elements, bytes_minimum: 2 * 4 * words }
    }

    fn poison(&mut self, _: &mut Recorder) {
        // Empty: the outputs are the inputs, which a step moves by more than the tolerance.
    }

    fn reset(&mut self, recorder: &mut Recorder) {
        if let Err(error) = self.block.restore(recorder) {
            recorder.fail(frazil_vk::Error::Misuse {
                object: "the stages before those that are timed".into(),
                problem: error.to_string(),
            });
        }
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        match self.stage {
            Some(stage) => self.block.dem.record_stage(recorder, stage)?,
            None => self.block.dem.record_step(recorder),
        }
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        self.block.difference(device)
    }
}
