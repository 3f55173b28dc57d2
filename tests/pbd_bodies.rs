//! Bodies among position-based particles: nothing ends a step inside one, what they take is what water and snow lose, and they drag, carry and
//! plough as their motion says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_bench::benches::twin_bodies;
use frazil_reference::world::Body;
use frazil_scene::Scene;
use frazil_solvers::pbd::{BodyMetrics, Fluid, FluidMetrics, StateColumn};
use frazil_tests::{Simulation, SnowSimulation, assert_no_validation_messages, device};
use glam::DVec3;

fn wide(v: [f32; 3]) -> DVec3 {
    DVec3::from_array(v.map(f64::from))
}

/// The least distance of a particle's centre from a body, over the clearance that particles keep, which is half a spacing.
fn least_distance(positions: &[[f32; 3]], bodies: &[Body], time_s: f64, clearance_m: f64) -> f64 {
    let distances = bodies
        .iter()
        .flat_map(|body| positions.iter().map(move |x| body.distance_m(wide(*x), time_s).0 / clearance_m));
    distances.fold(f64::INFINITY, f64::min)
}

/// Runs frames of so many steps each and returns the least distance from a body in any of them.
fn least_in_frames(simulation: &mut Simulation, frames: usize, steps: u64) -> f64 {
    let bodies = twin_bodies(&simulation.fluid.parameters().surroundings);
    let clearance_m = 0.5 * simulation.scene.particle_spacing_m();
    let mut least = f64::INFINITY;
    for _ in 0..frames {
        let metrics = simulation.advance(steps);
        assert_eq!((metrics.n_not_finite, metrics.n_outside), (0, 0), "step {}", simulation.step);
        let now = least_distance(&simulation.positions(), &bodies, simulation.time_s(), clearance_m);
        assert!(now > 0.0, "a particle is {now} half spacings deep in a body at step {}", simulation.step);
        least = least.min(now);
    }
    assert_no_validation_messages(&simulation.device);
    least
}

fn momentum(metrics: &FluidMetrics) -> DVec3 {
    DVec3::from_array(metrics.momentum_kg_m_s)
}

fn impulses(bodies: &[BodyMetrics]) -> DVec3 {
    bodies.iter().map(|body| DVec3::from_array(body.impulse_n_s)).sum()
}

#[test]
fn a_spinning_drum_keeps_its_water_takes_it_along_and_bears_its_weight() {
    let mut drum = Simulation::new("drum", &["fluid.particle_spacing_m=0.012"]);
    let begin = momentum(&drum.advance(0));
    let least = least_in_frames(&mut drum, 20, 15);
    // Three pushes out of each body and four rounds over all leave rounding alone, but where a paddle meets the drum.
    assert!(least > 0.5, "{least}");
    let metrics = drum.advance(0);
    // The water touches the drum and its paddles alone: Δp = M g t − Σ J, whatever it does, to the rounding of corrections.
    let mass = f64::from(metrics.particles) * drum.scene.particle_mass_kg();
    let weight = mass * drum.time_s() * DVec3::from_array(drum.scene.gravity_m_s2());
    let lost = momentum(&metrics) - begin - weight + impulses(&metrics.bodies);
    assert!(lost.length() < 1e-4 * weight.length(), "{lost} of {weight} N s");
    // Friction and paddles turn the water the way they turn, and are held back.
    let (x, v): (Vec<[f32; 3]>, Vec<[f32; 3]>) = {
        let n = drum.len();
        (drum.positions(), drum.device.download(drum.fluid.velocity(), n).unwrap())
    };
    let spin: f64 = x.iter().zip(&v).map(|(x, v)| wide(*x).cross(wide(*v)).z).sum::<f64>() / x.len() as f64;
    // A tenth of what water that turned with the drum as one would have at 0.09 m.
    assert!(spin > 0.1 * 4.0 * 0.09_f64.powi(2), "{spin} m²/s");
    let torque: f64 = metrics.bodies.iter().map(|body| body.angular_impulse_n_m_s[2]).sum();
    assert!(torque < 0.0, "{torque} N m s");
}

#[test]
fn nothing_of_what_is_poured_enters_a_mesh_or_a_terrain() {
    let mesh = ("../scenes/pour_on_mesh.toml", "fluid.particle_spacing_m=0.015");
    let terrain = ("pour_down_terrain", "fluid.particle_spacing_m=0.012");
    for (scene, spacing) in [mesh, terrain] {
        let mut poured = Simulation::new(scene, &[spacing]);
        let least = least_in_frames(&mut poured, 20, 20);
        assert!(least > 0.3, "{scene}: {least}");
        let held = impulses(&poured.advance(0).bodies);
        assert!(held[poured.scene.up_axis.index()] < 0.0, "{scene}: {held} N s");
    }
}

