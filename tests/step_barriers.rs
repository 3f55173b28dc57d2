//! Barriers of whole steps of every solver, one step behind another, and of what a run records between steps:
//! none missing, none superfluous.
//!
//! Each barrier is left out in turn. The host-side checker must report every one; the synchronization layer
//! must report those that its version 1.3.239 can see (`is_visible_to_the_layer`). Nothing is submitted but
//! the initial state, so that no step is compiled or run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::CellSortMethod;
use frazil_scene::{Builtin, Scene, builtin};
use frazil_solvers::{Grab, Solver, SolverStart, SubstepControl, Tuning, factory_of};
use frazil_testkit::{is_full_run, own_device};
use frazil_vk::{Access, BarrierPlan, Device, Hazard, Recorder, RecorderOptions, Use, find_hazards};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

/// A built-in scene with overrides.
type Case = (&'static str, &'static [&'static str]);

/// Iterations of the viscous solve whose barriers are left out, a first one and a later one: all are alike,
/// and scenes have hundreds.
const FEW_ITERATIONS: &str = "viscoelastic.max_viscosity_iterations=2";

/// Iterations of the density solve, for the same reason; one scene of water and one of viscoelastic fluid
/// have all of them.
const MIN_ITERATIONS: &str = "pbd.iterations=1";
const MAX_ITERATIONS: &str = "pbd.max_iterations=3";

/// Passes that are recorded behind a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passes {
    /// Another step.
    Step,
    /// Outputs, metrics, checks, a pull by hand and the speed, then a step of another length.
    Outputs,
}

/// Counts of barriers.
#[derive(Debug, Default)]
struct Tally {
    barriers: u32,
    /// Those whose absence the synchronization layer reports.
    seen_by_layer: u32,
    /// Uses without a barrier that the layer should report and does not.
    missed_by_layer: BTreeSet<String>,
}

/// A solver in its initial state.
struct Recording {
    device: Device,
    scene: Scene,
    solver: Box<dyn Solver>,
    control: SubstepControl,
    /// Number of substeps of the steps that are recorded.
    substeps: u32,
    what: String,
    /// Kernels that were recorded.
    kernels: BTreeSet<&'static str>,
}

impl Recording {
    fn new(device: &Device, (name, overrides): Case, cell_sort: CellSortMethod) -> Self {
        let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
        let scene = Scene::find(name, &overrides).unwrap();
        let sampled = scene.sample().unwrap();
        let mut tuning = Tuning::default();
        tuning.cell_sort = Some(cell_sort);
        let solver = factory_of(&scene)
            .unwrap()
            .create(device, &scene, SolverStart::Sampled(&sampled), tuning)
            .unwrap();
        let what = format!("{name} {overrides:?}, {} particles, {cell_sort:?}", sampled.len());
        let control = SubstepControl::new(device, &*solver, 0, Default::default()).unwrap();
        let (device, kernels) = (device.clone(), BTreeSet::new());
        Self { device, scene, solver, control, substeps: 1, what, kernels }
    }

    fn record_outputs(&mut self, recorder: &mut Recorder) {
        self.solver.record_output(recorder);
        if let Some(bodies) = self.solver.rigid_bodies() {
            bodies.record_poses(recorder);
        }
        self.solver.record_metrics(recorder).unwrap();
        if let Some(map) = self.solver.flow_mapping() {
            map.record_flow(recorder).unwrap();
        }
        self.solver.record_fault_check(recorder).unwrap();
        self.solver.record_invariant_check(recorder).unwrap();
        let centre_m = self.scene.domain.min_m.map(|x| x as f32);
        let direction = [0.0, 0.0, 1.0];
        let grab = Grab { centre_m, direction, velocity_m_s: direction, radius_m: 0.1, rate_1_s: 10.0 };
        assert!(self.solver.record_grab(recorder, &grab));
        self.control.record(recorder, &*self.solver, 1, self.substeps).unwrap();
        // The next step has another length.
        self.substeps = 3 - self.substeps;
        self.solver.set_scene(&self.device, &self.scene.with_substeps(self.substeps)).unwrap();
    }

    /// Records passes behind a step; returns the recorder and the barriers of the passes.
    fn record(&mut self, passes: Passes, barriers: BarrierPlan) -> (Recorder, Range<u32>) {
        let options = RecorderOptions { trace: true, barriers, ..Default::default() };
        let mut recorder = self.device.recorder_with(options).unwrap();
        self.solver.record_step(&mut recorder);
        let begin = recorder.barrier_count();
        if passes == Passes::Outputs {
            self.record_outputs(&mut recorder);
        }
        self.solver.record_step(&mut recorder);
        assert!(recorder.mistake().is_none(), "{}: {:?}", self.what, recorder.mistake());
        let end = recorder.barrier_count();
        (recorder, begin..end)
    }

    /// Notes the kernels that were dispatched since `before`.
    fn note_kernels(&mut self, before: &BTreeMap<&'static str, u64>) {
        let rose = dispatches(&self.device)
            .into_iter()
            .filter(|(name, n)| *n > before.get(name).copied().unwrap_or(0));
        self.kernels.extend(rose.map(|(name, _)| name));
    }

    /// Records all barriers until two recordings have the same number: the first steps of a simulation differ
    /// from later ones, and so may those that read a count back. Asserts that no barrier is missing.
    fn record_until_steps_recur(&mut self, passes: Passes) -> Range<u32> {
        let mut last = None;
        for _ in 0..8 {
            let (recorder, barriers) = self.record(passes, BarrierPlan::All);
            assert_eq!(find_hazards(recorder.events()), [], "{}: a barrier is missing", self.what);
            let messages = self.device.validation().take();
            assert!(messages.is_empty(), "{}: {:#?}", self.what, messages.first());
            if last.replace(barriers.clone()) == Some(barriers.clone()) {
                return barriers;
            }
        }
        panic!("{}: no step recurs", self.what);
    }

    /// Leaves out each barrier of the passes, and asserts that it is missed.
    fn leave_each_out(&mut self, passes: Passes) -> Tally {
        let before = dispatches(&self.device);
        let barriers = self.record_until_steps_recur(passes);
        self.note_kernels(&before);
        let mut tally = Tally::default();
        for omitted in barriers.clone() {
            let (recorder, found) = self.record(passes, BarrierPlan::Omit(omitted));
            assert_eq!(found, barriers, "{}: steps differ", self.what);
            let hazards = find_hazards(recorder.events());
            let what = format!("{}: barrier {omitted} of {barriers:?}", self.what);
            assert!(!hazards.is_empty(), "{what} is superfluous");
            let messages = self.device.validation().take();
            let is_seen = messages.iter().any(|message| message.id.starts_with("SYNC-HAZARD"));
            let expected = hazards.iter().find(|hazard| is_visible_to_the_layer(&recorder, hazard));
            if let Some(Hazard { first, second }) = expected {
                let [first, second] = [first, second].map(|access| describe(&recorder, access));
                if !is_seen {
                    tally.missed_by_layer.insert(format!("{first:?} and {second:?}"));
                }
            }
            tally.barriers += 1;
            tally.seen_by_layer += u32::from(is_seen);
        }
        tally
    }
}

/// Buffers that a kernel writes by atomic operations alone, which layers 1.3.239 take for reads.
const ATOMIC_WRITES: [(&str, &str); 14] = [
    ("dem.add_to_map", "map sums"),
    ("dem.collide", "clock"),
    ("dem.collide", "fault"),
    ("dem.move_grains", "clock"),
    ("dem.move_grains", "fault"),
    ("dem.move_pieces", "clock"),
    ("dem.move_pieces", "fault"),
    ("mpm.collide_particles", "clock"),
    ("mpm.collide_particles", "fault"),
    ("mpm.rasterize_fixed", "node sums"),
    ("mpm.rasterize_float", "node momentum"),
    ("mpm.rasterize_float", "node force"),
    ("pbd.mark_moved", "rows of neighbours"),
    ("primitives.radix_histogram", "digit histogram"),
];

/// Returns true if layers 1.3.239 report the hazard. They do not report two kernels that write the same
/// buffer, nor the write of an atomic operation, and overestimate the effect of some chains of barriers, so
/// that only neighbouring passes are sure.
fn is_visible_to_the_layer(recorder: &Recorder, Hazard { first, second }: &Hazard) -> bool {
    let both_write = first.usage == Use::ComputeWrite && second.usage == Use::ComputeWrite;
    let (pass, resource, _) = describe(recorder, first);
    !both_write && second.pass == first.pass + 1 && !ATOMIC_WRITES.contains(&(pass, resource))
}

/// Returns pass, resource and kind of an access.
fn describe<'a>(recorder: &'a Recorder, access: &Access) -> (&'static str, &'a str, Use) {
    let pass = recorder.pass_names()[access.pass as usize];
    (pass, recorder.resource_name(access.resource).unwrap(), access.usage)
}

