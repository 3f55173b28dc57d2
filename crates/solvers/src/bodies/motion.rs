//! Conversion of the motions of bodies for kernels, and the pose of a body on the host, for pictures.

use frazil_scene::{Body as SceneBody, BodyMotion, Keyframe, Vec3};
use frazil_shaders::common::body::{MOTION_DYNAMIC, MOTION_KEYFRAMED, MOTION_OSCILLATING, MOTION_SPINNING};
use frazil_shaders::common::motion::DYNAMIC_FLOATS;
use frazil_shaders::types::Body;
use glam::{DQuat, DVec3, EulerRot};
use std::f64::consts::TAU;

/// End time in s of a body that never stops, later than any simulation ends.
pub(crate) const NEVER_S: f32 = 1e30;

/// Pose of a body: x = pivot + offset + R (X − pivot), where X is the position of a point in the scene file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyPose {
    /// Centre of the rotation in m.
    pub pivot_m: DVec3,
    /// Displacement in m.
    pub offset_m: DVec3,
    /// Rotation from the axes of the scene file.
    pub rotation: DQuat,
}

impl BodyPose {
    /// Returns the pose of a body with this motion at a time.
    pub fn at(motion: Option<&BodyMotion>, time_s: f64) -> Self {
        let rest = Self { pivot_m: DVec3::ZERO, offset_m: DVec3::ZERO, rotation: DQuat::IDENTITY };
        match motion {
            None => rest,
            Some(BodyMotion::Uniform(motion)) => {
                Self { offset_m: DVec3::from_array(motion.offset_m(time_s)), ..rest }
            }
            Some(BodyMotion::Oscillating { amplitude_m, frequency_hz, phase_deg }) => {
                let angle = TAU * frequency_hz * time_s + phase_deg.to_radians();
                Self { offset_m: angle.sin() * DVec3::from_array(*amplitude_m), ..rest }
            }
            Some(BodyMotion::Spinning { point_m, angular_velocity_rad_s, from_s, until_s }) => {
                let lasting_s = (until_s.map_or(time_s, |until_s| until_s.min(time_s)) - from_s).max(0.0);
                let turned = lasting_s * DVec3::from_array(*angular_velocity_rad_s);
                Self {
                    pivot_m: DVec3::from_array(*point_m),
                    rotation: DQuat::from_scaled_axis(turned),
                    ..rest
                }
            }
            Some(BodyMotion::Keyframed { pivot_m, keys }) => {
                let pivot_m = DVec3::from_array(*pivot_m);
                let k = keys.iter().rposition(|key| key.time_s <= time_s).unwrap_or(0);
                let Some(key) = keys.get(k) else { return rest };
                let (offset, rotation) = (DVec3::from_array(key.offset_m), rotation_of(key));
                let Some(next) = keys.get(k + 1) else {
                    return Self { pivot_m, offset_m: offset, rotation };
                };
                let share = ((time_s - key.time_s) / (next.time_s - key.time_s)).max(0.0);
                let turn = DQuat::from_scaled_axis(share * turn_between(key, next));
                let way = DVec3::from_array(next.offset_m) - offset;
                Self { pivot_m, offset_m: offset + share * way, rotation: turn * rotation }
            }
            // A motion that is not known here does not move; solvers refuse it.
            Some(_) => rest,
        }
    }

    /// Returns the position in the scene file of the point that is at `position_m`, the inverse of
    /// [`Self::apply`].
    pub fn place(&self, position_m: DVec3) -> DVec3 {
        self.pivot_m + self.rotation.inverse() * (position_m - self.pivot_m - self.offset_m)
    }

    /// Returns the position of the point that is at `place_m` in the scene file.
    pub fn apply(&self, place_m: DVec3) -> DVec3 {
        self.pivot_m + self.offset_m + self.rotation * (place_m - self.pivot_m)
    }
}

fn rotation_of(key: &Keyframe) -> DQuat {
    let [x, y, z] = key.rotation_deg.map(f64::to_radians);
    DQuat::from_euler(EulerRot::ZYX, z, y, x)
}

