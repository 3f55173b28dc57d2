//! What compilers make of kernels, side by side: a table for a terminal and a page.

use crate::profile::{KernelFact, TableStyle, fitted_table};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What one compiler makes of kernels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompilerReport {
    /// Family of hardware, such as `ada`; none for the device of this machine.
    pub family: Option<String>,
    /// Name of the device.
    pub device: String,
    /// Name and version of the driver.
    pub driver: String,
    /// What holds the resident subgroups, such as "streaming multiprocessor".
    pub processor: Option<String>,
    /// Kernels that were compiled.
    pub kernels: Vec<KernelFact>,
    /// Kernels that were not compiled, and why.
    #[serde(default)]
    pub failed: BTreeMap<String, String>,
}

impl CompilerReport {
    /// Returns true if the driver reports what it makes of kernels.
    pub fn reports_statistics(&self) -> bool {
        self.kernels.iter().any(|kernel| !kernel.driver_statistics.is_empty())
    }

    /// Returns the family, or else the device.
    pub fn title(&self) -> &str {
        self.family.as_deref().unwrap_or(&self.device)
    }
}

const HEADER: [&str; 14] = [
    "kernel",
    "family",
    "group",
    "registers",
    "moves",
    "spills",
    "scratch [B]",
    "shared [B]",
    "resident",
    "occupancy [%]",
    "instructions",
    "code [B]",
    "latency",
    "1/throughput",
];

/// What the columns of [`compilers_table`] mean.
const COLUMNS: [(&str, &str); 12] = [
    ("group", "threads of a workgroup"),
    ("registers", "32-bit registers of a thread"),
    ("moves", "values kept in registers of another file, for lack of general ones"),
    ("spills", "registers, or instructions, that spill to memory"),
    ("scratch", "memory for spills and indexed private arrays; of a thread, on AMD of a subgroup"),
    ("shared", "shared memory of a workgroup"),
    ("resident", "subgroups that a processor can hold at once"),
    ("occupancy", "resident subgroups over the processor's maximum"),
    ("instructions", "instructions of the code, each once"),
    ("code", "size of the code"),
    (
        "latency",
        "the compiler's estimate of a subgroup's cycles, loops once; NVIDIA: without waits for memory",
    ),
    ("1/throughput", "the compiler's estimate of a subgroup's cycles when others hide its latency"),
];

/// Formats one row for each kernel and compiler; columns that no compiler reports are left out.
pub fn compilers_table(reports: &[CompilerReport], wide: bool, style: TableStyle) -> String {
    let lines = lines(reports);
    let is_reported = |c: usize| c < 3 || lines.iter().any(|line| line[c] != "-");
    let columns: Vec<usize> = (0..HEADER.len()).filter(|&c| is_reported(c)).collect();
    let header: Vec<&str> = columns.iter().map(|&c| HEADER[c]).collect();
    let kept: Vec<Vec<String>> =
        lines.iter().map(|line| columns.iter().map(|&c| line[c].clone()).collect()).collect();
    let optional = ["1/throughput", "group", "code [B]", "latency", "shared [B]", "resident"];
    let mut text = fitted_table(&header, &kept, &optional, wide, style);
    for report in reports {
        for (kernel, problem) in &report.failed {
            text += &format!("{kernel} for {}: not compiled: {problem}\n", report.title());
        }
    }
    text
}

/// Returns the variants of kernels of all reports in order, each with its facts by report.
fn variants(reports: &[CompilerReport]) -> Vec<(String, Vec<Option<&KernelFact>>)> {
    let mut variants: Vec<(String, Vec<Option<&KernelFact>>)> = Vec::new();
    for (r, report) in reports.iter().enumerate() {
        for kernel in &report.kernels {
            let label = kernel.label(&report.kernels);
            let place = match variants.iter().position(|(known, _)| *known == label) {
                Some(place) => place,
                None => {
                    variants.push((label, vec![None; reports.len()]));
                    variants.len() - 1
                }
            };
            variants[place].1[r] = Some(kernel);
        }
    }
    variants.sort_by(|a, b| a.0.cmp(&b.0));
    variants
}

fn lines(reports: &[CompilerReport]) -> Vec<Vec<String>> {
    fn or_dash<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(|| "-".to_owned(), |value| value.to_string())
    }
    let mut lines = Vec::new();
    for (label, facts) in variants(reports) {
        let mut label = Some(label);
        for (report, kernel) in reports.iter().zip(facts) {
            let Some(kernel) = kernel else { continue };
            lines.push(vec![
                // A kernel is named once, in its first row.
                label.take().unwrap_or_default(),
                report.title().to_owned(),
                kernel.workgroup_size.to_string(),
                or_dash(kernel.registers),
                or_dash(kernel.register_moves),
                or_dash(kernel.spills),
                or_dash(kernel.scratch_bytes),
                or_dash(kernel.shared_memory_bytes),
                or_dash(kernel.resident_subgroups),
                or_dash(kernel.theoretical_occupancy.map(|share| format!("{:.0}", 100.0 * share))),
                or_dash(kernel.instructions),
                or_dash(kernel.code_bytes),
                or_dash(kernel.latency_cycles),
                or_dash(kernel.inverse_throughput_cycles),
            ]);
        }
    }
    lines
}

