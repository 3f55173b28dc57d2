//! Reproducibility: the hash of a scene is independent of the thread count, the subgroup size, and the number
//! of steps per submission.

use crate::snow;
use crate::tool::{command, run_small, state_hash, succeed};

#[test]
fn the_final_state_does_not_depend_on_threads_subgroups_submissions_or_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let plain = ["--steps", "25", "--render", "never", "--record", "never"];
    let mut hashes = Vec::new();
    // The first three variables are specific to Mesa's software device; other devices ignore them.
    for (name, environment, arguments) in [
        ("plain", None, &[][..]),
        ("again", None, &[]),
        ("one thread", Some(("LP_NUM_THREADS", "1")), &[]),
        ("two threads", Some(("LP_NUM_THREADS", "2")), &[]),
        ("subgroups of 4", Some(("LP_NATIVE_VECTOR_WIDTH", "128")), &[]),
        ("subgroups of 8", Some(("LP_NATIVE_VECTOR_WIDTH", "256")), &[]),
        ("subgroups of 16", Some(("LP_NATIVE_VECTOR_WIDTH", "512")), &[]),
        ("without robust access", Some(("FRAZIL_ROBUST_ACCESS", "0")), &[]),
        ("with labels", Some(("FRAZIL_LABELS", "1")), &[]),
        ("without replay", Some(("FRAZIL_REPLAY", "0")), &[]),
        ("one step a submission", None, &["--set", "solver.steps_per_submission=1"]),
        ("outputs", None, &["--metrics", "3", "--check", "2", "--checkpoint", "7"]),
        ("no metrics", None, &["--metrics", "never"]),
    ] {
        let out = folder.path().join(name);
        succeed(run_small(&out, &[&plain[..], arguments].concat()).envs(environment));
        hashes.push((name, state_hash(&out)));
    }
    assert!(hashes.iter().all(|(_, hash)| *hash == hashes[0].1), "{hashes:#?}");

    // Different states have different hashes.
    let out = folder.path().join("longer");
    succeed(&mut run_small(&out, &["--steps", "26", "--render", "never"]));
    assert_ne!(state_hash(&out), hashes[0].1);
}

#[test]
fn snow_that_melts_ends_with_the_same_bits_on_any_threads_and_subgroups() {
    let folder = tempfile::tempdir().unwrap();
    let mut hashes = Vec::new();
    for (name, environment) in [
        ("plain", None),
        ("without replay", Some(("FRAZIL_REPLAY", "0"))),
        ("one thread", Some(("LP_NUM_THREADS", "1"))),
        ("subgroups of 4", Some(("LP_NATIVE_VECTOR_WIDTH", "128"))),
        ("subgroups of 8", Some(("LP_NATIVE_VECTOR_WIDTH", "256"))),
        ("subgroups of 16", Some(("LP_NATIVE_VECTOR_WIDTH", "512"))),
    ] {
        let out = folder.path().join(name);
        let arguments = ["--steps", "40", "--render", "never", "--record", "never", "--metrics", "40"];
        let place = ["run", snow::SCENE, "--quiet", "--out", out.to_str().unwrap()];
        succeed(command(&[&place[..], &arguments].concat()).envs(environment));
        let metrics = frazil_io::MetricsTable::read(&out.join("metrics.csv")).unwrap();
        assert!(metrics.column("n_melted").unwrap().last().is_some_and(|n| *n > 0.0), "{name}: some melts");
        hashes.push((name, state_hash(&out)));
    }
    assert!(hashes.iter().all(|(_, hash)| *hash == hashes[0].1), "{hashes:#?}");
}

#[test]
fn viscoelastic_fluids_end_with_the_same_bits_on_any_threads_and_subgroups() {
    let folder = tempfile::tempdir().unwrap();
    // Conformation with implicit viscosity while the ball meets the floor, and springs that yield.
    let ball = "particles.0.shape.sphere.centre_m=[0.0, 0.071, 0.0]";
    let cases = [
        ("dough", &["fluid.particle_spacing_m=0.0113", ball][..]),
        (
            "viscoelastic_springs",
            &[
                "fluid.particle_spacing_m=0.04",
                "viscoelastic.springs_fixed=false",
                "viscoelastic.yield_strain=0.01",
                "viscoelastic.decay_per_s=100",
                "particles.0.shape.box={ min_m = [0.3, 0.0, 0.3], max_m = [0.7, 0.4, 0.7] }",
                "particles.0.velocity_m_s=[0.5, -3.0, 0.0]",
            ],
        ),
    ];
    for (scene, changes) in cases {
        let mut hashes = Vec::new();
        for (name, environment) in [
            ("plain", None),
            ("one thread", Some(("LP_NUM_THREADS", "1"))),
            ("subgroups of 4", Some(("LP_NATIVE_VECTOR_WIDTH", "128"))),
            ("subgroups of 16", Some(("LP_NATIVE_VECTOR_WIDTH", "512"))),
        ] {
            let out = folder.path().join(format!("{scene} {name}"));
            let place = ["run", scene, "--quiet", "--out", out.to_str().unwrap(), "--steps", "20"];
            let outputs = ["--render", "never", "--record", "never", "--metrics", "never"];
            let set: Vec<&str> = changes.iter().flat_map(|change| ["--set", change]).collect();
            succeed(command(&[&place[..], &outputs, &set].concat()).envs(environment));
            hashes.push((name, state_hash(&out)));
        }
        assert!(hashes.iter().all(|(_, hash)| *hash == hashes[0].1), "{scene}: {hashes:#?}");
    }
}
