//! Faults of position-based steps: detection compared with the twin, reports, and the end of the simulation.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::fault::{FaultKind, Faults};
use frazil_scene::{Phase, Sampled, Scene};
use frazil_solvers::pbd::{Fluid, Snow, snow};
use frazil_solvers::{Solver, SolverFault, pbd};
use frazil_testkit::twins::pbd::twin_parameters;
use frazil_vk::{Buffer, Device};
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(frazil_testkit::device);

const SNOW: &str = "\n[snow]\n";

fn scene(more: &str) -> Scene {
    let text = format!(
        "version = 1\nname = \"faults\"\nup_axis = \"y\"\n[time]\ndt_s = 0.002\nduration_s = 1.0\n\
         [fluid]\nparticle_spacing_m = 0.05\n[domain]\nmin_m = [0, 0, 0]\nmax_m = [1, 1, 1]\n\
         [[particles]]\nshape.box = {{ min_m = [0.1, 0.1, 0.1], max_m = [0.6, 0.6, 0.6] }}\n{more}"
    );
    Scene::parse(&text, "faults", &[]).unwrap()
}

/// Returns n particles on a lattice at rest, with every third one snow in scenes with snow.
fn sampled(n: usize, has_snow: bool) -> Sampled {
    let at = |i: usize| [i % 10, i / 100, i / 10 % 10].map(|k| 0.1 + 0.05 * k as f32);
    let phase = |i: usize| if has_snow && i.is_multiple_of(3) { Phase::Snow } else { Phase::Water };
    Sampled {
        positions_m: (0..n).map(at).collect(),
        velocities_m_s: vec![[0.0; 3]; n],
        phases: (0..n).map(phase).collect(),
        temperatures_c: (0..n).map(|i| if phase(i) == Phase::Snow { -5.0 } else { 20.0 }).collect(),
        ..Default::default()
    }
}

fn submit(record: impl FnOnce(&mut frazil_vk::Recorder)) {
    let mut recorder = DEVICE.recorder().unwrap();
    record(&mut recorder);
    DEVICE.submit(recorder).unwrap().wait().unwrap();
}

fn fault_of(solver: &dyn Solver) -> Option<SolverFault> {
    let mut recorder = DEVICE.recorder().unwrap();
    let check = solver.record_fault_check(&mut recorder).unwrap().unwrap();
    DEVICE.submit(recorder).unwrap().wait().unwrap();
    check.wait().unwrap()
}

fn count_of(count: &frazil_vk::DeviceCount) -> u32 {
    DEVICE.download(&count.count, 1).unwrap()[0]
}

/// Writes a value for particle i.
fn plant<T: bytemuck::Pod>(buffer: &Buffer<T>, n: usize, i: usize, value: T) {
    let mut column = DEVICE.download(buffer, n).unwrap();
    column[i] = value;
    DEVICE.upload(buffer, &column).unwrap();
}

/// A fault that is planted at a particle before its velocity is updated.
#[derive(Clone, Copy, Debug)]
enum Planted {
    Position,
    Velocity,
    Predicted,
    Density,
    Dense,
    Fast,
}

use Planted::*;

fn plant_in(at: [&Buffer<[f32; 3]>; 3], density: &Buffer<f32>, n: usize, (planted, i): (Planted, usize)) {
    let [position, velocity, predicted] = at;
    let (nan, infinite) = (f32::NAN, f32::INFINITY);
    match planted {
        Position => plant(position, n, i, [0.5, nan, 0.5]),
        Velocity => plant(velocity, n, i, [infinite, 0.0, 0.0]),
        Predicted => plant(predicted, n, i, [0.5, 0.5, nan]),
        Density => plant(density, n, i, nan),
        Dense => plant(density, n, i, 4001.0),
        Fast => plant(predicted, n, i, [60.0, 60.0, 60.0]),
    }
}

