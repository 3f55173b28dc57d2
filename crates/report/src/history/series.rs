//! Series of equal measurements over runs, and their steps.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::change_points::Detection;
use super::record::{History, HistoryEntry, HistoryHost, HistoryRecord};
use crate::comparison::Verdict;
use crate::statistics::median;

/// Order of the runs of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By the date of the commit, runs of one commit by their time; a run without a known commit is at its
    /// own time.
    #[default]
    Commit,
    /// By the time of the run.
    Time,
}

/// Everything that must be equal for times to be comparable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct HistoryEnvironment {
    /// The machine.
    pub host: HistoryHost,
    /// The device.
    pub device: String,
    /// The driver's name and version.
    pub driver: String,
    /// Options, scene and variables that change the work or its time.
    pub settings: BTreeMap<String, String>,
}

impl HistoryEnvironment {
    fn of(record: &HistoryRecord) -> Self {
        Self {
            host: record.host.clone(),
            device: record.device.clone(),
            driver: record.driver.clone(),
            settings: record.settings.clone(),
        }
    }

    /// Returns the settings in words.
    pub(super) fn settings(&self) -> String {
        let words: Vec<String> =
            self.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        words.join(" ")
    }
}

/// A kernel or a point over the runs of one environment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistorySeries {
    /// Machine, device, driver and settings.
    pub environment: HistoryEnvironment,
    /// The kernel, `step`, or the bench.
    pub name: String,
    /// The point of a bench; empty for a profile.
    pub point: String,
    /// Runs in order.
    pub runs: Vec<HistoryRun>,
    /// Steps in order.
    pub steps: Vec<HistoryStep>,
    /// False if the series is too short for a step to be significant.
    pub can_find: bool,
    /// True for the device and driver of the machine's last run: their slow-downs count as regressions.
    pub is_current: bool,
}

/// A run of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryRun {
    /// Time of the run in s since 1970.
    pub unix_time_s: u64,
    /// The commit frazil was built from, if known.
    pub commit: Option<String>,
    /// Copy bandwidth in GB/s.
    pub copy_gb_per_s: Option<f64>,
    /// The measurement.
    #[serde(flatten)]
    pub entry: HistoryEntry,
}

impl HistoryRun {
    /// Returns the first characters of the commit.
    pub(super) fn short_commit(&self) -> String {
        self.commit.as_deref().map_or_else(|| "–".to_owned(), |commit| commit.chars().take(8).collect())
    }
}

/// A step of a series, between two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryStep {
    /// Index of the first run after it.
    pub at: usize,
    /// Numbers of runs on either side, to the next step or the end.
    pub runs: [usize; 2],
    /// Median times on either side in ns.
    pub times_ns: [f64; 2],
    /// Time after the step over the time before.
    pub ratio: f64,
    /// Copy bandwidth before the step over that after it, by medians: how much the machine itself became
    /// slower. `None` if unknown.
    pub copy_ratio: Option<f64>,
    /// Commits of the last run before and of the first one after, if known.
    pub commits: [Option<String>; 2],
    /// One minus the probability of such a step without a cause.
    pub confidence: f64,
    /// Slower or faster; unclear if the copy bandwidth changed by as much.
    pub verdict: Verdict,
}

impl HistorySeries {
    /// Returns the name, with the point of a bench.
    pub fn label(&self) -> String {
        format!("{} {}", self.name, self.point).trim_end().to_owned()
    }

    /// Returns the last step if the series is slower since: a regression.
    pub fn regression(&self) -> Option<&HistoryStep> {
        self.steps.last().filter(|step| self.is_current && step.verdict == Verdict::Slower)
    }

    /// Returns the runs between steps, as ranges of indices.
    pub(super) fn segments(&self) -> Vec<std::ops::Range<usize>> {
        let starts = std::iter::once(0).chain(self.steps.iter().map(|step| step.at));
        let ends = self.steps.iter().map(|step| step.at).chain([self.runs.len()]);
        starts.zip(ends).map(|(start, end)| start..end).collect()
    }

    /// Returns the median time of runs in ns.
    pub(super) fn level_ns(&self, runs: std::ops::Range<usize>) -> f64 {
        median(&mut self.runs[runs].iter().map(|run| run.entry.time_ns).collect::<Vec<_>>())
    }

