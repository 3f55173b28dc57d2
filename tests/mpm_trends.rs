//! Trends that Cai2020 reports from its pictures (section 3, figures 2 and 7), as numbers: effects of
//! stiffness, strength and friction on a snowball on two ramps, and of strength on letters that fall.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_io::{Column, Frame};
use frazil_reference::mpm::Particle;
use frazil_report::ShapeStatistics;
use frazil_scene::Scene;
use frazil_solvers::mpm::Mpm;
use frazil_solvers::{Tuning, factory_of};
use frazil_testkit::{assert_no_validation_messages, device, is_full_run};
use frazil_tests::snowpack::Snowpack;
use glam::{DMat2, DVec2, DVec3};
use std::fmt;

/// Overrides for cells twice as wide with half as many particles per cell: a sixteenth of the work for the
/// same claims.
const REDUCED: [&str; 2] = ["mpm.cell_size_m=0.03", "mpm.particles_per_cell=4"];

/// A scene on the device.
struct Trial {
    snow: Snowpack,
    linking_length_m: f64,
    start_x_m: f64,
    dt_s: f64,
}

/// State of the snow at an instant.
#[derive(Clone, Copy, Debug)]
struct Snapshot {
    time_s: f64,
    centre_m: DVec2,
    speed_m_s: f64,
    /// Angular momentum about the centre of mass, relative to that of the same disk rolling at this speed.
    rolling: f64,
    /// Ratio of the longer to the shorter axis of inertia.
    aspect: f64,
    /// Mean plastic volume ratio J_P.
    plastic_volume: f64,
    /// Root mean square of J_P − 1.
    yield_rms: f64,
    /// Share of the mass whose plastic volume has changed by more than a tenth.
    yielded_share: f64,
    run_out_m: f64,
    spread_m: f64,
    /// Pieces of any size, and those of one per cent of all particles or more.
    n_pieces: u64,
    n_fragments: u64,
    powder_share: f64,
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.2} s at ({:.2}, {:.2}) m, {:.2} m/s, rolling {:+.2}, aspect {:.2}, J_P {:.2}, rms {:.3}, \
             yielded {:.3}, run-out {:.2} m, spread {:.3} m, {} pieces, {} fragments, powder {:.3}",
            self.time_s,
            self.centre_m.x,
            self.centre_m.y,
            self.speed_m_s,
            self.rolling,
            self.aspect,
            self.plastic_volume,
            self.yield_rms,
            self.yielded_share,
            self.run_out_m,
            self.spread_m,
            self.n_pieces,
            self.n_fragments,
            self.powder_share
        )
    }
}

impl Trial {
    fn new(scene: &str, overrides: &[&str]) -> Self {
        let overrides: Vec<String> = REDUCED.iter().chain(overrides).map(|text| (*text).to_owned()).collect();
        let scene = Scene::find(scene, &overrides).unwrap();
        let device = device();
        let mpm = Mpm::of_scene(&device, &scene, &scene.sample().unwrap(), Tuning::default()).unwrap();
        let snow = Snowpack::of(device, mpm);
        let linking_length_m = factory_of(&scene).unwrap().linking_length_m(&scene);
        let mut trial = Self { snow, linking_length_m, start_x_m: 0.0, dt_s: scene.dt_s() };
        trial.start_x_m = trial.snapshot().centre_m.x;
        trial
    }

    /// Advances to a time in s, and measures.
    fn until(&mut self, time_s: f64) -> Snapshot {
        let steps = (time_s / self.dt_s).round() as u64;
        // The host waits now and then, so that the capacity for blocks follows snow that scatters.
        while self.snow.mpm.step() < steps {
            self.snow.advance((steps - self.snow.mpm.step()).min(32));
        }
        assert_no_validation_messages(&self.snow.device);
        self.snapshot()
    }

