//! End-to-end test of a small run: every documented file exists and has the expected contents.

use crate::tool::{SMALL, SMALL_PARTICLES, command, picture, run_small, state_hash, stderr, succeed};
use frazil_io::{Checkpoint, MetricsTable, Recording, RunInfo, Tail};
use frazil_report::Profile;
use std::fs;

#[test]
fn a_small_run_writes_all_documented_files() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/folders");
    // A picture of an earlier, longer run must not be mistaken for one of this run.
    fs::create_dir_all(out.join("frames")).unwrap();
    fs::write(out.join("frames/frame_000099.png"), "of another run").unwrap();
    let cadences =
        ["--steps", "50", "--render", "20", "--record", "0.04s", "--metrics", "7", "--check", "10"];
    let more = ["--checkpoint", "30", "--profile", "--overwrite"];
    let output = succeed(&mut run_small(&out, &[&cadences[..], &more].concat()));
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "--quiet: {}", stderr(&output));

    let report = RunInfo::read(&out.join("run.json")).unwrap();
    assert_eq!((report.steps, report.n_particles as usize), (50, SMALL_PARTICLES));
    assert!((report.simulated_time_s - 0.1).abs() < 1e-9);
    assert_eq!(report.final_state_hash.as_deref().map(str::len), Some(32));
    assert_eq!(report.effective_scene["fluid"]["particle_spacing_m"], 0.0243333333);
    assert!(report.derived_parameters["support_radius_m"].as_f64().unwrap() > 0.048);
    assert!(report.limits.contains_key("maxStorageBufferRange"));
    assert!(["total", "setup", "steps", "output"].iter().all(|part| report.wall_time_s[*part] >= 0.0));

    let metrics = MetricsTable::read(&out.join("metrics.csv")).unwrap();
    assert_eq!(metrics.column("step").unwrap(), [0.0, 7.0, 14.0, 21.0, 28.0, 35.0, 42.0, 49.0, 50.0]);
    assert!(metrics.column("n_particles").unwrap().iter().all(|&n| n == SMALL_PARTICLES as f64));
    let fronts = metrics.column("upper_x").unwrap();
    assert!(fronts[8] > fronts[0] + 0.02, "the water runs: {fronts:?}");
    let energies = metrics.column("total_energy").unwrap();
    assert!(energies.iter().all(|energy| energy.is_finite() && *energy > 0.0), "{energies:?}");

    let names: Vec<_> = fs::read_dir(out.join("frames")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    let pictures: Vec<_> = (0..3).map(|i| picture(&out.join(format!("frames/frame_{i:06}.png")))).collect();
    for (width, height, pixels) in &pictures {
        assert_eq!((*width, *height), (160, 90));
        let colours: std::collections::HashSet<&[u8]> =
            pixels.chunks_exact(pixels.len() / (160 * 90)).collect();
        assert!(colours.len() > 100, "a picture of {} colours", colours.len());
    }
    assert!(pictures[0] != pictures[1] && pictures[1] != pictures[2]);

    let mut recording = Recording::open(&out.join("recording.frazil-rec")).unwrap();
    assert_eq!(recording.tail(), &Tail::Finished);
    assert_eq!(recording.times().map(|(step, _)| step).collect::<Vec<_>>(), [0, 20, 40]);
    let frame = recording.frame(2).unwrap();
    let columns: Vec<String> = frame.columns().iter().map(|column| column.label()).collect();
    assert_eq!(columns, ["position [m]", "velocity [m/s]", "id", "density [kg/m³]"]);
    assert_eq!(frame.len(), SMALL_PARTICLES);

    let profile = Profile::read(&out.join("profile.json")).unwrap();
    assert_eq!(profile.steps, 50);
    let integrate = profile.rows.iter().find(|row| row.kernel == "pbd.integrate").unwrap();
    assert_eq!(integrate.calls, 50);
    assert!(integrate.bytes.unwrap() > 0 && profile.copy_gb_per_s.unwrap() > 0.0);
    assert_eq!(profile.step_samples_ns.len(), 50, "steps are distinguished from read-backs");
    let trace: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("trace.json")).unwrap()).unwrap();
    let tracks = ["device", "host"].map(|track| {
        trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["cat"] == track).count()
    });
    assert!(tracks[0] > 50 * 10 && tracks[1] > 5, "{tracks:?}");

    let timing = MetricsTable::read(&out.join("timing.csv")).unwrap();
    assert_eq!(timing.column("step").unwrap().last(), Some(&50.0));
    for plot in ["energy.png", "front.png", "frame_time.png"] {
        assert!(picture(&out.join(plot)).0 > 500, "{plot}");
    }
    assert_eq!(Checkpoint::read(&out.join("checkpoint.frazil-ckpt")).unwrap().step, 50);
}

#[test]
fn a_run_says_which_device_it_uses_and_that_it_is_software_and_draws_no_bar_to_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let output = succeed(&mut command(
        &[&["run"], SMALL, &["--out", out, "--steps", "1", "--render", "never"]].concat(),
    ));
    let said = stderr(&output);
    let report = RunInfo::read(&folder.path().join("run.json")).unwrap();
    assert!(said.contains(&format!(": {} (", report.device)), "{said}");
    let software = said.contains("software device");
    assert_eq!(report.warnings.iter().any(|warning| warning.contains("software device")), software);
    assert!(!said.contains("steps/s") && !said.contains('\u{1b}'), "{said}");
    assert!(!folder.path().join("frames").exists());
}

