//! Discrete element method as a [`Solver`].

use super::fault::DemFaultCheck;
use super::flow_map::PendingFlowCells;
use super::lists::LIST_SKIN;
use super::metrics::{DemMetrics, PendingDemMetrics};
use super::shown::set_infos;
use super::solver::Dem;
use crate::solver::{forward_to_own, forwarded, stage_named};
use crate::{
    FlowMaterial, Measurement, MetricInfo, Pair, PendingFault, PendingFlow, PendingMeasurement, RigidBodies,
    Solver, SolverError, SolverFactory, StateColumn, Tunable, Tuning, WORKGROUP_SIZE, WorkCounter,
};
use frazil_particles::SetInfo;
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
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        Ok(Box::new(Dem::restore_scene(device, scene, state, step, tuning)?))
    }

    fn tunables(&self) -> Vec<&'static Tunable> {
        vec![&WORKGROUP_SIZE, &LIST_SKIN]
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

    forward_to_own!(
        record_step,
        set_scene,
        regrow,
        record_grab,
        record_output,
        particle_sets,
        columns,
        state_columns,
        body_columns
    );

    fn rigid_bodies(&self) -> Option<RigidBodies> {
        let pieces = self.pieces()?;
        Some(RigidBodies { centre_m: pieces.centre_m.clone(), rotation: pieces.rotation.clone() })
    }

    fn record_bodies(&self, recorder: &mut Recorder) {
        self.record_pieces(recorder);
    }

    fn metrics(&self) -> Vec<MetricInfo> {
        MetricInfo::list(DemMetrics::names(self.parameters()))
    }

    fn record_metrics(&self, recorder: &mut Recorder) -> Result<PendingMeasurement, SolverError> {
        let own = self.record_metrics(recorder)?;
        Ok(forwarded(own, PendingDemMetrics::is_ready, |own| Ok(own.wait()?.into())))
    }

    fn record_flow(&self, recorder: &mut Recorder) -> Result<Option<PendingFlow>, SolverError> {
        let own = self.record_flow_cells(recorder)?;
        Ok(own.map(|own| forwarded(own, PendingFlowCells::is_ready, PendingFlowCells::wait)))
    }

    fn final_warnings(&self, _device: &Device) -> Result<Vec<String>, SolverError> {
        let warning = "the terrain has too many cells for a map of the flow on this device: there are no rasters \
                       of thickness, speed, pressure and arrival";
        Ok(self.lacks_map().then(|| warning.to_owned()).into_iter().collect())
    }

    fn pairs_of(&self, device: &Device, id: u32) -> Result<Vec<Pair>, SolverError> {
        Self::pairs_of(self, device, id)
    }

    fn work_counters(&self, device: &Device) -> Result<Vec<WorkCounter>, SolverError> {
        let count = self.n_contact_rows(device)?;
        Ok(vec![WorkCounter { item: "contact_row", kernels: &["dem.collide"], count }])
    }

    fn record_fault_check(&self, recorder: &mut Recorder) -> Result<Option<PendingFault>, SolverError> {
        let own = self.record_fault_check(recorder)?;
        Ok(Some(forwarded(own, DemFaultCheck::is_ready, |own| Ok(own.wait()?.map(Into::into)))))
    }
}

impl From<DemMetrics> for Measurement {
    fn from(metrics: DemMetrics) -> Self {
        Self { summary: metrics.all.summary(), values: metrics.values() }
    }
}
