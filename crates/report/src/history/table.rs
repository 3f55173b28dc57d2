//! A history as tables for a terminal and as CSV.

use frazil_io::calendar::date_and_time;
use frazil_io::csv;

use super::series::{HistoryEnvironment, HistorySeries, HistoryStep};
use crate::profile::{TableStyle, fitted_table, table, time};

/// Number of the newest runs that the trend shows.
const TREND: usize = 24;

/// Formats a heading for each environment, a row for each series and one for each step; with `runs` also one
/// for each run.
pub fn history_table(series: &[HistorySeries], runs: bool, wide: bool, style: TableStyle) -> String {
    let mut text = String::new();
    for of_environment in series.chunk_by(|a, b| a.environment == b.environment) {
        let Some(first) = of_environment.first() else { continue };
        if !text.is_empty() {
            text.push('\n');
        }
        text += &heading(&first.environment);
        let header = ["series", "runs", "commits", "first", "last", "change [%]", "steps", "trend"];
        let lines: Vec<_> = of_environment.iter().map(series_line).collect();
        text += &format!("\n{}", fitted_table(&header, &lines, &["commits", "first"], wide, style));
        let steps: Vec<_> = of_environment
            .iter()
            .flat_map(|series| series.steps.iter().map(|step| step_line(series, step)))
            .collect();
        if !steps.is_empty() {
            let header =
                ["step", "before", "after", "ratio", "runs", "commits", "confidence [%]", "copy", "verdict"];
            text += &format!("\n{}", fitted_table(&header, &steps, &["copy", "runs"], wide, style));
        }
        if runs {
            for series in of_environment {
                text += &format!("\n{}", run_table(series, wide, style));
            }
        }
    }
    text
}

/// Returns machine, device and settings, each on a line.
pub(super) fn heading(environment: &HistoryEnvironment) -> String {
    let host = &environment.host;
    format!(
        "{}: {}, {} processors\n{}, {}\n{}\n",
        host.name,
        host.cpu,
        host.processors,
        environment.device,
        environment.driver,
        environment.settings()
    )
}

fn series_line(series: &HistorySeries) -> Vec<String> {
    let segments = series.segments();
    let level = |segment: Option<&std::ops::Range<usize>>| {
        segment.map_or(f64::NAN, |runs| series.level_ns(runs.clone()))
    };
    let [first, last] = [level(segments.first()), level(segments.last())];
    let mut commits: Vec<_> = series.runs.iter().filter_map(|run| run.commit.as_ref()).collect();
    commits.sort_unstable();
    commits.dedup();
    vec![
        series.label(),
        series.runs.len().to_string(),
        commits.len().to_string(),
        time(first),
        time(last),
        format!("{:+.1}", 100.0 * (last / first - 1.0)),
        if series.can_find { series.steps.len().to_string() } else { "too few runs".to_owned() },
        trend(series),
    ]
}

/// Returns the newest times as bars of a character, from the shortest to the longest of them.
fn trend(series: &HistorySeries) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let newest = &series.runs[series.runs.len().saturating_sub(TREND)..];
    let times = || newest.iter().map(|run| run.entry.time_ns);
    let (min, max) = times().fold((f64::INFINITY, 0.0_f64), |(min, max), ns| (min.min(ns), max.max(ns)));
    // A range of less than a tenth is shown as part of one.
    let range = (max - min).max(0.1 * min);
    times().map(|ns| BARS[(((ns - min) / range * 7.99) as usize).min(7)]).collect()
}

pub(super) fn step_line(series: &HistorySeries, step: &HistoryStep) -> Vec<String> {
    let [before, after] = step.times_ns.map(time);
    vec![
        series.label(),
        before,
        after,
        format!("{:.3}", step.ratio),
        format!("{} → {}", step.runs[0], step.runs[1]),
        commits(series, step),
        format!("{:.2}", 100.0 * step.confidence),
        step.copy_ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}")),
        step.verdict.to_string(),
    ]
}

/// Returns the commits between which a step is; one if it is between two runs of the same build.
pub(super) fn commits(series: &HistorySeries, step: &HistoryStep) -> String {
    let [before, after] = [step.at - 1, step.at].map(|run| series.runs[run].short_commit());
    if before == after { format!("within {before}") } else { format!("{before}..{after}") }
}

