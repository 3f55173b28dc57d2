//! How passes use resources, which pairs of uses need a barrier, and a checker that proves that all have one.
//!
//! The [`Recorder`](crate::Recorder) decides in one sweep where barriers go. [`find_hazards`] decides the same question
//! from the finished list of accesses and barriers, by comparing every pair; it shares no code with the sweep, and a test
//! removes each barrier in turn and expects it to object.

/// What a pass does with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Use {
    /// Dispatch arguments.
    IndirectRead,
    /// Read by a kernel.
    ComputeRead,
    /// Written, or read and written, by a kernel.
    ComputeWrite,
    /// Read by a vertex or fragment shader.
    GraphicsRead,
    /// Drawn to as colour (and blended, so also read).
    ColorTarget,
    /// Drawn to and tested as depth.
    DepthTarget,
    /// Source of a copy.
    TransferRead,
    /// Destination of a copy or fill.
    TransferWrite,
    /// Read by the host after the submission.
    HostRead,
}

impl Use {
    /// Every use.
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

    /// Whether it changes the resource.
    pub fn writes(self) -> bool {
        matches!(self, Self::ComputeWrite | Self::ColorTarget | Self::DepthTarget | Self::TransferWrite)
    }
}

/// A set of uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UseSet(u16);

impl UseSet {
    /// Adds a use.
    pub fn insert(&mut self, usage: Use) {
        self.0 |= 1 << usage as u16;
    }

    /// Whether the use is in the set.
    pub fn contains(self, usage: Use) -> bool {
        self.0 & (1 << usage as u16) != 0
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The uses in it.
    pub fn iter(self) -> impl Iterator<Item = Use> {
        Use::ALL.into_iter().filter(move |u| self.contains(*u))
    }
}

/// One use of one resource by one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Which pass of the recorder, counted from 0.
    pub pass: u32,
    /// The resource's number.
    pub resource: u64,
    /// What the pass does with it.
    pub usage: Use,
}

/// What a recorder put down, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A pass uses a resource.
    Access(Access),
    /// Everything that did one of `before` is finished and visible to everything later that does one of `after`.
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

/// Every pair of conflicting accesses without a barrier between them that names both uses.
///
/// Chains (A before B by one barrier, B before C by another) do not count: the recorder names the pair itself.
pub fn find_hazards(events: &[Event]) -> Vec<Hazard> {
    let mut hazards = Vec::new();
    for (later, event) in events.iter().enumerate() {
        let Event::Access(second) = event else { continue };
        for (earlier, event) in events[..later].iter().enumerate() {
            let Event::Access(first) = event else { continue };
            let conflict = first.resource == second.resource
                && first.pass != second.pass
                && (first.usage.writes() || second.usage.writes());
            let ordered = || {
                events[earlier..later].iter().any(|e| {
                    matches!(e, Event::Barrier { before, after }
                        if before.contains(first.usage) && after.contains(second.usage))
                })
            };
            // An older read or write is also ordered if every newer write of the resource in between is: those accesses
            // were themselves ordered after it.
            if conflict && !ordered() && !superseded(events, earlier, later, *first) {
                hazards.push(Hazard { first: *first, second: *second });
            }
        }
    }
    hazards
}

/// Whether a write to the same resource lies between the two events: then that write is the one to be ordered against,
/// and its own order after `first` is checked on its own.
fn superseded(events: &[Event], earlier: usize, later: usize, first: Access) -> bool {
    let second_pass = match events[later] {
        Event::Access(access) => access.pass,
        Event::Barrier { .. } => return false,
    };
    events[earlier + 1..later].iter().any(|event| {
        matches!(event, Event::Access(a) if a.resource == first.resource && a.usage.writes()
            && a.pass != first.pass && a.pass != second_pass)
    })
}
