//! Snow as grains: a whole step, and its pass of contact forces and motion.
//!
//! - `block`: the grains of both benches, and their axes.
//! - `step`: the benches.

mod block;
mod step;

pub use step::{Collide, Step};
