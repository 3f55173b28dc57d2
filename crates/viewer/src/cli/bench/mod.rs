//! `frazil bench`: measures primitives, steps and single kernels, and detects regressions.

mod args;
mod isolated;
mod table;

use crate::build_info::GIT_COMMIT;
use crate::cli::history::{self, Format, HistoryArgs, Log, Measured};
use crate::cli::interrupt;
use crate::cli::processes::{self, Build, HostLoad, Turns, arguments_without, is_build};
use crate::common_args::CompareArgs;
use crate::say;
pub use args::BenchArgs;
use frazil_bench::{
    Bench, Planned, Point, Profile, Row, RowRound, RowWriter, Session, Verdicts, baseline, benches,
    compare_row_rounds, compare_rows, plan, read_rows, select,
};
use frazil_engine::Failure;
use frazil_engine::device;
use frazil_report::{HistoryEntry, MIN_RUNS, Verdict, time};
use frazil_studies::validate::bench_failure;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::path::Path;
use std::time::SystemTime;
use table::{Table, label};

/// Maximum number of regressions that the error names; the table has all of them.
const MAX_NAMED: usize = 5;

/// Measures the requested points, prints a table, appends rows to a file, and compares them with those of
/// another build or of an earlier file. `words` are the arguments of this process.
pub fn bench(args: &BenchArgs, validation: bool, words: &[OsString]) -> Result<(), Failure> {
    interrupt::flag();
    if args.history.history.is_some() {
        let format =
            Format { csv: args.csv, wide: args.compare.wide, tolerance: args.compare.tolerance_of_files() };
        let is_chosen = |name: &str| args.filters.is_empty() || args.filters.iter().any(|f| name.contains(f));
        return Log::Bench.show(&args.history, &format, |_, entry| is_chosen(&entry.name));
    }
    if let Some(state) = &args.state {
        return bench_kernels(args, state, validation, words);
    }
    let chosen = select(benches::all(), &args.filters).map_err(bench_failure)?;
    if args.list {
        return say::data(&chosen.iter().map(|bench| entry(*bench)).collect::<String>());
    }
    let profile = if args.smoke { Profile::Smoke } else { Profile::Full };
    let planned = plan(&chosen, &args.axes, profile).map_err(bench_failure)?;
    if let Some(path) = args.compare.against.as_deref().filter(|path| is_build(path)) {
        return against_build(args, path, validation, words, |_| None);
    }
    let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
    let against = args.compare.against.as_deref();
    let then = against.map(|path| baseline(path, &device, &planned)).transpose().map_err(bench_failure)?;
    let mut writer = RowWriter::open(&args.out).map_err(bench_failure)?;
    let session = session_name();
    let (rows, load) = match args.compare.processes(then.as_deref().map(processes_of)) {
        Some(runs) => {
            drop(device);
            let mut keep = AfterFirst::new(1);
            let (rows, load) = processes::repeat(runs, |build| {
                let rows = measure_by(build, words, &session)?;
                keep.append(&mut writer, &rows)?;
                Ok(rows)
            })?;
            let rows = rows.concat();
            say::report(&table_of(args, &planned).rows(&typical(&rows)))?;
            (rows, Some(load))
        }
        None => {
            let benches = Session::new(&device, GIT_COMMIT.map(str::to_owned)).map_err(bench_failure)?;
            args.print_heading(&format!(
                "{} points on {}, subgroups of {}; copy {:.1} GB/s",
                planned.len(),
                device::describe(device.info()),
                device.capabilities().subgroup_size,
                benches.copy_gb_per_s()
            ))?;
            let mut skipped = Vec::new();
            if device.is_software() {
                say::note(device::SOFTWARE_WARNING);
            }
            let table = table_of(args, &planned);
            say::report(&table.header())?;
            let mut rows = Vec::with_capacity(planned.len());
            for (n_done, planned_point) in planned.iter().enumerate() {
                interrupt::check(kept(n_done, planned.len(), &args.out))?;
                let row = match benches.measure(planned_point.bench, &planned_point.point, profile) {
                    Ok(row) => row,
                    // Other points may fit.
                    Err(error) if error.does_not_fit() => {
                        let (bench, point) = (planned_point.bench.id(), &planned_point.point);
                        say::note(format_args!("warning: skipped {bench} {point}: {error}"));
                        skipped.push(error);
                        continue;
                    }
                    Err(error) => return Err(bench_failure(error)),
                };
                let row = Row { session: Some(session.clone()), ..row };
                writer.append(&row).map_err(Failure::other)?;
                say::report(&table.line(&row))?;
                rows.push(row);
            }
            let n_skipped = skipped.len();
            match skipped.pop() {
                Some(error) if rows.is_empty() => return Err(bench_failure(error)),
                Some(_) => say::note(format_args!(
                    "warning: {n_skipped} of {} points do not fit this device, and were skipped",
                    planned.len()
                )),
                None => {}
            }
            device.check_validation()?;
            // If the cache cannot be written, only the next start takes longer.
            let _ = device.save_pipeline_cache();
            (rows, None)
        }
    };
    appended_to(&args.out);
    log(args, &rows, validation, |_| None);
    let (Some(path), Some(then)) = (against, then) else { return Ok(()) };
    let tolerance = args.compare.tolerance_of_files();
    let mut verdicts = compare_rows(&then, &rows, tolerance);
    // Benches that were not requested are not missing.
    verdicts.only_baseline.retain(|(id, _)| chosen.iter().any(|bench| bench.id() == id));
    args.print_heading(&comparison(&verdicts, path, tolerance, load.as_ref()))?;
    no_regression(&verdicts, path)
}

