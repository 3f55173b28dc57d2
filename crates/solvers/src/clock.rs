//! Clock of a simulation on the device, and the record of its first fault.

use bytemuck::Pod;
use frazil_scene::Scene;
use frazil_shaders::common::advance_clock;
use frazil_shaders::types::StepClock;
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder, Result, Threads};

const NONE: u32 = u32::MAX;

/// Division of steps into substeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepDivision {
    /// Length of a step in s.
    pub step_s: f64,
    /// Number of substeps of each step.
    pub n: u32,
}

impl StepDivision {
    /// Returns the steps of a scene.
    pub fn of(scene: &Scene) -> Self {
        Self { step_s: scene.step_s(), n: scene.substeps() }
    }

    /// Returns steps of this length in s that are not divided.
    pub fn whole(step_s: f64) -> Self {
        Self { step_s, n: 1 }
    }

    /// Returns the time step Δt in s, that of a substep.
    pub fn dt_s(self) -> f64 {
        self.step_s / f64::from(self.n)
    }
}

/// Place in the sequence of substeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepPlace {
    /// Number of steps taken.
    pub step: u64,
    /// Number of substeps taken of the step after them.
    pub substeps: u32,
}

impl StepPlace {
    /// Returns the place between two steps, after `step` of them.
    pub fn after(step: u64) -> Self {
        Self { step, substeps: 0 }
    }
}

/// Number of steps and the step of the first fault, on the device: passes take the time from it, so that the
/// commands of all steps are the same.
pub struct Clock {
    buffer: Buffer<StepClock>,
    advance: Kernel<advance_clock::Interface>,
    division: StepDivision,
    /// Place of what has been recorded.
    recorded: StepPlace,
}

impl Clock {
    /// Makes the clock without a fault, after `step` steps. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Device, division: StepDivision, step: u64) -> Result<Self> {
        let recorded = StepPlace::after(step);
        let buffer = device.buffer_from("clock", &[words_at(division, recorded)])?;
        Ok(Self { buffer, advance: Kernel::new(device)?, division, recorded })
    }

    /// Forgets any fault, and goes on at a place. It waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn start(&mut self, device: &Device, at: StepPlace) -> Result<()> {
        self.recorded = at;
        device.upload(&self.buffer, &[words_at(self.division, at)])
    }

    /// Divides the steps that begin from now on into another number of substeps.
    pub fn divide(&mut self, division: StepDivision) {
        self.division = division;
    }

    /// Returns the place of what has been recorded.
    pub fn recorded(&self) -> StepPlace {
        self.recorded
    }

    /// Returns the time in s after what has been recorded, and a number of substeps of `dt_s` more.
    pub fn recorded_s(&self, substeps: f64, dt_s: f32) -> f64 {
        let StepPlace { step, substeps: own } = self.recorded;
        step as f64 * f64::from(self.division.step_s as f32) + (f64::from(own) + substeps) * f64::from(dt_s)
    }

    /// Returns the clock, as passes bind it.
    pub fn buffer(&self) -> &Buffer<StepClock> {
        &self.buffer
    }

    /// Returns the clock as words, of which the first is that of no element unless there is a fault.
    pub fn hold(&self) -> Buffer<u32> {
        self.buffer.cast()
    }

    /// Records the beginning of a substep.
    pub fn record_advance(&mut self, recorder: &mut Recorder) {
        let params = advance_clock::Params { n_substeps: self.note_advance() };
        let bindings = advance_clock::Bindings { clock: &self.buffer };
        recorder.dispatch(&self.advance, Threads::Fixed(1), bindings, params);
    }

    /// Counts a substep whose pass advances the clock itself; returns the number of substeps for it.
    pub fn note_advance(&mut self) -> u32 {
        let StepPlace { step, substeps } = self.recorded;
        self.recorded = match substeps + 1 < self.division.n {
            true => StepPlace { step, substeps: substeps + 1 },
            false => StepPlace { step: step + 1, substeps: 0 },
        };
        self.division.n
    }

    /// Returns the place before the first substep with a fault, if there is one, and the number of substeps
    /// begun since, that one included. It waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn fault(&self, device: &Device) -> Result<Option<(StepPlace, u32)>> {
        let now = device.download(&self.buffer, 1)?[0];
        if now.fault_step == NONE || device.is_dry_run() {
            return Ok(None);
        }
        let substeps = if now.held_at == 0 { 0 } else { now.substep };
        let place = StepPlace { step: u64::from(now.fault_step) - 1, substeps };
        Ok(Some((place, now.n_begun + 1 - now.held_at.max(1))))
    }
}

/// Returns the clock without a fault at a place.
fn words_at(division: StepDivision, at: StepPlace) -> StepClock {
    let StepDivision { step_s, n } = division;
    let (step, substep, n_substeps) = match at.substeps {
        0 => (at.step, 0, 1),
        taken => (at.step + 1, taken - 1, n),
    };
    let (step, step_s) = (step as u32, step_s as f32);
    StepClock { fault_step: NONE, step, n_begun: 0, held_at: 0, substep, n_substeps, step_s }
}

/// First fault of a run: a description of the solver's own type, whose step the clock has.
pub struct FaultRecord<R> {
    buffer: Buffer<R>,
    none: R,
}

/// A fault record that is being read back.
#[derive(Debug)]
pub struct PendingRecord<R> {
    clock: Pending<StepClock>,
    record: Pending<R>,
}

impl<R: Pod> FaultRecord<R> {
    /// Makes the record that says `none`. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Device, none: R) -> Result<Self> {
        Ok(Self { buffer: device.buffer_from("fault", &[none])?, none })
    }

    /// Forgets any fault. It waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn clear(&self, device: &Device) -> Result<()> {
        device.upload(&self.buffer, &[self.none])
    }

    /// Returns the record, as passes bind it.
    pub fn buffer(&self) -> &Buffer<R> {
        &self.buffer
    }

    /// Returns the record. It waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn download(&self, device: &Device) -> Result<R> {
        Ok(device.download(&self.buffer, 1)?[0])
    }

    /// Records the read-back of the record and its step.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn read(
        &self,
        recorder: &mut Recorder,
        ring: &ReadbackRing,
        clock: &Clock,
    ) -> Result<PendingRecord<R>> {
        Ok(PendingRecord {
            clock: ring.read(recorder, &clock.buffer, 1)?,
            record: ring.read(recorder, &self.buffer, 1)?,
        })
    }
}

impl<R: Pod> PendingRecord<R> {
    /// Returns true if the record has arrived.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> Result<bool> {
        self.record.is_ready()
    }

    /// Waits for the record; returns it with the step of the fault, if there was one.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    pub fn wait(self) -> Result<Option<(u64, R)>> {
        // A device that computes nothing finds no fault.
        let is_dry_run = self.clock.device().is_dry_run();
        let (clock, record) = (self.clock.wait()?[0], self.record.wait()?[0]);
        let has_fault = clock.fault_step != NONE && !is_dry_run;
        Ok(has_fault.then_some((clock.fault_step.into(), record)))
    }
}
