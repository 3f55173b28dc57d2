//! Table of a validation: on the terminal, as a page and as numbers.

use super::case::{Bound, Case, Check, FinalState, Outcome, Status};
use crate::device;
use crate::failure::Failure;
use frazil_vk::{Device, DeviceInfo};
use std::fmt::{self, Write};
use std::fs;
use std::path::Path;

/// A quantity of a case with its result.
pub struct Row {
    case: String,
    reference: &'static str,
    known: Option<&'static str>,
    check: Option<Check>,
    status: Status,
    has_plot: bool,
    /// Run time of the whole case in s.
    seconds: f64,
}

impl Row {
    /// Returns the rows of a case.
    pub fn of(case: &Case, outcome: Outcome, seconds: f64) -> Vec<Self> {
        let has_plot = outcome.curve.is_some();
        let row = |check: Option<Check>, status| Self {
            case: case.name.clone(),
            reference: case.reference,
            known: case.known,
            check,
            status,
            has_plot,
            seconds,
        };
        let of_check = |check: Check| {
            let passes = check.bound.allows(check.found);
            row(Some(check), if passes { Status::Pass } else { Status::Fail(String::new()) })
        };
        let ended = outcome.ended.map(|status| row(None, status));
        outcome.checks.into_iter().map(of_check).chain(ended).collect()
    }

    /// Returns the result in words.
    fn verdict(&self) -> String {
        match (&self.status, self.known) {
            (Status::Pass, _) => "PASS".to_owned(),
            (Status::Fail(why), Some(known)) if why.is_empty() => format!("FAIL, known: {known}"),
            (Status::Fail(why), _) if why.is_empty() => "FAIL".to_owned(),
            (Status::Fail(why), _) => format!("FAIL: {why}"),
            (Status::NotRun(why), _) => format!("not run: {why}"),
        }
    }

    fn is_unexpected(&self) -> bool {
        matches!(&self.status, Status::Fail(why) if self.known.is_none() || !why.is_empty())
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::AtMost(most) => write!(f, "≤ {}", digits(most)),
            Self::AtLeast(least) => write!(f, "≥ {}", digits(least)),
            Self::Within(expected, tolerance) => write!(f, "{} ± {}", digits(expected), digits(tolerance)),
        }
    }
}

