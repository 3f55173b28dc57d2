//! Viscoelastic fluid: the position-based fluid with a stress tensor of each particle.
//!
//! One step, as in Huang2016 algorithm 2; internal forces follow the constraints:
//!
//! ```text
//! Integrate … UpdateVelocity   the stages of the position-based fluid (pbd): x*, and u = (x* − x)/Δt;
//!                  among them
//!   Reorder        permutes conformation, temperature and the impulse of the last viscous solve, too
//!   ReorderSprings moves the rows of springs with their particles
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
//! ApplyStress      v ← u + Δt/ρ ∇·σ
//! ShiftParticles   x* ← x* + δ: in stretched fluid, to where neighbours are sparse
//! EndStep          x ← x*; faults; loads on bodies
//! ```
//!
//! If Δt η/(ρ d²) is too large for an explicit viscosity, v = u + Δt/ρ ∇·2 η D(v) is solved by conjugate
//! gradients at the positions x, between faces and bodies that do not slip, before the elastic stress, and
//! moves the particles:
//!
//! ```text
//! UpdateViscosity  M, B = M⁻¹, L = ∇u at x; η(γ̇)                in the place of UpdateStress; with bodies
//!                  that hold a fluid without elasticity
//! CollideWalls
//! BeginViscosity   v ← u + impulse of the last step, and the residual
//! IterateViscosity k
//! EndViscosity     loads on bodies; impulse ← v − u; x* ← x* + Δt (v − u)
//! UpdateStress     M, B, L = ∇v at x*; A ← F A Fᵀ, relaxed       with conformation or strain
//! ApplyStress      v ← v + Δt/ρ ∇·τ
//! UpdateSprings, BreakSprings, ApplySprings                      with springs, which act on v
//! HoldFedVelocity  v of particles above the mouth of a nozzle
//! ShiftParticles
//! EndStep
//! ```

mod body_walls;
mod factory;
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
pub use stress::{LOOP_NESTING, Stress};
pub use viscosity::{Viscosity, ViscositySolve};
