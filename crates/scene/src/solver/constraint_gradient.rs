//! A choice that several position-based solvers have, each with a default of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Positions of the gradient along which the density constraint corrects positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConstraintGradient {
    /// The predicted positions, as position-based methods do: motion of single particles is damped, angular
    /// momentum is conserved to the first order in the step.
    Prediction,
    /// Those at the start of the step, as SHAKE does (Ryckaert1977): angular momentum is conserved to
    /// rounding, less energy is lost.
    Start,
}
