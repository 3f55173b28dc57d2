//! Snow by the material point method: a whole step, and the three passes that its time goes to.
//!
//! - `block`: the snow that all of them move, and its axes.
//! - `nodes`: the nodes of the active blocks, on both sides.
//! - `moved`: where particles should be after a step, and whether they are.
//! - `twin`: the device's numbers and columns as the twin takes them.

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