    fn snapshot(&self) -> Snapshot {
        let particles = self.snow.particles();
        let shape = ShapeStatistics::measure(&frame(&particles), self.start_x_m, self.linking_length_m);
        let mass: f64 = particles.iter().map(|p| p.mass).sum();
        let mean =
            |of: &dyn Fn(&Particle) -> f64| particles.iter().map(|p| p.mass * of(p)).sum::<f64>() / mass;
        let mean_of = |of: &dyn Fn(&Particle) -> DVec3| DVec2::new(mean(&|p| of(p).x), mean(&|p| of(p).y));
        let (centre_m, velocity) = (mean_of(&|p| p.position), mean_of(&|p| p.velocity));
        let arm = |p: &Particle| p.position.truncate() - centre_m;
        let inertia = |i: usize, j: usize| mean(&|p| arm(p)[i] * arm(p)[j]);
        let [long, short] = axes(DMat2::from_cols_array_2d(&[
            [inertia(0, 0), inertia(0, 1)],
            [inertia(1, 0), inertia(1, 1)],
        ]));
        let spin = mean(&|p| arm(p).perp_dot(p.velocity.truncate() - velocity));
        // For a disk, whose moment of inertia per mass is ½ r².
        let radius_m = (2.0 * (long + short)).sqrt();
        Snapshot {
            time_s: self.snow.mpm.step() as f64 * self.dt_s,
            centre_m,
            speed_m_s: velocity.length(),
            rolling: 2.0 * spin / (radius_m * velocity.length().max(1e-3)),
            aspect: (long / short).sqrt(),
            plastic_volume: mean(&|p| p.plastic_volume),
            yield_rms: mean(&|p| (p.plastic_volume - 1.0).powi(2)).sqrt(),
            yielded_share: mean(&|p| f64::from((p.plastic_volume - 1.0).abs() > 0.1)),
            run_out_m: shape.run_out_m,
            spread_m: shape.spread_m,
            n_pieces: shape.n_pieces,
            n_fragments: shape.n_fragments,
            powder_share: shape.powder_share,
        }
    }
}

/// Returns the eigenvalues of a symmetric matrix, the larger one first.
fn axes(m: DMat2) -> [f64; 2] {
    let (mean, half) = (0.5 * (m.x_axis.x + m.y_axis.y), 0.5 * (m.x_axis.x - m.y_axis.y));
    let radius = half.hypot(m.x_axis.y);
    [mean + radius, mean - radius]
}

fn frame(particles: &[Particle]) -> Frame {
    let positions = particles.iter().map(|p| p.position.to_array().map(|x| x as f32)).collect();
    let ids = particles.iter().map(|p| p.id).collect();
    let masses = particles.iter().map(|p| p.mass as f32).collect();
    let columns = vec![
        Column::vec3("position", "m", positions),
        Column::u32("id", "", ids),
        Column::f32("mass", "kg", masses),
    ];
    Frame::new(0, 0.0, columns).unwrap()
}

/// Measures the scene with each of several overrides, at some times.
fn snapshots<const CASES: usize>(
    scene: &str,
    cases: [&[&str]; CASES],
    times_s: &[f64],
) -> [Vec<Snapshot>; CASES] {
    cases.map(|overrides| {
        let mut trial = Trial::new(scene, overrides);
        let snapshots: Vec<Snapshot> = times_s.iter().map(|time_s| trial.until(*time_s)).collect();
        for snapshot in &snapshots {
            println!("{scene} {overrides:?}: {snapshot}");
        }
        snapshots
    })
}

/// Runs snowballs on the ramps with the extremes of a parameter, and in the long form with the paper's value
/// between them.
fn extremes(low: &[&str], high: &[&str], times_s: &[f64]) -> Vec<Vec<Snapshot>> {
    if is_full_run() {
        snapshots("ramps", [low, &[], high], times_s).into()
    } else {
        snapshots("ramps", [low, high], times_s).into()
    }
}

/// Returns the factor between the cases that were run, given the one between neighbours of `extremes`.
fn over_steps(found: &[Vec<Snapshot>], factor: f64) -> f64 {
    if found.len() == 2 { factor * factor } else { factor }
}

/// Asserts that each number is at least `factor` times the next one.
#[track_caller]
fn assert_falls(what: &str, factor: f64, numbers: &[f64]) {
    for pair in numbers.windows(2) {
        assert!(pair[0] > factor * pair[1], "{what} does not fall by a factor of {factor}: {numbers:?}");
    }
}

