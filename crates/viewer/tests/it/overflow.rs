//! Records of fixed size that overflow during a run: they grow, and all files are those of a run that had the
//! capacity from the start.

use crate::tool::{command, state_hash, stderr, succeed};
use frazil_io::{Frame, MetricsTable, Recording};
use std::f64::consts::TAU;
use std::fs;
use std::path::Path;

/// Two blocks of grains that fly at each other.
const GRAINS: &str = r#"
version = 1
name = "grains"
description = "Two blocks of grains fly at each other."
up_axis = "z"
gravity_m_s2 = [0.0, 0.0, 0.0]

[time]
dt_s = "auto"
duration_s = 1.0

[solver]
kind = "dem"

[dem]
radius_m = 0.04
radius_spread = 0.1
density_kg_m3 = 900.0
normal_stiffness_n_m = 1e5
contacts_per_grain = 24.0
rolling_friction = 0.1

[domain]
min_m = [0.0, 0.0, 0.0]
max_m = [2.0, 0.8, 0.8]

[[particles]]
shape.box = { min_m = [0.4, 0.1, 0.1], max_m = [0.98, 0.7, 0.7] }
fill = "random"
velocity_m_s = [8.0, 0.0, 0.0]

[[particles]]
shape.box = { min_m = [1.02, 0.1, 0.1], max_m = [1.6, 0.7, 0.7] }
fill = "random"
velocity_m_s = [-8.0, 0.0, 0.0]

[render]
width_px = 160
height_px = 90
"#;

/// Clusters of particles that fly apart without stress; more follow.
const BURST: &str = r#"
version = 1
name = "burst"
description = "Clusters of snow particles burst in all directions."
up_axis = "y"
gravity_m_s2 = [0.0, 0.0, 0.0]

[time]
dt_s = 1e-4
duration_s = 0.01

[solver]
kind = "mpm"

[mpm]
dimensions = 2
cell_size_m = 0.01
transfer = "pic_flip"
flip_ratio = 1.0

[domain]
min_m = [0.0, 0.0, 0.0]
max_m = [2.0, 1.3, 0.0]
"#;
const CLUSTERS: u32 = 36;
const DIRECTIONS: u32 = 8;

/// Returns a scene in which 36 blocks of nodes are occupied for four steps, and about 300 after eight: the
/// number is read back every four steps.
fn burst() -> String {
    let mut text = BURST.to_owned();
    for (cluster, direction) in (0..CLUSTERS).flat_map(|c| (0..DIRECTIONS).map(move |d| (c, d))) {
        let (sine, cosine) = (TAU * f64::from(direction) / f64::from(DIRECTIONS) + 0.1).sin_cos();
        let [x, y] = [cluster % 6, cluster / 6].map(|k| 0.15 + 0.16 * f64::from(k));
        let [x, y] = [x + 0.005 * cosine, y + 0.005 * sine];
        text += &format!(
            "[[particles]]\nshape.circle = {{ centre_m = [{x:.5}, {y:.5}], radius_m = 0.001 }}\nfill = \
             \"uniform\"\n\
             count = 1\nvelocity_m_s = [{:.3}, {:.3}, 0.0]\n",
            45.0 * cosine,
            45.0 * sine
        );
    }
    text
}

/// Snow at rest beside the clusters, for which the capacity suffices for both.
const AT_REST: &str = r#"
[[particles]]
shape.rectangle = { min_m = [1.3, 0.1], max_m = [1.9, 1.2] }
fill = "uniform"
count = 6000
"#;

/// Runs a scene with outputs into `out`; returns what it said.
fn run(scene: &Path, out: &Path, arguments: &[&str]) -> String {
    let outputs = ["--record", "7", "--metrics", "5", "--check", "11", "--out", out.to_str().unwrap()];
    stderr(&succeed(&mut command(&[&["run", scene.to_str().unwrap()], &outputs[..], arguments].concat())))
}

fn frames(out: &Path) -> Vec<Frame> {
    let mut recording = Recording::open(&out.join("recording.frazil-rec")).unwrap();
    (0..recording.len()).map(|i| recording.frame(i).unwrap()).collect()
}

fn assert_same_files(found: &Path, expected: &Path) {
    assert_eq!(state_hash(found), state_hash(expected));
    let hashes = |out| frames(out).iter().map(|f| (f.step(), f.state_hash())).collect::<Vec<_>>();
    assert_eq!(hashes(found), hashes(expected));
    let mut files = vec!["metrics.csv".to_owned()];
    if let Ok(pictures) = fs::read_dir(expected.join("frames")) {
        files
            .extend(pictures.map(|entry| format!("frames/{}", entry.unwrap().file_name().to_str().unwrap())));
        assert_eq!(files.len() - 1, fs::read_dir(found.join("frames")).unwrap().count());
    }
    for file in files {
        assert!(
            fs::read(found.join(&file)).unwrap() == fs::read(expected.join(&file)).unwrap(),
            "{file} differs"
        );
    }
}

