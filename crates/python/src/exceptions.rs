//! Failures as Python exceptions, with the words of the command line.

use frazil_engine::engine::{Failure, FailureKind};
use pyo3::prelude::*;

/// Module in which the exceptions are defined.
const MODULE: &str = "frazil._errors";

/// Class of exceptions for bad input of one kind.
#[derive(Clone, Copy)]
pub enum Input {
    /// A scene: a file, a key or a value.
    Scene,
    /// A name that does not exist.
    Name,
    /// Anything else, such as a file that cannot be read.
    Any,
}

/// Returns the exception of a failure.
pub fn exception(py: Python<'_>, failure: &Failure, input: Input) -> PyErr {
    let class = match (failure.kind, input) {
        (FailureKind::Input, Input::Scene) => "SceneError",
        (FailureKind::Input, Input::Name) => "NameNotFoundError",
        (FailureKind::Input, Input::Any) => "InputError",
        (FailureKind::Device, _) => "DeviceError",
        (FailureKind::Invariant, _) => "FaultError",
        (FailureKind::Other, _) => "Error",
    };
    let made = py.import(MODULE).and_then(|module| module.getattr(class)?.call1((failure.to_string(),)));
    made.map_or_else(|error| error, PyErr::from_value)
}
