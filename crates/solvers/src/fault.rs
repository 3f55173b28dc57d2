//! What a solver finds wrong with its own state, as types that all solvers share.

/// A step that broke the state. The state on the device is kept as that step left it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {step}, pass {pass}: {message}")]
pub struct SolverFault {
    /// The step, counted from 1.
    pub step: u64,
    /// The pass that it shows in.
    pub pass: &'static str,
    /// The particle, body or buffer that it was found with.
    pub object: String,
    /// What was found, what was expected and what often helps.
    pub message: String,
}

/// An invariant of a solver's own data that does not hold after a step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{count} {what}")]
pub struct InvariantFault {
    /// What was found that must not be.
    pub what: &'static str,
    /// How often.
    pub count: u32,
}
