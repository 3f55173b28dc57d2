//! Exhausted memory and files that grow too large end a command with a message and a status, not by a signal.

#![cfg(target_os = "linux")]

use crate::tool::{SMALL, command, stderr};
use std::process::{Command, Output};

/// Runs the program under a limit of the shell's `ulimit`.
fn limited(limit: &str, arguments: &[&str]) -> Output {
    let program = command(arguments);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\"")]);
    shell.arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.output().unwrap()
}

#[track_caller]
fn expect(output: &Output, status: i32, said: &[&str]) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(status), "{message}");
    assert!(said.iter().all(|part| message.contains(part)), "{said:?} is not in: {message}");
    assert!(!message.contains("panicked") && !message.contains("stack backtrace"), "{message}");
}

#[test]
fn a_file_beyond_the_limit_of_its_size_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let outputs = ["--steps", "20", "--render", "never", "--record", "1", "--out"];
    let arguments = [&["run"], SMALL, &outputs, &[folder.path().to_str().unwrap(), "--quiet"]].concat();
    // In blocks of 512 bytes.
    expect(&limited("-f 64", &arguments), 1, &["cannot ", "recording", "File too large"]);
}

#[test]
fn exhausted_memory_is_an_error() {
    // Refused before anything is sampled, with a spacing that fits.
    let many = ["check", "dam_break", "--set", "fluid.particle_spacing_m=0.0006"];
    expect(&limited("-v 400000", &many), 2, &["particles", "of the host's memory, expected at most "]);
    // Exhausted where no estimate tells it: by the text of a scene.
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("scene.toml");
    std::fs::write(&scene, format!("version = 1\nx = [{}]\n", "[1],".repeat(900_000))).unwrap();
    let output = limited("-v 60000", &["check", scene.to_str().unwrap()]);
    expect(&output, 1, &["frazil: error: out of host memory: an allocation of "]);
    // A software device's compiler would crash.
    if frazil_vk::Device::list()
        .unwrap()
        .iter()
        .all(|(info, ..)| info.kind == frazil_vk::DeviceKind::Software)
    {
        let out = folder.path().join("out");
        let run = [&["run"], SMALL, &["--out", out.to_str().unwrap()]].concat();
        expect(&limited("-v 700000", &run), 3, &["bytes of address space", "716800000 (ulimit -v)"]);
    }
}
