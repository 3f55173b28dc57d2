//! Emitters and drains of water: their passes against the twins, rates of flow, the momentum of a jet, and
//! the same bits wherever a run is resumed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_solvers::Solver;
use frazil_solvers::pbd::Fluid;
use frazil_testkit::twins::pbd::twin_parameters;
use frazil_testkit::{assert_no_validation_messages, is_full_run};
use frazil_tests::{Simulation, first_wrong_fluid_stage};
use std::collections::BTreeSet;

/// An empty box of 0.4 m × 0.4 m × 0.4 m, with spacings of 1 cm.
fn empty(overrides: &[&str]) -> Simulation {
    let own = [
        "fluid.particle_spacing_m=0.01",
        "domain.min_m=[-0.2,0,-0.2]",
        "domain.max_m=[0.2,0.4,0.2]",
        "domain.friction={}",
        "particles=[]",
        "time.dt_s=0.001",
    ];
    Simulation::new("dam_break", &own.iter().chain(overrides).copied().collect::<Vec<_>>())
}

/// The same with spacings of 2 cm and steps of 4 ms, in which layers follow after some three steps.
fn coarse(overrides: &[&str]) -> Simulation {
    empty(&[&["fluid.particle_spacing_m=0.02", "time.dt_s=0.004"], overrides].concat())
}

/// A vertical and an oblique pipe, which begin and end within some steps, over a pool with a drain.
const PIPES: &str = "emitters=[\
    {mouth={disk={centre_m=[0.05,0.3,0.03],radius_m=0.034}},direction=[0,-1,0],speed_m_s=1.5},\
    {mouth={rectangle={centre_m=[-0.08,0.2,0],size_m=[0.06,0.03]}},direction=[1,-0.7,0.3],\
     mass_flow_kg_s=2.5,from_s=0.004,until_s=0.021}]";
const POOL: &str = "particles=[{shape={box={min_m=[-0.2,0,-0.2],max_m=[0.2,0.08,0.2]}}}]";
const DRAIN: &str = "drains=[{shape={box={min_m=[0.1,-1,-1],max_m=[1,0.05,1]}}},\
    {shape={box={min_m=[-0.2,0,-0.2],max_m=[-0.17,0.03,0.2]}}}]";
const FEW: &str = "pbd={iterations=2,max_iterations=4,density_tolerance=1e-3}";

#[test]
fn every_stage_agrees_with_its_twin() {
    for case in [
        &[PIPES, POOL, DRAIN, FEW, "fluid.neighbour_grid='counting'"][..],
        &[PIPES, FEW, "fluid.neighbour_grid='sorting'"],
        &[POOL, DRAIN, FEW, "fluid.neighbour_grid='sorting'"],
        &[POOL, DRAIN, "pbd={pressure='position',max_iterations=5}"],
    ] {
        let mut simulation = coarse(case);
        let mut parameters = twin_parameters(&simulation.fluid);
        let n = if is_full_run() { 26 } else { 8 };
        for _ in 0..n {
            parameters.time_s = simulation.time_s();
            let wrong = first_wrong_fluid_stage(&mut simulation, &parameters);
            simulation.step += 1;
            assert_eq!(wrong, None, "step {} with {case:?}", simulation.step);
        }
        assert_no_validation_messages(&simulation.device);
    }
}

fn counts(simulation: &Simulation) -> [u32; 2] {
    let counts = simulation.device.download(simulation.fluid.emission().unwrap(), 1).unwrap()[0];
    [counts.n_emitted, counts.n_drained]
}

/// Counts of a run are those of the scene's flow, to the layer; no id occurs twice, and none is lost.
#[test]
fn particles_are_those_of_the_start_and_the_emitted_less_the_drained() {
    let mut simulation = coarse(&[PIPES, POOL, DRAIN]);
    let start = simulation.len() as u32 + counts(&simulation)[1];
    for steps in [1, 20, 60] {
        simulation.advance(steps);
        let [emitted, drained] = counts(&simulation);
        assert_eq!(u64::from(emitted), simulation.scene.n_emitted(simulation.step));
        assert_eq!(simulation.len() as u32, start + emitted - drained);
        let ids: BTreeSet<u32> = simulation.words("id").into_iter().collect();
        assert_eq!(ids.len(), simulation.len());
        assert!(*ids.last().unwrap() < start + emitted);
    }
    assert!(counts(&simulation)[1] > 20, "the drain removes {:?}", counts(&simulation));
    assert_no_validation_messages(&simulation.device);
}