/// Returns how often each kernel was recorded.
fn dispatches(device: &Device) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for facts in device.kernel_facts() {
        *counts.entry(facts.name).or_default() += facts.dispatches;
    }
    counts
}

/// Leaves out each barrier of a step of each case, and of the outputs of the first; asserts that all kernels
/// in the folders `areas` of glsl were recorded but `others`, which are no part of a step.
fn check(areas: &[&str], others: &[&str], cases: &[Case]) {
    let device = own_device();
    let (mut recorded, mut missed_by_layer) = (BTreeSet::new(), BTreeSet::new());
    let mut run = |case: Case, passes: Passes, cell_sort: CellSortMethod| {
        let mut recording = Recording::new(&device, case, cell_sort);
        let mut tally = recording.leave_each_out(passes);
        println!("{}, {passes:?}: {tally:?}", recording.what);
        missed_by_layer.append(&mut tally.missed_by_layer);
        assert!(tally.barriers > 0 && tally.seen_by_layer > 0, "{}", recording.what);
        recorded.append(&mut recording.kernels);
    };
    for case in cases {
        run(*case, Passes::Step, CellSortMethod::Counting);
    }
    run(cases[0], Passes::Outputs, CellSortMethod::Radix);
    assert!(missed_by_layer.is_empty(), "{missed_by_layer:#?}");
    let glsl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../glsl");
    let mut missing = BTreeSet::new();
    for area in areas {
        for entry in std::fs::read_dir(glsl.join(area)).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{area}.{}", path.file_stem().unwrap().to_str().unwrap());
            if path.extension().is_some_and(|extension| extension == "comp") && !recorded.contains(&*name) {
                missing.insert(name);
            }
        }
    }
    let others: BTreeSet<String> = others.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(missing, others, "kernels that no step of these scenes has");
}

