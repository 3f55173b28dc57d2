//! Metrics files are written row by row, read back exactly, and errors name the invalid line.

use std::fs;
use std::path::Path;

use frazil_io::{Metric, MetricsTable, MetricsWriter};
use proptest::prelude::*;

fn metrics() -> [Metric; 3] {
    [Metric::new("step", ""), Metric::new("time", "s"), Metric::new("kinetic_energy", "J")]
}

fn error_of(path: &Path, text: &str) -> String {
    fs::write(path, text).unwrap();
    let error = MetricsTable::read(path).unwrap_err().to_string();
    assert!(error.contains("metrics.csv:"), "{error}");
    error
}

proptest! {
    #[test]
    fn numbers_come_back_exactly(
        rows in prop::collection::vec(prop::array::uniform3(prop::num::f64::ANY), 0..20),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("metrics.csv");
        let mut writer = MetricsWriter::create(&path, &metrics()).unwrap();
        for row in &rows {
            writer.row(row).unwrap();
        }
        let table = MetricsTable::read(&path).unwrap();
        prop_assert_eq!(table.metrics(), metrics());
        prop_assert_eq!(table.n_rows(), rows.len());
        for (m, (_, values)) in table.columns().enumerate() {
            for (found, row) in values.iter().zip(&rows) {
                prop_assert!(found.to_bits() == row[m].to_bits() || (found.is_nan() && row[m].is_nan()));
            }
        }
    }
}

#[test]
fn the_header_has_units_and_each_row_is_there_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("metrics.csv");
    let mut writer = MetricsWriter::create(&path, &metrics()).unwrap();
    writer.row(&[1.0, 0.005, 1.25e-12]).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "step,time [s],kinetic_energy [J]\n1,0.005,1.25e-12\n");
    let error = writer.row(&[1.0]).unwrap_err().to_string();
    assert!(error.contains("a row of 1 value(s), expected 3"), "{error}");
}

#[test]
fn a_reader_names_the_line_and_what_it_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("metrics.csv");
    for (text, expected) in [
        ("", "metrics.csv:1: expected a header row, found an empty file"),
        (
            "time [s],energy [J\n",
            "metrics.csv:1: expected a metric such as \"time [s]\" in column 2, found text",
        ),
        ("time [s],time [h]\n", "metrics.csv:1: columns 1 and 2 have the same metric"),
        ("time [s],a\n0,1\n1,x\n", "metrics.csv:3: expected a number in column 2, found text"),
        ("time [s],a\n0,1\n1\n", "metrics.csv:3: expected 2 cell(s) as in the header, found 1"),
        ("time [s],a\n0,1,2\n", "metrics.csv:2: expected 2 cell(s) as in the header, found 3"),
        ("time [s],a\n0,1\n1,1", "metrics.csv:3: truncated: expected a line break at its end"),
        ("time [s]", "metrics.csv:1: truncated"),
    ] {
        let error = error_of(&path, text);
        assert!(error.contains(expected), "{error}");
    }
    fs::write(&path, "time [s],a\r\n0,1\r\n").unwrap();
    let table = MetricsTable::read(&path).unwrap();
    assert_eq!(table.column("a").unwrap(), [1.0]);
    let error = table.column("energy").unwrap_err().to_string();
    assert!(error.contains("metrics.csv:1: expected a column \"energy\", found time, a"), "{error}");
    // The text of any other file is not shown.
    for text in ["root:x:0:0:root:/root\n", "a\nroot:x:0:0\n", "root:x,root:x\n", "root:x]\n"] {
        fs::write(&path, text).unwrap();
        let table = MetricsTable::read(&path).and_then(|table| table.column("energy").map(<[f64]>::to_vec));
        let error = table.unwrap_err().to_string();
        assert!(!error.contains("root"), "{error}");
    }
}

#[test]
fn metrics_invalid_in_a_header_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("metrics.csv");
    let refused = |metrics: &[Metric]| MetricsWriter::create(&path, metrics).unwrap_err().to_string();
    assert!(refused(&[]).contains("at least one metric"));
    assert!(refused(&[Metric::new("a", ""), Metric::new("a", "J")]).contains("\"a\" occurs twice"));
    for (name, unit) in [("", ""), ("a,b", ""), ("a [J]", ""), ("a", "J,s"), ("a", "J\n")] {
        assert!(
            refused(&[Metric::new(name, unit)]).contains("is not valid in a header row"),
            "{name:?} {unit:?}"
        );
    }
    assert!(!path.exists());
}

#[test]
fn a_resumed_table_equals_an_uninterrupted_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("metrics.csv");
    let mut writer = MetricsWriter::create(&path, &metrics()).unwrap();
    for step in 0..5 {
        writer.row(&[f64::from(step), f64::from(step) * 0.1, 1.0]).unwrap();
    }
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}5,0.")).unwrap();

    let mut writer = MetricsWriter::resume(&path, &metrics(), "step", 2.0).unwrap();
    for step in 3..5 {
        writer.row(&[f64::from(step), f64::from(step) * 0.1, 1.0]).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);

    let error = MetricsWriter::resume(&path, &metrics()[..2], "step", 2.0).unwrap_err().to_string();
    assert!(error.contains("metrics.csv:1: this run reports step, time [s]"), "{error}");
}
