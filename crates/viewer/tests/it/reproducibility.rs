//! Reproducibility: the hash of a scene is independent of the thread count, the subgroup size, and the number
//! of steps per submission.

use crate::snow;
use crate::tool::{command, run_small, state_hash, succeed};
use frazil_testkit::is_full_run;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[test]
fn the_final_state_does_not_depend_on_threads_subgroups_submissions_or_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let plain = ["--steps", "25", "--render", "never", "--record", "never"];
    let mut hashes = Vec::new();
    // Threads and vector width are specific to Mesa's software device, whose subgroups are of 8 by default;
    // other devices ignore them. A run has two changes at most, and neither turns off what the other tests:
    // bits that one changes, the other does not change back.
    let one_step = ["--set", "solver.steps_per_submission=1"];
    let outputs = ["--metrics", "3", "--check", "2", "--checkpoint", "7"];
    for (name, environment, arguments) in [
        ("plain", &[][..], &[][..]),
        ("one thread, with labels", &[("LP_NUM_THREADS", "1"), ("FRAZIL_LABELS", "1")], &[]),
        ("subgroups of 4, no metrics", &[("LP_NATIVE_VECTOR_WIDTH", "128")], &["--metrics", "never"]),
        ("subgroups of 16, outputs", &[("LP_NATIVE_VECTOR_WIDTH", "512")], &outputs),
        ("without robust access, one step a submission", &[("FRAZIL_ROBUST_ACCESS", "0")], &one_step),
        ("without replay", &[("FRAZIL_REPLAY", "0")], &[]),
    ] {
        let out = folder.path().join(name);
        succeed(run_small(&out, &[&plain[..], arguments].concat()).envs(environment.iter().copied()));
        hashes.push((name, state_hash(&out)));
    }
    assert!(hashes.iter().all(|(_, hash)| *hash == hashes[0].1), "{hashes:#?}");

    // Different states have different hashes.
    let out = folder.path().join("longer");
    succeed(&mut run_small(&out, &["--steps", "26", "--render", "never"]));
    assert_ne!(state_hash(&out), hashes[0].1);
}

/// Bits that one of the two changes, the other does not change back.
const ONE_THREAD_SUBGROUPS_OF_4: [(&str, &str); 2] =
    [("LP_NUM_THREADS", "1"), ("LP_NATIVE_VECTOR_WIDTH", "128")];

#[test]
fn snow_that_melts_ends_with_the_same_bits_on_any_threads_and_subgroups() {
    let folder = tempfile::tempdir().unwrap();
    let mut hashes = Vec::new();
    for (name, environment) in [
        ("plain", &[][..]),
        ("one thread, subgroups of 4", &ONE_THREAD_SUBGROUPS_OF_4),
        ("without replay, subgroups of 16", &[("FRAZIL_REPLAY", "0"), ("LP_NATIVE_VECTOR_WIDTH", "512")]),
    ] {
        let out = folder.path().join(name);
        let arguments = ["--steps", "40", "--render", "never", "--record", "never", "--metrics", "40"];
        let place = ["run", snow::SCENE, "--quiet", "--out", out.to_str().unwrap()];
        succeed(command(&[&place[..], &arguments].concat()).envs(environment.iter().copied()));
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
            ("plain", &[][..]),
            ("one thread, subgroups of 4", &ONE_THREAD_SUBGROUPS_OF_4),
            ("subgroups of 16", &[("LP_NATIVE_VECTOR_WIDTH", "512")]),
        ] {
            let out = folder.path().join(format!("{scene} {name}"));
            let place = ["run", scene, "--quiet", "--out", out.to_str().unwrap(), "--steps", "20"];
            let outputs = ["--render", "never", "--record", "never", "--metrics", "never"];
            let set: Vec<&str> = changes.iter().flat_map(|change| ["--set", change]).collect();
            succeed(command(&[&place[..], &outputs, &set].concat()).envs(environment.iter().copied()));
            hashes.push((name, state_hash(&out)));
        }
        assert!(hashes.iter().all(|(_, hash)| *hash == hashes[0].1), "{scene}: {hashes:#?}");
    }
}

/// Hashes of final states by run: scene, change and number of steps.
type Hashes = BTreeMap<String, String>;

/// Reads a list of final states as `frazil validate` writes it: hashes by device and driver.
fn read_hashes(path: &Path) -> BTreeMap<String, Hashes> {
    let mut devices: BTreeMap<String, Hashes> = BTreeMap::new();
    for line in fs::read_to_string(path).unwrap().lines().skip(1) {
        // Only device and driver may have commas.
        let (run, hash) = line.rsplit_once(',').unwrap();
        let mut fields = run.rsplitn(4, ',');
        let [steps, change, scene] = [(); 3].map(|()| fields.next().unwrap());
        let device = fields.next().unwrap().to_owned();
        devices.entry(device).or_default().insert(format!("{scene},{change},{steps}"), hash.to_owned());
    }
    devices
}

