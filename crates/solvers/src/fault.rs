//! Faults that a solver detects in its own state, as types that all solvers share.

/// Fault of a step that broke the state. The device keeps the state as that step left it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {step}, pass {pass}: {message}")]
pub struct SolverFault {
    /// Step, counted from 1.
    pub step: u64,
    /// Pass that detected the fault.
    pub pass: &'static str,
    /// Particle, body or buffer concerned.
    pub object: String,
    /// Message: found, expected, and common remedies.
    pub message: String,
}

/// Invariant of a solver's own data that does not hold after a step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{count} {what}")]
pub struct InvariantFault {
    /// Description of the violation.
    pub what: &'static str,
    /// Number of violations.
    pub count: u32,
}
