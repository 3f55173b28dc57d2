//! Resource uses of passes, the pairs of uses that need a barrier, and a checker that verifies that all have
//! one.
//!
//! The [`Recorder`](crate::Recorder) decides in one sweep where barriers go. [`find_hazards`] decides the
//! same question from the finished list of accesses and barriers, by comparing every pair. The two share only
//! the rules for what a single barrier covers; a test removes each barrier in turn and expects the checker,
//! and Vulkan's own synchronization layer, to object.

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

/// Finds all pairs of conflicting accesses that are not ordered by a barrier or a chain of barriers.
pub fn find_hazards(events: &[Event]) -> Vec<Hazard> {
    let mut hazards = Vec::new();
    for (later, event) in events.iter().enumerate() {
        let Event::Access(second) = event else { continue };
        for (earlier, event) in events[..later].iter().enumerate() {
            let Event::Access(first) = event else { continue };
            let conflict = first.resource == second.resource
                && first.pass != second.pass
                && (first.usage.writes() || second.usage.writes());
            let between = &events[earlier + 1..later];
            if conflict
                && !is_ordered(first.usage, second.usage, between)
                && !is_superseded(*first, *second, between)
            {
                hazards.push(Hazard { first: *first, second: *second });
            }
        }
    }
    hazards
}

/// Returns true if the barriers between two uses order them. The first barrier that waits for the earlier
/// use begins a chain, each that waits for a stage reached by the chain extends it, and any barrier of the
/// chain may protect the later use.
fn is_ordered(first: Use, second: Use, between: &[Event]) -> bool {
    let mut reached: Vec<Stage> = Vec::new();
    for event in between {
        let Event::Barrier { before, after } = *event else { continue };
        if first.is_awaited_by(before) || before.iter().any(|b| reached.contains(&b.stage())) {
            if first.is_safe_behind(after, second) {
                return true;
            }
            reached.extend(after.iter().map(Use::stage));
        }
    }
    false
}

/// Returns true if another pass in between writes the resource. The later use must then be ordered after
/// that write, whose order after `first` is checked separately.
fn is_superseded(first: Access, second: Access, between: &[Event]) -> bool {
    between.iter().any(|event| {
        matches!(event, Event::Access(a) if a.resource == first.resource && a.usage.writes()
            && a.pass != first.pass && a.pass != second.pass)
    })
}
