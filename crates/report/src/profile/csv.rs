//! A profile as CSV.

use super::{CounterFact, KernelBound, Profile, ProfileRow};
use frazil_io::csv;

/// Columns, with their units.
const HEADER: &str = "kind,position,name,occurrence,calls,empty calls,min [µs],median [µs],mean [µs],\
    p95 [µs],max [µs],outliers,typical total [µs],empty total [µs],\
    share,bytes per call,rate [GB/s],share of copy,\
    bound by,of bytes,of flops,of launch,beyond";

/// Formats kernels, passes and the step as CSV, with one line each: `kind` is `kernel`, `pass` or `step`.
/// Times are those of active calls, fractions are from 0 to 1, and a field without a value is empty. Each
/// hardware counter has a column at the end: its mean over active calls.
pub fn profile_csv(profile: &Profile) -> String {
    let bounds = profile.bounds();
    let n_counters = profile.counters.as_ref().map_or(0, |measured| measured.counters.len());
    // A line of cells, and after a comma each those of the counters.
    let with_counters = |line: String, values: Option<&Vec<Option<f64>>>| match n_counters {
        0 => line,
        n => {
            let none = vec![None; n];
            let cell = |value: &Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            format!("{},{}", line.trim_end(), csv::line(values.unwrap_or(&none).iter().map(cell)))
        }
    };
    let kernels = profile.rows.iter().map(|row| {
        let bound = bounds.iter().find(|bound| bound.kernel == row.kernel);
        let counters = profile.counters.as_ref().and_then(|measured| measured.kernels.get(&row.kernel));
        with_counters(line(["kernel", "", &row.kernel, ""], row, bound), counters)
    });
    let passes = profile.passes.iter().enumerate().map(|(i, pass)| {
        let (position, occurrence) = (pass.position.to_string(), pass.occurrence.to_string());
        let counters = profile.counters.as_ref().and_then(|measured| measured.passes.get(i));
        with_counters(line(["pass", &position, &pass.row.kernel, &occurrence], &pass.row, None), counters)
    });
    let mut text = match &profile.counters {
        Some(measured) if n_counters > 0 => {
            format!("{HEADER},{}", csv::line(measured.counters.iter().map(CounterFact::label)))
        }
        _ => format!("{HEADER}\n"),
    };
    text.extend(kernels.chain(passes));
    let mut steps = profile.step_samples_ns.clone();
    steps.sort_unstable();
    if let Some(median_ns) = profile.step_median_ns() {
        let [min, median, max] = [steps[0], median_ns, steps[steps.len() - 1]].map(us);
        let step = format!("step,,step,,{},,{min},{median},,,{max}{}\n", steps.len(), ",".repeat(12));
        text += &with_counters(step, None);
    }
    text
}

fn us(ns: u64) -> String {
    format!("{:.3}", ns as f64 / 1e3)
}

fn line(place: [&str; 4], row: &ProfileRow, bound: Option<&KernelBound>) -> String {
    let active = |ns: u64| if row.calls > 0 { us(ns) } else { String::new() };
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
    let mut cells: Vec<String> = place.map(str::to_owned).to_vec();
    cells.extend([row.calls, row.empty.calls].map(|n| n.to_string()));
    cells.extend([row.min_ns, row.median_ns, row.mean_ns, row.p95_ns, row.max_ns].map(active));
    cells.push(row.outliers.to_string());
    cells.extend([row.typical_ns, row.empty.typical_ns()].map(us));
    cells.extend([Some(row.share), row.bytes_per_call(), row.gb_per_s, row.share_of_copy].map(number));
    cells.push(bound.map_or_else(String::new, |bound| bound.limit.to_string()));
    let fractions = bound.map_or([None; 4], |b| [b.of_bytes, b.of_flops, b.of_launch, Some(b.beyond)]);
    cells.extend(fractions.map(number));
    cells.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::tests::profile;
    use super::*;

    #[test]
    fn counters_are_the_last_columns() {
        let text = profile_csv(&super::super::counters::tests::counted());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with(",beyond,\"VRAM read, all [B]\",Waves"), "{text}");
        assert!(lines[1].starts_with("kernel,,pbd.lambda,") && lines[1].ends_with(",1234.5,"), "{text}");
        assert!(lines[3].starts_with("pass,0,pbd.lambda,") && lines[3].ends_with(",1234.5,"), "{text}");
        let cells: Vec<_> = lines[2..].iter().map(|line| line.split(',').count()).collect();
        assert_eq!(cells, [HEADER.split(',').count() + 2; 4], "{text}");
    }

    #[test]
    fn every_line_has_the_columns_of_the_header() {
        let mut profile = profile();
        profile.passes[1].row.calls = 0;
        let text = profile_csv(&profile);
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{text}");
        let kinds: Vec<_> = lines[1..].iter().map(|line| (line[0], line[2])).collect();
        let sort = "sort <&\"'>";
        let expected = [
            ("kernel", "pbd.lambda"),
            ("kernel", sort),
            ("pass", "pbd.lambda"),
            ("pass", sort),
            ("step", "step"),
        ];
        assert_eq!(kinds, expected);
        let at = |line: usize, name: &str| lines[line][lines[0].iter().position(|n| *n == name).unwrap()];
        assert_eq!((at(1, "calls"), at(1, "min [µs]"), at(1, "bound by")), ("20", "100.000", "latency"));
        assert_eq!((at(4, "median [µs]"), at(4, "occurrence")), ("", "1"), "a pass without an active call");
        assert_eq!((at(5, "calls"), at(5, "median [µs]")), ("20", "120.090"));
    }
}
