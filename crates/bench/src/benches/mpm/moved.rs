//! Expected particles after a step, and the comparison with them.

use super::block::{Block, state_of};
use crate::bench::Difference;
use crate::error::Result;
use frazil_reference::mpm::{Parameters, Particle, State};
use frazil_vk::Device;
use glam::{DMat3, DVec3};

/// Maximum rounding error of velocities in a step. They are sums over up to 64 nodes, which have the error of
/// the stress of F ≈ 1 in snow that has hardened several times over; a step changes them by some tenths of a
/// m/s.
const VELOCITY_TOLERANCE_M_S: f64 = 1e-4;
/// Tolerance of F, which is near 1; the velocity gradient is a sum of velocities over a cell.
const ELASTIC_TOLERANCE: f64 = 2e-6;
const PLASTIC_VOLUME_TOLERANCE: f64 = 1e-5;
/// Tolerance of stress, relative to the stress of a strain of 1.
const STRESS_TOLERANCE: f64 = 2e-5;
/// Tolerance of positions, relative to the domain's extent: a few roundings.
const PLACE_TOLERANCE: f64 = 2.5e-7;
/// Tolerance of Σ m v, relative to Σ m |v|.
const MOMENTUM_TOLERANCE: f64 = 4e-6;

/// Particles after a step.
pub struct Moved {
    /// Particles by id; some may be unknown.
    by_id: Vec<Option<Particle>>,
    /// Σ m v in kg m/s, which the step conserves in every implementation.
    momentum: DVec3,
}

impl Moved {
    pub fn new(n: usize, particles: Vec<Particle>, momentum: DVec3) -> Self {
        let mut by_id = vec![None; n];
        for particle in particles {
            by_id[particle.id as usize] = Some(particle);
        }
        Self { by_id, momentum }
    }

    /// Returns the first difference of the device's particles.
    pub fn difference(&self, device: &Device, block: &Block) -> Result<Option<Difference>> {
        let (found, stresses) = (block.particles(device)?, stresses(device, block)?);
        Ok(self.difference_of(&block.p, &found, &stresses))
    }

    /// Returns the first difference of particles and their stresses V⁰ τ.
    pub fn difference_of(
        &self,
        p: &Parameters,
        found: &[Particle],
        stresses: &[DMat3],
    ) -> Option<Difference> {
        let n = self.by_id.len();
        let mut seen = vec![false; n];
        for (i, (particle, stress)) in found.iter().zip(stresses).enumerate() {
            let id = particle.id as usize;
            let Some((expected, seen)) = self.by_id.get(id).zip(seen.get_mut(id)) else {
                return Some(Difference(format!("id[{i}] is {id}, expected one below {n}")));
            };
            if std::mem::replace(seen, true) {
                return Some(Difference(format!("id[{i}] is {id}, a duplicate")));
            }
            let Some(expected) = expected else { continue };
            if let Some((column, tolerance)) = first_mismatch(p, particle, *stress, expected) {
                return Some(Difference(format!(
                    "{column} of particle {id} is not what is expected to {tolerance:e}: {particle:?}, \
                     expected {expected:?}"
                )));
            }
        }
        if found.len() != n {
            return Some(Difference(format!("there are {} particles, expected {n}", found.len())));
        }
        let scale: f64 = found.iter().map(|particle| particle.mass * particle.velocity.length()).sum();
        let momentum = State::new(found.to_vec()).momentum();
        let is_kept = (momentum - self.momentum).length() <= MOMENTUM_TOLERANCE * scale;
        (!is_kept).then(|| {
            Difference(format!("the particles' momentum is {momentum} kg m/s, expected {}", self.momentum))
        })
    }
}

/// Returns the first column in which a particle exceeds the tolerance, and the tolerance.
fn first_mismatch(
    p: &Parameters,
    found: &Particle,
    mut stress: DMat3,
    expected: &Particle,
) -> Option<(&'static str, f64)> {
    let lame = p.material.lame(expected.plastic_volume);
    let mut expected_stress = expected.stress(&p.material);
    if p.dimensions == 2 {
        // It acts along the axis without motion, and is not stored.
        (stress.z_axis.z, expected_stress.z_axis.z) = (0.0, 0.0);
    }
    let extent_m = (p.domain_max_m - p.domain_min_m).max_element();
    let stiffness_j = expected.volume * (2.0 * lame.mu + 3.0 * lame.lambda);
    let columns = [
        (
            "position",
            (found.position - expected.position).length(),
            PLACE_TOLERANCE * extent_m + p.dt_s * VELOCITY_TOLERANCE_M_S,
        ),
        ("velocity", (found.velocity - expected.velocity).length(), VELOCITY_TOLERANCE_M_S),
        ("elastic", norm(found.elastic - expected.elastic), ELASTIC_TOLERANCE),
        ("plastic_volume", (found.plastic_volume - expected.plastic_volume).abs(), PLASTIC_VOLUME_TOLERANCE),
        ("stress", norm(stress - expected_stress), STRESS_TOLERANCE * stiffness_j),
        (
            "affine",
            norm(found.affine - expected.affine),
            // A difference of velocities over a cell.
            VELOCITY_TOLERANCE_M_S / p.cell_size_m,
        ),
    ];
    // Written so that a NaN exceeds any tolerance.
    let off = columns.into_iter().find(|(_, error, tolerance)| error.is_nan() || error > tolerance);
    off.map(|(column, _, tolerance)| (column, tolerance))
}

fn norm(m: DMat3) -> f64 {
    m.to_cols_array().iter().map(|entry| entry * entry).sum::<f64>().sqrt()
}

/// Returns V⁰ τ in J, in the device's order.
fn stresses(device: &Device, block: &Block) -> Result<Vec<DMat3>> {
    let state = state_of(device, &block.mpm)?;
    let column = state.iter().find(|column| column.name == "stress");
    let words = column.map(|column| column.words.as_slice()).unwrap_or_default();
    let numbers: Vec<f64> = words.iter().map(|word| f32::from_bits(*word).into()).collect();
    let of = |xx: f64, yy: f64, zz: f64, [xy, xz, yz]: [f64; 3]| {
        DMat3::from_cols_array_2d(&[[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    };
    Ok(match block.p.dimensions {
        2 => numbers.chunks_exact(3).map(|s| of(s[0], s[1], 0.0, [s[2], 0.0, 0.0])).collect(),
        _ => numbers.chunks_exact(6).map(|s| of(s[0], s[1], s[2], [s[3], s[4], s[5]])).collect(),
    })
}
