//! Water at the defaults, compared with closed forms and experiments: scenes with nothing set beyond
//! geometry, material and step, at Δt and Δt/2, d and d/2. docs/results.md lists the results. The long
//! form (`FRAZIL_FULL=1`) has finer particles.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_report::damped_period;
use frazil_report::reference_data::{KOSHIZUKA_OKA_1996_FRONT, MARTIN_MOYCE_1952_FRONT, dam_break_time};
use frazil_scene::Scene;
use frazil_solvers::pbd::{DensityStatus, Fluid};
use frazil_testkit::{assert_no_validation_messages, device, is_full_run};
use frazil_tests::Simulation;
use frazil_tests::cylinders::{coaxial_cylinders, torque_n_m};
use std::f64::consts::PI;

/// Sets up a scene, with velocities by position in place of its own.
fn simulation(text: &str, velocity_m_s: impl Fn([f64; 3]) -> [f64; 3]) -> Simulation {
    let scene = Scene::parse(text, "water.toml", &[]).unwrap();
    let mut sampled = scene.sample().unwrap();
    for (x, v) in sampled.positions_m.iter().zip(&mut sampled.velocities_m_s) {
        *v = velocity_m_s(x.map(f64::from)).map(|v| v as f32);
    }
    let device = device();
    let fluid = Fluid::new(&device, &scene, &sampled).unwrap();
    Simulation { device, scene, fluid, step: 0, replay: Default::default() }
}

fn at_rest(_: [f64; 3]) -> [f64; 3] {
    [0.0; 3]
}

fn status(simulation: &Simulation) -> DensityStatus {
    simulation.device.download(simulation.fluid.density_solve().status(), 1).unwrap()[0]
}

#[test]
fn a_resting_column_is_compressed_within_the_tolerance_at_any_step() {
    // Sixteen layers at 2 ms; in the long form also 24 layers, and shorter steps. The tolerance of the solve
    // is 1e-4 in the mean.
    let (spacings, steps): (&[f64], &[f64]) =
        if is_full_run() { (&[0.015, 0.01], &[0.002, 0.001, 0.0005]) } else { (&[0.015], &[0.002]) };
    for &d in spacings {
        for &dt_s in steps {
            let (spacing, dt) = (format!("fluid.particle_spacing_m={d}"), format!("time.dt_s={dt_s}"));
            let mut column = Simulation::new("hydrostatic", &[&spacing, &dt]);
            let [settling_s, time_s] = if is_full_run() { [0.3, 0.2] } else { [0.15, 0.1] };
            column.advance((settling_s / dt_s).round() as u64);
            let unmet_at_first = status(&column).n_unmet;
            let end = column.advance((time_s / dt_s).round() as u64);
            let now = status(&column);
            let densities = column.words("density");
            let bottom: Vec<f64> = column
                .positions()
                .iter()
                .zip(&densities)
                .filter(|(x, _)| x[1] < 0.06)
                .map(|(_, word)| f64::from(f32::from_bits(*word)) / 1000.0 - 1.0)
                .collect();
            let mean = bottom.iter().sum::<f64>() / bottom.len() as f64;
            let speed = (2.0 * end.kinetic_energy_j
                / (f64::from(end.particles) * column.scene.particle_mass_kg()))
            .sqrt();
            println!(
                "column d {d} dt {dt_s}: bottom quarter {:+.3} %, error {:.1e} after {} iterations, {} steps \
                 unmet, speed {speed:.4} m/s",
                100.0 * mean,
                now.error,
                now.iterations,
                now.n_unmet
            );
            assert!(now.error <= 1e-4 && now.n_unmet == unmet_at_first, "{now:?}");
            assert!(mean.abs() < 3e-3, "the bottom quarter is off by {mean:.2e}");
            assert_no_validation_messages(&column.device);
        }
    }
}

