//! Measurements of a machine over builds: their log, series, steps, and their tables and pages.

mod change_points;
mod page;
mod record;
mod series;
mod table;

pub use change_points::{ChangePoint, Detection};
pub use page::history_page;
pub use record::{History, HistoryEntry, HistoryHost, HistoryRecord};
pub use series::{HistoryEnvironment, HistoryRun, HistorySeries, HistoryStep, Order};
pub use table::{history_csv, history_table};
