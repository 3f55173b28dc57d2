//! Scenes with snow through the command line.

use crate::resume::{assert_same_results, run_whole_and_broken};
use crate::tool::{command, picture, stderr, succeed};
use frazil_io::{Checkpoint, ColumnData, MetricsTable, Recording};
use frazil_report::Profile;
use std::fs;
use std::path::Path;
use std::process::Command;

pub const SCENE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/snow.toml");
const SNOW: usize = 5 * 4 * 5;
const PARTICLES: usize = SNOW + 8 * 3 * 8;

/// Runs `frazil run` of the scene into `out`, with additional `arguments`.
fn run(out: &Path, arguments: &[&str]) -> Command {
    command(&[&["run", SCENE, "--quiet", "--out", out.to_str().unwrap()], arguments].concat())
}

/// Counts pixels that differ from all pixels of the picture's border, which is background.
fn drawn(pixels: &[u8], width: u32) -> usize {
    let background: std::collections::HashSet<&[u8]> = pixels.chunks_exact(3).take(width as usize).collect();
    pixels.chunks_exact(3).filter(|pixel| !background.contains(pixel)).count()
}

#[test]
fn a_run_with_snow_writes_all_documented_files() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let cadences = ["--steps", "40", "--render", "20", "--record", "20", "--metrics", "5", "--check", "4"];
    succeed(&mut run(out, &[&cadences[..], &["--checkpoint", "30"]].concat()));

    let metrics = MetricsTable::read(&out.join("metrics.csv")).unwrap();
    let column = |name| metrics.column(name).unwrap();
    let whole = column("n_solid").iter().zip(column("n_fluid")).all(|(s, f)| s + f == PARTICLES as f64);
    assert!(whole && column("n_solid")[0] == SNOW as f64);
    let (solid, melted, frozen) = (column("n_solid"), column("n_melted"), column("n_frozen"));
    let last = solid.len() - 1;
    assert!(melted[last] > 0.0, "some melts");
    assert_eq!(solid[last], SNOW as f64 - melted[last] + frozen[last]);
    assert!(column("coldest")[last] >= -1.001 && column("warmest")[last] <= 50.001);

    let timing = MetricsTable::read(&out.join("timing.csv")).unwrap();
    assert_eq!(timing.column("step").unwrap().last(), Some(&40.0));
    assert!(timing.column("step_time").unwrap().iter().all(|ms| *ms > 0.0));
    for plot in ["energy.png", "frame_time.png", "particle_counts.png", "temperature.png"] {
        assert!(picture(&out.join(plot)).0 > 500, "{plot}");
    }

    let mut recording = Recording::open(&out.join("recording.frazil-rec")).unwrap();
    assert_eq!(recording.len(), 3);
    for i in 0..3 {
        let frame = recording.frame(i).unwrap();
        let labels: Vec<String> = frame.columns().iter().map(|column| column.label()).collect();
        let expected = ["position [m]", "velocity [m/s]", "id", "density [kg/m³]", "temperature [°C]"];
        assert_eq!(labels[..5], expected, "{labels:?}");
        let Some(ColumnData::U32(phases)) = frame.column("phase").map(|column| &column.data) else {
            panic!("no phases in {labels:?}");
        };
        let n_solid = phases.iter().filter(|phase| **phase == 1).count();
        // Metrics of steps 0, 20 and 40.
        assert_eq!((phases.len(), n_solid as f64), (PARTICLES, solid[4 * i]));
    }
    assert_eq!(Checkpoint::read(&out.join("checkpoint.frazil-ckpt")).unwrap().step, 40);
}

#[test]
fn pictures_show_snow_and_water_by_every_property() {
    let folder = tempfile::tempdir().unwrap();
    let mut pictures = Vec::new();
    let properties = ["phase", "temperature", "density", "lambda", "speed", "height", "id"];
    // Those of water alone are drawn like its density.
    let n = if frazil_testkit::is_full_run() { 7 } else { 4 };
    for property in properties.into_iter().take(n) {
        let out = folder.path().join(property);
        let set = format!("render.colour_by=\"{property}\"");
        let arguments = ["--steps", "10", "--render", "10", "--metrics", "never", "--set", &set];
        succeed(&mut run(&out, &arguments));
        let (width, height, pixels) = picture(&out.join("frames/frame_000001.png"));
        let share = drawn(&pixels, width) as f64 / f64::from(width * height);
        assert!(share > 0.05, "{property}: {share} of the picture is drawn");
        pictures.push((property, pixels));
    }
    for (i, (property, pixels)) in pictures.iter().enumerate() {
        for (other, others) in &pictures[..i] {
            assert!(pixels != others, "{property} looks like {other}");
        }
    }
    // White and blue.
    let has = |test: &dyn Fn(&[u8]) -> bool| pictures[0].1.chunks_exact(3).any(test);
    assert!(has(&|p| p.iter().all(|c| *c > 200)), "no snow");
    assert!(has(&|p| p[2] > 100 && p[0] < 60), "no water");
}

#[test]
fn a_resumed_run_with_snow_ends_with_the_bits_of_an_uninterrupted_one() {
    let folder = tempfile::tempdir().unwrap();
    for (name, changes) in [
        ("paper", &[][..]),
        (
            "future",
            &["--set", "snow.heat.latent_heat=\"enthalpy\"", "--set", "snow.links.compliance_m_n=1e-5"],
        ),
    ] {
        let [whole, broken] = run_whole_and_broken(&folder.path().join(name), |out, arguments| {
            succeed(&mut run(out, &[changes, arguments].concat()));
        });
        assert_same_results(&whole, &broken);
    }
}