    fn find_steps(&mut self, detection: &Detection) {
        let times: Vec<f64> = self.runs.iter().map(|run| run.entry.time_ns).collect();
        let found = detection.change_points(&times);
        let ends: Vec<usize> = found.iter().map(|step| step.at).chain([times.len()]).collect();
        let mut start = 0;
        self.can_find = detection.can_find(times.len());
        for (i, step) in found.iter().enumerate() {
            let copy = |runs: &[HistoryRun]| {
                median(&mut runs.iter().filter_map(|run| run.copy_gb_per_s).collect::<Vec<_>>())
            };
            let (before, after) = (&self.runs[start..step.at], &self.runs[step.at..ends[i + 1]]);
            let ratio = step.after / step.before;
            let copy_ratio =
                Some(copy(before) / copy(after)).filter(|ratio| ratio.is_finite() && *ratio > 0.0);
            let beyond = ratio.ln().abs() > copy_ratio.map_or(0.0, |ratio| ratio.ln().abs());
            let commit = |run: Option<&HistoryRun>| run.and_then(|run| run.commit.clone());
            let step = HistoryStep {
                at: step.at,
                runs: [before.len(), after.len()],
                times_ns: [step.before, step.after],
                ratio,
                copy_ratio,
                commits: [commit(before.last()), commit(after.first())],
                confidence: 1.0 - step.p,
                verdict: match (beyond, ratio > 1.0) {
                    (false, _) => Verdict::Unclear,
                    (true, true) => Verdict::Slower,
                    (true, false) => Verdict::Faster,
                },
            };
            start = step.at;
            self.steps.push(step);
        }
    }
}

impl History {
    /// Returns the newest `last` runs of each series that `is_selected` accepts, with their steps; series of
    /// one environment are together. The significance of `detection` is that of all series together
    /// (Bonferroni). `host` is this machine.
    pub fn series(
        &self,
        host: &HistoryHost,
        order: Order,
        last: usize,
        detection: &Detection,
        is_selected: impl Fn(&HistoryRecord, &HistoryEntry) -> bool,
    ) -> Vec<HistorySeries> {
        let mut records: Vec<&HistoryRecord> = self.records.iter().collect();
        records.sort_by_key(|record| record.unix_time_s);
        let newest = records.iter().rfind(|record| record.host == *host).or(records.last()).copied();
        if order == Order::Commit {
            records.sort_by_key(|record| record.commit_unix_time_s.unwrap_or(record.unix_time_s));
        }
        let mut all: BTreeMap<(HistoryEnvironment, &str, &str), Vec<HistoryRun>> = BTreeMap::new();
        for record in records {
            let environment = HistoryEnvironment::of(record);
            for entry in record.entries.iter().filter(|entry| is_selected(record, entry)) {
                let runs = all.entry((environment.clone(), &entry.name, &entry.point)).or_default();
                runs.push(HistoryRun {
                    unix_time_s: record.unix_time_s,
                    commit: record.commit.clone(),
                    copy_gb_per_s: record.copy_gb_per_s,
                    entry: entry.clone(),
                });
            }
        }
        let n_series = all.len().max(1) as f64;
        let each = Detection { significance: detection.significance / n_series, ..*detection };
        let series =
            |((environment, name, point), mut runs): ((HistoryEnvironment, &str, &str), Vec<HistoryRun>)| {
                runs.drain(..runs.len().saturating_sub(last.max(1)));
                let is_current = newest.is_some_and(|newest| {
                    (&newest.host, &newest.device, &newest.driver)
                        == (&environment.host, &environment.device, &environment.driver)
                });
                let (name, point) = (name.to_owned(), point.to_owned());
                let mut series = HistorySeries {
                    environment,
                    name,
                    point,
                    runs,
                    steps: Vec::new(),
                    can_find: false,
                    is_current,
                };
                series.find_steps(&each);
                series
            };
        let mut series: Vec<HistorySeries> = all.into_iter().map(series).collect();
        // The longest time first, as in a profile; environments stay together.
        let last_ns = |series: &HistorySeries| series.runs.last().map_or(0.0, |run| run.entry.time_ns);
        series.sort_by(|a, b| {
            a.environment.cmp(&b.environment).then_with(|| last_ns(b).total_cmp(&last_ns(a)))
        });
        series
    }

