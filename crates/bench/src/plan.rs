//! Selection of the points and benches to measure.

use crate::axis::{AxisOverride, Point, Value};
use crate::bench::Bench;
use crate::error::{Error, Result, hint};
use crate::stopping::Profile;

/// A point of a bench.
pub struct Planned<'a> {
    /// The bench.
    pub bench: &'a dyn Bench,
    /// The point.
    pub point: Point,
}

/// Returns the benches whose id contains one of `filters`; all of them for none.
///
/// # Errors
/// [`Error::NoSuchBench`] for a filter that no id contains.
pub fn select<'a>(benches: &[&'a dyn Bench], filters: &[String]) -> Result<Vec<&'a dyn Bench>> {
    for filter in filters {
        if !benches.iter().any(|bench| bench.id().contains(filter.as_str())) {
            let ids: Vec<_> = benches.iter().map(|bench| bench.id()).collect();
            return Err(Error::NoSuchBench { filter: filter.clone(), hint: hint(filter, &ids) });
        }
    }
    let is_selected = |bench: &&&dyn Bench| {
        filters.is_empty() || filters.iter().any(|filter| bench.id().contains(filter.as_str()))
    };
    Ok(benches.iter().filter(is_selected).copied().collect())
}

/// Returns all points of `benches`, each once: the product of the profile's values, or of those in
/// `overrides`, on each axis.
///
/// An override applies to the benches that have its axis. A bench measures those of its values that it
/// allows, and is left out where it allows none: a variant's name alone selects the benches that have it.
///
/// # Errors
/// [`Error::NoSuchAxis`], [`Error::AxisValue`] where no bench has the axis or allows the value;
/// [`Error::NoPoints`].
pub fn plan<'a>(
    benches: &[&'a dyn Bench],
    overrides: &[AxisOverride],
    profile: Profile,
) -> Result<Vec<Planned<'a>>> {
    check(benches, overrides)?;
    let mut planned = Vec::new();
    for bench in benches {
        let mut points = vec![Point::default()];
        for axis in bench.axes() {
            let chosen: Vec<_> = overrides.iter().filter(|chosen| chosen.axis == axis.name).collect();
            let values: Vec<Value> = match profile {
                _ if !chosen.is_empty() => {
                    chosen.iter().flat_map(|a| &a.values).filter_map(|text| axis.domain.parse(text)).collect()
                }
                Profile::Full => axis.full,
                Profile::Smoke => axis.smoke,
            };
            let extend = |point: &Point| -> Vec<Point> {
                values.iter().map(|value| point.clone().with(axis.name, value.clone())).collect()
            };
            points = points.iter().flat_map(extend).collect();
        }
        let mut kept: Vec<Point> = Vec::new();
        for point in points {
            let meaningless = bench.meaningless_axes(&point);
            let point = meaningless.iter().fold(point, |point, axis| point.without(axis));
            if !kept.contains(&point) {
                kept.push(point);
            }
        }
        planned.extend(kept.into_iter().map(|point| Planned { bench: *bench, point }));
    }
    if planned.is_empty() {
        let chosen: Vec<_> = overrides.iter().map(|a| format!("{}={}", a.axis, a.values.join(","))).collect();
        let problem = format!("none of the chosen benches takes a value of each of {}", chosen.join(" and "));
        return Err(Error::NoPoints { problem });
    }
    Ok(planned)
}

/// Checks that every axis belongs to some bench, and that some bench allows every value.
fn check(benches: &[&dyn Bench], overrides: &[AxisOverride]) -> Result<()> {
    let axes: Vec<_> = benches.iter().flat_map(|bench| bench.axes()).collect();
    for chosen in overrides {
        let domains: Vec<_> =
            axes.iter().filter(|axis| axis.name == chosen.axis).map(|axis| axis.domain).collect();
        if domains.is_empty() {
            let mut names: Vec<_> = axes.iter().map(|axis| axis.name).collect();
            names.sort_unstable();
            names.dedup();
            return Err(Error::NoSuchAxis { axis: chosen.axis.clone(), hint: hint(&chosen.axis, &names) });
        }
        let is_valid = |text: &String| domains.iter().any(|domain| domain.parse(text).is_some());
        if let Some(found) = chosen.values.iter().find(|text| !is_valid(text)) {
            let mut expected: Vec<_> = domains.iter().map(ToString::to_string).collect();
            expected.sort_unstable();
            expected.dedup();
            let (axis, found) = (chosen.axis.clone(), found.clone());
            return Err(Error::AxisValue { axis, found, expected: expected.join("; or ") });
        }
    }
    Ok(())
}
