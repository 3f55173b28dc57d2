//! Submission of recorded work.

use crate::counters::CounterQueries;
use crate::device::Device;
use crate::recorder::{Finished, Recorder};
use crate::timing::{PassTime, TimeStamps};
use crate::{Error, Result};
use ash::vk;

/// Submitted work. Dropping it does not wait.
#[derive(Debug)]
pub struct Submission {
    device: Device,
    value: u64,
    time_stamps: Option<TimeStamps>,
    counters: Option<CounterQueries>,
}

impl Device {
    /// Submits recorded work and returns immediately. A recorder without commands is not submitted: the last
    /// submission stands for it.
    ///
    /// # Errors
    /// The first mistake made while recording, or the queue's error; [`Error::Cancelled`] after
    /// [`Self::cancel_when`].
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
        if self.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let Finished { commands, kept, time_stamps, counters } = finished;
        let value = self.shared.timeline.submit(&self.shared.raw, commands, wait, signal)?;
        // The objects used by the commands are released only now: if this was their last owner, they retire
        // after `value`.
        drop(kept);
        Ok(Submission { device: self.clone(), value, time_stamps, counters })
    }
}

impl Submission {
    /// Returns the number of the submission; numbers increase by one, unless nothing was recorded.
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

    /// Returns the time of each pass, and its counters, if the recorder was profiling; waits until the
    /// submission has finished.
    ///
    /// # Errors
    /// The device was lost.
    pub fn pass_times(&self) -> Result<Vec<PassTime>> {
        let Some(time_stamps) = &self.time_stamps else { return Ok(Vec::new()) };
        self.wait()?;
        let mut times = time_stamps.read()?;
        if let Some(counters) = &self.counters {
            times.iter_mut().zip(counters.read()?).for_each(|(time, values)| time.counters = values);
        }
        Ok(times)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Device, DeviceOptions};

    #[test]
    fn a_recorder_without_commands_is_not_submitted_and_stands_for_the_last_submission() {
        let device = Device::open(&DeviceOptions { validation: true, ..Default::default() }).unwrap();
        let submit_nothing = || {
            let nothing = device.submit(device.recorder().unwrap()).unwrap();
            nothing.wait().unwrap();
            assert!(nothing.is_done().unwrap());
            nothing.value()
        };
        let before = submit_nothing();
        let buffer = device.buffer::<u32>("filled", 8).unwrap();
        let mut recorder = device.recorder().unwrap();
        recorder.fill(&buffer, 7);
        let filled = device.submit(recorder).unwrap();
        assert_eq!(filled.value(), before + 1);
        assert_eq!(submit_nothing(), filled.value());
        assert_eq!(device.download(&buffer, 8).unwrap(), [7; 8]);
        device.check_validation().unwrap();
    }
}
