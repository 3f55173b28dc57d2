//! The parts of a profile as tables.

use super::{
    Candidate, HostGaps, KernelBound, KernelComparison, KernelFact, Memory, PassRow, ProfileComparison,
    ProfileRow, TableStyle, Throughput, Vary, fitted_table, table,
};

/// Formats nanoseconds as microseconds.
fn us(ns: u64) -> String {
    format!("{:.1}", ns as f64 / 1e3)
}

/// Formats bytes as megabytes.
fn mb(bytes: u64) -> String {
    format!("{:.3}", bytes as f64 / 1e6)
}

fn or_dash<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

fn tenths(value: Option<f64>) -> Option<String> {
    value.filter(|v| v.is_finite()).map(|value| format!("{value:.1}"))
}

/// Columns of rows of times beside the first one.
const TIMES: [&str; 13] = [
    "calls",
    "empty",
    "min",
    "median",
    "mean",
    "p95",
    "max",
    "outliers",
    "total [ms]",
    "share [%]",
    "kB/call",
    "GB/s",
    "of copy [%]",
];

/// Columns of times that a narrow table leaves out, the first one first.
const OPTIONAL_TIMES: [&str; 9] =
    ["p95", "min", "kB/call", "mean", "of copy [%]", "GB/s", "calls", "empty", "total [ms]"];

fn calls_and_times(row: &ProfileRow) -> [String; 13] {
    let active = |ns: u64| or_dash((row.calls > 0).then(|| us(ns)));
    [
        row.calls.to_string(),
        row.empty.calls.to_string(),
        active(row.min_ns),
        active(row.median_ns),
        active(row.mean_ns),
        active(row.p95_ns),
        active(row.max_ns),
        row.outliers.to_string(),
        format!("{:.2}", row.total_ns.saturating_add(row.empty.total_ns) as f64 / 1e6),
        format!("{:.1}", row.share * 100.0),
        or_dash(row.bytes_per_call().map(|bytes| format!("{:.1}", bytes / 1e3))),
        or_dash(row.gb_per_s.map(|rate| format!("{rate:.2}"))),
        or_dash(tenths(row.share_of_copy.map(|share| share * 100.0))),
    ]
}

fn time_table(first: &str, lines: &[Vec<String>], wide: bool, style: TableStyle) -> String {
    let header: Vec<&str> = std::iter::once(first).chain(TIMES).collect();
    fitted_table(&header, lines, &OPTIONAL_TIMES, wide, style)
}

/// Formats the kernels as a table with one line per kernel. Times are those of active calls, total and share
/// of all; outliers are calls more than 1.5 interquartile ranges above the third quartile.
pub fn profile_table(rows: &[ProfileRow], wide: bool, style: TableStyle) -> String {
    let line = |row: &ProfileRow| std::iter::once(row.kernel.clone()).chain(calls_and_times(row)).collect();
    time_table("kernel [µs]", &rows.iter().map(line).collect::<Vec<_>>(), wide, style)
}

/// Formats the passes of a step as a table, in its order. Consecutive passes that had no elements in any step
/// are one line, with the median of an empty call.
pub fn pass_table(passes: &[PassRow], wide: bool, style: TableStyle) -> String {
    let line = |part: PassGroup<'_>| -> Vec<String> {
        let (label, cells) = match part {
            PassGroup::Active(pass) => {
                (format!("{:>2} {}", pass.position, pass.label()), calls_and_times(&pass.row))
            }
            PassGroup::Empty(empty) => {
                let merged = merged(empty);
                let mut cells = calls_and_times(&merged);
                cells[3] = us(merged.empty.median_ns);
                (empty_label(empty), cells)
            }
        };
        std::iter::once(label).chain(cells).collect()
    };
    time_table("pass [µs]", &pass_groups(passes).map(line).collect::<Vec<_>>(), wide, style)
}

/// A pass, or consecutive passes without elements in any step.
pub(super) enum PassGroup<'a> {
    Active(&'a PassRow),
    Empty(&'a [PassRow]),
}

/// Returns the passes with those without elements folded.
pub(super) fn pass_groups(passes: &[PassRow]) -> impl Iterator<Item = PassGroup<'_>> {
    passes.chunk_by(|a, b| a.row.calls == 0 && b.row.calls == 0).map(|chunk| match chunk {
        [pass] if pass.row.calls > 0 => PassGroup::Active(pass),
        empty => PassGroup::Empty(empty),
    })
}

/// Returns positions and number of passes without elements.
pub(super) fn empty_label(empty: &[PassRow]) -> String {
    match empty {
        [pass] => format!("{:>2} {}, empty", pass.position, pass.label()),
        [first, .., last] => {
            format!("{:>2}–{} {} empty passes", first.position, last.position, empty.len())
        }
        [] => String::new(),
    }
}

