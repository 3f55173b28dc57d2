//! [`Viscoelastic`] as a [`Solver`].

use super::Viscoelastic;
use crate::bodies::{with_load_metrics, with_load_values};
use crate::pair::bonds_of;
use crate::pending::forwarded;
use crate::solver::stage_named;
use crate::viscoelastic::metrics::{PendingViscoelasticMetrics, ViscoelasticMetrics};
use crate::viscoelastic::parameters::Parameters;
use crate::viscoelastic::springs::SpringCheck;
use crate::viscoelastic::viscosity::ViscositySolve;
use crate::{
    BodyLoads, DynamicBodies, Grab, InvariantFault, Measurement, MetricInfo, Pair, PairInspection,
    PendingFault, PendingInvariants, PendingMeasurement, Solver, SolverError, WorkCounter,
};
use frazil_particles::{Material, ParticleSet, ParticleTable};
use frazil_scene::Scene;
use frazil_vk::{Device, Recorder};

impl Solver for Viscoelastic {
    fn stages(&self) -> Vec<String> {
        self.stages().map(|stage| stage.to_string()).collect()
    }

    fn record_stage(&mut self, recorder: &mut Recorder, stage: &str) -> Result<(), SolverError> {
        let stage = stage_named(self.stages(), stage)?;
        self.record_stage(recorder, stage);
        Ok(())
    }

    fn record_step(&mut self, recorder: &mut Recorder) {
        for stage in self.stages() {
            self.record_stage(recorder, stage);
        }
    }

    fn set_scene(&mut self, device: &Device, scene: &Scene) -> Result<(), SolverError> {
        let parameters = Parameters::from_scene(scene);
        if parameters.is_implicit != self.parameters.is_implicit {
            let (now, then) = match self.parameters.is_implicit {
                true => ("implicitly", "a larger"),
                false => ("explicitly", "a smaller"),
            };
            return Err(SolverError::Fixed {
                key: "fluid.dynamic_viscosity_pa_s".to_owned(),
                problem: format!("this run solves viscosity {now}, expected {then} one"),
            });
        }
        if parameters.feed.is_some() != self.parameters.feed.is_some() {
            return Err(SolverError::Fixed {
                key: "viscoelastic.feed".to_owned(),
                problem: "a run cannot gain or lose its nozzle".to_owned(),
            });
        }
        let shifts = |p: &Parameters| p.heat.map(|heat| (heat.fixed_faces, heat.shifts_relaxation));
        if shifts(&parameters) != shifts(&self.parameters) {
            return Err(SolverError::Fixed {
                key: "viscoelastic.heat".to_owned(),
                problem:
                    "a run cannot gain or lose heat, faces with a temperature, or the shift of relaxation"
                        .to_owned(),
            });
        }
        // All that can fail comes before all that changes.
        let fluid = self.fluid.prepare_scene(device, scene)?;
        let terms = self.stress.prepare_terms(device, &parameters, &self.fluid)?;
        let body_walls = self.stress.body_walls.with_motions(device, fluid.surroundings())?;
        self.fluid.adopt(fluid);
        self.stress.terms = terms;
        self.stress.body_walls = body_walls;
        if let Some(viscosity) = &mut self.viscosity {
            viscosity.set_parameters(&parameters);
        }
        if let (Some(springs), Some(own)) = (&mut self.springs, parameters.springs) {
            springs.set_parameters(own);
        }
        if let Some(heat) = &mut self.heat {
            heat.set_parameters(&parameters);
        }
        self.parameters = parameters;
        Ok(())
    }

    fn record_grab(&mut self, recorder: &mut Recorder, grab: &Grab) -> bool {
        self.fluid.record_grab(recorder, grab);
        true
    }

    fn record_output(&self, recorder: &mut Recorder) {
        self.fluid.record_places(recorder, false);
    }

    fn dynamic_bodies(&self) -> Option<&DynamicBodies> {
        self.body_loads().and_then(BodyLoads::dynamic)
    }

    fn particle_sets(&self) -> Vec<ParticleSet<'_>> {
        let columns = self.table().shown_columns();
        vec![ParticleSet { name: "fluid", material: Material::Water, count: self.fluid.count(), columns }]
    }

    fn table(&self) -> &ParticleTable {
        self.fluid.table()
    }

    fn pair_inspection(&self) -> Option<&dyn PairInspection> {
        self.springs().map(|_| self as &dyn PairInspection)
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

impl PairInspection for Viscoelastic {
    fn pairs_of(&self, device: &Device, id: u32) -> Result<Vec<Pair>, SolverError> {
        let sets = self.particle_sets();
        match (self.springs(), sets.first()) {
            (Some(springs), Some(fluid)) => bonds_of(device, "spring", fluid, springs.bonds(), id),
            _ => Ok(Vec::new()),
        }
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
