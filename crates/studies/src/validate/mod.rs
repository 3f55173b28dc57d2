//! Comparison of the engine on a device with twins, closed forms, experiments and the outcomes that the
//! papers report, case by case.

#[cfg(feature = "twins")]
mod bench_failure;
mod case;
mod cases;
mod experiment;
mod report;
mod result;
mod selection;
mod validation;

#[cfg(feature = "twins")]
pub use bench_failure::bench_failure;
pub use case::{Case, Cost};
pub use report::list;
pub use selection::select;
pub use validation::{Validation, ValidationOptions};