/// Returns the shortest rotation from one keyframe to the next, as an axis times an angle in rad.
fn turn_between(key: &Keyframe, next: &Keyframe) -> DVec3 {
    let turn = rotation_of(next) * rotation_of(key).inverse();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    turn.to_scaled_axis()
}

/// Sets the motion of a body; appends the data of a motion that is not uniform to `body_data`. Returns false
/// for an unknown motion.
pub(crate) fn set_motion(
    body: &mut Body,
    from: &SceneBody,
    motion: &BodyMotion,
    body_data: &mut Vec<f32>,
) -> bool {
    let narrow = |v: Vec3| v.map(|x| x as f32);
    body.first_motion = body_data.len() as u32;
    match motion {
        BodyMotion::Uniform(motion) => {
            body.first_motion = 0;
            body.velocity_m_s = narrow(motion.velocity_m_s);
            body.from_s = motion.from_s as f32;
            body.until_s = motion.until_s.map_or(NEVER_S, |until_s| until_s as f32);
        }
        BodyMotion::Oscillating { amplitude_m, frequency_hz, phase_deg } => {
            body.motion = MOTION_OSCILLATING;
            body_data.extend(narrow(*amplitude_m));
            body_data.extend([*frequency_hz as f32, (phase_deg / 360.0) as f32]);
        }
        BodyMotion::Spinning { point_m, angular_velocity_rad_s, from_s, until_s } => {
            body.motion = MOTION_SPINNING;
            let spin = DVec3::from_array(*angular_velocity_rad_s);
            body_data.extend(narrow(*point_m));
            body_data.extend(spin.normalize().as_vec3().to_array());
            let until_s = until_s.map_or(NEVER_S, |until_s| until_s as f32);
            body_data.extend([(spin.length() / TAU) as f32, *from_s as f32, until_s]);
        }
        BodyMotion::Keyframed { pivot_m, keys } => {
            body.motion = MOTION_KEYFRAMED;
            body.n_keys = keys.len() as u32;
            body_data.extend(narrow(*pivot_m));
            for (k, key) in keys.iter().enumerate() {
                body_data.push(key.time_s as f32);
                body_data.extend(narrow(key.offset_m));
                body_data.extend(rotation_of(key).as_quat().to_array());
                let turn = keys.get(k + 1).map_or(DVec3::ZERO, |next| turn_between(key, next));
                body_data.extend((turn / TAU).as_vec3().to_array());
            }
        }
        BodyMotion::Dynamic(_) => {
            let Some(mass) = from.mass() else { return false };
            body.motion = MOTION_DYNAMIC;
            body_data.extend(narrow(mass.centre_m));
            // A body at rest: its motion is set at the start of a step.
            body_data.extend([0.0; 6]);
            body_data.push(1.0);
            body_data.extend([0.0; DYNAMIC_FLOATS as usize - 10]);
        }
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyframed_body_passes_its_keys_and_goes_evenly_between_them() {
        let key = |time_s, offset_m, rotation_deg| Keyframe { time_s, offset_m, rotation_deg };
        let motion = BodyMotion::Keyframed {
            pivot_m: [1.0, 0.0, 0.0],
            keys: vec![
                key(0.5, [0.0; 3], [0.0; 3]),
                key(1.5, [0.0, 2.0, 0.0], [0.0, 0.0, 90.0]),
                key(2.0, [0.0, 2.0, 0.0], [0.0, 0.0, 170.0]),
            ],
        };
        let place = DVec3::new(2.0, 0.0, 0.0);
        let at = |time_s| BodyPose::at(Some(&motion), time_s).apply(place);
        let near = |a: DVec3, b: [f64; 3]| (a - DVec3::from_array(b)).length() < 1e-12;
        assert!(near(at(0.0), [2.0, 0.0, 0.0]) && near(at(0.5), [2.0, 0.0, 0.0]));
        let half = std::f64::consts::FRAC_1_SQRT_2;
        assert!(near(at(1.0), [1.0 + half, 1.0 + half, 0.0]), "{}", at(1.0));
        assert!(near(at(1.5), [1.0, 3.0, 0.0]));
        let (sin, cos) = 170.0_f64.to_radians().sin_cos();
        assert!(near(at(2.0), [1.0 + cos, 2.0 + sin, 0.0]) && at(2.0) == at(9.0));
    }
}