/// Returns the sum of passes without elements; its median is the median of their medians.
pub(super) fn merged(empty: &[PassRow]) -> ProfileRow {
    let sum = |value: fn(&PassRow) -> u64| empty.iter().map(value).fold(0, u64::saturating_add);
    let mut medians: Vec<u64> = empty.iter().map(|pass| pass.row.empty.median_ns).collect();
    medians.sort_unstable();
    let mut row = empty[0].row.clone();
    row.empty.calls = sum(|pass| pass.row.empty.calls);
    row.empty.total_ns = sum(|pass| pass.row.empty.total_ns);
    row.empty.min_ns = empty.iter().map(|pass| pass.row.empty.min_ns).min().unwrap_or(0);
    row.empty.median_ns = medians[medians.len() / 2];
    row.share = empty.iter().map(|pass| pass.row.share).sum();
    row
}

/// Formats what bounds each kernel as a table: fractions of its limits that it reaches, and the share of the
/// time of all kernels that it takes beyond the nearest one.
pub fn bound_table(bounds: &[KernelBound], style: TableStyle) -> String {
    let header = ["kernel", "bound by", "bytes [%]", "flops [%]", "launch [%]", "beyond [%]"];
    let percent = |fraction: Option<f64>| or_dash(tenths(fraction.map(|fraction| 100.0 * fraction)));
    let line = |bound: &KernelBound| {
        [
            bound.kernel.clone(),
            bound.limit.to_string(),
            percent(bound.of_bytes),
            percent(bound.of_flops),
            percent(bound.of_launch),
            percent(Some(bound.beyond)),
        ]
    };
    table(&header, &bounds.iter().map(line).collect::<Vec<_>>(), style)
}

/// Formats the throughput of kernels with counted items as a table with a line per kernel and item.
pub fn throughput_table(throughputs: &[Throughput], wide: bool, style: TableStyle) -> String {
    let header =
        ["kernel", "calls", "item", "M items/s", "GB/s", "of copy [%]", "flop/B", "GFLOP/s", "of peak [%]"];
    let of_kernel = |kernel: &Throughput| -> Vec<[String; 9]> {
        let percent = |share: Option<f64>| or_dash(tenths(share.map(|share| 100.0 * share)));
        let number = |value: Option<f64>| or_dash(value.map(|value| format!("{value:.2}")));
        let line = |(i, (item, rate)): (usize, &(String, f64))| {
            let first = |text: String| if i == 0 { text } else { String::new() };
            [
                first(kernel.kernel.clone()),
                first(kernel.calls.to_string()),
                item.clone(),
                format!("{rate:.1}"),
                first(number(kernel.gb_per_s)),
                first(percent(kernel.share_of_copy)),
                first(number(kernel.flop_per_byte)),
                first(number(kernel.gflop_per_s)),
                first(percent(kernel.share_of_peak)),
            ]
        };
        kernel.items.iter().enumerate().map(line).collect()
    };
    let lines = throughputs.iter().flat_map(of_kernel).collect::<Vec<_>>();
    fitted_table(&header, &lines, &["calls", "GB/s", "of copy [%]"], wide, style)
}

impl PassRow {
    /// Returns the kernel's name, with the index of the pass if it has several.
    pub fn label(&self) -> String {
        match self.occurrences {
            1 => self.row.kernel.clone(),
            all => format!("{} {}/{all}", self.row.kernel, self.occurrence),
        }
    }
}

impl KernelFact {
    /// Returns the kernel's name, with the tunables other than the group size that differ from `others` of
    /// the same name.
    pub fn label(&self, others: &[Self]) -> String {
        let differs = |name: &str, value: u32| {
            others
                .iter()
                .any(|o| o.kernel == self.kernel && o.specialization.get(name).is_some_and(|v| *v != value))
        };
        let differing: Vec<String> = self
            .specialization
            .iter()
            .filter(|(name, value)| *name != "workgroup_size" && differs(name, **value))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if differing.is_empty() {
            self.kernel.clone()
        } else {
            format!("{} {}", self.kernel, differing.join(" "))
        }
    }

    /// Returns the value of a statistic by the driver's name.
    pub fn statistic(&self, name: &str) -> Option<&str> {
        self.driver_statistics.iter().find(|s| s.name == name).map(|s| s.value.as_str())
    }
}

/// Column of compilation results.
pub(crate) struct FactColumn {
    pub name: &'static str,
    pub meaning: &'static str,
    value: fn(&KernelFact) -> Option<String>,
}

