//! Pull by the pointer: on particles, or on the body under it.

use frazil_render::OrbitCamera;
use frazil_scene::{Body, BodyMotion, Keyframe, Scene, Side};
use frazil_solvers::{BodyPose, Grab};
use glam::{DVec3, EulerRot, Vec2, Vec3};

/// Radius of the pull as a share of the picture's height, at the depth of the camera's target.
const RADIUS_A_HEIGHT: f32 = 0.08;
/// Minimum radius in particle spacings.
const MIN_RADIUS_SPACINGS: f32 = 3.0;
/// Rate in 1/s at which particles approach the pointer, unless that is too fast for the step.
const RATE_1_S: f32 = 12.0;
/// Maximum displacement in a step by the pull, in particle spacings.
const MAX_STEP_SPACINGS: f32 = 0.2;
/// Points of the line of sight within the domain at which bodies are looked for.
const LOOKS: u32 = 1000;

/// Pull during the next steps.
#[derive(Debug, PartialEq)]
pub enum Pull {
    /// Particles follow the pointer.
    Particles(Grab),
    /// A body follows it, by this motion.
    Body {
        /// Index of the body in the scene.
        body: usize,
        /// Motion so far, then to the pointer at an even speed within the steps.
        motion: BodyMotion,
    },
}

/// State of the pull.
#[derive(Default)]
pub struct DragTool {
    /// True while the key is held.
    pub is_ready: bool,
    held: Held,
}

#[derive(Clone, Copy, Default)]
enum Held {
    #[default]
    Nothing,
    Particles {
        /// Point under the pointer at the last picture.
        last_m: Vec3,
    },
    Body {
        body: usize,
        /// Point of the body that the pointer holds, less the displacement of the body.
        origin_m: DVec3,
    },
}

impl DragTool {
    /// Returns the pull of the next `steps` steps with the pointer at `at_px` in a picture of `size_px`; none
    /// unless it drags with the key held. A drag that begins on a body pulls it as long as it lasts.
    pub fn pull(
        &mut self,
        camera: &OrbitCamera,
        at_px: Option<Vec2>,
        size_px: (u32, u32),
        scene: &Scene,
        time_s: f64,
        steps: u64,
    ) -> Option<Pull> {
        let Some((origin, direction)) =
            at_px.filter(|_| self.is_ready).map(|at| camera.ray(at, size_px.0, size_px.1))
        else {
            self.held = Held::Nothing;
            return None;
        };
        if let Held::Nothing = self.held {
            self.held = match body_on_line(scene, time_s, origin.as_dvec3(), direction.as_dvec3()) {
                Some((body, at_m)) => {
                    let offset_m = BodyPose::at(scene.bodies[body].motion.as_ref(), time_s).offset_m;
                    Held::Body { body, origin_m: at_m - offset_m }
                }
                None => Held::Nothing,
            };
        }
        // In two dimensions the line is normal to the plane of the particles, so that they stay in it.
        let is_plane = scene.n_dimensions() == 2;
        let normal = if is_plane { Vec3::Z } else { camera.forward() };
        let towards = direction.dot(normal);
        if towards.abs() < 1e-3 {
            return None;
        }
        let point_on_plane = |through: Vec3| origin + (through - origin).dot(normal) / towards * direction;
        let (dt_s, spacing_m) = (scene.dt_s() as f32, scene.particle_spacing_m() as f32);
        let n_steps = steps.max(1) as f32;
        if let Held::Body { body, origin_m } = self.held {
            let now = BodyPose::at(scene.bodies[body].motion.as_ref(), time_s);
            let held_m = origin_m + now.offset_m;
            let way = point_on_plane(held_m.as_vec3()).as_dvec3() - held_m;
            let way = way.clamp_length_max(f64::from(MAX_STEP_SPACINGS * spacing_m * n_steps));
            let end_s = time_s + steps.max(1) as f64 * scene.step_s();
            let motion = motion_to(&scene.bodies[body], now, time_s, end_s, now.offset_m + way);
            return Some(Pull::Body { body, motion });
        }
        let centre_m = point_on_plane(if is_plane { Vec3::ZERO } else { camera.target });
        let last_m = match self.held {
            Held::Particles { last_m } => last_m,
            _ => centre_m,
        };
        self.held = Held::Particles { last_m: centre_m };
        let max_speed_m_s = MAX_STEP_SPACINGS * spacing_m / dt_s;
        let radius_m = (RADIUS_A_HEIGHT * camera.height_m()).max(MIN_RADIUS_SPACINGS * spacing_m);
        let velocity = ((centre_m - last_m) / (n_steps * dt_s)).clamp_length_max(0.5 * max_speed_m_s);
        Some(Pull::Particles(Grab {
            centre_m: centre_m.to_array(),
            direction: if is_plane { Vec3::Z } else { direction }.to_array(),
            velocity_m_s: velocity.to_array(),
            radius_m,
            rate_1_s: RATE_1_S.min(0.5 * max_speed_m_s / radius_m),
        }))
    }
}