    /// Returns the names of all kernels or benches, for an error message.
    pub fn names(&self) -> BTreeSet<&str> {
        self.records.iter().flat_map(|record| &record.entries).map(|entry| entry.name.as_str()).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::record::tests::record;
    use super::*;

    pub const DETECTION: Detection = Detection { significance: 0.05, min_runs: 3, tolerance: 0.05 };

    /// Makes a history of 12 runs at a time of 100 ns and 10 at 150 ns of the next commit.
    pub fn history() -> History {
        let run = |i: u64| match i {
            0..12 => record(1000 + i, 'a', 100.0 + (i % 3) as f64),
            _ => record(2000 + i, 'b', 150.0 + (i % 3) as f64),
        };
        History { records: (0..22).map(run).collect(), ..History::default() }
    }

    pub fn all(history: &History) -> Vec<HistorySeries> {
        history.series(&record(0, 'a', 1.0).host, Order::Commit, 200, &DETECTION, |_, _| true)
    }

    #[test]
    fn a_step_names_its_commits_and_a_slow_down_is_a_regression() {
        let series = all(&history());
        let names: Vec<_> = series.iter().map(HistorySeries::label).collect();
        assert_eq!(names, ["step", "pbd.lambda"], "the longest first");
        let [step] = &series[1].steps[..] else { panic!("{:?}", series[1].steps) };
        assert_eq!(
            (step.at, step.runs, step.times_ns, step.copy_ratio),
            (12, [12, 10], [101.0, 151.0], Some(1.0))
        );
        assert_eq!(step.commits, ["a", "b"].map(|c| Some(c.repeat(40))));
        assert!(step.verdict == Verdict::Slower && step.confidence > 0.99);
        assert_eq!((series[0].regression(), series[1].regression()), (None, Some(step)));
        assert!(series[0].steps.is_empty() && series[0].can_find);
    }

    #[test]
    fn a_slow_down_that_ended_or_of_another_driver_is_no_regression() {
        let mut ended = history();
        ended.records.extend((0..10).map(|i| record(3000 + i, 'c', 101.0 + (i % 3) as f64)));
        let series = all(&ended);
        assert_eq!((series[1].steps.len(), series[1].regression()), (2, None));
        let mut updated = history();
        updated.records.push(HistoryRecord { driver: "newer".to_owned(), ..record(4000, 'd', 100.0) });
        let series = all(&updated);
        assert_eq!(series.len(), 4, "drivers are not mixed");
        assert!(series.iter().all(|series| series.regression().is_none()));
        assert_eq!(series.iter().filter(|series| series.is_current).count(), 2);
    }

    #[test]
    fn nothing_of_another_environment_is_in_a_series() {
        let mut mixed = history();
        let base = record(5000, 'e', 100.0);
        let other = |i: usize| {
            let mut other = base.clone();
            match i {
                0 => other.host.name = "other".to_owned(),
                1 => other.host.cpu = "other".to_owned(),
                2 => other.device = "other".to_owned(),
                3 => other.driver = "other".to_owned(),
                _ => drop(other.settings.insert("steps".to_owned(), "7".to_owned())),
            }
            other
        };
        mixed.records.extend((0..5).map(other));
        let runs: Vec<usize> = all(&mixed).iter().map(|series| series.runs.len()).collect();
        assert_eq!((runs.len(), runs.iter().sum::<usize>()), (12, 2 * 27), "{runs:?}");
    }

    #[test]
    fn a_change_of_the_machine_itself_is_unclear() {
        let mut slowed = history();
        slowed.records[12..].iter_mut().for_each(|record| record.copy_gb_per_s = Some(12.0));
        let series = all(&slowed);
        assert_eq!(series[1].steps[0].verdict, Verdict::Unclear);
        assert!(series[1].regression().is_none());
        slowed.records.iter_mut().for_each(|record| record.copy_gb_per_s = None);
        assert_eq!(all(&slowed)[1].steps[0].copy_ratio, None);
        assert!(all(&slowed)[1].regression().is_some());
    }

    #[test]
    fn runs_are_in_the_order_of_their_commits_or_of_their_times() {
        // A build of an old commit, measured last.
        let mut history = history();
        let late = HistoryRecord { commit_unix_time_s: Some(900), ..record(9000, 'z', 99.0) };
        history.records.push(late.clone());
        let at = |order| {
            let series = history.series(&late.host, order, 200, &DETECTION, |_, entry| entry.name == "step");
            series[0].runs.iter().position(|run| run.commit == late.commit).unwrap()
        };
        assert_eq!((at(Order::Commit), at(Order::Time)), (0, 22));
        let last = history.series(&late.host, Order::Time, 4, &DETECTION, |_, _| true);
        assert!(last.iter().all(|series| series.runs.len() == 4 && !series.can_find));
    }
}
