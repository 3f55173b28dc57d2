//! Snow by the material point method: a whole step, and its three most expensive passes.
//!
//! - `block`: the snow of all benches, and its axes.
//! - `nodes`: the nodes of the active blocks, of the device and of the twin.
//! - `moved`: expected particles after a step, and the comparison with them.
//! - `twin`: conversion of the device's parameters and columns to the twin's.

mod block;
mod moved;
mod nodes;
mod rasterize;
mod step;
mod twin;
mod update_nodes;
mod update_particles;

pub use rasterize::Rasterize;
pub use step::Step;
pub use twin::{particles_of_state as mpm_particles_of_state, twin_parameters as mpm_twin_parameters};
pub use update_nodes::UpdateNodes;
pub use update_particles::UpdateParticles;
