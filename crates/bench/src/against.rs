//! Comparison of a measurement with an earlier one, or with that of another build.

use crate::axis::Point;
use crate::error::{Error, Result};
use crate::plan::Planned;
use crate::row::{Row, read_rows};
use frazil_report::{Comparison, Round, Verdict, compare_rounds, compare_runs, median};
use frazil_vk::Device;
use std::collections::BTreeMap;
use std::path::Path;

/// A point that both measurements contain.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The bench.
    pub bench: String,
    /// The point.
    pub point: Point,
    /// Times of the baseline and of the current build in ns: medians of the processes' figures.
    pub times_ns: [f64; 2],
    /// Number of processes of the baseline and of the current build.
    pub processes: [usize; 2],
    /// Result of the comparison.
    pub comparison: Comparison,
    /// Interval of the A/A check; `None` where builds did not take turns.
    pub same_build: Option<[f64; 2]>,
    /// Of an unclear comparison of builds that took turns, about how many rounds would decide it: see
    /// [`frazil_report::RoundsComparison::needed`].
    pub rounds_needed: Option<usize>,
}

/// All points of two measurements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdicts {
    /// Points in both measurements.
    pub compared: Vec<Compared>,
    /// Points in the current measurement only.
    pub only_current: Vec<(String, Point)>,
    /// Points in the baseline only.
    pub only_baseline: Vec<(String, Point)>,
}

/// Rows of the four processes of a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowRound {
    /// Rows of the baseline's first and second process.
    pub baseline: [Vec<Row>; 2],
    /// Rows of the current build's first and second process.
    pub current: [Vec<Row>; 2],
}

impl Verdicts {
    /// Returns the points with this verdict.
    pub fn of(&self, verdict: Verdict) -> impl Iterator<Item = &Compared> {
        self.compared.iter().filter(move |compared| compared.comparison.verdict == verdict)
    }
}

/// Reads the rows to compare with: those of the last session of each point for this device at its present
/// subgroup size.
///
/// # Errors
/// The file cannot be read or has an invalid line; [`Error::OtherDevice`] if no row is from this device;
/// [`Error::NothingToCompare`] if none is among `planned`.
pub fn baseline(path: &Path, device: &Device, planned: &[Planned<'_>]) -> Result<Vec<Row>> {
    let identity = |device: &str, subgroup_size: u32| format!("{device}, subgroups of {subgroup_size}");
    let here = identity(&device.info().name, device.capabilities().subgroup_size);
    let rows = read_rows(path)?;
    let (own, others): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|row| identity(&row.device, row.subgroup_size) == here);
    if own.is_empty() && !others.is_empty() {
        let mut found: Vec<_> = others.iter().map(|row| identity(&row.device, row.subgroup_size)).collect();
        found.sort_unstable();
        found.dedup();
        return Err(Error::OtherDevice { path: path.to_owned(), expected: here, found: found.join("; ") });
    }
    let is_planned = |row: &Row| planned.iter().any(|p| p.bench.id() == row.bench && p.point == row.point);
    if !own.iter().any(is_planned) {
        return Err(Error::NothingToCompare { path: path.to_owned(), rows: own.len() });
    }
    Ok(by_point(&own).into_values().flatten().cloned().collect())
}

/// Returns the rows of the last session of each point. A row without a session is one by itself.
fn by_point(rows: &[Row]) -> BTreeMap<(String, Point), Vec<&Row>> {
    let mut points: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let of_point = points.entry((row.bench.clone(), row.point.clone())).or_default();
        if row.session.is_none() || of_point.last().is_some_and(|last| last.session != row.session) {
            of_point.clear();
        }
        of_point.push(row);
    }
    points
}

