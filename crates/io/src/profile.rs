//! `profile.json`: what each kernel cost, beside what the device can do.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::json;

/// The measured time of one kernel over a run. One gigabyte is 10⁹ bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileRow {
    /// The kernel's name.
    pub kernel: String,
    /// How often it ran.
    pub calls: u64,
    /// Device time of all calls, in nanoseconds.
    pub total_ns: u64,
    /// The fastest call, in nanoseconds.
    pub min_ns: u64,
    /// The median call (nearest rank), in nanoseconds.
    pub median_ns: u64,
    /// The call that 95 % do not exceed (nearest rank), in nanoseconds.
    pub p95_ns: u64,
    /// Its part of the device time of all kernels, 0 to 1.
    pub share: f64,
    /// Bytes that all calls together must move, if known.
    pub bytes: Option<u64>,
    /// `bytes` over `total_ns`, in GB/s.
    pub gb_per_s: Option<f64>,
    /// `gb_per_s` over the device's own copy bandwidth, 0 to about 1.
    pub share_of_copy: Option<f64>,
}

/// The raw measurements of one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSamples {
    /// The kernel's name.
    pub kernel: String,
    /// Device time of each call, in nanoseconds.
    pub durations_ns: Vec<u64>,
    /// Bytes that all calls together must move, if known.
    pub bytes: Option<u64>,
}

/// A profile of a run: where, what, and one row per kernel, the costliest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// [`Profile::FORMAT_VERSION`].
    pub format_version: u32,
    /// The scene's name.
    pub scene: String,
    /// The device's name.
    pub device: String,
    /// The driver's name and version.
    pub driver: String,
    /// The commit frazil was built from, if known.
    pub git_commit: Option<String>,
    /// The number of particles at the end.
    pub n_particles: u64,
    /// Steps measured.
    pub steps: u64,
    /// The hash of the final state, if it was taken.
    pub state_hash: Option<String>,
    /// What the device reaches copying a buffer, bytes read and written counted, in GB/s; none if not measured.
    pub copy_gb_per_s: Option<f64>,
    /// Part of the time from the first to the last pass in which the device had ended one submission and not begun the next,
    /// 0 to 1; none if not measured.
    pub idle_between_submissions: Option<f64>,
    /// Time the host spent on recording and submitting over the same time; none if not measured.
    pub host_busy: Option<f64>,
    /// One row per kernel; see [`profile_rows`].
    pub rows: Vec<ProfileRow>,
    /// The duration of every call, by kernel, in nanoseconds.
    pub samples_ns: BTreeMap<String, Vec<u64>>,
}

impl Profile {
    /// The version of `profile.json` that this build writes and reads.
    pub const FORMAT_VERSION: u32 = 1;

    /// Writes the profile. The file appears whole or not at all.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path.
    pub fn write(&self, path: &Path) -> Result<()> {
        json::write(path, self)
    }

    /// Reads a profile.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Json`] with line and column; [`Error::Version`].
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
        let profile: Self =
            serde_json::from_str(&text).map_err(|cause| Error::Json { path: path.to_owned(), cause })?;
        if profile.format_version != Self::FORMAT_VERSION {
            let (path, expected, found) = (path.to_owned(), Self::FORMAT_VERSION, profile.format_version);
            return Err(Error::Version { kind: "profile.json", path, expected, found });
        }
        Ok(profile)
    }
}

/// Sums up the measurements, the costliest kernel first; a kernel without a call has no row.
///
/// `copy_gb_per_s` is the device's own copy bandwidth in GB/s.
pub fn profile_rows(samples: &[KernelSamples], copy_gb_per_s: Option<f64>) -> Vec<ProfileRow> {
    let device_ns: u64 = samples.iter().flat_map(|kernel| &kernel.durations_ns).sum();
    let mut rows: Vec<_> = samples
        .iter()
        .filter(|kernel| !kernel.durations_ns.is_empty())
        .map(|kernel| {
            let mut sorted = kernel.durations_ns.clone();
            sorted.sort_unstable();
            let total_ns: u64 = sorted.iter().sum();
            let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
            // Bytes per nanosecond are gigabytes per second.
            let gb_per_s = kernel.bytes.and_then(|bytes| ratio(bytes as f64, total_ns as f64));
            ProfileRow {
                kernel: kernel.kernel.clone(),
                calls: sorted.len() as u64,
                total_ns,
                min_ns: sorted[0],
                median_ns: percentile(&sorted, 50),
                p95_ns: percentile(&sorted, 95),
                share: ratio(total_ns as f64, device_ns as f64).unwrap_or(0.0),
                bytes: kernel.bytes,
                gb_per_s,
                share_of_copy: gb_per_s.zip(copy_gb_per_s).and_then(|(own, copy)| ratio(own, copy)),
            }
        })
        .collect();
    rows.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.kernel.cmp(&b.kernel)));
    rows
}

/// The smallest value that at least `percent` of all values do not exceed; `sorted` holds at least one.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted[rank - 1]
}

/// How a table is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableStyle {
    /// Columns aligned by blanks, for a terminal.
    Plain,
    /// A Markdown table, aligned too.
    Markdown,
}

