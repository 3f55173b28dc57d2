//! Position-based fluid: water under a density constraint on SPH particles.
//!
//! One step, as in Chen2021 fig 5.1b and Huang2016 algorithm 2:
//!
//! ```text
//! Integrate        v ← v + Δt g, and the cell of x + Δt v
//! SortByCell       the order of particles by cell, stable, and where each cell begins in it
//! Reorder          one permutation of position, velocity and id
//! Predict          x* ← confine(x + Δt v)                  here and below: out of bodies, too
//! ListNeighbours   particles within 1.1 h, which the passes below use while none has moved by 0.05 h
//! BeginDensitySolve  λ ← λ/2 of the last step, applied by SolvePositions
//! until the mean of max(ρ/ρ₀ − 1, 0) is within the tolerance (CheckDensity), or N times:
//!   SolveDensity   ρ, C, λ                               Chen2021 eq 5.15–5.19
//!   SolvePositions x* ← confine(x* + ω Δx)               Chen2021 eq 5.18, 5.27; Huang2016 eq 2.21, 2.22
//! UpdateVelocity   u ← (x* − x)/Δt
//! SmoothVelocity   v ← u + XSPH; x ← x*                  Chen2021 eq 5.20
//! EndStep          faults, found by UpdateVelocity
//! ```

mod bodies;
mod density_solve;
mod factory;
mod fault;
mod fluid;
mod metrics;
mod motion;
mod neighbour_rows;
mod parameters;
mod particles;
mod shown;
mod smoothing;
pub mod snow;
mod work;

pub use density_solve::{DensitySolve, DensityStatus};
pub use factory::Factory;
pub use fluid::{Fluid, Stage};
pub use metrics::PendingMetrics;
pub(crate) use neighbour_rows::NO_FLAG;
pub use neighbour_rows::{DownloadedRows, NEIGHBOUR_SLOTS, NeighbourRows};
pub use parameters::Parameters;
pub use particles::Particles;
pub use shown::set_infos;
pub use snow::{Snow, SnowMetrics};
