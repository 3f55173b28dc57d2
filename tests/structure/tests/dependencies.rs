//! Crates that a library must not bring along.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_structure::repository;
use std::process::Command;

/// Returns the names of all crates that a package is built from on this platform, without those of its tests.
fn crates_of(package: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--package", package, "--edges", "normal", "--prefix", "none"])
        .args(["--format", "{p}"])
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    tree.lines().filter_map(|line| line.split(' ').next().map(str::to_owned)).collect()
}

/// Asserts that a package is built from the solvers, and from none of these crates.
fn assert_without(package: &str, unwanted: &[&str]) {
    let crates = crates_of(package);
    assert!(crates.iter().any(|name| name == "frazil-solvers"), "{package}: {crates:?}");
    for unwanted in unwanted {
        assert!(!crates.iter().any(|name| name == unwanted), "{package} is built from {unwanted}");
    }
}

#[test]
fn engine_and_python_package_have_no_command_line_benches_statistics_or_twins() {
    for package in ["frazil-engine", "frazil-python"] {
        let unwanted = [
            "clap",
            "indicatif",
            "frazil",
            "frazil-bench",
            "frazil-reference",
            "frazil-report",
            "frazil-studies",
        ];
        assert_without(package, &unwanted);
    }
}

#[test]
fn studies_have_no_command_line_no_window_and_twins_by_their_feature_only() {
    let terminal = ["clap", "console", "ctrlc", "indicatif", "winit", "frazil"];
    assert_without("frazil-studies", &[&terminal[..], &["frazil-bench", "frazil-reference"]].concat());
}
