//! `frazil bench`: listing, measurement and comparison.

use crate::tool::{SMALL, SMALL_PARTICLES, command, run_small, stderr, succeed};
use frazil_bench::{Row, RowWriter, read_rows};
use frazil_report::History;
use std::path::Path;
use std::process::Output;
use std::time::Instant;

/// A point of a bench whose time is far above the fixed cost of a pass.
const TINY: &[&str] = &[
    "bench",
    "exclusive_scan",
    "--smoke",
    "--axis",
    "count=20001",
    "--axis",
    "variant=reduce_then_scan",
    "--quiet",
];

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Measures into `out`, with additional `arguments`.
fn tiny(out: &Path, arguments: &[&str]) -> Output {
    command(&[TINY, &["--out", out.to_str().unwrap()], arguments].concat()).output().unwrap()
}

/// Writes the rows with all times multiplied by `factor`.
fn doctored(rows: &[Row], factor: f64, path: &Path) {
    let mut writer = RowWriter::open(path).unwrap();
    for row in rows {
        let samples_ns = row.samples_ns.iter().map(|ns| factor * ns).collect();
        writer.append(&Row { samples_ns, ..row.clone() }).unwrap();
    }
}

/// Writes rows of three processes of one session with all times multiplied by about `factor`.
fn claimed(rows: &[Row], factor: f64, path: &Path) {
    let rows: Vec<Row> =
        rows.iter().map(|row| Row { session: Some("claimed".to_owned()), ..row.clone() }).collect();
    for wobble in [1.0, 1.01, 1.02] {
        doctored(&rows, wobble * factor, path);
    }
}

#[test]
fn benches_are_listed_without_a_device() {
    let no_driver = [("VK_DRIVER_FILES", "/nonexistent.json"), ("VK_ICD_FILENAMES", "/nonexistent.json")];
    let list = stdout(&succeed(command(&["bench", "--list"]).envs(no_driver)));
    for bench in frazil_bench::benches::all() {
        assert!(list.contains(&format!("{}\n    {}\n", bench.id(), bench.about())), "{list}");
    }
    assert!(list.contains("--axis count=1000,100003,1048583"), "{list}");
    let filtered = stdout(&succeed(&mut command(&["bench", "--list", "radix"])));
    assert!(filtered.starts_with("primitives.radix_sort\n") && !filtered.contains("pbd.step"), "{filtered}");
}

#[test]
fn points_are_measured_verified_printed_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/rows.jsonl");
    let arguments =
        ["bench", "copy", "exclusive_scan", "--smoke", "--wide", "--axis", "count=0,777", "--out"];
    let output = succeed(&mut command(&[&arguments[..], &[out.to_str().unwrap()]].concat()));
    let table = stdout(&output);
    let rows = read_rows(&out).unwrap();
    assert_eq!(rows.len(), 10, "{table}");
    for row in &rows {
        let line =
            table.lines().find(|line| line.contains(&row.point.to_string()) && line.contains(&row.bench));
        assert!(line.is_some_and(|line| line.contains(&row.stopped_because.to_string())), "{row:?}: {table}");
        assert!(row.verified && row.commit.as_ref().is_none_or(|commit| commit.len() >= 7), "{row:?}");
    }
    assert!(stderr(&output).contains("appended the rows to"), "{}", stderr(&output));
}

/// Runs every bench at one small size, or with `FRAZIL_FULL=1` at the sizes of the smoke profile, whose
/// budget is a minute on a desktop machine.
#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn the_smoke_profile_takes_every_bench() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("rows.jsonl");
    let is_full = frazil_testkit::is_full_run();
    let sizes: &[&str] = if is_full { &[] } else { &["--axis", "count=257"] };
    let begin = Instant::now();
    succeed(&mut command(
        &[&["bench", "--smoke", "--quiet", "--out", out.to_str().unwrap()], sizes].concat(),
    ));
    println!("the smoke profile takes {:.1} s of a budget of 60 s", begin.elapsed().as_secs_f64());
    let rows = read_rows(&out).unwrap();
    for bench in frazil_bench::benches::all() {
        assert!(rows.iter().any(|row| row.bench == bench.id()), "{}", bench.id());
    }
}

