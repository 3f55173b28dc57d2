//! Tests of filling shapes with particles.

use frazil_scene::{Axis, Sampled, Scene, Shape};
use proptest::prelude::*;

use crate::minimal;

/// Loads the minimal scene with one block of `shape`, written as TOML.
fn with_shape(shape: &str, more: &[&str]) -> Scene {
    let block = format!("particles=[{{shape.{shape}}}]");
    minimal(&[&[block.as_str()], more].concat()).unwrap_or_else(|e| panic!("{e}"))
}

const SPHERE: &str = "sphere={centre_m=[0.5,0.4,0.6],radius_m=0.35}";
const CYLINDER: &str = "cylinder={centre_m=[0.5,0.4,0.6],axis='z',radius_m=0.35,height_m=0.6}";
const BOX: &str = "box={min_m=[0.1,0.05,0.2],max_m=[0.8,0.9,0.95]}";

/// Returns true if every particle lies in the shape, widened by the rounding to f32, and in the domain.
fn all_inside(scene: &Scene, sampled: &Sampled) -> bool {
    let rounding_m = 1e-6;
    sampled.positions_m.iter().all(|point| {
        scene.particles.iter().any(|block| block.shape.contains(point.map(f64::from), -rounding_m))
            && (0..3)
                .all(|i| point[i] >= scene.domain.min_m[i] as f32 && point[i] <= scene.domain.max_m[i] as f32)
    })
}

proptest! {
    #[test]
    fn a_box_of_whole_spacings_holds_their_product(n in prop::array::uniform3(1..20_u32), d in 0.003..0.05_f64) {
        let max = n.map(|n| f64::from(n) * d);
        let scene = with_shape(
            &format!("box={{min_m=[0,0,0],max_m={max:?}}}"),
            &[&format!("fluid.particle_spacing_m={d}"), &format!("domain.max_m={max:?}")],
        );
        let sampled = scene.sample().unwrap();
        prop_assert_eq!(sampled.len() as u32, n.iter().product::<u32>());
        prop_assert_eq!(scene.particle_count_estimate(), sampled.len() as u64);
        // The outermost points touch the walls at half a spacing.
        for axis in 0..3 {
            let coordinates = || sampled.positions_m.iter().map(move |point| f64::from(point[axis]));
            let first = coordinates().fold(f64::INFINITY, f64::min);
            let last = coordinates().fold(0.0, f64::max);
            prop_assert!((first - 0.5 * d).abs() < 1e-6, "{first}");
            prop_assert!((max[axis] - last - 0.5 * d).abs() < 1e-6, "{last}");
        }
        // x runs fastest.
        if n[0] > 1 {
            prop_assert!(sampled.positions_m[1][0] > sampled.positions_m[0][0]);
        }
    }

    #[test]
    fn particles_lie_inside_their_shape_and_the_domain(
        shape in 0..3_usize,
        fill in 0..3_usize,
        d in 0.03..0.1_f64,
        jitter in 0.0..0.5_f64,
        seed in 0..i64::MAX,
    ) {
        let jittered = format!("particles.0.jitter_spacings={jitter}");
        let fill = ["particles.0.fill=uniform", "particles.0.fill=blue_noise", &jittered][fill];
        let scene = with_shape(
            [BOX, SPHERE, CYLINDER][shape],
            &[fill, &format!("fluid.particle_spacing_m={d}"), &format!("seed={seed}")],
        );
        let sampled = scene.sample().unwrap();
        prop_assert!(!sampled.is_empty());
        prop_assert!(all_inside(&scene, &sampled));
    }
}

#[test]
fn shapes_that_touch_the_walls_stay_inside_them() {
    for (shape, fill) in [
        ("box={min_m=[0,0,0],max_m=[1,1,1]}", "uniform"),
        ("sphere={centre_m=[0.5,0.5,0.5],radius_m=0.5}", "uniform"),
        ("box={min_m=[0,0,0],max_m=[1,1,1]}", "blue_noise"),
        ("sphere={centre_m=[0.5,0.5,0.5],radius_m=0.5}", "blue_noise"),
    ] {
        let scene =
            with_shape(shape, &[&format!("particles.0.fill={fill}"), "fluid.particle_spacing_m=0.03"]);
        assert!(all_inside(&scene, &scene.sample().unwrap()));
    }
}

#[test]
fn the_seed_decides_the_bits() {
    for random in
        ["particles.0.fill=uniform", "particles.0.fill=blue_noise", "particles.0.jitter_spacings=0.3"]
    {
        let sample = |seed: u64| with_shape(SPHERE, &[random, &format!("seed={seed}")]).sample().unwrap();
        assert_eq!(sample(7), sample(7));
        assert_ne!(sample(7).positions_m, sample(8).positions_m);
    }
    // A lattice without jitter draws no random numbers.
    let sample = |seed: u64| with_shape(SPHERE, &[&format!("seed={seed}")]).sample().unwrap();
    assert_eq!(sample(7), sample(8));
}

