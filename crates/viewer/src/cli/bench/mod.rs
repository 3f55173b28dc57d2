//! `frazil bench`: measures primitives and steps, and detects regressions.

mod args;
use crate::build_info::GIT_COMMIT;
use crate::cli::interrupt;
use crate::cli::processes::{self, Build, HostLoad, arguments_without, is_build};
use crate::say;
pub use args::BenchArgs;
use frazil_bench::{
    Bench, Planned, Profile, Row, RowRound, RowWriter, Session, Verdicts, baseline, benches,
    compare_row_rounds, compare_rows, plan, read_rows, select,
};
use frazil_engine::Failure;
use frazil_engine::device;
use frazil_report::{MIN_RUNS, Spread, Verdict};
use frazil_studies::validate::bench_failure;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::path::Path;
use std::time::SystemTime;

/// Maximum number of regressions that the error names; the table has all of them.
const MAX_NAMED: usize = 5;
/// Width of the terminal that tables are made for, unless `--wide` is given.
const MAX_WIDTH: usize = 100;

/// Measures the requested points, prints a table, appends rows to a file, and compares them with those of
/// another build or of an earlier file. `words` are the arguments of this process.
pub fn bench(args: &BenchArgs, validation: bool, words: &[OsString]) -> Result<(), Failure> {
    let chosen = select(benches::all(), &args.filters).map_err(bench_failure)?;
    if args.list {
        return say::data(&chosen.iter().map(|bench| entry(*bench)).collect::<String>());
    }
    let profile = if args.smoke { Profile::Smoke } else { Profile::Full };
    let planned = plan(&chosen, &args.axes, profile).map_err(bench_failure)?;
    if let Some(path) = args.compare.against.as_deref().filter(|path| is_build(path)) {
        interrupt::flag();
        return against_build(args, path, words);
    }
    interrupt::flag();
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
            say::report(&Table::new(args, &planned).rows(&typical(&rows)))?;
            (rows, Some(load))
        }
        None => {
            let benches = Session::new(&device, GIT_COMMIT.map(str::to_owned)).map_err(bench_failure)?;
            say::report(&format!(
                "{} points on {}, subgroups of {}; copy {:.1} GB/s\n",
                planned.len(),
                device::describe(device.info()),
                device.capabilities().subgroup_size,
                benches.copy_gb_per_s()
            ))?;
            if device.is_software() {
                say::note(device::SOFTWARE_WARNING);
            }
            let table = Table::new(args, &planned);
            say::report(&table.header())?;
            let mut rows = Vec::with_capacity(planned.len());
            for (n_done, point) in planned.iter().enumerate() {
                interrupt::check(kept(n_done, planned.len(), &args.out))?;
                let row = benches.measure(point.bench, &point.point, profile).map_err(bench_failure)?;
                let row = Row { session: Some(session.clone()), ..row };
                writer.append(&row).map_err(Failure::other)?;
                say::report(&table.line(&row))?;
                rows.push(row);
            }
            device.check_validation()?;
            // If the cache cannot be written, only the next start takes longer.
            let _ = device.save_pipeline_cache();
            (rows, None)
        }
    };
    appended_to(&args.out);
    let (Some(path), Some(then)) = (against, then) else { return Ok(()) };
    let tolerance = args.compare.tolerance_of_files();
    let mut verdicts = compare_rows(&then, &rows, tolerance);
    // Benches that were not requested are not missing.
    verdicts.only_baseline.retain(|(id, _)| chosen.iter().any(|bench| bench.id() == id));
    say::report(&comparison(&verdicts, path, tolerance, load.as_ref()))?;
    no_regression(&verdicts, path)
}

