//! A build without the feature `window` has no crate of a window system.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_structure::repository;
use std::process::Command;

/// Crates that only a window needs.
const OF_WINDOWS: [&str; 7] =
    ["ash-window", "egui", "egui-ash-renderer", "egui-winit", "raw-window-handle", "winit", "x11rb"];

/// Returns those of [`OF_WINDOWS`] that a build of the program compiles on this platform. Cargo's cache need
/// not have the crates of others.
fn window_crates(features: &[&str]) -> Vec<&'static str> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--package", "frazil", "--edges", "normal,build", "--prefix", "none"])
        .args(["--format", "{p}"])
        .args(features)
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let is_built = |name: &&str| tree.lines().any(|line| line.split(' ').next() == Some(*name));
    OF_WINDOWS.into_iter().filter(is_built).collect()
}

#[test]
fn a_headless_build_has_no_crate_of_a_window_system() {
    assert_eq!(window_crates(&["--no-default-features"]), [] as [&str; 0]);
    assert_eq!(window_crates(&[]), OF_WINDOWS);
}
