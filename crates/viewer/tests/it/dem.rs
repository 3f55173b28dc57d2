//! Scenes of grains through the command line.

use crate::resume::{assert_same_results, run_whole_and_broken};
use crate::tool::{command, picture, state_hash, stderr, succeed};
use frazil_io::MetricsTable;
use std::path::Path;
use std::process::Command;

/// A few hundred grains above trees and a house, with small pictures.
const SMALL: &[&str] =
    &["slope_obstacle", "--set", "scale=0.4", "--set", "render.width_px=160", "--set", "render.height_px=90"];

/// `frazil run` of the small scene into `out`, with more `arguments`.
fn run(out: &Path, arguments: &[&str]) -> Command {
    command(&[&["run"], SMALL, &["--quiet", "--out", out.to_str().unwrap()], arguments].concat())
}

#[test]
fn every_scene_of_grains_steps_soundly_and_twice_alike() {
    let folder = tempfile::tempdir().unwrap();
    for scene in ["column_collapse", "hopper", "slope_obstacle", "avalanche"] {
        let run = |name: &str| {
            let out = folder.path().join(name);
            let plan = ["--steps", "60", "--check", "20", "--metrics", "20", "--render", "never", "--quiet"];
            let into = ["--record", "never", "--set", "scale=0.5", "--out", out.to_str().unwrap()];
            succeed(&mut command(&[&["run", scene], &plan[..], &into].concat()));
            let metrics = MetricsTable::read(&out.join("metrics.csv")).unwrap();
            assert_eq!(metrics.column("step").unwrap(), [0.0, 20.0, 40.0, 60.0], "{scene}");
            for fault in ["n_not_finite", "n_outside"] {
                assert_eq!(metrics.column(fault).unwrap(), [0.0; 4], "{scene}: {fault}");
            }
            // It falls.
            let potential = metrics.column("potential_energy").unwrap();
            assert!(potential[3] < potential[0], "{scene}: {potential:?}");
            state_hash(&out)
        };
        let hash = run(scene);
        assert_eq!(hash, run("again"), "{scene}");
    }
}

#[test]
fn a_resumed_run_of_grains_ends_with_the_bits_of_an_unbroken_one() {
    let folder = tempfile::tempdir().unwrap();
    let bonds = "dem.bonds={strength_n=5,form_below_m_s=0.5,at_start=true}";
    let frozen = ["hopper", "--set", "scale=0.5", "--set", bonds, "--set", "dem.rolling_friction=0.2"];
    for (name, scene) in [("plain", SMALL), ("frozen", &frozen)] {
        let [whole, broken] = run_whole_and_broken(&folder.path().join(name), |out, arguments| {
            let into = ["--quiet", "--out", out.to_str().unwrap()];
            succeed(&mut command(&[&["run"], scene, &into, arguments].concat()));
        });
        assert_same_results(&whole, &broken);
        if name == "frozen" {
            let metrics = MetricsTable::read(&whole.join("metrics.csv")).unwrap();
            let bonds = metrics.column("bonds_per_grain").unwrap();
            assert!(bonds[0] > 1.0, "{bonds:?}");
        }
    }
}

#[test]
fn a_flow_on_a_terrain_leaves_its_rasters_and_its_front() {
    let folder = tempfile::tempdir().unwrap();
    succeed(&mut run(folder.path(), &["--time", "0.5", "--record", "0.1 s", "--render", "never"]));
    let table = MetricsTable::read(&folder.path().join("flow.csv")).unwrap();
    let (run_out, height) = (table.column("run_out").unwrap(), table.column("front_height").unwrap());
    assert_eq!(run_out.len(), 6);
    assert_eq!(run_out[0], 0.0);
    // It begins at rest and goes down a slope of some 30 degrees: g/2 t² sin θ is at most 0.6 m.
    assert!(run_out[5] > 0.05 && run_out[5] < 0.7, "{run_out:?}");
    assert!(height.windows(2).all(|pair| pair[1] <= pair[0] + 0.01), "{height:?}");
    let read = |name: &str| {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        frazil_scene::Terrain::from_ascii_grid(&text).unwrap()
    };
    let [deposit, peak, speed] = ["deposit_thickness.asc", "peak_thickness.asc", "peak_speed.asc"].map(read);
    let pairs = deposit.map_heights_m().iter().zip(peak.map_heights_m());
    assert!(pairs.clone().all(|(now, most)| now <= most) && pairs.clone().any(|(now, _)| *now > 0.1));
    assert!(speed.map_heights_m().iter().any(|v| *v > 0.5));
}

#[test]
fn pictures_of_grains_show_the_ground() {
    let folder = tempfile::tempdir().unwrap();
    succeed(&mut run(folder.path(), &["--steps", "1", "--render", "1"]));
    let (width, height, with) = picture(&folder.path().join("frames/frame_000000.png"));
    assert_eq!((width, height), (160, 90));
    let bright = with.chunks_exact(3).filter(|rgb| rgb.iter().any(|&c| c > 100)).count();
    assert!(bright > 1000, "{bright} bright pixels");
}

#[test]
fn grains_that_a_step_cannot_carry_are_refused_or_end_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["--set", "time.dt_s=0.05"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("time.dt_s"), "{}", stderr(&output));
    let slabs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/avalanche_slabs.toml");
    let output =
        command(&["run", slabs.to_str().unwrap(), "--steps", "1", "--out", folder.path().to_str().unwrap()]);
    let output = { output }.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("slabs"), "{}", stderr(&output));
}