/// The bits are the same on every platform; a change of the random generator or of the order of draws changes
/// every recorded run.
#[test]
fn the_drawn_bits_are_pinned() {
    let sampled = with_shape(SPHERE, &["particles.0.fill=uniform", "seed=1"]).sample().unwrap();
    let first: Vec<[u32; 3]> = sampled.positions_m[..2].iter().map(|point| point.map(f32::to_bits)).collect();
    assert_eq!(first, [[0x3edd_0d05, 0x3dd9_a35a, 0x3f2a_e751], [0x3e9b_67eb, 0x3e7e_8ca7, 0x3f3f_5763]]);
    let sampled = with_shape(SPHERE, &["particles.0.fill=blue_noise", "seed=1"]).sample().unwrap();
    let first: Vec<[u32; 3]> = sampled.positions_m[..2].iter().map(|point| point.map(f32::to_bits)).collect();
    assert_eq!(first, [[0x3ede_d764, 0x3e17_35c2, 0x3edb_7b20], [0x3eb2_0327, 0x3e73_4dac, 0x3eb8_f324]]);
}

#[test]
fn a_block_keeps_its_particles_when_another_is_added() {
    let left = "{fill='uniform',shape.box={min_m=[0,0,0],max_m=[0.4,1,1]}}";
    let right = "{fill='uniform',shape.box={min_m=[0.5,0,0],max_m=[1,1,1]}}";
    let alone = minimal(&[&format!("particles=[{left}]")]).unwrap().sample().unwrap();
    let both = minimal(&[&format!("particles=[{left},{right}]")]).unwrap().sample().unwrap();
    assert_eq!(both.positions_m[..alone.len()], alone.positions_m);
    assert_eq!(both.len(), 400 + 500);
}

#[test]
fn equal_blocks_draw_different_particles() {
    let left = "{fill='uniform',shape.box={min_m=[0,0,0],max_m=[0.5,1,1]}}";
    let right = "{fill='uniform',shape.box={min_m=[0.5,0,0],max_m=[1,1,1]}}";
    let both = minimal(&[&format!("particles=[{left},{right}]")]).unwrap().sample().unwrap();
    let (left, right) = both.positions_m.split_at(500);
    assert!(left.iter().zip(right).all(|(a, b)| a[1..] != b[1..]));
}

/// Upper 10⁻⁴ quantile of χ² with 7 degrees of freedom, for eight octants whose shares are known.
const CHI_SQUARE_7: f64 = 29.88;

/// Returns χ² of the counts of points in the eight octants around `centre`, which are equally likely.
fn octant_chi_square(sampled: &Sampled, centre: [f64; 3]) -> f64 {
    let mut counts = [0_u32; 8];
    for point in &sampled.positions_m {
        let octant = (0..3).map(|i| usize::from(f64::from(point[i]) > centre[i]) << i).sum::<usize>();
        counts[octant] += 1;
    }
    let expected = sampled.len() as f64 / 8.0;
    counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum()
}

#[test]
fn uniform_filling_is_uniform() {
    for (shape, centre) in
        [(BOX, [0.45, 0.475, 0.575]), (SPHERE, [0.5, 0.4, 0.6]), (CYLINDER, [0.5, 0.4, 0.6])]
    {
        for seed in 0..8 {
            let scene = with_shape(
                shape,
                &["particles.0.fill=uniform", "fluid.particle_spacing_m=0.02", &format!("seed={seed}")],
            );
            let sampled = scene.sample().unwrap();
            assert!(sampled.len() > 10_000, "{}", sampled.len());
            let chi_square = octant_chi_square(&sampled, centre);
            assert!(chi_square < CHI_SQUARE_7, "{shape}, seed {seed}: χ² = {chi_square}");
        }
    }
}

/// Half of the points lie in the inner ball of half the volume: octants do not detect crowding towards the
/// centre.
#[test]
fn uniform_filling_of_a_ball_is_not_denser_in_its_middle() {
    let scene = with_shape(SPHERE, &["particles.0.fill=uniform", "fluid.particle_spacing_m=0.02"]);
    let sampled = scene.sample().unwrap();
    let inner = Shape::Sphere { centre_m: [0.5, 0.4, 0.6], radius_m: 0.35 * 0.5_f64.cbrt() };
    let n_inner =
        sampled.positions_m.iter().filter(|point| inner.contains(point.map(f64::from), 0.0)).count();
    let (n, k) = (sampled.len() as f64, n_inner as f64);
    // Four standard deviations of a binomial count.
    assert!((k - 0.5 * n).abs() < 4.0 * (0.25 * n).sqrt(), "{k} of {n}");
}

