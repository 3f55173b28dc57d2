//! Plates of ice: the `[[dem.slabs]]`, the rigid pieces that they break into.

pub(crate) mod pieces;
pub(crate) mod plate;
mod points;
pub(crate) mod slab;
pub(crate) mod solids;
mod stiffness;

pub use pieces::{SampledSlabs, SlabLink, SlabPiece};
pub use slab::*;