/// The rows as a table with a header and one line per kernel, each ended by a line break.
pub fn profile_table(rows: &[ProfileRow], style: TableStyle) -> String {
    let header = [
        "kernel",
        "calls",
        "total [ms]",
        "min [µs]",
        "median [µs]",
        "p95 [µs]",
        "share [%]",
        "GB/s",
        "of copy [%]",
    ];
    let cells = |row: &ProfileRow| {
        let us = |ns: u64| format!("{:.1}", ns as f64 / 1e3);
        let or_dash =
            |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
        [
            row.kernel.clone(),
            row.calls.to_string(),
            format!("{:.3}", row.total_ns as f64 / 1e6),
            us(row.min_ns),
            us(row.median_ns),
            us(row.p95_ns),
            format!("{:.1}", row.share * 100.0),
            or_dash(row.gb_per_s),
            or_dash(row.share_of_copy.map(|share| share * 100.0)),
        ]
    };
    let mut lines = vec![header.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    let widths: [usize; 9] =
        std::array::from_fn(|c| lines.iter().map(|line| line[c].chars().count()).max().unwrap_or(0));

    let aligned = |line: &[String; 9]| -> Vec<String> {
        let pad = |(c, (cell, width)): (usize, (&String, &usize))| {
            if c == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        };
        line.iter().zip(&widths).enumerate().map(pad).collect()
    };
    let mut text = String::new();
    for (i, line) in lines.iter().enumerate() {
        match style {
            TableStyle::Plain => text.push_str(aligned(line).join("  ").trim_end()),
            TableStyle::Markdown => text.push_str(&format!("| {} |", aligned(line).join(" | "))),
        }
        text.push('\n');
        if i == 0 && style == TableStyle::Markdown {
            let rule = |(c, width): (usize, &usize)| {
                if c == 0 { "-".repeat(*width) } else { format!("{}:", "-".repeat(width - 1)) }
            };
            let rules: Vec<_> = widths.iter().enumerate().map(rule).collect();
            text.push_str(&format!("| {} |\n", rules.join(" | ")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<ProfileRow> {
        let kernel = |name: &str, durations_ns: Vec<u64>, bytes| KernelSamples {
            kernel: name.to_owned(),
            durations_ns,
            bytes,
        };
        let samples = [
            kernel("grid.sort", (1..=20).map(|i| i * 1000).rev().collect(), None),
            kernel("pbd.lambda", vec![300_000, 100_000, 390_000], Some(7_900_000)),
            kernel("never.called", vec![], Some(1)),
        ];
        profile_rows(&samples, Some(20.0))
    }

    #[test]
    fn rows_are_sorted_by_cost_and_hold_shares_ranks_and_rates() {
        let rows = rows();
        assert_eq!(
            rows.iter().map(|row| row.kernel.as_str()).collect::<Vec<_>>(),
            ["pbd.lambda", "grid.sort"]
        );
        let (lambda, sort) = (&rows[0], &rows[1]);
        assert_eq!((lambda.calls, lambda.total_ns, lambda.min_ns), (3, 790_000, 100_000));
        assert_eq!((lambda.median_ns, lambda.p95_ns, lambda.share), (300_000, 390_000, 0.79));
        assert_eq!((lambda.gb_per_s, lambda.share_of_copy), (Some(10.0), Some(0.5)));
        assert_eq!((sort.median_ns, sort.p95_ns, sort.gb_per_s), (10_000, 19_000, None));
    }

    #[test]
    fn tables_align() {
        let plain = profile_table(&rows(), TableStyle::Plain);
        assert_eq!(
            plain,
            "\
kernel      calls  total [ms]  min [µs]  median [µs]  p95 [µs]  share [%]  GB/s  of copy [%]
pbd.lambda      3       0.790     100.0        300.0     390.0       79.0  10.0         50.0
grid.sort      20       0.210       1.0         10.0      19.0       21.0     -            -
"
        );
        let markdown = profile_table(&rows(), TableStyle::Markdown);
        let widths: Vec<_> = markdown.lines().map(|line| line.chars().count()).collect();
        assert_eq!(widths.len(), 4);
        assert!(widths.iter().all(|width| *width == widths[0]), "{markdown}");
        assert!(markdown.lines().nth(1).unwrap().starts_with("| ---------- | ----: |"), "{markdown}");
    }

    #[test]
    fn a_profile_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("profile.json");
        let profile = Profile {
            format_version: Profile::FORMAT_VERSION,
            scene: "dam_break".to_owned(),
            device: "llvmpipe".to_owned(),
            driver: "lavapipe".to_owned(),
            git_commit: Some("abc".to_owned()),
            n_particles: 4096,
            steps: 20,
            state_hash: None,
            copy_gb_per_s: Some(20.0),
            idle_between_submissions: Some(0.001),
            host_busy: None,
            rows: rows(),
            samples_ns: BTreeMap::from([("pbd.lambda".to_owned(), vec![300_000, 100_000, 390_000])]),
        };
        profile.write(&path).unwrap();
        assert_eq!(Profile::read(&path).unwrap(), profile);
    }
}
