//! Tests of the warning against particles that start closer together than their spacing.

use std::fmt::Write;
use std::path::Path;

use frazil_scene::Scene;
use proptest::prelude::*;

use crate::MINIMAL;

/// Spacing of the minimal scene in m.
const SPACING_M: f64 = 0.1;

/// Writes a lattice of 7³ points.
fn write_lattice(path: &Path, spacing_m: f64, offset_m: f64) {
    let mut text = "x,y,z\n".to_owned();
    let at = |i: i32| offset_m + spacing_m * f64::from(i);
    for i in 0..7 * 7 * 7 {
        writeln!(text, "{},{},{}", at(i % 7), at(i / 7 % 7), at(i / 49)).unwrap();
    }
    std::fs::write(path, text).unwrap();
}

/// Returns the warnings about distances of a scene with these lattices from files as `[[particles]]`.
fn warnings(lattices: &[(f64, f64)], overrides: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut blocks = Vec::new();
    for (idx, (spacing_m, offset_m)) in lattices.iter().enumerate() {
        let path = folder.path().join(format!("{idx}.csv"));
        write_lattice(&path, *spacing_m, *offset_m);
        blocks.push(format!("{{shape={{points={{path='{}'}}}}}}", path.display()));
    }
    let mut sets = vec!["domain.max_m=[3,3,3]".to_owned(), format!("particles=[{}]", blocks.join(","))];
    sets.extend(overrides.iter().map(|set| (*set).to_owned()));
    let scene = Scene::parse(MINIMAL, "minimal.toml", &sets).unwrap();
    closeness(&scene)
}

fn closeness(scene: &Scene) -> Vec<String> {
    let advice = scene.thorough_advice(&scene.sample().unwrap());
    let is_about_distances = |message: &str| message.contains("energy from nothing");
    advice
        .into_iter()
        .filter(|advice| is_about_distances(&advice.message))
        .map(|advice| format!("{}: {}", advice.key, advice.message))
        .collect()
}

#[test]
fn points_at_their_spacing_are_not_warned_about() {
    for snow in [&[][..], &["snow={}"]] {
        assert_eq!(warnings(&[(SPACING_M, 0.5)], snow), Vec::<String>::new());
        // Two that touch, along their diagonal.
        assert_eq!(warnings(&[(SPACING_M, 0.5), (SPACING_M, 1.2)], snow), Vec::<String>::new());
    }
}

/// Water at 0.92 of its spacing has 5.7 times its energy after ten steps.
#[test]
fn points_below_their_spacing_are_warned_about() {
    let effect = "pressure pushes them apart, which adds energy from nothing; increase their distances, or \
                  reduce fluid.particle_spacing_m, 0.1 m";
    assert_eq!(
        warnings(&[(0.9 * SPACING_M, 0.5)], &[]),
        [format!(
            "particles.0.shape: 882 pairs of its particles are closer than a spacing, the closest at 0.900 \
             spacings, and up to 1.38 times as dense as a lattice: {effect}"
        )]
    );
    for overrides in [&["snow={}"][..], &["solver.kind=viscoelastic"]] {
        let found = warnings(&[(0.92 * SPACING_M, 0.5)], overrides);
        assert!(found.len() == 1 && found[0].contains("the closest at 0.920 spacings"), "{found:?}");
    }
    // A disordered start moves to rest density before the first step.
    let disorder = ["fluid.initial_disorder_spacings=0.1"];
    assert_eq!(warnings(&[(0.9 * SPACING_M, 0.5)], &disorder), Vec::<String>::new());
}

#[test]
fn overlapping_points_are_warned_about_by_their_blocks() {
    let found = warnings(&[(SPACING_M, 0.5), (SPACING_M, 0.75)], &[]);
    let first = found.iter().find(|warning| warning.contains("its and particles.1's"));
    assert!(first.is_some_and(|warning| warning.starts_with("particles.0.shape: ")), "{found:?}");
    // A file in other units.
    let found = warnings(&[(1e-3 * SPACING_M, 0.5)], &[]);
    assert!(found.len() == 1 && found[0].contains("times as many particles in a volume"), "{found:?}");
}

/// Jitter as of the built-in scenes brings particles together and others apart.
#[test]
fn jitter_is_not_warned_about() {
    let block = "particles=[{shape={box={min_m=[0.5,0.5,0.5],max_m=[1.7,1.7,1.7]}},jitter_spacings=0.1}]";
    for support in ["1.7", "2", "2.5"] {
        let set = format!("fluid.support_radius_spacings={support}");
        let sets = ["snow={}", "domain.max_m=[3,3,3]", block, &set].map(str::to_owned);
        let scene = Scene::parse(MINIMAL, "minimal.toml", &sets).unwrap();
        assert_eq!(closeness(&scene), Vec::<String>::new(), "{support}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// The closest distance is that of the lattice, and all pairs along its edges are counted.
    #[test]
    fn the_closest_distance_is_that_of_the_lattice(share in 0.75..1.05_f64) {
        let found = warnings(&[(share * SPACING_M, 0.5)], &[]);
        if share < 0.96 {
            let expected = format!("882 pairs of its particles are closer than a spacing, the closest at \
                                    {share:.3}");
            prop_assert!(found.len() == 1 && found[0].contains(&expected), "{found:?}");
        } else if share > 0.98 {
            prop_assert!(found.is_empty(), "{found:?}");
        }
    }
}
