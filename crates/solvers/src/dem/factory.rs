//! Discrete element method as a [`Solver`].

use super::fault::DemFaultCheck;
use super::metrics::{DemMetrics, PendingDemMetrics};
use super::shown::set_infos;
use super::solver::Dem;
use crate::solver::stage_named;
use crate::{
    FlowMaterial, Measurement, MetricInfo, PendingFault, PendingMeasurement, PendingResult, RigidBodies,
    Solver, SolverError, SolverFactory, SolverFault, StateColumn, Tuning,
};
use frazil_particles::{ColumnView, ParticleSet, SetInfo};
use frazil_scene::{Sampled, Scene};
use frazil_vk::{Device, Recorder};

/// Volume fraction of grains in a deposit, unless a release sets its bulk density.
const PACKING_FRACTION: f64 = 0.55;

/// Factory of [`Dem`].
#[derive(Debug)]
pub struct Factory;

impl SolverFactory for Factory {
    fn kind(&self) -> &'static str {
        "dem"
    }

    fn create(
        &self,
        device: &Device,
        scene: &Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        Ok(Box::new(Dem::of_scene(device, scene, sampled, tuning)?))
    }

    fn restore(
        &self,
        device: &Device,
        scene: &Scene,
        state: &[StateColumn],
        step: u64,
    ) -> Result<Box<dyn Solver>, SolverError> {
        Ok(Box::new(Dem::restore_scene(device, scene, state, step)?))
    }

    fn set_infos(&self, scene: &Scene, n_particles: usize) -> Vec<SetInfo> {
        set_infos(scene, n_particles)
    }

    fn flow_material(&self, scene: &Scene) -> Option<FlowMaterial> {
        let dem = scene.dem()?;
        let packed_kg_m3 = PACKING_FRACTION * dem.density_kg_m3;
        let release = scene.releases.first();
        Some(FlowMaterial {
            particle_density_kg_m3: dem.density_kg_m3,
            bulk_density_kg_m3: release.map_or(packed_kg_m3, |release| release.bulk_density_kg_m3(dem)),
        })
    }
}

impl Solver for Dem {
    fn stages(&self) -> Vec<String> {
        Self::STAGES.iter().map(ToString::to_string).collect()
    }

    fn record_stage(&mut self, recorder: &mut Recorder, stage: &str) -> Result<(), SolverError> {
        let stage = stage_named(Self::STAGES, stage)?;
        self.record_stage(recorder, stage)
    }

    fn record_step(&mut self, recorder: &mut Recorder) {
        self.record_step(recorder);
    }

    fn particle_sets(&self) -> Vec<ParticleSet<'_>> {
        self.particle_sets()
    }

    fn columns(&self) -> Vec<ColumnView> {
        self.columns()
    }

    fn state_columns(&self) -> Vec<ColumnView> {
        self.state_columns()
    }

    fn record_output(&self, recorder: &mut Recorder) {
        self.record_output(recorder);
    }

    fn rigid_bodies(&self) -> Option<RigidBodies> {
        let pieces = self.pieces()?;
        Some(RigidBodies { centre_m: pieces.centre_m.clone(), rotation: pieces.rotation.clone() })
    }

    fn record_bodies(&self, recorder: &mut Recorder) {
        self.record_pieces(recorder);
    }

    fn body_columns(&self) -> Vec<ColumnView> {
        self.body_columns()
    }

    fn metrics(&self) -> Vec<MetricInfo> {
        MetricInfo::list(DemMetrics::names(self.parameters()))
    }

    fn record_metrics(&self, recorder: &mut Recorder) -> Result<PendingMeasurement, SolverError> {
        Ok(Box::new(self.record_metrics(recorder)?))
    }

    fn record_fault_check(&self, recorder: &mut Recorder) -> Result<Option<PendingFault>, SolverError> {
        Ok(Some(Box::new(self.record_fault_check(recorder)?)))
    }
}

impl From<DemMetrics> for Measurement {
    fn from(metrics: DemMetrics) -> Self {
        Self { summary: metrics.all.summary(), values: metrics.values() }
    }
}

impl PendingResult<Measurement> for PendingDemMetrics {
    fn is_ready(&self) -> frazil_vk::Result<bool> {
        self.is_ready()
    }

    fn wait(self: Box<Self>) -> frazil_vk::Result<Measurement> {
        (*self).wait().map(Into::into)
    }
}

impl PendingResult<Option<SolverFault>> for DemFaultCheck {
    fn is_ready(&self) -> frazil_vk::Result<bool> {
        self.is_ready()
    }

    fn wait(self: Box<Self>) -> frazil_vk::Result<Option<SolverFault>> {
        Ok((*self).wait()?.map(Into::into))
    }
}
