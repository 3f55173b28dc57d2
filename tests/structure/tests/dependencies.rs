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

#[test]
fn engine_and_python_package_have_no_command_line_benches_statistics_or_twins() {
    for package in ["frazil-engine", "frazil-python"] {
        let crates = crates_of(package);
        assert!(crates.iter().any(|name| name == "frazil-solvers"), "{package}: {crates:?}");
        for unwanted in ["clap", "indicatif", "frazil", "frazil-bench", "frazil-reference", "frazil-report"] {
            assert!(!crates.iter().any(|name| name == unwanted), "{package} is built from {unwanted}");
        }
    }
}
