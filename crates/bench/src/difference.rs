//! Difference between a result and the twin's.

use std::fmt;

/// First difference between a result and the twin's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference(pub String);

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the first element, or else the length, in which `found` differs from `expected`.
pub fn first_difference<T: PartialEq + fmt::Debug>(
    name: &str,
    found: &[T],
    expected: &[T],
) -> Option<Difference> {
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        Some(i) => Some(Difference(format!("{name}[{i}] is {:?}, expected {:?}", found[i], expected[i]))),
        None if found.len() != expected.len() => {
            Some(Difference(format!("{name} has {} elements, expected {}", found.len(), expected.len())))
        }
        None => None,
    }
}
