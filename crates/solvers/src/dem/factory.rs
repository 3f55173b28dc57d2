//! Grains as a [`Solver`].

use super::fault::DemFaultCheck;
use super::metrics::{DemMetrics, PendingDemMetrics};
use super::shown::set_infos;
use super::solver::Dem;
use crate::solver::{rows, stage_named};
use crate::{
    FlowMaterial, Measurement, MetricInfo, PendingFault, PendingMeasurement, PendingResult, RigidBodies,
    Solver, SolverError, SolverFactory, SolverFault, StateColumn, Tuning,
};
use frazil_particles::{ColumnView, ParticleSet, SetInfo};
use frazil_scene::{Sampled, Scene};
use frazil_vk::{Device, Recorder};

/// The share of a deposit that grains take, where no release says how dense it lies.
const PACKING_FRACTION: f64 = 0.55;

/// Makes [`Dem`]s.
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

    fn describe(&self, scene: &Scene, sampled: &Sampled) -> Result<Vec<(String, String)>, SolverError> {
        let derived = scene.derived();
        let (Some(dem), Some(facts)) = (&scene.dem, &derived.dem) else {
            return Err(SolverError::Scene { key: "dem".into(), found: "no such section".into() });
        };
        let mass_kg: f64 = sampled.masses_kg.iter().map(|mass| f64::from(*mass)).sum();
        let slabs = scene.sample_slabs()?;
        let mut lines = rows([(
            "grains",
            format!(
                "{} of {:.4e} kg, {:.4e} m in radius, {mass_kg:.4e} kg in all",
                sampled.len(),
                derived.particle_mass_kg,
                dem.radius_m
            ),
        )]);
        if let Some(terrain) = scene.ground() {
            let (low, high) = terrain.bounds_m();
            let text = format!(
                "{} × {} heights, {} m apart, from {:.1} m to {:.1} m",
                terrain.n_columns(),
                terrain.n_rows(),
                terrain.cell_m(),
                low[2] + terrain.base_m(),
                high[2] + terrain.base_m(),
            );
            lines.extend(rows([("terrain", text)]));
        }
        if !slabs.pieces.is_empty() {
            let mass_kg: f64 = slabs.pieces.iter().map(|piece| piece.mass_kg).sum();
            let swing_s = scene.slab_contact_time_s().unwrap_or(f64::INFINITY);
            let text = format!(
                "{} pieces of {mass_kg:.4e} kg in all, {} links, swings of {swing_s:.4e} s at least, {:.1} steps",
                slabs.pieces.len(),
                slabs.links.len(),
                swing_s / derived.dt_s
            );
            lines.extend(rows([("slabs", text)]));
        }
        let [x, y, z] = derived.gravity_m_s2;
        let [nx, ny, nz] = facts.n_cells;
        lines.extend(rows([
            ("cells", format!("{nx} × {ny} × {nz} of {:.4e} m", derived.support_radius_m)),
            (
                "contacts",
                format!(
                    "{:.4e} s, damping ratio {:.3}, on walls {:.3}",
                    facts.contact_time_s, facts.damping_ratio, facts.wall_damping_ratio
                ),
            ),
            (
                "grain speed",
                format!(
                    "up to {:.1} m/s, at which a wall presses {:.3} radii deep",
                    facts.fastest_m_s, facts.deepest_overlap_radii
                ),
            ),
            (
                "steps",
                format!(
                    "{} of {} s, {:.1} a contact",
                    derived.n_steps, derived.dt_s, facts.steps_per_contact
                ),
            ),
            ("gravity", format!("({x}, {y}, {z}) m/s²")),
        ]));
        Ok(lines)
    }

    fn flow_material(&self, scene: &Scene) -> Option<FlowMaterial> {
        let dem = scene.dem.as_ref()?;
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
