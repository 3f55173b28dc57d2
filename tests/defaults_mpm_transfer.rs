//! Snow on a grid at default settings: spin, rigid initial rotation and rolling, at several steps and cells.
//!
//! Scenes have only what a user must set: geometry, cell size, step or none, gravity. `plastic = false` makes
//! the closed forms of rigid bodies apply.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::mpm as twin;
use frazil_reference::uniform_bodies;
use frazil_scene::{Mpm as Section, Rasterization, Scene, Transfer};
use frazil_solvers::Tuning;
use frazil_solvers::mpm::Mpm;
use frazil_testkit::twins::mpm::particles_of_state;
use frazil_testkit::{assert_no_validation_messages, device, is_full_run};
use frazil_tests::mpm_stages::{MpmCase, Stages};
use frazil_tests::snowpack::{Snowpack, empty_space, state_of};
use frazil_vk::{Device, DeviceOptions};
use glam::{DMat3, DVec3};

const G: f64 = 9.81;
const RADIUS_M: f64 = 0.1;

/// Returns a scene of a ball, in a plane a disk, of radius 0.1 m that touches the floor at 0.
fn scene(dimensions: u32, cell_m: f64, place: [f64; 2], domain: [[f64; 2]; 2], more: &[String]) -> Scene {
    let (shape, [low, high]) = if dimensions == 2 {
        (format!("circle = {{ centre_m = {place:?}, radius_m = {RADIUS_M} }}"), [0.0, 0.0])
    } else {
        let [x, y] = place;
        (format!("sphere = {{ centre_m = [{x}, {y}, 0.0], radius_m = {RADIUS_M} }}"), [-0.2, 0.2])
    };
    let [min, max] = domain;
    let text = format!(
        r#"version = 1
name = "ball"
up_axis = "y"

[time]
dt_s = "auto"
duration_s = 1.0

[solver]
kind = "mpm"

[mpm]
dimensions = {dimensions}
cell_size_m = {cell_m}

[domain]
min_m = [{}, {}, {low}]
max_m = [{}, {}, {high}]

[[particles]]
shape.{shape}
"#,
        min[0], min[1], max[0], max[1]
    );
    Scene::parse(&text, "ball.toml", more).unwrap()
}

/// A ball on the device, its parameters for sums, and its step.
struct Ball {
    snow: Snowpack,
    dimensions: u32,
    cell_m: f64,
    dt_s: f64,
}

/// Sums over a ball.
#[derive(Clone, Copy, Debug)]
struct Motion {
    velocity: DVec3,
    /// About z, relative to the centre of mass, including that of affine velocities, in kg m²/s.
    angular_momentum: f64,
    /// Moment of inertia about z, including that of affine velocities, in kg m².
    inertia: f64,
    kinetic: f64,
}

impl Ball {
    fn new(scene: &Scene, dt_share: f64) -> Self {
        // Thousands of steps; the twin test below runs with validation.
        let device = Device::open(&DeviceOptions::default()).unwrap();
        let mut scene = scene.clone();
        let dt_s = dt_share * scene.dt_s();
        scene.time.dt_s = frazil_scene::TimeStep::Seconds(dt_s);
        let mpm = Mpm::of_scene(&device, &scene, &scene.sample().unwrap(), Tuning::default()).unwrap();
        let mpm_section = scene.mpm().unwrap();
        let (dimensions, cell_m) = (mpm_section.dimensions, mpm_section.cell_size_m);
        Self { snow: Snowpack::of(device, mpm), dimensions, cell_m, dt_s }
    }

    fn advance_s(&mut self, time_s: f64) {
        self.snow.advance((time_s / self.dt_s).round() as u64);
    }

