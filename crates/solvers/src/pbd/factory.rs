//! Position-based solvers as [`Solver`]s: water, and snow and water in scenes with a `[snow]` section.

use super::neighbour_rows::NEIGHBOUR_SLOTS;
use super::shown::set_infos;
use super::snow::{self, LinkCheck, PendingSnowMetrics, Snow, SnowMetrics};
use super::{DensityStatus, Fluid, PendingMetrics};
use crate::bodies::{with_load_metrics, with_load_values};
use crate::pair::bonds_of;
use crate::solver::{forward_to_own, forwarded, motion_highlights, rows, stage_named};
use crate::{
    CurveSpec, InvariantFault, Measurement, MetricInfo, MotionMetrics, Pair, PanelSpec, PendingFault,
    PendingInvariants, PendingMeasurement, PlotSpec, Solver, SolverError, SolverFactory, StateColumn,
    Tunable, Tuning, WORKGROUP_SIZE, WorkCounter,
};
use frazil_particles::SetInfo;
use frazil_scene::{Sampled, Scene};
use frazil_vk::{Device, Recorder};

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
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        Ok(match scene.snow() {
            Some(_) => Box::new(Snow::with_tuning(device, scene, sampled, tuning)?),
            None => Box::new(Fluid::with_tuning(device, scene, sampled, tuning)?),
        })
    }

    fn restore(
        &self,
        device: &Device,
        scene: &Scene,
        state: &[StateColumn],
        step: u64,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        Ok(match scene.snow() {
            Some(_) => Box::new(Snow::restore(device, scene, state, step, tuning)?),
            None => Box::new(Fluid::restore(device, scene, state, step, tuning)?),
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

impl Solver for Fluid {
    fn stages(&self) -> Vec<String> {
        self.stages().map(|stage| stage.to_string()).collect()
    }

    fn record_stage(&mut self, recorder: &mut Recorder, stage: &str) -> Result<(), SolverError> {
        let stage = stage_named(self.stages(), stage)?;
        self.record_stage(recorder, stage);
        Ok(())
    }

    forward_to_own!(record_step, set_scene, record_grab, particle_sets, columns, state_columns);

    fn metrics(&self) -> Vec<MetricInfo> {
        let of_solve = if self.density_solve().is_adaptive() { &SOLVE_METRICS[..] } else { &[] };
        let names = MotionMetrics::NAMES.iter().chain(of_solve).copied();
        with_load_metrics(MetricInfo::list(names), self.body_loads())
    }

    fn record_metrics(&self, recorder: &mut Recorder) -> Result<PendingMeasurement, SolverError> {
        let own = self.record_metrics(recorder)?;
        let own = if self.density_solve().is_adaptive() {
            let status = self.density_solve().record_status(recorder)?;
            forwarded(
                (own, status),
                |(own, status)| Ok(own.is_ready()? && status.is_ready()?),
                |(own, status)| {
                    let mut measured = Measurement::from(own.wait()?);
                    let status = status.wait()?;
                    measured.values.extend(status.first().map_or([f64::NAN; 5], solve_values));
                    Ok(measured)
                },
            )
        } else {
            forwarded(own, PendingMetrics::is_ready, |own| Ok(own.wait()?.into()))
        };
        Ok(with_load_values(own, self.body_loads(), recorder)?)
    }

    fn final_warnings(&self, device: &Device) -> Result<Vec<String>, SolverError> {
        if !self.density_solve().is_adaptive() {
            return Ok(Vec::new());
        }
        let status = device.download(self.density_solve().status(), 1)?;
        Ok(status.iter().filter_map(|status| self.density_solve().warning(status)).collect())
    }

    fn work_counters(&self, device: &Device) -> Result<Vec<WorkCounter>, SolverError> {
        Ok(self.work_counters(device)?)
    }

    fn record_fault_check(&self, recorder: &mut Recorder) -> Result<Option<PendingFault>, SolverError> {
        Ok(Some(self.record_fault_check(recorder)?))
    }
}

/// Names and units of [`solve_values`].
const SOLVE_METRICS: [(&str, &str); 5] = [
    ("density_error", "1"),
    ("iterations", "1"),
    ("density_error_worst", "1"),
    ("density_error_worst_step", "1"),
    ("n_steps_unmet", "1"),
];

fn solve_values(status: &DensityStatus) -> [f64; 5] {
    [
        status.error.into(),
        status.iterations.into(),
        status.worst_error.into(),
        status.worst_step.into(),
        status.n_unmet.into(),
    ]
}

impl Solver for Snow {
    fn stages(&self) -> Vec<String> {
        self.stages().map(|stage| stage.to_string()).collect()
    }

    fn record_stage(&mut self, recorder: &mut Recorder, stage: &str) -> Result<(), SolverError> {
        let stage: snow::Stage = stage_named(self.stages(), stage)?;
        self.record_stage(recorder, stage);
        Ok(())
    }

    fn pairs_of(&self, device: &Device, id: u32) -> Result<Vec<Pair>, SolverError> {
        let sets = self.particle_sets();
        let Some(snow) = sets.iter().find(|set| set.name == "snow") else { return Ok(Vec::new()) };
        bonds_of(device, "link", snow, self.links(), id)
    }

    fn final_warnings(&self, device: &Device) -> Result<Vec<String>, SolverError> {
        Ok(self.rows().warning(device).into_iter().collect())
    }

    forward_to_own!(
        record_step,
        set_scene,
        record_grab,
        record_output,
        particle_sets,
        columns,
        state_columns
    );

    fn work_counters(&self, device: &Device) -> Result<Vec<WorkCounter>, SolverError> {
        Ok(self.work_counters(device)?)
    }

    fn metrics(&self) -> Vec<MetricInfo> {
        with_load_metrics(MetricInfo::list(SnowMetrics::names()), self.body_loads())
    }

    fn record_metrics(&self, recorder: &mut Recorder) -> Result<PendingMeasurement, SolverError> {
        let own = self.record_metrics(recorder)?;
        let own = forwarded(own, PendingSnowMetrics::is_ready, |own| Ok(own.wait()?.into()));
        Ok(with_load_values(own, self.body_loads(), recorder)?)
    }

    fn highlights(&self, measured: &Measurement) -> Vec<(String, String)> {
        let value = |name: &str| {
            let place = SnowMetrics::names().iter().position(|(own, _)| *own == name);
            place.and_then(|place| measured.values.get(place)).copied().unwrap_or(f64::NAN)
        };
        let pair = |first: &str, second: &str| format!("{}, {}", value(first), value(second));
        let mut lines = motion_highlights(&Solver::metrics(self), measured);
        lines.extend(rows([
            ("snow, water", pair("n_solid", "n_fluid")),
            ("melted, frozen", pair("n_melted", "n_frozen")),
            ("links", value("n_links").to_string()),
            ("temperature", format!("{:.1} to {:.1} °C", value("coldest"), value("warmest"))),
        ]));
        lines
    }

    fn record_fault_check(&self, recorder: &mut Recorder) -> Result<Option<PendingFault>, SolverError> {
        Ok(Some(self.record_fault_check(recorder)?))
    }

    fn record_invariant_check(
        &self,
        recorder: &mut Recorder,
    ) -> Result<Option<PendingInvariants>, SolverError> {
        let faults = |check: LinkCheck| {
            let counts = check.wait()?.into_iter().filter(|(_, count)| *count > 0);
            Ok(counts.map(|(what, count)| InvariantFault { what, count }).collect())
        };
        Ok(self.record_link_check(recorder)?.map(|own| forwarded(own, LinkCheck::is_ready, faults)))
    }
}

impl From<SnowMetrics> for Measurement {
    fn from(metrics: SnowMetrics) -> Self {
        let mut summary = metrics.all.summary();
        summary.sets = vec![("snow", metrics.n_solid), ("water", metrics.n_fluid)];
        Self { summary, values: metrics.values() }
    }
}
