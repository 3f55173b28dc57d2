//! Emitters of grains: steps against the twin, rates of flow, a heap that grows up to its mouth, and the same
//! bits wherever a run is resumed or its records grow.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::dem as twin;
use frazil_reference::sources::Emitter;
use frazil_solvers::Tuning;
use frazil_solvers::dem::Dem;
use frazil_testkit::twins::dem::{state_of, twin_parameters};
use frazil_testkit::{assert_no_validation_messages, is_full_run};
use frazil_tests::flow::Flow;

/// An empty box of 0.2 m × 0.2 m × 0.3 m.
const BOX: &str = r#"
version = 1
name = "box"
up_axis = "z"
solver.kind = "dem"
time = { dt_s = 5e-5, duration_s = 1.0 }
dem = { radius_m = 0.004, radius_spread = 0.2, density_kg_m3 = 2500.0, normal_stiffness_n_m = 5e3 }
domain = { min_m = [-0.1, -0.1, 0.0], max_m = [0.1, 0.1, 0.3] }
"#;

/// A vertical and an oblique pipe, the second of which begins and ends within some hundred steps.
const PIPES: &str = "emitters=[\
    {mouth={disk={centre_m=[0.02,0,0.04],radius_m=0.015}},direction=[0,0,-1],speed_m_s=2.0},\
    {mouth={rectangle={centre_m=[-0.05,0,0.05],size_m=[0.03,0.02]}},direction=[1,0.3,-0.5],\
     mass_flow_kg_s=0.8,from_s=0.003,until_s=0.02}]";

/// A wide mouth near the floor.
const HEAP: &str =
    "emitters=[{mouth={disk={centre_m=[0,0,0.04],radius_m=0.02}},direction=[0,0,-1],speed_m_s=1.0}]";

fn flow(overrides: &[&str]) -> Flow<Dem> {
    Flow::new(BOX, overrides, |device, scene, sampled| {
        Dem::of_scene(device, scene, sampled, Tuning::default())
    })
}

fn state(flow: &Flow<Dem>) -> twin::State {
    state_of(&flow.columns(), flow.step)
}

fn parameters(flow: &Flow<Dem>) -> twin::Parameters {
    twin_parameters(flow.scene.dem().unwrap(), flow.solver.parameters())
}

/// Steps with and without new grains, from the device's state before each. Bounds: some roundings of a
/// position and of a contact's force in a step.
#[test]
fn steps_with_emitters_agree_with_the_twin() {
    let mut flow = flow(&[PIPES]);
    let p = parameters(&flow);
    let (mut n_new, mut n_contacts, mut n_held) = (0, 0, 0);
    for _ in 0..if is_full_run() { 200 } else { 60 } {
        let mut expected = state(&flow);
        let n_before = expected.grains.len();
        expected.advance(&p, &[]);
        flow.advance(1);
        let found = state(&flow);
        assert_eq!(found.grains.len(), expected.grains.len(), "step {}", flow.step);
        n_new += found.grains.len() - n_before;
        n_contacts += found.contacts.len();
        for (found, expected) in found.grains.iter().zip(&expected.grains) {
            let what = format!("step {}: {found:?}, expected {expected:?}", flow.step);
            assert_eq!(found.id, expected.id, "{what}");
            assert!((found.radius / expected.radius - 1.0).abs() < 3e-7, "{what}");
            assert!((found.position - expected.position).length() < 1e-7, "{what}");
            assert!((found.velocity - expected.velocity).length() < 1e-4, "{what}");
            assert!((found.spin - expected.spin).length() < 1e-1, "{what}");
            let flows = |emitter: &Emitter| emitter.velocity() == expected.velocity;
            n_held += usize::from(p.sources.emitters.iter().any(flows));
        }
        // Between those that are compared.
        flow.advance(9);
    }
    assert!(
        n_new > 10 && n_contacts > 200 && n_held > 20,
        "{n_new} grains, {n_contacts} contacts, {n_held} held"
    );
    assert_no_validation_messages(&flow.device);
}

/// Numbers of grains are those of the scene's flow, and their mass that which is asked. Bound: 3 % of the
/// mass of some 1000 grains, whose radii are spread by a fifth; a layer.
#[test]
fn grains_enter_at_the_rate_that_is_asked() {
    let rate_kg_s = 0.8;
    let emitter = format!(
        "emitters=[{{mouth={{rectangle={{centre_m=[0,0,0.2],size_m=[0.05,0.05]}}}},direction=[0,0.3,-1],\
         mass_flow_kg_s={rate_kg_s}}}]"
    );
    let mut flow = flow(&["dem.radius_m=0.002", "time.dt_s=2e-5", &emitter]);
    let mut radii = Vec::new();
    for steps in [1, 200, 2000] {
        flow.advance(steps);
        let grains = state(&flow).grains;
        assert_eq!(grains.len() as u64, flow.scene.n_emitted(flow.step));
        assert_eq!(u64::from(flow.counts().n_emitted), flow.scene.n_emitted(flow.step));
        assert!(grains.iter().zip(0..).all(|(grain, id)| grain.id == id));
        radii = grains.iter().map(|grain| grain.radius).collect();
    }
    let p = parameters(&flow);
    let mass_kg: f64 = state(&flow).grains.iter().map(|grain| grain.mass(&p)).sum();
    let stream = flow.scene.streams().remove(0);
    let layer_kg = stream.points_m.len() as f64 * flow.scene.particle_mass_kg();
    let expected_kg = rate_kg_s * flow.step as f64 * flow.scene.dt_s();
    println!("{mass_kg} kg of {expected_kg} kg, {} grains, layers of {layer_kg} kg", radii.len());
    assert!((mass_kg - expected_kg - 0.5 * layer_kg).abs() < 0.51 * layer_kg + 0.03 * expected_kg);
    let mean = radii.iter().sum::<f64>() / radii.len() as f64;
    let spread = radii.iter().map(|r| (r / 0.002 - 1.0).abs()).fold(0.0, f64::max);
    assert!((mean / 0.002 - 1.0).abs() < 0.02 && spread > 0.18 && spread <= 0.2 + 1e-6, "{mean} m, {spread}");
    assert_no_validation_messages(&flow.device);
}