#[test]
fn uniform_filling_holds_the_shapes_mass() {
    for shape in [BOX, SPHERE, CYLINDER] {
        let scene = with_shape(shape, &["particles.0.fill=uniform", "fluid.particle_spacing_m=0.02"]);
        let mass_kg = scene.sample().unwrap().len() as f64 * scene.particle_mass_kg();
        let expected_kg = 1000.0 * scene.particles[0].shape.volume_m3();
        assert!((mass_kg - expected_kg).abs() <= 0.5 * scene.particle_mass_kg() * (1.0 + 1e-9), "{shape}");
    }
}

#[test]
fn lattices_in_curved_shapes_approach_the_volume() {
    for shape in [SPHERE, CYLINDER] {
        let scene = with_shape(shape, &["fluid.particle_spacing_m=0.02"]);
        let ratio = scene.sample().unwrap().len() as f64 / scene.particle_count_estimate() as f64;
        // Error of a stepped surface: about d / r times a factor that decreases further with the number of
        // steps.
        assert!((ratio - 1.0).abs() < 0.02, "{shape}: {ratio}");
    }
}

#[test]
fn a_lattice_in_a_ball_is_symmetric() {
    let scene =
        with_shape("sphere={centre_m=[0.5,0.5,0.5],radius_m=0.25}", &["fluid.particle_spacing_m=0.0625"]);
    let mut points = scene.sample().unwrap().positions_m;
    let mut mirrored: Vec<[f32; 3]> = points.iter().map(|point| point.map(|x| 1.0 - x)).collect();
    let order = |a: &[f32; 3], b: &[f32; 3]| a.partial_cmp(b).expect("finite");
    points.sort_by(order);
    mirrored.sort_by(order);
    assert_eq!(points, mirrored);
}

#[test]
fn jitter_moves_points_within_its_bound() {
    let lattice = with_shape(BOX, &[]).sample().unwrap();
    let jittered = with_shape(BOX, &["particles.0.jitter_spacings=0.25"]).sample().unwrap();
    assert_eq!(lattice.len(), jittered.len());
    let offsets: Vec<f32> = lattice
        .positions_m
        .iter()
        .zip(&jittered.positions_m)
        .flat_map(|(a, b)| (0..3).map(|i| b[i] - a[i]).collect::<Vec<_>>())
        .collect();
    let largest = offsets.iter().fold(0.0_f32, |far, x| far.max(x.abs()));
    assert!(largest > 0.02 && largest < 0.025 + 1e-6, "{largest}");
    // Four standard deviations of the mean of a uniform variable.
    let mean = offsets.iter().sum::<f32>() / offsets.len() as f32;
    assert!(mean.abs() < 4.0 * 0.025 / (3.0 * offsets.len() as f32).sqrt(), "{mean}");
}

#[test]
fn velocities_follow_their_block() {
    let scene =
        minimal(&["particles=[{shape.box={min_m=[0,0,0],max_m=[0.2,0.1,0.1]},velocity_m_s=[1,2,3]},\
         {shape.box={min_m=[0.5,0,0],max_m=[0.6,0.1,0.1]}}]"])
        .unwrap();
    assert_eq!(scene.sample().unwrap().velocities_m_s, [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0.0; 3]]);
}

#[test]
fn blocks_in_contact_do_not_overlap() {
    let scene = minimal(&[
        "fluid.particle_spacing_m=0.05",
        "particles=[{shape.box={min_m=[0,0,0],max_m=[0.3,0.3,0.3]}},\
         {shape.box={min_m=[0.3,0,0],max_m=[0.6,0.3,0.3]},fill='uniform'},\
         {shape.cylinder={centre_m=[0.15,0.5,0.15],axis='y',radius_m=0.15,height_m=0.4}}]",
    ])
    .unwrap();
    assert_eq!(scene.sample().unwrap().positions_m.iter().filter(|point| point[1] < 0.3).count(), 2 * 216);
}

