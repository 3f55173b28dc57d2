//! Time stamps around every pass of a recorder.

use crate::device::Shared;
use crate::timeline::Retired;
use crate::{Error, Result};
use ash::vk;
use std::sync::Arc;

/// Time and minimum memory traffic of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct PassTime {
    /// Name of the pass, `area.name` for a kernel.
    pub name: String,
    /// Start in nanoseconds since the first time stamp that was read from the device.
    pub start_ns: f64,
    /// Duration in nanoseconds.
    pub duration_ns: f64,
    /// Minimum number of bytes it must move: each bound element that its threads access, once for a read and
    /// once for a write.
    pub bytes: u64,
}

/// A query pool with two time stamps per pass.
pub(crate) struct TimeStamps {
    shared: Arc<Shared>,
    pool: vk::QueryPool,
    capacity: u32,
    passes: Vec<(&'static str, u64)>,
}

impl TimeStamps {
    pub fn new(shared: &Arc<Shared>, max_passes: u32) -> Result<Option<Self>> {
        if shared.candidate.capabilities.timestamp_period_ns == 0.0 {
            return Ok(None);
        }
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(2 * max_passes);
        // SAFETY: the queue has time stamps.
        let pool = unsafe { shared.raw.create_query_pool(&info, None) }
            .map_err(Error::call("create query pool", "time stamps"))?;
        // SAFETY: host query reset is enabled, and the pool is new.
        unsafe { shared.raw.reset_query_pool(pool, 0, 2 * max_passes) };
        Ok(Some(Self { shared: shared.clone(), pool, capacity: max_passes, passes: Vec::new() }))
    }

    /// Writes the first time stamp of a pass; returns false if the pool is full.
    pub fn begin(&mut self, commands: vk::CommandBuffer, name: &'static str, bytes: u64) -> bool {
        if self.passes.len() as u32 >= self.capacity {
            return false;
        }
        self.write(commands, 2 * self.passes.len() as u32, vk::PipelineStageFlags2::TOP_OF_PIPE);
        self.passes.push((name, bytes));
        true
    }

    /// Writes the second time stamp of the pass begun last.
    pub fn end(&self, commands: vk::CommandBuffer) {
        self.write(commands, 2 * self.passes.len() as u32 - 1, vk::PipelineStageFlags2::ALL_COMMANDS);
    }

    fn write(&self, commands: vk::CommandBuffer, query: u32, stage: vk::PipelineStageFlags2) {
        // SAFETY: the command buffer is recording, and the query lies in the pool and is unused.
        unsafe { self.shared.raw.cmd_write_timestamp2(commands, stage, self.pool, query) };
    }

    /// Returns the times of the passes; the submission must have finished.
    pub fn read(&self) -> Result<Vec<PassTime>> {
        let mut ticks = vec![0u64; 2 * self.passes.len()];
        if ticks.is_empty() {
            return Ok(Vec::new());
        }
        // SAFETY: the pool is alive and the queries were written by the submission.
        unsafe {
            self.shared.raw.get_query_pool_results(
                self.pool,
                0,
                &mut ticks,
                vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT,
            )
        }
        .map_err(Error::call("read", "time stamps"))?;
        let mut clock = self.shared.clock();
        let mut times = Vec::with_capacity(self.passes.len());
        for ((name, bytes), pair) in self.passes.iter().zip(ticks.chunks_exact(2)) {
            let [start, end] = [pair[0], pair[1]].map(|ticks| clock.ticks_since_first(ticks));
            times.push(PassTime {
                name: (*name).to_owned(),
                start_ns: clock.ns(start),
                duration_ns: clock.ns(end.saturating_sub(start).max(0)),
                bytes: *bytes,
            });
        }
        Ok(times)
    }
}

impl Drop for TimeStamps {
    fn drop(&mut self) {
        self.shared.timeline.retire(Retired::Queries(self.pool));
    }
}

impl std::fmt::Debug for TimeStamps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TimeStamps of {} passes", self.passes.len())
    }
}
