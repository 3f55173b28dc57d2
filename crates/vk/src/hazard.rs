//! Resource uses of passes, the pairs of uses that need a barrier, and a checker that verifies that all have
//! one.
//!
//! The [`Recorder`](crate::Recorder) decides in one sweep where barriers go. [`find_hazards`] decides the
//! same question from the finished list of accesses and barriers, by comparing pairs. The two share only the
//! rules for what a single barrier covers; tests remove each barrier in turn and expect the checker, and
//! Vulkan's own synchronization layer where it can see it, to object.

use std::collections::HashMap;

/// Kind of access of a pass to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Use {
    /// Read as indirect dispatch arguments.
    IndirectRead,
    /// Read by a kernel.
    ComputeRead,
    /// Written, or read and written, by a kernel.
    ComputeWrite,
    /// Read by a vertex or fragment shader.
    GraphicsRead,
    /// Used as a colour attachment (blended, hence also read).
    ColorTarget,
    /// Used as a depth attachment (tested and written).
    DepthTarget,
    /// Source of a copy.
    TransferRead,
    /// Destination of a copy or fill.
    TransferWrite,
    /// Read by the host after the submission.
    HostRead,
}

impl Use {
    /// All uses.
    pub const ALL: [Self; 9] = [
        Self::IndirectRead,
        Self::ComputeRead,
        Self::ComputeWrite,
        Self::GraphicsRead,
        Self::ColorTarget,
        Self::DepthTarget,
        Self::TransferRead,
        Self::TransferWrite,
        Self::HostRead,
    ];

    /// Returns true if the use writes the resource.
    pub fn writes(self) -> bool {
        matches!(self, Self::ComputeWrite | Self::ColorTarget | Self::DepthTarget | Self::TransferWrite)
    }

    /// Returns the pipeline stages of the use.
    pub(crate) fn stage(self) -> Stage {
        match self {
            Self::IndirectRead => Stage::Indirect,
            Self::ComputeRead | Self::ComputeWrite => Stage::Compute,
            Self::GraphicsRead => Stage::Shading,
            Self::ColorTarget => Stage::Color,
            Self::DepthTarget => Stage::Depth,
            Self::TransferRead | Self::TransferWrite => Stage::Transfer,
            Self::HostRead => Stage::Host,
        }
    }

    /// Returns true if a barrier that waits for `before` waits for this use: by stage alone for a read, and
    /// with the exact access for a write, which must also be made available.
    pub(crate) fn is_awaited_by(self, before: UseSet) -> bool {
        if self.writes() { before.contains(self) } else { before.iter().any(|b| b.stage() == self.stage()) }
    }

    /// Returns true if a barrier with the second scope `after` protects the use `later` once this use has
    /// been waited for: by stage alone after a read, and with the exact access after a write, which must be
    /// visible to it (a kernel's write access includes its reads).
    pub(crate) fn is_safe_behind(self, after: UseSet, later: Use) -> bool {
        if self.writes() {
            after.contains(later) || (later == Self::ComputeRead && after.contains(Self::ComputeWrite))
        } else {
            after.iter().any(|a| a.stage() == later.stage())
        }
    }
}

/// Pipeline stages, by which barriers chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stage {
    Indirect,
    Compute,
    Shading,
    Color,
    Depth,
    Transfer,
    Host,
}

impl Stage {
    /// Number of stages.
    pub const COUNT: usize = Self::Host as usize + 1;
}

/// A set of uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UseSet(u16);

impl UseSet {
    /// Adds a use.
    pub fn insert(&mut self, usage: Use) {
        self.0 |= 1 << usage as u16;
    }

    /// Returns true if the use is in the set.
    pub fn contains(self, usage: Use) -> bool {
        self.0 & (1 << usage as u16) != 0
    }

    /// Returns true if the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the uses in the set.
    pub fn iter(self) -> impl Iterator<Item = Use> {
        Use::ALL.into_iter().filter(move |u| self.contains(*u))
    }
}

/// One use of one resource by one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Index of the pass in the recorder.
    pub pass: u32,
    /// Number of the resource.
    pub resource: u64,
    /// Kind of access.
    pub usage: Use,
}

/// An access or a barrier, in recorded order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A pass uses a resource.
    Access(Access),
    /// All earlier uses of a kind in `before` have finished and are visible to all later uses of a kind in
    /// `after`.
    Barrier {
        /// Uses waited for.
        before: UseSet,
        /// Uses that wait.
        after: UseSet,
    },
}

/// Two accesses, at least one of them a write, that no barrier orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hazard {
    /// The earlier access.
    pub first: Access,
    /// The later access.
    pub second: Access,
}

/// Finds all pairs of conflicting accesses that are not ordered by a barrier or a chain of barriers. Passes
/// are numbered in recorded order.
///
/// A pair with a write by another pass in between is left out: the later access must be ordered after that
/// write, whose order after the earlier one is a pair of its own. So the time grows with the accesses since
/// the last two writes of each resource, not with the square of the list.
pub fn find_hazards(events: &[Event]) -> Vec<Hazard> {
    let mut hazards = Vec::new();
    let mut barriers: Vec<(UseSet, UseSet)> = Vec::new();
    let mut resources: HashMap<u64, Accesses> = HashMap::new();
    for event in events {
        match *event {
            Event::Barrier { before, after } => barriers.push((before, after)),
            Event::Access(second) => {
                let accesses = resources.entry(second.resource).or_default();
                for (first, n_barriers) in accesses.in_conflict(second) {
                    if !is_ordered(first.usage, second.usage, &barriers[n_barriers..]) {
                        hazards.push(Hazard { first, second });
                    }
                }
                accesses.push(second, barriers.len());
            }
        }
    }
    hazards
}