/// A jet on a plate wider than its sheet gives it ρ A v². Bound: 3 %.
#[test]
fn a_jet_on_a_plate_gives_it_its_momentum() {
    let (radius_m, speed_m_s) = (0.04, 1.0);
    let mut jet = empty(&[
        "gravity_m_s2=[0,0,0]",
        &format!(
            "emitters=[{{mouth={{disk={{centre_m=[0,0.2,0],radius_m={radius_m}}}}},direction=[0,-1,0],\
             speed_m_s={speed_m_s}}}]"
        ),
        "bodies=[{name='plate',shape={plane={point_m=[0,0.06,0],normal=[0,1,0]}}}]",
        "drains=[{shape={box={min_m=[-1,-1,-1],max_m=[-0.17,1,1]}}},\
         {shape={box={min_m=[0.17,-1,-1],max_m=[1,1,1]}}},\
         {shape={box={min_m=[-1,-1,-1],max_m=[1,1,-0.17]}}},\
         {shape={box={min_m=[-1,-1,0.17],max_m=[1,1,1]}}}]",
    ]);
    // The jet reaches the plate after 0.16 s, and the sheet the drains 0.17 s later.
    jet.advance(450);
    let impulse = |jet: &Simulation| jet.body_loads()[0].impulse_n_s[1];
    let before = impulse(&jet);
    let emitted = counts(&jet);
    jet.advance(400);
    let force = -(impulse(&jet) - before) / 0.4;
    let flow_kg_s = f64::from(counts(&jet)[0] - emitted[0]) * jet.fluid.parameters().particle_mass_kg / 0.4;
    let drained_kg_s =
        f64::from(counts(&jet)[1] - emitted[1]) * jet.fluid.parameters().particle_mass_kg / 0.4;
    let expected = 1000.0 * std::f64::consts::PI * radius_m * radius_m * speed_m_s * speed_m_s;
    println!("force {force:.4} of {expected:.4} N, flow {flow_kg_s:.4}, drained {drained_kg_s:.4} kg/s");
    assert!((flow_kg_s / expected - 1.0).abs() < 0.01, "flow of {flow_kg_s} kg/s for {expected}");
    assert!((drained_kg_s / expected - 1.0).abs() < 0.03, "{drained_kg_s} kg/s leave, {expected} enter");
    assert!((force / expected - 1.0).abs() < 0.03, "{force} N for {expected}");
    assert_no_validation_messages(&jet.device);
}

/// Particles of a jet fall along Torricelli's parabola, on average. Bound: what a particle falls in a step
/// more before it is free, or less, and the half step of symplectic Euler: 0.2 spacings.
#[test]
fn a_horizontal_jet_falls_along_a_parabola() {
    let speed_m_s: f64 = 1.2;
    let mut jet = empty(&[&format!(
        "emitters=[{{mouth={{disk={{centre_m=[-0.17,0.35,0],radius_m=0.02}}}},direction=[1,0,0],\
         speed_m_s={speed_m_s}}}]"
    )]);
    jet.advance(260);
    for along_m in [0.05, 0.15, 0.25] {
        let below = jet.positions().into_iter().filter_map(|x| {
            let travel_m = f64::from(x[0]) + 0.17;
            let fall_m = 0.5 * 9.81 * (travel_m / speed_m_s).powi(2);
            ((travel_m - along_m).abs() < 0.0125).then(|| 0.35 - fall_m - f64::from(x[1]))
        });
        let below: Vec<f64> = below.collect();
        let mean = below.iter().sum::<f64>() / below.len() as f64;
        println!("after {along_m} m: {mean:.5} m too low, {} particles", below.len());
        assert!(below.len() > 20 && mean.abs() < 0.002, "{mean} m too low after {along_m} m");
    }
    assert_no_validation_messages(&jet.device);
}

