//! [`Fluid`] as a [`Solver`].

use super::Fluid;
use crate::bodies::{with_load_metrics, with_load_values};
use crate::fault::Regrown;
use crate::pbd::metrics::PendingMetrics;
use crate::pending::forwarded;
use crate::solver::stage_named;
use crate::sources::{EMISSION_METRICS, with_emission_values};
use crate::{
    BodyLoads, DynamicBodies, Grab, Measurement, MetricInfo, MotionMetrics, PendingFault, PendingMeasurement,
    Solver, SolverError, WorkCounter,
};
use frazil_particles::{Material, ParticleSet, ParticleTable};
use frazil_scene::Scene;
use frazil_shaders::types::DensityStatus;
use frazil_vk::{Device, DeviceCount, Recorder};

impl Solver for Fluid {
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
        let prepared = self.prepare_scene(device, scene)?;
        self.adopt(prepared);
        Ok(())
    }

    fn record_grab(&mut self, recorder: &mut Recorder, grab: &Grab) -> bool {
        self.grab.record(recorder, &self.phase, grab, self.parameters.dt_s);
        true
    }

    fn record_output(&self, recorder: &mut Recorder) {
        self.record_places(recorder, false);
        // A projection computes densities before particles move.
        if self.parameters.is_projection {
            self.record_density(recorder);
        }
    }

    fn dynamic_bodies(&self) -> Option<&DynamicBodies> {
        self.body_loads().and_then(BodyLoads::dynamic)
    }

    fn particle_sets(&self) -> Vec<ParticleSet<'_>> {
        let columns = self.table.shown_columns();
        vec![ParticleSet { name: "water", material: Material::Water, count: self.count(), columns }]
    }

    fn table(&self) -> &ParticleTable {
        &self.table
    }

    fn varying_count(&self) -> Option<&DeviceCount> {
        self.sources().map(|_| self.count())
    }

    fn metrics(&self) -> Vec<MetricInfo> {
        let of_solve = if self.density_solve().is_adaptive() { &SOLVE_METRICS[..] } else { &[] };
        let of_sources = if self.sources().is_some() { &EMISSION_METRICS[..] } else { &[] };
        let names = MotionMetrics::NAMES.iter().chain(of_solve).chain(of_sources).copied();
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
        let own = with_emission_values(own, self.sources(), recorder)?;
        Ok(with_load_values(own, self.body_loads(), recorder)?)
    }

    fn final_warnings(&self, device: &Device) -> Result<Vec<String>, SolverError> {
        let mut warnings: Vec<String> = self.rows().warning().map(str::to_owned).into_iter().collect();
        if self.density_solve().is_adaptive() {
            let status = device.download(self.density_solve().status(), 1)?;
            warnings.extend(status.iter().filter_map(|status| self.density_solve().warning(status)));
        }
        Ok(warnings)
    }

    fn work_counters(&self, device: &Device) -> Result<Vec<WorkCounter>, SolverError> {
        Ok(self.work_counters(device)?)
    }

    fn regrow(&mut self, device: &Device) -> Result<Option<Regrown>, SolverError> {
        self.regrow(device)
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
