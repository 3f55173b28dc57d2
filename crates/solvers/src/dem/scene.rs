//! From a scene to parameters and grains.

use super::parameters::{DemParameters, MAX_CONTACTS};
use super::particles::Grains;
use super::pieces::Pieces;
use super::solver::Dem;
use crate::SolverError;
use crate::pbd::{StateColumn, Tuning};
use crate::surroundings::Surroundings;
use frazil_scene::{Sampled, Scene};
use frazil_vk::Device;
use std::collections::HashMap;

impl DemParameters {
    /// Reads a scene with a `[dem]` section, for up to `n` grains.
    ///
    /// # Errors
    /// It has none, or something in it that this solver does not know.
    pub fn of(scene: &Scene, n: u32) -> Result<Self, SolverError> {
        let refuse = |key: &str, found: &str| SolverError::Scene { key: key.into(), found: found.into() };
        let dem = scene.dem.as_ref().ok_or_else(|| refuse("dem", "no such section"))?;
        if scene.terrain.is_some() && scene.ground().is_none() {
            return Err(refuse("terrain.file", "a map that was not read"));
        }
        let sampled = scene.sample_slabs().map_err(|error| refuse("slabs", &error.to_string()))?;
        let pieces = Pieces::of(&scene.slabs, dem, &sampled);
        Ok(Self::new(dem, scene.dt_s(), Surroundings::of(scene)?, n)
            .with_pieces(pieces, dem.greatest_radius_m()))
    }
}

impl Dem {
    /// Makes the grains of a scene, those that are said to bonded where they touch. Set-up: it waits for the device.
    ///
    /// # Errors
    /// As [`DemParameters::of`] and [`Dem::new`]; a grain touches more others than can be remembered.
    pub fn of_scene(
        device: &Device,
        scene: &Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let n = sampled.len();
        let grains = Grains {
            positions_m: sampled.positions_m.clone(),
            velocities_m_s: sampled.velocities_m_s.clone(),
            spins_1_s: vec![[0.0; 3]; n],
            radii_m: sampled.radii_m.clone(),
        };
        let parameters = DemParameters::of(scene, n as u32)?;
        let dem = Self::new(device, parameters, &grains, tuning)?;
        if scene.dem.as_ref().is_some_and(|dem| dem.bonds.as_ref().is_some_and(|bonds| bonds.at_start)) {
            let (count, partner) = bonded_at_start(&grains)?;
            dem.freeze(&count, &partner)?;
        }
        Ok(dem)
    }

    /// Makes the grains of a scene in the state that they had after `step` steps, with the bits it had. Set-up: it waits for the device.
    ///
    /// # Errors
    /// As [`DemParameters::of`] and [`Dem::restore`].
    pub fn restore_scene(
        device: &Device,
        scene: &Scene,
        state: &[StateColumn],
        step: u64,
    ) -> Result<Self, SolverError> {
        let n = state.iter().find(|column| column.name == "id").map_or(0, |ids| ids.words.len());
        Self::restore(device, DemParameters::of(scene, n as u32)?, state, step)
    }
}

/// Gaps of this share of a radius count as touching.
const TOUCHING_RADII: f32 = 0.01;

/// How many others each grain touches, and which, [`MAX_CONTACTS`] places a grain.
fn bonded_at_start(grains: &Grains) -> Result<(Vec<u32>, Vec<u32>), SolverError> {
    let widest = grains.radii_m.iter().copied().fold(0.0, f32::max);
    let side_m = 2.0 * widest * (1.0 + TOUCHING_RADII);
    let cell = |x: &[f32; 3]| x.map(|x| (x / side_m).floor() as i64);
    let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
    for (i, x) in grains.positions_m.iter().enumerate() {
        cells.entry(cell(x)).or_default().push(i);
    }
    let n = grains.positions_m.len();
    let mut count = vec![0; n];
    let mut partner = vec![u32::MAX; n * MAX_CONTACTS as usize];
    for (i, x) in grains.positions_m.iter().enumerate() {
        let at = cell(x);
        let about = (0..27_i64).map(|k| [at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1]);
        for j in about.filter_map(|cell| cells.get(&cell)).flatten().copied().filter(|j| *j != i) {
            let distance2: f32 = (0..3).map(|k| (x[k] - grains.positions_m[j][k]).powi(2)).sum();
            let (r, other) = (grains.radii_m[i], grains.radii_m[j]);
            let reach = r + other + TOUCHING_RADII * r.min(other);
            if distance2 > reach * reach {
                continue;
            }
            if count[i] == MAX_CONTACTS {
                let problem =
                    format!("has a grain that touches more than {MAX_CONTACTS} others at the start");
                return Err(SolverError::State { column: "position".into(), problem });
            }
            partner[i * MAX_CONTACTS as usize + count[i] as usize] = j as u32;
            count[i] += 1;
        }
    }
    Ok((count, partner))
}