#[test]
fn every_barrier_of_water_is_there_and_needed() {
    const POSITION: &str = "pbd.pressure=\"position\"";
    let cases: &[Case] = &[
        ("drum", &["scale=0.4", MIN_ITERATIONS, MAX_ITERATIONS]),
        ("fountain", &["fluid.particle_spacing_m=0.015", MIN_ITERATIONS, MAX_ITERATIONS]),
        ("driftwood", &["scale=0.3", MIN_ITERATIONS, MAX_ITERATIONS]),
        ("watermill", &["fluid.particle_spacing_m=0.015", MIN_ITERATIONS, MAX_ITERATIONS]),
        ("drop", &["scale=0.4", POSITION]),
        ("drum", &["scale=0.4", POSITION, MIN_ITERATIONS, MAX_ITERATIONS]),
    ];
    // Marks between two phases are part of the steps of snow and water.
    check(&["pbd", "bodies"], &["pbd.mark_moved"], cases);
}

#[test]
fn every_barrier_of_snow_and_water_is_there_and_needed() {
    let cases: &[Case] = &[
        ("melting", &["scale=0.3"]),
        (
            "melting",
            &[
                "scale=0.3",
                "domain.walls=\"particles\"",
                "snow.heat.latent_heat=\"enthalpy\"",
                "snow.shape_stiffness=0.5",
            ],
        ),
        ("snow_box_plough", &["scale=0.4", "snow.links={}"]),
    ];
    check(&["snow"], &[], cases);
}