#[test]
fn grains_that_need_more_rows_leave_the_files_of_a_run_that_had_them() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("grains.toml");
    fs::write(&scene, GRAINS).unwrap();
    let few = ["--set", "dem.contacts_per_grain=1"];
    let plan = ["--steps", "150", "--render", "40"];
    // Soon after steps that overflow, 31 and 67.
    let change = ["--at", "32:dem.friction=0.2", "--at", "68:dem.friction=0.4"];
    let [ample, grown, resumed] = ["ample", "grown", "resumed"].map(|name| folder.path().join(name));
    let said = run(&scene, &ample, &[&plan[..], &change].concat());
    assert!(!said.contains("exceeded a capacity"), "{said}");
    let said = run(&scene, &grown, &[&few[..], &plan, &change].concat());
    assert!(said.matches("rows of contacts exceeded a capacity of ").count() > 1, "{said}");
    assert_same_files(&grown, &ample);

    // From a checkpoint before the overflows, and one among them.
    let checkpoint = resumed.join("checkpoint.frazil-ckpt");
    for [from, to] in [["0", "20"], ["20", "90"], ["90", "150"]] {
        let plan = ["--steps", to, "--render", "40", "--checkpoint", "10"];
        let resume = ["--resume", checkpoint.to_str().unwrap()];
        let resume = if from == "0" { &[][..] } else { &resume };
        let changes = if to == "20" { &[][..] } else { &change[..] };
        run(&scene, &resumed, &[&few[..], &plan, changes, resume].concat());
    }
    assert_same_files(&resumed, &ample);

    // Measured steps are repeated, too.
    let profile = |name: &str, arguments: &[&str]| {
        let out = folder.path().join(name);
        // Step 31 overflows.
        let plan = ["--warm-up", "29", "--steps", "4", "--out", out.to_str().unwrap()];
        succeed(&mut command(&[&["profile", scene.to_str().unwrap()], &plan[..], arguments].concat()));
        let text = fs::read_to_string(out.join("profile.json")).unwrap();
        let profile: serde_json::Value = serde_json::from_str(&text).unwrap();
        profile["state_hash"].as_str().unwrap().to_owned()
    };
    assert_eq!(profile("profile_few", &few), profile("profile_ample", &[]));
}

#[test]
fn snow_that_bursts_leaves_the_files_of_a_run_with_more_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let [scene, beside] = ["burst.toml", "beside.toml"].map(|name| folder.path().join(name));
    fs::write(&scene, burst()).unwrap();
    fs::write(&beside, burst() + AT_REST).unwrap();
    let [grown, often, ample] = ["grown", "often", "ample"].map(|name| folder.path().join(name));
    let plan = ["--steps", "24", "--render", "never"];
    let said = run(&scene, &grown, &plan);
    assert!(said.contains("blocks of nodes exceeded a capacity of "), "{said}");
    // With one step per submission, fewer steps are repeated.
    let said = run(&scene, &often, &[&plan[..], &["--set", "solver.steps_per_submission=1"]].concat());
    assert!(said.contains("blocks of nodes exceeded a capacity of "), "{said}");
    assert_same_files(&grown, &often);
    let metrics = MetricsTable::read(&grown.join("metrics.csv")).unwrap();
    assert_eq!(metrics.column("step").unwrap(), [0.0, 5.0, 10.0, 15.0, 20.0, 24.0]);

    // Snow at rest beside them changes no bit of those particles.
    let said = run(&beside, &ample, &plan);
    assert!(!said.contains("exceeded a capacity"), "{said}");
    let (found, expected) = (frames(&grown), frames(&ample));
    assert_eq!(found.len(), expected.len());
    let n = CLUSTERS * DIRECTIONS;
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found.step(), expected.step());
        for name in ["position", "velocity"] {
            let by_id = |frame: &Frame| {
                let ids = frame.u32("id").unwrap().iter();
                let mut rows: Vec<_> = ids
                    .zip(frame.vec3(name).unwrap())
                    .filter(|(id, _)| **id < n)
                    .map(|(id, v)| (*id, v.map(f32::to_bits)))
                    .collect();
                rows.sort_unstable();
                rows
            };
            assert!(by_id(found) == by_id(expected), "{name} of step {}", found.step());
        }
    }
}