/// Values planted in particles, and the reported fault with its particle.
type FaultCase = (&'static [(Planted, usize)], Option<(FaultKind, usize)>);

/// Sets of faults in one step, and what is reported: the first kind, and its lowest index.
const CASES: [FaultCase; 9] = [
    (&[], None),
    (&[(Fast, 0)], Some((FaultKind::TooFast, 0))),
    (&[(Fast, 201), (Dense, 200), (Dense, 199)], Some((FaultKind::TooFast, 201))),
    (&[(Dense, 200), (Dense, 199)], Some((FaultKind::TooDense, 199))),
    (&[(Dense, 5), (Density, 256), (Fast, 5)], Some((FaultKind::NotFinite, 256))),
    (&[(Predicted, 31), (Predicted, 30)], Some((FaultKind::NotFinite, 30))),
    (&[(Predicted, 1), (Velocity, 130), (Position, 129)], Some((FaultKind::StartNotFinite, 129))),
    (&[(Velocity, 256), (Dense, 0)], Some((FaultKind::StartNotFinite, 256))),
    (&[(Position, 0)], Some((FaultKind::StartNotFinite, 0))),
];

#[test]
fn faults_are_those_of_the_twin() {
    for n in [0, 1, 257] {
        for (faults, expected) in CASES {
            if faults.iter().any(|(_, i)| *i >= n) {
                continue;
            }
            let mut fluid =
                Fluid::new(&DEVICE, &scene("[pbd]\npressure = \"position\"\n"), &sampled(n, false)).unwrap();
            let stages: Vec<pbd::Stage> = fluid.stages().collect();
            let update = stages.iter().position(|stage| *stage == pbd::Stage::UpdateVelocity).unwrap();
            submit(|recorder| stages[..update].iter().for_each(|s| fluid.record_stage(recorder, *s)));
            for fault in faults {
                let at = [fluid.position(), fluid.velocity(), fluid.predicted()];
                plant_in(at, fluid.density(), n, *fault);
            }
            let p = twin_parameters(&fluid);
            let mut twin = frazil_reference::fluid::State::new(
                DEVICE.download(fluid.position(), n).unwrap(),
                DEVICE.download(fluid.velocity(), n).unwrap(),
            );
            twin.id = DEVICE.download(fluid.id(), n).unwrap();
            twin.predicted = DEVICE.download(fluid.predicted(), n).unwrap();
            twin.density = DEVICE.download(fluid.density(), n).unwrap();
            twin.update_velocity(&p);
            submit(|recorder| fluid.record_stage(recorder, stages[update]));
            let found = Faults::from_words(&DEVICE.download(fluid.faulty(), fluid.faulty().len()).unwrap());
            assert_eq!(found.lowest, twin.faults.lowest, "{n} particles, {faults:?}");
            let goes_on = twin.end_step();
            submit(|recorder| stages[update + 1..].iter().for_each(|s| fluid.record_stage(recorder, *s)));
            let reported = fault_of(&fluid);
            assert_eq!(twin.faults.first.map(|fault| fault.kind), expected.map(|(kind, _)| kind));
            if let (Some(reported), Some((_, i))) = (&reported, expected) {
                assert_eq!((reported.step, &reported.object), (1, &format!("particle {}", twin.id[i])));
                assert_eq!(twin.faults.first.unwrap().id, twin.id[i]);
            }
            assert_eq!((reported.is_none(), goes_on), (expected.is_none(), expected.is_none()));
            assert_eq!(count_of(fluid.count()), if goes_on { n as u32 } else { 0 });
        }
    }
}

#[test]
fn faults_of_snow_and_of_water_are_those_of_the_twin() {
    // 100 of 300 are snow. Indices are those of a phase.
    for (of_snow, of_water, expected) in [
        (None, None, None),
        (Some((Fast, 7)), None, Some("snow particle")),
        (None, Some((Dense, 150)), Some("water particle")),
        (Some((Fast, 3)), Some((Dense, 150)), Some("snow particle")),
        (Some((Position, 99)), Some((Position, 1)), Some("snow particle")),
    ] {
        let mut solver = Snow::new(&DEVICE, &scene(SNOW), &sampled(300, true)).unwrap();
        let stages: Vec<snow::Stage> = solver.stages().collect();
        let update = stages.iter().position(|stage| *stage == snow::Stage::UpdateVelocity).unwrap();
        submit(|recorder| stages[..update].iter().for_each(|s| solver.record_stage(recorder, *s)));
        for (phase, fault) in [(solver.solid(), of_snow), (solver.fluid(), of_water)] {
            let at = [phase.position(), phase.velocity(), phase.predicted()];
            if let Some(fault) = fault {
                plant_in(at, phase.density(), count_of(&phase.phase.count) as usize, fault);
            }
        }
        submit(|recorder| stages[update..].iter().for_each(|s| solver.record_stage(recorder, *s)));
        let reported = fault_of(&solver);
        let object = reported.as_ref().map(|fault| fault.object.rsplit_once(' ').unwrap().0);
        assert_eq!(object, expected, "{reported:?}");
        let n = [solver.solid(), solver.fluid()].map(|phase| count_of(&phase.phase.count));
        assert_eq!(n, if expected.is_none() { [100, 200] } else { [0, 0] });
    }
}

#[test]
fn a_planted_nan_is_named_in_its_step_and_later_steps_leave_the_state() {
    let mut fluid = Fluid::new(&DEVICE, &scene(""), &sampled(500, false)).unwrap();
    submit(|recorder| (0..3).for_each(|_| fluid.record_step(recorder)));
    assert_eq!(fault_of(&fluid), None);
    let id = DEVICE.download(fluid.id(), 500).unwrap()[123];
    plant(fluid.velocity(), 500, 123, [f32::NAN; 3]);
    submit(|recorder| fluid.record_step(recorder));
    let of = |fluid: &Fluid| {
        let words = |buffer: &Buffer<[f32; 3]>| -> Vec<u32> {
            DEVICE.download(buffer, 500).unwrap().as_flattened().iter().map(|x| x.to_bits()).collect()
        };
        [words(fluid.position()), words(fluid.velocity())]
    };
    let fault = fault_of(&fluid).unwrap();
    assert_eq!((fault.step, fault.pass, fault.object.clone()), (4, "Integrate", format!("particle {id}")));
    assert!(fault.message.contains("must be finite"), "{}", fault.message);
    let left: Vec<u32> = of(&fluid).concat();
    submit(|recorder| (0..5).for_each(|_| fluid.record_step(recorder)));
    assert_eq!(fault_of(&fluid).unwrap(), fault);
    assert!(left.iter().any(|bits| f32::from_bits(*bits).is_nan()));
}

/// Each iteration of a state that has collapsed takes long: the solve ends at the first one that is a fault.
#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn a_solve_that_diverges_ends_early_and_is_a_fault() {
    let scene = Scene::find("dam_break", &["pbd.artificial_pressure.strength=100".to_owned()]).unwrap();
    let sampled = scene.sample().unwrap();
    let mut fluid = Fluid::new(&DEVICE, &scene, &sampled).unwrap();
    submit(|recorder| fluid.record_step(recorder));
    assert_eq!(fault_of(&fluid).unwrap().step, 1);
    let columns = fluid.state_columns();
    let status = columns.iter().find(|column| column.name == "density status").unwrap();
    let words = DEVICE.download(&status.words, status.words.len()).unwrap();
    let status: frazil_shaders::types::DensityStatus =
        bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words));
    assert!(status.is_done != 0 && status.iterations < 10, "{status:?}");
}

