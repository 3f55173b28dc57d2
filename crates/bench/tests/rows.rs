//! Choosing points, storing rows, and comparing them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_bench::{
    AxisOverride, Clock, Error, Planned, Point, Profile, Row, RowRound, RowWriter, StopReason, Value,
    baseline, benches, compare_row_rounds, compare_rows, plan, read_rows, select,
};
use frazil_report::Verdict;
use frazil_testkit::device;
use frazil_vk::Device;
use std::fs;

fn chosen(filters: &[&str], overrides: &[&str]) -> Result<Vec<Planned<'static>>, Error> {
    let filters: Vec<String> = filters.iter().map(|filter| (*filter).to_owned()).collect();
    let overrides: Vec<AxisOverride> = overrides.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    plan(&select(benches::all(), &filters)?, &overrides, Profile::Full)
}

fn points(filters: &[&str], overrides: &[&str]) -> Vec<String> {
    let planned = chosen(filters, overrides).unwrap();
    planned.iter().map(|planned| format!("{} {}", planned.bench.id(), planned.point)).collect()
}

#[test]
fn points_are_the_product_of_the_axes_each_once() {
    // An axis that a variant does not have does not multiply its points.
    let variants = [
        ("items_per_thread=8 spins=4 variant=look_back", true),
        ("items_per_thread=8 spins=4 variant=look_back_subgroups", true),
        ("items_per_thread=8 variant=reduce_then_scan", true),
        ("variant=cpu_one_core", false),
    ];
    let mut expected = Vec::new();
    for count in [5, 6] {
        for (axes, has_workgroups) in variants {
            let point = format!("primitives.exclusive_scan count={count} distribution=uniform {axes}");
            if has_workgroups {
                expected.extend([64, 128].map(|size| format!("{point} workgroup_size={size}")));
            } else {
                expected.push(point);
            }
        }
    }
    assert_eq!(points(&["exclusive_scan"], &["count=5,6,5", "workgroup_size=64,128"]), expected);
    // A variant's name picks the benches that have it, among those that have variants at all.
    let rayon = points(&["radix", "exclusive_scan"], &["variant=cpu_rayon", "count=9", "key_bits=8"]);
    assert_eq!(rayon.len(), 2, "{rayon:?}");
    assert!(rayon.iter().all(|point| point.starts_with("primitives.radix_sort ")), "{rayon:?}");
    // Repeating an axis adds values.
    assert_eq!(points(&["copy"], &["count=1", "count=2"]), ["device.copy count=1", "device.copy count=2"]);
}

#[test]
fn values_of_no_bench_are_refused_with_the_expected_ones() {
    for (filters, overrides, said) in [
        (&["radix_sert"][..], &[][..], &["no bench matches \"radix_sert\"", "primitives.radix_sort?"][..]),
        (&["zzz"], &[], &["expected one of device.copy"]),
        (&[], &["cuont=1"], &["--axis cuont", "did you mean count?"]),
        (&["copy"], &["variant=cpu_rayon"], &["--axis variant", "none of the chosen", "count"]),
        (&[], &["count=many"], &["--axis count", "found \"many\"", "a whole number from 0 to 268435456"]),
        (&[], &["count=-1"], &["found \"-1\""]),
        (&[], &["count=1e6"], &["found \"1e6\""]),
        (&[], &["count=99999999999999999999"], &["found \"99999999999999999999\""]),
        (&[], &["workgroup_size=100"], &["found \"100\"", "a power of two from 64 to 512"]),
        (&[], &["distribution=unifrom"], &["found \"unifrom\"", "one of uniform, sorted"]),
        (
            &["exclusive_scan"],
            &["variant=cpu_rdst"],
            &["found \"cpu_rdst\"", "one of look_back, look_back_subgroups, reduce_then_scan, cpu_one_core"],
        ),
        (&[], &["count"], &["found \"count\", expected name=value"]),
        (&[], &["count="], &["expected name=value"]),
        (&[], &["=1"], &["expected name=value"]),
        (&[], &["count=1,,2"], &["expected name=value"]),
    ] {
        let error = chosen(filters, overrides).map(|_| ()).unwrap_err().to_string();
        for part in said {
            assert!(error.contains(part), "{overrides:?}: \"{part}\" is not in: {error}");
        }
    }
}