fn run_table(series: &HistorySeries, wide: bool, style: TableStyle) -> String {
    let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.1}", 100.0 * share));
    let segments = series.segments();
    let line = |(i, run): (usize, &super::series::HistoryRun)| {
        let segment = segments.iter().position(|runs| runs.contains(&i)).unwrap_or(0);
        let [q1, q3] = run.entry.quartiles_ns.map(time);
        [
            date_and_time(run.unix_time_s),
            run.short_commit(),
            time(run.entry.time_ns),
            time(run.entry.median_ns),
            format!("{q1} – {q3}"),
            run.entry.samples.to_string(),
            run.entry.bytes.map_or("-".to_owned(), |bytes| format!("{:.1}", bytes / 1e3)),
            percent(run.entry.share_of_copy),
            (segment + 1).to_string(),
        ]
    };
    let label = series.label();
    let header =
        [&*label, "commit", "time", "median", "quartiles", "samples", "kB", "of copy [%]", "segment"];
    let lines: Vec<_> = series.runs.iter().enumerate().map(line).collect();
    match style {
        TableStyle::Plain => fitted_table(&header, &lines, &["kB", "samples", "quartiles"], wide, style),
        TableStyle::Markdown => table(&header, &lines, style),
    }
}

/// Columns, with their units.
const HEADER: [&str; 18] = [
    "host",
    "cpu",
    "device",
    "driver",
    "settings",
    "name",
    "point",
    "date",
    "commit",
    "time [ns]",
    "median [ns]",
    "first quartile [ns]",
    "third quartile [ns]",
    "samples",
    "bytes",
    "rate [GB/s]",
    "share of copy",
    "segment",
];

/// Formats a line of CSV for each run of each series; `segment` counts the runs' stretches without a step,
/// from 1. A field without a value is empty.
pub fn history_csv(series: &[HistorySeries]) -> String {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let mut text = csv::line(HEADER.map(str::to_owned));
    for series in series {
        let environment = &series.environment;
        for (segment, runs) in series.segments().into_iter().enumerate() {
            for run in &series.runs[runs] {
                let entry = &run.entry;
                let [q1, q3] = entry.quartiles_ns;
                text += &csv::line([
                    environment.host.name.clone(),
                    environment.host.cpu.clone(),
                    environment.device.clone(),
                    environment.driver.clone(),
                    environment.settings(),
                    series.name.clone(),
                    series.point.clone(),
                    date_and_time(run.unix_time_s),
                    run.commit.clone().unwrap_or_default(),
                    entry.time_ns.to_string(),
                    entry.median_ns.to_string(),
                    q1.to_string(),
                    q3.to_string(),
                    entry.samples.to_string(),
                    number(entry.bytes),
                    number(entry.gb_per_s),
                    number(entry.share_of_copy),
                    (segment + 1).to_string(),
                ]);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::series::tests::{all, history};
    use super::*;

    #[test]
    fn tables_have_series_steps_and_runs() {
        let series = all(&history());
        let text = history_table(&series, false, false, TableStyle::Plain);
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
        assert!(text.starts_with("box: a CPU, 2 processors\nllvmpipe (LLVM 15, 256 bits), llvmpipe, Mesa\n"));
        let words: Vec<_> = line("pbd.lambda").split_whitespace().collect();
        let (trend, figures) = words.split_last().unwrap();
        assert_eq!(figures, ["pbd.lambda", "22", "2", "101", "ns", "151", "ns", "+49.5", "1"], "{text}");
        assert_eq!(trend.chars().count(), 22);
        assert!(trend.starts_with("▁▁▁") && trend.ends_with("█"), "{trend}");
        assert!(text.contains("aaaaaaaa..bbbbbbbb") && text.contains("1.495") && text.contains("slower"));
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let runs = history_table(&series, true, true, TableStyle::Plain);
        assert!(runs.contains("1970-01-01T00:16:40Z") && runs.contains("segment"), "{runs}");
        let row = runs.lines().find(|line| line.contains("T00:33:32Z")).unwrap();
        assert!(row.ends_with("  2") || row.ends_with("  1"), "{row}");
    }

    #[test]
    fn csv_has_a_line_for_each_run() {
        let series = all(&history());
        let text = history_csv(&series);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 44);
        assert!(lines[0].starts_with("host,cpu,device,driver,settings,name,point,date,commit,time [ns],"));
        let last = lines[44];
        assert!(
            last.starts_with(
                "box,a CPU,\"llvmpipe (LLVM 15, 256 bits)\",\"llvmpipe, Mesa\",scene=dam_break,pbd.lambda,,"
            ),
            "{last}"
        );
        assert!(last.ends_with(",40,8000,53.333333333333336,2.6666666666666665,2"), "{last}");
        assert_eq!(history_csv(&[]).lines().count(), 1);
    }
}
