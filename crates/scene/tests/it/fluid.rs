//! Walls of a fluid, and its disordered start.

use crate::minimal;
use frazil_scene::{ConstraintGradient, FluidKernel, Pressure, Scene, WallDensity};

const SNOW: &str = "snow={}";

fn message(overrides: &[&str]) -> String {
    minimal(overrides).unwrap_err().to_string()
}

#[test]
fn walls_are_images_unless_there_is_snow() {
    let of = |overrides: &[&str]| minimal(overrides).unwrap().wall_density();
    assert_eq!(of(&[]), Some(WallDensity::Images));
    assert_eq!(of(&["fluid.wall_density='integral'"]), Some(WallDensity::Integral));
    assert_eq!(of(&[SNOW]), Some(WallDensity::Integral));
    assert_eq!(Scene::find("dam_break", &[]).unwrap().wall_density(), Some(WallDensity::Images));
    assert_eq!(Scene::find("water_drop", &[]).unwrap().wall_density(), Some(WallDensity::Integral));
    let advice = minimal(&["fluid.wall_density='integral'"]).unwrap().advice();
    assert_eq!(advice.iter().map(|a| &a.key[..]).collect::<Vec<_>>(), ["fluid.wall_density"]);
    assert_eq!(minimal(&[]).unwrap().advice(), []);
}

#[test]
fn images_need_water_alone_and_half_a_support_radius() {
    let found = message(&[SNOW, "fluid.wall_density='images'"]);
    assert!(found.contains("fluid.wall_density: found images in a scene with [snow]"), "{found}");
    let thin = ["domain.max_m.2=0.4", "domain.min_m.2=0.2", "fluid.support_radius_spacings=4.5"];
    let found = message(&thin);
    assert!(found.contains("images in a domain 0.2 m thick, with a support radius of 0.45 m"), "{found}");
    minimal(&[&thin[..], &["fluid.wall_density='integral'"]].concat()).unwrap();
    let found = message(&["fluid.wall_density='mirror'"]);
    assert!(found.contains("fluid.wall_density"), "{found}");
}

#[test]
fn a_start_is_disordered_within_its_bound_and_the_domain() {
    for (overrides, bound) in [
        (&[][..], 0.2),
        (&["fluid.initial_disorder_spacings=0.5"], 0.5),
        (&["fluid.initial_disorder_spacings=0"], 0.0),
    ] {
        let at_walls = "particles.0.shape.box={min_m=[0,0,0],max_m=[1,1,1]}";
        let scene = minimal(&[overrides, &[at_walls]].concat()).unwrap();
        assert_eq!(scene.initial_disorder_spacings(), bound);
        let sampled = scene.sample().unwrap();
        let positions = scene.disordered_positions_m(&sampled);
        assert_eq!(positions, scene.disordered_positions_m(&sampled), "drawn from the seed");
        let offsets: Vec<f64> = positions
            .iter()
            .flatten()
            .zip(sampled.positions_m.iter().flatten())
            .map(|(moved, x)| f64::from((moved - x).abs()) / scene.particle_spacing_m())
            .collect();
        let largest = offsets.iter().fold(0.0_f64, |a, b| a.max(*b));
        assert!(largest <= bound + 1e-5 && largest >= 0.98 * bound, "{largest} of {bound}");
        // Uniform offsets: half the bound in the mean, over 3000 coordinates.
        let mean = offsets.iter().sum::<f64>() / offsets.len() as f64;
        assert!((mean - 0.5 * bound).abs() <= 0.03 * bound, "{mean} of {bound}");
        assert!(positions.iter().flatten().all(|x| (0.0..=1.0).contains(x)));
    }
    let found = message(&["fluid.initial_disorder_spacings=0.6"]);
    assert!(found.contains("fluid.initial_disorder_spacings"), "{found}");
    let found = message(&[SNOW, "fluid.initial_disorder_spacings=0.1"]);
    assert!(found.contains("a disorder in a scene with [snow]"), "{found}");
}