/// Returns a row of this device, or another one, with samples around `centre_ns`.
fn row(device: &Device, count: u64, centre_ns: f64) -> Row {
    let samples_ns: Vec<f64> = (0..30).map(|i| centre_ns * (1.0 + 0.001 * f64::from(i * 7 % 30))).collect();
    Row {
        format_version: Row::FORMAT_VERSION,
        bench: "device.copy".to_owned(),
        point: Point::default().with("count", Value::Integer(count)),
        verified: true,
        clock: Clock::Device,
        cold_samples_ns: vec![2.0 * centre_ns],
        host_samples_ns: vec![10.0; 30],
        median_ns: centre_ns,
        min_ns: centre_ns,
        iqr_ns: 0.0,
        cold_median_ns: Some(2.0 * centre_ns),
        host_median_ns: Some(10.0),
        samples_ns,
        stopped_because: StopReason::Precise,
        elements: count,
        bytes_minimum: 8 * count,
        bytes_moved: Some(8 * count),
        gb_per_s: Some(0.25),
        copy_gb_per_s: 10.0,
        share_of_copy: Some(0.025),
        share_of_peak: None,
        device: device.info().name.clone(),
        driver: device.info().driver.clone(),
        subgroup_size: device.capabilities().subgroup_size,
        commit: None,
        unix_time_s: 1_800_000_000,
        session: None,
    }
}

/// Returns the rows of five processes of one session, each by a thousandth slower than the one before.
fn session(name: &str, row: &Row) -> Vec<Row> {
    let process = |i: i32| Row {
        samples_ns: row.samples_ns.iter().map(|ns| ns * (1.0 + 0.001 * f64::from(i))).collect(),
        session: Some(name.to_owned()),
        ..row.clone()
    };
    (0..5).map(process).collect()
}

fn write(path: &std::path::Path, rows: &[Row]) {
    let mut writer = RowWriter::open(path).unwrap();
    rows.iter().for_each(|row| writer.append(row).unwrap());
}

#[test]
fn rows_round_trip_and_a_truncated_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("below").join("bench.jsonl");
    let device = device();
    let rows = [row(&device, 1, 1e3), row(&device, 2, 2e3)];
    write(&path, &rows[..1]);
    write(&path, &rows[1..]);
    assert_eq!(read_rows(&path).unwrap(), rows);

    let whole = fs::read(&path).unwrap();
    let first_line = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in first_line + 1..whole.len() - 1 {
        fs::write(&path, &whole[..cut]).unwrap();
        let error = read_rows(&path).unwrap_err();
        assert!(matches!(error, Error::Row { line: 2, .. }), "cut at {cut}: {error}");
    }
    // The next row is not affected.
    write(&path, &rows[..1]);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 3);
    assert_eq!(serde_json::from_str::<Row>(text.lines().last().unwrap()).unwrap(), rows[0]);
}

#[test]
fn lines_that_are_no_rows_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    let device = device();
    let good = serde_json::to_string(&row(&device, 1, 1e3)).unwrap();
    for (line, said) in [
        ("nonsense".to_owned(), "no row of a bench: expected ident"),
        ("{}".to_owned(), "missing field `format_version`"),
        (
            good.replace("\"format_version\":1", "\"format_version\":2"),
            "version 2; this build reads version 1",
        ),
        (good.replace("\"verified\":true", "\"verified\":false"), "not verified"),
        (good.replace("\"samples_ns\":[1000.0,", "\"samples_ns\":[-1000.0,"), "found the sample -1000 ns"),
        (good.replace("\"precise\"", "\"bored\""), "unknown variant `bored`"),
    ] {
        fs::write(&path, format!("{good}\n\n{line}\n")).unwrap();
        let error = read_rows(&path).unwrap_err().to_string();
        assert!(error.contains("rows.jsonl:3: ") && error.contains(said), "{line}: {error}");
    }
    let missing = read_rows(&folder.path().join("nosuch")).unwrap_err().to_string();
    assert!(missing.contains("cannot read") && missing.contains("nosuch"), "{missing}");
    assert!(read_rows(folder.path()).is_err(), "a directory");
    assert!(RowWriter::open(folder.path()).is_err(), "a directory");
}