/// Section 3: larger E₀ and ξ make the ball «more solid and icy because it is less prone to deformation»,
/// smaller ones muddy.
#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn larger_stiffness_and_hardening_keep_a_snowball_in_shape() {
    let muddy = ["mpm.material.youngs_modulus_pa=4.8e4", "mpm.material.hardening=5"];
    let icy = ["mpm.material.youngs_modulus_pa=4.2e5", "mpm.material.hardening=15"];
    // It hits the second ramp after 1.1 s.
    let found = extremes(&muddy, &icy, &[1.2]);
    let from_muddy =
        |of: fn(&Snapshot) -> f64| found.iter().map(|snapshots| of(&snapshots[0])).collect::<Vec<_>>();
    assert_falls("aspect", over_steps(&found, 1.05), &from_muddy(|snapshot| snapshot.aspect));
    assert_falls("yield", over_steps(&found, 1.3), &from_muddy(|snapshot| snapshot.yield_rms));
    // Muddy snow is compacted and has a lower centre of mass.
    let heights: Vec<f64> = from_muddy(|snapshot| snapshot.centre_m.y).into_iter().rev().collect();
    assert_falls("height", over_steps(&found, 1.01), &heights);
    let (muddy, icy) = (found[0][0], found[found.len() - 1][0]);
    assert!(muddy.plastic_volume < 0.9 && icy.plastic_volume > 0.95, "{muddy} {icy}");
}

/// Section 3: smaller θ_c and θ_s make snow powdery: it yields throughout and is compacted, while stronger
/// snow breaks into chunks that stay intact and leave gaps. At the scene's FLIP ratio no single grains
/// separate.
#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn smaller_critical_strains_let_a_snowball_yield_throughout() {
    let powdery = ["mpm.material.critical_compression=6.25e-3", "mpm.material.critical_stretch=1.9e-3"];
    let chunky = ["mpm.material.critical_compression=5e-2", "mpm.material.critical_stretch=1.5e-2"];
    let found = extremes(&powdery, &chunky, &[0.6, 1.2]);
    // On the first ramp under its weight alone.
    let yields: Vec<f64> = found.iter().map(|snapshots| snapshots[0].yield_rms).collect();
    assert_falls("yield", over_steps(&found, 1.5), &yields);
    // After the blow of the second one, under which stronger snow yields, too, but where it breaks.
    for stronger in &found[1..] {
        assert_falls("share that yields", 1.5, &[found[0][1].yielded_share, stronger[1].yielded_share]);
    }
    let volumes: Vec<f64> = found.iter().rev().map(|snapshots| snapshots[1].plastic_volume).collect();
    assert_falls("plastic volume", over_steps(&found, 1.02), &volumes);
}

/// Section 3 and figure 7: smaller θ_c and θ_s make powder. They do if nothing damps the motion of particles
/// relative to the grid; with the paper's share of PIC of 0.05 in each step, 200/s at this step, snow of any
/// strength stays in one piece.
#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn smaller_critical_strains_make_powder_unless_particles_are_damped() {
    let even = ["mpm.particles_per_cell=8", "particles.0.fill=\"blue_noise\""];
    let powdery = ["mpm.material.critical_compression=6.25e-3", "mpm.material.critical_stretch=1.9e-3"];
    let flip = ["mpm.flip_ratio=1.0"];
    let [weak, paper] = [[&even[..], &powdery, &flip].concat(), [&even[..], &flip].concat()];
    let [weak, paper] = snapshots("ramps", [&weak, &paper], &[1.6]).map(|snapshots| snapshots[0]);
    assert_falls("number of pieces", 1.7, &[weak.n_pieces as f64, paper.n_pieces as f64]);
    assert_falls("share of powder", 1.5, &[weak.powder_share, paper.powder_share]);
    if is_full_run() {
        // The outcome of the paper's figure is not that of its settings: a FAIL of docs/results.md.
        let printed = [&even[..], &powdery].concat();
        let [printed] = snapshots("ramps", [&printed], &[1.6]).map(|snapshots| snapshots[0]);
        assert!(printed.n_pieces <= 5 && printed.powder_share < 0.01, "{printed}");
    }
}