#[test]
fn invalid_links_and_duplicate_ids_end_a_run_with_status_4() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.frazil-ckpt");
    let refuse = |corrupt: &dyn Fn(&mut Checkpoint), said: &str| {
        succeed(&mut run(folder.path(), &["--steps", "4", "--checkpoint", "4", "--overwrite"]));
        let mut checkpoint = Checkpoint::read(&path).unwrap();
        corrupt(&mut checkpoint);
        checkpoint.write(&path).unwrap();
        let resume = ["--steps", "20", "--check", "2", "--resume", path.to_str().unwrap()];
        let output = run(folder.path(), &resume).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("step 6: ") && stderr(&output).contains(said),
            "{}",
            stderr(&output)
        );
    };
    refuse(
        &|checkpoint| {
            let words = |bytes: &[u8]| -> Vec<u32> {
                bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
            };
            let linked = words(&checkpoint.sections["link partner"]);
            let slot = linked.iter().position(|partner| *partner != u32::MAX).expect("cold snow is linked");
            let rest = checkpoint.sections.get_mut("link rest length").unwrap();
            let length = f32::from_le_bytes(rest[4 * slot..4 * slot + 4].try_into().unwrap());
            rest[4 * slot..4 * slot + 4].copy_from_slice(&(0.95 * length).to_le_bytes());
        },
        "bonds with another rest length at the other end",
    );
    refuse(
        &|checkpoint| {
            let ids = checkpoint.sections.get_mut("id").unwrap();
            let first: [u8; 4] = ids[..4].try_into().unwrap();
            ids[4..8].copy_from_slice(&first);
        },
        "two particles have the id",
    );
}

#[test]
fn a_profile_of_snow_names_its_passes_and_tunables_change_no_bit() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let arguments = ["--steps", "4", "--warm-up", "2", "--vary", "workgroup_size=64,128", "--out", out];
    succeed(&mut command(&[&["profile", SCENE], &arguments[..]].concat()));
    let profile = Profile::read(&folder.path().join("profile.json")).unwrap();
    assert_eq!(profile.n_particles as usize, PARTICLES);
    for kernel in ["snow.mark_phase_change", "snow.migrate", "pbd.integrate"] {
        assert!(profile.rows.iter().any(|row| row.kernel == kernel), "no {kernel}");
    }
    assert!(profile.vary.unwrap().candidates.iter().all(|candidate| candidate.refused.is_none()));
}

#[test]
fn a_check_counts_both_phases() {
    let said = String::from_utf8(succeed(&mut command(&["check", SCENE])).stdout).unwrap();
    assert!(said.contains(&format!("snow, water     {SNOW}, {}", PARTICLES - SNOW)), "{said}");
}

#[test]
fn inconsistent_snow_is_refused() {
    for (change, said) in [
        ("snow.links.most=0", &["snow.links.most", "limit = \"none\""][..]),
        ("snow.heat.homogeneous_freezing_temperature_c=0.0", &["homogeneous_freezing_temperature_c"]),
        ("snow.heat.homogeneous_freezing_temperature_c=5.0", &["homogeneous_freezing_temperature_c"]),
        ("snow.heat.snow_conductivity_w_m_k=1e9", &["conductivity"]),
        ("snow.links.mots=3", &["unknown key", "did you mean most?"]),
    ] {
        for verb in ["run", "check", "profile"] {
            let output = command(&[verb, SCENE, "--set", change]).output().unwrap();
            let message = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{verb} {change}: {message}");
            assert!(said.iter().all(|part| message.contains(part)), "{change}: {message}");
            assert!(!message.contains("panicked"), "{message}");
        }
    }
    // Water alone has no phases to distinguish.
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let arguments = ["run", "drop", "--steps", "1", "--render", "1", "--out", out, "--set"];
    for property in ["phase", "temperature"] {
        let set = format!("render.colour_by=\"{property}\"");
        let output = command(&[&arguments[..], &[&set]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let said = format!("render.colour_by: found \"{property}\", expected one of speed, height, ");
        assert!(stderr(&output).contains(&said), "{}", stderr(&output));
    }
}

#[test]
fn empty_phases_and_snow_that_melts_at_once_are_handled() {
    let folder = tempfile::tempdir().unwrap();
    for (name, changes) in [
        ("all snow", &["particles.0.phase=\"snow\"", "particles.0.temperature_c=-5.0"][..]),
        ("all water", &["particles.1.phase=\"water\"", "particles.1.temperature_c=5.0"]),
        ("melts at once", &["particles.1.temperature_c=30.0"]),
        ("freezes at once", &["particles.0.temperature_c=-40.0"]),
    ] {
        let out = folder.path().join(name);
        let sets: Vec<&str> = changes.iter().flat_map(|change| ["--set", change]).collect();
        let cadences = ["--steps", "12", "--render", "6", "--record", "6", "--metrics", "1", "--check", "1"];
        succeed(&mut run(&out, &[&cadences[..], &sets].concat()));
        let table = MetricsTable::read(&out.join("metrics.csv")).unwrap();
        let sums = table.column("n_solid").unwrap().iter().zip(table.column("n_fluid").unwrap());
        assert!(sums.map(|(s, f)| s + f).all(|n| n == PARTICLES as f64), "{name}");
        assert!(fs::read_dir(out.join("frames")).unwrap().count() == 3, "{name}");
    }
}