/// A heap grows under a mouth near the floor, and at last up to it: no grain is faster than it fell, none is
/// lost, and the heap bears its weight.
#[test]
fn a_heap_grows_up_to_its_mouth_without_a_burst() {
    let mut flow = flow(&[HEAP]);
    flow.advance(4500);
    let grains = state(&flow).grains;
    let fastest = grains.iter().map(|grain| grain.velocity.length()).fold(0.0, f64::max);
    let widest = grains.iter().map(|grain| grain.position.truncate().length()).fold(0.0, f64::max);
    let highest = grains.iter().filter(|grain| grain.position.truncate().length() > 0.03);
    let highest = highest.map(|grain| grain.position.z).fold(0.0, f64::max);
    println!(
        "{} grains, fastest {fastest} m/s, {widest} m wide, {highest} m high beside the mouth",
        grains.len()
    );
    assert_eq!(grains.len() as u64, flow.scene.n_emitted(flow.step));
    // Grains that fall from the mouth to the floor have 1.34 m/s.
    assert!(fastest < 1.4, "{fastest} m/s");
    assert!(grains.iter().all(|grain| grain.position.z > 0.5 * grain.radius));
    assert!(widest > 0.06 && highest > 0.015, "{widest} m wide, {highest} m high");
    assert_no_validation_messages(&flow.device);
}

/// Columns of the grains, and their contacts as the twin has them: rows have other places in larger records.
fn bits(flow: &Flow<Dem>) -> (Vec<(String, Vec<u32>)>, twin::State) {
    let columns = flow.columns();
    let of_grains = columns.iter().filter(|column| !column.name.starts_with("contact"));
    (
        of_grains.map(|column| (column.name.clone(), column.words.clone())).collect(),
        state_of(&columns, flow.step),
    )
}

fn assert_same(one: &Flow<Dem>, other: &Flow<Dem>) {
    let (one, other) = (bits(one), bits(other));
    for (one, other) in one.0.iter().zip(&other.0) {
        assert!(one == other, "{}", one.0);
    }
    assert!(one.1.contacts == other.1.contacts, "contacts");
}

/// A run that is resumed has the bits of one that was not, and so has one with room for more grains.
#[test]
fn resumed_flows_have_the_bits_of_whole_ones() {
    let mut flow = flow(&[PIPES]);
    flow.advance(400);
    let columns = flow.columns();
    let mut longer = flow.scene.clone();
    longer.time.duration_s *= 2.0;
    let resumed = [flow.scene.clone(), longer].map(|scene| {
        let solver = Dem::restore_scene(&flow.device, &scene, &columns, 400, Tuning::default()).unwrap();
        let mut resumed = Flow { device: flow.device.clone(), scene, solver, step: 400, substeps: 0 };
        resumed.advance(600);
        resumed
    });
    flow.advance(600);
    assert!(state(&flow).contacts.len() > 10, "{} contacts", state(&flow).contacts.len());
    resumed.iter().for_each(|resumed| assert_same(&flow, resumed));
    assert_no_validation_messages(&flow.device);
}

/// A flow for which there is no room goes on with more, of grains and of rows of contacts, with the bits of
/// one that had it from the start.
#[test]
fn flows_that_overflow_their_records_have_the_bits_of_whole_ones() {
    let mut n_rows = 0;
    // A wide range of attraction makes long lists.
    const RANGE: &[&str] = &["dem.cohesion_n=1e-3", "dem.cohesion_range_m=0.004"];
    const SUBSTEPS: &[&str] = &["time.dt_s=1.5e-4", "time.substeps=3"];
    for (emitters, steps, more, rows) in [
        (PIPES, 800, &[][..], "dem.contacts_per_grain=8.0"),
        (HEAP, 1000, RANGE, "dem.contacts_per_grain=1.0"),
        (HEAP, 330, &[RANGE, SUBSTEPS].concat(), "dem.contacts_per_grain=1.0"),
    ] {
        let mut whole = flow(&[&[emitters, "dem.contacts_per_grain=24.0"], more].concat());
        assert_eq!(whole.advance(steps), []);
        let mut short = flow(&[&[emitters, "time.duration_s=0.002", rows], more].concat());
        let grown = short.advance(steps);
        println!("{grown:?} grew, {} grains", short.n_particles());
        let rows = grown.iter().filter(|regrown| regrown.object != "grains").count();
        assert!(rows < grown.len(), "{} grains fit", short.n_particles());
        n_rows += rows;
        assert_same(&whole, &short);
        assert_eq!(u64::from(short.counts().n_emitted), whole.scene.n_emitted(steps));
        assert_no_validation_messages(&short.device);
    }
    assert!(n_rows > 0, "the rows of all contacts fit");
}
