//! Snow as grains that touch: the discrete element method of paper 003, with what the paper leaves out: springs along contacts, which
//! hold a heap at rest, resistance to rolling, and bonds that freeze and break.
//!
//! One step:
//!
//! ```text
//! FindCells   the cell of each grain in a wrapped grid              003 eq 3.1, 3.2
//! SortByCell  the order of grains by cell, stable, and where each cell begins in it
//! Reorder     one permutation of position, velocity, spin, radius and id
//! Collide     forces of all contacts, and the motion they give      003 eq 3.3 to 3.17
//! ```
//!
//! A contact is kept at both its ends, under the other's id, and found again by it: sorting needs to move nothing, and no force is
//! scattered. The two ends compute the same numbers with opposite signs, to the bit.

mod fault;
mod metrics;
mod parameters;
mod particles;
mod scene;
mod solver;

pub use fault::{DemFault, DemFaultCheck};
pub use metrics::{DemMetrics, PendingDemMetrics};
pub use parameters::{DemParameters, MAX_CONTACTS};
pub use particles::Grains;
pub use solver::{Dem, Stage};