/// Measures kernels alone on the state of a simulation; everything else is like in [`bench`].
fn bench_kernels(args: &BenchArgs, state: &str, validation: bool, words: &[OsString]) -> Result<(), Failure> {
    let points = isolated::plan(args, state)?;
    if let Some(path) = args.compare.against.as_deref().filter(|path| is_build(path)) {
        return against_build(args, path, validation, words, |point| points.scene_hash(point));
    }
    let then = args.compare.against.as_deref().map(read_rows).transpose().map_err(bench_failure)?;
    let mut writer = RowWriter::open(&args.out).map_err(bench_failure)?;
    let session = session_name();
    let table = points.table(args);
    let (rows, load) = match args.compare.processes(then.as_deref().map(processes_of)) {
        Some(runs) => {
            let (rows, load) = processes::repeat(runs, |build| measure_by(build, words, &session))?;
            (rows.concat(), Some(load))
        }
        None => {
            let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
            let heading = format!("kernels alone on {}", device::describe(device.info()));
            args.print_heading(&heading)?;
            if device.is_software() {
                say::note(device::SOFTWARE_WARNING);
            }
            let rows = points.measure(args, &device)?;
            device.check_validation()?;
            let _ = device.save_pipeline_cache();
            (rows.into_iter().map(|row| Row { session: Some(session.clone()), ..row }).collect(), None)
        }
    };
    rows.iter().try_for_each(|row| writer.append(row)).map_err(Failure::other)?;
    say::report(&table.rows(&typical(&rows)))?;
    appended_to(&args.out);
    log(args, &rows, validation, |point| points.scene_hash(point));
    let (Some(path), Some(mut then)) = (args.compare.against.as_deref(), then) else { return Ok(()) };
    then.retain(|then| {
        rows.iter().any(|row| {
            (&row.device, row.subgroup_size, &row.bench) == (&then.device, then.subgroup_size, &then.bench)
        })
    });
    if then.is_empty() {
        return Err(Failure::input(format!(
            "{}: none of its rows is of one of these kernels on this device",
            path.display()
        )));
    }
    let tolerance = args.compare.tolerance_of_files();
    let verdicts = compare_rows(&then, &rows, tolerance);
    args.print_heading(&comparison(&verdicts, path, tolerance, load.as_ref()))?;
    no_regression(&verdicts, path)
}

/// Compares this build with the one in `path`: both measure in processes of their own, in turns.
fn against_build(
    args: &BenchArgs,
    path: &Path,
    validation: bool,
    words: &[OsString],
    scene_hash: impl Fn(&Point) -> Option<String>,
) -> Result<(), Failure> {
    let (baseline, current) = (Build::open(path)?, Build::this()?);
    let mut writer = RowWriter::open(&args.out).map_err(bench_failure)?;
    let baseline_out = args.out.with_extension("baseline.jsonl");
    let mut baseline_writer = RowWriter::open(&baseline_out).map_err(bench_failure)?;
    let looks = args.compare.looks();
    let processes = processes::words(&looks);
    say::note(format_args!("processes take turns: {processes}: {current} against {baseline}"));
    let session = session_name();
    let tolerance = args.compare.tolerance_of_builds();
    let compare = |turns: &[Turns<Vec<Row>>]| {
        let round = |turns: &Turns<Vec<Row>>| RowRound {
            baseline: turns.baseline.clone(),
            current: turns.current.clone(),
        };
        let rounds: Vec<RowRound> = turns.iter().map(round).collect();
        compare_row_rounds(&rounds, tolerance, looks.len(), path).map_err(bench_failure)
    };
    let undecided = |turns: &[Turns<Vec<Row>>]| {
        let verdicts = compare(turns)?;
        Ok(verdicts.of(Verdict::Unclear).map(|compared| compared.rounds_needed).collect())
    };
    let mut keep = [AfterFirst::new(1), AfterFirst::new(1)];
    let measure = |build: &Build| {
        let rows = measure_by(build, words, &session)?;
        match std::ptr::eq(build, &baseline) {
            true => keep[0].append(&mut baseline_writer, &rows)?,
            false => keep[1].append(&mut writer, &rows)?,
        }
        Ok(rows)
    };
    let (turns, load) = processes::take_turns(&baseline, &current, &looks, measure, undecided)?;
    appended_to(&args.out);
    appended_to(&baseline_out);
    // The baseline logs its own measurements when it measures by itself: the date of its commit is known to
    // it only.
    let rows: Vec<Row> = turns.iter().flat_map(|turns| turns.current.concat()).collect();
    log(args, &rows, validation, scene_hash);
    let verdicts = compare(&turns)?;
    args.print_heading(&comparison(&verdicts, path, tolerance, Some(&load)))?;
    no_regression(&verdicts, path)
}

