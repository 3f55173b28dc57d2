//! Algorithmic work that a solver counts.

use serde::{Deserialize, Serialize};

/// Number of items that some kernels worked on in each pass of the last step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkItem {
    /// Name of one item, such as `near_neighbour`.
    pub item: String,
    /// The kernels.
    pub kernels: Vec<String>,
    /// Number of items.
    pub count: u64,
}
