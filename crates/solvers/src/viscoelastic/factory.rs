//! Viscoelastic fluid as a [`Solver`].

use super::metrics::{PendingViscoelasticMetrics, ViscoelasticMetrics};
use super::shown::set_infos;
use super::solver::Viscoelastic;
use super::springs::SpringCheck;
use super::viscosity::ViscositySolve;
use crate::bodies::{with_load_metrics, with_load_values};
use crate::pair::bonds_of;
use crate::pbd::NEIGHBOUR_SLOTS;
use crate::solver::{forward_to_own, forwarded, stage_named};
use crate::{
    CurveSpec, InvariantFault, Measurement, MetricInfo, Pair, PanelSpec, PendingFault, PendingInvariants,
    PendingMeasurement, PlotSpec, Solver, SolverError, SolverFactory, StateColumn, Tunable, Tuning,
    WORKGROUP_SIZE, WorkCounter,
};
use frazil_particles::SetInfo;
use frazil_scene::{Sampled, Scene};
use frazil_vk::{Device, Recorder};

/// Factory of [`Viscoelastic`].
#[derive(Debug)]
pub struct Factory;

impl SolverFactory for Factory {
    fn kind(&self) -> &'static str {
        "viscoelastic"
    }

    fn create(
        &self,
        device: &Device,
        scene: &Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        Ok(Box::new(Viscoelastic::with_tuning(device, scene, sampled, tuning)?))
    }

    fn restore(
        &self,
        device: &Device,
        scene: &Scene,
        state: &[StateColumn],
        step: u64,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        Ok(Box::new(Viscoelastic::restore(device, scene, state, step, tuning)?))
    }

    fn set_infos(&self, scene: &Scene, n_particles: usize) -> Vec<SetInfo> {
        set_infos(scene, n_particles)
    }

    fn tunables(&self) -> Vec<&'static Tunable> {
        vec![&WORKGROUP_SIZE, &NEIGHBOUR_SLOTS]
    }

    fn plots(&self) -> Vec<PlotSpec> {
        let panel = |y_label, curves| PanelSpec { x: "time", y_label, curves, since_start: false };
        vec![PlotSpec {
            file: "stress.png",
            title: "Mean stress and energy",
            panels: vec![
                panel(
                    "stress [Pa]",
                    vec![CurveSpec::new("σ_xy", "stress_xy"), CurveSpec::new("σ_xx", "stress_xx")],
                ),
                panel(
                    "energy [J]",
                    vec![
                        CurveSpec::new("kinetic", "kinetic_energy"),
                        CurveSpec::new("elastic", "elastic_energy"),
                    ],
                ),
            ],
        }]
    }
}

/// Names and units of [`solve_values`].
const SOLVE_METRICS: [(&str, &str); 2] = [("viscosity_iterations", "1"), ("n_steps_viscosity_unmet", "1")];

/// Name and unit of the number of springs.
const SPRING_METRICS: [(&str, &str); 1] = [("n_springs", "1")];

/// Names and units of temperatures.
const HEAT_METRICS: [(&str, &str); 3] = [("mean_temperature", "°C"), ("coldest", "°C"), ("warmest", "°C")];

fn solve_values(status: &ViscositySolve) -> [f64; 2] {
    [status.iterations.into(), status.n_unmet.into()]
}

impl Solver for Viscoelastic {
    fn stages(&self) -> Vec<String> {
        self.stages().map(|stage| stage.to_string()).collect()
    }

    fn record_stage(&mut self, recorder: &mut Recorder, stage: &str) -> Result<(), SolverError> {
        let stage = stage_named(self.stages(), stage)?;
        self.record_stage(recorder, stage);
        Ok(())
    }

    forward_to_own!(record_step, set_scene, record_grab, particle_sets, columns, state_columns);

    fn pairs_of(&self, device: &Device, id: u32) -> Result<Vec<Pair>, SolverError> {
        let sets = self.particle_sets();
        match (self.springs(), sets.first()) {
            (Some(springs), Some(fluid)) => bonds_of(device, "spring", fluid, springs.bonds(), id),
            _ => Ok(Vec::new()),
        }
    }

    fn metrics(&self) -> Vec<MetricInfo> {
        let of_springs = if self.springs().is_some() { &SPRING_METRICS[..] } else { &[] };
        let of_solve = if self.viscosity().is_some() { &SOLVE_METRICS[..] } else { &[] };
        let of_heat = if self.heat().is_some() { &HEAT_METRICS[..] } else { &[] };
        let optional = of_springs.iter().chain(of_solve).chain(of_heat).copied();
        let names = ViscoelasticMetrics::names().into_iter().chain(optional);
        with_load_metrics(MetricInfo::list(names), self.body_loads())
    }

    fn record_metrics(&self, recorder: &mut Recorder) -> Result<PendingMeasurement, SolverError> {
        let own = self.record_metrics(recorder)?;
        let has_springs = self.springs().is_some();
        let measured = move |own: ViscoelasticMetrics| {
            let n_springs = f64::from(own.n_springs);
            let mut measured = Measurement::from(own);
            measured.values.extend(has_springs.then_some(n_springs));
            measured
        };
        let own = match self.viscosity() {
            Some(viscosity) => forwarded(
                (own, viscosity.record_status(recorder)?),
                |(own, status)| Ok(own.is_ready()? && status.is_ready()?),
                move |(own, status)| {
                    let mut measured = measured(own.wait()?);
                    measured.values.extend(status.wait()?.first().map_or([f64::NAN; 2], solve_values));
                    Ok(measured)
                },
            ),
            None => {
                forwarded(own, PendingViscoelasticMetrics::is_ready, move |own| Ok(measured(own.wait()?)))
            }
        };
        let own = match self.heat() {
            Some(heat) => forwarded(
                (own, heat.record_metrics(recorder, self.fluid())?),
                |(own, temperatures)| Ok(own.is_ready()? && temperatures.is_ready()?),
                |(own, temperatures)| {
                    let mut measured = own.wait()?;
                    measured.values.extend(temperatures.wait()?);
                    Ok(measured)
                },
            ),
            None => own,
        };
        Ok(with_load_values(own, self.body_loads(), recorder)?)
    }

    fn final_warnings(&self, device: &Device) -> Result<Vec<String>, SolverError> {
        let mut warnings = self.fluid().final_warnings(device)?;
        if let Some(viscosity) = self.viscosity() {
            let status = device.download(viscosity.status(), 1)?;
            warnings.extend(status.iter().filter_map(|status| viscosity.warning(status)));
        }
        Ok(warnings)
    }

    fn work_counters(&self, device: &Device) -> Result<Vec<WorkCounter>, SolverError> {
        Ok(self.fluid().work_counters(device)?)
    }

    fn record_fault_check(&self, recorder: &mut Recorder) -> Result<Option<PendingFault>, SolverError> {
        Ok(Some(self.fluid().record_fault_check(recorder)?))
    }

    fn record_invariant_check(
        &self,
        recorder: &mut Recorder,
    ) -> Result<Option<PendingInvariants>, SolverError> {
        let faults = |check: SpringCheck| {
            let counts = check.wait()?.into_iter().filter(|(_, count)| *count > 0);
            Ok(counts.map(|(what, count)| InvariantFault { what, count }).collect())
        };
        Ok(self.record_spring_check(recorder)?.map(|own| forwarded(own, SpringCheck::is_ready, faults)))
    }
}

impl From<ViscoelasticMetrics> for Measurement {
    fn from(metrics: ViscoelasticMetrics) -> Self {
        Self { summary: metrics.all.summary(), values: metrics.values() }
    }
}
