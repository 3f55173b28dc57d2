//! Tests of the limits of a scene's size, which are known before it is sampled, and of cancelled sampling.

use std::time::{Duration, Instant};

use frazil_scene::{Scene, SceneError};
use proptest::prelude::*;

use crate::dem::{grains, slope};
use crate::minimal;
use crate::mpm::solid;

/// Returns the scene with one block of `shape` and a spacing that makes many particles.
fn block(shape: &str, d: f64) -> Result<Scene, SceneError> {
    minimal(&[&format!("particles=[{{shape.{shape}}}]"), &format!("fluid.particle_spacing_m={d}")])
}

/// Returns the spacing that an error suggests.
fn suggested(error: &str) -> f64 {
    let (_, rest) = error.split_once(" m) to ").unwrap_or_else(|| panic!("{error}"));
    rest.split_once(" m or more").unwrap_or_else(|| panic!("{error}")).0.parse().unwrap()
}

#[test]
fn too_many_particles_are_refused_at_once_with_a_spacing_that_fits() {
    for shape in [
        "box={min_m=[0,0,0],max_m=[1,1,1]}",
        "sphere={centre_m=[0.5,0.5,0.5],radius_m=0.4}",
        "cylinder={centre_m=[0.5,0.5,0.5],axis='x',radius_m=0.4,height_m=0.9}",
    ] {
        let begin = Instant::now();
        let error = block(shape, 0.0009).unwrap_err().to_string();
        assert!(begin.elapsed() < Duration::from_secs(2), "{error}");
        assert!(
            error.contains("particles.0.shape: found ") && error.contains(" particles, expected at most "),
            "{error}"
        );
        assert!(error.contains("enlarge fluid.particle_spacing_m (0.0009 m) to 0.00"), "{error}");
        let fits = block(shape, suggested(&error)).unwrap();
        // The limit of a device is told in the same way.
        let limited = fits.refuse_more_than(1000, "what it is").unwrap_err().to_string();
        assert!(limited.contains("expected at most 1000 in all, what it is; enlarge"), "{limited}");
        let fits = block(shape, suggested(&limited)).unwrap();
        assert!(fits.sample().unwrap().len() <= 1000);
        assert!(fits.sample().unwrap().len() >= 600, "{}", fits.sample().unwrap().len());
        fits.refuse_more_than(1000, "").unwrap();
    }
}

#[test]
fn the_memory_of_large_scenes_is_told_before_they_are_sampled() {
    let small = minimal(&[]).unwrap();
    assert_eq!(small.describe_memory(), None);
    assert!(!small.describe(&small.sample().unwrap()).unwrap().is_empty());
    let begin = Instant::now();
    let large = block("box={min_m=[0,0,0],max_m=[1,1,1]}", 0.0025).unwrap();
    let estimate = large.estimate();
    assert_eq!((estimate.n_particles, estimate.host_bytes), (64_000_000, 64_000_000 * 29));
    let (label, text) = large.describe_memory().unwrap();
    assert_eq!(label, "host memory");
    assert!(text.starts_with("about 1.9 GB to sample 64000000 particles"), "{text}");
    assert!(begin.elapsed() < Duration::from_secs(2));
    // Points spread evenly need cells and nodes, too.
    let mpm = |set: &str| solid(&[set, "mpm.cell_size_m=0.004", "domain.max_m=[1,1,1]"]).unwrap().estimate();
    let shape = "shape.box={min_m=[0,0,0],max_m=[0.5,0.5,0.5]}";
    let [even, lattice] =
        ["blue_noise", "lattice"].map(|fill| mpm(&format!("particles=[{{{shape},fill='{fill}'}}]")));
    assert!(even.host_bytes > 2 * lattice.host_bytes, "{even:?} {lattice:?}");
}

#[test]
fn the_host_memory_of_what_is_sampled_is_within_the_estimate() {
    let scene = grains(&[
        "dem.radius_m=0.01",
        "particles=[{fill='random',shape.box={min_m=[0,0,0],max_m=[0.4,0.4,0.4]}}]",
    ])
    .unwrap();
    let sampled = scene.sample().unwrap();
    let per_grain = scene.estimate().host_bytes as f64 / scene.estimate().n_particles as f64;
    // The columns that remain.
    let columns = 12 + 12 + 1 + 4 + 4 + 4 + 12;
    assert!(per_grain > f64::from(columns) && per_grain < 300.0, "{per_grain}");
    let ratio = sampled.len() as f64 / scene.estimate().n_particles as f64;
    assert!((0.6..=1.001).contains(&ratio), "{ratio}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Estimates are of volumes; lattices in curved shapes differ by their surface.
    #[test]
    fn estimates_are_within_a_few_percent(
        kind in 0..3_usize,
        size in 0.2..0.45_f64,
        d in 0.008..0.012_f64,
    ) {
        let shape = match kind {
            0 => format!("box={{min_m=[0.01,0.02,0.03],max_m=[{},{},{}]}}", size, 1.2 * size, 0.9),
            1 => format!("sphere={{centre_m=[0.5,0.5,0.5],radius_m={size}}}"),
            _ => format!("cylinder={{centre_m=[0.5,0.5,0.5],axis='y',radius_m={size},height_m=0.8}}"),
        };
        let scene = block(&shape, d).unwrap();
        let ratio = scene.sample().unwrap().len() as f64 / scene.particle_count_estimate() as f64;
        prop_assert!((ratio - 1.0).abs() < 0.04, "{shape} at {d}: {ratio}");
    }
}

#[test]
fn releases_are_estimated_within_a_few_percent() {
    let scene = slope(&["dem.radius_m=0.04"]).unwrap();
    let ratio = scene.sample().unwrap().len() as f64 / scene.particle_count_estimate() as f64;
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

#[test]
fn absurd_numbers_of_steps_are_refused_or_warned_about() {
    let error = minimal(&["time.duration_s=1e10"]).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "time.duration_s: found 1e10 s, 1000000000000 steps of 0.01 s, expected at most 4294967294 steps, \
             which a run can count: 42940000 s"
        ),
        "{error}"
    );
    let of = |sets: &[&str]| -> Vec<String> {
        minimal(sets)
            .unwrap()
            .advice()
            .into_iter()
            .map(|advice| format!("{}: {}", advice.key, advice.message))
            .collect()
    };
    assert_eq!(of(&[]), Vec::<String>::new());
    let found = of(&["time.duration_s=4e7", "fluid.particle_spacing_m=0.0008"]);
    let expected = "steps of 0.01 s with 15625000 particles, which take 36 days at least on any device";
    let is_said = |text: &String| text.starts_with("time.duration_s: makes ") && text.ends_with(expected);
    assert!(found.iter().any(is_said), "{found:?}");
    let found = of(&["time.dt_s=2", "gravity_m_s2=[0,0,0]"]);
    assert!(
        found.contains(
            &"time.dt_s: is longer than the run, time.duration_s = 1 s, which is a single step then"
                .to_owned()
        ),
        "{found:?}"
    );
}

