//! Particles as columns: structure of arrays, one buffer a property.
//!
//! A [`Column`] has a front, which holds the state, and a back, which the one permutation of a step writes before the two
//! are swapped ([`Permutation`]). A [`PhaseArray`] counts its particles on the device. A particle keeps its `id` for life,
//! wherever permutations put it.
//!
//! Invariant: nothing outside a column's own buffers stores a place in it beyond the step, unless it is remapped by the
//! same permutation.
//!
//! No physics lives here, and no kernel that knows what a column means.

mod column;
mod display;
mod permutation;
mod phase;
mod set;

pub use column::{AnyColumn, Column, ColumnKind, ColumnView, Element};
pub use display::{ColorScale, Display};
pub use permutation::Permutation;
pub use phase::PhaseArray;
pub use set::{ColumnInfo, Material, ParticleSet, SetInfo};