/// Formats a number with four significant digits.
fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let power = value.abs().log10().floor() as i32;
    if !(-3..6).contains(&power) {
        return format!("{value:.1e}");
    }
    let text = format!("{value:.*}", (3 - power).max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats a value with its unit, of which "1" is not shown.
fn with_unit(value: impl fmt::Display, unit: &str) -> String {
    if unit == "1" { value.to_string() } else { format!("{value} {unit}") }
}

/// Quotes a text for a CSV file.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Lists cases for `--list`.
pub fn list(cases: &[Case]) -> String {
    let mut text = String::new();
    for Case { name, about, reference, cost, known, .. } in cases {
        let known = known.map_or(String::new(), |known| format!("\n    known to FAIL: {known}"));
        let _ = writeln!(text, "{name} ({cost})\n    {about}; {reference}{known}");
    }
    text
}

/// Rows of a validation so far.
pub struct Table {
    device: String,
    width: usize,
    pub rows: Vec<Row>,
    /// Final states of runs that were repeated.
    pub states: Vec<FinalState>,
}

impl Table {
    pub fn new(device: &Device, cases: &[Case]) -> Self {
        let width = cases.iter().map(|case| case.name.len()).max().unwrap_or(0).max(4);
        Self { device: device::describe(device.info()), width, rows: Vec::new(), states: Vec::new() }
    }

    pub fn header(&self) -> String {
        format!(
            "{}\n{:<w$}  {:<44}  {:>16}  {:>18}  result\n",
            self.device,
            "case",
            "quantity",
            "found",
            "bound",
            w = self.width
        )
    }

    pub fn line(&self, row: &Row) -> String {
        let (quantity, found, bound) = row.check.as_ref().map_or(Default::default(), |check| {
            let found = with_unit(digits(check.found), check.unit);
            (check.quantity.clone(), found, check.bound.to_string())
        });
        format!(
            "{:<w$}  {quantity:<44}  {found:>16}  {bound:>18}  {}\n",
            row.case,
            row.verdict(),
            w = self.width
        )
    }

    /// Returns the names of the cases with a FAIL that is not known.
    pub fn unexpected(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.rows.iter().filter(|row| row.is_unexpected()).map(|row| row.case.as_str()).collect();
        names.dedup();
        names
    }

    /// Counts the results.
    pub fn summary(&self, seconds: f64) -> String {
        let count = |is: &dyn Fn(&Status) -> bool| self.rows.iter().filter(|row| is(&row.status)).count();
        let passed = count(&|status| *status == Status::Pass);
        let failed = count(&|status| matches!(status, Status::Fail(_)));
        let not_run = count(&|status| matches!(status, Status::NotRun(_)));
        let known = failed - self.rows.iter().filter(|row| row.is_unexpected()).count();
        format!("{passed} PASS, {failed} FAIL ({known} of them known), {not_run} not run, in {seconds:.0} s")
    }

    /// Writes `validation.csv` and `validation.md`, and `hashes.csv` if there are final states.
    pub fn write(&self, folder: &Path, device: &DeviceInfo, seconds: f64) -> Result<(), Failure> {
        let mut csv = "case,quantity,unit,found,bound,result,reference,time [s]\n".to_owned();
        let mut page = format!(
            "# Validation on this device\n\n{}. {}.\n\n\
             | case | reference | quantity | found | bound and its reason | result |\n|---|---|---|---|---|---|\n",
            self.device,
            self.summary(seconds)
        );
        for row in &self.rows {
            let verdict = row.verdict();
            let (quantity, unit, found, bound, reason) = match &row.check {
                Some(c) => (c.quantity.as_str(), c.unit, c.found, c.bound.to_string(), c.reason),
                None => ("", "", f64::NAN, String::new(), ""),
            };
            let (quantity_csv, bound_csv) = (quoted(quantity), quoted(&bound));
            let _ = writeln!(
                csv,
                "{},{quantity_csv},{unit},{found:?},{bound_csv},{},{},{:.1}",
                row.case,
                quoted(&verdict),
                quoted(row.reference),
                row.seconds
            );
            let case = if row.has_plot { format!("[{0}]({0}.svg)", row.case) } else { row.case.clone() };
            let found = if row.check.is_some() { with_unit(digits(found), unit) } else { String::new() };
            let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            let cells = [&case, row.reference, quantity, &found, &format!("{bound}{reason}"), &verdict];
            let cells = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
            let _ = writeln!(page, "| {} |", cells.join(" | "));
        }
        let mut hashes = "device,driver,scene,change,steps,hash\n".to_owned();
        for FinalState { scene, change, steps, hash } in &self.states {
            let (name, driver) = (quoted(&device.name), quoted(&device.driver));
            let _ = writeln!(hashes, "{name},{driver},{scene},{change},{steps},{hash}");
        }
        let hashes = (!self.states.is_empty()).then_some(("hashes.csv", hashes));
        for (name, text) in [("validation.csv", csv), ("validation.md", page)].into_iter().chain(hashes) {
            let path = folder.join(name);
            let failed = |error| Failure::other(format!("cannot write {}: {error}", path.display()));
            fs::write(&path, text).map_err(failed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in
            [(0.0, "0"), (1.0, "1"), (0.012346, "0.01235"), (123456.7, "123457"), (1e-7, "1.0e-7")]
        {
            assert_eq!(digits(value), text);
        }
        assert_eq!(Bound::Within(2.0, 0.1).to_string(), "2 ± 0.1");
    }

    fn row(status: Status, known: Option<&'static str>) -> Row {
        Row { case: "a.b".into(), reference: "", known, check: None, status, has_plot: false, seconds: 1.0 }
    }

    #[test]
    fn known_misses_are_counted_and_do_not_fail_a_run() {
        let fail = || Status::Fail(String::new());
        let rows =
            vec![row(Status::Pass, None), row(fail(), Some("slip")), row(Status::NotRun("x".into()), None)];
        let mut table = Table { device: String::new(), width: 4, rows, states: Vec::new() };
        assert!(table.unexpected().is_empty());
        assert_eq!(table.summary(2.0), "1 PASS, 1 FAIL (1 of them known), 1 not run, in 2 s");
        table.rows.push(row(fail(), None));
        table.rows.push(row(Status::Fail("step 3: NaN".into()), Some("slip")));
        assert_eq!(table.unexpected(), ["a.b"]);
        assert_eq!(table.rows[4].verdict(), "FAIL: step 3: NaN");
    }
}
