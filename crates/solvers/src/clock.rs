//! Clock of a simulation on the device, and the record of its first fault.

use bytemuck::Pod;
use frazil_shaders::common::advance_clock;
use frazil_shaders::types::StepClock;
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder, Result, Threads};

const NONE: u32 = u32::MAX;

/// Number of steps and the step of the first fault, on the device: passes take the time from it, so that the
/// commands of all steps are the same.
pub struct Clock {
    buffer: Buffer<StepClock>,
    advance: Kernel<advance_clock::Interface>,
}

/// Returns the clock without a fault, after `step` steps.
fn after(step: u64) -> StepClock {
    StepClock { fault_step: NONE, step: step as u32, is_held: 0 }
}

impl Clock {
    /// Makes the clock without a fault, after `step` steps. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Device, step: u64) -> Result<Self> {
        Ok(Self { buffer: device.buffer_from("clock", &[after(step)])?, advance: Kernel::new(device)? })
    }

    /// Forgets any fault, after `step` steps. It waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn start(&self, device: &Device, step: u64) -> Result<()> {
        device.upload(&self.buffer, &[after(step)])
    }

    /// Returns the clock, as passes bind it.
    pub fn buffer(&self) -> &Buffer<StepClock> {
        &self.buffer
    }

    /// Returns the clock as words, of which the first is that of no element unless there is a fault.
    pub fn hold(&self) -> Buffer<u32> {
        self.buffer.cast()
    }

    /// Records the beginning of a step.
    pub fn record_advance(&self, recorder: &mut Recorder) {
        let bindings = advance_clock::Bindings { clock: &self.buffer };
        recorder.dispatch(&self.advance, Threads::Fixed(1), bindings, ());
    }

    /// Returns the step of the first fault, if there is one. It waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn fault_step(&self, device: &Device) -> Result<Option<u64>> {
        let clock = device.download(&self.buffer, 1)?[0];
        Ok((clock.fault_step != NONE && !device.is_dry_run()).then_some(clock.fault_step.into()))
    }
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
        let clock = if is_dry_run { after(0) } else { clock };
        Ok((clock.fault_step != NONE).then_some((clock.fault_step.into(), record)))
    }
}
