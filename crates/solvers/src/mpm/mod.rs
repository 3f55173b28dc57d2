//! Snow as an elasto-plastic continuum: the material point method of papers 001 and 004, in a plane or in space.
//!
//! Particles carry mass, velocity and strain; a grid that lives for one step finds forces and collisions. One step, numbered as in
//! 001 sec 2 and 004 sec 3.2, where steps that share a pass are what one thread does with what it holds in registers:
//!
//! ```text
//! FindCells        the key of each particle: block and place in it of the lowest node that it reaches
//! SortByCell       the order of particles by key, stable
//! Reorder          one pass over the columns
//! FindBlocks       the blocks of nodes that particles occupy and reach, and what links them
//! Rasterize        1  mass and momentum of nodes; 3  their forces                 004 eq 3.10, 3.11, 3.23
//! UpdateNodes      4  v* = v + Δt (f/m + g); 5  collisions of nodes               004 eq 3.24, sec 3.2.5
//! SolveImplicit    6  where asked for: (I + β Δt² M⁻¹ ∂²Φ) v = v*                 004 eq 3.25
//! UpdateParticles  7  F_E and J_P; 8  velocity; 9  collisions; 10  position       004 eq 3.26 to 3.32
//! ```
//!
//! Step 2, the volume of each particle, is taken once, when the snow is made ([`frazil_scene::InitialVolume`]). The stress that step 3
//! needs is left behind by step 7 of the step before, which has the singular values at hand.
//!
//! Invariant: no block of nodes is known to the host. How many there are comes back a few steps late and makes room for more in time;
//! where it would not, the step counts for nothing and the simulation ends with a [`Fault`].

mod factory;
mod fault;
mod implicit;
mod metrics;
mod nodes;
mod parameters;
mod particles;
mod room;
mod scene;
mod shown;
mod solver;
mod sort;

pub use crate::surroundings::Surroundings;
pub use factory::Factory;
pub use fault::{Fault, FaultCheck, FaultKind};
pub use metrics::{MpmMetrics, PendingMpmMetrics};
pub use nodes::NODES_PER_THREAD;
pub use parameters::MpmParameters;
pub use particles::Beginning;
pub use shown::set_infos;
pub use solver::{Mpm, Stage};
