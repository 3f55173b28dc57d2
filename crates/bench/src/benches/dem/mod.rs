//! Snow as grains: a whole step, and its pass of contact forces and motion.
//!
//! - `block`: the grains of both benches, and their axes.
//! - `ice`: pieces of slabs, which may lie on the grains.
//! - `step`: the benches.
//! - `twin`: conversion of the device's parameters and columns to the twin's.

mod block;
mod ice;
mod step;
mod twin;

pub use ice::{dem_block, dem_ice, dem_link, dem_slabs_of, dem_twin_slabs};
pub use step::{Collide, Step};
pub use twin::{dem_grains_of, dem_partner_of, dem_state_of, dem_twin_parameters};