#[test]
fn a_column_with_a_far_too_large_step_is_named_with_its_density_and_a_step_with_which_it_holds() {
    let run = |dt_s: &str| {
        let overrides = [
            format!("time.dt_s={dt_s}"),
            "fluid.particle_spacing_m=0.02".to_owned(),
            "pbd.density_tolerance=0".to_owned(),
        ];
        let scene = Scene::find("dam_break", &overrides).unwrap();
        let sampled = scene.sample().unwrap();
        let mut fluid = Fluid::new(&DEVICE, &scene, &sampled).unwrap();
        for _ in 0..8 {
            submit(|recorder| (0..10).for_each(|_| fluid.record_step(recorder)));
        }
        fault_of(&fluid)
    };
    let fault = run("0.2").unwrap();
    assert!(fault.message.contains("time.dt_s = "), "{}", fault.message);
    let mut dt_s = 0.2;
    let mut suggestions = 0;
    // Each suggestion is less, until one holds.
    let mut fault = Some(fault);
    while let Some(found) = fault {
        let suggested = found.message.rsplit_once(" = ").unwrap().1.to_owned();
        let value: f64 = suggested.parse().unwrap();
        assert!(value > 0.0 && value <= 0.5 * dt_s, "{}", found.message);
        (dt_s, suggestions) = (value, suggestions + 1);
        assert!(suggestions < 8, "{}", found.message);
        fault = run(&suggested);
    }
}