#[test]
fn a_measurement_is_compared_with_an_earlier_one() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first.jsonl"), folder.path().join("second.jsonl"));
    let output = tiny(&first, &[]);
    assert!(output.status.success() && output.stdout.is_empty(), "--quiet: {}", stderr(&output));
    let rows = read_rows(&first).unwrap();
    assert_eq!(rows.len(), 1);

    // Simulates an earlier measurement by three processes that took a millionth of the time. The machine may
    // be under load: even a factor of a thousand counts as noise here.
    let fast = folder.path().join("fast.jsonl");
    claimed(&rows, 1e-6, &fast);
    let fast = fast.to_str().unwrap();
    let output = tiny(&second, &["--against", fast, "--tolerance", "1000", "--runs", "3"]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("1 of 1 points slower than in") && message.contains("exclusive_scan"),
        "{message}"
    );
    let sessions: Vec<_> = read_rows(&second).unwrap().into_iter().map(|row| row.session.unwrap()).collect();
    assert!(sessions.len() == 3 && sessions.iter().all(|name| *name == sessions[0]), "{sessions:?}");

    // One process says nothing about the variance between processes. The reference file may be the one to
    // which rows are appended, and one process is what it had.
    let first = first.to_str().unwrap();
    let mut arguments = [TINY, &["--out", first, "--against", first]].concat();
    arguments.retain(|argument| *argument != "--quiet");
    let table = stdout(&succeed(&mut command(&arguments)));
    assert!(table.contains("0 same, 0 faster, 0 slower, 1 unclear"), "{table}");
    assert!(table.contains("1 and 1 processes") && table.contains("--runs"), "{table}");
    assert!(table.lines().skip(1).all(|line| line.chars().count() <= 100), "{table}");
    assert!(table.contains("outliers") && !table.contains("stopped because"), "{table}");
    assert_eq!(read_rows(Path::new(first)).unwrap().len(), 2);
}

/// A program in place of a build, whose measurement is prepared in a file.
#[cfg(unix)]
fn pretended_build(path: &Path, rows: &Path, status: i32) {
    use std::os::unix::fs::PermissionsExt;
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo frazil 0.0.0 && exit\n\
         [ {status} = 0 ] || {{ echo 'frazil: error: lost' >&2; exit {status}; }}\n\
         [ \"$1 $2 $3\" = 'bench --quiet --out' ] && cp '{}' \"$4\"\n",
        rows.display()
    );
    std::fs::write(path, script).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[test]
fn builds_take_turns_and_a_slower_one_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let [first, fast, out, build, broken] =
        ["first.jsonl", "fast.jsonl", "out.jsonl", "build", "broken"].map(|name| folder.path().join(name));
    assert!(tiny(&first, &[]).status.success());
    doctored(&read_rows(&first).unwrap(), 1e-6, &fast);
    pretended_build(&build, &fast, 0);
    pretended_build(&broken, &fast, 3);

    let against = |build: &Path| -> Output {
        let arguments = ["--against", build.to_str().unwrap(), "--rounds", "3", "--tolerance", "1000"];
        let log = folder.path().join("log");
        let out = ["--out", out.to_str().unwrap(), "--history-dir", log.to_str().unwrap()];
        let mut command = command(&[TINY, &out, &arguments].concat());
        command.env("FRAZIL_VALIDATION", "0").output().unwrap()
    };
    let output = against(&build);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 of 1 points slower than in"), "{}", stderr(&output));
    let rows = [out.clone(), out.with_extension("baseline.jsonl")].map(|path| read_rows(&path).unwrap());
    assert_eq!(rows.each_ref().map(Vec::len), [6, 6], "two processes of each build in each of three rounds");
    assert!(rows[0][0].median_ns > 1e3 * rows[1][0].figure_ns() && rows[0][0].session == rows[1][0].session);

    let log = History::read(&folder.path().join("log/bench.jsonl")).unwrap();
    let [record] = &log.records[..] else { panic!("only this build's processes are logged, once: {log:?}") };
    assert!(record.entries.len() == 1 && rows[0].iter().any(|r| r.figure_ns() == record.entries[0].time_ns));

    let output = against(&broken);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("broken ended with exit status: 3: lost"), "{}", stderr(&output));
    let output = against(Path::new("/bin/sh"));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("expected a build of frazil"), "{}", stderr(&output));
}

