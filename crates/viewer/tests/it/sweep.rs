//! `frazil sweep`: grid, tables, contact sheet, and resuming after every kind of interruption.

use crate::tool::{SMALL, command, picture, state_hash, stderr, succeed, wait_until};
use frazil_io::{RunInfo, SweepInfo, SweepStatus};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const GRID: [&str; 4] = ["--vary", "fluid.xsph_viscosity=0.01,0.2", "--vary", "pbd.iterations=2,4"];

/// Runs `frazil sweep` of the small scene into `out`, with additional `arguments`.
fn sweep_small(out: &Path, arguments: &[&str]) -> Command {
    let out = out.to_str().unwrap();
    command(&[&["sweep"], SMALL, &["--out", out, "--quiet"], arguments].concat())
}

fn report(out: &Path) -> SweepInfo {
    SweepInfo::read(&out.join("sweep.json")).unwrap()
}

/// Returns the folders of the cases in order.
fn folders(out: &Path) -> Vec<PathBuf> {
    report(out).cases.iter().map(|case| out.join(&case.folder)).collect()
}

/// Parses a table without quotes into cells.
fn table(out: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(out.join("sweep.csv")).unwrap();
    assert!(!text.contains('"'), "{text}");
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn a_sweep_over_a_grid_runs_each_case_like_run_and_makes_a_contact_sheet() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/sweep");
    let output = succeed(&mut sweep_small(&out, &[&GRID[..], &["--steps", "30"]].concat()));
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "--quiet: {}", stderr(&output));

    let info = report(&out);
    assert_eq!(info.axes[1].points, [["2"], ["4"]]);
    let values: Vec<&[String]> = info.cases.iter().map(|case| &case.values[..]).collect();
    assert_eq!(values, [["0.01", "2"], ["0.01", "4"], ["0.2", "2"], ["0.2", "4"]]);
    assert_eq!(info.cases[2].folder, "cases/002_xsph_viscosity=0.2,iterations=2");
    assert!(info.cases.iter().all(|case| case.status == SweepStatus::Done && case.steps == 30));

    let rows = table(&out);
    assert!(rows.len() == 5 && rows.iter().all(|row| row.len() == rows[0].len()), "{rows:?}");
    let column = |label: &str| {
        let at =
            rows[0].iter().position(|name| name == label).unwrap_or_else(|| panic!("{label}: {:?}", rows[0]));
        rows[1..].iter().map(|row| row[at].clone()).collect::<Vec<_>>()
    };
    assert_eq!(column("pbd.iterations"), ["2", "4", "2", "4"]);
    assert_eq!(column("status"), ["done"; 4]);
    let numbers = |label: &str| column(label).iter().map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
    let (fronts, run_outs) = (numbers("upper_x [m]"), numbers("run_out [m]"));
    // The centre of the block is at x = 0.073 m.
    for (front, run_out) in fronts.iter().zip(&run_outs) {
        assert!((front - 0.073 - run_out).abs() < 1e-3, "{front} {run_out}");
    }
    assert_eq!(numbers("n_fragments"), [1.0; 4]);
    assert!(numbers("spread [m]").iter().all(|spread| (0.05..0.2).contains(spread)));
    assert!(numbers("wall_time [s]").iter().all(|time| *time > 0.0));

    // The hash equals that of a separate run of the same scene.
    let alone = folder.path().join("alone");
    let settings = ["--set", "fluid.xsph_viscosity=0.2", "--set", "pbd.iterations=2", "--steps", "30"];
    let into = ["--out", alone.to_str().unwrap(), "--render", "never", "--quiet"];
    succeed(&mut command(&[&["run"], SMALL, &settings[..], &into].concat()));
    assert_eq!(info.cases[2].state_hash.as_deref(), Some(&state_hash(&alone)[..]));

    for case in folders(&out) {
        assert_eq!(picture(&case.join("final.png")).0, 160);
        assert!(case.join("metrics.csv").exists() && !case.join("checkpoint.frazil-ckpt").exists());
    }
    let (width, height, pixels) = picture(&out.join("contact_sheet.png"));
    assert!(width == 2 * 168 + 8 && (2 * (90 + 2 * 17)..330).contains(&height), "{width} × {height}");
    let colours: std::collections::HashSet<&[u8]> = pixels.chunks_exact(3).collect();
    assert!(colours.len() > 100, "a sheet of {} colours", colours.len());
}

#[test]
fn tied_keys_change_together() {
    let folder = tempfile::tempdir().unwrap();
    let vary = ["--vary", "pbd.iterations,fluid.xsph_viscosity=2:0.0,3:0.1", "--steps", "2"];
    succeed(&mut sweep_small(folder.path(), &vary));
    let scenes =
        folders(folder.path()).into_iter().map(|case| RunInfo::read(&case.join("run.json")).unwrap());
    let found: Vec<_> = scenes
        .map(|info| {
            let scene = info.effective_scene;
            (scene["pbd"]["iterations"].as_u64().unwrap(), scene["fluid"]["xsph_viscosity"].as_f64().unwrap())
        })
        .collect();
    assert_eq!(found, [(2, 0.0), (3, 0.1)]);
}

