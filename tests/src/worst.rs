//! Maximum errors relative to expected values.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write};

/// Maximum error of each quantity relative to its bound, and its location.
#[derive(Clone, Debug, Default)]
pub struct Worst {
    found: BTreeMap<&'static str, (f64, f64, String)>,
    seen: BTreeSet<usize>,
    /// Number of particles that yielded.
    pub n_yielded: usize,
}

impl Worst {
    /// Records an error; NaN exceeds every bound.
    pub fn note(&mut self, what: &'static str, error: f64, bound: f64, at: impl Display) {
        let share = if error <= 0.0 {
            0.0
        } else if error.is_finite() && bound > 0.0 {
            error / bound
        } else {
            f64::INFINITY
        };
        let max = self.found.get(what).map_or(-1.0, |(share, ..)| *share);
        if share > max {
            self.found.insert(what, (share, error, at.to_string()));
        }
    }

    /// Records that a body was in contact.
    pub fn see(&mut self, body: usize) {
        self.seen.insert(body);
    }

    /// Returns the number of bodies in contact.
    pub fn n_seen(&self) -> usize {
        self.seen.len()
    }

    /// Lists the quantities that exceeded their bounds, one per line.
    pub fn beyond(&self) -> String {
        let mut lines = String::new();
        for (what, (share, error, at)) in self.found.iter().filter(|(_, found)| found.0 > 1.0) {
            let _ = writeln!(lines, "{what}: {error:e}, {share:.3} of the bound; {at}");
        }
        lines
    }

    /// Lists the maximum of each quantity relative to its bound.
    pub fn shares(&self) -> String {
        self.found.iter().map(|(what, found)| format!("{what} {:.3}\n", found.0)).collect()
    }
}
