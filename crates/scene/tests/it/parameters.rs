//! Tests of defaults and of quantities derived from a scene's values.

use frazil_scene::{Axis, Scene};

use crate::minimal;

#[test]
fn omitted_keys_have_defaults() {
    let scene = minimal(&[]).unwrap();
    assert_eq!(scene.seed, 0);
    assert_eq!(scene.fluid().unwrap().support_radius_spacings, 2.0);
    assert_eq!(
        (scene.fluid().unwrap().dynamic_viscosity_pa_s, scene.fluid().unwrap().wall_friction),
        (1e-3, 1.0)
    );
    assert_eq!(scene.solver.kind.name(), "pbd");
    assert_eq!(scene.pbd().artificial_pressure.exponent, 4);
    assert_eq!(scene.render.colour_by, "speed");
    assert_eq!(scene.output.render_every, None);
    assert!(scene.bodies.is_empty());
    // A partly given section keeps the defaults of its other keys.
    let partly = minimal(&["pbd.artificial_pressure.strength=0.2"]).unwrap();
    assert_eq!(partly.iterations(), scene.iterations());
    assert_eq!(partly.pbd().artificial_pressure.exponent, 4);
}

#[test]
fn derived_values_follow_their_definitions() {
    let scene = minimal(&["pbd.constraint_relaxation=0.5"]).unwrap();
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
    let derived = scene.derived();
    assert!(near(derived.particle_mass_kg, 1000.0 * 0.1 * 0.1 * 0.1));
    assert!(near(derived.support_radius_m, 0.2));
    assert!(near(scene.constraint_epsilon_per_m2(), 0.5 / 0.04));
    assert_eq!(derived.sections["pbd"]["constraint_epsilon_per_m2"], scene.constraint_epsilon_per_m2());
    assert_eq!(derived.gravity_m_s2, [0.0, -9.81, 0.0]);
    assert_eq!(derived.n_steps, 100);
    assert_eq!(minimal(&["fluid.particle_mass_kg=0.25"]).unwrap().particle_mass_kg(), 0.25);
}

#[test]
fn gravity_points_against_the_up_axis_unless_given() {
    let gravity = |overrides: &[&str]| minimal(overrides).unwrap().gravity_m_s2();
    assert_eq!(gravity(&["up_axis=x"]), [-9.81, 0.0, 0.0]);
    assert_eq!(gravity(&["up_axis=z"]), [0.0, 0.0, -9.81]);
    assert_eq!(gravity(&["gravity_m_s2=[1,2,3]"]), [1.0, 2.0, 3.0]);
    assert_eq!(gravity(&["gravity_m_s2=[0,0,0]"]), [0.0; 3]);
}

#[test]
fn the_duration_is_covered_by_whole_steps() {
    let n_steps = |dt: &str, duration: &str| {
        minimal(&[&format!("time.dt_s={dt}"), &format!("time.duration_s={duration}")]).unwrap().n_steps()
    };
    // 0.3 / 0.1 rounds below 3, 0.07 / 0.01 above 7.
    assert_eq!(n_steps("0.1", "0.3"), 3);
    assert_eq!(n_steps("0.01", "0.07"), 7);
    assert_eq!(n_steps("0.1", "0.35"), 4);
    assert_eq!(n_steps("1", "0.5"), 1);
}

/// Projects a point to the picture plane, whose visible part is from −1 to 1 along each axis.
fn project(scene: &Scene, point: [f64; 3]) -> [f64; 2] {
    let view = scene.view();
    let subtract = |a: [f64; 3], b: [f64; 3]| -> [f64; 3] { std::array::from_fn(|i| a[i] - b[i]) };
    let dot = |a: [f64; 3], b: [f64; 3]| -> f64 { (0..3).map(|i| a[i] * b[i]).sum() };
    let cross = |a: [f64; 3], b: [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
    };
    let unit = |a: [f64; 3]| a.map(|x| x / dot(a, a).sqrt());
    let forward = unit(subtract(view.target_m, view.eye_m));
    let right = unit(cross(forward, view.up));
    let up = cross(right, forward);
    let relative = subtract(point, view.eye_m);
    let depth = dot(relative, forward);
    assert!(depth > 0.0, "behind the camera");
    let tan = (0.5 * view.vertical_fov_deg.to_radians()).tan();
    let aspect = f64::from(scene.render.width_px) / f64::from(scene.render.height_px);
    [dot(relative, right) / (depth * tan * aspect), dot(relative, up) / (depth * tan)]
}