/// Random points come arbitrarily close to the face between two blocks, and rounding to f32 carries some
/// across it.
#[test]
fn random_blocks_in_contact_do_not_overlap() {
    for seed in 0..20 {
        let scene = minimal(&[
            "fluid.particle_spacing_m=0.02",
            "particles=[{shape.box={min_m=[0,0,0],max_m=[0.3,0.3,0.3]},fill='uniform'},\
             {shape.box={min_m=[0.3,0,0],max_m=[0.6,0.3,0.3]},fill='uniform'}]",
            &format!("seed={seed}"),
        ])
        .unwrap();
        scene.sample().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
}

/// A block may reach past the domain by a millionth of a spacing. This one lies wholly within that margin,
/// where half of its points round to the next f32 beyond the wall.
#[test]
fn rounding_carries_no_particle_past_a_wall() {
    let scene = minimal(&[
        "domain.max_m=[1,1000,1000]",
        "particles=[{shape.box={min_m=[1,0,0],max_m=[1.000000099,1000,1000]},fill='uniform'}]",
    ])
    .unwrap();
    let sampled = scene.sample().unwrap();
    assert_eq!(sampled.len(), 99);
    assert!(sampled.positions_m.iter().all(|point| point[0] == 1.0));
}

#[test]
fn a_cylinder_lies_along_its_axis() {
    for (axis, index) in [(Axis::X, 0), (Axis::Y, 1), (Axis::Z, 2)] {
        let cylinder = Shape::Cylinder { centre_m: [0.5; 3], axis, radius_m: 0.1, height_m: 0.8 };
        let (min, max) = cylinder.bounds_m();
        for i in 0..3 {
            let half = if i == index { 0.4 } else { 0.1 };
            assert!((max[i] - min[i] - 2.0 * half).abs() < 1e-12);
        }
        let mut point = [0.5; 3];
        point[index] = 0.85;
        assert!(cylinder.contains(point, 0.0) && !cylinder.contains(point, 0.1));
        point[(index + 1) % 3] = 0.61;
        assert!(!cylinder.contains(point, 0.0) && cylinder.contains(point, -0.02));
    }
}

#[test]
fn depth_is_measured_along_the_normal() {
    let scene = minimal(&["bodies=[{shape={plane={point_m=[0,1,0],normal=[0,2,0]}}},\
         {shape={sphere={centre_m=[1,0,0],radius_m=2}}},\
         {shape={sphere={centre_m=[1,0,0],radius_m=2}},side='inside'},\
         {shape={upright_cylinder={foot_m=[3,1],radius_m=0.5,height_m=2}}}]"])
    .unwrap();
    let depth_m = |body: usize, point_m: [f64; 3]| scene.body_depth_m(&scene.bodies[body], point_m);
    assert_eq!(depth_m(0, [5.0, 0.25, 0.0]), 0.75);
    assert_eq!(depth_m(0, [5.0, 1.25, 0.0]), -0.25);
    assert_eq!(depth_m(1, [0.5, 0.0, 0.0]), 1.5);
    assert_eq!(depth_m(2, [4.0, 0.0, 0.0]), 1.0);
    // It stands on the floor, at y = 0, and has no lower end.
    for (point_m, depth) in [
        ([3.0, 1.75, 1.0], 0.25),
        ([3.0, -9.0, 1.0], 0.5),
        ([3.75, 0.5, 1.0], -0.25),
        ([3.0, 2.5, 1.0], -0.5),
    ] {
        assert_eq!(depth_m(3, point_m), depth, "{point_m:?}");
    }
}

/// A velocity gradient that is antisymmetric is a spin; any other adds G (x − centre).
#[test]
fn velocity_gradients_spin_and_shear_blocks() {
    let sample = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        frazil_scene::Scene::find("snowballs_3d", &sets).unwrap().sample().unwrap()
    };
    let spin = sample(&["particles.0.angular_velocity_rad_s=[1.0, -2.0, 3.0]"]);
    let gradient = "particles.0.velocity_gradient_per_s=[[0, -3, -2], [3, 0, -1], [2, 1, 0]]";
    let same = sample(&[gradient]);
    let off = |a: &[f32; 3], b: &[f32; 3]| (0..3).map(|i| (a[i] - b[i]).abs()).fold(0.0, f32::max);
    let worst =
        spin.velocities_m_s.iter().zip(&same.velocities_m_s).map(|(a, b)| off(a, b)).fold(0.0, f32::max);
    assert!(worst < 1e-5, "{worst} m/s");

    let shear = sample(&["particles.0.velocity_gradient_per_s=[[0, 4, 0], [0, 0, 0], [0, 0, 0]]"]);
    let first = shear.positions_m.iter().zip(&shear.velocities_m_s).filter(|(x, _)| x[0] < 0.5);
    for (x, v) in first {
        assert!(off(v, &[5.0 + 4.0 * (x[1] - 0.5), 1.0, 0.0]) < 1e-4, "{x:?} {v:?}");
    }
    let flat = ["particles.0.velocity_gradient_per_s=[[0, 0, 1], [0, 0, 0], [0, 0, 0]]".to_owned()];
    let error = frazil_scene::Scene::find("snow_castle", &flat).unwrap_err().to_string();
    assert!(error.contains("velocity_gradient_per_s") && error.contains("two dimensions"), "{error}");
}
