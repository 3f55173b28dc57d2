//! A layer of grains between walls whose distance is the diameter of the largest grain: discs with respect to
//! the plane of the layer.

use crate::grains::grain;
use frazil_reference::dem::Grain;
use frazil_scene::Dem as Section;
use frazil_testkit::Random;
use glam::DVec3;

/// Mean radius in m.
pub const RADIUS_M: f64 = 0.005;
/// Relative half-width of the distribution of radii.
pub const SPREAD: f64 = 0.2;
/// Distance between the walls in m.
pub const DEPTH_M: f64 = 2.0 * RADIUS_M * (1.0 + SPREAD);
/// Gravity in m/s².
pub const GRAVITY_M_S2: f64 = 9.81;

/// Returns glass between frictionless walls, stiff enough that a grain under `layers` layers overlaps by a
/// fortieth of its diameter.
pub fn section(layers: f64) -> Section {
    let density_kg_m3 = 2500.0;
    let weight_n = 4.0 / 3.0 * std::f64::consts::PI * RADIUS_M.powi(3) * density_kg_m3 * GRAVITY_M_S2;
    Section {
        density_kg_m3,
        friction: 0.5,
        rolling_friction: 0.1,
        restitution: 0.4,
        wall_friction: Some(0.0),
        radius_spread: SPREAD,
        steps_per_contact: 10.0,
        ..frazil_testkit::twins::dem::section(RADIUS_M, 20.0 * layers * weight_n / RADIUS_M)
    }
}

/// Creates `n` discs in loose rows above y = `from_m`, between x = 0 and `width_m`; also returns the height
/// of the uppermost row in m.
pub fn loose_rows(n: usize, width_m: f64, from_m: f64, seed: u64) -> (Vec<Grain>, f64) {
    let pitch = 2.0 * RADIUS_M * (1.0 + SPREAD);
    let columns = ((width_m / pitch) as usize).max(1);
    let gap = (width_m - columns as f64 * pitch) / columns as f64;
    let mut random = Random::new(seed);
    let mut unit = move || f64::from(random.unit());
    let disc = |id: usize| {
        let (i, k) = (id % columns, id / columns);
        let shift = if k % 2 == 0 { 0.0 } else { gap };
        let x = (i as f64 + 0.5) * (pitch + gap) - 0.5 * gap + 0.5 * shift * unit();
        let y = from_m + (k as f64 + 0.5) * pitch;
        let radius = RADIUS_M * (1.0 + SPREAD * (2.0 * unit() - 1.0));
        let place = DVec3::new(x, y, 0.5 * DEPTH_M).as_vec3().as_dvec3();
        grain(id as u32, f64::from(radius as f32), place)
    };
    ((0..n).map(disc).collect(), (n / columns + 1) as f64 * pitch)
}