#[test]
fn a_baseline_is_the_last_session_of_this_device() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    let device = device();
    let planned = chosen(&["copy"], &["count=1,2"]).unwrap();
    let foreign = |count| Row { device: "Voodoo 2".to_owned(), ..row(&device, count, 5.0) };
    let other_size = Row { subgroup_size: 2 * device.capabilities().subgroup_size, ..row(&device, 1, 5.0) };

    write(&path, &[foreign(1), row(&device, 1, 1e3), row(&device, 1, 2e3), other_size.clone(), foreign(2)]);
    assert_eq!(baseline(&path, &device, &planned).unwrap(), [row(&device, 1, 2e3)]);
    let (first, second) = (session("first", &row(&device, 1, 3e3)), session("second", &row(&device, 1, 4e3)));
    write(&path, &[first, second.clone()].concat());
    assert_eq!(baseline(&path, &device, &planned).unwrap(), second);

    fs::remove_file(&path).unwrap();
    write(&path, &[foreign(1), foreign(2), other_size]);
    let error = baseline(&path, &device, &planned).unwrap_err().to_string();
    assert!(error.contains("Voodoo 2") && error.contains(&device.info().name), "{error}");

    fs::remove_file(&path).unwrap();
    write(&path, &[row(&device, 3, 1e3)]);
    let error = baseline(&path, &device, &planned).unwrap_err().to_string();
    assert!(error.contains("none of its 1 rows"), "{error}");

    fs::write(&path, "").unwrap();
    assert!(matches!(baseline(&path, &device, &planned), Err(Error::NothingToCompare { rows: 0, .. })));
}

#[test]
fn rows_are_matched_by_bench_and_point() {
    let device = device();
    let sessions = |rows: &[Row]| rows.iter().flat_map(|row| session("one", row)).collect::<Vec<_>>();
    let then =
        sessions(&[row(&device, 1, 1e3), row(&device, 2, 1e3), row(&device, 3, 1e3), row(&device, 4, 1e3)]);
    let other_bench = Row { bench: "device.poke".to_owned(), ..row(&device, 1, 1e3) };
    let now = sessions(&[row(&device, 4, 1e3), row(&device, 2, 2e3), row(&device, 1, 5e2), other_bench]);
    let verdicts = compare_rows(&then, &now, 0.05);
    let found: Vec<_> =
        verdicts.compared.iter().map(|c| (c.point.to_string(), c.comparison.verdict)).collect();
    let expected = [("count=1", Verdict::Faster), ("count=2", Verdict::Slower), ("count=4", Verdict::Same)];
    assert_eq!(found, expected.map(|(point, verdict)| (point.to_owned(), verdict)));
    assert_eq!(verdicts.of(Verdict::Slower).count(), 1);
    assert_eq!(verdicts.compared[1].processes, [5, 5]);
    let point = |count| Point::default().with("count", Value::Integer(count));
    assert_eq!(verdicts.only_baseline, [("device.copy".to_owned(), point(3))]);
    assert_eq!(verdicts.only_current, [("device.poke".to_owned(), point(1))]);

    // A single process on either side has no variance, and a machine that copies at half the rate may well
    // take twice the time.
    let slow_machine: Vec<Row> = now.iter().map(|row| Row { copy_gb_per_s: 4.9, ..row.clone() }).collect();
    for (then, now) in [(&then, &now[5..6].to_vec()), (&then[5..6].to_vec(), &now), (&then, &slow_machine)] {
        let verdicts = compare_rows(then, now, 0.05);
        let twice = verdicts.compared.iter().find(|c| c.point.to_string() == "count=2").unwrap();
        assert_eq!(twice.comparison.verdict, Verdict::Unclear);
    }
}

#[test]
fn builds_that_take_turns_are_compared_at_the_points_of_both() {
    let device = device();
    let rows = |count: u64, factor: f64| [row(&device, 1, factor * 1e3), row(&device, count, 1e3)].to_vec();
    let round = RowRound { baseline: [rows(3, 1.0), rows(3, 1.0)], current: [rows(5, 1.1), rows(5, 1.1)] };
    let path = std::path::Path::new("builds/before");
    let verdicts = compare_row_rounds(&vec![round.clone(); 6], 0.02, 1, path).unwrap();
    let found = &verdicts.compared[0];
    assert_eq!((verdicts.compared.len(), found.comparison.verdict), (1, Verdict::Slower));
    assert!((found.comparison.ratio - 1.1).abs() < 1e-9 && found.processes == [12, 12], "{found:?}");
    assert_eq!(found.same_build, Some([1.0, 1.0]));
    assert_eq!((verdicts.only_current.len(), verdicts.only_baseline.len()), (1, 1));
    let mut other = round;
    other.baseline[0][0].device = "Voodoo 2".to_owned();
    let error = compare_row_rounds(&[other], 0.02, 1, path).unwrap_err().to_string();
    assert!(error.contains("builds/before") && error.contains("Voodoo 2"), "{error}");
}
