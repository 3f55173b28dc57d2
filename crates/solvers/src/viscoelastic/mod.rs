//! Viscoelastic fluid: the position-based fluid with a stress tensor of each particle.
//!
//! One step, as in Huang2016 algorithm 2; internal forces follow the constraints:
//!
//! ```text
//! Integrate … UpdateVelocity   the stages of the position-based fluid (pbd): x*, and u = (x* − x)/Δt; among them
//!   ReorderStress  the permutation of the step for conformation, temperature, and the impulse of the last
//!                  viscous solve
//!   ReorderSprings the same for springs
//!   BuildSprings   springs between neighbours that have none, once positions are predicted
//!   HoldPrediction x* of particles above the mouth of a nozzle
//! HoldFeed         x* and u of the same
//! ConductHeat      T ← T + Δt k/(ρ c) ∇²T
//! ShiftViscosity   a(T), which multiplies η
//! UpdateStress     M, B = M⁻¹, L = ∇u; A ← F A Fᵀ, relaxed; η(γ̇); σ = G (A − I) + 2 η D
//! CollideWalls     restitution and friction of walls to which the fluid does not stick
//! UpdateSprings    L flows where |r − L| > γ L
//! BreakSprings     springs with L > h end
//! ApplySprings     u ← u + Δt/m Σ k (1 − L/h)(r − L) n, and the stress of that
//! ApplyStress      v ← u + Δt/ρ ∇·σ                             small viscosity: explicit
//! or, if Δt η/(ρ d²) is too large for that, v = u + Δt/ρ ∇·(τ + 2 η D(v)) by conjugate gradients:
//!   BeginViscosity v ← u + impulse of the last step, and the residual
//!   IterateViscosity k
//!   EndViscosity   impulse ← v − u
//! EndStep          x ← x*; faults; loads on bodies
//! ```

mod factory;
mod fault;
mod feed;
mod heat;
mod metrics;
mod parameters;
mod shown;
mod solver;
mod springs;
mod stress;
mod viscosity;

pub use factory::Factory;
pub use heat::{Heat, PendingTemperatures};
pub use metrics::{PendingViscoelasticMetrics, ViscoelasticMetrics};
pub use parameters::{FeedParameters, HeatParameters, Parameters, SpringParameters};
pub use solver::{Stage, Viscoelastic};
pub use springs::{SpringCheck, Springs};
pub use stress::Stress;
pub use viscosity::{Viscosity, ViscositySolve};