#[test]
fn a_moving_box_ploughs_snow_that_resists_it() {
    let mut plough = SnowSimulation::new("snow_box_plough", &["fluid.particle_spacing_m=0.02"]);
    let bodies = twin_bodies(&plough.snow.parameters().fluid.surroundings);
    for _ in 0..16 {
        let metrics = plough.advance(25);
        assert_eq!((metrics.all.n_not_finite, metrics.all.n_outside), (0, 0));
        let positions: Vec<[f32; 3]> = plough.particles().iter().map(|p| p.position).collect();
        let time_s = plough.step as f64 * plough.scene.dt_s();
        let least = least_distance(&positions, &bodies, time_s, 0.01);
        assert!(least > 0.9, "{least} half spacings at step {}", plough.step);
    }
    let metrics = plough.advance(0);
    let [x, y, z] = metrics.all.bodies[0].impulse_n_s;
    // It goes along x: snow holds it back, and not aside.
    assert!(x < 0.0 && z.abs() < 0.3 * x.abs(), "{x} {y} {z} N s");
    let heap = plough.particles().iter().map(|p| p.position[1]).fold(0.0, f32::max);
    assert!(heap > 0.08, "snow as high as {heap} m before the plough");
}

#[test]
fn a_floor_bears_the_weight_and_a_sunk_box_is_lifted_by_that_of_its_water() {
    let overrides = [
        "domain.min_m=[0.0,-0.03,0.0]",
        "bodies=[{name='floor',shape={plane={point_m=[0,0,0],normal=[0,1,0]}},friction=0},\
         {name='block',shape={box={centre_m=[0.06,0.1,0.06],size_m=[0.04,0.04,0.04]}},friction=0}]",
        "particles=[{shape={box={min_m=[0,0,0],max_m=[0.12,0.08,0.12]}}},\
         {shape={box={min_m=[0,0.12,0],max_m=[0.12,0.2,0.12]}}},\
         {shape={box={min_m=[0,0.08,0],max_m=[0.04,0.12,0.12]}}},\
         {shape={box={min_m=[0.08,0.08,0],max_m=[0.12,0.12,0.12]}}},\
         {shape={box={min_m=[0.04,0.08,0],max_m=[0.08,0.12,0.04]}}},\
         {shape={box={min_m=[0.04,0.08,0.08],max_m=[0.08,0.12,0.12]}}}]",
        "fluid.wall_friction=0",
    ];
    let mut column = Simulation::new("hydrostatic", &overrides);
    let before = column.advance(300).bodies;
    let after = column.advance(200);
    let mass = f64::from(after.particles) * column.scene.particle_mass_kg();
    let span_s = 200.0 * column.scene.dt_s();
    let force = |k: usize| (after.bodies[k].impulse_n_s[1] - before[k].impulse_n_s[1]) / span_s;
    let lift = 1000.0 * 9.81 * 0.04_f64.powi(3);
    assert!((force(1) / lift - 1.0).abs() < 0.25, "{} of {lift} N", force(1));
    // Water and what it lifts rest on the floor.
    let weight = -9.81 * mass - force(1);
    assert!((force(0) / weight - 1.0).abs() < 0.02, "{} of {weight} N", force(0));
    // Density is right beside the block, too: beside its faces, edges and corners no particle is pressed together.
    assert!((after.density_mean_kg_m3 / 1000.0 - 1.0).abs() < 0.02, "{}", after.density_mean_kg_m3);
}

#[test]
fn water_runs_farther_between_faces_without_friction() {
    let front = |friction: &str| {
        let mut dam = Simulation::new("dam_break", &["fluid.particle_spacing_m=0.01825", friction]);
        dam.advance(200).upper_m[0]
    };
    let [rough, sides, all] = [
        "fluid.wall_friction=1",
        "domain.friction={z_min=0,z_max=0}",
        "domain.friction={x_min=0,x_max=0,y_min=0,y_max=0,z_min=0,z_max=0}",
    ]
    .map(front);
    assert!(rough + 0.002 < sides && sides + 0.002 < all, "{rough} {sides} {all} m");
    assert_eq!(all, front("fluid.wall_friction=0"), "faces that all say 0 are walls that do");
}

#[test]
fn a_run_with_moving_bodies_goes_on_with_the_same_bits() {
    let overrides = ["fluid.particle_spacing_m=0.012"];
    let mut drum = Simulation::new("drum", &overrides);
    drum.advance(30);
    let state: Vec<StateColumn> = drum
        .fluid
        .state_columns()
        .iter()
        .map(|column| {
            let words = drum.device.download(&column.words, column.words.len()).unwrap();
            StateColumn { name: column.name.to_owned(), words }
        })
        .collect();
    let scene = Scene::find("drum", &overrides.map(str::to_owned)).unwrap();
    let device = device();
    let fluid = Fluid::restore(&device, &scene, &state).unwrap();
    let mut again = Simulation { device, scene, fluid, step: drum.step };
    let (first, second) = (drum.advance(30), again.advance(30));
    assert_eq!(first, second);
    assert_eq!(drum.words("position"), again.words("position"));
}