/// Accesses of one resource, each with the number of barriers before it.
#[derive(Default)]
struct Accesses {
    writes: Vec<(Access, usize)>,
    reads: Vec<(Access, usize)>,
}

impl Accesses {
    /// Returns the pass of the last write before a pass, 0 if there is none.
    fn last_write_before(&self, pass: u32) -> u32 {
        let earlier = |(write, _): &(Access, usize)| (write.pass < pass).then_some(write.pass);
        self.writes.iter().rev().find_map(earlier).unwrap_or(0)
    }

    /// Returns the accesses by earlier passes that conflict with an access, without those before another
    /// pass's write in between.
    fn in_conflict(&self, second: Access) -> impl Iterator<Item = (Access, usize)> {
        let since = self.last_write_before(second.pass);
        let reads = if second.usage.writes() { &self.reads[..] } else { &[] };
        let all = self.writes.iter().chain(reads).copied();
        all.filter(move |(first, _)| first.pass >= since && first.pass < second.pass)
    }

    fn push(&mut self, access: Access, n_barriers: usize) {
        if !access.usage.writes() {
            return self.reads.push((access, n_barriers));
        }
        // Other accesses of the same pass may still conflict with those since the write before.
        let since = self.last_write_before(access.pass);
        for list in [&mut self.writes, &mut self.reads] {
            list.retain(|(earlier, _)| earlier.pass >= since);
        }
        self.writes.push((access, n_barriers));
    }
}

/// Returns true if the barriers between two uses order them. The first barrier that waits for the earlier
/// use begins a chain, each that waits for a stage reached by the chain extends it, and any barrier of the
/// chain may protect the later use.
fn is_ordered(first: Use, second: Use, between: &[(UseSet, UseSet)]) -> bool {
    let mut reached = [false; Stage::COUNT];
    for (before, after) in between {
        if first.is_awaited_by(*before) || before.iter().any(|b| reached[b.stage() as usize]) {
            if first.is_safe_behind(*after, second) {
                return true;
            }
            for stage in after.iter().map(Use::stage) {
                reached[stage as usize] = true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares every pair of accesses.
    fn find_hazards_among_all_pairs(events: &[Event]) -> Vec<Hazard> {
        let mut hazards = Vec::new();
        for (later, event) in events.iter().enumerate() {
            let Event::Access(second) = *event else { continue };
            for (earlier, event) in events[..later].iter().enumerate() {
                let Event::Access(first) = *event else { continue };
                let between = &events[earlier + 1..later];
                let barriers: Vec<_> = between
                    .iter()
                    .filter_map(|event| match *event {
                        Event::Barrier { before, after } => Some((before, after)),
                        Event::Access(_) => None,
                    })
                    .collect();
                let is_superseded = between.iter().any(|event| {
                    matches!(event, Event::Access(a) if a.resource == first.resource && a.usage.writes()
                        && a.pass != first.pass && a.pass != second.pass)
                });
                if first.resource == second.resource
                    && first.pass != second.pass
                    && (first.usage.writes() || second.usage.writes())
                    && !is_superseded
                    && !is_ordered(first.usage, second.usage, &barriers)
                {
                    hazards.push(Hazard { first, second });
                }
            }
        }
        hazards
    }

    #[test]
    fn hazards_are_those_among_all_pairs() {
        let mut state = 1_u64;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        let mut n_found = [0; 2];
        for _ in 0..2000 {
            let mut events = Vec::new();
            let set = |below: &mut dyn FnMut(usize) -> usize| {
                let mut set = UseSet::default();
                (0..1 + below(3)).for_each(|_| set.insert(Use::ALL[below(Use::ALL.len())]));
                set
            };
            for pass in 0..below(14) as u32 {
                if below(2) == 0 {
                    events.push(Event::Barrier { before: set(&mut below), after: set(&mut below) });
                }
                // A pass may read and write one resource, as an indirect dispatch that writes its arguments.
                for _ in 0..1 + below(4) {
                    let usage = Use::ALL[below(Use::ALL.len())];
                    events.push(Event::Access(Access { pass, resource: below(3) as u64, usage }));
                }
            }
            let sorted = |mut hazards: Vec<Hazard>| {
                let key = |a: &Access| (a.pass, a.resource, a.usage as u8);
                hazards.sort_by_key(|h| (key(&h.first), key(&h.second)));
                hazards
            };
            let expected = sorted(find_hazards_among_all_pairs(&events));
            n_found[usize::from(expected.is_empty())] += 1;
            assert_eq!(sorted(find_hazards(&events)), expected, "{events:?}");
        }
        assert!(n_found.iter().all(|n| *n > 100), "{n_found:?}");
    }
}
