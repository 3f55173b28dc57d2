//! Plots of a run's metrics that its solver requests.

use frazil_engine::Failure;
use frazil_io::MetricsTable;
use frazil_report::{Mark, Panel, Series, plot_panels};
use frazil_solvers::{CurveSpec, PanelSpec, PlotSpec};
use std::path::Path;

/// Draws a plot of metrics with at least one row, without panels that have nothing finite, as the temperature
/// of no snow; nothing if a required metric is missing.
pub fn write(plot: &PlotSpec, table: &MetricsTable, path: &Path) -> Result<(), Failure> {
    let mut needed = plot.panels.iter().flat_map(|panel| panel.curves.iter().flat_map(CurveSpec::metrics));
    if needed.any(|name| table.column(name).is_err()) {
        return Ok(());
    }
    let curves = |panel: &PanelSpec| -> Result<Vec<Series>, Failure> {
        panel.curves.iter().filter_map(|spec| curve(panel, spec, table).transpose()).collect()
    };
    let series: Vec<Vec<Series>> = plot.panels.iter().map(curves).collect::<Result<_, _>>()?;
    let panels: Vec<Panel<'_>> = plot
        .panels
        .iter()
        .zip(&series)
        .filter(has_points)
        .map(|(panel, series)| drawn(panel, series))
        .collect();
    if panels.is_empty() {
        return Ok(());
    }
    plot_panels(plot.title, &panels, path).map_err(Failure::other)
}

fn has_points((_, series): &(&PanelSpec, &Vec<Series>)) -> bool {
    series.iter().flat_map(|series| &series.points).any(|(x, y)| x.is_finite() && y.is_finite())
}

fn drawn<'a>(panel: &PanelSpec, series: &'a [Series]) -> Panel<'a> {
    let x_label = if panel.x == "step" { "step [1]" } else { "time [s]" };
    Panel { x_label, y_label: panel.y_label, series }
}

/// Returns a curve, unless it is empty.
fn curve(panel: &PanelSpec, spec: &CurveSpec, table: &MetricsTable) -> Result<Option<Series>, Failure> {
    let column = |name: &str| table.column(name).map_err(Failure::other);
    if let Some(name) = spec.unless_zero
        && column(name)?.iter().all(|value| *value == 0.0)
    {
        return Ok(None);
    }
    let mut values = column(spec.metric)?.to_vec();
    if let Some(name) = spec.minus {
        values.iter_mut().zip(column(name)?).for_each(|(value, minus)| *value -= minus);
    }
    if let Some(name) = spec.only_where {
        let none = column(name)?.iter().map(|n| *n == 0.0);
        values.iter_mut().zip(none).filter(|(_, none)| *none).for_each(|(value, _)| *value = f64::NAN);
    }
    if panel.since_start {
        let first = values.first().copied().unwrap_or(0.0);
        values.iter_mut().for_each(|value| *value -= first);
    }
    let mark = if spec.is_dashed { Mark::Dashes } else { Mark::Line };
    let points = column(panel.x)?.iter().copied().zip(values).collect();
    Ok(Some(Series::new(spec.label, mark, points)))
}
