//! `--history`: series of logged measurements and their steps. Logs are written by the tests: nothing here
//! needs a device.

use crate::tool::{command, stderr};
use frazil_report::{History, HistoryEntry, HistoryHost, HistoryRecord};
use std::path::Path;
use std::process::Output;

/// Makes the record of a run of commit `commit` on the machine "box", with the times of a kernel and a step.
fn record(n: u64, commit: char, kernel_ns: f64) -> HistoryRecord {
    let entry = |name: &str, time_ns: f64| HistoryEntry {
        name: name.to_owned(),
        point: String::new(),
        time_ns,
        median_ns: time_ns,
        quartiles_ns: [time_ns, time_ns],
        samples: 40,
        bytes: Some(1000.0),
        gb_per_s: Some(1000.0 / time_ns),
        share_of_copy: None,
    };
    HistoryRecord {
        format_version: HistoryRecord::FORMAT_VERSION,
        unix_time_s: 1_700_000_000 + n,
        version: "0.1.0".to_owned(),
        commit: Some(commit.to_string().repeat(40)),
        commit_unix_time_s: Some(1_600_000_000 + u64::from(commit)),
        host: HistoryHost { name: "box".to_owned(), cpu: "a CPU".to_owned(), processors: 2 },
        device: "a GPU".to_owned(),
        driver: "a driver 1".to_owned(),
        settings: [("scene".to_owned(), "dam_break".to_owned())].into(),
        copy_gb_per_s: Some(100.0),
        entries: vec![entry("pbd.solve_density", kernel_ns), entry("step", 1e6 + (n % 5) as f64 * 1e3)],
    }
}

/// Writes a log in which the kernel takes 5 µs, and `factor` times as long in the later half.
fn write_log(path: &Path, factor: f64) {
    for n in 0..24 {
        let (commit, factor) = if n < 12 { ('a', 1.0) } else { ('b', factor) };
        History::append(path, &record(n, commit, 5e3 * factor * (1.0 + 0.004 * (n % 4) as f64))).unwrap();
    }
}

fn profile_history(folder: &Path, arguments: &[&str]) -> Output {
    let folder = folder.to_str().unwrap();
    command(&[&["profile", "--history-dir", folder], arguments].concat())
        .env("FRAZIL_HISTORY_HOST", "box")
        .env("VK_DRIVER_FILES", "/nonexistent.json")
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_slow_down_since_the_last_step_is_an_error_and_a_gain_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let [slower, faster, same] = ["slower", "faster", "same"].map(|name| folder.path().join(name));
    write_log(&slower.join("profile.jsonl"), 1.3);
    write_log(&faster.join("profile.jsonl"), 0.7);
    write_log(&same.join("profile.jsonl"), 1.0);

    let output = profile_history(&slower, &["--history"]);
    let (text, message) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(1), "{text}{message}");
    assert!(message.contains("1 of 2 series slower since a step: pbd.solve_density (1.30x)"), "{message}");
    assert!(text.contains("box: a CPU, 2 processors\na GPU, a driver 1\nscene=dam_break\n"), "{text}");
    assert!(text.contains("aaaaaaaa..bbbbbbbb") && text.contains("12 → 12"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    // A tolerance above it, or another kernel.
    for arguments in [&["--history", "--tolerance", "0.5"][..], &["--history", "step"]] {
        let output = profile_history(&slower, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    }
    let output = profile_history(&faster, &["dam_break", "--history", "pbd"]);
    assert!(output.status.success() && stdout(&output).contains("faster"), "{}", stderr(&output));
    assert!(stdout(&output).lines().filter(|line| line.contains("2023-11-14T")).count() == 24);
    let output = profile_history(&same, &["--history"]);
    assert!(output.status.success() && !stdout(&output).contains("confidence"), "{}", stdout(&output));
}

#[test]
fn csv_json_and_the_page_have_every_run() {
    let folder = tempfile::tempdir().unwrap();
    write_log(&folder.path().join("profile.jsonl"), 0.7);
    let csv = stdout(&profile_history(folder.path(), &["--history", "--csv"]));
    assert!(csv.starts_with("host,cpu,device,") && csv.lines().count() == 1 + 48, "{csv}");
    let page = folder.path().join("history.html");
    let output =
        profile_history(folder.path(), &["--history", "pbd", "--json", "--page", page.to_str().unwrap()]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let series = json["series"].as_array().unwrap();
    assert_eq!((series.len(), series[0]["runs"].as_array().unwrap().len()), (1, 24));
    assert_eq!(
        (&series[0]["steps"][0]["at"], &series[0]["steps"][0]["verdict"]),
        (&12.into(), &"faster".into())
    );
    assert_eq!(std::fs::read_to_string(page).unwrap().matches("<circle").count(), 24);
}

#[test]
fn a_damaged_line_costs_a_warning_and_a_missing_log_is_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.jsonl");
    let refuse = |arguments: &[&str], said: &str| {
        let output = profile_history(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{said}: {}", stderr(&output));
        assert!(stderr(&output).contains(said) && output.stdout.is_empty(), "{said}: {}", stderr(&output));
    };
    refuse(&["--history"], "profile.jsonl: found no measurement; `frazil profile` appends one");
    History::append(&path, &record(0, 'a', 5.0)).unwrap();
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"format_version\": 1, ");
    std::fs::write(&path, text).unwrap();
    let output = profile_history(folder.path(), &["--history"]);
    let warning = format!("warning: {}:2: left out: EOF", path.display());
    assert!(output.status.success() && stderr(&output).contains(&warning), "{}", stderr(&output));
    assert!(stdout(&output).contains("too few runs"), "{}", stdout(&output));
    refuse(&["--history", "mpm"], "with \"mpm\" in its name; the log has pbd.solve_density, step");
    refuse(&["melting", "--history"], "found no such series");
    refuse(&["nosuch_scene", "--history"], "nosuch_scene");
    refuse(&["--history", "--significance", "2"], "expected a probability");
    refuse(&["--history", "--order", "size"], "expected commit or time");
    refuse(&["--history", "--against", "x"], "cannot be used with");
    refuse(&["--page", "x.html", "dam_break"], "--history");
    let off = command(&["bench", "--history"]).output().unwrap();
    assert_eq!(off.status.code(), Some(2));
    assert!(stderr(&off).contains("FRAZIL_HISTORY or --history-dir is 0"), "{}", stderr(&off));
}
