//! Tests of `scale`: the size of a scene relative to its file.

use frazil_scene::{BodyShape, Scene, Shape, builtin};

use crate::{edited, minimal};

/// Maximum number of particles of scenes that tests sample, which bounds their duration.
const MAX_SAMPLED: u64 = 200_000;

#[test]
fn lengths_are_scaled_and_corners_are_whole_spacings() {
    let bodies = "bodies=[{shape={plane={point_m=[0,-0.1,0],normal=[0,2,0]}}},\
                  {shape={sphere={centre_m=[0.8,0.8,0.8],radius_m=0.2}}}]";
    let camera = "render.camera={target_m=[0.5,0.25,0],distance_m=3}";
    let scene = minimal(&["scale=2.5", bodies, camera]).unwrap();
    assert_eq!(scene.scale, 1.0);
    assert_eq!(scene.particle_spacing_m(), 0.1);
    assert_eq!(scene.domain.max_m, [2.5; 3]);
    assert_eq!(scene.particles[0].shape, Shape::Box { min_m: [0.5; 3], max_m: [1.0; 3] });
    assert_eq!(scene.sample().unwrap().len(), 5 * 5 * 5);
    let BodyShape::Plane { point_m, normal } = scene.bodies[0].shape else { panic!("no plane") };
    assert_eq!((point_m, normal), ([0.0, -0.25, 0.0], [0.0, 2.0, 0.0]));
    let BodyShape::Sphere { centre_m, radius_m } = scene.bodies[1].shape else { panic!("no sphere") };
    assert_eq!((centre_m, radius_m), ([2.0; 3], 0.5));
    assert_eq!(scene.render.camera.target_m, Some([1.25, 0.625, 0.0]));
    assert_eq!(scene.render.camera.distance_m, Some(7.5));

    // 0.2 · 0.7 and 0.4 · 0.7 are 1.4 and 2.8 spacings.
    let scene = minimal(&["scale=0.7"]).unwrap();
    assert_eq!(scene.particles[0].shape, Shape::Box { min_m: [0.1; 3], max_m: [3.0 * 0.1; 3] });
}

#[test]
fn curved_shapes_are_scaled_without_rounding() {
    let scene = minimal(&[
        "scale=3",
        "particles=[{shape.sphere={centre_m=[0.5,0.25,0.5],radius_m=0.125}},\
         {shape.cylinder={centre_m=[0.5,0.75,0.5],axis='y',radius_m=0.125,height_m=0.25}}]",
    ])
    .unwrap();
    assert_eq!(scene.particles[0].shape, Shape::Sphere { centre_m: [1.5, 0.75, 1.5], radius_m: 0.375 });
    let (min, max) = scene.particles[1].shape.bounds_m();
    assert_eq!((min, max), ([1.125, 1.875, 1.125], [1.875, 2.625, 1.875]));
}

/// A half is rounded away from zero for any decimal number, so that a symmetric scene stays symmetric.
#[test]
fn halves_are_rounded_alike() {
    for half_width in ["0.3", "0.30000000000000004", "0.29999999999999999"] {
        let scene = minimal(&[
            "scale=0.5",
            &format!("domain={{min_m=[-{half_width},-1,-1],max_m=[{half_width},1,1]}}"),
            &format!("particles=[{{shape.box={{min_m=[-{half_width},0,0],max_m=[{half_width},0.4,0.4]}}}}]"),
        ])
        .unwrap();
        assert_eq!((scene.domain.min_m[0], scene.domain.max_m[0]), (-0.2, 0.2));
        assert_eq!(scene.sample().unwrap().len(), 4 * 2 * 2);
    }
}

#[test]
fn at_scale_1_nothing_is_rounded() {
    let shape = "particles.0.shape.box={min_m=[0.21,0.21,0.21],max_m=[0.43,0.43,0.43]}";
    let scene = minimal(&["scale=1", shape]).unwrap();
    assert_eq!(scene.particles[0].shape, Shape::Box { min_m: [0.21; 3], max_m: [0.43; 3] });
    assert_eq!(scene, minimal(&[shape]).unwrap());
}

