//! Snow on a grid as a [`Solver`].

use super::fault::FaultCheck;
use super::metrics::{MpmMetrics, PendingMpmMetrics};
use super::shown::set_infos;
use super::solver::Mpm;
use crate::solver::{rows, stage_named};
use crate::{
    Measurement, MetricInfo, PendingFault, PendingMeasurement, PendingResult, Solver, SolverError,
    SolverFactory, SolverFault, StateColumn, Tunable, Tuning, WORKGROUP_SIZE,
};
use frazil_particles::{ColumnView, ParticleSet, SetInfo};
use frazil_scene::{Sampled, Scene};
use frazil_vk::{Device, Recorder};

/// Nodes along x for which one thread gathers; a block has four.
pub static NODES_PER_THREAD: Tunable =
    Tunable { name: "nodes_per_thread", default: 4, min: 1, max: frazil_kernels::BLOCK_SIDE };

/// Makes [`Mpm`]s.
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
    ) -> Result<Box<dyn Solver>, SolverError> {
        Ok(Box::new(Mpm::restore_scene(device, scene, state, step)?))
    }

    fn tunables(&self) -> Vec<&'static Tunable> {
        vec![&WORKGROUP_SIZE, &NODES_PER_THREAD]
    }

    fn set_infos(&self, scene: &Scene, n_particles: usize) -> Vec<SetInfo> {
        set_infos(scene, n_particles)
    }

    fn describe(&self, scene: &Scene, sampled: &Sampled) -> Result<Vec<(String, String)>, SolverError> {
        let derived = scene.derived();
        let (Some(mpm), Some(facts)) = (&scene.mpm, &derived.mpm) else {
            return Err(SolverError::Scene { key: "mpm".into(), found: "no such section".into() });
        };
        let [x, y, z] = derived.gravity_m_s2;
        let (mass, volume) = if mpm.dimensions == 2 { ("kg/m", "m²") } else { ("kg", "m³") };
        let total = |values: &[f32]| values.iter().map(|value| f64::from(*value)).sum::<f64>();
        let cells: Vec<String> =
            facts.n_cells[..scene.n_dimensions()].iter().map(ToString::to_string).collect();
        let (total_mass, total_volume) = (total(&sampled.masses_kg), total(&sampled.volumes_m3));
        Ok(rows([
            ("particles", format!("{} of {:.4e} {mass}", sampled.len(), derived.particle_mass_kg)),
            ("snow", format!("{total_mass:.4e} {mass}, {total_volume:.4e} {volume}")),
            ("cells", format!("{} of {} m", cells.join(" × "), mpm.cell_size_m)),
            (
                "wave speed",
                format!(
                    "{:.1} m/s, {:.1} m/s in hardened snow",
                    facts.wave_speed_m_s, facts.hardened_wave_speed_m_s
                ),
            ),
            ("particle speed", format!("up to {:.1} m/s", facts.fastest_m_s)),
            (
                "steps",
                format!(
                    "{} of {} s, in which a wave in hardened snow passes {:.2} cells",
                    derived.n_steps, derived.dt_s, facts.wave_courant_number
                ),
            ),
            ("gravity", format!("({x}, {y}, {z}) m/s²")),
        ]))
    }

    fn linking_length_m(&self, scene: &Scene) -> f64 {
        scene.mpm.as_ref().map_or(f64::NAN, |mpm| mpm.cell_size_m)
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

    fn metrics(&self) -> Vec<MetricInfo> {
        MetricInfo::list(MpmMetrics::names())
    }

    fn record_metrics(&self, recorder: &mut Recorder) -> Result<PendingMeasurement, SolverError> {
        Ok(Box::new(self.record_metrics(recorder)?))
    }

    fn record_fault_check(&self, recorder: &mut Recorder) -> Result<Option<PendingFault>, SolverError> {
        Ok(Some(Box::new(self.record_fault_check(recorder)?)))
    }
}

impl From<MpmMetrics> for Measurement {
    fn from(metrics: MpmMetrics) -> Self {
        Self { summary: metrics.all.summary(), values: metrics.values() }
    }
}

impl PendingResult<Measurement> for PendingMpmMetrics {
    fn is_ready(&self) -> frazil_vk::Result<bool> {
        self.is_ready()
    }

    fn wait(self: Box<Self>) -> frazil_vk::Result<Measurement> {
        (*self).wait().map(Into::into)
    }
}

impl PendingResult<Option<SolverFault>> for FaultCheck {
    fn is_ready(&self) -> frazil_vk::Result<bool> {
        self.is_ready()
    }

    fn wait(self: Box<Self>) -> frazil_vk::Result<Option<SolverFault>> {
        Ok((*self).wait()?.map(Into::into))
    }
}
