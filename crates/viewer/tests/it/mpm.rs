//! Scenes of snow on a grid through the command line.

use crate::resume::{assert_same_results, run_whole_and_broken};
use crate::tool::{command, picture, state_hash, stderr, succeed, wait_until};
use frazil_io::{Checkpoint, MetricsTable, Recording, RunInfo, Tail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Two colliding balls of 306 particles each, with small pictures.
const SMALL: &[&str] = &[
    "snowball_collision",
    "--set",
    "scale=0.35",
    "--set",
    "particles.0.count=306",
    "--set",
    "particles.1.count=306",
    "--set",
    "render.width_px=160",
    "--set",
    "render.height_px=90",
];

/// Runs `frazil run` of the small scene into `out`, with additional `arguments`.
fn run(out: &Path, arguments: &[&str]) -> Command {
    command(&[&["run"], SMALL, &["--quiet", "--out", out.to_str().unwrap()], arguments].concat())
}

#[test]
fn every_scene_of_mpm_snow_keeps_its_invariants_and_is_reproducible() {
    let folder = tempfile::tempdir().unwrap();
    let scenes: Vec<&str> = frazil_scene::builtin()
        .iter()
        .map(|scene| scene.name)
        .filter(|name| frazil_scene::Scene::find(name, &[]).unwrap().mpm().is_some())
        .collect();
    assert_eq!(scenes.len(), 10, "{scenes:?}");
    for (idx, scene) in scenes.into_iter().enumerate() {
        let run = |name: &str| {
            let out = folder.path().join(name);
            let plan = ["--steps", "30", "--check", "10", "--metrics", "10", "--render", "never", "--quiet"];
            let into = ["--record", "never", "--set", "scale=0.3", "--out", out.to_str().unwrap()];
            succeed(&mut command(&[&["run", scene], &plan[..], &into].concat()));
            let metrics = MetricsTable::read(&out.join("metrics.csv")).unwrap();
            assert_eq!(metrics.column("step").unwrap(), [0.0, 10.0, 20.0, 30.0], "{scene}");
            for fault in ["n_not_finite", "n_outside"] {
                assert_eq!(metrics.column(fault).unwrap(), [0.0; 4], "{scene}: {fault}");
            }
            state_hash(&out)
        };
        let hash = run(scene);
        // One in 2D and one in 3D.
        if idx == 0 || scene == "snowball_on_body_3d" {
            assert_eq!(hash, run(&format!("{scene} again")), "{scene}");
        }
    }
}

#[test]
fn a_resumed_run_of_mpm_snow_ends_with_the_bits_of_an_uninterrupted_one() {
    let folder = tempfile::tempdir().unwrap();
    for (name, changes) in [
        ("flip", &[][..]),
        ("affine", &["--set", "mpm.transfer=\"apic\"", "--set", "mpm.rasterization=\"fixed_point\""]),
        ("implicit", &["--set", "mpm.implicit={}", "--set", "mpm.transfer=\"mls\""]),
    ] {
        let [whole, broken] = run_whole_and_broken(&folder.path().join(name), |out, arguments| {
            succeed(&mut run(out, &[changes, arguments].concat()));
        });
        assert_same_results(&whole, &broken);
    }
}

#[test]
fn pictures_show_the_active_blocks_of_the_grid() {
    let folder = tempfile::tempdir().unwrap();
    let plan = ["--steps", "3", "--render", "3", "--record", "3", "--metrics", "3"];
    let lines = |name: &str, grid: &str| {
        let out = folder.path().join(name);
        succeed(&mut run(&out, &[&plan[..], &["--set", &format!("render.grid=\"{grid}\"")]].concat()));
        let frames = out.join("frames");
        let last = picture(&frames.join("frame_000001.png")).2;
        let n_nodes = MetricsTable::read(&out.join("metrics.csv")).unwrap().column("n_nodes").unwrap()[1];
        (last, state_hash(&out), n_nodes)
    };
    let (plain, shown) = (lines("plain", "none"), lines("shown", "active_blocks"));
    assert_eq!((&plain.1, plain.2), (&shown.1, shown.2), "pictures change no state");
    let is_lit = |rgb: &[u8]| rgb.iter().any(|c| *c > 40);
    let lit = |pixels: &[u8]| pixels.chunks_exact(3).filter(|rgb| is_lit(rgb)).count();
    // 22 blocks of 16 nodes, with sides of 17 pixels of which most are shared; one alone has 115 pixels.
    let n_blocks = shown.2 as usize / 16;
    assert!(lit(&shown.0) > lit(&plain.0) + 25 * n_blocks, "{} and {}", lit(&shown.0), lit(&plain.0));
    let output = command(&["check", "dam_break", "--set", "render.grid=\"active_blocks\""]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("lines of a grid in a scene of solver.kind = \"pbd\", expected solver.kind = \"mpm\""),
        "{said}"
    );
}

#[test]
fn an_interrupted_recording_of_mpm_snow_plays_to_its_last_complete_frame() {
    let folder = tempfile::tempdir().unwrap();
    let killed = folder.path().join("killed");
    let endless = ["--steps", "1000000", "--render", "never", "--record", "2", "--checkpoint", "10"];
    let mut child = run(&killed, &endless).spawn().unwrap();
    let path = killed.join("recording.frazil-rec");
    let enough = || Recording::open(&path).is_ok_and(|recording| recording.len() >= 6);
    wait_until("recording", enough);
    child.kill().unwrap();
    child.wait().unwrap();
    let recording = Recording::open(&path).unwrap();
    assert!(recording.tail() != &Tail::Finished);

    // A partially written frame does not count as a frame.
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 7]).unwrap();
    let n_frames = Recording::open(&path).unwrap().len();
    assert!(n_frames + 1 >= recording.len());
    for speed in ["1", "-1"] {
        let out = folder.path().join(format!("pictures{speed}"));
        let play = ["play", path.to_str().unwrap(), "--speed", speed, "--out", out.to_str().unwrap()];
        succeed(&mut command(&play));
        assert_eq!(fs::read_dir(&out).unwrap().count(), n_frames);
        let (width, height, pixels) = picture(&out.join("frame_000000.png"));
        assert_eq!((width, height), (160, 90));
        assert!(pixels.chunks_exact(3).filter(|rgb| rgb.iter().all(|c| *c > 100)).count() > 100, "no snow");
    }
}

