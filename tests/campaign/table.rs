//! Table of results of a part: a row each, appended when the case is done.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

const SKIPPED: &str = "not tried";
const HEADER: &str = "class,case,result,detail\n";

/// Numbers of cases.
#[derive(Clone, Copy, Default)]
pub struct Count {
    pub tried: usize,
    pub failed: usize,
}

/// The file `PART.csv`.
pub struct Table {
    file: File,
    /// Class and case of all rows.
    done: HashSet<(String, String)>,
    rows: Vec<String>,
}

impl Table {
    /// Opens the table of a part and reads the rows of an earlier campaign; a last row without its end, left
    /// by a kill, is removed.
    ///
    /// # Errors
    /// The file cannot be read or written, or is no such table.
    pub fn open(folder: &Path, part: &str) -> Result<Self, String> {
        let path = folder.join(format!("{part}.csv"));
        let at = |error: std::io::Error| format!("{}: {error}", path.display());
        let mut text = if path.exists() { fs::read_to_string(&path).map_err(at)? } else { String::new() };
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        if text.is_empty() {
            text = HEADER.into();
        }
        fs::write(&path, &text).map_err(at)?;
        let Some(body) = text.strip_prefix(HEADER) else {
            return Err(format!("{}: expected \"{}\" in the first line", path.display(), HEADER.trim_end()));
        };
        let rows: Vec<String> = body.lines().map(str::to_owned).collect();
        let mut done = HashSet::new();
        for row in &rows {
            let [class, case, ..] = row.split(',').collect::<Vec<_>>()[..] else {
                return Err(format!("{}: not a row: {row}", path.display()));
            };
            done.insert((class.to_owned(), case.to_owned()));
        }
        let file = OpenOptions::new().append(true).open(&path).map_err(at)?;
        Ok(Self { file, done, rows })
    }

    /// Returns true if the case has a row.
    pub fn has(&self, class: &str, case: &str) -> bool {
        self.done.contains(&(class.to_owned(), case.to_owned()))
    }

    /// Appends the result of a case, or its problem.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, class: &str, case: &str, verdict: Result<String, String>) -> Result<(), String> {
        match verdict {
            Ok(detail) => self.write(class, case, "passed", &detail),
            Err(problem) => self.write(class, case, "FAILED", &problem),
        }
    }

    /// Appends a case that could not be tried, which does not count.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn skip(&mut self, class: &str, case: &str, reason: &str) -> Result<(), String> {
        self.write(class, case, SKIPPED, reason)
    }

    fn write(&mut self, class: &str, case: &str, result: &str, detail: &str) -> Result<(), String> {
        let row = format!("{class},{case},{result},{}", detail.replace([',', '\n', '\r'], ";"));
        self.file.write_all(format!("{row}\n").as_bytes()).map_err(|error| format!("table: {error}"))?;
        self.done.insert((class.to_owned(), case.to_owned()));
        self.rows.push(row);
        Ok(())
    }

    /// Prints the failures, and of each class the planned, tried, passed and failed cases; returns the sum.
    pub fn report<'a>(&self, planned: impl IntoIterator<Item = &'a str>) -> Count {
        let mut classes: BTreeMap<&str, (usize, Count)> = BTreeMap::new();
        for class in planned {
            classes.entry(class).or_default().0 += 1;
        }
        for row in &self.rows {
            let mut cells = row.split(',');
            let (class, result) = (cells.next().unwrap_or_default(), cells.nth(1));
            if result == Some(SKIPPED) {
                continue;
            }
            let passed = result == Some("passed");
            let count = &mut classes.entry(class).or_default().1;
            count.tried += 1;
            count.failed += usize::from(!passed);
            if !passed {
                println!("{row}");
            }
        }
        println!("{:<28}{:>8}{:>8}{:>8}{:>8}", "class", "planned", "tried", "passed", "failed");
        let mut sum = Count::default();
        for (class, (planned, count)) in classes {
            let (tried, failed) = (count.tried, count.failed);
            println!("{class:<28}{planned:>8}{tried:>8}{:>8}{failed:>8}", tried - failed);
            sum = Count { tried: sum.tried + tried, failed: sum.failed + failed };
        }
        sum
    }
}
