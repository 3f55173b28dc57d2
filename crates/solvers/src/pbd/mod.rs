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
//!
//! With `pbd.pressure = "projection"`, at the positions of the start of the step:
//!
//! ```text
//! Emit             layers of emitters appear                only with emitters
//! Integrate, SortByCell, Reorder   the same, by the cell of x; particles in drains are left out
//! ListNeighbours   particles within h
//! SmoothVelocity   v ← v + XSPH; in pipes of emitters v is that of the flow, here and below
//! BeginProjection  C, the density constraint at x + Δt v to the first order; λ of the last step
//! until the mean error of the complementarity problem C ≤ 0, λ ≤ 0, C λ = 0 is within the tolerance:
//!   AccelerateByPressure   a ← the change of v by λ
//!   UpdatePressure         C by a; λ ← min(λ − ω C/a_ii, 0), extrapolated
//!   CheckDensity
//! ApplyPressure    v ← v + h/Δt a; impulses on bodies
//! Move             x ← confine(x + Δt v), v ← what is left of it; faults
//! EndStep          faults
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
mod projection;
mod shown;
mod smoothing;
pub mod snow;
mod sources;
mod work;

pub use crate::sources::SourceParameters;
pub use density_solve::{DensitySolve, DensityStatus, SolveMomentum};
pub use factory::Factory;
pub use fluid::{Fluid, Stage};
pub use metrics::PendingMetrics;
pub(crate) use neighbour_rows::NO_FLAG;
pub use neighbour_rows::{DownloadedRows, NEIGHBOUR_SLOTS, NeighbourRows};
pub use parameters::Parameters;
pub use particles::Particles;
pub use projection::Projection;
pub use shown::set_infos;
pub use snow::{Snow, SnowMetrics};
