//! Snow as an elasto-plastic continuum: the material point method of Cai2020 and Breekveldt2017, in a plane
//! or in space.
//!
//! Particles carry mass, velocity and strain; forces and collisions are computed on a grid that is rebuilt in
//! every step. One step, numbered as in Cai2020 sec 2 and Breekveldt2017 sec 3.2; steps that share a pass are
//! computed by one thread on values in registers:
//!
//! ```text
//! Drain            where asked for: particles in drains are removed
//! Emit             where asked for: layers of emitters appear
//! FindCells        the key of each particle: block and place in it of the lowest node that it reaches
//! SortByCell       the order of particles by key, stable; the blocks of nodes that they occupy and reach
//! Reorder          one pass over the columns
//! Rasterize        1  mass and momentum of nodes; 3  their forces             eq 3.10, 3.11, 3.23
//! UpdateNodes      4  v* = v + Δt (f/m + g); 5  collisions of nodes           eq 3.24, sec 3.2.5
//! SolveImplicit    6  where asked for: (I + β Δt² M⁻¹ ∂²Φ) v = v*             eq 3.25
//! HoldNodes        with emitters: nodes in their pipes move by the flow
//! UpdateParticles  7  F_E and J_P; 8  velocity; 9  collisions; 10  position   eq 3.26 to 3.32
//! ```
//!
//! Equations are those of Breekveldt2017.
//!
//! Step 2, the volume of each particle, is computed once, in the initial state
//! ([`frazil_scene::InitialVolume`]). The stress that step 3 needs is written by step 7 of the previous step,
//! which has computed the singular values.
//!
//! Invariant: the host knows no block of nodes. The number of blocks is read back a few steps late, and
//! the capacity grows ahead of it; if it overflows nevertheless, the step is discarded and the simulation
//! ends with a [`Fault`].

mod capacity;
mod factory;
mod fault;
mod implicit;
mod loads;
mod metrics;
mod nodes;
mod parameters;
mod particles;
mod scene;
mod shown;
mod solver;
mod sort;

pub use crate::Surroundings;
pub use factory::Factory;
pub use fault::{Fault, FaultCheck, FaultKind};
pub use metrics::{MpmMetrics, PendingMpmMetrics};
pub use nodes::ROWS_PER_THREAD;
pub use parameters::MpmParameters;
pub use particles::InitialState;
pub use shown::set_infos;
pub use solver::{Mpm, Stage};