/// A castle with a time step that is stable for fresh snow and not for hardened snow: it becomes unstable
/// where the snowball hits it.
#[test]
fn unstable_snow_ends_the_run_with_a_fault_and_leaves_the_last_valid_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let burst = |out: &Path, arguments: &[&str]| {
        let scene = ["run", "snow_castle", "--set", "mpm.cell_size_m=0.04", "--set", "time.dt_s=0.002"];
        let plan = ["--set", "mpm.particles_per_cell=2", "--steps", "400", "--render", "never", "--quiet"];
        let often = ["--record", "1", "--metrics", "1", "--checkpoint", "5", "--out", out.to_str().unwrap()];
        let output = command(&[&scene[..], &plan, &often, arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
        stderr(&output)
    };
    let out = folder.path().join("burst");
    let said = burst(&out, &[]);
    let parts = [
        "frazil: error: step ",
        ", pass Update",
        ": particle ",
        ", in cell [",
        " m/s, det F_E ",
        "time.dt_s",
    ];
    for part in parts {
        assert!(said.contains(part), "\"{part}\" is not in: {said}");
    }
    let step: u64 =
        said.split_once("step ").unwrap().1.split_once(',').unwrap().0.parse().expect("a number of steps");
    let report = RunInfo::read(&out.join("run.json")).unwrap();
    assert_eq!(report.final_state_hash, None);
    assert!(report.warnings.iter().any(|warning| warning.contains(&format!("step {step}, pass"))));

    // No result of the faulty step, or of later ones, was written as if it were valid.
    let path = out.join("checkpoint.frazil-ckpt");
    let checkpoint = Checkpoint::read(&path).unwrap();
    assert_eq!(checkpoint.step, (step - 1) / 5 * 5, "of a fault in step {step}");
    let mut recording = Recording::open(&out.join("recording.frazil-rec")).unwrap();
    assert_eq!(recording.frame(recording.len() - 1).unwrap().step(), step - 1);
    let metrics = MetricsTable::read(&out.join("metrics.csv")).unwrap();
    assert_eq!(metrics.column("step").unwrap().last(), Some(&((step - 1) as f64)));

    let again = folder.path().join("again");
    assert_eq!(burst(&again, &["--resume", path.to_str().unwrap()]), said, "from step {}", checkpoint.step);
}