#[test]
fn a_repeated_command_runs_only_unfinished_cases() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let arguments = [&GRID[..2], &["--steps", "6"]].concat();
    succeed(&mut sweep_small(out, &arguments));
    let reports =
        || folders(out).iter().map(|case| fs::read(case.join("run.json")).unwrap()).collect::<Vec<_>>();
    let (first, hashes) = (reports(), report(out).cases);
    fs::remove_file(out.join("contact_sheet.png")).unwrap();
    succeed(&mut sweep_small(out, &arguments));
    assert!(reports() == first, "nothing ran again");
    assert!(out.join("contact_sheet.png").exists());
    assert_eq!(report(out).cases, hashes, "the tables are made of what is there");

    fs::remove_file(folders(out)[1].join("run.json")).unwrap();
    succeed(&mut sweep_small(out, &arguments));
    let again = reports();
    assert!(again[0] == first[0] && again[1] != first[1]);
    assert_eq!(report(out).cases[1].state_hash, hashes[1].state_hash);

    // Another scene or duration would replace finished cases.
    let before = reports();
    let longer = [&arguments[..2], &["--steps", "7"]].concat();
    let refused = sweep_small(out, &longer).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("000_xsph_viscosity=0.01 holds a finished run of other parameters"));
    assert!(reports() == before);
    succeed(&mut sweep_small(out, &[&longer[..], &["--overwrite"]].concat()));
    assert!(report(out).cases.iter().all(|case| case.steps == 7));
    succeed(&mut sweep_small(out, &[&longer[..], &["--seed", "3", "--overwrite"]].concat()));
    let seeds = folders(out).into_iter().map(|case| RunInfo::read(&case.join("run.json")).unwrap().seed);
    assert_eq!(seeds.collect::<Vec<_>>(), [3, 3]);
}

#[test]
fn a_killed_sweep_resumes_from_the_checkpoint_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    // Sweeps write a checkpoint each 100 steps.
    let arguments = [&GRID[..2], &["--steps", "200"]].concat();
    let mut child = sweep_small(&killed, &arguments).spawn().unwrap();
    let checkpoint = killed.join("cases/000_xsph_viscosity=0.01/checkpoint.frazil-ckpt");
    wait_until("checkpoint", || checkpoint.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(report(&killed).cases.iter().all(|case| case.status == SweepStatus::Pending));
    assert!(table(&killed)[1].contains(&"pending".to_owned()));

    succeed(&mut sweep_small(&killed, &arguments));
    succeed(&mut sweep_small(&whole, &arguments));
    let hashes = |out| report(out).cases.into_iter().map(|case| case.state_hash.unwrap()).collect::<Vec<_>>();
    assert_eq!(hashes(&whole), hashes(&killed));
    let metrics = [&whole, &killed].map(|out| fs::read(folders(out)[0].join("metrics.csv")).unwrap());
    assert!(metrics[0] == metrics[1]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_sweep_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let mut endless = sweep_small(out, &[&GRID[..2], &["--steps", "10000000"]].concat());
    let child = endless.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let metrics = out.join("cases/000_xsph_viscosity=0.01/metrics.csv");
    wait_until("metrics", || fs::read_to_string(&metrics).is_ok_and(|text| text.lines().count() > 2));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    for said in ["interrupted in case 1 of 2", "xsph_viscosity = 0.01", "the same command resumes there"] {
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
    assert!(metrics.with_file_name("checkpoint.frazil-ckpt").exists());
}

#[test]
fn a_bad_value_is_refused_by_its_key_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("sweep");
    for (vary, said) in [
        ("time.dt_s=0.002,-1.0", &["case time.dt_s=-1.0", "time.dt_s", "found -1"][..]),
        ("fluid.spacing=0.1", &["fluid.spacing", "unknown key"]),
        ("pbd.iterations=3,\"many\"", &["pbd.iterations", "many"]),
    ] {
        let output = sweep_small(&out, &["--vary", vary, "--steps", "2"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{vary}: {}", stderr(&output));
        assert!(said.iter().all(|part| stderr(&output).contains(part)), "{vary}: {}", stderr(&output));
        assert!(!out.exists(), "{vary}: something ran");
    }
}

#[test]
fn a_failed_case_is_reported_and_the_others_continue() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    // The longest accepted time step, for snow that hardens in an impact.
    let coarse = ["--set", "mpm.cell_size_m=0.04", "--set", "mpm.particles_per_cell=2"];
    let small = ["--set", "render.width_px=160", "--set", "render.height_px=90"];
    let varied = ["--vary", "time.dt_s=0.002,0.0003", "--steps", "400", "--quiet"];
    let into = ["--out", out.to_str().unwrap()];
    let output =
        command(&[&["sweep", "snow_castle"], &coarse[..], &small, &varied, &into].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 of 2 cases failed"), "{}", stderr(&output));
    let cases = report(out).cases;
    assert_eq!([cases[0].status, cases[1].status], [SweepStatus::Failed, SweepStatus::Done]);
    let reason = cases[0].reason.as_deref().unwrap();
    assert!(reason.contains("pass Update") && reason.contains("particle "), "{reason}");
    let text = fs::read_to_string(out.join("sweep.csv")).unwrap();
    assert!(text.contains(",failed,") && text.contains(",done,"), "{text}");
    assert!(picture(&out.join("contact_sheet.png")).0 > 300);
}
