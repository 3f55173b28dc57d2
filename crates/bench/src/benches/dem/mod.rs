//! Snow as grains: a whole step, and the one of its passes that is the physics.
//!
//! - `block`: the grains that both of them move, and their axes.
//! - `ice`: pieces of slabs, which may lie on them.
//! - `step`: the benches.
//! - `twin`: the device's numbers and columns as the twin takes them.

mod block;
mod ice;
mod step;
mod twin;

pub use ice::{dem_block, dem_ice, dem_link, dem_slabs_of, dem_twin_slabs};
pub use step::{Collide, Step};
pub use twin::{dem_grains_of, dem_partner_of, dem_state_of, dem_twin_parameters};
