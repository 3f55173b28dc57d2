//! Algorithmic work of a step, for profiles.

/// Number of items that kernels worked on in one pass of the last step, such as pairs within the support
/// radius. It is counted, not estimated, and does not depend on how a device executes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkCounter {
    /// Name of one item, as in the `Work:` lines of kernel headers: `near_neighbour`.
    pub item: &'static str,
    /// Kernels each of whose passes works on all items.
    pub kernels: &'static [&'static str],
    /// Number of items.
    pub count: u64,
}