/// Returns true for a body that can be pulled: a bounded solid at rest, in uniform motion or on a path of
/// keyframes.
fn is_pulled(body: &Body) -> bool {
    let is_bounded = body.centre_m().is_some();
    let is_led =
        matches!(body.motion, None | Some(BodyMotion::Uniform(_)) | Some(BodyMotion::Keyframed { .. }));
    is_bounded && is_led && body.side == Side::Outside
}

/// Returns the first body on a line of sight that can be pulled, and its point there.
fn body_on_line(scene: &Scene, time_s: f64, origin: DVec3, direction: DVec3) -> Option<(usize, DVec3)> {
    let bodies: Vec<(usize, Body, BodyPose)> = scene
        .bodies
        .iter()
        .enumerate()
        .filter(|(_, body)| is_pulled(body))
        .map(|(i, body)| {
            let at_rest = Body { motion: None, ..body.clone() };
            (i, at_rest, BodyPose::at(body.motion.as_ref(), time_s))
        })
        .collect();
    let [low, high] = [scene.domain.min_m, scene.domain.max_m].map(DVec3::from_array);
    let (centre, radius) = (0.5 * (low + high), 0.5 * (high - low).length());
    let middle = (centre - origin).dot(direction);
    let begin = (middle - radius).max(0.0);
    let step = (middle + radius - begin).max(0.0) / f64::from(LOOKS);
    (0..=LOOKS).find_map(|k| {
        let at_m = origin + (begin + f64::from(k) * step) * direction;
        let is_inside =
            |body: &Body, pose: &BodyPose| scene.body_depth_m(body, pose.place(at_m).to_array()) > 0.0;
        let (i, ..) = bodies.iter().find(|(_, body, pose)| is_inside(body, pose))?;
        Some((*i, at_m))
    })
}

