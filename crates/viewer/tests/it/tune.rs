//! `frazil tune`, and the stored values in runs and profiles.

use crate::tool::{SMALL, command, run_small, state_hash, stderr, succeed};
use frazil_io::RunInfo;
use frazil_report::Profile;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the text that the program prints with a cache folder of the test's own.
fn stdout(cache: &Path, arguments: &[&str]) -> String {
    let output = succeed(command(arguments).env("XDG_CACHE_HOME", cache));
    String::from_utf8(output.stdout).unwrap()
}

fn run_in(cache: &Path, out: &Path, arguments: &[&str]) -> Command {
    let mut command = run_small(out, &[&["--steps", "8", "--render", "never"], arguments].concat());
    command.env("XDG_CACHE_HOME", cache);
    command
}

fn tunables_of(out: &Path) -> Vec<(String, u32)> {
    RunInfo::read(&out.join("run.json")).unwrap().tuning.into_iter().collect()
}

/// Returns the file in which a tunable of water is stored, from the one of another finding.
fn file_of(cache: &Path, tunable: &str) -> PathBuf {
    let folder = cache.join("frazil/findings");
    let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let device = names.into_iter().find_map(|name| {
        let name = name.into_string().unwrap();
        name.strip_suffix("cell-sort.txt").map(str::to_owned)
    });
    folder.join(format!("{}tuning-pbd-{tunable}.txt", device.unwrap()))
}

const STORED: &str = r#"{"value": 128, "gain": 0.125, "scene": "dam_break", "date": "2026-11-25"}"#;

#[test]
fn runs_and_profiles_use_the_stored_values_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, out) = (folder.path().join("cache"), folder.path().join("default"));
    succeed(&mut run_in(&cache, &out, &[]));
    let expected = state_hash(&out);
    assert_eq!(tunables_of(&out), []);

    let file = file_of(&cache, "workgroup_size");
    std::fs::write(&file, STORED).unwrap();
    let tuned = [("workgroup_size".to_owned(), 128)];
    let out = folder.path().join("tuned");
    succeed(&mut run_in(&cache, &out, &[]));
    assert_eq!((state_hash(&out), tunables_of(&out).as_slice()), (expected.clone(), &tuned[..]));
    let out = folder.path().join("ignored");
    succeed(run_in(&cache, &out, &[]).env("FRAZIL_TUNING", "0"));
    assert_eq!((state_hash(&out), tunables_of(&out)), (expected, Vec::new()));

    let out = folder.path().join("profile");
    let rest = ["--steps", "2", "--warm-up", "0", "--vary", "neighbour_slots=1"];
    let text = stdout(&cache, &[&["profile"], SMALL, &rest[..], &["--out", out.to_str().unwrap()]].concat());
    assert!(text.contains("stored tunables: workgroup_size=128"), "{text}");
    let profile = Profile::read(&out.join("profile.json")).unwrap();
    assert_eq!(profile.tuning.iter().map(|(k, v)| (k.clone(), *v)).collect::<Vec<_>>(), tuned);
    let solves = profile.kernels.iter().filter(|fact| fact.kernel == "pbd.update_pressure");
    assert_eq!(solves.map(|fact| fact.workgroup_size).collect::<Vec<_>>(), [128]);

    let listed = stdout(&cache, &["tune", "--list"]);
    let line = listed.lines().find(|line| line.starts_with("pbd ")).unwrap();
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells, ["pbd", "workgroup_size", "128", "256", "12.5", "dam_break", "2026-11-25"]);

    // Only of the named solver, and only the named tunable.
    let other = stdout(&cache, &["tune", "snowball_collision", "--reset"]);
    assert!(other.contains("removed 0 stored values") && file.exists(), "{other}");
    let other = stdout(&cache, &["tune", "--reset", "--tunable", "neighbour_slots"]);
    assert!(other.contains("removed 0 stored values") && file.exists(), "{other}");
    let removed = stdout(&cache, &["tune", "dam_break", "--reset"]);
    assert!(removed.contains("removed 1 stored value\n") && !file.exists(), "{removed}");
    assert!(stdout(&cache, &["tune", "--list"]).contains("no stored tunables"));
}