#[test]
fn without_perspective_the_default_view_is_as_high_as_the_domain_with_its_margin() {
    let camera = "render.camera={projection=\"orthographic\",azimuth_deg=0,elevation_deg=0}";
    let scene = minimal(&["domain.max_m=[1,1,0.5]", camera]).unwrap();
    let view = scene.view();
    let half_m = view.distance_m * (0.5 * view.vertical_fov_deg.to_radians()).tan();
    assert!((half_m - 0.5 * 1.05).abs() < 1e-12, "{half_m}");
}

#[test]
fn the_default_view_fits_the_domain_tightly() {
    for up in ["x", "y", "z"] {
        for (azimuth, elevation, width) in [(0, 0, 720), (25, 15, 1280), (120, -40, 400), (-77, 80, 2000)] {
            let scene = minimal(&[
                "domain.max_m=[3,1,1]",
                &format!("up_axis={up}"),
                &format!("render.camera={{azimuth_deg={azimuth},elevation_deg={elevation}}}"),
                &format!("render.width_px={width}"),
            ])
            .unwrap();
            let mut farthest = 0.0_f64;
            for corner in 0..8 {
                let point = [3.0 * f64::from(corner & 1), f64::from(corner >> 1 & 1), f64::from(corner >> 2)];
                farthest = project(&scene, point).into_iter().fold(farthest, |far, x| far.max(x.abs()));
            }
            // The margin on the distance leaves a corner at 1/1.05 of the way to the edge or somewhat less.
            assert!((0.85..1.0).contains(&farthest), "{up} up, {azimuth}°, {elevation}°: {farthest}");
        }
    }
}

/// The legend at the right, in pixels: its left edge is at a font's size less than this from the right.
#[test]
fn the_default_view_leaves_room_for_the_legend() {
    for azimuth in [0, 25, 120] {
        let camera = format!("render.camera={{azimuth_deg={azimuth}}}");
        let scene = |more: &str| minimal(&["domain.max_m=[3,1,1]", &camera, more]).unwrap();
        let extent = |scene: &Scene| {
            let corners = (0..8).map(|corner| {
                [3.0 * f64::from(corner & 1), f64::from(corner >> 1 & 1), f64::from(corner >> 2)]
            });
            let x = corners.map(|corner| project(scene, corner)[0]);
            x.fold((1.0_f64, -1.0_f64), |(lo, hi), x| (lo.min(x), hi.max(x)))
        };
        let (left, right) = extent(&scene("render.width_px=1280"));
        let legend = 1.0 - 2.0 * 9.5 * 20.0 / 1280.0;
        assert!(left > -1.0 && right <= legend + 1e-9, "{azimuth}°: {left} to {right} of {legend}");
        // Where the camera is told where to look, and without a legend, it is not moved.
        for more in ["render.camera.target_m=[1.5,0.5,0.5]", "render.scheme=\"surface\""] {
            let view = scene(more).view();
            assert_eq!(view.target_m, [1.5, 0.5, 0.5], "{more}");
        }
    }
}

