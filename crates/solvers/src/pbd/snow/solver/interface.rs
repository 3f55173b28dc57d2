//! [`Snow`] as a [`Solver`].

use super::{Snow, Stage};
use crate::bodies::{with_load_metrics, with_load_values};
use crate::pair::bonds_of;
use crate::pbd::bodies::Bodies;
use crate::pbd::motion::Motion;
use crate::pbd::snow::links::LinkCheck;
use crate::pbd::snow::metrics::{PendingSnowMetrics, SnowMetrics};
use crate::pbd::snow::terms::SnowParameters;
use crate::pending::forwarded;
use crate::solver::{motion_highlights, rows, stage_named};
use crate::{
    BodyLoads, DynamicBodies, Grab, InvariantFault, Measurement, MetricInfo, Pair, PairInspection,
    PendingFault, PendingInvariants, PendingMeasurement, Solver, SolverError, WorkCounter,
};
use frazil_particles::{Material, ParticleSet, ParticleTable};
use frazil_scene::Scene;
use frazil_vk::{Device, Recorder};

impl Solver for Snow {
    fn stages(&self) -> Vec<String> {
        self.stages().map(|stage| stage.to_string()).collect()
    }

    fn record_stage(&mut self, recorder: &mut Recorder, stage: &str) -> Result<(), SolverError> {
        let stage: Stage = stage_named(self.stages(), stage)?;
        self.record_stage(recorder, stage);
        Ok(())
    }

    fn pair_inspection(&self) -> Option<&dyn PairInspection> {
        Some(self)
    }

    fn final_warnings(&self, _device: &Device) -> Result<Vec<String>, SolverError> {
        Ok(self.rows().warning().map(str::to_owned).into_iter().collect())
    }

    fn record_step(&mut self, recorder: &mut Recorder) {
        for stage in self.stages() {
            self.record_stage(recorder, stage);
        }
    }

    fn set_scene(&mut self, device: &Device, scene: &Scene) -> Result<(), SolverError> {
        let parameters = SnowParameters::of(scene)?;
        let terms = parameters.terms(self.solid.grid.grid(), self.capacity);
        let of_snow = parameters.at_bodies();
        let workgroup_size = self.tuning.workgroup_size();
        // All that can fail comes before all that changes.
        let motion = Motion::new(device, workgroup_size, &parameters.fluid, self.rows.words())?;
        let constraints = self.constraints.prepare(device, workgroup_size, &terms, &self.rows)?;
        let bodies = Bodies::new(device, workgroup_size, &parameters.fluid, &self.clock, of_snow)?;
        if let (Some(old), Some(new)) = (&mut self.bodies, bodies) {
            old.adopt(new, &parameters.fluid.surroundings);
        }
        self.clock.divide(parameters.fluid.division);
        self.constraints.adopt(constraints);
        self.rows.set_parameters(&parameters.fluid);
        (self.motion, self.parameters) = (motion, parameters);
        Ok(())
    }

    fn record_grab(&mut self, recorder: &mut Recorder, grab: &Grab) -> bool {
        for phase_particles in [&self.solid, &self.fluid] {
            self.grab.record(recorder, &phase_particles.phase, grab, self.parameters.fluid.dt_s);
        }
        true
    }

    fn record_output(&self, recorder: &mut Recorder) {
        self.output.record(recorder, &self.solid, &self.fluid);
        self.record_places(recorder, false);
    }

    fn dynamic_bodies(&self) -> Option<&DynamicBodies> {
        self.body_loads().and_then(BodyLoads::dynamic)
    }

    fn particle_sets(&self) -> Vec<ParticleSet<'_>> {
        vec![
            self.solid.particle_set("snow", Material::Snow),
            self.fluid.particle_set("water", Material::Water),
        ]
    }

    fn table(&self) -> &ParticleTable {
        self.output.table()
    }

    fn work_counters(&self, device: &Device) -> Result<Vec<WorkCounter>, SolverError> {
        self.work_counters(device)
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

impl PairInspection for Snow {
    fn pairs_of(&self, device: &Device, id: u32) -> Result<Vec<Pair>, SolverError> {
        let sets = self.particle_sets();
        let Some(snow) = sets.iter().find(|set| set.name == "snow") else { return Ok(Vec::new()) };
        bonds_of(device, "link", snow, self.links(), id)
    }
}
