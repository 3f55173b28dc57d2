//! Interrupted commands: what is finished is kept, and the status is 1.

#![cfg(unix)]

use crate::tool::{SMALL, command, run_small, stderr, succeed, wait_until};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Starts a command, waits until `is_under_way`, which takes the process, and interrupts it; returns the
/// message with which it ended.
fn interrupted(command: &mut Command, mut is_under_way: impl FnMut(&Child) -> bool) -> String {
    let child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    wait_until("beginning", || is_under_way(&child));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.matches("frazil: error: ").count(), 1, "{said}");
    said
}

/// Returns true if a process handles SIGTERM.
fn handles_signals(child: &Child) -> bool {
    const SIGTERM: u64 = 1 << 14;
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & SIGTERM != 0)
}

#[test]
#[cfg(target_os = "linux")]
fn sampling_ends_at_an_interrupt_and_advice_comes_before_it() {
    // Half a minute of sampling.
    let scene = ["check", "dam_break", "--set", "fluid.particle_spacing_m=0.0006"];
    let noise = ["--set", "particles.0.fill=blue_noise"];
    let said = interrupted(&mut command(&[&scene[..], &noise].concat()), handles_signals);
    let [advice, error] = ["warning: scenes/dam_break", "frazil: error: "].map(|part| said.find(part));
    assert!(advice.is_some() && advice < error, "{said}");
}

#[test]
fn pictures_drawn_before_an_interrupt_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    succeed(&mut run_small(&run, &["--steps", "4", "--render", "never", "--record", "4"]));
    let out = folder.path().join("pictures");
    let arguments = ["play", run.to_str().unwrap(), "--out", out.to_str().unwrap(), "--speed", "1e-6"];
    let third = out.join("frame_000002.png");
    let said = interrupted(&mut command(&arguments), |_| third.exists());
    let n = fs::read_dir(&out).unwrap().count();
    assert!(said.contains(&format!("interrupted; {n} of ")), "{n}: {said}");
    assert!((0..n).all(|i| out.join(format!("frame_{i:06}.png")).exists()));
}

#[test]
fn points_measured_before_an_interrupt_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.jsonl");
    let counts: Vec<String> = (1000..2000).map(|count| count.to_string()).collect();
    let axis = format!("count={}", counts.join(","));
    let arguments =
        ["bench", "gather", "--smoke", "--axis", &axis, "--out", rows.to_str().unwrap(), "--quiet"];
    let n_rows = |path: &Path| fs::read_to_string(path).unwrap_or_default().lines().count();
    let said = interrupted(&mut command(&arguments), |_| n_rows(&rows) > 0);
    let n = frazil_bench::read_rows(&rows).unwrap().len();
    assert!(said.contains(&format!("interrupted; {n} of ")) && said.contains("rows.jsonl"), "{n}: {said}");
}

#[test]
fn a_profile_ends_at_an_interrupt() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("profile");
    let arguments = ["--steps", "100000000", "--out", out.to_str().unwrap()];
    let mut profile = command(&[&["profile"], SMALL, &arguments].concat());
    let said = interrupted(&mut profile, |_| out.join(".frazil.lock").exists());
    assert!(said.contains("interrupted; ") && said.contains(" steps were taken"), "{said}");
    assert!(!out.join("profile.json").exists());
}

#[test]
fn results_of_cases_before_an_interrupt_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("validation");
    let results = out.join("validation.jsonl");
    let lines = || fs::read_to_string(&results).unwrap_or_default().lines().count();
    let cases = ["bits.column_collapse", "free_fall"];
    let mut validate = command(&[&["validate"], &cases[..], &["--out", out.to_str().unwrap()]].concat());
    let said = interrupted(&mut validate, |_| lines() > 0);
    assert!(said.contains("interrupted in free_fall.") && said.contains("--resume goes on"), "{said}");
    let kept = fs::read_to_string(&results).unwrap();
    assert!(kept.ends_with("}\n") && !kept.contains("cancelled"), "{kept}");
}

#[test]
fn a_study_ends_at_an_interrupt() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("noise");
    // Minutes of steps.
    let arguments = ["analyze", "noise", "--steps", "1000000", "--out", out.to_str().unwrap()];
    let said = interrupted(&mut command(&arguments), |_| out.exists());
    assert!(said.contains("interrupted; nothing was written"), "{said}");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn a_bench_of_a_kernel_ends_at_an_interrupt() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.jsonl");
    let state = ["--state", "dam_break", "--steps-before", "100000000", "--out", rows.to_str().unwrap()];
    let mut bench = command(&[&["bench", "pbd.update_pressure"][..], &state].concat());
    let said = interrupted(&mut bench, handles_signals);
    assert!(said.contains("interrupted; "), "{said}");
    assert!(!rows.exists() || fs::read_to_string(&rows).unwrap().is_empty());
}