/// Returns a page with the table of [`compilers_table`] and all statistics in the words of each driver.
pub fn compilers_page(reports: &[CompilerReport]) -> String {
    let lines = lines(reports);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Kernels by compiler" }
                style { (PreEscaped(include_str!("profile/report/style.css"))) }
            }
            body {
                h1 { "Kernels by compiler" }
                ul { @for report in reports {
                    li {
                        (report.title()) ": " (report.device) ", " (report.driver) ", "
                        (report.kernels.len()) " kernels"
                        @if let Some(processor) = &report.processor {
                            "; resident subgroups of a " (processor)
                        }
                    }
                } }
                table {
                    thead { tr { @for name in HEADER { th { (name) } } } }
                    tbody { @for line in &lines { tr { @for cell in line { td { (cell) } } } } }
                }
                @for report in reports { (failures(report)) }
                h2 { "Columns" }
                dl { @for (name, meaning) in COLUMNS { dt { (name) } dd { (meaning) } } }
                h2 { "Statistics of the drivers" }
                @for report in reports { (words(report)) }
            }
        }
    };
    page.into_string()
}

fn failures(report: &CompilerReport) -> Markup {
    html! {
        @for (kernel, problem) in &report.failed {
            p { (kernel) " for " (report.title()) ": not compiled: " (problem) }
        }
    }
}

/// Returns the statistics of all kernels, by the driver's names, which are explained in its words.
fn words(report: &CompilerReport) -> Markup {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for statistic in report.kernels.iter().flat_map(|kernel| &kernel.driver_statistics) {
        if !names.iter().any(|(name, _)| *name == statistic.name) {
            names.push((&statistic.name, &statistic.description));
        }
    }
    html! {
        details {
            summary { (report.title()) }
            dl { @for (name, description) in &names { dt { (name) } dd { (description) } } }
            table {
                thead { tr { th { "kernel" } @for (name, _) in &names { th { (name) } } } }
                tbody { @for kernel in &report.kernels {
                    tr {
                        td { (kernel.label(&report.kernels)) }
                        @for (name, _) in &names {
                            td { (kernel.statistic(name).unwrap_or("–")) }
                        }
                    }
                } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::DriverStatistic;

    fn fact(kernel: &str, registers: u64, share: Option<f64>) -> KernelFact {
        KernelFact {
            kernel: kernel.to_owned(),
            workgroup_size: 64,
            registers: Some(registers),
            theoretical_occupancy: share,
            driver_statistics: vec![DriverStatistic {
                executable: "compute".into(),
                name: "GPRs".into(),
                description: "registers <each>".into(),
                value: registers.to_string(),
            }],
            ..KernelFact::default()
        }
    }

    fn reports() -> [CompilerReport; 2] {
        let report = |family: &str, kernels: Vec<KernelFact>| CompilerReport {
            family: Some(family.to_owned()),
            device: format!("device {family}"),
            driver: "driver 1".into(),
            processor: Some("core".into()),
            kernels,
            failed: BTreeMap::new(),
        };
        let mut second = report("m1", vec![fact("b.second", 12, Some(0.5))]);
        second.failed.insert("a.first".into(), "no atomics".into());
        [report("ada", vec![fact("b.second", 40, Some(1.0)), fact("a.first", 8, None)]), second]
    }

    #[test]
    fn each_kernel_has_a_row_for_each_compiler() {
        let text = compilers_table(&reports(), true, TableStyle::Plain);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["kernel", "family", "group", "registers", "occupancy", "[%]"]);
        assert_eq!(rows[1], ["a.first", "ada", "64", "8", "-"]);
        assert_eq!(rows[2], ["b.second", "ada", "64", "40", "100"]);
        assert_eq!(rows[3], ["m1", "64", "12", "50"]);
        assert_eq!(text.lines().last(), Some("a.first for m1: not compiled: no atomics"));
    }

    #[test]
    fn the_page_explains_each_driver_in_its_words() {
        let page = compilers_page(&reports());
        for expected in
            ["device m1", "registers &lt;each&gt;", "not compiled: no atomics", "<td>b.second</td>"]
        {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }
}
