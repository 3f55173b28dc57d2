//! Pull on particles by the pointer.

use frazil_render::OrbitCamera;
use frazil_scene::Scene;
use frazil_solvers::Grab;
use glam::{Vec2, Vec3};

/// Radius of the pull as a share of the picture's height, at the depth of the camera's target.
const RADIUS_A_HEIGHT: f32 = 0.08;
/// Minimum radius in particle spacings.
const MIN_RADIUS_SPACINGS: f32 = 3.0;
/// Rate in 1/s at which particles approach the pointer, unless that is too fast for the step.
const RATE_1_S: f32 = 12.0;
/// Maximum displacement in a step by the pull, in particle spacings.
const MAX_STEP_SPACINGS: f32 = 0.2;

/// State of the pull.
#[derive(Default)]
pub struct Hand {
    /// True while the key is held.
    pub is_ready: bool,
    /// Point under the pointer at the last picture.
    last_m: Option<Vec3>,
}

impl Hand {
    /// Returns the pull of the next `steps` steps with the pointer at `at_px` in a picture of `size_px`; none
    /// unless it drags with the key held.
    pub fn grab(
        &mut self,
        camera: &OrbitCamera,
        at_px: Option<Vec2>,
        size_px: (u32, u32),
        scene: &Scene,
        steps: u64,
    ) -> Option<Grab> {
        let Some((origin, direction)) =
            at_px.filter(|_| self.is_ready).map(|at| camera.ray(at, size_px.0, size_px.1))
        else {
            self.last_m = None;
            return None;
        };
        // In two dimensions the line is normal to the plane of the particles, so that they stay in it.
        let (normal, through) =
            if scene.n_dimensions() == 2 { (Vec3::Z, Vec3::ZERO) } else { (camera.forward(), camera.target) };
        let towards = direction.dot(normal);
        if towards.abs() < 1e-3 {
            return None;
        }
        let centre_m = origin + (through - origin).dot(normal) / towards * direction;
        let (dt_s, spacing_m) = (scene.dt_s() as f32, scene.particle_spacing_m() as f32);
        let max_speed_m_s = MAX_STEP_SPACINGS * spacing_m / dt_s;
        let radius_m = (RADIUS_A_HEIGHT * camera.height_m()).max(MIN_RADIUS_SPACINGS * spacing_m);
        let moved = centre_m - self.last_m.replace(centre_m).unwrap_or(centre_m);
        let velocity = (moved / (steps.max(1) as f32 * dt_s)).clamp_length_max(0.5 * max_speed_m_s);
        Some(Grab {
            centre_m: centre_m.to_array(),
            direction: if scene.n_dimensions() == 2 { Vec3::Z } else { direction }.to_array(),
            velocity_m_s: velocity.to_array(),
            radius_m,
            rate_1_s: RATE_1_S.min(0.5 * max_speed_m_s / radius_m),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use crate::picture;

    #[test]
    fn the_pull_is_under_the_pointer_and_never_too_fast() {
        let scenes = frazil_scene::builtin().iter().map(|builtin| builtin.load(&[]).unwrap());
        for scene in scenes.filter(|scene| ["dam_break", "ramps"].contains(&&*scene.name)) {
            let camera = picture::camera(&scene);
            let mut hand = Hand::default();
            let grab = |hand: &mut Hand, x| hand.grab(&camera, x, (800, 600), &scene, 2);
            assert_eq!(grab(&mut hand, Some(Vec2::new(400.0, 300.0))), None, "the key is not held");
            hand.is_ready = true;
            assert_eq!(grab(&mut hand, None), None, "no button drags");
            let first = grab(&mut hand, Some(Vec2::new(400.0, 300.0))).unwrap();
            assert_eq!(first.velocity_m_s, [0.0; 3]);
            let second = grab(&mut hand, Some(Vec2::new(700.0, 120.0))).unwrap();
            let (pixel, _) = camera.project(Vec3::from(second.centre_m), 800, 600).unwrap();
            assert!((pixel - Vec2::new(700.0, 120.0)).length() < 0.1, "{}: {pixel}", scene.name);
            let speed = Vec3::from(second.velocity_m_s).length() + second.rate_1_s * second.radius_m;
            let limit = MAX_STEP_SPACINGS * (scene.particle_spacing_m() / scene.dt_s()) as f32;
            assert!(speed > 0.0 && speed <= 1.001 * limit, "{}: {speed} m/s", scene.name);
            if scene.n_dimensions() == 2 {
                assert_eq!((second.centre_m[2].abs() < 1e-6, second.direction), (true, [0.0, 0.0, 1.0]));
            }
            assert_eq!(grab(&mut hand, None), None);
        }
    }
}
