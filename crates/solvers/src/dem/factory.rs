//! Discrete element method as a [`Solver`].

use super::lists::LIST_SKIN;
use super::metrics::DemMetrics;
use super::shown::set_infos;
use super::solver::Dem;
use crate::{
    FlowMaterial, Measurement, Solver, SolverError, SolverFactory, SolverStart, Tunable, Tuning,
    WORKGROUP_SIZE,
};
use frazil_particles::SetInfo;
use frazil_scene::Scene;
use frazil_vk::Device;

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
        start: SolverStart<'_>,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        Ok(match start {
            SolverStart::Sampled(sampled) => Box::new(Dem::of_scene(device, scene, sampled, tuning)?),
            SolverStart::Saved { columns, step } => {
                Box::new(Dem::restore_scene(device, scene, columns, step, tuning)?)
            }
        })
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
        let release = scene.releases().first();
        Some(FlowMaterial {
            particle_density_kg_m3: dem.density_kg_m3,
            bulk_density_kg_m3: release.map_or(packed_kg_m3, |release| release.bulk_density_kg_m3(dem)),
        })
    }
}

impl From<DemMetrics> for Measurement {
    fn from(metrics: DemMetrics) -> Self {
        Self { summary: metrics.all.summary(), values: metrics.values() }
    }
}