#[test]
fn every_barrier_of_viscoelastic_fluids_is_there_and_needed() {
    // Bodies hold fluid without elasticity at their surface.
    const VISCOUS: &str = "viscoelastic={elasticity=\"none\",max_viscosity_iterations=2}";
    let cases: &[Case] = &[
        ("rod_climbing", &["scale=0.4", FEW_ITERATIONS, MIN_ITERATIONS, MAX_ITERATIONS]),
        ("rod_climbing", &["scale=0.4", VISCOUS, MIN_ITERATIONS, MAX_ITERATIONS]),
        ("viscoelastic_springs", &["scale=0.3", FEW_ITERATIONS]),
        ("chocolate", &["scale=0.4", FEW_ITERATIONS, MIN_ITERATIONS, MAX_ITERATIONS]),
        ("filament", &["scale=0.5", FEW_ITERATIONS, MIN_ITERATIONS, MAX_ITERATIONS]),
    ];
    check(&["viscoelastic"], &[], cases);
}

#[test]
fn every_barrier_of_snow_on_a_grid_is_there_and_needed() {
    let cases: &[Case] = &[
        ("snowball_on_body_3d", &["scale=0.3"]),
        ("snowball_collision", &["scale=0.3"]),
        ("snowball_collision", &["scale=0.3", "mpm.rasterization=\"fixed_point\""]),
        ("snowball_collision", &["scale=0.3", "mpm.rasterization=\"float_atomics\""]),
        ("snowplow", &["scale=0.3", "mpm.transfer=\"apic\""]),
        ("snowplow", &["scale=0.3", "mpm.transfer=\"mls\"", "mpm.implicit={max_iterations=3}"]),
        ("snowballs_3d", &["scale=0.3", "mpm.implicit={max_iterations=3}"]),
        ("snowballs_3d", &["scale=0.3"]),
        ("snow_blower", &["scale=0.3"]),
    ];
    // Initial volumes and stresses; sums at nodes for tests.
    let others = ["mpm.add_tiles", "mpm.compute_stress", "mpm.estimate_volume"];
    check(&["mpm", "sparse", "sources"], &others, cases);
}

#[test]
fn every_barrier_of_grains_is_there_and_needed() {
    let cases: &[Case] = &[
        ("avalanche_slabs", &["scale=0.3"]),
        ("avalanche", &["scale=0.3"]),
        ("column_collapse", &["scale=0.4"]),
        ("grain_heap", &["scale=0.4"]),
    ];
    check(&["dem"], &[], cases);
}

/// The short form leaves out barriers of the scenes above only.
#[test]
fn every_barrier_of_the_built_in_scenes_is_there_and_needed() {
    if !is_full_run() {
        return;
    }
    let device = own_device();
    let mut missed_by_layer = BTreeSet::new();
    for Builtin { name, .. } in builtin() {
        // All iterations of a solve, and a few.
        let mut recording = Recording::new(&device, (name, &["scale=0.3"]), CellSortMethod::Radix);
        recording.record_until_steps_recur(Passes::Step);
        let overrides: &[&str] = match recording.scene.solver.kind.name() {
            "viscoelastic" => &["scale=0.3", FEW_ITERATIONS],
            _ => &["scale=0.3"],
        };
        let mut recording = Recording::new(&device, (name, overrides), CellSortMethod::Radix);
        let mut tally = recording.leave_each_out(Passes::Step);
        println!("{}: {tally:?}", recording.what);
        missed_by_layer.append(&mut tally.missed_by_layer);
    }
    assert!(missed_by_layer.is_empty(), "{missed_by_layer:#?}");
}
