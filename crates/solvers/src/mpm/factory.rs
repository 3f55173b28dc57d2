//! Material point method as a [`Solver`].

use super::metrics::MpmMetrics;
use super::nodes::ROWS_PER_THREAD;
use super::shown::set_infos;
use super::solver::Mpm;
use crate::{Measurement, Solver, SolverError, SolverFactory, SolverStart, Tunable, Tuning, WORKGROUP_SIZE};
use frazil_particles::SetInfo;
use frazil_scene::Scene;
use frazil_vk::Device;

/// Factory of [`Mpm`].
#[derive(Debug)]
pub struct Factory;

impl SolverFactory for Factory {
    fn kind(&self) -> &'static str {
        "mpm"
    }

    fn create(
        &self,
        device: &Device,
        scene: &Scene,
        start: SolverStart<'_>,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        Ok(match start {
            SolverStart::Sampled(sampled) => Box::new(Mpm::of_scene(device, scene, sampled, tuning)?),
            SolverStart::Saved { columns, step } => {
                Box::new(Mpm::restore_scene(device, scene, columns, step, tuning)?)
            }
        })
    }

    fn tunables(&self) -> Vec<&'static Tunable> {
        vec![&WORKGROUP_SIZE, &ROWS_PER_THREAD]
    }

    fn set_infos(&self, scene: &Scene, n_particles: usize) -> Vec<SetInfo> {
        set_infos(scene, n_particles)
    }

    /// Returns 1.5 mean distances of particles, as for other solvers. Cracks narrower than a cell separate
    /// pieces although nodes still connect them.
    fn linking_length_m(&self, scene: &Scene) -> f64 {
        let volume: f64 = scene.particles.iter().map(|block| block.shape.volume_m3()).sum();
        let n_axes = scene.mpm().map_or(f64::NAN, |mpm| f64::from(mpm.dimensions));
        1.5 * (volume / scene.particle_count_estimate() as f64).powf(1.0 / n_axes)
    }
}

impl From<MpmMetrics> for Measurement {
    fn from(metrics: MpmMetrics) -> Self {
        Self { summary: metrics.all.summary(), values: metrics.values() }
    }
}
