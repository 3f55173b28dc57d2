//! What can go wrong with a bench, said once for the whole crate.

use crate::difference::Difference;
use std::io;
use std::path::PathBuf;

/// The result of every fallible call in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no measurement. Messages are complete on their own.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A picture could not be drawn.
    #[error(transparent)]
    Render(#[from] frazil_render::Error),
    /// A filter that no bench's id contains.
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
    /// A value that none of the chosen benches takes.
    #[error("--axis {axis}: found \"{found}\", expected {expected}")]
    AxisValue {
        /// The axis.
        axis: String,
        /// The value.
        found: String,
        /// What the benches take.
        expected: String,
    },
    /// An override that is no `name=value,value`.
    #[error("found \"{found}\", expected name=value or name=value,value…")]
    AxisSyntax {
        /// The text.
        found: String,
    },
    /// The overrides leave no point.
    #[error("no point is left: {problem}")]
    NoPoints {
        /// What was asked for.
        problem: String,
    },
    /// A point lacks an axis, or has a value of another kind there.
    #[error("{bench}: axis {axis} is {found}, expected {expected}")]
    Point {
        /// The bench, where known.
        bench: String,
        /// The axis.
        axis: String,
        /// What was found.
        found: String,
        /// What the bench takes.
        expected: String,
    },
    /// The device computed something else than the twin.
    #[error("{bench} at {point} is wrong {when}: {difference}")]
    Wrong {
        /// The bench.
        bench: String,
        /// The point.
        point: String,
        /// Before or after it was timed.
        when: &'static str,
        /// The first difference.
        difference: Difference,
    },
    /// The device cannot be timed.
    #[error("{device} has no time stamps, so nothing can be timed on it")]
    NoTimeStamps {
        /// The device.
        device: String,
    },
    /// The device refused something.
    #[error(transparent)]
    Device(#[from] frazil_vk::Error),
    /// A primitive refused something.
    #[error(transparent)]
    Kernel(#[from] frazil_kernels::KernelError),
    /// A solver refused something.
    #[error(transparent)]
    Solver(#[from] frazil_solvers::SolverError),
    /// The scene of a bench is no scene.
    #[error(transparent)]
    Scene(#[from] frazil_scene::SceneError),
    /// A file of rows cannot be read or written.
    #[error("cannot {operation} {}: {cause}", path.display())]
    Io {
        /// What was attempted, as a verb.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's answer.
        cause: io::Error,
    },
    /// A line that is no row.
    #[error("{}:{line}: {problem}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What was found and what was expected.
        problem: String,
    },
    /// The rows to compare with come from elsewhere.
    #[error("{}: measured on {found}; this is {expected}: times of different devices say nothing of a change", path.display())]
    OtherDevice {
        /// The file.
        path: PathBuf,
        /// This device and its subgroup size.
        expected: String,
        /// Those in the file.
        found: String,
    },
    /// The rows to compare with are none of those to be measured.
    #[error("{}: none of its {rows} rows is one of the points to be measured", path.display())]
    NothingToCompare {
        /// The file.
        path: PathBuf,
        /// Rows of this device in it.
        rows: usize,
    },
}

/// The nearest of `known` names, or all of them.
pub(crate) fn hint(found: &str, known: &[&str]) -> String {
    // Below this a name is no typo of the other; names of one area agree in their first half.
    const RESEMBLES: f64 = 0.8;
    let likeness = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        strsim::jaro_winkler(found, name).max(strsim::jaro_winkler(found, last))
    };
    let nearest = known.iter().map(|name| (likeness(name), name)).max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((alike, name)) if alike >= RESEMBLES => format!("did you mean {name}?"),
        _ => format!("expected one of {}", known.join(", ")),
    }
}
