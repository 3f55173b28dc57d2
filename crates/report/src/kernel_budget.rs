//! Budgets of kernels: upper bounds of what a driver's compiler makes of each, kept in a file.

use crate::profile::KernelFact;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use thiserror::Error;

/// First line of the table.
const HEADER: &str = "kernel,registers,spills,scratch_bytes,shared_memory_bytes,resident_subgroups";

/// Upper bounds of registers, spills, scratch and shared memory of each kernel, and lower bounds of the
/// subgroups that a processor can hold, for one device and version of its driver: another version's compiler
/// allocates other registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelBudget {
    /// Name of the device.
    pub device: String,
    /// Name and version of the driver.
    pub driver: String,
    bounds: BTreeMap<String, Bounds>,
}

/// Bounds of a kernel, in the order of the file's columns; none where the driver reports nothing.
type Bounds = [Option<u64>; 5];

/// What is wrong with the text of a budget.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: found \"{}\", expected {expected}", beginning(found))]
pub struct KernelBudgetError {
    /// Number of the line, from 1.
    pub line: usize,
    /// Text of the line.
    pub found: String,
    /// What the format has there.
    pub expected: String,
}

/// Returns the beginning of a long line, for a message.
fn beginning(line: &str) -> String {
    const MOST: usize = 200;
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

impl KernelBudget {
    /// Creates the budget that kernels fulfil exactly.
    pub fn of(device: &str, driver: &str, kernels: &[KernelFact]) -> Self {
        let bounds = kernels.iter().map(|kernel| (kernel.kernel.clone(), bounds(kernel))).collect();
        Self { device: device.to_owned(), driver: driver.to_owned(), bounds }
    }

    /// Parses the text of a file written by [`Self::text`].
    ///
    /// # Errors
    /// The first line that is not as expected.
    pub fn parse(text: &str) -> Result<Self, KernelBudgetError> {
        let mut lines = text.lines().enumerate();
        let mut next = |expected: &str| {
            let (i, line) = lines.next().unwrap_or((text.lines().count(), ""));
            let problem =
                KernelBudgetError { line: i + 1, found: line.to_owned(), expected: expected.to_owned() };
            (line, problem)
        };
        let (line, problem) = next("# device: NAME");
        let device = line.strip_prefix("# device: ").ok_or(problem)?.to_owned();
        let (line, problem) = next("# driver: NAME");
        let driver = line.strip_prefix("# driver: ").ok_or(problem)?.to_owned();
        let (line, problem) = next(HEADER);
        if line != HEADER {
            return Err(problem);
        }
        let mut known = BTreeMap::new();
        for (i, line) in lines {
            let problem = |expected: &str| KernelBudgetError {
                line: i + 1,
                found: line.to_owned(),
                expected: expected.to_owned(),
            };
            let (name, numbers) = line.split_once(',').ok_or_else(|| problem(HEADER))?;
            let numbers: Option<Vec<Option<u64>>> = numbers
                .split(',')
                .map(|n| if n.is_empty() { Some(None) } else { n.parse().ok().map(Some) })
                .collect();
            let numbers: Option<Bounds> = numbers.and_then(|numbers| numbers.try_into().ok());
            let numbers =
                numbers.ok_or_else(|| problem("the kernel and five whole numbers, or nothing for one"))?;
            if known.insert(name.to_owned(), numbers).is_some() {
                return Err(problem("one line a kernel"));
            }
        }
        Ok(Self { device, driver, bounds: known })
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let mut text = format!("# device: {}\n# driver: {}\n{HEADER}\n", self.device, self.driver);
        for (name, bounds) in &self.bounds {
            let numbers = bounds.map(|n| n.map_or(String::new(), |n| n.to_string()));
            let _ = writeln!(text, "{name},{}", numbers.join(","));
        }
        text
    }

    /// Compares kernels with their bounds. Returns a line for each value beyond its bound, and for each
    /// kernel without bounds; if all kernels are given, for each line without a kernel, too.
    pub fn exceeded(&self, kernels: &[KernelFact], are_all: bool) -> Vec<String> {
        let mut lines = Vec::new();
        for kernel in kernels {
            let name = &kernel.kernel;
            let Some(allowed) = self.bounds.get(name) else {
                lines.push(format!("{name}: has no line"));
                continue;
            };
            let columns = HEADER.split(',').skip(1);
            for ((column, allowed), found) in columns.zip(allowed).zip(bounds(kernel)) {
                let (Some(allowed), Some(found)) = (*allowed, found) else { continue };
                let (is_beyond, relation) = match column {
                    "resident_subgroups" => (found < allowed, "at least"),
                    _ => (found > allowed, "at most"),
                };
                if is_beyond {
                    lines.push(format!("{name}: {column} {found}, {relation} {allowed} allowed"));
                }
            }
        }
        if are_all {
            let is_known = |name: &str| kernels.iter().any(|kernel| kernel.kernel == name);
            let stale = self.bounds.keys().filter(|name| !is_known(name));
            lines.extend(stale.map(|name| format!("{name}: there is no such kernel")));
        }
        lines
    }
}

fn bounds(kernel: &KernelFact) -> Bounds {
    [
        kernel.registers,
        kernel.spills,
        kernel.scratch_bytes,
        kernel.shared_memory_bytes,
        kernel.resident_subgroups,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(name: &str, [registers, spills, scratch, shared, subgroups]: [u64; 5]) -> KernelFact {
        KernelFact {
            kernel: name.to_owned(),
            registers: Some(registers),
            spills: Some(spills),
            scratch_bytes: Some(scratch),
            shared_memory_bytes: Some(shared),
            resident_subgroups: Some(subgroups),
            ..KernelFact::default()
        }
    }

    #[test]
    fn each_value_beyond_its_bound_is_named() {
        let allowed = [48, 0, 0, 4096, 16];
        let budget = KernelBudget::of("gpu", "driver 1", &[fact("a.b", allowed), fact("a.c", allowed)]);
        assert_eq!(budget.exceeded(&[fact("a.b", allowed), fact("a.c", allowed)], true), [""; 0]);
        assert_eq!(budget.exceeded(&[fact("a.b", [40, 0, 0, 1024, 20])], false), [""; 0]);
        let found = budget.exceeded(&[fact("a.b", [49, 3, 12, 4097, 15]), fact("a.d", allowed)], true);
        assert_eq!(
            found,
            [
                "a.b: registers 49, at most 48 allowed",
                "a.b: spills 3, at most 0 allowed",
                "a.b: scratch_bytes 12, at most 0 allowed",
                "a.b: shared_memory_bytes 4097, at most 4096 allowed",
                "a.b: resident_subgroups 15, at least 16 allowed",
                "a.d: has no line",
                "a.c: there is no such kernel",
            ]
        );
    }

    #[test]
    fn a_file_that_was_written_is_read() {
        let mut silent = fact("a.c", [1; 5]);
        silent.registers = None;
        let budget = KernelBudget::of("gpu", "driver 1", &[fact("a.b", [48, 0, 0, 4096, 16]), silent]);
        assert_eq!(KernelBudget::parse(&budget.text()), Ok(budget));
    }

    #[test]
    fn bad_files_are_refused_with_their_line() {
        let line = |text: &str| KernelBudget::parse(text).unwrap_err().line;
        let start = format!("# device: gpu\n# driver: d\n{HEADER}\n");
        assert_eq!(line(""), 1);
        assert_eq!(line("# device: gpu\n"), 2);
        assert_eq!(line("# device: gpu\n# driver: d\nkernel,registers\n"), 3);
        assert_eq!(line(&format!("{start}a.b,1,2,3,4\n")), 4);
        assert_eq!(line(&format!("{start}a.b,1,2,3,4,x\n")), 4);
        assert_eq!(line(&format!("{start}a.b,1,2,3,4,5\na.b,1,2,3,4,5\n")), 5);
        assert_eq!(line(&format!("{start}a.b")), 4);
        let message = KernelBudget::parse(&format!("{start}a.b,1,2\n")).unwrap_err().to_string();
        assert_eq!(
            message,
            "line 4: found \"a.b,1,2\", expected the kernel and five whole numbers, or nothing for one"
        );
    }
}