#[test]
fn a_violated_invariant_exits_with_status_4_and_keeps_the_output_so_far() {
    let folder = tempfile::tempdir().unwrap();
    succeed(&mut run_small(folder.path(), &["--steps", "4", "--checkpoint", "4"]));
    let path = folder.path().join("checkpoint.frazil-ckpt");
    // A state that no step produces: two particles with the same id.
    let mut checkpoint = Checkpoint::read(&path).unwrap();
    let ids = checkpoint.sections.get_mut("id").unwrap();
    let first: [u8; 4] = ids[..4].try_into().unwrap();
    ids[4..8].copy_from_slice(&first);
    checkpoint.write(&path).unwrap();

    let resume = ["--steps", "20", "--metrics", "5", "--check", "10", "--resume", path.to_str().unwrap()];
    let output = run_small(folder.path(), &resume).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let said = format!("step 10: two particles have the id {}", u32::from_le_bytes(first));
    assert!(stderr(&output).contains(&said), "{}", stderr(&output));
    let report = RunInfo::read(&folder.path().join("run.json")).unwrap();
    assert_eq!(report.final_state_hash, None);
    assert!(report.warnings.iter().any(|warning| warning.contains(&said)));
    let metrics = MetricsTable::read(&folder.path().join("metrics.csv")).unwrap();
    assert_eq!(metrics.column("step").unwrap().last(), Some(&5.0));
}

/// Particles closer than their spacing are pushed apart in the first steps, too slowly for the limits of
/// speed and density.
#[test]
fn energy_from_nothing_exits_with_status_4() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("water.toml");
    succeed(&mut command(&["new", "pbd", "--out", scene.to_str().unwrap()]));
    let run = |spacing_m: f64| {
        let points = lattice([12, 12, 8], spacing_m);
        let rows = points.map(|[x, y, z]| format!("{x},{y},{z}\n")).collect::<String>();
        std::fs::write(folder.path().join("points.csv"), format!("x,y,z\n{rows}")).unwrap();
        let shape = r#"particles.0.shape={points={path="points.csv"}}"#;
        let plan =
            ["--steps", "40", "--metrics", "10", "--render", "never", "--record", "never", "--overwrite"];
        let out = folder.path().join("out");
        let places = ["run", scene.to_str().unwrap(), "--set", shape, "--out", out.to_str().unwrap()];
        // A projection takes such an excess back without energy.
        let position = ["--set", "pbd.pressure='position'"];
        command(&[&places[..], &plan, &position].concat()).current_dir(folder.path()).output().unwrap()
    };
    let sound = run(0.02);
    assert!(sound.status.success(), "{}", stderr(&sound));
    let compressed = run(0.0184);
    assert_eq!(compressed.status.code(), Some(4), "{}", stderr(&compressed));
    let said = stderr(&compressed);
    assert!(said.contains("step 10: kinetic and potential energy of") && said.contains("spacing"), "{said}");
}

/// Returns the points of a lattice in a corner of the tank.
fn lattice(n: [u32; 3], spacing_m: f64) -> impl Iterator<Item = [f64; 3]> {
    (0..n[0] * n[1] * n[2]).map(move |idx| {
        [idx / (n[1] * n[2]), idx / n[2] % n[1], idx % n[2]].map(|i| 0.02 + f64::from(i) * spacing_m)
    })
}

#[test]
fn lists_and_checks_go_to_stdout() {
    let devices = String::from_utf8(succeed(&mut command(&["devices"])).stdout).unwrap();
    assert!(devices.starts_with("0: ") && devices.contains("Vulkan 1."), "{devices}");
    assert!(devices.contains("litmus test of look-back") && devices.contains("sort by cell"), "{devices}");
    let scenes = String::from_utf8(succeed(&mut command(&["scenes"])).stdout).unwrap();
    for name in ["dam_break", "hydrostatic", "drop"] {
        assert!(scenes.lines().any(|line| line.starts_with(name)), "{scenes}");
        let check = String::from_utf8(succeed(&mut command(&["check", name])).stdout).unwrap();
        assert!(check.contains("particles"), "{check}");
    }
    let schema: serde_json::Value =
        serde_json::from_slice(&succeed(&mut command(&["scenes", "--schema"])).stdout).unwrap();
    assert!(schema["properties"]["fluid"].is_object());
}

/// The representation of particles changes only the pictures, neither the state nor the steps that have
/// pictures.
#[test]
fn the_scheme_changes_pictures_and_no_state() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, arguments: &[&str]| {
        let out = folder.path().join(name);
        let plan = ["--steps", "40", "--render", "20", "--metrics", "10"];
        succeed(&mut run_small(&out, &[&plan[..], arguments].concat()));
        let frame = |i: u32| picture(&out.join(format!("frames/frame_{i:06}.png")));
        assert!(!out.join("frames/frame_000003.png").exists());
        let metrics = MetricsTable::read(&out.join("metrics.csv")).unwrap();
        (state_hash(&out), [0, 1, 2].map(frame), metrics.column("kinetic_energy").unwrap().to_vec())
    };
    let (sprites, surface) = (run("sprites", &[]), run("surface", &["--scheme", "surface", "--profile"]));
    assert_eq!((&sprites.0, &sprites.2), (&surface.0, &surface.2));
    // The third picture is 20 steps after the second: its surface belongs to the same step.
    for i in 0..3 {
        assert_ne!(sprites.1[i], surface.1[i], "picture {i}");
    }
    assert_ne!(surface.1[1], surface.1[2]);
    // Nor does a profile change the pictures.
    assert_eq!(surface, run("again", &["--scheme", "surface"]));
}
