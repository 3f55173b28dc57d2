//! `frazil validate`: listing, selection, results and their files.

use crate::tool::{command, stderr, succeed};
use std::fs;
use std::process::Output;

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn cases_are_listed_with_references_without_a_device() {
    let no_driver = [("VK_DRIVER_FILES", "/nonexistent.json"), ("VK_ICD_FILENAMES", "/nonexistent.json")];
    let list = stdout(&succeed(command(&["validate", "--list"]).envs(no_driver)));
    for bench in frazil_bench::benches::all() {
        assert!(list.contains(&format!("twin.{} (seconds)", bench.id())), "{list}");
    }
    assert!(list.contains("water.dam_break (minutes)") && list.contains("known to FAIL"), "{list}");
    let snow = stdout(&succeed(&mut command(&["validate", "--list", "snow"])));
    assert!(snow.starts_with("snow.conduction (seconds)") && !snow.contains("water.rest"), "{snow}");
}

#[test]
fn unknown_cases_are_bad_input() {
    let output = command(&["validate", "watr.rest"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = stderr(&output);
    assert!(error.contains("found the case \"watr.rest\"") && error.contains("water.rest"), "{error}");
}

/// Uses cases of several parts at the settings of `--quick`, one of the parts by its name alone.
#[test]
fn results_are_printed_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/validation");
    let falls = if frazil_testkit::is_full_run() { "free_fall" } else { "free_fall.grains" };
    let names = [falls, "snow.conduction", "grains", "twin.primitives.reduction", "bits.column_collapse"];
    let arguments = [&["validate"], &names[..], &["--out", out.to_str().unwrap()]].concat();
    let output = succeed(&mut command(&arguments));
    let table = stdout(&output);
    let page = fs::read_to_string(out.join("validation.md")).unwrap();
    let csv = fs::read_to_string(out.join("validation.csv")).unwrap();
    for case in
        ["free_fall.grains", "snow.conduction", "grains.rebound", "grains.slope", "bits.column_collapse"]
    {
        let row = table.lines().find(|line| line.starts_with(case));
        assert!(row.is_some_and(|row| row.ends_with("PASS")), "{case}: {table}");
        assert!(page.contains(case) && csv.contains(&format!("\n{case},")), "{case}: {page}");
    }
    assert_eq!(csv.lines().count(), 1 + table.lines().count() - 2, "a row for each line: {csv}");
    assert!(fs::read_to_string(out.join("plots/snow.conduction.svg")).unwrap().contains("<svg"));
    assert!(stderr(&output).contains("0 FAIL (0 of them known), 0 not run"), "{}", stderr(&output));
}

/// A case that is given by name runs again; others keep their results, even after a cut write.
#[test]
fn a_resumed_validation_keeps_finished_cases() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    succeed(&mut command(&["validate", "grains.rebound", "grains.slope", "--out", out]));
    let lines = folder.path().join("validation.jsonl");
    let mut text = fs::read_to_string(&lines).unwrap();
    assert_eq!(text.lines().count(), 2);
    text += "{\"format_version\":1,\"case\":\"grid.mo";
    fs::write(&lines, text).unwrap();
    let again = stdout(&succeed(&mut command(&["validate", "grains.rebound", "--resume", "--out", out])));
    assert!(again.contains("grains.rebound") && !again.contains("grains.slope"), "{again}");
    let page = fs::read_to_string(folder.path().join("validation.md")).unwrap();
    assert!(page.contains("| grains.rebound |") && page.contains("| grains.slope |"), "{page}");
    assert_eq!(fs::read_to_string(&lines).unwrap().lines().count(), 2);

    fs::write(&lines, "{}\n").unwrap();
    let broken = command(&["validate", "grains.rebound", "--resume", "--out", out]).output().unwrap();
    assert_eq!(broken.status.code(), Some(2));
    assert!(stderr(&broken).contains("validation.jsonl:1: no result of a case"), "{}", stderr(&broken));
}