/// Compares this build with the one in `path`: both measure in processes of their own, in turns.
fn against_build(args: &BenchArgs, path: &Path, words: &[OsString]) -> Result<(), Failure> {
    let (baseline, current) = (Build::open(path)?, Build::this()?);
    let mut writer = RowWriter::open(&args.out).map_err(bench_failure)?;
    let baseline_out = args.out.with_extension("baseline.jsonl");
    let mut baseline_writer = RowWriter::open(&baseline_out).map_err(bench_failure)?;
    let rounds = usize::from(args.compare.rounds);
    let processes = 4 * rounds + 2;
    say::note(format_args!("{processes} processes take turns: {current} against {baseline}"));
    let session = session_name();
    let mut keep = [AfterFirst::new(1), AfterFirst::new(1)];
    let (turns, load) = processes::take_turns(&baseline, &current, rounds, |build| {
        let rows = measure_by(build, words, &session)?;
        match std::ptr::eq(build, &baseline) {
            true => keep[0].append(&mut baseline_writer, &rows)?,
            false => keep[1].append(&mut writer, &rows)?,
        }
        Ok(rows)
    })?;
    let rounds: Vec<RowRound> = turns
        .into_iter()
        .map(|turns| RowRound { baseline: turns.baseline, current: turns.current })
        .collect();
    appended_to(&args.out);
    appended_to(&baseline_out);
    let tolerance = args.compare.tolerance_of_builds();
    let verdicts = compare_row_rounds(&rounds, tolerance, path).map_err(bench_failure)?;
    say::report(&comparison(&verdicts, path, tolerance, Some(&load)))?;
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
    let left_out =
        [&crate::common_args::CompareArgs::OPTIONS[..], &[("out", true), ("quiet", false)]].concat();
    let added: [&OsStr; 3] = ["--quiet".as_ref(), "--out".as_ref(), out.as_ref()];
    build.run(&arguments_without(words, "bench", &left_out, &added))?;
    let rows = read_rows(&out).map_err(bench_failure)?;
    Ok(rows.into_iter().map(|row| Row { session: Some(session.to_owned()), ..row }).collect())
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

/// A table that prints its rows as they arrive: bench and point, and the figures below them, or all in one
/// line if it is wide.
struct Table {
    wide: bool,
    bench_width: usize,
    point_width: usize,
}

/// Columns of figures with their widths, and true for those of a wide table alone.
const FIGURES: [(&str, usize, bool); 14] = [
    ("median", 9, false),
    ("mean", 9, false),
    ("max", 9, false),
    ("total", 9, true),
    ("iqr", 8, false),
    ("outliers", 9, false),
    ("cold", 9, true),
    ("host", 9, true),
    ("ns/element", 11, false),
    ("GB/s", 8, false),
    ("% copy", 7, false),
    ("% peak", 7, true),
    ("samples", 8, false),
    ("stopped because", 16, true),
];

impl Table {
    fn new(args: &BenchArgs, planned: &[Planned<'_>]) -> Self {
        let widest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0).max(5);
        Self {
            wide: args.compare.wide,
            bench_width: widest(&mut planned.iter().map(|planned| planned.bench.id().len())),
            point_width: widest(&mut planned.iter().map(|planned| planned.point.to_string().len())),
        }
    }

    fn columns(&self, bench: &str, point: &str, figures: [&str; 14]) -> String {
        let shown = FIGURES.iter().zip(figures).filter(|((_, _, of_wide), _)| self.wide || !of_wide);
        let figures: String = shown.map(|((_, width, _), figure)| format!(" {figure:>width$}")).collect();
        if self.wide {
            let (b, p) = (self.bench_width, self.point_width);
            return format!("{bench:<b$}  {point:<p$} {figures}\n");
        }
        format!("{}\n {figures}\n", label(bench, point))
    }

    fn header(&self) -> String {
        self.columns("bench", "point", FIGURES.map(|(name, _, _)| name))
    }

    fn rows(&self, rows: &[&Row]) -> String {
        self.header() + &rows.iter().map(|row| self.line(row)).collect::<String>()
    }

    fn line(&self, row: &Row) -> String {
        let percent =
            |share: Option<f64>| share.map_or("–".to_owned(), |share| format!("{:.1}", 100.0 * share));
        let spread = Spread::of(&row.samples_ns);
        let iqr = if row.median_ns > 0.0 { 100.0 * row.iqr_ns / row.median_ns } else { 0.0 };
        self.columns(
            &row.bench,
            &row.point.to_string(),
            [
                &time(row.median_ns),
                &time(spread.mean),
                &time(spread.max),
                &time(spread.total),
                &format!("{iqr:.1} %"),
                &spread.outliers.to_string(),
                &row.cold_median_ns.map_or("–".to_owned(), time),
                &row.host_median_ns.map_or("–".to_owned(), time),
                &row.ns_per_element().map_or("–".to_owned(), |ns| format!("{ns:.3}")),
                &row.gb_per_s.map_or("–".to_owned(), |rate| format!("{rate:.2}")),
                &percent(row.share_of_copy),
                &percent(row.share_of_peak),
                &row.samples_ns.len().to_string(),
                &row.stopped_because.to_string(),
            ],
        )
    }
}

/// Formats a value with three digits and a unit.
fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (1e-3 * ns, "µs"),
        ns if ns < 1e9 => (1e-6 * ns, "ms"),
        _ => (1e-9 * ns, "s"),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}

/// Returns the name of a point: two lines if it is long.
fn label(bench: &str, point: &str) -> String {
    let gap = if bench.len() + point.len() < MAX_WIDTH { " " } else { "\n  " };
    format!("{bench}{gap}{point}")
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

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (ns, text) in [
            (0.0, "0.00 ns"),
            (999.0, "999 ns"),
            (1234.0, "1.23 µs"),
            (56_780.0, "56.8 µs"),
            (2.5e9, "2.50 s"),
        ] {
            assert_eq!(time(ns), text);
        }
    }
}
