//! Command errors and their exit status.

use frazil_scene::SceneError;
use frazil_solvers::{RegistryError, SolverError};
use std::fmt::{self, Display};
use std::io::ErrorKind;
use std::process::ExitCode;

/// Category of a failure; scripts distinguish them by exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Bad input: arguments, scenes, files to read, places to write to.
    Input,
    /// The device, its driver, or the window system.
    Device,
    /// The simulation's state violated an invariant.
    Invariant,
    /// Anything else: a full disk, an interrupt.
    Other,
}

/// A failed command. Its message is complete: the operation, its object, the cause and a remedy.
#[derive(Debug)]
pub struct Failure {
    /// Category.
    pub kind: FailureKind,
    message: String,
}

impl Failure {
    /// Makes a failure for bad input.
    pub fn input(message: impl Display) -> Self {
        Self { kind: FailureKind::Input, message: message.to_string() }
    }

    /// Makes a failure of the device, its driver, or the window system.
    pub fn device(message: impl Display) -> Self {
        Self { kind: FailureKind::Device, message: message.to_string() }
    }

    /// Makes a failure for a state that violates an invariant.
    pub fn invariant(message: impl Display) -> Self {
        Self { kind: FailureKind::Invariant, message: message.to_string() }
    }

    /// Makes a failure to write at a place that the user chose: bad input, unless there is no space left.
    pub fn output(cause: &std::io::Error, message: impl Display) -> Self {
        match cause.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::other(message)
            }
            _ => Self::input(message),
        }
    }

    /// Makes a failure of a file that the user chose, like [`Self::output`].
    pub fn file(error: frazil_io::Error) -> Self {
        match &error {
            frazil_io::Error::Io { cause, .. } => Self::output(cause, &error),
            _ => Self::input(&error),
        }
    }

    /// Makes a failure of any other kind.
    pub fn other(message: impl Display) -> Self {
        Self { kind: FailureKind::Other, message: message.to_string() }
    }

    /// Returns the failure with the exit status of another kind.
    pub fn of_kind(self, kind: FailureKind) -> Self {
        Self { kind, ..self }
    }

    /// Returns the failure with its context prepended to the message.
    pub fn within(self, place: impl Display) -> Self {
        Self { message: format!("{place}: {}", self.message), ..self }
    }

    /// Returns the failure with a remedy appended to the message.
    pub fn with_remedy(self, remedy: impl Display) -> Self {
        Self { message: format!("{}; {remedy}", self.message), ..self }
    }

    /// Returns the exit status of a command that failed like this.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            FailureKind::Other => 1,
            FailureKind::Input => 2,
            FailureKind::Device => 3,
            FailureKind::Invariant => 4,
        })
    }
}

impl std::error::Error for Failure {}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Self {
        match error {
            SceneError::Cancelled { .. } => Self::other(error),
            _ => Self::input(error),
        }
    }
}

impl From<frazil_vk::Error> for Failure {
    fn from(error: frazil_vk::Error) -> Self {
        Self::device(error)
    }
}

impl From<SolverError> for Failure {
    fn from(error: SolverError) -> Self {
        match error {
            SolverError::State { .. }
            | SolverError::Scene { .. }
            | SolverError::Fixed { .. }
            | SolverError::Registry(_) => Self::input(error),
            _ => Self::device(error),
        }
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Self {
        Self::input(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_no_bad_input_wherever_it_is_met() {
        let kind = |kind: ErrorKind| {
            let error = || std::io::Error::from(kind);
            let path = "file".into();
            let of_file =
                Failure::file(frazil_io::Error::Io { operation: "create", path, cause: error() }).kind;
            assert_eq!(Failure::output(&error(), "cannot write").kind, of_file);
            of_file
        };
        for full in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge] {
            assert_eq!(kind(full), FailureKind::Other);
        }
        assert_eq!(kind(ErrorKind::PermissionDenied), FailureKind::Input);
        assert_eq!(kind(ErrorKind::NotFound), FailureKind::Input);
    }
}
