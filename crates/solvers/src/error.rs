//! Why a solver cannot be made.

/// A solver that cannot be set up or restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SolverError {
    /// The device refused something.
    #[error(transparent)]
    Device(#[from] frazil_vk::Error),
    /// A primitive refused something.
    #[error(transparent)]
    Kernel(#[from] frazil_kernels::KernelError),
    /// The scene asks for something that this solver does not know.
    #[error("scene: {key}: {found} is unknown to this solver")]
    Scene {
        /// The key.
        key: String,
        /// What was found there.
        found: String,
    },
    /// No solver has the name that the scene asks for.
    #[error(transparent)]
    Registry(#[from] crate::RegistryError),
    /// A step has no such stage.
    #[error("stage \"{found}\": unknown to this solver, expected one of {expected}")]
    Stage {
        /// The name.
        found: String,
        /// The names there are.
        expected: String,
    },
    /// A mesh is no body.
    #[error("scene: {key}: {problem}")]
    Mesh {
        /// The key.
        key: String,
        /// What is wrong with it, and what is expected.
        problem: String,
    },
    /// Saved columns do not make a state.
    #[error("saved state: column \"{column}\" {problem}")]
    State {
        /// The column.
        column: String,
        /// What is wrong with it, what was found and what is expected.
        problem: String,
    },
}

impl SolverError {
    /// Turns what went wrong while `pass` was recorded into what a recorder keeps for the submission to report.
    pub fn during(self, pass: impl std::fmt::Display) -> frazil_vk::Error {
        match self {
            Self::Device(error) | Self::Kernel(frazil_kernels::KernelError::Device(error)) => error,
            other => frazil_vk::Error::Misuse { object: pass.to_string(), problem: other.to_string() },
        }
    }
}
