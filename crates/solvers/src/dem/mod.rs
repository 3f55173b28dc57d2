//! Snow as grains in contact: the discrete element method of Gucer2010, extended by tangential springs, which
//! hold a heap at rest, by rolling resistance, and by bonds that freeze and break.
//!
//! One step:
//!
//! ```text
//! CheckLists   whether something has moved so far that contact lists must be built; if not, the stages of
//!              grains up to FindContacts have no threads
//! StoreGrains  grains and contact histories in the order of ids; layers of emitters appear
//! FindCells    the cell of each grain in a wrapped grid              Gucer2010 eq 3.1, 3.2
//! SortByCell   the order of grains by cell, stable, and where each cell begins in it
//! Reorder      grains in that order: position, radius, velocity, spin and id
//! SortPieces   the same order of pieces of slabs, which stay where they are, and what each may touch
//! FindContacts what is near each grain, in the order of ids, and the histories of its contacts
//! Collide      forces of all contacts, and the motion they give      Gucer2010 eq 3.3 to 3.17
//! TouchPoints  forces of pieces on surfaces and on one another
//! PullLinks    forces of links, until they break
//! MovePieces   the motion that all of these give pieces; the loads on bodies
//! MapFlow      peaks of thickness and speed over each cell of the terrain
//! ```
//!
//! Without slabs in the scene, the stages of pieces record nothing; without slabs and named bodies, neither
//! does `MovePieces`; without a terrain, neither does `MapFlow`.
//!
//! Each of the two grains has the contact in its list, and no force is scattered. A grain has as many rows as
//! there are things within its reach and a skin, and rows of all grains are consecutive, so memory depends on
//! the mean number of contacts and not on the maximum. The two ends compute the same numbers with opposite
//! signs, to the bit. Forces on pieces, which have many contacts, are sums of integers, which do not depend
//! on the order.

mod contacts;
mod factory;
mod fault;
mod flow_map;
mod grains;
mod lists;
mod map_grid;
mod metrics;
mod parameters;
mod particles;
mod pieces;
mod scene;
mod shown;
mod slabs;
mod solver;
mod sources;
mod touching;

pub use factory::Factory;
pub use fault::{DemFault, DemFaultCheck, FaultyGrain};
pub use flow_map::PendingFlowCells;
pub use frazil_shaders::dem::fault::MAX_CONTACTS;
pub use grains::Grains;
pub use lists::LIST_SKIN;
pub use map_grid::MapGrid;
pub use metrics::{DemMetrics, PendingDemMetrics, SlabMetrics};
pub use parameters::DemParameters;
pub use pieces::Pieces;
pub use shown::set_infos;
pub use slabs::ShownPieces;
pub use solver::{Dem, Stage};
