//! Statistics of measurements and results: medians, comparisons of samples, histories, profiles, shapes of
//! heaps of particles, run-outs of flows, and their plots, maps, tables and HTML pages.
//!
//! The crate evaluates what other crates measured, as plain data: it uses no Vulkan and no solver, of scenes
//! only terrains and polygons, and measures nothing itself. The formats of frames, metrics and traces are in
//! `frazil-io`, which also writes all files.
//!
//! Statistics are deterministic: the same samples give the same numbers and verdicts, bit for bit.

mod canvas;
mod comparison;
mod compilers;
mod error;
mod fits;
mod history;
mod kernel_budget;
mod map;
mod plot;
mod predict;
mod profile;
#[cfg(test)]
mod random;
pub mod reference_data;
mod rounds;
mod run_out;
mod shape;
mod special;
mod statistics;

pub use comparison::{Comparison, Verdict, compare};
pub use compilers::{CompilerReport, compilers_page, compilers_table};
pub use error::{Error, Result};
pub use fits::{damped_period, layer_means, oscillation, profile_deviation};
pub use history::{
    ChangePoint, Detection, History, HistoryEntry, HistoryEnvironment, HistoryHost, HistoryRecord,
    HistoryRun, HistorySeries, HistoryStep, Order, history_csv, history_page, history_table,
};
pub use kernel_budget::{KernelBudget, KernelBudgetError};
pub use map::{FlowMap, plot_flow_map};
pub use plot::{Mark, Panel, Scale, Series, plot_metrics, plot_panels, plot_panels_scaled, plot_series};
pub use predict::{Gpu, KernelPrediction, Prediction, predict, prediction_table};
pub use profile::{
    Candidate, CounterFact, DriverStatistic, EmptyCalls, Gap, HardwareCounters, HostGaps, KernelBound,
    KernelComparison, KernelFact, KernelSamples, Limit, Memory, MemoryRow, Mismatch, PassRow, Pictures,
    Profile, ProfileComparison, ProfileRound, ProfileRow, RunFacts, RunFigures, SizedCopy, Stamping,
    TableStyle, Throughput, TimelinePass, Vary, WorkItem, bound_table, compare_profile_rounds,
    compare_profiles, comparison_table, counter_table, facts_table, fitted_table, gap_table, host_gaps,
    memory_table, pass_rows, pass_table, profile_csv, profile_report, profile_rows, profile_table, table,
    throughput_table, time, vary_table,
};
pub use rounds::{MAX_NEEDED, MIN_RUNS, Round, RoundsComparison, compare_rounds, compare_runs, looks};
pub use run_out::{
    AFFECTED_THICKNESS_M, DepositStatistics, FlowSnow, MapPoint, PathPoint, RUN_OUT_PRESSURE_KPA, Reach,
    ReleaseStatistics, RunOut,
};
pub use shape::{FRAGMENT_SHARE, ShapeStatistics};
pub use special::erf;
pub use statistics::{Spread, figure, median, median_interval, quantile};
