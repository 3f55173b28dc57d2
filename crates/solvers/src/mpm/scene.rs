//! Conversion of a scene to parameters and particles.

use super::parameters::MpmParameters;
use super::particles::InitialState;
use super::solver::Mpm;
use crate::Surroundings;
use crate::clock::StepDivision;
use crate::sources::SourceParameters;
use crate::{Saved, SolverError, StateColumn, Tuning};
use frazil_scene::{Sampled, Scene};
use frazil_vk::Device;

impl MpmParameters {
    /// Reads a scene with an `[mpm]` section.
    ///
    /// # Errors
    /// The scene has no such section, or a body of a kind that this solver does not know; the domain has
    /// more cells than the keys can number.
    pub fn of(scene: &Scene) -> Result<Self, SolverError> {
        let Some(mpm) = scene.mpm() else {
            return Err(SolverError::Scene { key: "mpm".into(), found: "no such section".into() });
        };
        let volume_m3 = scene.emitted_volume_m3();
        Ok(Self {
            division: StepDivision::of(scene),
            sources: SourceParameters::of(scene),
            emitted: [scene.rest_density_kg_m3() * volume_m3, volume_m3].map(|x| x as f32),
            ..Self::new(mpm, scene.dt_s(), Surroundings::of(scene)?)?
        })
    }
}

impl Mpm {
    /// Makes the snow of a scene from its sampled particles. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Like [`MpmParameters::of`] and [`Mpm::new`].
    pub fn of_scene(
        device: &Device,
        scene: &Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let initial_state = InitialState {
            positions_m: sampled.positions_m.clone(),
            velocities_m_s: sampled.velocities_m_s.clone(),
            masses_kg: sampled.masses_kg.clone(),
            volumes_m3: sampled.volumes_m3.clone(),
            spins_rad_s: sampled.spins_rad_s.clone(),
            contact_radii_m: sampled.contact_radii_m.clone(),
        };
        let capacity = scene.particle_capacity(sampled.len() as u64, 0) as u32;
        Self::with_capacity(device, MpmParameters::of(scene)?, &initial_state, (tuning, capacity))
    }

    /// Restores the snow of a scene as it was after `step` steps, bit for bit. Set-up only: waits for the
    /// device.
    ///
    /// # Errors
    /// Like [`MpmParameters::of`] and [`Mpm::restore`].
    pub fn restore_scene(
        device: &Device,
        scene: &Scene,
        state: &[StateColumn],
        step: u64,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let n = Saved::new(state)?.ids.len() as u64;
        let capacity = scene.particle_capacity(n, step) as u32;
        Self::restore_with(device, MpmParameters::of(scene)?, state, step, (tuning, capacity))
    }
}
