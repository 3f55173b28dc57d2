//! `--history`: the log of measurements on this machine, its series and their steps.

mod args;
mod host;

pub use args::HistoryArgs;

use crate::build_info::{GIT_COMMIT, GIT_COMMIT_TIME};
use crate::cli::user_data;
use crate::say;
use frazil_engine::Failure;
use frazil_report::{
    History, HistoryEntry, HistoryRecord, HistorySeries, TableStyle, history_csv, history_page,
    history_table, quantile,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum number of slower series that the error names; the table has all of them.
const MAX_NAMED: usize = 5;

/// Kind of measurements that are in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    Bench,
    Profile,
}

impl Log {
    fn command(self) -> &'static str {
        match self {
            Self::Bench => "bench",
            Self::Profile => "profile",
        }
    }

    /// Returns the file; none if there is to be no log, or no folder for it.
    fn path(self, args: &HistoryArgs) -> Option<PathBuf> {
        let of_environment =
            || std::env::var_os("FRAZIL_HISTORY").filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = args.history_dir.clone().or_else(of_environment);
        let folder = folder.or_else(|| Some(user_data::folder()?.join("frazil/history")))?;
        (folder != Path::new("0")).then(|| folder.join(format!("{}.jsonl", self.command())))
    }

    /// Appends a measurement of this build. A log that cannot be written costs a warning: the measurement is
    /// of worth without it.
    pub fn append(self, args: &HistoryArgs, measured: Measured) {
        let Some(path) = self.path(args).filter(|_| !measured.entries.is_empty()) else { return };
        let settings = measured.settings.into_iter().map(|(name, value)| (name.to_owned(), value));
        let record = HistoryRecord {
            format_version: HistoryRecord::FORMAT_VERSION,
            unix_time_s: SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: GIT_COMMIT.map(str::to_owned),
            commit_unix_time_s: GIT_COMMIT_TIME.and_then(|time| time.parse().ok()),
            host: host::host(),
            device: measured.device,
            driver: measured.driver,
            settings: host::variables().into_iter().chain(settings).collect(),
            copy_gb_per_s: measured.copy_gb_per_s.filter(|rate| rate.is_finite()),
            entries: measured.entries,
        };
        match History::append(&path, &record) {
            Ok(()) => say::note(format_args!("logged in {} (--history)", path.display())),
            Err(error) => say::note(format_args!("warning: not logged: {error}")),
        }
    }

    /// Prints the series that `is_selected` accepts and whose name contains that of the arguments.
    ///
    /// # Errors
    /// The log cannot be read or has no such series; a series is slower since its last step.
    pub fn show(
        self,
        args: &HistoryArgs,
        format: &Format,
        is_selected: impl Fn(&HistoryRecord, &HistoryEntry) -> bool,
    ) -> Result<(), Failure> {
        let path = self.path(args).ok_or_else(|| {
            Failure::input(
                "--history: there is no log: FRAZIL_HISTORY or --history-dir is 0, or neither XDG_DATA_HOME \
                 nor HOME is set",
            )
        })?;
        let history = History::read(&path).map_err(Failure::input)?;
        for warning in &history.warnings {
            say::note(format_args!("warning: {warning}"));
        }
        let name = args.history.as_deref().unwrap_or_default();
        let is_whole = history.names().contains(name);
        let is_named = |record: &HistoryRecord, entry: &HistoryEntry| {
            let scene = record.settings.get("scene").map_or("", String::as_str);
            if is_whole {
                entry.name == name
            } else {
                [scene, &entry.name, &entry.point].join(" ").contains(name)
            }
        };
        let detection = args.detection(format.tolerance);
        let series =
            history.series(&host::host(), args.order, args.last.into(), &detection, |record, entry| {
                is_named(record, entry) && is_selected(record, entry)
            });
        if series.is_empty() {
            return Err(Failure::input(self.nothing_found(&history, name)));
        }
        if format.csv {
            say::data(&history_csv(&series))?;
        } else if args.json {
            say::data(&format!("{:#}\n", json!({ "series": series })))?;
        } else {
            say::report(&history_table(&series, !name.is_empty(), format.wide, TableStyle::Plain))?;
        }
        if let Some(page) = &args.page {
            std::fs::write(page, history_page(&series))
                .map_err(|e| Failure::other(format!("cannot write {}: {e}", page.display())))?;
            say::note(format_args!("wrote {}", page.display()));
        }
        no_regression(&series)
    }

    fn nothing_found(self, history: &History, name: &str) -> String {
        let (path, command) = (history.path.display(), self.command());
        if history.records.is_empty() {
            return format!("{path}: found no measurement; `frazil {command}` appends one");
        }
        let known = history.names().into_iter().collect::<Vec<_>>().join(", ");
        format!("{path}: found no such series with \"{name}\" in its name; the log has {known}")
    }
}

/// A measurement to log.
pub struct Measured {
    pub device: String,
    pub driver: String,
    pub settings: BTreeMap<&'static str, String>,
    pub copy_gb_per_s: Option<f64>,
    pub entries: Vec<HistoryEntry>,
}

/// Form of the output, and the relative difference below which a step is ignored.
pub struct Format {
    pub csv: bool,
    pub wide: bool,
    pub tolerance: f64,
}

/// Makes an entry without a point and rates; `None` if there is no sample, or its time is below the
/// resolution of the clock.
pub fn entry(name: &str, time_ns: f64, samples_ns: impl IntoIterator<Item = f64>) -> Option<HistoryEntry> {
    let mut sorted: Vec<f64> = samples_ns.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let [q1, median_ns, q3] = [0.25, 0.5, 0.75].map(|q| quantile(&sorted, q));
    (time_ns.is_finite() && time_ns > 0.0 && median_ns > 0.0).then(|| HistoryEntry {
        name: name.to_owned(),
        point: String::new(),
        time_ns,
        median_ns,
        quartiles_ns: [q1, q3],
        samples: sorted.len() as u64,
        bytes: None,
        gb_per_s: None,
        share_of_copy: None,
    })
}

/// Returns the setting of validation layers, if they are on.
pub fn validation(is_on: bool) -> Option<(&'static str, String)> {
    is_on.then(|| ("validation", "true".to_owned()))
}

/// Returns an error if a series is slower since its last step.
fn no_regression(series: &[HistorySeries]) -> Result<(), Failure> {
    let slower: Vec<String> = series
        .iter()
        .filter_map(|series| Some(format!("{} ({:.2}x)", series.label(), series.regression()?.ratio)))
        .collect();
    if slower.is_empty() {
        return Ok(());
    }
    let named = slower[..slower.len().min(MAX_NAMED)].join("; ");
    let more = match slower.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    Err(Failure::other(format!(
        "{} of {} series slower since a step: {named}{more}",
        slower.len(),
        series.len()
    )))
}