/// Returns the period in s of the first mode of water in a tank, and the times and displacements along x of
/// the centre of mass of water that sloshes in it.
fn slosh(d: f64, dt_s: f64, amplitude: f64) -> (f64, Vec<(f64, f64)>) {
    let (length, depth) = (0.5, 0.2);
    let n = (length / d).round() as usize;
    let columns: String = (0..n)
        .map(|i| {
            let (x0, x1) = (i as f64 * d, (i + 1) as f64 * d);
            let height = depth + amplitude * (PI * 0.5 * (x0 + x1) / length).cos();
            let top = (height / d).round() * d;
            format!(
                "[[particles]]\nshape.box = {{ min_m = [{x0}, 0.0, 0.0], max_m = [{x1}, {top}, {}] }}\n",
                4.0 * d
            )
        })
        .collect();
    let text = format!(
        "version = 1\nname = \"slosh\"\nup_axis = \"y\"\ntime = {{ dt_s = {dt_s}, duration_s = 10.0 }}\n\
         [fluid]\nparticle_spacing_m = {d}\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [{length}, {}, {}]\n\
         friction = {{ z_min = 0, z_max = 0 }}\n{columns}",
        2.0 * depth,
        4.0 * d
    );
    let mut tank = simulation(&text, at_rest);
    let k = PI / length;
    let period = 2.0 * PI / (9.81 * k * (k * depth).tanh()).sqrt();
    let stride = (0.008 / dt_s).round() as u64;
    let mut track = Vec::new();
    while tank.time_s() < 1.2 * period {
        let positions = tank.positions();
        let centre = positions.iter().map(|x| f64::from(x[0])).sum::<f64>() / positions.len() as f64;
        track.push((tank.time_s(), centre - 0.5 * length));
        tank.advance(stride);
    }
    assert_no_validation_messages(&tank.device);
    (period, track)
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn water_sloshes_with_the_period_of_its_first_mode_and_overshoots() {
    // Amplitudes of one and of two spacings at d = 2 cm.
    let mut cases = vec![(0.02, 0.002, 0.02), (0.02, 0.001, 0.04)];
    if is_full_run() {
        cases.push((0.02, 0.002, 0.04));
        let finer = [(0.0125, 0.002), (0.0125, 0.001), (0.01, 0.001)];
        cases.extend(finer.into_iter().flat_map(|(d, dt_s)| [(d, dt_s, 0.02), (d, dt_s, 0.04)]));
    }
    for (d, dt_s, amplitude) in cases {
        let (period, track) = slosh(d, dt_s, amplitude);
        let measured = damped_period(&track, period) / period;
        // The opposite extreme of the centre, over the first.
        let ratio = track.iter().map(|(_, x)| *x).fold(0.0, f64::max) / track[0].1.abs();
        println!(
            "slosh d {d} dt {dt_s} amplitude {amplitude}: period {measured:.3} of {period:.3} s, overshoot \
             {ratio:.3}"
        );
        let tolerance = if amplitude > 1.5 * d { 0.03 } else { SMALL_SLOSH_TOLERANCE };
        assert!((measured - 1.0).abs() < tolerance, "period {measured:.3}");
        assert!(ratio > 0.65, "water hardly overshoots: {ratio:.3}");
    }
}

/// FAIL in the ledger, which asks for 3 %: waves of one spacing, in which particles hardly change neighbours,
/// have a period that is 4 % short.
const SMALL_SLOSH_TOLERANCE: f64 = 0.06;

/// Returns the kinematic viscosity in m²/s by which a shear wave decays in the middle of a long tank of width
/// `n_waves` half waves. The wave has no net flux, so that the ends affect it over their own distance only.
fn shear_wave(d: f64, dt_s: f64, viscosity: Option<f64>, is_no_slip: bool, most_s: f64) -> f64 {
    let half_wave = 0.08;
    let width = if is_no_slip { 2.0 * half_wave } else { half_wave };
    // Eight half waves long: waves from the ends, where the flow turns, do not reach the middle.
    let (length, depth) = (0.64, 0.06);
    let k = PI / half_wave;
    let viscosity_line = viscosity.map_or(String::new(), |v| format!("dynamic_viscosity_pa_s = {v}"));
    let slip = if is_no_slip { "y_min = 0" } else { "y_min = 0, z_min = 0, z_max = 0" };
    let text = format!(
        "version = 1\nname = \"shear\"\nup_axis = \"y\"\ntime = {{ dt_s = {dt_s}, duration_s = 10.0 }}\n\
         [fluid]\nparticle_spacing_m = {d}\n{viscosity_line}\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [{length}, {}, {width}]\nfriction = {{ {slip} }}\n\
         [[particles]]\nshape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [{length}, {depth}, {width}] }}\n",
        2.0 * depth,
    );
    let wave = move |z: f64| if is_no_slip { (k * z).sin() } else { (k * z).cos() };
    let mut tank = simulation(&text, |x| [0.1 * wave(x[2]), 0.0, 0.0]);
    let amplitude = |tank: &Simulation| {
        let (mut along, mut norm) = (0.0, 0.0);
        for (x, v) in tank.positions().iter().zip(tank.velocities()) {
            if (f64::from(x[0]) - 0.5 * length).abs() < length / 12.0 {
                let w = wave(x[2].into());
                along += w * f64::from(v[0]);
                norm += w * w;
            }
        }
        along / norm
    };
    // A fast decay is followed for one time constant at most.
    let kinematic = viscosity.unwrap_or(1e-3) / 1000.0;
    let time_s = (1.0 / (kinematic * k * k)).min(most_s);
    let steps = (time_s / dt_s).round().max(1.0) as u64;
    let before = amplitude(&tank);
    tank.advance(steps);
    let after = amplitude(&tank);
    assert_no_validation_messages(&tank.device);
    (before / after).ln() / (k * k * steps as f64 * dt_s)
}

#[test]
fn a_shear_wave_decays_by_the_viscosity_that_is_asked() {
    let is_full = is_full_run();
    let mut cases = vec![(0.01, 0.001)];
    if is_full {
        cases.extend([(0.01, 0.0005), (0.005, 0.0004), (0.005, 0.0002)]);
    }
    // The numerical viscosity, between walls that slip; that between no-slip walls differs little. The short
    // form has only a fluid so viscous that it does not matter.
    let floor = |(d, dt_s): &(f64, f64)| if is_full { shear_wave(*d, *dt_s, None, false, 0.1) } else { 0.0 };
    let floors: Vec<f64> = cases.iter().map(floor).collect();
    let most_s = if is_full { 0.1 } else { 0.04 };
    for is_no_slip in [false, true] {
        for (&(d, dt_s), floor) in cases.iter().zip(&floors) {
            let viscosities: &[f64] = if is_full { &[0.1, 1.0, 5.0] } else { &[5.0] };
            let decay = |v: f64| 1000.0 * shear_wave(d, dt_s, Some(v), is_no_slip, most_s);
            let found: Vec<(f64, f64)> = viscosities.iter().map(|&v| (v, decay(v))).collect();
            println!(
                "shear wave, no slip {is_no_slip}, d {d} dt {dt_s}: default {:.3} Pa s; asked, found \
                 {found:.3?}",
                1000.0 * floor
            );
            for (asked, measured) in found {
                let numerical = 1000.0 * floor.abs();
                // A fluid ten times as viscous as its particles' disorder is not affected by it.
                let floor = if asked < 10.0 * numerical { numerical } else { 0.0 };
                assert!(
                    (measured - asked).abs() < 0.05 * asked + floor,
                    "{measured:.3} Pa s for {asked}, at a numerical viscosity of {numerical:.3}"
                );
            }
        }
    }
}

/// Returns the torques on the outer and on the inner of two coaxial cylinders by water between them, over
/// that of Couette's flow.
fn torques_of_cylinders(viscosity_pa_s: f64, d: f64, dt_s: f64) -> [f64; 2] {
    let sections = format!(
        "[fluid]\nparticle_spacing_m = {d:?}\ndynamic_viscosity_pa_s = {viscosity_pa_s:?}\n\
         wall_friction = 0.0\n"
    );
    let (scene, sampled) = coaxial_cylinders(&sections, d, dt_s, 0.2);
    let device = device();
    let fluid = Fluid::new(&device, &scene, &sampled).unwrap();
    let mut water = Simulation { device, scene, fluid, step: 0, replay: Default::default() };
    let impulses = |water: &Simulation| [0, 1].map(|k| water.body_loads()[k].angular_impulse_n_m_s[2]);
    // Errors of the start have decayed to 2 % after four times of diffusion at 10 Pa s.
    water.advance((4.0 / viscosity_pa_s / dt_s).round() as u64);
    let before = impulses(&water);
    water.advance((0.02 / dt_s).round() as u64);
    let after = impulses(&water);
    assert_no_validation_messages(&water.device);
    [0, 1].map(|k| (after[k] - before[k]) / (0.02 * torque_n_m(viscosity_pa_s)))
}

/// FAIL in the ledger, which asks for 3 %: torques are 5 to 6 % too large at five and at eight layers across
/// the gap. The viscous forces of the sheared fluid carry Couette's torque to 1 %. The density constraint
/// carries the rest, as particles pass each other, in proportion to the viscosity and at any step (3 % with
/// h = 3 d). At five layers the curvature of the inner cylinder, which its drag leaves out, adds 2 %.
const TORQUE_TOLERANCE: f64 = 0.08;

/// Bound: what one cylinder gives, the other gets, to the 1 % by which the flow is not steady.
#[test]
#[ignore = "long: 800 steps; a shear wave has the viscosity in the short run"]
fn the_torques_of_coaxial_cylinders_are_opposite_and_couettes() {
    for (d, dt_s) in [(0.02, 0.001), (0.0125, 0.001)] {
        let [outer, inner] = torques_of_cylinders(10.0, d, dt_s);
        println!("d {d} m, Δt {dt_s} s: {outer:.4} and {inner:.4} of Couette's torque");
        assert!((outer + inner).abs() < 0.01, "torques {outer} and {inner} are not opposite");
        assert!((outer - 1.0).abs() < TORQUE_TOLERANCE, "outer cylinder: {outer} of Couette's torque");
    }
}

/// Returns the front's largest relative error at the points up to `until` widths, and that of each point.
fn dam_break(width_m: f64, n: f64, until: f64, points: &[(f64, f64)], length_widths: f64) -> Vec<f64> {
    let d = width_m / n;
    // A step in which the fastest water, 2 √(2 g H), crosses a quarter of a spacing.
    let dt_s = (0.25 * d / (2.0 * (2.0 * 9.81 * width_m).sqrt()) * 1e5).floor() / 1e5;
    let text = format!(
        "version = 1\nname = \"dam\"\nup_axis = \"y\"\ntime = {{ dt_s = {dt_s}, duration_s = 10.0 }}\n\
         [fluid]\nparticle_spacing_m = {d}\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [{}, {}, {}]\nfriction = {{ z_min = 0, z_max = 0 }}\n\
         [[particles]]\nshape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [{width_m}, {}, {}] }}\n",
        length_widths * width_m,
        2.5 * width_m,
        4.0 * d,
        2.0 * width_m,
        4.0 * d,
    );
    let mut dam = simulation(&text, at_rest);
    let mut front = vec![(0.0, 1.0)];
    let last = points.iter().rfind(|(_, z)| *z <= until).unwrap().0;
    while front.last().unwrap().0 < last {
        let now = dam.advance(4);
        assert_eq!((now.n_not_finite, now.n_outside), (0, 0));
        let z = (now.upper_m[0] + 0.5 * d) / width_m;
        front.push((dam_break_time(dam.time_s(), width_m, 9.81), z));
    }
    assert_no_validation_messages(&dam.device);
    points
        .iter()
        .filter(|(_, z)| *z <= until)
        .map(|(t, measured)| {
            let after = front.iter().position(|(time, _)| time >= t).unwrap_or(front.len() - 1).max(1);
            let ((t0, z0), (t1, z1)) = (front[after - 1], front[after]);
            (z0 + (z1 - z0) * ((t - t0) / (t1 - t0)).clamp(0.0, 1.0)) / measured - 1.0
        })
        .collect()
}

#[test]
#[ignore = "long: two experiments; fluid_kernels has a dam that breaks"]
fn dam_breaks_follow_two_experiments() {
    // FAIL in the ledger, which asks for 10 % at each point: the fronts of the first two widths are ahead.
    // The short form follows the longer of the two, for six widths.
    let is_full = is_full_run();
    let (resolutions, until): (&[f64], f64) =
        if is_full { (&[12.0, 16.0, 24.0], 9.0) } else { (&[12.0], 6.0) };
    for &n in resolutions {
        let percent =
            |errors: &[f64]| errors.iter().map(|e| format!("{:+.1}", 100.0 * e)).collect::<Vec<_>>();
        let oka = if is_full { dam_break(0.146, n, 3.7, &KOSHIZUKA_OKA_1996_FRONT, 4.0) } else { Vec::new() };
        println!("L/{n} Koshizuka & Oka: {:?} %", percent(&oka));
        let moyce = dam_break(0.05715, n, until, &MARTIN_MOYCE_1952_FRONT, until + 1.0);
        println!("L/{n} Martin & Moyce: {:?} %", percent(&moyce));
        let worst = |errors: &[f64]| errors.iter().fold(0.0_f64, |worst, e| worst.max(e.abs()));
        assert!(worst(&oka) < 0.22 && worst(&moyce) < 0.22, "{oka:.3?}, {moyce:.3?}");
        // From five widths on, within a tenth.
        let far: Vec<f64> = MARTIN_MOYCE_1952_FRONT
            .iter()
            .zip(&moyce)
            .filter(|((_, z), _)| *z > 5.0)
            .map(|(_, error)| *error)
            .collect();
        assert!(worst(&far) < 0.1, "{far:.3?}");
    }
}
