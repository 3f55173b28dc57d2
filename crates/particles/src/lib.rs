//! Particle data as columns: structure of arrays, one buffer for each property.
//!
//! A [`ParticleTable`] counts its particles on the device, and has each [`Column`] registered once with its
//! name, unit, type and [`Uses`]; the permutation of a step, recordings, checkpoints, their restoration and
//! pictures follow from it. A column has a front buffer, which holds the state, and a back buffer, which a
//! [`Permutation`] writes before the two are swapped. A particle keeps its `id` for life, wherever
//! permutations move it.
//!
//! Invariant: nothing outside a column's own buffers keeps an index into it beyond the step, unless the same
//! permutation remaps that index.
//!
//! This crate holds no physics, and no kernel that knows the meaning of a column.

mod column;
mod display;
mod permutation;
mod phase;
mod saved;
mod set;
mod table;

pub use column::{Column, ColumnKind, ColumnView, Element};
pub use display::{ColorScale, Display};
pub use permutation::Permutation;
pub use phase::PhaseArray;
pub use saved::{Saved, StateColumn, StateError};
pub use set::{ColumnInfo, Material, ParticleSet, SetInfo};
pub use table::{ParticleTable, Uses};