/// Scenes of `frazil validate bits` at its sizes and steps: the cheapest of each solver, and of snow on a
/// grid in the plane and in space.
const LISTED: [(&str, &str, &str); 6] = [
    ("dam_break", "scale=1", "20"),
    ("melting", "scale=0.4", "20"),
    ("dough", "scale=0.7", "20"),
    ("snowball_collision", "scale=1", "40"),
    ("snowballs_3d", "scale=0.5", "10"),
    ("column_collapse", "scale=0.5", "40"),
];

/// Runs the listed scenes once; returns device and driver as the list has them, and the final states.
fn run_listed(folder: &Path) -> (String, Hashes) {
    let mut device = String::new();
    let mut found = Hashes::new();
    for (scene, change, steps) in LISTED {
        let out = folder.join(scene);
        let outputs = ["--render", "never", "--record", "never", "--metrics", "never", "--quiet"];
        let plan = ["--set", change, "--steps", steps, "--out", out.to_str().unwrap()];
        succeed(&mut command(&[&["run", scene], &plan[..], &outputs].concat()));
        let info = frazil_io::RunInfo::read(&out.join("run.json")).unwrap();
        device = format!("\"{}\",\"{}\"", info.device, info.driver);
        found.insert(format!("{scene},{change},{steps}"), state_hash(&out));
    }
    (device, found)
}

/// Compares the final states of built-in scenes with those of docs/hashes.csv, if it has any of this device
/// and driver. The long run has all scenes, three times each, under all settings of Mesa's software device.
/// `FRAZIL_WRITE_HASHES` writes the states of this device into the list instead.
#[test]
fn built_in_scenes_end_with_the_listed_states() {
    let folder = tempfile::tempdir().unwrap();
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hashes.csv");
    let validate = |name: &str, environment: Option<(&str, &str)>| {
        let out = folder.path().join(name);
        let arguments = ["validate", "--quiet", "--out", out.to_str().unwrap(), "bits"];
        succeed(command(&arguments).envs(environment));
        let devices = read_hashes(&out.join("hashes.csv"));
        assert_eq!(devices.len(), 1);
        devices.into_iter().next().unwrap()
    };
    let (device, found) = if is_full_run() { validate("plain", None) } else { run_listed(folder.path()) };
    let mut listed = read_hashes(&list);
    if std::env::var_os("FRAZIL_WRITE_HASHES").is_some() {
        listed.entry(device.clone()).or_default().extend(found.clone());
        let mut text = "device,driver,scene,change,steps,hash\n".to_owned();
        for (device, hashes) in &listed {
            text.extend(hashes.iter().map(|(run, hash)| format!("{device},{run},{hash}\n")));
        }
        fs::write(&list, text).unwrap();
    }
    match listed.get(&device) {
        None => eprintln!("NOT COMPARED: docs/hashes.csv has no states of {device}"),
        Some(of_device) => {
            // After a change of the physics, a device that is not at hand has the states that are as before.
            for run in found.keys().filter(|run| !of_device.contains_key(*run)) {
                eprintln!("NOT COMPARED: docs/hashes.csv has no state of {run} on {device}");
                let is_listed = listed.values().any(|states| states.contains_key(run));
                assert!(is_listed || is_full_run(), "{run} is listed for no device; FRAZIL_WRITE_HASHES=1");
            }
            let differ = found.iter().filter(|(run, hash)| of_device.get(*run).is_some_and(|h| h != *hash));
            let differ: Vec<_> = differ.map(|(run, hash)| (run, hash, of_device.get(run))).collect();
            assert!(
                differ.is_empty(),
                "found and listed: {differ:#?}; FRAZIL_WRITE_HASHES=1 lists them anew"
            );
        }
    }
    if !is_full_run() {
        return;
    }
    for (variable, value) in [
        ("LP_NUM_THREADS", "1"),
        ("LP_NUM_THREADS", "2"),
        ("LP_NATIVE_VECTOR_WIDTH", "128"),
        ("LP_NATIVE_VECTOR_WIDTH", "256"),
        ("LP_NATIVE_VECTOR_WIDTH", "512"),
    ] {
        let (_, with) = validate(&format!("{variable}={value}"), Some((variable, value)));
        assert_eq!(with, found, "{variable}={value}");
    }
}
