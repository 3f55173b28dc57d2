//! Errors of benches.

use crate::difference::Difference;
use std::path::PathBuf;

/// Result of every fallible call in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Reason for a missing measurement. Messages are complete on their own.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Error of the renderer.
    #[error(transparent)]
    Render(#[from] frazil_render::Error),
    /// A filter that matches no bench's id.
    #[error("no bench matches \"{filter}\"; {hint}")]
    NoSuchBench {
        /// The filter.
        filter: String,
        /// The nearest id, or all of them.
        hint: String,
    },
    /// An axis that none of the chosen benches has.
    #[error("--axis {axis}: none of the chosen benches has this axis; {hint}")]
    NoSuchAxis {
        /// The axis.
        axis: String,
        /// The nearest axis, or all of them.
        hint: String,
    },
    /// A value that none of the chosen benches allows.
    #[error("--axis {axis}: found \"{found}\", expected {expected}")]
    AxisValue {
        /// The axis.
        axis: String,
        /// The value.
        found: String,
        /// The values that the benches allow.
        expected: String,
    },
    /// An override that is not `name=value,value`.
    #[error("found \"{found}\", expected name=value or name=value,value…")]
    AxisSyntax {
        /// The text.
        found: String,
    },
    /// Overrides that leave no point.
    #[error("no point is left: {problem}")]
    NoPoints {
        /// The overrides.
        problem: String,
    },
    /// A point that lacks an axis, or has a value of another kind there.
    #[error("{bench}: axis {axis} is {found}, expected {expected}")]
    Point {
        /// The bench, where known.
        bench: String,
        /// The axis.
        axis: String,
        /// The value found.
        found: String,
        /// The values that the bench allows.
        expected: String,
    },
    /// A result of the device that differs from the twin's.
    #[error("{bench} at {point} is wrong {when}: {difference}")]
    Wrong {
        /// The bench.
        bench: String,
        /// The point.
        point: String,
        /// Time of the comparison: before or after timing.
        when: &'static str,
        /// The first difference.
        difference: Difference,
    },
    /// A device without time stamps.
    #[error("{device} has no time stamps, so nothing can be timed on it")]
    NoTimeStamps {
        /// The device.
        device: String,
    },
    /// Error of the device.
    #[error(transparent)]
    Device(#[from] frazil_vk::Error),
    /// Error of a primitive.
    #[error(transparent)]
    Kernel(#[from] frazil_kernels::KernelError),
    /// Error of a solver.
    #[error(transparent)]
    Solver(#[from] frazil_solvers::SolverError),
    /// Error in the scene of a bench.
    #[error(transparent)]
    Scene(#[from] frazil_scene::SceneError),
    /// A file of rows cannot be read or written.
    #[error(transparent)]
    File(#[from] frazil_io::Error),
    /// A line that is not a row.
    #[error("{}:{line}: {problem}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// Line number, counted from 1.
        line: usize,
        /// The problem, with the found and expected values.
        problem: String,
    },
    /// A baseline whose rows are all from other devices.
    #[error("{}: measured on {found}; this is {expected}: times of different devices are not \
             comparable", path.display())]
    OtherDevice {
        /// The file.
        path: PathBuf,
        /// This device and its subgroup size.
        expected: String,
        /// Devices in the file.
        found: String,
    },
    /// A baseline that has none of the points to be measured.
    #[error("{}: none of its {rows} rows is one of the points to be measured", path.display())]
    NothingToCompare {
        /// The file.
        path: PathBuf,
        /// Rows of this device in it.
        rows: usize,
    },
}

impl Error {
    /// Returns true if a point is too large for the device's memory or limits: others may still fit.
    pub fn does_not_fit(&self) -> bool {
        use frazil_kernels::KernelError;
        use frazil_solvers::SolverError;
        let of_device = match self {
            Self::Device(error) | Self::Kernel(KernelError::Device(error)) => error,
            Self::Solver(SolverError::Device(error) | SolverError::Kernel(KernelError::Device(error))) => {
                error
            }
            _ => return false,
        };
        matches!(of_device, frazil_vk::Error::BeyondLimit { .. } | frazil_vk::Error::OutOfMemory { .. })
    }
}

/// Returns the nearest of `known` names, or all of them.
pub(crate) fn hint(found: &str, known: &[&str]) -> String {
    // Below this, a name is not a typo of the other; names of one area agree in their first half.
    const MIN_SIMILARITY: f64 = 0.8;
    let similarity = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        strsim::jaro_winkler(found, name).max(strsim::jaro_winkler(found, last))
    };
    let nearest = known.iter().map(|name| (similarity(name), name)).max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((similarity, name)) if similarity >= MIN_SIMILARITY => format!("did you mean {name}?"),
        _ => format!("expected one of {}", known.join(", ")),
    }
}
