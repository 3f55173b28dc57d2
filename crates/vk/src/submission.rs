//! Submission of recorded work.

use crate::Result;
use crate::device::Device;
use crate::recorder::Recorder;
use crate::timing::{PassTime, TimeStamps};
use ash::vk;

/// Submitted work. Dropping it does not wait.
#[derive(Debug)]
pub struct Submission {
    device: Device,
    value: u64,
    time_stamps: Option<TimeStamps>,
}

impl Device {
    /// Submits recorded work and returns immediately.
    ///
    /// # Errors
    /// The first mistake made while recording, or the queue's error.
    pub fn submit(&self, recorder: Recorder) -> Result<Submission> {
        self.submit_with(recorder, &[], &[])
    }

    /// Submits like [`Self::submit`], also waiting for and signalling binary semaphores of the window system.
    pub(crate) fn submit_with(
        &self,
        recorder: Recorder,
        wait: &[vk::Semaphore],
        signal: &[vk::Semaphore],
    ) -> Result<Submission> {
        self.shared.collect()?;
        let finished = recorder.finish()?;
        let value = self.shared.timeline.submit(&self.shared.raw, finished.commands, wait, signal)?;
        // The objects used by the commands are released only now: if this was their last owner, they retire
        // after `value`.
        drop(finished.kept);
        Ok(Submission { device: self.clone(), value, time_stamps: finished.time_stamps })
    }
}

impl Submission {
    /// Returns the number of the submission; numbers increase by one.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// Returns true if it has finished.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_done(&self) -> Result<bool> {
        self.device.has_completed(self.value)
    }

    /// Waits until it has finished.
    ///
    /// # Errors
    /// The device was lost.
    pub fn wait(&self) -> Result<()> {
        self.device.wait_for(self.value)
    }

    /// Returns the time of each pass, if the recorder was profiling; waits until the submission has finished.
    ///
    /// # Errors
    /// The device was lost.
    pub fn pass_times(&self) -> Result<Vec<PassTime>> {
        let Some(time_stamps) = &self.time_stamps else { return Ok(Vec::new()) };
        self.wait()?;
        time_stamps.read()
    }
}
