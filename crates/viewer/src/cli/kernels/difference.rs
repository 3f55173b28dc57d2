//! Kernels of two builds, compared: statistics of the compiler, and code.

use super::args::KernelsArgs;
use super::compiled::Compiled;
use frazil_engine::Failure;
use frazil_report::{CompilerReport, KernelFact, TableStyle, table};
use serde_json::Value;
use similar::TextDiff;
use std::path::Path;
use std::process::Command;

/// Lines of code around a difference.
const CONTEXT: usize = 3;

/// Returns the code of all kernels, each below its name; a difference between builds is one of this text.
pub fn code_text(compiled: &Compiled) -> String {
    let none = "no text: the driver shows none in this form\n";
    let of = |(kernel, code): (&String, &Option<String>)| {
        format!(
            "== {kernel} for {}\n{}\n",
            compiled.report.title(),
            code.as_deref().unwrap_or(none).trim_end()
        )
    };
    compiled.code.iter().map(of).collect()
}

/// Compiles the same with another build, and returns what differs.
///
/// # Errors
/// The build cannot be started, or refuses the arguments.
pub fn difference(build: &Path, args: &KernelsArgs, compiled: &[Compiled]) -> Result<String, Failure> {
    let reports = reports_of(&start(build, args, &["--json"])?).ok_or_else(|| {
        Failure::input(format!("{}: printed something else than frazil kernels --json", build.display()))
    })?;
    let mut lines = Vec::new();
    for (after, before) in compiled.iter().zip(&reports) {
        lines.extend(changes(before, &after.report));
    }
    let header = ["kernel", "family", "statistic", "before", "now"];
    let mut text = match lines.as_slice() {
        [] => "no statistic differs\n".to_owned(),
        lines => table(&header, lines, TableStyle::Plain),
    };
    if let Some(form) = &args.asm {
        let before = start(build, args, &[&format!("--asm={form}")])?;
        let after: String = compiled.iter().map(code_text).collect();
        let diff = TextDiff::from_lines(&before, &after);
        text += &diff.unified_diff().context_radius(CONTEXT).header("before", "now").to_string();
    }
    Ok(text)
}

/// Runs another build with the arguments that select kernels, families and constants.
fn start(build: &Path, args: &KernelsArgs, more: &[&str]) -> Result<String, Failure> {
    let mut command = Command::new(build);
    command.arg("kernels").args(&args.name);
    if !args.families.is_empty() {
        command.arg("--for").arg(args.families.join(","));
    }
    if let Some(device) = &args.device.device {
        command.arg("--device").arg(device);
    }
    if let Some(scene) = &args.scene {
        command.arg("--scene").arg(scene);
    }
    for change in &args.overrides {
        command.arg("--set").arg(change);
    }
    for (name, value) in &args.constants {
        command.arg("--constant").arg(format!("{name}={value}"));
    }
    let output = command
        .args(more)
        .output()
        .map_err(|e| Failure::input(format!("--diff: cannot start {}: {e}", build.display())))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let last = errors.lines().last().unwrap_or("no message").to_owned();
        return Err(Failure::input(format!(
            "--diff: {} ended with {}: {last}",
            build.display(),
            output.status
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn reports_of(text: &str) -> Option<Vec<CompilerReport>> {
    let value: Value = serde_json::from_str(text).ok()?;
    match value.get("compilers") {
        Some(all) => serde_json::from_value(all.clone()).ok(),
        None => serde_json::from_value(value).ok().map(|report| vec![report]),
    }
}

/// Returns a row for each statistic of the driver that differs, and for kernels that one build lacks.
fn changes(before: &CompilerReport, after: &CompilerReport) -> Vec<Vec<String>> {
    let find = |report: &CompilerReport, label: &str| -> Option<KernelFact> {
        report.kernels.iter().find(|kernel| kernel.label(&report.kernels) == label).cloned()
    };
    let row = |kernel: &str, name: &str, before: &str, now: &str| {
        [kernel, after.title(), name, before, now].map(str::to_owned).to_vec()
    };
    let mut rows = Vec::new();
    for kernel in &after.kernels {
        let label = kernel.label(&after.kernels);
        let Some(old) = find(before, &label) else {
            rows.push(row(&label, "kernel", "-", "new"));
            continue;
        };
        for statistic in &kernel.driver_statistics {
            let old = old.statistic(&statistic.name).unwrap_or("-");
            // Hashes differ whenever code does.
            if old != statistic.value && !statistic.name.to_lowercase().contains("hash") {
                rows.push(row(&label, &statistic.name, old, &statistic.value));
            }
        }
    }
    for kernel in &before.kernels {
        let label = kernel.label(&before.kernels);
        if find(after, &label).is_none() {
            rows.push(row(&label, "kernel", "old", "-"));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_report::DriverStatistic;
    use std::collections::BTreeMap;

    fn report(kernels: &[(&str, &str)]) -> CompilerReport {
        let fact = |(kernel, registers): &(&str, &str)| KernelFact {
            kernel: (*kernel).to_owned(),
            driver_statistics: [("GPRs", *registers), ("Hash", *kernel)]
                .map(|(name, value)| DriverStatistic {
                    executable: "compute".into(),
                    name: name.to_owned(),
                    description: String::new(),
                    value: format!("{value}{}", if name == "Hash" { registers } else { "" }),
                })
                .to_vec(),
            ..KernelFact::default()
        };
        CompilerReport {
            family: Some("ada".into()),
            device: "d".into(),
            driver: "e".into(),
            processor: None,
            kernels: kernels.iter().map(fact).collect(),
            failed: BTreeMap::new(),
        }
    }

    #[test]
    fn only_what_differs_is_listed() {
        let before = report(&[("a.same", "8"), ("a.old", "9"), ("a.more", "40")]);
        let after = report(&[("a.same", "8"), ("a.more", "48"), ("a.new", "3")]);
        let rows: Vec<String> = changes(&before, &after).iter().map(|row| row.join(" ")).collect();
        assert_eq!(rows, ["a.more ada GPRs 40 48", "a.new ada kernel - new", "a.old ada kernel old -"]);
        assert!(changes(&before, &before).is_empty());
    }

    #[test]
    fn one_report_and_several_are_read() {
        let one = serde_json::to_string(&report(&[("a.b", "1")])).unwrap();
        assert_eq!(reports_of(&one).unwrap().len(), 1);
        assert_eq!(reports_of(&format!("{{\"compilers\": [{one}, {one}]}}")).unwrap().len(), 2);
        assert!(reports_of("text").is_none());
    }
}
