//! Results of several compilers for the same kernels, side by side: a table for a terminal and a page.

use crate::profile::{FACT_COLUMNS, KernelFact, TableStyle, fact_cells, labelled_facts, page};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Results of one compiler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompilerReport {
    /// Family of hardware, such as `ada`; none for the device of this machine.
    pub family: Option<String>,
    /// Name of the device.
    pub device: String,
    /// Name and version of the driver.
    pub driver: String,
    /// Unit that holds the resident subgroups, such as "streaming multiprocessor".
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

/// Formats one row for each kernel and compiler; columns that no compiler reports are left out.
pub fn compilers_table(reports: &[CompilerReport], wide: bool, style: TableStyle) -> String {
    let mut text = labelled_facts(&LABELS, &lines(reports), wide, style);
    for report in reports {
        for (kernel, problem) in &report.failed {
            text += &format!("{kernel} for {}: not compiled: {problem}\n", report.title());
        }
    }
    text
}

/// Headers of the columns that identify a row.
const LABELS: [&str; 2] = ["kernel", "family"];

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
    let mut lines = Vec::new();
    for (label, facts) in variants(reports) {
        let mut label = Some(label);
        for (report, kernel) in reports.iter().zip(facts) {
            let Some(kernel) = kernel else { continue };
            // A kernel is named once, in its first row.
            let labels = [label.take().unwrap_or_default(), report.title().to_owned()];
            lines.push(fact_cells(labels, kernel));
        }
    }
    lines
}

/// Returns a page with the table of [`compilers_table`] and all statistics in the words of each driver.
pub fn compilers_page(reports: &[CompilerReport]) -> String {
    let lines = lines(reports);
    page(
        "Kernels by compiler",
        &html! {
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
                thead { tr {
                    @for label in LABELS { th { (label) } }
                    @for column in &FACT_COLUMNS { th { (column.name) } }
                } }
                tbody { @for line in &lines { tr { @for cell in line { td { (cell) } } } } }
            }
            @for report in reports { (failures(report)) }
            h2 { "Columns" }
            dl { @for column in &FACT_COLUMNS { dt { (column.name) } dd { (column.meaning) } } }
            h2 { "Statistics of the drivers" }
            @for report in reports { (words(report)) }
        },
    )
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
        assert_eq!(rows[2], ["b.second", "ada", "64", "40", "100.0"]);
        assert_eq!(rows[3], ["m1", "64", "12", "50.0"]);
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
