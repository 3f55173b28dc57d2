//! Rows of a bench as a table or as CSV.

use super::args::BenchArgs;
use frazil_bench::Row;
use frazil_report::{Spread, time};

/// Width of the terminal that tables are made for, unless `--wide` is given.
const MAX_WIDTH: usize = 100;

/// A table that prints its rows as they arrive: bench and point, and the figures below them, or all in one
/// line if it is wide.
pub struct Table {
    wide: bool,
    csv: bool,
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
    /// Makes a table for these benches and points.
    pub fn new(args: &BenchArgs, benches: &[&str], points: &[String]) -> Self {
        let widest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0).max(5);
        Self {
            wide: args.compare.wide,
            csv: args.csv,
            bench_width: widest(&mut benches.iter().map(|bench| bench.len())),
            point_width: widest(&mut points.iter().map(String::len)),
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

    /// Formats the names of the columns.
    pub fn header(&self) -> String {
        if self.csv {
            return format!("{CSV_HEADER}\n");
        }
        self.columns("bench", "point", FIGURES.map(|(name, _, _)| name))
    }

    /// Formats the header and all rows.
    pub fn rows(&self, rows: &[&Row]) -> String {
        self.header() + &rows.iter().map(|row| self.line(row)).collect::<String>()
    }

    /// Formats a row.
    pub fn line(&self, row: &Row) -> String {
        if self.csv {
            return csv_line(row);
        }
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

const CSV_HEADER: &str = "bench,point,elements,samples,median [ns],min [ns],mean [ns],max [ns],iqr [ns],\
    cold median [ns],host median [ns],bytes minimum,bytes moved,rate [GB/s],copy [GB/s],stopped because";

/// Formats a row as a line of CSV; fields without a value are empty.
fn csv_line(row: &Row) -> String {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let spread = Spread::of(&row.samples_ns);
    let cells = [
        row.bench.clone(),
        // Points are words and numbers with an equals sign between, and have no comma.
        row.point.to_string(),
        row.elements.to_string(),
        row.samples_ns.len().to_string(),
        row.median_ns.to_string(),
        row.min_ns.to_string(),
        spread.mean.to_string(),
        spread.max.to_string(),
        row.iqr_ns.to_string(),
        number(row.cold_median_ns),
        number(row.host_median_ns),
        row.bytes_minimum.to_string(),
        row.bytes_moved.map_or_else(String::new, |bytes| bytes.to_string()),
        number(row.gb_per_s),
        row.copy_gb_per_s.to_string(),
        row.stopped_because.to_string(),
    ];
    cells.join(",") + "\n"
}

/// Returns the name of a point: two lines if it is long.
pub fn label(bench: &str, point: &str) -> String {
    let gap = if bench.len() + point.len() < MAX_WIDTH { " " } else { "\n  " };
    format!("{bench}{gap}{point}")
}