/// Returns the motion of a body so far and then to a displacement, at an even speed, without rotation from
/// now on.
fn motion_to(body: &Body, now: BodyPose, now_s: f64, end_s: f64, offset_m: DVec3) -> BodyMotion {
    let key = |time_s: f64, offset_m: DVec3, rotation_deg| Keyframe {
        time_s,
        offset_m: offset_m.to_array(),
        rotation_deg,
    };
    let (pivot_m, mut keys, rotation_deg) = match &body.motion {
        Some(BodyMotion::Keyframed { pivot_m, keys }) => {
            let past: Vec<Keyframe> = keys.iter().copied().take_while(|key| key.time_s < now_s).collect();
            let is_last = past.len() == keys.len();
            let rotation_deg = match past.last() {
                Some(last) if is_last => last.rotation_deg,
                _ => {
                    let (z, y, x) = now.rotation.to_euler(EulerRot::ZYX);
                    [x, y, z].map(f64::to_degrees)
                }
            };
            (*pivot_m, past, rotation_deg)
        }
        Some(BodyMotion::Uniform(motion)) if motion.from_s < now_s => {
            let end_s = motion.until_s.filter(|until_s| *until_s < now_s);
            let end = end_s.map(|time_s| key(time_s, now.offset_m, [0.0; 3]));
            let keys = std::iter::once(key(motion.from_s, DVec3::ZERO, [0.0; 3])).chain(end).collect();
            (body.centre_m().unwrap_or_default(), keys, [0.0; 3])
        }
        // Torques stay about the centre.
        _ => (body.centre_m().unwrap_or_default(), Vec::new(), [0.0; 3]),
    };
    keys.push(key(now_s, now.offset_m, rotation_deg));
    keys.push(key(end_s, offset_m, rotation_deg));
    BodyMotion::Keyframed { pivot_m, keys }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use frazil_engine::picture;

    const SIZE: (u32, u32) = (800, 600);

    fn builtin(name: &str) -> Scene {
        frazil_scene::builtin().iter().find(|builtin| builtin.name == name).unwrap().load(&[]).unwrap()
    }

    #[test]
    fn the_pull_is_under_the_pointer_and_never_too_fast() {
        for mut scene in ["dam_break", "ramps"].map(builtin) {
            scene.bodies.clear();
            let camera = picture::camera(&scene);
            let mut drag_tool = DragTool::default();
            let grab = |drag_tool: &mut DragTool, x| match drag_tool.pull(&camera, x, SIZE, &scene, 0.0, 2) {
                Some(Pull::Particles(grab)) => Some(grab),
                other => {
                    assert_eq!(other, None);
                    None
                }
            };
            assert_eq!(grab(&mut drag_tool, Some(Vec2::new(400.0, 300.0))), None, "the key is not held");
            drag_tool.is_ready = true;
            assert_eq!(grab(&mut drag_tool, None), None, "no button drags");
            let first = grab(&mut drag_tool, Some(Vec2::new(400.0, 300.0))).unwrap();
            assert_eq!(first.velocity_m_s, [0.0; 3]);
            let second = grab(&mut drag_tool, Some(Vec2::new(700.0, 120.0))).unwrap();
            let (pixel, _) = camera.project(Vec3::from(second.centre_m), SIZE.0, SIZE.1).unwrap();
            assert!((pixel - Vec2::new(700.0, 120.0)).length() < 0.1, "{}: {pixel}", scene.name);
            let speed = Vec3::from(second.velocity_m_s).length() + second.rate_1_s * second.radius_m;
            let limit = MAX_STEP_SPACINGS * (scene.particle_spacing_m() / scene.dt_s()) as f32;
            assert!(speed > 0.0 && speed <= 1.001 * limit, "{}: {speed} m/s", scene.name);
            if scene.n_dimensions() == 2 {
                assert_eq!((second.centre_m[2].abs() < 1e-6, second.direction), (true, [0.0, 0.0, 1.0]));
            }
            assert_eq!(grab(&mut drag_tool, None), None);
        }
    }

    /// Water with a ball at (0.5, 0.3, 0.5) in a unit cube.
    fn with_ball(motion: &str) -> Scene {
        let text = format!(
            "version = 1\nname = \"ball\"\nup_axis = \"y\"\ntime = {{ dt_s = 0.002, duration_s = 1.0 }}\n\
             [fluid]\nparticle_spacing_m = 0.05\n\
             [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [1.0, 1.0, 1.0]\n\
             [[bodies]]\nname = \"ball\"\nshape.sphere = {{ centre_m = [0.5, 0.3, 0.5], radius_m = 0.1 \
             }}\n{motion}\n\
             [[particles]]\nshape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [0.2, 0.3, 1.0] }}\n"
        );
        Scene::parse(&text, "ball.toml", &[]).unwrap()
    }

    #[test]
    fn a_body_follows_the_pointer_that_took_it_and_keeps_its_path() {
        let motions = [
            "",
            "motion.uniform = { velocity_m_s = [0.5, 0.0, 0.0], until_s = 0.1 }",
            "motion.keyframed = { pivot_m = [0.5, 0.3, 0.5], keys = [{ time_s = 0.0 }, \
             { time_s = 0.4, offset_m = [0.0, 0.2, 0.0], rotation_deg = [0.0, 0.0, 90.0] }] }",
        ];
        for motion in motions {
            let mut scene = with_ball(motion);
            let original = scene.bodies[0].motion.clone();
            let camera = picture::camera(&scene);
            let mut drag_tool = DragTool { is_ready: true, ..Default::default() };
            let (mut time_s, steps) = (0.2, 5);
            let centre = |scene: &Scene, time_s| {
                BodyPose::at(scene.bodies[0].motion.as_ref(), time_s).apply(DVec3::new(0.5, 0.3, 0.5))
            };
            let (start, before) = (centre(&scene, time_s), BodyPose::at(original.as_ref(), 0.05));
            let at = camera.project(start.as_vec3(), SIZE.0, SIZE.1).unwrap().0;
            let goal = at + Vec2::new(60.0, -20.0);
            let (origin, direction) = camera.ray(at, SIZE.0, SIZE.1);
            let held = body_on_line(&scene, time_s, origin.as_dvec3(), direction.as_dvec3()).unwrap().1;
            assert!(((held - start).length() - 0.1).abs() < 2e-3, "on the surface of the ball");
            for _ in 0..40 {
                let pointer = if time_s == 0.2 { at } else { goal };
                let pulled = drag_tool.pull(&camera, Some(pointer), SIZE, &scene, time_s, steps);
                let Some(Pull::Body { body: 0, motion }) = pulled else { panic!("{pulled:?}") };
                let changed = scene.with_body_motion(0, &motion).unwrap();
                assert!(scene.first_fixed_change(&changed).is_none());
                let way = centre(&changed, time_s + 0.01) - centre(&scene, time_s);
                assert!(way.length() <= 1.0001 * 5.0 * 0.2 * 0.05, "{way}");
                // The past is as it was, and the present without a jump.
                let kept = BodyPose::at(changed.bodies[0].motion.as_ref(), 0.05);
                assert!((kept.offset_m - before.offset_m).length() < 1e-12);
                assert!(kept.rotation.angle_between(before.rotation) < 1e-6);
                assert!((centre(&changed, time_s) - centre(&scene, time_s)).length() < 1e-12);
                (scene, time_s) = (changed, time_s + 0.01);
            }
            let held_now = held + centre(&scene, time_s) - start;
            let found = camera.project(held_now.as_vec3(), SIZE.0, SIZE.1).unwrap().0;
            assert!((found - goal).length() < 0.05, "{motion}: at {found}, expected {goal}");
            let depth = |x: DVec3| (x.as_vec3() - camera.target).dot(camera.forward());
            assert!((depth(centre(&scene, time_s)) - depth(start)).abs() < 1e-4, "across the line of sight");
            assert_eq!(centre(&scene, 9.0), centre(&scene, time_s), "at rest once it is let go");
        }
    }

    #[test]
    fn bodies_with_a_motion_of_their_own_are_not_pulled() {
        for motion in [
            "motion.oscillating = { amplitude_m = [0.1, 0.0, 0.0], frequency_hz = 1.0 }",
            "side = \"inside\"",
        ] {
            let mut scene = with_ball("");
            let camera = picture::camera(&scene);
            let at = camera.project(Vec3::new(0.5, 0.3, 0.5), SIZE.0, SIZE.1).unwrap().0;
            let body = &mut scene.bodies[0];
            if motion.starts_with("side") {
                body.side = Side::Inside;
            } else {
                body.motion = Some(BodyMotion::Oscillating {
                    amplitude_m: [0.1, 0.0, 0.0],
                    frequency_hz: 1.0,
                    phase_deg: 0.0,
                });
            }
            let mut drag_tool = DragTool { is_ready: true, ..Default::default() };
            let pulled = drag_tool.pull(&camera, Some(at), SIZE, &scene, 0.0, 1);
            assert!(matches!(pulled, Some(Pull::Particles(_))), "{pulled:?}");
        }
    }
}
