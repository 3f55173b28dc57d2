//! Marks behind passes, which tell the pass that a device has reached when it hangs or is lost.

use crate::{Error, Result};
use ash::vk;

/// Maximum number of passes of a submission that are marked.
const CAPACITY: u32 = 8192;

/// A query pool with a time stamp behind each pass. A time stamp is available once all commands before it
/// have finished, and the host can ask for it while later ones run.
pub(crate) struct Marks {
    pool: vk::QueryPool,
    passes: Vec<&'static str>,
    n_passes: usize,
}

impl Marks {
    /// Creates a pool. Calls for it are valid on devices whose queue has time stamps.
    pub fn new(device: &ash::Device) -> Result<Self> {
        let info =
            vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(CAPACITY);
        // SAFETY: the caller has checked that the queue has time stamps.
        let pool = unsafe { device.create_query_pool(&info, None) }
            .map_err(Error::call("create query pool", "marks of passes"))?;
        let marks = Self { pool, passes: Vec::new(), n_passes: 0 };
        marks.reset_queries(device, CAPACITY);
        Ok(marks)
    }

    fn reset_queries(&self, device: &ash::Device, n: u32) {
        // SAFETY: host query reset is enabled, and no submission uses the pool.
        unsafe { device.reset_query_pool(self.pool, 0, n) };
    }

    /// Removes all marks. No submission may use the pool.
    pub fn clear(&mut self, device: &ash::Device) {
        if !self.passes.is_empty() {
            self.reset_queries(device, self.passes.len() as u32);
        }
        self.passes.clear();
        self.n_passes = 0;
    }

    /// Records the mark behind a pass; passes beyond the capacity have none.
    pub fn end_pass(&mut self, device: &ash::Device, commands: vk::CommandBuffer, name: &'static str) {
        self.n_passes += 1;
        let query = self.passes.len() as u32;
        if query < CAPACITY {
            let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
            // SAFETY: the command buffer is recording, and the query lies in the pool and is unused.
            unsafe { device.cmd_write_timestamp2(commands, stage, self.pool, query) };
            self.passes.push(name);
        }
    }

    /// Returns the first pass that has not finished, as `name (3 of 40)`; none if all marked ones have, or
    /// the device does not answer.
    pub fn reached(&self, device: &ash::Device) -> Option<String> {
        if self.passes.is_empty() {
            return None;
        }
        // A time stamp and whether it is available.
        let mut results = vec![[0u64; 2]; self.passes.len()];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        // SAFETY: the pool is alive, and the queries were reset before they were recorded.
        match unsafe { device.get_query_pool_results(self.pool, 0, &mut results, flags) } {
            Ok(()) | Err(vk::Result::NOT_READY) => {}
            Err(_) => return None,
        }
        let index = results.iter().position(|[_, available]| *available == 0)?;
        Some(format!("{} ({} of {})", self.passes.get(index)?, index + 1, self.n_passes))
    }

    /// Destroys the pool. Called once, when no submission uses it.
    pub fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller guarantees that no submission uses it.
        unsafe { device.destroy_query_pool(self.pool, None) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, DeviceOptions, Watchdog};
    use std::time::Duration;

    #[test]
    fn the_first_pass_without_a_mark_is_the_one_that_was_reached() {
        let watchdog = Watchdog::Limit(Duration::from_secs(3600));
        let options = DeviceOptions { validation: true, watchdog, ..Default::default() };
        let device = Device::open(&options).unwrap();
        if device.capabilities().timestamp_period_ns == 0.0 {
            return;
        }
        let raw = &device.shared.raw;
        let mut marks = Marks::new(raw).unwrap();
        assert_eq!(marks.reached(raw), None);
        let mut submitted = device.recorder().unwrap();
        marks.end_pass(raw, submitted.commands(), "first");
        marks.end_pass(raw, submitted.commands(), "second");
        // As if the device had stopped: these commands never run.
        let mut lost = device.recorder().unwrap();
        marks.end_pass(raw, lost.commands(), "third");
        marks.end_pass(raw, lost.commands(), "fourth");
        assert_eq!(marks.reached(raw).as_deref(), Some("first (1 of 4)"));
        device.submit(submitted).unwrap().wait().unwrap();
        assert_eq!(marks.reached(raw).as_deref(), Some("third (3 of 4)"));
        drop(lost);
        marks.clear(raw);
        assert_eq!(marks.reached(raw), None);
        marks.destroy(raw);
        device.check_validation().unwrap();
    }
}
