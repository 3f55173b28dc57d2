//! A solver outside of frazil runs through the whole program, and nothing in frazil refers to it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use frazil_io::{Checkpoint, ColumnData, MetricsTable, Recording, RunInfo};
use frazil_report::Profile;
use frazil_testkit::VirtualScreen;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const SCENE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/free_flight.toml");
const PARTICLES: usize = 2 * 6 * 6 * 6;

/// Returns a command of the program with `arguments`, with validation on.
fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_frazil-own-solver"));
    command
        .args(arguments)
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .env("FRAZIL_VALIDATION", "1")
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::null());
    command
}

fn run(out: &Path, arguments: &[&str]) -> Command {
    program(&[&["run", SCENE, "--quiet", "--out", out.to_str().unwrap()], arguments].concat())
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn state_hash(out: &Path) -> String {
    RunInfo::read(&out.join("run.json")).unwrap().final_state_hash.unwrap()
}

/// Reads RGB bytes of a PNG file.
fn pixels(path: &Path) -> Vec<u8> {
    let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

fn colours(path: &Path) -> HashSet<[u8; 3]> {
    pixels(path).chunks_exact(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}

#[test]
fn it_is_measured_recorded_drawn_by_its_own_column_played_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let cadences = ["--steps", "20", "--render", "20", "--record", "10", "--metrics", "1", "--check", "10"];
    succeed(&mut run(out, &cadences));

    let metrics = MetricsTable::read(&out.join("metrics.csv")).unwrap();
    assert!(metrics.column("n_particles").unwrap().iter().all(|n| *n == PARTICLES as f64));
    let mut recording = Recording::open(&out.join("recording.frazil-rec")).unwrap();
    let frame = recording.frame(2).unwrap();
    let labels: Vec<String> = frame.columns().iter().map(|column| column.label()).collect();
    assert_eq!(labels, ["position [m]", "velocity [m/s]", "id", "drag_power [W]"]);
    let Some(ColumnData::F32(power_w)) = frame.column("drag_power").map(|column| &column.data) else {
        panic!("no drag_power in {labels:?}");
    };
    // The metric is the sum of the column, up to the rounding of as many additions.
    let sum_w: f64 = power_w.iter().map(|w| f64::from(*w)).sum();
    let measured_w = *metrics.column("drag_power").unwrap().last().unwrap();
    assert!((measured_w - sum_w).abs() <= 1e-5 * sum_w, "{measured_w} W, expected {sum_w} W");
    // The column equals k v² of the velocities.
    for (v, power_w) in frame.vec3("velocity").unwrap().iter().zip(power_w) {
        let expected_w = 0.02 * v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
        assert!((f64::from(*power_w) - expected_w).abs() <= 1e-5 * expected_w, "{power_w} W of {v:?} m/s");
    }

    // Coloured by its own column, two boxes of different speed have different colours; a picture coloured by
    // height has others.
    let shown = out.join("frames/frame_000001.png");
    let by_height = folder.path().join("by_height");
    let height = ["--steps", "20", "--render", "20", "--set", "render.colour_by=\"height\""];
    succeed(&mut run(&by_height, &height));
    assert_ne!(colours(&shown), colours(&by_height.join("frames/frame_000001.png")));

    let recording = out.join("recording.frazil-rec");
    let [played, exported] = ["played", "exported"].map(|name| out.join(name));
    let [recording, played_to, exported_to] =
        [&recording, &played, &exported].map(|path| path.to_str().unwrap());
    succeed(&mut program(&["play", recording, "--out", played_to, "--quiet", "--from", "20", "--to", "20"]));
    let picture = fs::read_dir(&played).unwrap().next().unwrap().unwrap().path();
    assert!(pixels(&picture) == pixels(&shown), "a played picture is that of the run");

    succeed(&mut program(&["export", recording, "--format", "csv", "--out", exported_to]));
    let tables = fs::read_dir(&exported).unwrap().map(|entry| entry.unwrap().path());
    let table = tables.filter(|path| path.extension().is_some_and(|e| e == "csv")).max().unwrap();
    assert!(fs::read_to_string(table).unwrap().lines().next().unwrap().contains("drag_power"));
}

#[test]
fn the_window_shows_the_picture_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    succeed(&mut run(&out, &["--steps", "12", "--render", "12"]));
    let screen = VirtualScreen::start(folder.path());
    let shot = folder.path().join("shot.png");
    let arguments = ["view", SCENE, "--steps", "12", "--screenshot", shot.to_str().unwrap(), "--exit"];
    succeed(program(&arguments).env("DISPLAY", &screen.display));
    assert!(pixels(&shot) == pixels(&out.join("frames/frame_000001.png")));
    assert!(colours(&shot).len() > 20, "the window is empty");
}

#[test]
fn a_killed_run_resumes_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, killed] = ["whole", "killed"].map(|name| folder.path().join(name));
    let cadences = ["--record", "4", "--metrics", "1", "--checkpoint", "5"];
    // At low speed and without gravity they stay inside for long.
    let slow = ["--set", "gravity_m_s2=[0.0, 0.0, 0.0]", "--set", "drag.coefficient_kg_s=1.0"];
    let common = [&cadences[..], &slow].concat();
    let mut child = run(&killed, &[&common[..], &["--steps", "1000000"]].concat()).spawn().unwrap();
    let checkpoint = killed.join("checkpoint.frazil-ckpt");
    while !checkpoint.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before its first checkpoint");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();

    let steps = (Checkpoint::read(&checkpoint).unwrap().step + 7).to_string();
    let until = [&common[..], &["--steps", &steps]].concat();
    succeed(&mut run(&whole, &until));
    succeed(&mut run(&killed, &[&until[..], &["--resume", checkpoint.to_str().unwrap()]].concat()));
    assert_eq!(state_hash(&whole), state_hash(&killed));
    for file in ["metrics.csv", "recording.frazil-rec"] {
        assert!(fs::read(whole.join(file)).unwrap() == fs::read(killed.join(file)).unwrap(), "{file}");
    }
}