#[test]
fn points_missing_on_either_side_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    let rows = path.to_str().unwrap();
    succeed(&mut command(&["bench", "copy", "--smoke", "--axis", "count=5,6", "--quiet", "--out", rows]));
    let arguments = [
        "bench",
        "copy",
        "--smoke",
        "--axis",
        "count=6,7",
        "--tolerance",
        "1000",
        "--out",
        rows,
        "--against",
        rows,
    ];
    let output = stdout(&succeed(&mut command(&arguments)));
    assert!(output.contains("in the current measurement only: device.copy count=7"), "{output}");
    assert!(output.contains("in the baseline measurement only: device.copy count=5"), "{output}");
}

#[test]
fn a_point_that_does_not_fit_is_skipped_aloud_and_the_others_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("rows.jsonl");
    let measure = |counts: &str| -> Output {
        let arguments = ["bench", "device.copy", "--smoke", "--csv", "--axis", counts, "--out"];
        command(&[&arguments[..], &[out.to_str().unwrap()]].concat()).output().unwrap()
    };
    // No device binds a buffer of 1 GiB and fits into this test; where one does, there is nothing to skip.
    let output = measure("count=268435456,257");
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = read_rows(&out).unwrap();
    let text = stdout(&output);
    if rows.len() == 1 {
        let message = stderr(&output);
        assert!(
            message.contains("skipped device.copy count=268435456: ") && message.contains("1 of 2 points")
        );
        let output = measure("count=268435456");
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    }
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((lines.len(), lines[0][0], lines[0][4]), (1 + rows.len(), "bench", "median [ns]"), "{text}");
    let last = lines.last().unwrap();
    assert_eq!((last.len(), last[0], last[1], last[2]), (lines[0].len(), "device.copy", "count=257", "257"));
    assert!(last[4].parse::<f64>().unwrap() > 0.0);
}

#[test]
fn a_kernel_is_measured_alone_on_the_state_of_a_simulation() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("rows.jsonl");
    let out = out.to_str().unwrap();
    let kernels = ["bench", "pbd.update_pressure", "pbd.list_neighbours", "--smoke", "--quiet", "--out", out];
    let scene = ["--state", SMALL[0], "--set", "time.dt_s=0.002", "--steps-before", "2"];
    let sizes = ["--axis", "fluid.particle_spacing_m=0.0243333333,0.0365"];
    succeed(&mut command(&[&kernels[..], &scene, &sizes].concat()));
    let rows = read_rows(Path::new(out)).unwrap();
    let found: Vec<_> = rows.iter().map(|row| (row.bench.as_str(), row.elements)).collect();
    let n = SMALL_PARTICLES as u64;
    let fewer = rows[2].elements;
    assert!(fewer > 0 && fewer < n, "{found:?}");
    let expected = [
        ("pbd.update_pressure", n),
        ("pbd.list_neighbours", n),
        ("pbd.update_pressure", fewer),
        ("pbd.list_neighbours", fewer),
    ];
    assert_eq!(found, expected);
    let point = rows[0].point.to_string();
    assert!(point.contains("scene=dam_break") && point.contains("step=3"), "{point}");
    assert!(rows.iter().all(|row| row.verified && row.samples_ns.len() == 5 && row.bytes_minimum > 0));

    // The checkpoint of a run has its scene.
    let run = folder.path().join("run");
    succeed(&mut run_small(&run, &["--steps", "4", "--checkpoint", "4"]));
    let state = run.join("checkpoint.frazil-ckpt");
    let of_state = ["--state", state.to_str().unwrap()];
    let measure =
        |arguments: &[&str]| command(&[&kernels[..], &of_state, arguments].concat()).output().unwrap();
    let output = measure(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = read_rows(Path::new(out)).unwrap();
    assert_eq!((rows.len(), rows[4].elements), (6, n));
    assert!(rows[4].point.to_string().contains("checkpoint=checkpoint.frazil-ckpt step=5"), "{:?}", rows[4]);

    for (arguments, expected) in [
        (&["--set", "scale=2"][..], "found scale=2 beside the checkpoint"),
        (
            &["--pass", "99"],
            "dispatches of pbd.update_pressure in a step, expected 99 or more; the step has ",
        ),
        (&["solve_density"], "expected area.name; did you mean pbd.solve_density"),
    ] {
        let output = measure(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}
