//! `frazil bench`: listing, measurement and comparison.

use crate::tool::{command, stderr, succeed};
use frazil_bench::{Row, RowWriter, read_rows};
use std::path::Path;
use std::process::Output;
use std::time::Instant;

/// Three points of a bench whose times are far above the fixed cost of a pass.
const TINY: &[&str] = &["bench", "exclusive_scan", "--smoke", "--axis", "count=20001", "--quiet"];

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
    let arguments = ["bench", "copy", "exclusive_scan", "--smoke", "--axis", "count=0,777", "--out"];
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
    assert_eq!(rows.len(), 4);

    // The machine may be under load: even a factor of a thousand counts as noise here.
    let first = first.to_str().unwrap();
    let output = tiny(&second, &["--against", first, "--tolerance", "1000"]);
    assert!(output.status.success(), "{}", stderr(&output));

    // Simulates an earlier measurement that took a millionth of the time.
    let fast = folder.path().join("fast.jsonl");
    doctored(&rows, 1e-6, &fast);
    let output = tiny(&second, &["--against", fast.to_str().unwrap(), "--tolerance", "1000"]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("4 of 4 points slower than in") && message.contains("exclusive_scan"),
        "{message}"
    );

    // The reference file may be the one to which rows are appended.
    let fast = fast.to_str().unwrap();
    let arguments =
        ["bench", "exclusive_scan", "--smoke", "--axis", "count=20001", "--out", fast, "--against", fast];
    let output = command(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let table = stdout(&output);
    let slower = |line: &str| line.starts_with("slower ") && line.contains("exclusive_scan");
    assert_eq!(table.lines().filter(|line| slower(line)).count(), 4, "{table}");
    // Four modified rows, four measured ones, and a second measurement of the slower ones.
    assert_eq!(read_rows(Path::new(fast)).unwrap().len(), 12, "{table}");
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
