//! Material point method as a [`Solver`].

use super::fault::FaultCheck;
use super::metrics::{MpmMetrics, PendingMpmMetrics};
use super::nodes::ROWS_PER_THREAD;
use super::shown::set_infos;
use super::solver::Mpm;
use crate::bodies::{with_load_metrics, with_load_values};
use crate::solver::{forward_to_own, forwarded, stage_named};
use crate::{
    ActiveBlocks, Measurement, MetricInfo, PendingFault, PendingMeasurement, Solver, SolverError,
    SolverFactory, StateColumn, Tunable, Tuning, WORKGROUP_SIZE, WorkCounter,
};
use frazil_kernels::BLOCK_SIDE;
use frazil_particles::SetInfo;
use frazil_scene::{Sampled, Scene};
use frazil_vk::{Device, Recorder};

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
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        Ok(Box::new(Mpm::of_scene(device, scene, sampled, tuning)?))
    }

    fn restore(
        &self,
        device: &Device,
        scene: &Scene,
        state: &[StateColumn],
        step: u64,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        Ok(Box::new(Mpm::restore_scene(device, scene, state, step, tuning)?))
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

impl Solver for Mpm {
    fn stages(&self) -> Vec<String> {
        self.stages().map(|stage| stage.to_string()).collect()
    }

    fn record_stage(&mut self, recorder: &mut Recorder, stage: &str) -> Result<(), SolverError> {
        let stage = stage_named(self.stages(), stage)?;
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
        state_columns
    );

    fn active_blocks(&self) -> Option<ActiveBlocks> {
        let (blocks, layout) = (self.blocks(), self.blocks().layout());
        let lattice = layout.lattice();
        let block_m = BLOCK_SIDE as f32 / lattice.cells_per_m;
        let has_nodes = |axis: usize| axis < layout.dimensions() as usize;
        Some(ActiveBlocks {
            count: blocks.active_count().count.clone(),
            numbers: blocks.active().clone(),
            lattice_blocks: lattice.blocks,
            origin_m: lattice.origin_m,
            block_m: std::array::from_fn(|axis| if has_nodes(axis) { block_m } else { 0.0 }),
        })
    }

    fn metrics(&self) -> Vec<MetricInfo> {
        with_load_metrics(MetricInfo::list(MpmMetrics::names()), self.body_loads())
    }

    fn record_metrics(&self, recorder: &mut Recorder) -> Result<PendingMeasurement, SolverError> {
        let own = self.record_metrics(recorder)?;
        let own = forwarded(own, PendingMpmMetrics::is_ready, |own| Ok(own.wait()?.into()));
        Ok(with_load_values(own, self.body_loads(), recorder)?)
    }

    fn work_counters(&self, device: &Device) -> Result<Vec<WorkCounter>, SolverError> {
        // Each particle exchanges with all nodes in reach of its spline, none of which is left out.
        let n = u64::from(device.download(&self.count().count, 1)?[0]);
        let of_particle = u64::from(self.parameters().stencil).pow(self.parameters().dimensions);
        let kernels =
            &["mpm.rasterize_tiles", "mpm.rasterize_fixed", "mpm.rasterize_float", "mpm.update_particles"];
        Ok(vec![WorkCounter { item: "particle_node", kernels, count: n * of_particle }])
    }

    fn record_fault_check(&self, recorder: &mut Recorder) -> Result<Option<PendingFault>, SolverError> {
        let own = self.record_fault_check(recorder)?;
        Ok(Some(forwarded(own, FaultCheck::is_ready, |own| Ok(own.wait()?.map(Into::into)))))
    }
}

impl From<MpmMetrics> for Measurement {
    fn from(metrics: MpmMetrics) -> Self {
        Self { summary: metrics.all.summary(), values: metrics.values() }
    }
}
