//! Command buffers that are submitted again where a recorder would record the same commands.

use crate::commands::{CommandList, Writer};
use crate::device::Shared;
use crate::resource::Owner;
use crate::timeline::{CommandPool, Retired};
use crate::{Error, Result};
use ash::vk;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of lists of commands that are remembered. A step recurs after as many steps as columns that
/// are swapped need to be where they were; the first few of a submission have fewer barriers than later ones.
const MAX_ENTRIES: usize = 32;

/// Number of segments after which a list that did not recur is forgotten, with the buffers that it keeps.
const MAX_AGE: u64 = 64;

/// Number of segments without a recurring list after which no list is made for some time.
const MAX_MISSES: u64 = 64;

/// Number of segments of that time.
const PAUSE: u64 = 1024;

/// Finished command buffers by their commands, see [`Recorder::replayed`](crate::Recorder::replayed).
///
/// A command buffer is found by comparing all its commands: kernels, tunables, buffers, push constants, group
/// counts and barriers. So it cannot be outdated: a changed parameter or a reallocated buffer gives other
/// commands. It is recorded when a list occurs for the second time; it keeps the buffers that it uses.
#[derive(Default)]
pub struct Replay(Mutex<State>);

/// Counts of segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayCounts {
    /// Number of segments.
    pub segments: u64,
    /// Number of segments for which a command buffer was recorded to be submitted again.
    pub kept: u64,
    /// Number of segments that submitted an earlier command buffer again.
    pub replayed: u64,
}

#[derive(Default)]
struct State {
    entries: Vec<Entry>,
    /// Lists to be used again.
    spare: Vec<CommandList>,
    counts: ReplayCounts,
    /// Number of segments since a list recurred.
    misses: u64,
}

struct Entry {
    list: CommandList,
    /// Present from the second occurrence on.
    recorded: Option<Arc<Recorded>>,
    /// Number of the segment in which the list occurred last.
    last_used: u64,
}

/// A finished command buffer that may be pending more than once.
pub(crate) struct Recorded {
    shared: Arc<Shared>,
    pub buffer: vk::CommandBuffer,
    pool: Option<CommandPool>,
    _owners: Vec<Owner>,
}

impl Replay {
    /// Returns the counts so far.
    pub fn counts(&self) -> ReplayCounts {
        self.state().counts
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a segment and returns an empty list for it; none if no list recurs, so that it is not worth its
    /// time.
    pub(crate) fn begin(&self) -> Option<CommandList> {
        let mut state = self.state();
        state.counts.segments += 1;
        if state.misses >= MAX_MISSES {
            state.misses += 1;
            if state.misses < MAX_MISSES + PAUSE {
                return None;
            }
            state.misses = 0;
        }
        let mut list = state.spare.pop().unwrap_or_default();
        list.clear();
        Some(list)
    }

    /// Returns the command buffer of these commands, if they occurred before. `owners` are the resources that
    /// they use.
    pub(crate) fn find(
        &self,
        shared: &Arc<Shared>,
        list: &CommandList,
        owners: impl FnOnce() -> Vec<Owner>,
    ) -> Result<Option<Arc<Recorded>>> {
        let mut state = self.state();
        let State { entries, counts, misses, .. } = &mut *state;
        let Some(entry) = entries.iter_mut().find(|entry| entry.list == *list) else {
            *misses += 1;
            return Ok(None);
        };
        *misses = 0;
        entry.last_used = counts.segments;
        match &entry.recorded {
            Some(recorded) => {
                counts.replayed += 1;
                Ok(Some(recorded.clone()))
            }
            None => {
                counts.kept += 1;
                let recorded = Arc::new(Recorded::new(shared, list, owners())?);
                entry.recorded = Some(recorded.clone());
                Ok(Some(recorded))
            }
        }
    }

    /// Takes back a list after [`Self::find`]; remembers it if it `is_new`.
    pub(crate) fn give_back(&self, list: CommandList, is_new: bool) {
        let mut state = self.state();
        let now = state.counts.segments;
        let State { entries, spare, .. } = &mut *state;
        if is_new {
            entries.push(Entry { list, recorded: None, last_used: now });
        } else {
            spare.push(list);
        }
        let oldest = entries.iter().map(|entry| entry.last_used).min().unwrap_or(0);
        let is_full = entries.len() > MAX_ENTRIES;
        let is_outdated =
            |entry: &mut Entry| now - entry.last_used >= MAX_AGE || is_full && entry.last_used == oldest;
        spare.extend(entries.extract_if(.., is_outdated).map(|entry| entry.list));
        spare.truncate(MAX_ENTRIES);
    }
}

impl std::fmt::Debug for Replay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.counts().fmt(f)
    }
}

impl Recorded {
    fn new(shared: &Arc<Shared>, list: &CommandList, owners: Vec<Owner>) -> Result<Self> {
        let pool = shared.command_pool()?;
        let buffer = pool.buffer;
        // Returned to the timeline, should a call fail.
        let made = Self { shared: shared.clone(), buffer, pool: Some(pool), _owners: owners };
        let again = vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
        let begin = vk::CommandBufferBeginInfo::default().flags(again);
        // SAFETY: the buffer is fresh or was reset with its pool.
        unsafe { shared.raw.begin_command_buffer(buffer, &begin) }
            .map_err(Error::call("begin", "a command buffer"))?;
        list.write(&mut Writer::new(buffer), shared);
        // SAFETY: the buffer is recording.
        unsafe { shared.raw.end_command_buffer(buffer) }.map_err(Error::call("end", "a command buffer"))?;
        Ok(made)
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            self.shared.timeline.retire(Retired::Commands(pool));
        }
    }
}
