//! Errors of creating or restoring a solver.

use frazil_particles::StateError;

/// Error of the registry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Duplicate name of a solver.
    #[error("two solvers are named \"{kind}\": {known}, and {found}; a solver needs a name of its own")]
    Twice {
        /// Name of both.
        kind: &'static str,
        /// Description of the solver registered first.
        known: &'static str,
        /// Description of the other solver.
        found: &'static str,
    },
    /// Names that differ between the factory and the scene section of a solver.
    #[error("a solver named \"{factory}\" has scenes of \"{scene}\", expected one name")]
    Names {
        /// Name according to the factory.
        factory: &'static str,
        /// Name according to the scene section.
        scene: &'static str,
    },
    /// Conflict with a key of the scene file.
    #[error(transparent)]
    Scene(#[from] frazil_scene::RegistryError),
    /// Name that no solver has.
    #[error("solver.kind: found \"{found}\", expected one of {expected}")]
    Unknown {
        /// Name found.
        found: String,
        /// Names expected.
        expected: String,
    },
}

/// Error of a solver that cannot be created or restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SolverError {
    /// Vulkan error of the device.
    #[error(transparent)]
    Device(#[from] frazil_vk::Error),
    /// Error of a primitive.
    #[error(transparent)]
    Kernel(#[from] frazil_kernels::KernelError),
    /// Value in the scene that this solver does not know.
    #[error("scene: {key}: {found} is unknown to this solver")]
    Scene {
        /// Key in the scene.
        key: String,
        /// Value found.
        found: String,
    },
    /// Solver name in the scene that no solver has.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Change of a scene that a running simulation cannot take.
    #[error("scene: {key}: cannot change while the simulation runs: {problem}")]
    Fixed {
        /// Key in the scene.
        key: String,
        /// The reason, or what could change.
        problem: String,
    },
    /// Stage name that a step does not have.
    #[error("stage \"{found}\": unknown to this solver, expected one of {expected}")]
    Stage {
        /// Name found.
        found: String,
        /// Names expected.
        expected: String,
    },
    /// Mesh that cannot be a body.
    #[error("scene: {key}: {problem}")]
    Mesh {
        /// Key in the scene.
        key: String,
        /// Problem found, and what is expected.
        problem: String,
    },
    /// Saved columns that are not a valid state.
    #[error("saved state: column \"{column}\" {problem}")]
    State {
        /// Name of the column.
        column: String,
        /// Problem found, and what is expected.
        problem: String,
    },
}

impl From<StateError> for SolverError {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Device(error) => Self::Device(error),
            StateError::Column { column, problem } => Self::State { column, problem },
        }
    }
}

impl SolverError {
    /// Converts an error of recording `pass` into one that the recorder keeps and the submission reports.
    pub fn during(self, pass: impl std::fmt::Display) -> frazil_vk::Error {
        match self {
            Self::Device(error) | Self::Kernel(frazil_kernels::KernelError::Device(error)) => error,
            other => frazil_vk::Error::Misuse { object: pass.to_string(), problem: other.to_string() },
        }
    }
}

/// Rejects columns that do not have `n` elements each.
pub(crate) fn check_lengths<const N: usize>(
    n: usize,
    lengths: [(&str, usize); N],
) -> Result<(), SolverError> {
    match lengths.into_iter().find(|(_, found)| *found != n) {
        None => Ok(()),
        Some((column, found)) => {
            let problem = format!("has {found} elements, expected {n}");
            Err(SolverError::State { column: column.into(), problem })
        }
    }
}