/// Section 3: more friction slows the snow down, and makes it «roll much more during its descent, instead of
/// simply sliding».
#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn friction_slows_a_snowball_and_makes_it_roll() {
    let friction = |mu: &str| {
        ["bodies.0.friction", "bodies.1.friction", "mpm.walls.friction"].map(|key| format!("{key}={mu}"))
    };
    let sets = ["0", "0.1", "0.3", "0.6"].map(friction);
    let sets: [Vec<&str>; 4] = std::array::from_fn(|i| sets[i].iter().map(String::as_str).collect());
    let snapshots =
        snapshots("ramps", std::array::from_fn(|i| &sets[i][..]), &[0.6]).map(|snapshots| snapshots[0]);
    assert_falls("speed", 1.15, &snapshots.map(|snapshot| snapshot.speed_m_s));
    assert_falls("run-out", 1.05, &snapshots.map(|snapshot| snapshot.run_out_m));
    let [none, paper, _, rough] = snapshots;
    // With the paper's 0.1 it slides like a block: v = g t (sin 25° − μ cos 25°).
    for (snapshot, mu) in [(none, 0.0), (paper, 0.1)] {
        let slides_m_s = 9.81 * snapshot.time_s * (0.4226 - mu * 0.9063);
        assert!((snapshot.speed_m_s / slides_m_s - 1.0).abs() < 0.05, "{snapshot}: {slides_m_s}");
        assert!(snapshot.rolling.abs() < 0.1, "{snapshot}");
    }
    // No block slides if μ > tan 25° = 0.47; snow that moves down rolls clockwise.
    assert!(rough.speed_m_s > 0.1 && rough.rolling < -0.7 && rough.rolling > -1.2, "{rough}");
}

/// Figure 8: a plow piles snow up before it.
#[test]
#[ignore = "long: a whole scene; mpm_contact has a blade that pushes snow"]
fn snow_piles_up_before_a_plow() {
    let mut trial = Trial::new("snowplow", &["mpm.cell_size_m=0.05"]);
    let mut above = |time_s: f64| {
        trial.until(time_s);
        let particles = trial.snow.particles();
        // The bed is 22.5 cm deep.
        let high: f64 = particles.iter().filter(|p| p.position.y > 0.24).map(|p| p.mass).sum();
        let share = high / particles.iter().map(|p| p.mass).sum::<f64>();
        println!("{time_s} s: {share:.3} above the bed");
        share
    };
    let shares = [0.0, 0.7, 0.9, 1.2].map(&mut above);
    assert_eq!(shares[0], 0.0);
    assert_falls("snow above the bed", 1.3, &[shares[3], shares[2], shares[1], 0.01]);
    assert!(shares[3] > 0.15, "{shares:?}");
}

/// Figure 2: letters with small θ_c and θ_s «look like melting instead of collapsing»; large ones make them
/// crumble. In numbers, the former are compressed to half of their volume and height, and flow together; the
/// latter break into many pieces. Random positions have gaps of their own, so that particles are spread
/// evenly.
#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn letters_with_weak_links_melt_and_with_strong_ones_crumble() {
    let even = ["mpm.particles_per_cell=8", "particles.0.fill=\"blue_noise\""];
    let [muddy, crumbly] = ["letters_muddy", "letters_crumbly"].map(|scene| {
        let [snapshots] = snapshots(scene, [&even], &[0.0, 0.5, 1.0]);
        snapshots
    });
    assert_eq!([muddy[0].n_pieces, crumbly[0].n_pieces], [4, 4], "S, N, O and W");
    for (muddy, crumbly) in muddy.iter().zip(&crumbly).skip(1) {
        // Four times as many at any size of cells and seed; the difference of large ones is smaller.
        assert_falls("number of pieces", 3.0, &[crumbly.n_pieces as f64, muddy.n_pieces as f64]);
        assert!(muddy.n_fragments <= 4, "{muddy}");
    }
    assert!(crumbly[2].n_fragments > muddy[2].n_fragments, "{}, {}", crumbly[2], muddy[2]);
    assert_falls("height", 1.5, &[crumbly[2].centre_m.y, muddy[2].centre_m.y]);
    assert_falls("plastic volume", 1.3, &[crumbly[2].plastic_volume, muddy[2].plastic_volume]);
    assert_falls("spread", 1.01, &[crumbly[2].spread_m, muddy[2].spread_m]);
}
