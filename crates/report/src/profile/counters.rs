//! Hardware counters of kernels and passes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::rows::ProfileRow;
use super::table::{TableStyle, fitted_table};

/// Values of hardware counters, measured in steps that follow the timed ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HardwareCounters {
    /// The counters, in the order of all values.
    pub counters: Vec<CounterFact>,
    /// Number of steps in which each was measured.
    pub steps: u64,
    /// By kernel, the mean of each counter over active calls; `None` without one.
    pub kernels: BTreeMap<String, Vec<Option<f64>>>,
    /// The same for each pass, in the order of the profile's passes.
    pub passes: Vec<Vec<Option<f64>>>,
}

/// A hardware counter in the driver's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterFact {
    /// Its name.
    pub name: String,
    /// Its category.
    pub category: String,
    /// Its unit; empty for a number without one.
    pub unit: String,
    /// Its description; may be empty.
    pub description: String,
}

impl CounterFact {
    /// Returns the name with the unit in brackets.
    pub fn label(&self) -> String {
        if self.unit.is_empty() { self.name.clone() } else { format!("{} [{}]", self.name, self.unit) }
    }
}

/// Formats a row for each kernel, in the order of the profile's `rows`, and a column for each counter; unless
/// `wide`, without the last columns that exceed 100 characters.
pub fn counter_table(
    measured: &HardwareCounters,
    rows: &[ProfileRow],
    wide: bool,
    style: TableStyle,
) -> String {
    let labels: Vec<String> = measured.counters.iter().map(CounterFact::label).collect();
    let header: Vec<&str> =
        std::iter::once("kernel, a mean call").chain(labels.iter().map(String::as_str)).collect();
    let named = rows.iter().filter_map(|row| Some((&row.kernel, measured.kernels.get(&row.kernel)?)));
    let lines: Vec<Vec<String>> = named
        .map(|(kernel, values)| {
            std::iter::once(kernel.clone()).chain(values.iter().map(|value| number(*value))).collect()
        })
        .collect();
    let optional: Vec<&str> = header[1..].iter().rev().copied().collect();
    fitted_table(&header, &lines, &optional, wide, style)
}

/// Formats a value with four digits.
pub(super) fn number(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value.abs() >= 1e7 => format!("{value:.3e}"),
        Some(value) if value.abs() >= 1000.0 || value == value.trunc() => format!("{value:.0}"),
        Some(value) => format!("{value:.3}"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::{Profile, tests::profile};
    use super::*;

    /// Makes a profile with two counters of its first kernel and pass.
    pub fn counted() -> Profile {
        let fact = |name: &str, unit: &str| CounterFact {
            name: name.to_owned(),
            category: "Memory, L2".to_owned(),
            unit: unit.to_owned(),
            description: "as <named>".to_owned(),
        };
        let values = vec![Some(1234.5), None];
        let counters = HardwareCounters {
            counters: vec![fact("VRAM read, all", "B"), fact("Waves", "")],
            steps: 10,
            kernels: BTreeMap::from([("pbd.lambda".to_owned(), values.clone())]),
            passes: vec![values, vec![None, None]],
        };
        Profile { counters: Some(counters), ..profile() }
    }

    #[test]
    fn counters_are_columns_and_kernels_rows() {
        let profile = counted();
        let measured = profile.counters.unwrap();
        let text = counter_table(&measured, &profile.rows, false, TableStyle::Plain);
        assert_eq!(
            text,
            "kernel, a mean call  VRAM read, all [B]  Waves\npbd.lambda                         1234      -\n"
        );
        let numbers = [None, Some(0.0), Some(97.25), Some(1e6), Some(2.5e9)].map(number);
        assert_eq!(numbers, ["-", "0", "97.250", "1000000", "2.500e9"]);
    }
}
