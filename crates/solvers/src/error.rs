//! Why a solver cannot be made.

/// Why a solver is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Two solvers of one name.
    #[error("two solvers are named \"{kind}\": {known}, and {found}; a solver needs a name of its own")]
    Twice {
        /// The name.
        kind: &'static str,
        /// The one that was there first, in a few words.
        known: &'static str,
        /// The other.
        found: &'static str,
    },
    /// The two sides of a solver have different names.
    #[error("a solver named \"{factory}\" has scenes of \"{scene}\", expected one name")]
    Names {
        /// What the factory says.
        factory: &'static str,
        /// What the scene's side says.
        scene: &'static str,
    },
    /// The scene file has no room for it.
    #[error(transparent)]
    Scene(#[from] frazil_scene::RegistryError),
    /// No solver has this name.
    #[error("solver.kind: found \"{found}\", expected one of {expected}")]
    Unknown {
        /// What was asked for.
        found: String,
        /// The names there are.
        expected: String,
    },
}

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
    Registry(#[from] RegistryError),
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
