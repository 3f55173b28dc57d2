//! Position-based solvers as [`Solver`]s: water, and snow and water in scenes with a `[snow]` section.

use super::Fluid;
use super::neighbour_rows::NEIGHBOUR_SLOTS;
use super::shown::set_infos;
use super::snow::{Snow, SnowMetrics};
use crate::{
    CurveSpec, Measurement, PanelSpec, PlotSpec, Solver, SolverError, SolverFactory, SolverStart, Tunable,
    Tuning, WORKGROUP_SIZE,
};
use frazil_particles::SetInfo;
use frazil_scene::Scene;
use frazil_vk::Device;

/// Factory of [`Fluid`] and [`Snow`].
#[derive(Debug)]
pub struct Factory;

impl SolverFactory for Factory {
    fn kind(&self) -> &'static str {
        "pbd"
    }

    fn create(
        &self,
        device: &Device,
        scene: &Scene,
        start: SolverStart<'_>,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        Ok(match (start, scene.snow().is_some()) {
            (SolverStart::Sampled(sampled), true) => {
                Box::new(Snow::with_tuning(device, scene, sampled, tuning)?)
            }
            (SolverStart::Sampled(sampled), false) => {
                Box::new(Fluid::with_tuning(device, scene, sampled, tuning)?)
            }
            (SolverStart::Saved { columns, step }, true) => {
                Box::new(Snow::restore(device, scene, columns, step, tuning)?)
            }
            (SolverStart::Saved { columns, step }, false) => {
                Box::new(Fluid::restore(device, scene, columns, step, tuning)?)
            }
        })
    }

    fn set_infos(&self, scene: &Scene, n_particles: usize) -> Vec<SetInfo> {
        set_infos(scene, n_particles)
    }

    fn tunables(&self) -> Vec<&'static Tunable> {
        vec![&WORKGROUP_SIZE, &NEIGHBOUR_SLOTS]
    }

    fn plots(&self) -> Vec<PlotSpec> {
        vec![particle_counts(), temperatures()]
    }
}

/// Plots the numbers of solid and fluid particles, as in Chen2021 figs 8.7, 8.11 and 8.15, and below them the
/// numbers that have melted and frozen so far.
fn particle_counts() -> PlotSpec {
    let panel = |y_label, curves| PanelSpec { x: "step", y_label, curves, since_start: false };
    PlotSpec {
        file: "particle_counts.png",
        title: "Particles of each phase",
        panels: vec![
            panel(
                "particles [1]",
                vec![CurveSpec::new("solid (snow)", "n_solid"), CurveSpec::new("fluid (water)", "n_fluid")],
            ),
            panel(
                "changes of phase [1]",
                vec![
                    CurveSpec::new("melted so far", "n_melted"),
                    CurveSpec::new("frozen so far", "n_frozen"),
                ],
            ),
        ],
    }
}

/// Plots the mean and extreme temperatures of the phases, and their heat.
fn temperatures() -> PlotSpec {
    // A phase without particles has no mean.
    let mean = |label, metric, n_particles| CurveSpec {
        only_where: Some(n_particles),
        ..CurveSpec::new(label, metric)
    };
    PlotSpec {
        file: "temperature.png",
        title: "Temperatures and heat",
        panels: vec![
            PanelSpec {
                x: "time",
                y_label: "temperature [°C]",
                curves: vec![
                    mean("snow, mean", "solid_temperature", "n_solid"),
                    mean("water, mean", "fluid_temperature", "n_fluid"),
                    CurveSpec::new("coldest", "coldest"),
                    CurveSpec::new("warmest", "warmest"),
                ],
                since_start: false,
            },
            // Relative to the start, because the heat of a phase change is small compared to the total.
            PanelSpec {
                x: "time",
                y_label: "heat since the start [J]",
                curves: vec![
                    CurveSpec::new("Σ m c T", "sensible_heat"),
                    CurveSpec {
                        minus: Some("heat_jump"),
                        unless_zero: Some("heat_jump"),
                        is_dashed: true,
                        ..CurveSpec::new("Σ m c T without the jumps by changes of phase", "sensible_heat")
                    },
                    // Enthalpy is measured with true latent heat only; then it is the conserved quantity.
                    CurveSpec { unless_zero: Some("enthalpy"), ..CurveSpec::new("Σ m H", "enthalpy") },
                ],
                since_start: true,
            },
        ],
    }
}

impl From<SnowMetrics> for Measurement {
    fn from(metrics: SnowMetrics) -> Self {
        let mut summary = metrics.all.summary();
        summary.sets = vec![("snow", metrics.n_solid), ("water", metrics.n_fluid)];
        Self { summary, values: metrics.values() }
    }
}
