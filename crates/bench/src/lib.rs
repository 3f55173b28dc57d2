//! Benchmarks: workloads, their measurement, and the comparison of measurements.
//!
//! A [`Bench`] turns a [`Point`] of its axes into a workload on a device or on the CPU. A [`Session`] runs
//! the workload once, compares the result with the CPU twin's, times it cold and warm until its median is
//! precise enough ([`StoppingRule`]), compares the result of the last run as well, and returns a [`Row`].
//! [`compare_rows`] and [`compare_row_rounds`] report what became faster or slower, by the processes that
//! measured each point.
//!
//! A new bench takes one file in `benches/` with one `impl Bench`, and its line in `benches/mod.rs`. A
//! variant of a kernel is another name on the bench's `variant` axis.
//!
//! This crate has no printing, no command line and no statistics across rows: `frazil bench` prints,
//! `frazil-report` compares samples.

mod against;
mod axis;
mod bench;
pub mod benches;
mod difference;
mod error;
mod measure;
mod peak;
mod plan;
mod row;
mod stopping;

pub use against::{Compared, RowRound, Verdicts, baseline, compare_row_rounds, compare_rows};
pub use axis::{Axis, AxisOverride, Domain, MAX_COUNT, Point, Value};
pub use bench::{Bench, DeviceWorkload, Difference, HostWorkload, Prepared, Work, first_difference};
pub use error::{Error, Result};
pub use measure::{Running, Session};
pub use peak::peak_gb_per_s;
pub use plan::{Planned, plan, select};
pub use row::{Clock, Row, RowWriter, read_rows};
pub use stopping::{Profile, StopReason, StoppingRule};
