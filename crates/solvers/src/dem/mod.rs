//! Snow as grains that touch: the discrete element method of Gucer2010, with what the paper leaves out: springs along contacts, which
//! hold a heap at rest, resistance to rolling, and bonds that freeze and break.
//!
//! One step:
//!
//! ```text
//! FindCells    the cell of each grain in a wrapped grid              Gucer2010 eq 3.1, 3.2
//! SortByCell   the order of grains by cell, stable, and where each cell begins in it
//! Reorder      one permutation of position, velocity, spin, radius and id
//! SortPieces   the same order of pieces of slabs, which stay where they are, and what each may touch
//! FindContacts what is near each grain, and the rows in which its contacts will be remembered
//! Collide      forces of all contacts, and the motion they give      Gucer2010 eq 3.3 to 3.17
//! TouchPoints  forces of pieces on surfaces and on one another
//! PullLinks    forces of links, until they break
//! MovePieces   the motion that all of these give pieces; what hit obstacles
//! ```
//!
//! Of a scene without slabs, the stages of pieces record nothing; without obstacles, either, nor does the last.
//!
//! A contact is kept at both its ends, under the other's id, and found again by it: sorting needs to move nothing, and no force is
//! scattered. Grains have as many rows of memory as have been found near them, one grain's behind the other's, so that memory follows the
//! mean number of contacts and not the greatest. The two ends compute the same numbers with opposite signs, to the bit. Pieces, which touch
//! many, are pushed by sums of integers instead, that are the same in any order.

mod contacts;
mod factory;
mod fault;
mod grains;
mod metrics;
mod parameters;
mod particles;
mod pieces;
mod scene;
mod shown;
mod slabs;
mod solver;
mod touching;

pub use factory::Factory;
pub use fault::{DemFault, DemFaultCheck};
pub use grains::Grains;
pub use metrics::{DemMetrics, ObstacleMetrics, PendingDemMetrics, SlabMetrics};
pub use parameters::{DemParameters, MAX_CONTACTS};
pub use pieces::Pieces;
pub use shown::set_infos;
pub use slabs::ShownPieces;
pub use solver::{Dem, Stage};
