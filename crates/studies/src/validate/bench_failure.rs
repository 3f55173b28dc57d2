//! Exit status of the errors of benches.

use frazil_bench::Error;
use frazil_engine::Failure;

/// Converts an error of a bench.
pub fn bench_failure(error: Error) -> Failure {
    match error {
        Error::Device(error) => error.into(),
        Error::Solver(error) => error.into(),
        Error::Kernel(_) | Error::NoTimeStamps { .. } => Failure::device(error),
        Error::Wrong { .. } | Error::Scene(_) => Failure::other(error),
        Error::File(frazil_io::Error::Io { ref cause, .. }) => Failure::output(cause, &error),
        _ => Failure::input(error),
    }
}
