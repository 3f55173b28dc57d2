//! Flows of grains on terrains over whole runs: no grain gets below the ground, and runs are identical to the
//! bit.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::Scene;
use frazil_testkit::{assert_no_validation_messages, device, is_full_run};
use frazil_tests::scene_grains::SceneGrains;
use frazil_vk::Device;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

/// Returns the demo with fewer and larger grains, or unchanged with `FRAZIL_FULL=1`.
fn avalanche() -> Scene {
    let is_full = is_full_run();
    // Impact overlap is speed times √(m/k): 28 times the mass and 3 times the stiffness keep its ratio to the
    // radius.
    let fewer = ["dem.radius_m=0.9", "dem.normal_stiffness_n_m=1.1e7"].map(str::to_owned);
    let builtin = frazil_scene::builtin().iter().find(|scene| scene.name == "avalanche").unwrap();
    builtin.load(if is_full { &[] } else { &fewer }).unwrap()
}

/// The first 9 s, or the whole of it in the long form.
#[test]
#[ignore = "long: a whole avalanche; cliffs below, terrains in dem_physics, bits in dem_twins"]
fn no_grain_is_below_the_ground_over_an_avalanche_and_runs_are_the_same_to_the_bit() {
    let mut flow = SceneGrains::new(&DEVICE, avalanche());
    let is_full = is_full_run();
    let (duration_s, frames) = if is_full { (flow.scene.time.duration_s, 100) } else { (9.0, 45) };
    let steps = flow.steps(duration_s) / frames;
    let start = flow.grains();
    assert!(start.len() > 500, "{} grains", start.len());
    let (mut fastest, mut early) = (0.0_f64, Vec::new());
    for frame in 1..=frames {
        let metrics = flow.advance(steps);
        fastest = fastest.max(metrics.all.speed_max_m_s);
        let (n, lowest_m) = flow.below_ground(&flow.grains());
        assert_eq!(n, 0, "frame {frame}: the lowest is {lowest_m} m above the ground");
        if frame == 10 {
            early = flow.columns();
        }
    }
    assert!(fastest > if is_full { 15.0 } else { 10.0 }, "at most {fastest} m/s");
    let mean =
        |of: &[frazil_reference::dem::Grain]| of.iter().map(|g| g.position.z).sum::<f64>() / of.len() as f64;
    let fallen = mean(&start) - mean(&flow.grains());
    println!("at most {fastest:.1} m/s, {fallen:.1} m down");
    assert!(fallen > if is_full { 50.0 } else { 15.0 }, "the flow has come down by {fallen} m");
    let mut again = SceneGrains::new(&DEVICE, avalanche());
    again.advance(10 * steps);
    assert!(again.columns() == early, "a second run has other bits");
    assert_no_validation_messages(&DEVICE);
}

/// Steps of 20 m within a cell of 1 m, like rocks in a terrain of that resolution, and troughs one cell wide
/// between them, hit at 30 m/s from all sides.
#[test]
fn no_grain_penetrates_cliffs_at_thirty_metres_per_second() {
    use frazil_reference::dem::Grain;
    use frazil_reference::uniform_bodies::{Heights, Shape, Surface, UniformBody};
    use frazil_testkit::twins::dem::section;
    use frazil_tests::grains::{Grainpack, dt_s, grain};
    use glam::DVec3;
    let high = |i: i32, k: i32| (i / 4 + k / 5) % 2 == 0 || (i % 9 == 4 && k % 2 == 0);
    let rows: Vec<Vec<f64>> =
        (0..41).map(|k| (0..41).map(|i| if high(i, k) { 20.0 } else { 0.0 }).collect()).collect();
    let heights = Heights { origin_m: [-20.0; 2], spacing_m: 1.0, heights_m: rows };
    let shape = Shape::Heightfield(heights);
    let body =
        UniformBody { shape: shape.clone(), surface: Surface { friction: 0.4, sticky: false }, motion: None };
    let section = frazil_scene::Dem { rolling_friction: 0.1, restitution: 0.2, ..section(0.3, 1e7) };
    let mut random = frazil_testkit::Random::new(11);
    let mut grains: Vec<Grain> = Vec::new();
    while grains.len() < 300 {
        let mut unit = || 2.0 * f64::from(random.unit()) - 1.0;
        let (place, direction) = (
            DVec3::new(18.0 * unit(), 12.0 + 11.0 * unit(), 18.0 * unit()),
            DVec3::new(unit(), 0.3 * unit(), unit()),
        );
        let is_free =
            shape.distance_m(3, place).0 > 0.5 && grains.iter().all(|g| g.position.distance(place) > 0.7);
        if is_free {
            let velocity = 30.0 * direction.normalize();
            grains.push(Grain { velocity, ..grain(grains.len() as u32, 0.3, place.as_vec3().as_dvec3()) });
        }
    }
    let domain = [DVec3::new(-20.0, -1.0, -20.0), DVec3::new(20.0, 40.0, 20.0)];
    let gravity = DVec3::new(0.0, -9.81, 0.0);
    let mut pack =
        Grainpack::on(DEVICE.clone(), &section, dt_s(&section), gravity, domain, vec![body], &grains);
    let steps = (0.02 / dt_s(&section)) as u64;
    let mut n_turned = 0;
    for part in 0..50 {
        pack.advance(steps);
        for (grain, first) in pack.state().grains.iter().zip(&grains) {
            let (distance, _) = shape.distance_m(3, grain.position);
            assert!(distance > 0.0, "grain {} is {distance} m above the ground in part {part}", grain.id);
            n_turned += usize::from(grain.velocity.with_y(0.0).distance(first.velocity.with_y(0.0)) > 10.0);
        }
    }
    assert!(n_turned > 5000, "{n_turned} times a grain had run into something");
    assert_no_validation_messages(&DEVICE);
}