/// On a terrain, the view contains the release and the run-out, and is nearer than one of all the terrain.
#[test]
fn the_default_view_of_a_flow_goes_from_its_release_to_its_run_out() {
    let whole = Scene::find("avalanche", &[]).unwrap();
    let mut short = whole.clone();
    short.dem_mut().unwrap().releases.clear();
    assert!(whole.view().distance_m < short.view().distance_m);
    for name in ["avalanche", "slope_obstacle"] {
        let scene = Scene::find(name, &[]).unwrap();
        let ground = scene.ground().unwrap();
        let areas: Vec<_> = scene.releases().iter().filter_map(|release| release.areas()).collect();
        let corners =
            areas.iter().flat_map(|areas| areas.iter()).flat_map(|area| area.polygon.rings.concat());
        let extent_x = ground.extent_m()[0];
        // These slopes fall towards larger x.
        let middle_y = 0.5 * ground.extent_m()[1];
        for [x, y] in corners.chain([[0.7 * extent_x, middle_y]]) {
            let height_m = ground.height_m([x, y]).unwrap();
            let place = project(&scene, [x, y, height_m]);
            assert!(place.iter().all(|x| x.abs() < 1.0), "{name}: {place:?}");
        }
    }
}

#[test]
fn the_camera_orbits_counter_clockwise_seen_from_above() {
    let eye = |up: &str, azimuth: i32| {
        let scene = minimal(&[
            &format!("up_axis={up}"),
            &format!("render.camera={{target_m=[0,0,0],distance_m=2,azimuth_deg={azimuth},elevation_deg=0}}"),
        ])
        .unwrap();
        scene.view().eye_m.map(|x| x.round() as i32)
    };
    assert_eq!(eye("y", 0), [0, 0, 2]);
    assert_eq!(eye("y", 90), [2, 0, 0]);
    assert_eq!(eye("z", 0), [0, -2, 0]);
    assert_eq!(eye("z", 90), [2, 0, 0]);
    // Counter-clockwise about up: rotating the eye by 90° equals the cross product of up with it.
    for (up, axis) in [("x", Axis::X), ("y", Axis::Y), ("z", Axis::Z)] {
        let (a, u) = (eye(up, 0), axis.unit().map(|x| x as i32));
        let turned: [i32; 3] =
            std::array::from_fn(|i| u[(i + 1) % 3] * a[(i + 2) % 3] - u[(i + 2) % 3] * a[(i + 1) % 3]);
        assert_eq!(eye(up, 90), turned, "{up} up");
    }
}

#[test]
fn elevation_lifts_the_eye() {
    let scene =
        minimal(&["render.camera={target_m=[0,0,0],distance_m=2,azimuth_deg=0,elevation_deg=30}"]).unwrap();
    let eye = scene.view().eye_m;
    assert!((eye[1] - 1.0).abs() < 1e-12 && (eye[2] - 3.0_f64.sqrt()).abs() < 1e-12, "{eye:?}");
}

#[test]
fn advice_names_unlikely_settings() {
    let advice = |overrides: &[&str]| -> Vec<String> {
        minimal(overrides).unwrap().advice().iter().map(ToString::to_string).collect()
    };
    assert_eq!(advice(&[]), [""; 0]);
    // Falling 1 m: √(2 · 9.81 · 1) = 4.429 m/s; half of h = 0.2 m takes 22.6 ms.
    assert_eq!(
        advice(&["time.dt_s=0.03"]),
        ["minimal.toml with --set time.dt_s=0.03: time.dt_s: a particle that falls through the domain \
          reaches 4.429 m/s and crosses 0.66 support radii in a step of 0.03 s; at most 0.5 needs a step of \
          2.258e-2 s or less"]
    );
    assert_eq!(advice(&["particles.0.velocity_m_s=[0,0,50]"]).len(), 1);
    assert!(advice(&["particles.0.velocity_m_s=[0,0,50]"])[0].starts_with("minimal.toml:6:1: time.dt_s: "));
    assert!(
        advice(&["fluid.support_radius_spacings=1.2"])[0]
            .ends_with("gives about 7 neighbours, too few for a smooth density")
    );
    assert!(
        advice(&["fluid.support_radius_spacings=4"])[0]
            .ends_with("gives about 268 neighbours, which costs time")
    );
    assert!(advice(&["fluid.particle_mass_kg=1.5"])[0].ends_with("so that the fluid starts compressed"));
    assert!(advice(&["fluid.particle_mass_kg=0.5"])[0].ends_with("so that the fluid starts stretched"));
    assert!(advice(&["gravity_m_s2=[0,1,0]"])[0].ends_with("gravity_m_s2: points up"));
}