#[test]
fn a_damaged_or_impossible_value_is_ignored_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, out) = (folder.path().join("cache"), folder.path().join("default"));
    succeed(&mut run_in(&cache, &out, &[]));
    let expected = state_hash(&out);
    let file = file_of(&cache, "workgroup_size");
    let path = file.to_str().unwrap();
    for (name, bytes, said) in [
        ("cut", &b"{\"value\": 12"[..], &[path, "found no JSON", "a power of two from 64 to 4096"][..]),
        ("binary", &[0xff, 0xfe, 0], &[path, "found no JSON", "the default 256 is used"]),
        ("48", b"{\"value\": 48}", &[path, "found the value 48 of workgroup_size", "from 64 to 4096"]),
        // Within bounds, but no device has the shared memory that the sort then needs.
        ("4096", b"{\"value\": 4096}", &["cannot be used for this scene", "4096 threads a group"]),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let out = folder.path().join(name);
        succeed(&mut run_in(&cache, &out, &[]));
        assert_eq!((state_hash(&out), tunables_of(&out)), (expected.clone(), Vec::new()), "{name}");
        let warnings = RunInfo::read(&out.join("run.json")).unwrap().warnings;
        let warning = warnings.iter().find(|warning| said.iter().all(|part| warning.contains(part)));
        assert!(warning.is_some(), "{name}: {warnings:?}");
    }
    std::fs::write(&file, "?").unwrap();
    let output = command(&["tune", "--list"]).env("XDG_CACHE_HOME", &cache).output().unwrap();
    assert!(output.status.success() && stderr(&output).contains(path), "{}", stderr(&output));
}

#[test]
fn tuning_measures_all_values_and_stores_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let rest = ["--tunable", "neighbour_slots", "--steps", "2", "--warm-up", "1"];
    let text = stdout(&cache, &[&["tune"], SMALL, &rest[..]].concat());
    for value in ["1", "64", "512"] {
        assert!(text.lines().any(|line| line.split_whitespace().next() == Some(value)), "{value}: {text}");
    }
    assert!(!text.contains("workgroup_size"), "{text}");
    // Which value is the fastest depends on the machine.
    let stored = text.lines().find_map(|line| line.strip_prefix("stored: neighbour_slots="));
    let stored = stored.and_then(|rest| rest.split_whitespace().next()?.parse::<u32>().ok());
    assert!(stored.is_some() != text.contains("the default 64 stays"), "{text}");
    let out = folder.path().join("run");
    succeed(&mut run_in(&cache, &out, &[]));
    let expected = stored.map(|value| ("neighbour_slots".to_owned(), value));
    assert_eq!(tunables_of(&out), expected.into_iter().collect::<Vec<_>>());
    assert_eq!(file_of(&cache, "neighbour_slots").exists(), stored.is_some());
}

#[test]
fn unknown_scenes_and_tunables_are_refused_with_those_that_exist() {
    for (arguments, said) in [
        (&["tune", "dam_braek"][..], &["dam_braek", "dam_break"][..]),
        (
            &["tune", "dam_break", "--tunable", "list_skin"],
            &["list_skin", "solver \"pbd\"", "workgroup_size, neighbour_slots"],
        ),
        (&["tune", "--list", "--tunable", "skin"], &["any solver", "rows_per_thread", "list_skin"]),
        (&["tune"], &["<SCENE>"]),
        (&["tune", "--list", "--reset"], &["--list", "--reset"]),
    ] {
        let output = command(arguments).output().unwrap();
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(said.iter().all(|part| message.contains(part)), "{arguments:?}: {message}");
    }
}