/// Writes the rows of processes as they end, so that an interrupt loses none, but for the first processes,
/// which fill caches.
struct AfterFirst {
    n_left_out: usize,
}

impl AfterFirst {
    fn new(n_left_out: usize) -> Self {
        Self { n_left_out }
    }

    fn append(&mut self, writer: &mut RowWriter, rows: &[Row]) -> Result<(), Failure> {
        if self.n_left_out > 0 {
            self.n_left_out -= 1;
            return Ok(());
        }
        // A full disk is not bad input.
        rows.iter().try_for_each(|row| writer.append(row)).map_err(Failure::other)
    }
}

/// Describes what an interrupted measurement has written.
fn kept(n_done: usize, n: usize, out: &Path) -> String {
    format!("{n_done} of {n} points are measured, and their rows are in {}", out.display())
}

/// Measures the points in a process of a build.
fn measure_by(build: &Build, words: &[OsString], session: &str) -> Result<Vec<Row>, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::other)?;
    let out = folder.path().join("rows.jsonl");
    let left_out = [
        &CompareArgs::OPTIONS[..],
        &HistoryArgs::OPTIONS,
        &[("out", true), ("quiet", false), ("csv", false)],
    ]
    .concat();
    let added: [&OsStr; 3] = ["--quiet".as_ref(), "--out".as_ref(), out.as_ref()];
    build.run(&arguments_without(words, "bench", &left_out, &added))?;
    let rows = read_rows(&out).map_err(bench_failure)?;
    Ok(rows.into_iter().map(|row| Row { session: Some(session.to_owned()), ..row }).collect())
}

/// Logs the row of each point whose process has the median figure; `scene_hash` returns that of a point with
/// a scene.
fn log(args: &BenchArgs, rows: &[Row], validation: bool, scene_hash: impl Fn(&Point) -> Option<String>) {
    let rows = typical(rows);
    let Some(first) = rows.first() else { return };
    let entry = |row: &&Row| {
        let entry = history::entry(&row.bench, row.figure_ns(), row.samples_ns.iter().copied())?;
        // A scene of the same name may change from build to build.
        let hash = scene_hash(&row.point).map(|hash| format!(" scene_hash={hash}")).unwrap_or_default();
        Some(HistoryEntry {
            point: format!("{}{hash}", row.point),
            bytes: Some(row.bytes_moved.unwrap_or(row.bytes_minimum) as f64),
            gb_per_s: row.gb_per_s.filter(|rate| rate.is_finite()),
            share_of_copy: row.share_of_copy.filter(|share| share.is_finite()),
            ..entry
        })
    };
    let smoke = args.smoke.then(|| ("smoke", "true".to_owned()));
    let subgroup_size = ("subgroup_size", first.subgroup_size.to_string());
    let measured = Measured {
        device: first.device.clone(),
        driver: first.driver.clone(),
        settings: [subgroup_size].into_iter().chain(smoke).chain(history::validation(validation)).collect(),
        copy_gb_per_s: Some(first.copy_gb_per_s),
        entries: rows.iter().filter_map(entry).collect(),
    };
    Log::Bench.append(&args.history, measured);
}

/// Returns a name that no other measurement on this machine has.
fn session_name() -> String {
    let unix_time_ms = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_millis());
    format!("{unix_time_ms}-{}", std::process::id())
}

/// Returns the number of processes that measured the point that the most did.
fn processes_of(rows: &[Row]) -> usize {
    let of = |row: &Row| rows.iter().filter(|r| r.bench == row.bench && r.point == row.point).count();
    rows.iter().map(of).max().unwrap_or(0)
}

