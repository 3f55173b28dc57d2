//! Position-based fluid: water by a density constraint on SPH particles.
//!
//! One step, as in 000 fig 5.1b and 002 algorithm 2:
//!
//! ```text
//! Integrate        v ← v + Δt g, and the cell of x + Δt v
//! SortByCell       the order of particles by cell, stable, and where each cell begins in it
//! Reorder          one permutation of position, velocity and id
//! Predict          x* ← confine(x + Δt v)                  here and below: out of bodies, too
//! N times:
//!   SolveDensity   ρ, C, λ                               000 eq 5.15–5.19
//!   SolvePositions x* ← confine(x* + ω Δx)               000 eq 5.18, 5.27; 002 eq 2.21, 2.22
//! UpdateVelocity   u ← (x* − x)/Δt
//! SmoothVelocity   v ← u + XSPH; x ← x*                  000 eq 5.20
//! ```

mod bodies;
mod fluid;
mod metrics;
mod motion;
mod parameters;
pub mod snow;
mod tuning;

pub use bodies::BodyMetrics;
pub use fluid::{Fluid, Stage, StateColumn};
pub use metrics::{FluidMetrics, PendingMetrics};
pub use parameters::Parameters;
pub use snow::{Snow, SnowMetrics};
pub use tuning::{Tuning, TuningError};