#[test]
fn scales_out_of_range_are_placed() {
    for (scale, found) in
        [("0", "0"), ("nan", "nan"), ("-1", "-1"), ("0.009", "0.009"), ("101", "101"), ("inf", "inf")]
    {
        assert_eq!(
            edited("up_axis = \"y\"", &format!("up_axis = \"y\"\nscale = {scale}")).unwrap_err().to_string(),
            format!("minimal.toml:4:1: scale: found {found}, expected a number from 0.01 to 100")
        );
    }
    let error = minimal(&["scale=nan"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "minimal.toml with --set scale=nan: scale: found nan, expected a number from 0.01 to 100"
    );
}

#[test]
fn errors_in_scaled_lengths_name_the_scale() {
    assert_eq!(
        minimal(&["scale=0.1"]).unwrap_err().to_string(),
        "minimal.toml:18:40: particles.0.shape.box.max_m: found x = 0 m at scale 0.1, expected more than the \
         lower corner's x = 0 m"
    );
    // Values that are not scaled are as in the file.
    assert_eq!(
        minimal(&["scale=0.5", "time.dt_s=0"]).unwrap_err().to_string(),
        "minimal.toml with --set time.dt_s=0: time.dt_s: found 0, expected a positive number of seconds"
    );
}

#[test]
fn a_scale_set_after_loading_is_refused() {
    let mut scene = minimal(&[]).unwrap();
    scene.scale = 0.5;
    assert_eq!(
        scene.validate().unwrap_err().to_string(),
        "minimal.toml: scale: found 0.5, expected 1 once a scene is loaded, which applies it"
    );
}

#[test]
fn a_scaled_scene_is_written_as_it_is_and_reads_back() {
    for name in builtin().iter().map(|builtin| builtin.name) {
        let scene = Scene::find(name, &["scale=0.35".to_owned()]).unwrap();
        let json = serde_json::to_string(&scene).unwrap();
        assert!(!json.contains("\"scale\""), "{json}");
        assert_eq!(Scene::from_json(&json, "run.json").unwrap(), scene);
        assert_eq!(Scene::parse(&toml::to_string(&scene).unwrap(), "written", &[]).unwrap(), scene);
    }
}

/// Returns the number of layers of particles along each axis of a box.
fn layers(shape: &Shape, spacing_m: f64) -> [f64; 3] {
    let (min, max) = shape.bounds_m();
    std::array::from_fn(|i| (max[i] - min[i]) / spacing_m)
}

#[test]
fn built_in_scenes_are_sound_at_any_size() {
    for builtin in builtin() {
        let whole = builtin.load(&[]).unwrap();
        let d = whole.particle_spacing_m();
        for scale in [0.2, 0.35, 0.5, 1.3] {
            let scene = builtin.load(&[format!("scale={scale}")]).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(crate::advice_beyond_papers(&scene), [], "{} at {scale}", builtin.name);
            if scene.particle_count_estimate() > MAX_SAMPLED {
                continue;
            }
            let sampled = scene.sample().unwrap_or_else(|e| panic!("scale {scale}: {e}"));
            let inside = |point: &[f32; 3]| {
                (0..3).all(|i| {
                    let x = f64::from(point[i]);
                    scene.domain.min_m[i] <= x && x <= scene.domain.max_m[i]
                })
            };
            assert!(sampled.positions_m.iter().all(inside), "{} at {scale}", builtin.name);
            let mut n_expected = 0.0;
            for (block, unscaled) in scene.particles.iter().zip(&whole.particles) {
                let Shape::Box { .. } = block.shape else { continue };
                if whole.dem().is_some() {
                    continue;
                }
                let (found, full) = (layers(&block.shape, d), layers(&unscaled.shape, d));
                for axis in 0..3 {
                    let difference = (found[axis] - scale * full[axis]).abs();
                    assert!(difference < 1.0 + 1e-6, "{} at {scale}: {difference} layers", builtin.name);
                }
                n_expected += found.map(f64::round).iter().product::<f64>();
            }
            // Grains lie in layers of their own, or at random.
            let is_lattice = whole.dem().is_none();
            if is_lattice && whole.particles.iter().all(|block| matches!(block.shape, Shape::Box { .. })) {
                assert_eq!(sampled.len() as f64, n_expected, "{} at {scale}", builtin.name);
            }
        }
    }
}
