//! `frazil bench`: measures primitives and steps, and detects regressions.

use crate::args::BenchArgs;
use crate::device;
use crate::failure::Failure;
use crate::run::GIT_COMMIT;
use crate::say;
use frazil_bench::{
    Bench, Planned, Profile, Row, RowWriter, Session, Verdicts, baseline, benches, compare_rows, plan, select,
};
use frazil_report::Verdict;
use std::fmt::Write;
use std::path::Path;

/// Maximum number of regressions that the error names; the table has all of them.
const MAX_NAMED: usize = 5;

/// Measures the requested points, prints a table, appends rows to a file, and compares them with those of an
/// earlier file.
pub fn bench(args: &BenchArgs, validation: bool) -> Result<(), Failure> {
    let chosen = select(benches::all(), &args.filters)?;
    if args.list {
        return say::data(&chosen.iter().map(|bench| entry(*bench)).collect::<String>());
    }
    let profile = if args.smoke { Profile::Smoke } else { Profile::Full };
    let planned = plan(&chosen, &args.axes, profile)?;
    let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
    let then = args.against.as_ref().map(|path| baseline(path, &device, &planned)).transpose()?;
    let mut writer = RowWriter::open(&args.out)?;
    let session = Session::new(&device, GIT_COMMIT.map(str::to_owned))?;

    let print = |text: &str| if args.quiet { Ok(()) } else { say::data(text) };
    print(&format!(
        "{} points on {}, subgroups of {}; copy {:.1} GB/s\n",
        planned.len(),
        device::describe(device.info()),
        device.capabilities().subgroup_size,
        session.copy_gb_per_s()
    ))?;
    if device.is_software() && !args.quiet {
        say::note(device::SOFTWARE_WARNING);
    }
    let table = Table::new(&planned);
    print(&table.header())?;
    let mut rows = Vec::with_capacity(planned.len());
    let mut measure = |planned: &Planned<'_>| -> Result<Row, Failure> {
        let row = session.measure(planned.bench, &planned.point, profile)?;
        // A full disk is not bad input.
        writer.append(&row).map_err(Failure::other)?;
        print(&table.line(&row))?;
        Ok(row)
    };
    for planned in &planned {
        rows.push(measure(planned)?);
    }
    if let Some(then) = &then {
        // Other load on the machine slows neighbouring samples alike, so that they agree on a wrong time:
        // slower points are measured again, and the second time counts.
        let slower = |row: &Row| {
            compare_rows(then, std::slice::from_ref(row), args.tolerance).of(Verdict::Slower).count() > 0
        };
        for (row, planned) in rows.iter_mut().zip(&planned).filter(|(row, _)| slower(row)) {
            *row = measure(planned)?;
        }
    }
    device.check_validation()?;
    // If the cache cannot be written, only the next start takes longer.
    let _ = device.save_pipeline_cache();
    if !args.quiet {
        say::note(format_args!("appended the rows to {}", args.out.display()));
    }
    match (&args.against, then) {
        (Some(path), Some(then)) => {
            let mut verdicts = compare_rows(&then, &rows, args.tolerance);
            // Benches that were not requested are not missing.
            verdicts.only_then.retain(|(id, _)| chosen.iter().any(|bench| bench.id() == id));
            print(&comparison(&verdicts, path, args.tolerance))?;
            no_regression(&verdicts, path)
        }
        _ => Ok(()),
    }
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

/// A table that prints its rows as they arrive.
struct Table {
    bench_width: usize,
    point_width: usize,
}

impl Table {
    fn new(planned: &[Planned<'_>]) -> Self {
        let widest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0).max(5);
        Self {
            bench_width: widest(&mut planned.iter().map(|planned| planned.bench.id().len())),
            point_width: widest(&mut planned.iter().map(|planned| planned.point.to_string().len())),
        }
    }

    fn columns(&self, bench: &str, point: &str, figures: [&str; 10]) -> String {
        let [median, iqr, cold, host, each, rate, copy, peak, samples, stopped] = figures;
        format!(
            "{bench:<b$}  {point:<p$}  {median:>9} {iqr:>7} {cold:>9} {host:>9} {each:>10} {rate:>8} {copy:>7} {peak:>7} {samples:>7}  {stopped}\n",
            b = self.bench_width,
            p = self.point_width
        )
    }

    fn header(&self) -> String {
        let figures = [
            "median",
            "iqr",
            "cold",
            "host",
            "ns/element",
            "GB/s",
            "% copy",
            "% peak",
            "samples",
            "stopped because",
        ];
        self.columns("bench", "point", figures)
    }

    fn line(&self, row: &Row) -> String {
        let percent =
            |share: Option<f64>| share.map_or("–".to_owned(), |share| format!("{:.1}", 100.0 * share));
        self.columns(
            &row.bench,
            &row.point.to_string(),
            [
                &time(row.median_ns),
                &format!(
                    "{:.1} %",
                    if row.median_ns > 0.0 { 100.0 * row.iqr_ns / row.median_ns } else { 0.0 }
                ),
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

/// Formats the results of the comparison.
fn comparison(verdicts: &Verdicts, path: &Path, tolerance: f64) -> String {
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
    for compared in &verdicts.compared {
        let found = &compared.comparison;
        let _ = writeln!(
            text,
            "{:<8} {:>6.3}x baseline ({:.3} to {:.3})  {} {}",
            found.verdict, found.ratio, found.interval[0], found.interval[1], compared.bench, compared.point
        );
    }
    for (side, points) in [("current", &verdicts.only_now), ("baseline", &verdicts.only_then)] {
        for (bench, point) in points {
            let _ = writeln!(text, "in the {side} measurement only: {bench} {point}");
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