/// A mesh along the diagonal of its bounds, so thin that nearly all lattice points and cells are outside.
#[test]
fn shapes_that_are_too_thin_for_their_bounds_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("needle.obj");
    let t = 3e-3;
    std::fs::write(
        &path,
        format!("v 0 0 0\nv {t} 0 0\nv 0 {t} 0\nv 0.9 0.9 0.9\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"),
    )
    .unwrap();
    let needle = |fill: &str, more: &str| {
        let block = format!("particles=[{{shape.mesh={{path='{}'}},fill='{fill}'{more}}}]", path.display());
        solid(&[&block, "mpm.cell_size_m=0.02", "domain.max_m=[1,1,1]"])
    };
    for fill in ["uniform", "blue_noise"] {
        let error = needle(fill, ",count=100000").unwrap_err().to_string();
        assert!(error.contains("particles.0.shape.mesh: found a shape that fills 1.9e-6"), "{error}");
        assert!(error.contains(" of its bounds, which takes "), "{error}");
    }
}

/// The observer is called in time in each way of sampling, the shares rise to at most 1, and the result is
/// the same.
#[test]
fn sampling_reports_progress_and_is_the_same_with_an_observer() {
    let mpm = |set: &str| solid(&[set, "mpm.cell_size_m=0.025", "domain.max_m=[1,1,1]"]).unwrap();
    let shape = "shape.sphere={centre_m=[0.5,0.5,0.5],radius_m=0.4}";
    let scenes = [
        block("sphere={centre_m=[0.5,0.5,0.5],radius_m=0.4}", 0.008).unwrap(),
        mpm(&format!("particles=[{{{shape},fill='blue_noise'}}]")),
        mpm(&format!("particles=[{{{shape},fill='uniform'}}]")),
        grains(&[
            "dem.radius_m=0.015",
            "particles=[{fill='random',shape.box={min_m=[0,0,0],max_m=[0.4,0.4,0.4]}}]",
        ])
        .unwrap(),
        slope(&["dem.radius_m=0.03"]).unwrap(),
    ];
    for scene in scenes {
        let mut shares = Vec::new();
        let mut observer = |stage: &str, share: f64| {
            assert!(!stage.is_empty());
            shares.push(share);
            true
        };
        let observed = scene.sample_observed(&mut observer).unwrap();
        assert_eq!(observed, scene.sample().unwrap());
        assert!(shares.windows(2).all(|pair| pair[0] <= pair[1]), "{shares:?}");
        assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
    }
}

#[test]
fn packings_of_hours_are_refused_and_those_of_minutes_are_warned_about() {
    let packing = |radius: &str, edge: &str| {
        let block =
            format!("particles=[{{fill='random',shape.box={{min_m=[0,0,0],max_m=[{edge},{edge},{edge}]}}}}]");
        grains(&[radius, &block])
    };
    let error = packing("dem.radius_m=0.0006", "0.4").map(drop).unwrap_err().to_string();
    assert!(error.contains("particles.0.fill: found \"random\" for 38904"), "{error}");
    assert!(
        error.ends_with("expected at most 20000000 grains at random, or a lattice with jitter_spacings"),
        "{error}"
    );
    let is_slow = |scene: Scene| scene.advice().iter().any(|advice| advice.message.contains("takes minutes"));
    assert!(is_slow(packing("dem.radius_m=0.002", "0.4").unwrap()));
    assert!(!is_slow(packing("dem.radius_m=0.004", "0.4").unwrap()));
}

#[test]
fn sampling_ends_when_its_observer_says_so() {
    let packing = "particles=[{fill='random',shape.box={min_m=[0,0,0],max_m=[0.9,0.9,0.9]}}]";
    let even = "particles=[{shape.box={min_m=[0,0,0],max_m=[0.5,0.5,0.5]},fill='blue_noise'}]";
    for scene in [
        block("box={min_m=[0,0,0],max_m=[1,1,1]}", 0.0025).unwrap(),
        grains(&["dem.radius_m=0.002", packing]).unwrap(),
        solid(&[even, "mpm.cell_size_m=0.005"]).unwrap(),
    ] {
        let begin = Instant::now();
        let mut calls = 0;
        let mut observer = |_: &str, _: f64| {
            calls += 1;
            calls < 4
        };
        let error = scene.sample_observed(&mut observer).unwrap_err();
        assert!(matches!(error, SceneError::Cancelled { .. }), "{error}");
        assert!(error.to_string().starts_with("sampling was cancelled at "), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    }
}
