//! What differs most from what is expected.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write};

/// For each quantity the largest error in shares of its bound, and where it is.
#[derive(Clone, Debug, Default)]
pub struct Worst {
    found: BTreeMap<&'static str, (f64, f64, String)>,
    seen: BTreeSet<usize>,
    /// Particles that yielded.
    pub n_yielded: usize,
}

impl Worst {
    /// Takes an error into account; what is not a number is beyond every bound.
    pub fn note(&mut self, what: &'static str, error: f64, bound: f64, at: impl Display) {
        let share = if error <= 0.0 {
            0.0
        } else if error.is_finite() && bound > 0.0 {
            error / bound
        } else {
            f64::INFINITY
        };
        let most = self.found.get(what).map_or(-1.0, |(share, ..)| *share);
        if share > most {
            self.found.insert(what, (share, error, at.to_string()));
        }
    }

    /// Remembers that a body was touched.
    pub fn see(&mut self, body: usize) {
        self.seen.insert(body);
    }

    /// How many bodies were.
    pub fn n_seen(&self) -> usize {
        self.seen.len()
    }

    /// The quantities that were beyond their bounds, in a line each.
    pub fn beyond(&self) -> String {
        let mut lines = String::new();
        for (what, (share, error, at)) in self.found.iter().filter(|(_, found)| found.0 > 1.0) {
            let _ = writeln!(lines, "{what}: {error:e}, {share:.3} of the bound; {at}");
        }
        lines
    }

    /// The largest share of each quantity.
    pub fn shares(&self) -> String {
        self.found.iter().map(|(what, found)| format!("{what} {:.3}\n", found.0)).collect()
    }
}