fn count(value: Option<u64>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn percent(fraction: Option<f64>) -> Option<String> {
    tenths(fraction.map(|fraction| 100.0 * fraction))
}

const fn fact(
    name: &'static str,
    meaning: &'static str,
    value: fn(&KernelFact) -> Option<String>,
) -> FactColumn {
    FactColumn { name, meaning, value }
}

/// Columns of compilation results.
pub(crate) const FACT_COLUMNS: [FactColumn; 15] = [
    fact("group", "threads of a workgroup", |fact| Some(fact.workgroup_size.to_string())),
    fact("subgroup", "threads of a subgroup", |fact| count(fact.subgroup_size.map(u64::from))),
    fact("registers", "registers of a thread; Intel: of a hardware thread", |fact| count(fact.registers)),
    fact("moves", "values kept in registers of another file, for lack of general ones", |fact| {
        count(fact.register_moves)
    }),
    fact("spills", "registers, or instructions, that spill to memory", |fact| count(fact.spills)),
    fact(
        "scratch [B]",
        "memory for spills and indexed private arrays of a thread; AMD: of a subgroup",
        |fact| count(fact.scratch_bytes),
    ),
    fact("shared [B]", "shared memory of a workgroup", |fact| count(fact.shared_memory_bytes)),
    fact("resident", "subgroups that a processor can hold at once", |fact| count(fact.resident_subgroups)),
    fact("occupancy [%]", "resident subgroups over the processor's maximum", |fact| {
        percent(fact.theoretical_occupancy)
    }),
    fact("groups", "workgroups of a mean dispatch", |fact| tenths(fact.groups)),
    fact("tail [%]", "places for workgroups that stay empty over all waves of a mean dispatch", |fact| {
        percent(fact.tail)
    }),
    fact("code [B]", "size of the code", |fact| count(fact.code_bytes)),
    fact("instructions", "instructions of the code, each once", |fact| count(fact.instructions)),
    fact("latency", "estimated cycles of a subgroup, loops once; NVK: without waits for memory", |fact| {
        count(fact.latency_cycles)
    }),
    fact("1/throughput", "estimated cycles of a subgroup when others hide its latency", |fact| {
        count(fact.inverse_throughput_cycles)
    }),
];

/// Columns that a narrow table leaves out, the first one first.
const OPTIONAL_FACTS: [&str; 9] = [
    "1/throughput",
    "tail [%]",
    "groups",
    "code [B]",
    "subgroup",
    "latency",
    "resident",
    "shared [B]",
    "instructions",
];

/// Formats the compilation results of each kernel as a table; a dash for values that the driver does not
/// report, and no column of dashes alone.
pub fn facts_table(kernels: &[KernelFact], wide: bool, style: TableStyle) -> String {
    let row = |kernel| fact_cells([KernelFact::label(kernel, kernels)], kernel);
    let lines: Vec<Vec<String>> = kernels.iter().map(row).collect();
    labelled_facts(&["kernel"], &lines, wide, style)
}

/// Returns the cells of a row of compilation results, behind its labels.
pub(crate) fn fact_cells<const N: usize>(labels: [String; N], kernel: &KernelFact) -> Vec<String> {
    let cells = FACT_COLUMNS.iter().map(|column| or_dash((column.value)(kernel)));
    labels.into_iter().chain(cells).collect()
}

/// Formats rows of [`fact_cells`], whose labels have these headers, without columns of dashes alone.
pub(crate) fn labelled_facts(
    labels: &[&str],
    lines: &[Vec<String>],
    wide: bool,
    style: TableStyle,
) -> String {
    let header: Vec<&str> =
        labels.iter().copied().chain(FACT_COLUMNS.iter().map(|column| column.name)).collect();
    let is_reported = |&c: &usize| c < labels.len() || lines.iter().any(|line| line[c] != "-");
    let columns: Vec<usize> = (0..header.len()).filter(is_reported).collect();
    let of = |line: &Vec<String>| columns.iter().map(|&c| line[c].clone()).collect::<Vec<String>>();
    let header: Vec<&str> = columns.iter().map(|&c| header[c]).collect();
    let lines: Vec<Vec<String>> = lines.iter().map(of).collect();
    fitted_table(&header, &lines, &OPTIONAL_FACTS, wide, style)
}

/// Formats the `max` largest objects in memory, the rest, and the totals as a table.
pub fn memory_table(memory: &Memory, n_particles: u64, max: usize, style: TableStyle) -> String {
    let header = ["memory", "objects", "now [MB]", "peak [MB]", "B/particle"];
    let a_particle =
        |bytes: u64| or_dash((n_particles > 0).then(|| format!("{:.1}", bytes as f64 / n_particles as f64)));
    let mut lines: Vec<[String; 5]> = memory
        .columns
        .iter()
        .take(max)
        .map(|row| {
            [
                row.name.clone(),
                row.objects.to_string(),
                mb(row.bytes),
                mb(row.bytes_peak),
                a_particle(row.bytes),
            ]
        })
        .collect();
    let rest = &memory.columns[max.min(memory.columns.len())..];
    if !rest.is_empty() {
        let (objects, bytes): (u64, u64) =
            rest.iter().fold((0, 0), |(n, sum), row| (n + row.objects, sum + row.bytes));
        let name = format!("{} more", rest.len());
        lines.push([name, objects.to_string(), mb(bytes), "-".to_owned(), a_particle(bytes)]);
    }
    let objects: u64 = memory.columns.iter().map(|row| row.objects).sum();
    let (now, peak) = (mb(memory.bytes), mb(memory.bytes_peak));
    lines.push(["total".to_owned(), objects.to_string(), now, peak, a_particle(memory.bytes)]);
    table(&header, &lines, style)
}

/// Formats the largest gaps, with the host's activity in them, as a table.
pub fn gap_table(gaps: &HostGaps, style: TableStyle) -> String {
    let line = |gap: &super::Gap| {
        [format!("{:.3}", gap.start_ns as f64 / 1e6), us(gap.duration_ns), gap.host_activity()]
    };
    table(
        &["device idle at [ms]", "for [µs]", "host meanwhile [µs]"],
        &gaps.largest.iter().map(line).collect::<Vec<_>>(),
        style,
    )
}

/// Formats the medians in µs as a table with a line per kernel and a column per value, the best marked by a
/// star; the last lines are the whole step, and its comparison with the best.
pub fn vary_table(vary: &Vary, style: TableStyle) -> String {
    let measured: Vec<_> = vary.candidates.iter().filter(|c| c.refused.is_none()).collect();
    let values: Vec<String> = measured.iter().map(|c| c.value.to_string()).collect();
    let corner = format!("{} [µs]", vary.key);
    let header: Vec<&str> =
        std::iter::once(corner.as_str()).chain(values.iter().map(String::as_str)).collect();
    let marked = |ns: Option<u64>, is_best: bool| {
        format!("{} {}", or_dash(ns.map(us)), if is_best { '*' } else { ' ' })
    };
    let line = |name: &str, cell: &dyn Fn(&Candidate) -> String| -> Vec<String> {
        std::iter::once(name.to_owned()).chain(measured.iter().map(|c| cell(c))).collect()
    };
    let mut lines: Vec<Vec<String>> = vary
        .kernels()
        .into_iter()
        .map(|kernel| {
            line(kernel, &|c| {
                marked(c.kernels_ns.get(kernel).copied(), vary.best_for(kernel) == Some(c.value))
            })
        })
        .collect();
    lines.push(line("step", &|c| marked(c.step_ns(), vary.best() == Some(c.value))));
    lines.push(line("against the best", &|c| match vary.against_best(c) {
        _ if vary.best() == Some(c.value) => "best *".to_owned(),
        Some(found) => format!("{}  ", found.verdict),
        None => "-  ".to_owned(),
    }));
    let mut text = table(&header, &lines, style);
    for candidate in &vary.candidates {
        if let Some(reason) = &candidate.refused {
            text += &format!("{}={} refused: {reason}\n", vary.key, candidate.value);
        }
    }
    text
}

/// Formats the verdicts on each kernel and on the step as a table; an unclear one with the number of rounds
/// that would decide it.
pub fn comparison_table(comparison: &ProfileComparison, wide: bool, style: TableStyle) -> String {
    // Four digits: differences of large ratios say nothing.
    let factor = |value: f64| match value {
        value if value < 10.0 => format!("{value:.3}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    };
    let interval = |interval: Option<[f64; 2]>| {
        let known = interval.filter(|i| i[1].is_finite());
        or_dash(known.map(|[from, to]| format!("{}–{}", factor(from), factor(to))))
    };
    let line = |k: &KernelComparison| {
        let ratio = k.comparison.map(|found| found.ratio).filter(|ratio| ratio.is_finite());
        [
            k.kernel.clone(),
            or_dash(k.step_ns[0].map(us)),
            or_dash(k.step_ns[1].map(us)),
            or_dash(ratio.map(factor)),
            interval(k.comparison.map(|found| found.interval)),
            interval(k.same_build),
            match k.rounds_needed {
                Some(n) => format!("{}, {n} rounds", k.verdict()),
                None => k.verdict(),
            },
        ]
    };
    let lines: Vec<_> = comparison.kernels.iter().chain([&comparison.step]).map(line).collect();
    let header = ["kernel [µs]", "baseline", "current", "ratio", "95 %", "A/A 95 %", "verdict"];
    fitted_table(&header, &lines, &["A/A 95 %", "95 %"], wide, style)
}

#[cfg(test)]
mod tests {
    use super::super::{EmptyCalls, rows, tests::profile};
    use super::*;

    #[test]
    fn tables_align() {
        let rows = rows::tests::rows();
        assert_eq!(
            profile_table(&rows, false, TableStyle::Plain),
            "\
kernel [µs]  calls  empty  median   mean    max  outliers  total [ms]  share [%]  GB/s  of copy [%]
pbd.lambda       3      0   300.0  263.3  390.0         0        0.79       81.8  8.78         43.9
grid.sort       20      0    10.0   10.5   20.0         0        0.21       18.2     -            -
with --wide also: p95, min, kB/call
"
        );
        let markdown = profile_table(&rows, true, TableStyle::Markdown);
        let widths: Vec<_> = markdown.lines().map(|line| line.chars().count()).collect();
        assert_eq!(widths.len(), 4);
        assert!(widths.iter().all(|width| *width == widths[0]), "{markdown}");
        assert!(markdown.lines().nth(1).unwrap().starts_with("| ----------- | ----: |"), "{markdown}");
    }

    #[test]
    fn passes_without_elements_are_folded() {
        let profile = profile();
        let active = &profile.passes[0];
        let pass = |position: u32, calls: u64| {
            let mut pass = PassRow { position, ..active.clone() };
            pass.row.share = 0.1;
            if calls == 0 {
                (pass.row.calls, pass.row.total_ns) = (0, 0);
                (pass.row.gb_per_s, pass.row.share_of_copy) = (None, None);
                pass.row.empty = EmptyCalls { calls: 20, total_ns: 96_000, min_ns: 4_000, median_ns: 4_800 };
            }
            pass
        };
        let passes = [pass(0, 20), pass(1, 0), pass(2, 20), pass(3, 0), pass(4, 0), pass(5, 0)];
        let table = pass_table(&passes, true, TableStyle::Plain);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 5, "{table}");
        assert!(lines[2].starts_with(" 1 pbd.lambda, empty"), "{table}");
        let words: Vec<_> = lines[4].split_whitespace().collect();
        let expected = [
            "3–5", "3", "empty", "passes", "0", "60", "-", "4.8", "-", "-", "-", "0", "0.29", "30.0", "-",
            "-", "-",
        ];
        assert_eq!(words, expected, "{table}");
    }

    #[test]
    fn every_part_has_its_figures() {
        let profile = profile();
        let facts = facts_table(&profile.kernels, true, TableStyle::Plain);
        let row = facts.lines().nth(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
        let expected = ["pbd.lambda", "256", "32", "40", "0", "2048", "75.0", "512.0", "12.5", "3000"];
        assert_eq!(row.as_deref(), Some(&expected[..]), "{facts}");
        let memory = memory_table(&profile.memory, profile.n_particles, 10, TableStyle::Plain);
        assert!(memory.contains("position") && memory.contains("732.4"), "{memory}");
        let rest = memory_table(&profile.memory, profile.n_particles, 0, TableStyle::Plain);
        assert!(rest.contains("1 more"), "{rest}");
        let gaps = gap_table(&profile.gaps, TableStyle::Plain);
        assert!(gaps.contains("record 1.5, other 0.5"), "{gaps}");
        let vary = vary_table(profile.vary.as_ref().unwrap(), TableStyle::Plain);
        let parts = [
            "pbd.lambda             90.0 *  100.0",
            "slower     best *",
            "workgroup_size=4096 refused: too large",
        ];
        for part in parts {
            assert!(vary.contains(part), "{part}: {vary}");
        }
    }

    #[test]
    fn kernels_of_one_name_are_distinguished_by_specialization() {
        let fact = |words: u32| KernelFact {
            specialization: [("workgroup_size".to_owned(), 64), ("words".to_owned(), words)].into(),
            ..profile().kernels[0].clone()
        };
        let both = [fact(1), fact(3)];
        assert_eq!(both[1].label(&both), "pbd.lambda words=3");
        assert_eq!(both[1].label(&both[1..]), "pbd.lambda");
        let table = facts_table(&both, true, TableStyle::Plain);
        let parts = ["occupancy [%]", "tail [%]", "75.0", "512.0", "12.5"];
        assert!(parts.iter().all(|part| table.contains(part)), "{table}");
    }
}