#[test]
fn it_is_profiled_and_varied_by_its_tunable() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let vary = ["--vary", "workgroup_size=64,128", "--steps", "4", "--warm-up", "2", "--out", out];
    succeed(&mut program(&[&["profile", SCENE], &vary[..]].concat()));
    let profile = Profile::read(&folder.path().join("profile.json")).unwrap();
    assert!(profile.rows.iter().any(|row| row.kernel == "free_flight.advance"));
    assert!(profile.vary.unwrap().candidates.iter().all(|candidate| candidate.refused.is_none()));

    let arguments = ["profile", SCENE, "--vary", "rows_per_thread=1"];
    let output = program(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("solver \"free_flight\", expected one of workgroup_size"), "{said}");
}

#[test]
fn its_section_is_checked_described_and_in_the_schema() {
    let text = succeed(&mut program(&["check", SCENE]));
    assert!(text.contains(&format!("particles       {PARTICLES} of 1.2500e-2 kg")), "{text}");
    let schema = succeed(&mut program(&["scenes", "--schema"]));
    assert!(schema.contains("\"free_flight\"") && schema.contains("coefficient_kg_s"));
}

#[test]
fn unsupported_scenes_are_refused_with_line_and_key() {
    for (change, said) in [
        (
            "solver.kind=\"free_fall\"",
            &["solver.kind", "\"free_fall\"", "pbd", "mpm", "dem", "free_flight"][..],
        ),
        ("solver.kind=\"pbd\"", &["drag"]),
        ("drag.coefficient_kg_s=-1.0", &["drag.coefficient_kg_s", "-1"]),
        ("drag.shape=1", &["drag.shape"]),
        ("render.colour_by=\"density\"", &["render.colour_by", "drag_power"]),
    ] {
        let output = program(&["check", SCENE, "--set", change]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{change}: {}", stderr(&output));
        let found = stderr(&output);
        assert!(said.iter().all(|part| found.contains(part)), "{change}: {found}");
    }
}

#[test]
fn a_second_solver_of_its_name_is_refused_with_both() {
    frazil_own_solver::register().unwrap();
    let error = frazil_own_solver::register().unwrap_err().to_string();
    let title = "Free flight with drag.";
    assert!(error.contains("\"free_flight\"") && error.matches(title).count() == 2, "{error}");
}

#[test]
fn the_engine_does_not_refer_to_it() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates")];
    let mut n_files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // Tests there may define their own solvers.
                if path.file_name().is_some_and(|name| name != "tests") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let named =
                    ["free_flight", "FreeFlight", "drag_power"].iter().find(|name| text.contains(**name));
                assert_eq!(named, None, "{}", path.display());
                n_files += 1;
            }
        }
    }
    assert!(n_files > 100, "the engine's sources are there");
}
