//! Comparison of a measurement with an earlier one.

use crate::axis::Point;
use crate::error::{Error, Result};
use crate::plan::Planned;
use crate::row::{Row, read_rows};
use frazil_report::{Comparison, Verdict, compare};
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
    /// Result of the comparison.
    pub comparison: Comparison,
}

/// All points of two measurements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdicts {
    /// Points in both measurements.
    pub compared: Vec<Compared>,
    /// Points in the current measurement only.
    pub only_now: Vec<(String, Point)>,
    /// Points in the earlier measurement only.
    pub only_then: Vec<(String, Point)>,
}

impl Verdicts {
    /// Returns the points with this verdict.
    pub fn of(&self, verdict: Verdict) -> impl Iterator<Item = &Compared> {
        self.compared.iter().filter(move |compared| compared.comparison.verdict == verdict)
    }
}

/// Reads the rows to compare with: the last one of each point for this device at its present subgroup size.
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
    Ok(by_point(own).into_values().collect())
}

/// Returns the last row of each point.
fn by_point(rows: Vec<Row>) -> BTreeMap<(String, Point), Row> {
    rows.into_iter().map(|row| ((row.bench.clone(), row.point.clone()), row)).collect()
}

/// Compares the samples of each point of `now` with those of `then`; see [`frazil_report::compare`] for the
/// verdicts.
pub fn compare_rows(then: &[Row], now: &[Row], tolerance: f64) -> Verdicts {
    let (mut then, now) = (by_point(then.to_vec()), by_point(now.to_vec()));
    let mut verdicts = Verdicts::default();
    for ((bench, point), row) in now {
        match then.remove(&(bench.clone(), point.clone())) {
            Some(earlier) => {
                let comparison = compare(&earlier.samples_ns, &row.samples_ns, tolerance);
                verdicts.compared.push(Compared { bench, point, comparison });
            }
            None => verdicts.only_now.push((bench, point)),
        }
    }
    verdicts.only_then = then.into_keys().collect();
    verdicts
}
