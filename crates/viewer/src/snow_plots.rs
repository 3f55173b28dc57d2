//! Plots that runs with snow get from their metrics.

use crate::failure::Failure;
use crate::run::Folder;
use frazil_io::{Mark, MetricsTable, Panel, Series, plot_panels};

/// Plots particle counts and heat, of metrics with at least one row.
pub fn write(table: &MetricsTable, folder: &Folder) -> Result<(), Failure> {
    plot_counts(table, folder)?;
    plot_temperatures(table, folder)
}

/// How many particles are solid and fluid, as 000 figs 8.7, 8.11 and 8.15; below it how many have gone either way so far.
fn plot_counts(table: &MetricsTable, folder: &Folder) -> Result<(), Failure> {
    let curve = |label: &str, name: &str| curve(table, "step", label, name);
    let counts = [curve("solid (snow)", "n_solid")?, curve("fluid (water)", "n_fluid")?];
    let changes = [curve("melted so far", "n_melted")?, curve("frozen so far", "n_frozen")?];
    let x_label = "step [1]";
    let panels = [
        Panel { x_label, y_label: "particles [1]", series: &counts },
        Panel { x_label, y_label: "changes of phase [1]", series: &changes },
    ];
    plot_panels("Particles of each phase", &panels, &folder.particle_counts_plot()).map_err(Failure::other)
}

/// Temperatures of the phases and their extremes, and the heat that they amount to.
fn plot_temperatures(table: &MetricsTable, folder: &Folder) -> Result<(), Failure> {
    let curve = |label: &str, name: &str| curve(table, "time", label, name);
    // A phase without particles has no mean.
    let mean = |label: &str, name: &str, n_particles: &str| {
        let mut series = curve(label, name)?;
        let counts = table.column(n_particles).map_err(Failure::other)?;
        for (point, n) in series.points.iter_mut().zip(counts) {
            if *n == 0.0 {
                point.1 = f64::NAN;
            }
        }
        Ok::<_, Failure>(series)
    };
    let temperatures = [
        mean("snow, mean", "solid_temperature", "n_solid")?,
        mean("water, mean", "fluid_temperature", "n_fluid")?,
        curve("coldest", "coldest")?,
        curve("warmest", "warmest")?,
    ];
    let mut heats = vec![curve("Σ m c T", "sensible_heat")?];
    let jumps = curve("jumps by changes of phase", "heat_jump")?;
    if jumps.points.iter().any(|point| point.1 != 0.0) {
        let without = heats[0].points.iter().zip(&jumps.points).map(|(heat, jump)| (heat.0, heat.1 - jump.1));
        heats.push(Series::new(
            "Σ m c T without the jumps by changes of phase",
            Mark::Dashes,
            without.collect(),
        ));
    }
    let enthalpy = curve("Σ m H", "enthalpy")?;
    // It is measured with true latent heat only, and then it is what is kept.
    if enthalpy.points.iter().any(|point| point.1 != 0.0) {
        heats.push(enthalpy);
    }
    let x_label = "time [s]";
    let panels = [
        Panel { x_label, y_label: "temperature [°C]", series: &temperatures },
        Panel { x_label, y_label: "heat [J]", series: &heats },
    ];
    plot_panels("Temperatures and heat", &panels, &folder.temperature_plot()).map_err(Failure::other)
}

/// A metric over the step or the time.
fn curve(table: &MetricsTable, x: &str, label: &str, name: &str) -> Result<Series, Failure> {
    let [x, y] = [table.column(x).map_err(Failure::other)?, table.column(name).map_err(Failure::other)?];
    Ok(Series::new(label, Mark::Line, x.iter().copied().zip(y.iter().copied()).collect()))
}