#[test]
fn corrections_follow_the_gradients_at_the_start_in_viscoelastic_fluids() {
    use ConstraintGradient::{Prediction, Start};
    let of = |overrides: &[&str]| minimal(overrides).unwrap().constraint_gradient();
    let viscoelastic = "solver.kind='viscoelastic'";
    assert_eq!(of(&[]), Prediction);
    assert_eq!(of(&[viscoelastic]), Start);
    assert_eq!(of(&[viscoelastic, "fluid.constraint_gradient='prediction'"]), Prediction);
    assert_eq!(of(&["fluid.constraint_gradient='start'"]), Start);
    for (overrides, found) in [
        (&[SNOW, "fluid.constraint_gradient='start'"][..], "found \"start\" in a scene with [snow]"),
        (&["fluid.constraint_gradient='end'"], "end"),
    ] {
        let message = message(overrides);
        for part in ["fluid.constraint_gradient", found, "expected", "prediction"] {
            assert!(message.contains(part), "{overrides:?}: no {part} in: {message}");
        }
    }
}

#[test]
fn a_projection_needs_water_alone_and_a_tolerance() {
    let of = |overrides: &[&str]| minimal(overrides).unwrap();
    let projection = "pbd.pressure='projection'";
    let viscoelastic = "solver.kind='viscoelastic'";
    for (overrides, pressure, tolerance) in [
        (&[][..], Pressure::Projection, 1e-4),
        (&["pbd.pressure='position'"], Pressure::Position, 1e-3),
        (&[SNOW], Pressure::Position, 1e-3),
        (&[viscoelastic], Pressure::Position, 1e-3),
        (&["pbd.density_tolerance=0"], Pressure::Position, 0.0),
        (&["pbd.artificial_pressure.strength=0.01"], Pressure::Position, 1e-3),
        (&["fluid.constraint_gradient='prediction'"], Pressure::Position, 1e-3),
        (&["fluid.constraint_gradient='start'"], Pressure::Projection, 1e-4),
    ] {
        assert_eq!(of(overrides).pressure(), pressure, "{overrides:?}");
        assert_eq!(of(overrides).density_tolerance(), tolerance, "{overrides:?}");
    }
    // κ = 1 − exp(−2 √(g/d) Δt), per second and not per step.
    let left = |dt_s: f64| 1.0 - of(&[projection, &format!("time.dt_s={dt_s}")]).density_excess_share();
    assert!((left(0.001).powi(2) - left(0.002)).abs() < 1e-12);
    for (overrides, key, found) in [
        (&[SNOW, projection][..], "pbd.pressure", "\"projection\" in a scene with [snow]"),
        (&[viscoelastic, projection], "pbd.pressure", "solver.kind = \"viscoelastic\""),
        (&[projection, "pbd.density_tolerance=0"], "pbd.density_tolerance", "0"),
        (&[projection, "pbd.artificial_pressure.strength=0.01"], "pbd.artificial_pressure.strength", "0.01"),
        (&[projection, "fluid.constraint_gradient='prediction'"], "fluid.constraint_gradient", "prediction"),
        (&["pbd.pressure='implicit'"], "pbd.pressure", "implicit"),
    ] {
        let message = message(overrides);
        for part in [key, found, "expected"] {
            assert!(message.contains(part), "{overrides:?}: no {part} in: {message}");
        }
    }
}

#[test]
fn the_kernels_of_the_paper_are_selected_by_name() {
    let of = |overrides: &[&str]| minimal(overrides).unwrap().fluid().unwrap().kernel();
    assert_eq!(of(&[]), FluidKernel::CubicSpline);
    assert_eq!(of(&["fluid.kernel='cubic_spline'"]), FluidKernel::CubicSpline);
    let papers = "fluid.kernel='poly6_spiky'";
    assert_eq!(of(&[papers]), FluidKernel::Poly6Spiky);
    let message = |overrides: &[&str]| minimal(overrides).unwrap_err().to_string();
    let body = "bodies=[{name='b',shape={sphere={centre_m=[2,2,2],radius_m=0.1}}}]";
    for (overrides, found) in [
        (&[SNOW, papers][..], "found \"poly6_spiky\" in a scene with [snow]"),
        (&[body, papers], "found \"poly6_spiky\" in a scene with bodies"),
        (&["fluid.kernel='quintic'"], "quintic"),
    ] {
        let message = message(overrides);
        for part in ["fluid.kernel", found, "expected", "cubic_spline"] {
            assert!(message.contains(part), "{overrides:?}: no {part} in: {message}");
        }
    }
}
