//! Plates of ice: the `[[slabs]]`, the rigid pieces that they break into, and their placement.

mod pieces;
mod placement;
mod plate;
mod points;
mod sampling;
mod slab;
mod solids;
mod time;

pub use pieces::{SampledSlabs, SlabLink, SlabPiece};
pub use slab::*;
