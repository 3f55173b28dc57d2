//! Force on each named body over time, as means between rows of the metrics, which include every
//! impact. It is computed from the metrics, so that that of a resumed run covers the whole run.

use frazil_engine::Failure;
use frazil_engine::outputs::Folder;
use frazil_io::{Metric, MetricsTable, MetricsWriter};
use frazil_report::{Mark, Series, plot_series};
use frazil_scene::Scene;

/// Writes `impacts.csv` and its plot `impacts.png`: at each row of `metrics.csv` but the first, the mean
/// force on each named body since the previous row, by axis and by magnitude. It writes nothing for a
/// scene without them, for a solver that does not measure loads on bodies, or for fewer than two rows.
pub fn write(folder: &Folder, scene: &Scene) -> Result<(), Failure> {
    if scene.bodies.is_empty() {
        return Ok(());
    }
    let table = MetricsTable::read(&folder.metrics()).map_err(Failure::other)?;
    let times_s = table.column("time").map_err(Failure::other)?;
    let steps = table.column("step").map_err(Failure::other)?;
    let is_measured = |name: &String| {
        let impulse = format!("impulse_on_{name}_x");
        table.metrics().iter().any(|metric| metric.name == impulse)
    };
    let names = scene.bodies.iter().filter_map(|body| body.name.as_ref());
    let names: Vec<&String> = names.filter(|name| is_measured(name)).collect();
    if names.is_empty() {
        return Ok(());
    }
    let mut metrics = vec![Metric::new("step", ""), Metric::new("time", "s")];
    let mut impulses_n_s = Vec::new();
    for name in &names {
        for axis in ["x", "y", "z"] {
            metrics.push(Metric::new(format!("mean_force_on_{name}_{axis}"), "N"));
            let impulse_n_s = table.column(&format!("impulse_on_{name}_{axis}")).map_err(Failure::other)?;
            impulses_n_s.push(impulse_n_s);
        }
        metrics.push(Metric::new(format!("mean_force_on_{name}"), "N"));
    }
    let mut curves = vec![Vec::new(); names.len()];
    let mut out = MetricsWriter::create(&folder.impacts(), &metrics).map_err(Failure::other)?;
    for row in 1..times_s.len() {
        let duration_s = times_s[row] - times_s[row - 1];
        if duration_s <= 0.0 {
            continue;
        }
        let mut values = vec![steps[row], times_s[row]];
        for (axes, curve) in impulses_n_s.chunks_exact(3).zip(&mut curves) {
            let force_n: [f64; 3] =
                std::array::from_fn(|axis| (axes[axis][row] - axes[axis][row - 1]) / duration_s);
            values.extend(force_n);
            let size_n = force_n.iter().map(|f| f * f).sum::<f64>().sqrt();
            values.push(size_n);
            curve.push((times_s[row], size_n));
        }
        out.row(&values).map_err(Failure::other)?;
    }
    if curves.iter().all(Vec::is_empty) {
        return Ok(());
    }
    let named = names.into_iter().zip(curves);
    let series: Vec<Series> =
        named.map(|(name, points)| Series::new(name.clone(), Mark::Line, points)).collect();
    plot_series("Force on bodies", "time [s]", "mean force [N]", &series, &folder.impacts_plot())
        .map_err(Failure::other)
}