/// Compares the processes of each point of `current` with those of `baseline` by
/// [`frazil_report::compare_runs`], with the copy bandwidth as the reference of both sessions.
pub fn compare_rows(baseline: &[Row], current: &[Row], tolerance: f64) -> Verdicts {
    let (mut baseline, current) = (by_point(baseline), by_point(current));
    let mut verdicts = Verdicts::default();
    let n_comparisons = current.len();
    for ((bench, point), rows) in current {
        let Some(earlier) = baseline.remove(&(bench.clone(), point.clone())) else {
            verdicts.only_current.push((bench, point));
            continue;
        };
        let of =
            |rows: &[&Row], value: fn(&Row) -> f64| rows.iter().map(|row| value(row)).collect::<Vec<_>>();
        let [then, now] = [&earlier, &rows].map(|rows| of(rows, Row::figure_ns));
        let [copy_then, copy_now] = [&earlier, &rows].map(|rows| of(rows, |row| row.copy_gb_per_s));
        let comparison = compare_runs(&then, &now, tolerance, &copy_then, &copy_now, n_comparisons);
        let processes = [then.len(), now.len()];
        let times_ns = [then, now].map(|mut figures| median(&mut figures));
        let (same_build, rounds_needed) = (None, None);
        let compared = Compared { bench, point, times_ns, processes, comparison, same_build, rounds_needed };
        verdicts.compared.push(compared);
    }
    verdicts.only_baseline = baseline.into_keys().collect();
    verdicts
}

/// Compares two builds that took turns, at each point that all of their processes measured, by
/// [`frazil_report::compare_rounds`], in one of `n_looks` at the same rounds and earlier ones.
///
/// # Errors
/// [`Error::OtherDevice`] if the builds measured different devices; `path` is the baseline, for this error.
pub fn compare_row_rounds(
    rounds: &[RowRound],
    tolerance: f64,
    n_looks: usize,
    path: &Path,
) -> Result<Verdicts> {
    let identity = |row: &Row| format!("{}, subgroups of {}", row.device, row.subgroup_size);
    let mut points: BTreeMap<(String, Point), [usize; 2]> = BTreeMap::new();
    let mut device: Option<String> = None;
    for (side, row) in rounds.iter().flat_map(|round| {
        let of = |side: usize, rows: &'_ [Vec<Row>; 2]| {
            rows.iter().flatten().map(move |row| (side, row.clone())).collect::<Vec<_>>()
        };
        of(1, &round.current).into_iter().chain(of(0, &round.baseline))
    }) {
        let expected = device.get_or_insert_with(|| identity(&row));
        if *expected != identity(&row) {
            let (expected, found) = (expected.clone(), identity(&row));
            return Err(Error::OtherDevice { path: path.to_owned(), expected, found });
        }
        points.entry((row.bench, row.point)).or_default()[side] += 1;
    }
    let mut verdicts = Verdicts::default();
    let n_comparisons = n_looks * points.len();
    for ((bench, point), processes) in points {
        match processes {
            [0, _] => verdicts.only_current.push((bench, point)),
            [_, 0] => verdicts.only_baseline.push((bench, point)),
            _ => {
                let figure = |rows: &Vec<Row>| {
                    let row = rows.iter().find(|row| row.bench == bench && row.point == point);
                    row.map_or(f64::NAN, Row::figure_ns)
                };
                let pairs: Vec<Round> = rounds
                    .iter()
                    .map(|round| Round {
                        baseline: round.baseline.each_ref().map(figure),
                        current: round.current.each_ref().map(figure),
                    })
                    .collect();
                let of = |side: fn(&Round) -> [f64; 2]| {
                    median(&mut pairs.iter().flat_map(side).filter(|ns| ns.is_finite()).collect::<Vec<_>>())
                };
                let found = compare_rounds(&pairs, tolerance, n_comparisons);
                verdicts.compared.push(Compared {
                    bench,
                    point,
                    times_ns: [of(|round| round.baseline), of(|round| round.current)],
                    processes,
                    comparison: found.comparison,
                    same_build: Some(found.same_build),
                    rounds_needed: found.needed,
                });
            }
        }
    }
    Ok(verdicts)
}
