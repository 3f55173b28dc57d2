//! Time stamps around every pass of a recorder, and the work of its passes by the device's counts.

use crate::buffer::{Buffer, RawBuffer};
use crate::compiled::{KernelInner, Reach, minimum_bytes};
use crate::device::Shared;
use crate::timeline::Retired;
use crate::{Error, Result};
use ash::vk;
use std::collections::HashMap;
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
    /// once for a write. Counts are the device's, at the time of the pass.
    pub bytes: u64,
    /// Number of elements of a dispatch, as the device counted them; `None` for a pass that is no dispatch.
    pub elements: Option<u64>,
    /// Values of the counters of the [`CounterSession`](crate::CounterSession) in its order; empty without
    /// one.
    pub counters: Vec<f64>,
}

impl PassTime {
    /// Returns true for a dispatch of no elements.
    pub fn is_empty(&self) -> bool {
        self.elements == Some(0)
    }
}

/// Maximum number of counts that a recorder copies for its passes; later passes have the expected counts.
const MAX_COUNTS: u32 = 8192;

/// A count: known to the host, or copied by the device.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    Known(u64),
    /// Index among the copied counts.
    Copied(u32),
}

/// Elements of a dispatch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub count: Count,
    /// log₂ of the elements of a tile, if workgroups rather than threads are counted.
    pub tile_log2: Option<u32>,
}

/// Work of a pass.
pub(crate) enum PassWork {
    /// Bytes of a pass that is no dispatch.
    Bytes(u64),
    Dispatch(Box<DispatchWork>),
}

/// A dispatch, as far as its bytes depend on it.
pub(crate) struct DispatchWork {
    pub kernel: Arc<KernelInner>,
    pub elements: Elements,
    /// Size of each bound buffer in bytes.
    pub buffer_bytes: Vec<u64>,
    /// Count in each bound buffer.
    pub counts: Vec<Count>,
    pub params: Vec<u8>,
    /// Bytes that the caller declared, and the number of elements that it expected.
    pub declared: Option<(u64, u64)>,
}

impl DispatchWork {
    /// Returns the number of elements and the minimum number of bytes, by the values of the copied counts.
    fn evaluate(&self, copied: &[u32]) -> (u64, u64) {
        let value = |count: Count| match count {
            Count::Known(n) => n,
            Count::Copied(i) => copied.get(i as usize).copied().unwrap_or(0).into(),
        };
        let counted = value(self.elements.count);
        let threads = self.elements.tile_log2.map_or(counted, |log2| counted.div_ceil(1 << log2));
        if threads == 0 {
            return (0, 0);
        }
        if let Some((bytes, expected)) = self.declared {
            let ratio = if expected > 0 { threads as f64 / expected as f64 } else { 1.0 };
            return (threads, (ratio * bytes as f64) as u64);
        }
        let counts: Vec<u64> = self.counts.iter().map(|count| value(*count)).collect();
        let specialization = &self.kernel.specialization;
        let reach = Reach { threads, specialization, counts: &counts, parameters: &self.params };
        let buffers = self.buffer_bytes.iter().copied();
        (threads, minimum_bytes(self.kernel.source.bindings, buffers, &reach))
    }
}

/// A query pool with two time stamps per pass, and counts that the device copied for them.
pub(crate) struct TimeStamps {
    shared: Arc<Shared>,
    pool: vk::QueryPool,
    capacity: u32,
    passes: Vec<(&'static str, PassWork)>,
    /// Host-visible; exists once a count was copied.
    copies: Option<Buffer<u32>>,
    n_copied: u32,
    /// Index of the last copy of each buffer, and the time of the write that it holds.
    last_copy: HashMap<u64, (u32, u32)>,
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
        Ok(Some(Self {
            shared: shared.clone(),
            pool,
            capacity: max_passes,
            passes: Vec::new(),
            copies: None,
            n_copied: 0,
            last_copy: HashMap::new(),
        }))
    }

    /// Returns the copy of a count that holds the write at `written`, a time of the recorder, if there is
    /// one.
    pub fn copy_of(&self, count: &RawBuffer, written: u32) -> Option<Count> {
        let (index, held) = self.last_copy.get(&count.inner.id)?;
        (*held == written).then_some(Count::Copied(*index))
    }

    /// Returns the buffer and the index at which a new copy of a count belongs; none if there are too many.
    pub fn add_copy(
        &mut self,
        count: &RawBuffer,
        written: u32,
        create: impl FnOnce(usize) -> Result<Buffer<u32>>,
    ) -> Result<Option<(Buffer<u32>, u32)>> {
        if self.n_copied >= MAX_COUNTS {
            return Ok(None);
        }
        let copies = match &self.copies {
            Some(copies) => copies.clone(),
            None => self.copies.insert(create(MAX_COUNTS as usize)?).clone(),
        };
        let index = self.n_copied;
        self.n_copied += 1;
        self.last_copy.insert(count.inner.id, (index, written));
        Ok(Some((copies, index)))
    }

    /// Writes the first time stamp of a pass; returns false if the pool is full.
    pub fn begin(&mut self, commands: vk::CommandBuffer, name: &'static str, work: PassWork) -> bool {
        if self.passes.len() as u32 >= self.capacity {
            return false;
        }
        self.write(commands, 2 * self.passes.len() as u32, vk::PipelineStageFlags2::TOP_OF_PIPE);
        self.passes.push((name, work));
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
        let is_dry_run = self.shared.is_dry_run;
        let wait = if is_dry_run { vk::QueryResultFlags::empty() } else { vk::QueryResultFlags::WAIT };
        // SAFETY: the pool is alive and the queries were written by the submission.
        let read = unsafe {
            let flags = vk::QueryResultFlags::TYPE_64 | wait;
            self.shared.raw.get_query_pool_results(self.pool, 0, &mut ticks, flags)
        };
        match read {
            Err(vk::Result::NOT_READY) if is_dry_run => ticks.fill(0),
            read => read.map_err(Error::call("read", "time stamps"))?,
        }
        let copied = match &self.copies {
            Some(copies) => copies.read(self.n_copied as usize)?,
            None => Vec::new(),
        };
        let mut clock = self.shared.clock();
        let mut times = Vec::with_capacity(self.passes.len());
        for ((name, work), pair) in self.passes.iter().zip(ticks.chunks_exact(2)) {
            let (elements, bytes) = match work {
                PassWork::Bytes(bytes) => (None, *bytes),
                PassWork::Dispatch(dispatch) => {
                    let (elements, bytes) = dispatch.evaluate(&copied);
                    (Some(elements), bytes)
                }
            };
            let [start, end] = [pair[0], pair[1]].map(|ticks| clock.ticks_since_first(ticks));
            times.push(PassTime {
                name: (*name).to_owned(),
                start_ns: clock.ns(start),
                duration_ns: clock.ns(end.saturating_sub(start).max(0)),
                bytes,
                elements,
                counters: Vec::new(),
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
