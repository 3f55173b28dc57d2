//! From a scene to parameters and particles.

use super::parameters::{MpmParameters, Surroundings};
use super::particles::Beginning;
use super::solver::Mpm;
use crate::SolverError;
use crate::pbd::{StateColumn, Tuning};
use frazil_scene::{Collider, Sampled, Scene, Side};
use frazil_shaders::types::MpmCollider;
use frazil_vk::Device;
use glam::{EulerRot, Quat};

/// Kind numbers of `mpm/collider.glsl`.
const PLANE: u32 = 0;
const BALL: u32 = 1;
const VESSEL: u32 = 2;
const BOX: u32 = 3;
const HEIGHTFIELD: u32 = 4;

/// Later than any simulation ends, in s: when a body stops that never does.
const NEVER_S: f32 = 1e30;

impl MpmParameters {
    /// Reads a scene with an `[mpm]` section.
    ///
    /// # Errors
    /// It has none, or a collider of a kind that this solver does not know; the domain has more cells than can be numbered.
    pub fn of(scene: &Scene) -> Result<Self, SolverError> {
        let Some(mpm) = &scene.mpm else {
            return Err(SolverError::Scene { key: "mpm".into(), found: "no such section".into() });
        };
        Self::new(mpm, scene.dt_s(), surroundings(scene)?)
    }
}

impl Mpm {
    /// Makes the snow of a scene from its sampled particles. Set-up: it waits for the device.
    ///
    /// # Errors
    /// As [`MpmParameters::of`] and [`Mpm::new`].
    pub fn of_scene(
        device: &Device,
        scene: &Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let beginning = Beginning {
            positions_m: sampled.positions_m.clone(),
            velocities_m_s: sampled.velocities_m_s.clone(),
            masses_kg: sampled.masses_kg.clone(),
            volumes_m3: sampled.volumes_m3.clone(),
        };
        Self::new(device, MpmParameters::of(scene)?, &beginning, tuning)
    }

    /// Makes the snow of a scene in the state that it had after `step` steps, with the bits it had. Set-up: it waits for the device.
    ///
    /// # Errors
    /// As [`MpmParameters::of`] and [`Mpm::restore`].
    pub fn restore_scene(
        device: &Device,
        scene: &Scene,
        state: &[StateColumn],
        step: u64,
    ) -> Result<Self, SolverError> {
        Self::restore(device, MpmParameters::of(scene)?, state, step)
    }
}

fn surroundings(scene: &Scene) -> Result<Surroundings, SolverError> {
    let mut surroundings = Surroundings {
        domain_min_m: narrow(scene.domain.min_m),
        domain_max_m: narrow(scene.domain.max_m),
        gravity_m_s2: narrow(scene.gravity_m_s2()),
        up_axis: scene.up_axis.index() as u32,
        ..Default::default()
    };
    for (collider_idx, collider) in scene.colliders.iter().enumerate() {
        let body = body_of(scene, collider_idx, collider, &mut surroundings.heights_m)?;
        surroundings.colliders.push(body);
    }
    Ok(surroundings)
}

fn narrow(v: [f64; 3]) -> [f32; 3] {
    v.map(|x| x as f32)
}

/// A collider as kernels take it; heights of a heightfield are appended to `heights_m`.
fn body_of(
    scene: &Scene,
    collider_idx: usize,
    collider: &Collider,
    heights_m: &mut Vec<f32>,
) -> Result<MpmCollider, SolverError> {
    let (surface, motion) = (collider.surface(), collider.motion());
    let body = MpmCollider {
        kind: PLANE,
        is_sticky: surface.sticky.into(),
        friction: surface.friction as f32,
        origin_m: [0.0; 3],
        extent: [0.0; 3],
        rotation: [0.0, 0.0, 0.0, 1.0],
        velocity_m_s: motion.map_or([0.0; 3], |motion| narrow(motion.velocity_m_s)),
        from_s: motion.map_or(0.0, |motion| motion.from_s as f32),
        until_s: motion.and_then(|motion| motion.until_s).map_or(NEVER_S, |until_s| until_s as f32),
        first_height: 0,
        n_heights: [1, 1],
    };
    Ok(match collider {
        Collider::Plane { point_m, normal, .. } => {
            let length = normal.iter().map(|n| n * n).sum::<f64>().sqrt();
            MpmCollider { origin_m: narrow(*point_m), extent: narrow(normal.map(|n| n / length)), ..body }
        }
        Collider::Sphere { centre_m, radius_m, side, .. } => MpmCollider {
            kind: if *side == Side::Outside { BALL } else { VESSEL },
            origin_m: narrow(*centre_m),
            extent: [*radius_m as f32, 0.0, 0.0],
            ..body
        },
        Collider::Box { centre_m, size_m, rotation_deg, .. } => {
            let [x, y, z] = rotation_deg.map(|angle| angle.to_radians() as f32);
            MpmCollider {
                kind: BOX,
                origin_m: narrow(*centre_m),
                extent: narrow(size_m.map(|size| 0.5 * size)),
                // About x, then y, then z.
                rotation: Quat::from_euler(EulerRot::ZYX, z, y, x).to_array(),
                ..body
            }
        }
        Collider::Heightfield { origin_m, spacing_m, heights_m: rows, .. } => {
            let level = scene.up_axis.horizontal();
            let mut corner = [0.0_f32; 3];
            corner[level[0]] = origin_m[0] as f32;
            corner[level[1]] = origin_m[1] as f32;
            let first_height = heights_m.len() as u32;
            heights_m.extend(rows.iter().flatten().map(|&height| height as f32));
            MpmCollider {
                kind: HEIGHTFIELD,
                origin_m: corner,
                extent: [*spacing_m as f32, 0.0, 0.0],
                first_height,
                n_heights: [rows.first().map_or(1, Vec::len) as u32, rows.len() as u32],
                ..body
            }
        }
        _ => {
            let (key, found) = (format!("colliders.{collider_idx}"), collider.name().to_owned());
            return Err(SolverError::Scene { key, found });
        }
    })
}
