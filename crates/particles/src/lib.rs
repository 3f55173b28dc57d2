//! Particle data as columns: structure of arrays, one buffer for each property.
//!
//! A [`Column`] has a front buffer, which holds the state, and a back buffer, which the one permutation of a
//! step writes before the two are swapped ([`Permutation`]). A [`PhaseArray`] counts its particles on the
//! device. A particle keeps its `id` for life, wherever permutations move it.
//!
//! Invariant: nothing outside a column's own buffers keeps an index into it beyond the step, unless the same
//! permutation remaps that index.
//!
//! This crate holds no physics, and no kernel that knows the meaning of a column.

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
