//! Snow that packs, melts and freezes, and water around it: the two-phase position-based step of Chen2021.
//!
//! Snow is a set of **solid** particles (DEM: contact, friction, links), water a set of **fluid** particles
//! (SPH under a density constraint). Each is a compacted array with capacity for all particles; particles
//! migrate between the two as they melt and freeze. One step, as in Chen2021 fig 3.1, for both phases unless
//! said otherwise:
//!
//! ```text
//! Integrate            v ← v + Δt g, and the cell of x + Δt v
//! MarkPhaseChange      α ← α + ω; particles to leave their phase                     eq 6.2, 6.4
//! ScanLeavers          one scan per phase: ranks of leaving and staying particles    §7.2.2
//! Migrate              staying particles are compacted, leaving ones appended to the other phase
//! SortByCell           order of particles by cell, stable
//! Reorder              one pass over the columns: migration and permutation; links are remapped
//! Predict              x* ← confine(x + Δt v)
//! ListNeighbours       neighbours in both phases, which all passes below use unless one has moved too far
//! Conduct              heat between neighbours of either phase                       eq 6.1
//! BreakLinks           solid: removes links that are too long, too warm or too many  §4.1.2
//! BuildLinks           solid: links cold neighbours below their limits               eq 6.7, 6.8
//! AttachToShape        solid, with shape matching: rest position of frozen particles
//! N times:
//!   ComputeLambda      density, its multiplier; number of constraints                eq 5.19, 5.23, 5.26
//!   Solve              density, non-penetration, stretch, coupling; relaxed          eq 5.12, 5.14, 5.24–5.27
//!   ApplyShapeMatching solid, with shape matching: towards the neighbourhood's fit
//! ApplyFriction        solid: friction with one another and with walls               eq 5.21, 5.22
//! UpdateVelocity       u ← (x* − x)/Δt
//! DampLinks            solid, with dampers: vibration of links, stages of Runge–Kutta–Legendre
//! SmoothVelocity       v ← u + XSPH within the phase; x ← x*                         eq 5.20
//! ```
//!
//! Equation numbers are those of Chen2021.
//!
//! In the paper the phase transition follows the heat step; here it comes first in the next step, so that one
//! permutation per step serves both migration and sort. Where the printed equations do not conserve momentum,
//! these do: see `glsl/snow/terms.glsl`, `solve_fluid.comp` and `apply_friction.comp`.

mod boundary;
mod constraints;
mod heat;
mod link_rule;
mod links;
mod metrics;
mod migration;
mod output;
mod phase_particles;
mod shape;
mod solver;
mod terms;
mod work;

pub use link_rule::{LinkLimit, LinkRule};
pub use links::LinkCheck;
pub use metrics::{PendingSnowMetrics, SnowMetrics};
pub use phase_particles::PhaseParticles;
pub use solver::{Snow, Stage};
pub use terms::{Linking, SnowParameters};
