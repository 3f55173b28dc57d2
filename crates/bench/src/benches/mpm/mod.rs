//! Snow by the material point method: a whole step, and its three most expensive passes.
//!
//! - `block`: the snow of all benches, and its axes.
//! - `moved`: expected particles after a step, and the comparison with them.

mod block;
mod moved;
mod rasterize;
mod step;
mod update_nodes;
mod update_particles;

pub use rasterize::Rasterize;
pub use step::Step;
pub use update_nodes::UpdateNodes;
pub use update_particles::UpdateParticles;
