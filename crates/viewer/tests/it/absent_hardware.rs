//! The host's side of runs on drivers of other vendors, without their hardware: every pipeline, buffer,
//! submission, picture and read-back, with the limits and subgroup sizes of that device, under validation.

use crate::tool::{command, stderr};

/// A scene of each solver, and one with bodies, snow and water.
const SCENES: [(&str, &str); 6] = [
    ("dam_break", "scale=0.25"),
    ("melting", "scale=0.25"),
    ("dough", "scale=0.4"),
    ("snowballs_3d", "scale=0.25"),
    ("hopper", "scale=0.5"),
    ("snowball_on_body_3d", "scale=0.4"),
];

/// Runs each scene on the driver of a family, which computes nothing.
fn runs_on(family: &str) {
    let folder = tempfile::tempdir().unwrap();
    for (scene, scale) in SCENES {
        let out = folder.path().join(scene);
        let output = command(&["--validation", "kernels", "--for", family, "--dry-run", "run", scene])
            .args(["--set", scale, "--steps", "3", "--metrics", "1", "--record", "1", "--render", "3"])
            .args(["--checkpoint", "2", "--out", out.to_str().unwrap()])
            .output()
            .unwrap();
        let errors = stderr(&output);
        if output.status.code() == Some(3) && errors.contains("tools/setup --compilers") {
            println!("skipped: {errors}");
            return;
        }
        assert!(output.status.success(), "{scene} for {family}: {errors}");
        for file in ["metrics.csv", "recording.frazil-rec", "checkpoint.frazil-ckpt", "frames"] {
            assert!(out.join(file).exists(), "{scene} for {family}: no {file}");
        }
    }
}

#[test]
fn scenes_run_on_the_driver_of_nvidia() {
    runs_on("ada");
}

#[test]
fn scenes_run_on_the_driver_of_amd() {
    runs_on("navi31");
}

#[test]
fn scenes_run_on_the_driver_of_qualcomm() {
    runs_on("adreno740");
}

#[test]
fn scenes_run_on_the_driver_of_apple() {
    runs_on("m1");
}

#[test]
fn a_device_that_computes_nothing_is_named() {
    for family in ["ada", "navi31", "adreno740", "m1"] {
        let output = command(&["kernels", "--for", family, "--dry-run", "check", "dam_break", "--measure"])
            .env("FRAZIL_DRY_RUN", "0")
            .output()
            .unwrap();
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{family}: {errors}");
        if errors.contains("tools/setup --compilers") {
            println!("skipped: {errors}");
            continue;
        }
        assert!(errors.contains("computes nothing"), "{family}: {errors}");
    }
}

/// The system's AMD driver, which compiles without a shim, takes no submissions.
#[test]
fn a_dry_run_without_the_unpacked_drivers_is_refused() {
    let empty = tempfile::tempdir().unwrap();
    for family in ["ada", "navi21", "navi31", "adreno740", "m1"] {
        let output = command(&["kernels", "--for", family, "--dry-run", "check", "dam_break", "--measure"])
            .env("XDG_DATA_HOME", empty.path())
            .output()
            .unwrap();
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{family}: {errors}");
        assert!(errors.contains(family) && errors.contains("tools/setup --compilers"), "{family}: {errors}");
    }
}

/// Profiles a scene with counters on the driver of a family, which computes nothing.
fn counters_on(family: &str, environment: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        command(&[&["--validation", "kernels", "--for", family, "--dry-run"], arguments].concat())
            .envs(environment.iter().copied())
            .output()
            .unwrap()
    };
    let list = run(&["profile", "--counters", "list"]);
    if list.status.code() == Some(3) && stderr(&list).contains("tools/setup --compilers") {
        println!("skipped: {}", stderr(&list));
        return;
    }
    assert!(list.status.success(), "{family}: {}", stderr(&list));
    let list = String::from_utf8(list.stdout).unwrap();
    assert!(list.lines().count() > 10 && list.contains("  yes"), "{family}: {list}");
    let steps = ["--steps", "2", "--warm-up", "0", "--set", "scale=0.25"];
    for (name, counters) in [("default", &["--counters"][..]), ("bytes", &["--counters", "vram,l2"])] {
        if family == "adreno740" && name == "bytes" {
            continue;
        }
        let out = folder.path().join(name);
        let out = ["--out", out.to_str().unwrap()];
        let output = run(&[&["profile", "dam_break", "--csv"], counters, &steps, &out].concat());
        let (table, errors) = (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output));
        assert!(output.status.success(), "{family}, {name}: {errors}");
        let profile = frazil_report::Profile::read(&folder.path().join(name).join("profile.json")).unwrap();
        let measured = profile.counters.unwrap();
        assert!(
            !measured.counters.is_empty() && measured.passes.len() == profile.passes.len(),
            "{measured:?}"
        );
        // Nothing was computed, so that all values are zero.
        let values = || measured.kernels.values().flatten().flatten();
        assert!(values().count() > 0 && values().all(|value| *value == 0.0), "{measured:?}");
        let header = table.lines().next().unwrap();
        assert!(measured.counters.iter().all(|counter| header.contains(&counter.name)), "{header}");
    }
    let unknown = run(&["profile", "dam_break", "--counters", "nosuch"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", stderr(&unknown));
}

#[test]
fn counters_are_measured_on_the_driver_of_amd() {
    counters_on("navi31", &[]);
}

#[test]
fn counters_are_measured_on_the_driver_of_qualcomm() {
    counters_on("adreno740", &[("TU_DEBUG", "perfc")]);
}

#[test]
fn a_driver_without_counters_says_so() {
    let output = command(&["kernels", "--for", "ada", "--dry-run", "profile", "dam_break", "--counters"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let errors = stderr(&output);
    assert!(
        errors.contains("no hardware counters") || errors.contains("tools/setup --compilers"),
        "{errors}"
    );
    // The software device has none, either: nothing is measured.
    let output = command(&["profile", "--counters", "list"]).output().unwrap();
    if output.status.code() != Some(0) {
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains("VK_KHR_performance_query"), "{}", stderr(&output));
    }
}
