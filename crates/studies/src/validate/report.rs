//! Table of a validation: on the terminal, as a page and as numbers.

use super::case::{Bound, Case, FinalState, Status};
use super::result::{CaseResult, Quantity};
use frazil_engine::Failure;
use frazil_engine::device;
use frazil_vk::Device;
use std::fmt::{self, Write};
use std::fs;
use std::path::Path;

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

/// Formats the found value with its unit, of which "1" is not shown.
fn found(quantity: &Quantity) -> String {
    let found = digits(quantity.found.unwrap_or(f64::NAN));
    if quantity.unit == "1" { found } else { format!("{found} {}", quantity.unit) }
}

/// Returns a status in words.
fn verdict(result: &CaseResult, status: &Status) -> String {
    match (status, &result.known) {
        (Status::Pass, _) => "PASS".to_owned(),
        (Status::Fail(why), Some(known)) if why.is_empty() => format!("FAIL, known: {known}"),
        (Status::Fail(why), _) if why.is_empty() => "FAIL".to_owned(),
        (Status::Fail(why), _) => format!("FAIL: {why}"),
        (Status::NotRun(why), _) => format!("not run: {why}"),
    }
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

/// Results of a validation so far.
pub struct Table {
    /// Description of the device.
    pub device: String,
    /// Names of the device and of its driver.
    name: String,
    driver: String,
    width: usize,
    /// Names of all cases in their order.
    order: Vec<String>,
    pub results: Vec<CaseResult>,
}

impl Table {
    /// Creates a table of the cases that are selected, of all that there are.
    pub fn new(device: &Device, all: &[Case], selected: &[Case]) -> Self {
        let width = selected.iter().map(|case| case.name.len()).max().unwrap_or(0).max(4);
        let order = all.iter().map(|case| case.name.clone()).collect();
        let info = device.info();
        let (name, driver) = (info.name.clone(), info.driver.clone());
        Self { device: device::describe(info), name, driver, width, order, results: Vec::new() }
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

    /// Formats the lines of a case.
    pub fn lines(&self, result: &CaseResult) -> String {
        let mut text = String::new();
        let mut line = |quantity: &str, found: &str, bound: &str, status: &Status| {
            let verdict = verdict(result, status);
            let (case, w) = (&result.case, self.width);
            let _ = writeln!(text, "{case:<w$}  {quantity:<44}  {found:>16}  {bound:>18}  {verdict}");
        };
        for quantity in &result.quantities {
            line(&quantity.name, &found(quantity), &quantity.bound.to_string(), &quantity.status());
        }
        if let Some(ended) = &result.ended {
            line("", "", "", ended);
        }
        text
    }

    /// Adds the result of a case, in the order of the cases.
    pub fn add(&mut self, result: CaseResult) {
        let place = |name: &str| self.order.iter().position(|known| known == name);
        let at = self.results.partition_point(|other| place(&other.case) < place(&result.case));
        self.results.insert(at, result);
    }

    /// Returns the names of the cases with a FAIL that is not known.
    pub fn unexpected(&self) -> Vec<&str> {
        let is_unexpected =
            |result: &&CaseResult| result.statuses().any(|status| result.is_unexpected(&status));
        self.results.iter().filter(is_unexpected).map(|result| result.case.as_str()).collect()
    }

    /// Counts the results.
    pub fn summary(&self) -> String {
        let statuses = || self.results.iter().flat_map(|r| r.statuses().map(move |status| (r, status)));
        let count = |is: &dyn Fn(&CaseResult, &Status) -> bool| statuses().filter(|(r, s)| is(r, s)).count();
        let passed = count(&|_, status| *status == Status::Pass);
        let failed = count(&|_, status| matches!(status, Status::Fail(_)));
        let known = failed - count(&|result, status| result.is_unexpected(status));
        let not_run = count(&|_, status| matches!(status, Status::NotRun(_)));
        let seconds: f64 = self.results.iter().map(|result| result.seconds).sum();
        format!("{passed} PASS, {failed} FAIL ({known} of them known), {not_run} not run, in {seconds:.0} s")
    }

    /// Writes `validation.csv` and `validation.md`, and `hashes.csv` if there are final states.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let hashes = self.hashes().map(|text| ("hashes.csv", text));
        let files = [("validation.csv", self.csv()), ("validation.md", self.page())];
        for (name, text) in files.into_iter().chain(hashes) {
            let path = folder.join(name);
            let failed = |error| Failure::other(format!("cannot write {}: {error}", path.display()));
            fs::write(&path, text).map_err(failed)?;
        }
        Ok(())
    }

    fn csv(&self) -> String {
        let mut csv = "case,quantity,unit,found,bound,result,reference,time [s]\n".to_owned();
        for result in &self.results {
            let end = format!("{},{:.1}", quoted(&result.reference), result.seconds);
            for quantity in &result.quantities {
                let _ = writeln!(
                    csv,
                    "{},{},{},{:?},{},{},{end}",
                    result.case,
                    quoted(&quantity.name),
                    quantity.unit,
                    quantity.found.unwrap_or(f64::NAN),
                    quoted(&quantity.bound.to_string()),
                    quoted(&verdict(result, &quantity.status())),
                );
            }
            if let Some(ended) = &result.ended {
                let _ =
                    writeln!(csv, "{},\"\",,NaN,\"\",{},{end}", result.case, quoted(&verdict(result, ended)));
            }
        }
        csv
    }

    /// Returns the list of final states.
    fn hashes(&self) -> Option<String> {
        let mut states = self.results.iter().filter_map(|result| result.state.as_ref()).peekable();
        states.peek()?;
        let mut text = "device,driver,scene,change,steps,hash\n".to_owned();
        for FinalState { scene, change, steps, hash } in states {
            let (name, driver) = (quoted(&self.name), quoted(&self.driver));
            let _ = writeln!(text, "{name},{driver},{scene},{change},{steps},{hash}");
        }
        Some(text)
    }

    /// Returns the page: a table for each part, with the plots of its cases.
    fn page(&self) -> String {
        let mut commits: Vec<&str> = self
            .results
            .iter()
            .map(|r| r.commit.as_deref().map_or("unknown", |c| &c[..c.len().min(12)]))
            .collect();
        commits.sort_unstable();
        commits.dedup();
        let mut page = format!(
            "# Validation\n\nWritten by `frazil validate`: {}.\n\n| | |\n|---|---|\n| device | {} |\n| built \
             from | {} |\n",
            self.summary(),
            self.device,
            commits.join(", ")
        );
        let part = |result: &CaseResult| result.case.split('.').next().unwrap_or_default().to_owned();
        for results in self.results.chunk_by(|a, b| part(a) == part(b)) {
            let _ = write!(
                page,
                "\n## {}\n\n| case | reference | quantity | found | bound and its reason | result | time [s] \
                 |\n\
                 |---|---|---|---|---|---|---|\n",
                part(&results[0])
            );
            for result in results {
                write_rows(&mut page, result);
            }
            for result in results.iter().filter(|result| result.has_plot) {
                let _ = writeln!(page, "\n![{}](plots/{}.svg)", result.about, result.case);
            }
        }
        let has_result = |name: &&String| self.results.iter().any(|result| result.case == **name);
        let without: Vec<&String> = self.order.iter().filter(|name| !has_result(name)).collect();
        if !without.is_empty() {
            let _ = write!(page, "\n## Not run\n\nThese cases were not selected, or not reached:\n\n");
            without.into_iter().for_each(|name| {
                let _ = writeln!(page, "- {name}");
            });
        }
        page
    }
}

/// Writes the rows of a case into the page, name and reference in the first only.
fn write_rows(page: &mut String, result: &CaseResult) {
    let mut leading = [result.case.clone(), result.reference.clone(), format!("{:.1}", result.seconds)];
    let mut row = |quantity: &str, found: &str, bound: &str, status: &Status| {
        let [case, reference, seconds] = std::mem::take(&mut leading);
        let verdict = verdict(result, status);
        let cells = [&case, &reference, quantity, found, bound, &verdict, &seconds];
        let cells = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    };
    for quantity in &result.quantities {
        let bound = format!("{}: {}", quantity.bound, quantity.reason);
        row(&quantity.name, &found(quantity), &bound, &quantity.status());
    }
    if let Some(ended) = &result.ended {
        row("", "", "", ended);
    }
}

#[cfg(test)]
mod tests {
    use super::super::result::tests::result;
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

    fn table(results: Vec<CaseResult>) -> Table {
        let order = ["a.b", "a.c", "b.d"].map(str::to_owned).to_vec();
        let mut table = Table {
            device: "software".into(),
            name: "software".into(),
            driver: "none".into(),
            width: 4,
            order,
            results: Vec::new(),
        };
        results.into_iter().for_each(|result| table.add(result));
        table
    }

    #[test]
    fn known_misses_are_counted_and_do_not_fail_a_run() {
        let not_run = Some(Status::NotRun("memory".into()));
        let mut table = table(vec![
            result("b.d", None, Some(0.5), not_run),
            result("a.c", Some("slip"), Some(2.0), None),
        ]);
        assert!(table.unexpected().is_empty());
        assert_eq!(table.summary(), "1 PASS, 1 FAIL (1 of them known), 1 not run, in 2 s");
        table.add(result("a.b", Some("slip"), None, Some(Status::Fail("step 3: NaN".into()))));
        assert_eq!(table.unexpected(), ["a.b"]);
        let names: Vec<&str> = table.results.iter().map(|result| result.case.as_str()).collect();
        assert_eq!(names, ["a.b", "a.c", "b.d"], "in the order of the cases");
    }

    #[test]
    fn the_page_has_a_table_for_each_part() {
        let table = table(vec![
            CaseResult { has_plot: true, ..result("a.c", Some("slip"), Some(2.0), None) },
            result("b.d", None, Some(0.5), Some(Status::Fail("a | b".into()))),
        ]);
        let page = table.page();
        for text in [
            "## a\n",
            "## b\n",
            "| a.c | Newton1687 | error | 2 m | ≤ 1: rounding | FAIL, known: slip | 1.0 |",
            "![a ball](plots/a.c.svg)",
            "|  |  |  |  |  | FAIL: a \\| b |  |",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert!(
            page.ends_with("## Not run\n\nThese cases were not selected, or not reached:\n\n- a.b\n"),
            "{page}"
        );
        assert_eq!(table.csv().lines().count(), 4);
    }
}