/// A flow from any direction enters in the same steps, and 300 m from the origin, too.
#[test]
fn flows_enter_alike_in_every_direction_and_place() {
    let flow = |direction: [f64; 3], at_m: f64| {
        let centre = [at_m, 0.2, 0.0];
        let mut simulation = empty(&[
            &format!("domain.min_m=[{},0,-0.2]", at_m - 0.2),
            &format!("domain.max_m=[{},0.4,0.2]", at_m + 0.2),
            "gravity_m_s2=[0,0,0]",
            &format!(
                "emitters=[{{mouth={{disk={{centre_m={centre:?},radius_m=0.035}}}},direction={direction:?},\
                 speed_m_s=0.9}}]"
            ),
        ]);
        let now = simulation.advance(120);
        let axis = direction.map(|d| d / direction.iter().map(|d| d * d).sum::<f64>().sqrt());
        let momentum: f64 = (0..3).map(|i| axis[i] * now.momentum_kg_m_s[i]).sum();
        let along = |x: [f32; 3]| (0..3).map(|i| axis[i] * (f64::from(x[i]) - centre[i])).sum::<f64>();
        let farthest = simulation.positions().into_iter().map(along).fold(f64::MIN, f64::max);
        assert_no_validation_messages(&simulation.device);
        (simulation.len(), momentum, farthest)
    };
    let (n, momentum, farthest) = flow([1.0, 0.0, 0.0], 0.0);
    for (direction, at_m) in
        [([0.0, -1.0, 0.0], 0.0), ([0.0, 0.0, 2.0], 0.0), ([1.0, 2.0, -0.5], 0.0), ([1.0, 0.0, 0.0], 300.0)]
    {
        let other = flow(direction, at_m);
        println!("{direction:?} at {at_m} m: {other:?}, {n} {momentum} {farthest}");
        assert_eq!(other.0, n);
        assert!((other.1 / momentum - 1.0).abs() < 0.01, "momentum {} along {direction:?}", other.1);
        assert!((other.2 - farthest).abs() < 0.003, "{} m along {direction:?} at {at_m} m", other.2);
    }
}

/// A run that is resumed has the bits of one that was not, and so has one with room for more particles.
#[test]
fn resumed_flows_have_the_bits_of_whole_ones() {
    let mut simulation = coarse(&[PIPES, POOL, DRAIN]);
    simulation.advance(12);
    let n = simulation.len();
    let mut state = Vec::new();
    for column in simulation.fluid.state_columns() {
        let len = if column.is_of_particles { n * column.kind.words() as usize } else { column.words.len() };
        let words = simulation.device.download(&column.words, len).unwrap();
        state.push(frazil_solvers::StateColumn { name: column.name.to_string(), words });
    }
    let mut longer = simulation.scene.clone();
    longer.time.duration_s *= 2.0;
    for scene in [&simulation.scene.clone(), &longer] {
        let fluid = Fluid::restore(&simulation.device, scene, &state, 12, Default::default()).unwrap();
        let mut resumed = Simulation {
            device: simulation.device.clone(),
            scene: scene.clone(),
            fluid,
            step: 12,
            replay: Default::default(),
        };
        resumed.advance(20);
        if scene == &simulation.scene {
            simulation.advance(20);
        }
        for name in ["id", "position", "position_residual", "velocity", "lambda"] {
            assert_eq!(resumed.words(name), simulation.words(name), "{name}");
        }
        assert_eq!(counts(&resumed), counts(&simulation));
    }
    assert_no_validation_messages(&simulation.device);
}

/// A run beyond the duration, for which there is room, goes on with more: with the bits of one that had it
/// from the start, whatever the number of steps that were recorded meanwhile.
#[test]
fn a_flow_beyond_the_duration_goes_on_with_more_room() {
    let late = "time.duration_s=0.04";
    for recorded in [1, 4] {
        let mut whole = coarse(&[PIPES, POOL]);
        let mut short = coarse(&[PIPES, POOL, late]);
        let mut n_grown = 0;
        while short.step < 24 {
            let mut recorder = short.device.recorder().unwrap();
            for _ in 0..recorded {
                short.fluid.record_step(&mut recorder);
            }
            let check = short.fluid.record_fault_check(&mut recorder).unwrap();
            short.device.submit(recorder).unwrap();
            short.step += recorded;
            if let Some(fault) = check.wait().unwrap() {
                assert!(fault.to_string().contains("capacity"), "{fault}");
                let device = short.device.clone();
                let regrown = Solver::regrow(&mut short.fluid, &device).unwrap().unwrap();
                assert!(regrown.place.step < short.step && regrown.to > regrown.from, "{regrown}");
                short.step = regrown.place.step;
                n_grown += 1;
            }
        }
        whole.advance(short.step);
        assert!(n_grown > 0, "{} particles fit", short.len());
        for name in ["id", "position", "position_residual", "velocity", "lambda"] {
            assert_eq!(short.words(name), whole.words(name), "{name}, {recorded} steps at once");
        }
        assert_eq!(counts(&short), counts(&whole));
        assert_no_validation_messages(&short.device);
    }
}
