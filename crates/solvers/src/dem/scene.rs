//! Conversion of a scene to parameters and grains.

use super::contacts::bonded_rows;
use super::grains::Grains;
use super::map_grid::MapGrid;
use super::parameters::DemParameters;
use super::pieces::Pieces;
use super::solver::Dem;
use crate::Surroundings;
use crate::clock::StepDivision;
use crate::sources::SourceParameters;
use crate::{SolverError, StateColumn, Tuning};
use frazil_scene::{Sampled, Scene};
use frazil_vk::Device;

impl DemParameters {
    /// Reads a scene with a `[dem]` section, for up to `n` grains.
    ///
    /// # Errors
    /// The scene has no such section, or a value in it is unknown to this solver.
    pub fn of(scene: &Scene, n: u32) -> Result<Self, SolverError> {
        let refuse = |key: &str, found: &str| SolverError::Scene { key: key.into(), found: found.into() };
        let dem = scene.dem().ok_or_else(|| refuse("dem", "no such section"))?;
        if scene.terrain.is_some() && scene.ground().is_none() {
            return Err(refuse("terrain.file", "a map that was not read"));
        }
        let sampled = scene.sample_slabs().map_err(|error| refuse("dem.slabs", &error.to_string()))?;
        let pieces = Pieces::of(scene.slabs(), dem, &sampled);
        let map = scene.ground().map(|terrain| MapGrid::of(terrain, dem.radius_m));
        let parameters = Self::new(dem, StepDivision::of(scene), Surroundings::of(scene)?, n);
        let mut parameters = parameters.with_pieces(pieces, dem.max_radius_m());
        parameters.map = map;
        parameters.sources = SourceParameters::of(scene);
        Ok(parameters)
    }
}

impl Dem {
    /// Makes the grains of a scene, bonded where they touch if the scene says so. Set-up only: waits for the
    /// device.
    ///
    /// # Errors
    /// Like [`DemParameters::of`] and [`Dem::new`]; also a grain with too many contacts.
    pub fn of_scene(
        device: &Device,
        scene: &Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let grains = Grains {
            positions_m: sampled.positions_m.clone(),
            velocities_m_s: sampled.velocities_m_s.clone(),
            spins_1_s: sampled.spins_rad_s.clone(),
            radii_m: sampled.radii_m.clone(),
            residuals_m: Vec::new(),
        };
        let parameters = DemParameters::of(scene, scene.particle_capacity(sampled.len() as u64, 0) as u32)?;
        let bonds = scene.dem().and_then(|dem| dem.bonds.as_ref());
        if bonds.is_none_or(|bonds| !bonds.at_start) {
            return Self::new(device, parameters, &grains, tuning);
        }
        let rows = bonded_rows(&grains, parameters.has_rolling())?;
        Self::with_rows(device, parameters, &grains, &rows, tuning)
    }

    /// Restores the grains of a scene as they were after `step` steps, bit for bit. Set-up only: waits for
    /// the device.
    ///
    /// # Errors
    /// Like [`DemParameters::of`] and [`Dem::restore`].
    pub fn restore_scene(
        device: &Device,
        scene: &Scene,
        state: &[StateColumn],
        step: u64,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let n = state.iter().find(|column| column.name == "id").map_or(0, |ids| ids.words.len());
        let capacity = scene.particle_capacity(n as u64, step) as u32;
        Self::restore(device, DemParameters::of(scene, capacity)?, state, step, tuning)
    }
}