/// Returns for each point the row of the process with the median figure.
fn typical<'a>(rows: &'a [Row]) -> Vec<&'a Row> {
    let mut points: Vec<Vec<&'a Row>> = Vec::new();
    for row in rows {
        match points.iter_mut().find(|point| point[0].bench == row.bench && point[0].point == row.point) {
            Some(point) => point.push(row),
            None => points.push(vec![row]),
        }
    }
    let median = |point: &mut Vec<&'a Row>| -> &'a Row {
        point.sort_by(|a, b| a.figure_ns().total_cmp(&b.figure_ns()));
        point[(point.len() - 1) / 2]
    };
    points.iter_mut().map(median).collect()
}

impl BenchArgs {
    /// Prints text around the table: with `--csv` to stderr, so that stdout has the table alone.
    fn print_heading(&self, text: &str) -> Result<(), Failure> {
        let text = text.trim_end();
        if self.csv {
            say::note(text);
            return Ok(());
        }
        say::report(&format!("{text}\n"))
    }
}

fn appended_to(path: &Path) {
    say::note(format_args!("appended the rows to {}", path.display()));
}

/// Formats a bench with its axes for `--list`.
fn entry(bench: &dyn Bench) -> String {
    let mut text = format!("{}\n    {}\n", bench.id(), bench.about());
    let list =
        |values: &[frazil_bench::Value]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    for axis in bench.axes() {
        let _ = writeln!(text, "    --axis {}={}", axis.name, list(&axis.full));
        let _ = writeln!(text, "        {}; with --smoke {}", axis.domain, list(&axis.smoke));
    }
    text
}

/// Makes the table of planned points.
fn table_of(args: &BenchArgs, planned: &[Planned<'_>]) -> Table {
    let benches: Vec<&str> = planned.iter().map(|planned| planned.bench.id()).collect();
    let points: Vec<String> = planned.iter().map(|planned| planned.point.to_string()).collect();
    Table::new(args, &benches, &points)
}

/// Formats the results of the comparison.
fn comparison(verdicts: &Verdicts, path: &Path, tolerance: f64, load: Option<&HostLoad>) -> String {
    let of = |verdict| verdicts.of(verdict).count();
    let mut text = format!(
        "\nagainst {}, tolerance {} %: {} same, {} faster, {} slower, {} unclear\n",
        path.display(),
        100.0 * tolerance,
        of(Verdict::Same),
        of(Verdict::Faster),
        of(Verdict::Slower),
        of(Verdict::Unclear)
    );
    if let Some(load) = load {
        let _ = writeln!(text, "{load}");
    }
    for compared in &verdicts.compared {
        let found = &compared.comparison;
        let [baseline, current] = compared.times_ns.map(time);
        let [from, to] = found.interval;
        let _ = writeln!(text, "{}", label(&compared.bench, &compared.point.to_string()));
        let _ = write!(text, "  {:<8}{:>6.3}x baseline", found.verdict, found.ratio);
        if to.is_finite() {
            let _ = write!(text, " ({from:.3} to {to:.3}");
            if let Some([from, to]) = compared.same_build {
                let _ = write!(text, "; A/A {from:.3} to {to:.3}");
            }
            let _ = write!(text, ")");
        }
        let _ = writeln!(text, ", {baseline} → {current}");
        if let Some(rounds) = compared.rounds_needed {
            let _ = writeln!(text, "          about {rounds} rounds would decide (--max-rounds)");
        }
        if compared.processes.iter().any(|n| *n < MIN_RUNS) {
            let [a, b] = compared.processes;
            let _ = writeln!(
                text,
                "          {a} and {b} processes: the variance between them takes {MIN_RUNS} each (--runs)"
            );
        }
    }
    for (which, points) in [("current", &verdicts.only_current), ("baseline", &verdicts.only_baseline)] {
        for (bench, point) in points {
            let _ = writeln!(text, "in the {which} measurement only: {bench} {point}");
        }
    }
    text
}

/// Returns an error if any point became slower.
fn no_regression(verdicts: &Verdicts, path: &Path) -> Result<(), Failure> {
    let slower: Vec<_> = verdicts
        .of(Verdict::Slower)
        .map(|c| format!("{} {} ({:.2}x baseline)", c.bench, c.point, c.comparison.ratio))
        .collect();
    if slower.is_empty() {
        return Ok(());
    }
    let more = slower.len().saturating_sub(MAX_NAMED);
    let mut named = slower[..slower.len().min(MAX_NAMED)].join("; ");
    if more > 0 {
        let _ = write!(named, "; and {more} more");
    }
    let (n, all) = (slower.len(), verdicts.compared.len());
    Err(Failure::other(format!("{n} of {all} points slower than in {}: {named}", path.display())))
}