    fn motion(&self) -> Motion {
        let particles =
            particles_of_state(self.snow.mpm.parameters(), &state_of(&self.snow.device, &self.snow.mpm));
        let mass: f64 = particles.iter().map(|p| p.mass).sum();
        let centre = particles.iter().map(|p| p.mass * p.position).sum::<DVec3>() / mass;
        let velocity = particles.iter().map(|p| p.mass * p.velocity).sum::<DVec3>() / mass;
        // D of the cubic spline.
        let d = self.cell_m * self.cell_m / 3.0;
        let is_affine = self.snow.mpm.parameters().has_affine();
        let own = if is_affine { 2.0 * d * mass } else { 0.0 };
        let sum = |of: &dyn Fn(&twin::Particle) -> f64| particles.iter().map(of).sum::<f64>();
        Motion {
            velocity,
            angular_momentum: sum(&|p| {
                let (r, v) = (p.position - centre, p.velocity - velocity);
                p.mass * (r.cross(v).z + d * (p.affine.x_axis.y - p.affine.y_axis.x))
            }),
            inertia: sum(&|p| p.mass * (p.position - centre).truncate().length_squared()) + own,
            kinetic: sum(&|p| {
                let c: f64 = p.affine.to_cols_array().iter().map(|c| c * c).sum();
                0.5 * p.mass * (p.velocity.length_squared() + d * c)
            }),
        }
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// A free disk at 10 rad/s.
fn spinning(dimensions: u32, cell_m: f64, dt_share: f64, more: &[&str]) -> Ball {
    let spin = ["particles.0.angular_velocity_rad_s=[0,0,10]", "gravity_m_s2=[0,0,0]"];
    let sets = strings(&[&spin, more].concat());
    let scene = scene(dimensions, cell_m, [0.0, 0.0], [[-0.2, -0.2], [0.2, 0.2]], &sets);
    Ball::new(&scene, dt_share)
}

/// After the first step every particle and its affine velocity still rotate rigidly, and angular momentum and
/// energy are those of the rigid body, including that of affine velocities.
#[test]
fn a_rotating_block_starts_in_rigid_rotation() {
    for dimensions in [2, 3] {
        let mut ball = spinning(dimensions, 0.02, 1.0, &["mpm.material.plastic=false"]);
        let before = ball.motion();
        ball.snow.advance(1);
        let after = ball.motion();
        let spin = DMat3::from_cols(DVec3::Y * 10.0, DVec3::X * -10.0, DVec3::ZERO);
        let particles = ball.snow.particles();
        let velocity = |p: &twin::Particle| (p.velocity - spin * p.position).length();
        let worst_v = particles.iter().map(velocity).fold(0.0, f64::max);
        let affine = |p: &twin::Particle| {
            (p.affine - spin).to_cols_array().iter().fold(0.0_f64, |max, c| max.max(c.abs()))
        };
        let worst_c = particles.iter().map(affine).fold(0.0, f64::max);
        let [l, e] = [
            after.angular_momentum / (10.0 * before.inertia),
            after.kinetic / (0.5 * before.inertia * 100.0),
        ];
        println!(
            "{dimensions}-D: velocities rigid to {worst_v:.1e} m/s, C to {worst_c:.1e} 1/s, angular momentum \
             {l:.6}, energy {e:.6} of the rigid body's"
        );
        // A step rotates positions by ω Δt = 2e-3: velocities of the chord differ by ω² r Δt = 2e-3 m/s.
        assert!(worst_v < 100.0 * RADIUS_M * 1.1 * ball.dt_s, "{worst_v} m/s");
        assert!(worst_c < 1e-2, "{worst_c} 1/s");
        assert!((l - 1.0).abs() < 1e-5 && (e - 1.0).abs() < 1e-4, "{l} {e}");
    }
}

/// After 0.1 s a free disk has the spin that it had, whatever step and cells.
#[test]
fn a_free_disk_keeps_its_spin_at_any_step() {
    // The short form has the first three.
    let cases = [
        ("default, yielding", &[][..], 0.995),
        ("PIC at a rate", &["mpm.material.plastic=false", "mpm.pic_rate_per_s=250"], 0.995),
        ("pic_flip", &["mpm.material.plastic=false", "mpm.transfer=\"pic_flip\""], 0.0),
        ("default", &["mpm.material.plastic=false"], 0.995),
        (
            "pic_flip, no PIC",
            &["mpm.material.plastic=false", "mpm.transfer=\"pic_flip\"", "mpm.pic_rate_per_s=0"],
            0.95,
        ),
    ];
    for (name, sets, least) in cases.into_iter().take(if is_full_run() { 5 } else { 3 }) {
        for &cell_m in if is_full_run() { &[0.02, 0.01][..] } else { &[0.02] } {
            let kept = [1.0, 0.5].map(|dt_share| {
                let mut ball = spinning(2, cell_m, dt_share, sets);
                let before = ball.motion();
                ball.advance_s(0.1);
                let after = ball.motion();
                after.angular_momentum / after.inertia / (before.angular_momentum / before.inertia)
            });
            println!("{name}, h {cell_m} m: {:.4} of the spin, {:.4} at dt/2", kept[0], kept[1]);
            // The loss of affine transfers is the growth of the disk by centrifugal strain, below ρ ω² R²/E =
            // 3e-3. PIC per second loses the same at any step, to its share of a step (3 %, e-folded 1.4
            // times); per step it lost 0.83 at this step and 0.98 at half of it.
            assert!(kept[0] > least && (kept[0] - kept[1]).abs() < 0.04, "{name} {kept:?}");
        }
    }
}

/// Returns the acceleration from 0.1 s on of a ball on a slope, as a share of that of a rigid ball that
/// rolls. The slope is the floor of the domain under oblique gravity, or a plane at an angle to the grid.
fn rolling(
    dimensions: u32,
    cell_m: f64,
    dt_share: f64,
    is_oblique: bool,
    sets: &[&str],
    times: [f64; 2],
) -> f64 {
    let slope = 15.0_f64.to_radians();
    let (sin, cos) = slope.sin_cos();
    let mut more = strings(sets);
    more.push("mpm.walls.friction=0.6".to_owned());
    let scene = if is_oblique {
        let at = [0.3 + RADIUS_M * sin, 0.6 + RADIUS_M * cos];
        let plane = format!("plane={{point_m=[0.3,0.6,0.0],normal=[{sin},{cos},0.0]}}");
        more.push(format!("bodies=[{{name=\"slope\",friction=0.6,shape={{{plane}}}}}]"));
        scene(dimensions, cell_m, at, [[0.0, 0.0], [1.5, 0.9]], &more)
    } else {
        more.push(format!("gravity_m_s2=[{},{},0]", G * sin, -G * cos));
        scene(dimensions, cell_m, [0.2, RADIUS_M], [[0.0, 0.0], [1.5, 0.4]], &more)
    };
    let down = if is_oblique { DVec3::new(cos, -sin, 0.0) } else { DVec3::X };
    let mut ball = Ball::new(&scene, dt_share);
    ball.advance_s(times[0]);
    let first = ball.motion().velocity.dot(down);
    ball.advance_s(times[1] - times[0]);
    let second = ball.motion().velocity.dot(down);
    let share = if ball.dimensions == 2 { 2.0 / 3.0 } else { 5.0 / 7.0 };
    (second - first) / ((times[1] - times[0]) * share * G * sin)
}

const ELASTIC: [&str; 1] = ["mpm.material.plastic=false"];

/// A disk rolls at 2/3 g sin θ.
#[test]
fn a_disk_rolls_down_a_slope() {
    let mut cells = vec![(0.02, false, 1.0), (0.02, false, 0.5), (0.02, true, 1.0)];
    if is_full_run() {
        let more = [
            (0.01, false, 1.0),
            (0.02, true, 0.5),
            (0.02, false, 0.25),
            (0.01, false, 0.5),
            (0.01, true, 1.0),
            (0.01, true, 0.5),
        ];
        cells.extend(more);
    }
    let mut found = Vec::new();
    for (cell_m, is_oblique, dt_share) in cells {
        let share = rolling(2, cell_m, dt_share, is_oblique, &ELASTIC, [0.1, 0.5]);
        println!("h {cell_m} m, oblique {is_oblique}, {dt_share} dt: {share:.3} of 2/3 g sin θ");
        // The inertia of affine velocities is 4/3 (h/R)² of the disk's: 2 % of the acceleration at R = 5 h.
        assert!((share - 1.0).abs() < 0.1, "{share}");
        found.push(share);
    }
    assert!((found[0] - found[1]).abs() < 0.03, "{found:?}");
    if let [coarse, _, _, fine, ..] = found[..] {
        assert!((fine - 1.0).abs() < (coarse - 1.0).abs() + 0.02, "{found:?}");
    }
}

/// The method of the papers, which was the default, for comparison.
#[test]
fn the_papers_transfer_and_contact_hardly_roll() {
    let papers = ["mpm.transfer=\"pic_flip\"", "mpm.flip_ratio=0.95"];
    let of_nodes = ["mpm.contact=\"nodes\""];
    let mut cases = vec![("PIC/FLIP 0.95", &papers[..], 0.02, false, 1.0)];
    if is_full_run() {
        cases.extend([
            ("PIC/FLIP 0.95", &papers[..], 0.02, false, 0.5),
            ("PIC/FLIP 0.95", &papers[..], 0.02, true, 1.0),
            ("PIC/FLIP 0.95", &papers[..], 0.01, false, 1.0),
            ("APIC, contact of nodes", &of_nodes[..], 0.02, false, 1.0),
            ("APIC, contact of nodes", &of_nodes[..], 0.02, false, 0.5),
            ("APIC, contact of nodes", &of_nodes[..], 0.02, true, 1.0),
            ("APIC, contact of nodes", &of_nodes[..], 0.01, false, 1.0),
        ]);
    }
    for (name, sets, cell_m, is_oblique, dt_share) in cases {
        let share = rolling(2, cell_m, dt_share, is_oblique, &[&ELASTIC, sets].concat(), [0.1, 0.5]);
        println!("{name}, h {cell_m} m, oblique {is_oblique}, {dt_share} dt: {share:.3} of 2/3 g sin θ");
        assert!(sets != papers || share < 0.5, "{share}");
    }
}

/// Default snow yields little under its weight in a disk of this size, and rolls like the elastic one.
#[test]
fn a_disk_of_default_snow_rolls() {
    let share = rolling(2, 0.02, 1.0, false, &[], [0.1, 0.5]);
    println!("default snow: {share:.3} of 2/3 g sin θ");
    assert!((share - 1.0).abs() < 0.1, "{share}");
}

/// A ball rolls at 5/7 g sin θ. Obliquely to the grid the row of the ledger is a FAIL, and this test, too.
#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn a_ball_rolls_down_a_slope() {
    let mut cases = vec![(0.02, false, 1.0)];
    if is_full_run() {
        cases.extend([(0.02, false, 0.5), (0.02, true, 1.0), (0.0125, false, 1.0)]);
    }
    for (cell_m, is_oblique, dt_share) in cases {
        let share = rolling(3, cell_m, dt_share, is_oblique, &ELASTIC, [0.1, 0.3]);
        println!("3-D, h {cell_m} m, oblique {is_oblique}, {dt_share} dt: {share:.3} of 5/7 g sin θ");
        assert!((share - 1.0).abs() < 0.1, "{share}");
    }
}

/// Contact forces of random particles at walls and a moving ball, at sizes 0, 1 and around powers of two.
#[test]
fn contact_forces_agree_with_the_twin() {
    let device = device();
    for (dimensions, n) in [(2, 0), (2, 1), (2, 31), (2, 32), (2, 33), (3, 127), (3, 129), (2, 257)] {
        let sums = Rasterization::default();
        let cases = |transfer| {
            [(None, sums), (None, Rasterization::FixedPoint), (Some(0.0), sums)].map(
                |(flip_ratio, rasterization)| Section {
                    transfer,
                    flip_ratio,
                    rasterization,
                    ..Section::sampled(dimensions, 0.125)
                },
            )
        };
        for mut section in [Transfer::Apic, Transfer::Mls].into_iter().flat_map(cases) {
            let transfer = section.transfer;
            let depth = if dimensions == 2 { 0.0 } else { 0.5 };
            section.walls.friction = 0.25;
            let surroundings = frazil_solvers::mpm::Surroundings {
                gravity_m_s2: [1.0, -9.0, 0.0],
                ..empty_space([0.0; 3], [1.0, 0.75, depth])
            };
            // Not on a place of the lattice of particles: at the centre of a ball the normal is undefined.
            let centre_m = DVec3::new(0.4375, 0.40625, 0.46875 * f64::from(depth));
            let ball = uniform_bodies::UniformBody {
                shape: uniform_bodies::Shape::Ball { centre_m, radius_m: 0.125 },
                surface: uniform_bodies::Surface { friction: 0.5, sticky: false },
                motion: Some(uniform_bodies::Motion {
                    velocity_m_s: DVec3::new(0.5, -0.25, 0.0),
                    from_s: 0.0,
                    until_s: 1.0,
                }),
            };
            let case = MpmCase::new(section, 1.0 / 8192.0, surroundings, vec![ball]);
            let mut particles = case.scatter(n.max(1), 3);
            particles.truncate(n as usize);
            for (i, p) in particles.iter_mut().enumerate() {
                p.contact_radius = f64::from(0.03_f32) * (1.0 + (i % 3) as f64);
                p.slip = DVec3::new(0.001 * (i % 5) as f64, -0.002, 0.0).as_vec3().as_dvec3();
            }
            let mut stages = Stages::new(&case, &device, &particles, 5);
            stages.sort();
            stages.rasterize();
            stages.update_nodes(5.0 / 8192.0);
            stages.update_particles(5.0 / 8192.0);
            let beyond = stages.worst.beyond();
            assert!(beyond.is_empty(), "{dimensions}-D, {n} particles, {transfer:?}:\n{beyond}");
            let touching = stages.particles().iter().filter(|p| p.slip != DVec3::ZERO).count();
            println!(
                "{dimensions}-D, {n} particles, {transfer:?}: {touching} in contact\n{}",
                stages.worst.shares()
            );
            assert!(n < 100 || touching > 20, "{touching} of {n}");
        }
    }
    assert_no_validation_messages(&device);
}
