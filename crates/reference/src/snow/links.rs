//! Links of snow: bonds whose number depends on temperature.

use super::link_rule::LinkRule;
use super::{Parameters, State};
use crate::bonds::{Particles, Search, break_stretched, build_reproducible};

impl State {
    /// Links that are too long or too many go.
    pub fn break_links(&mut self, p: &Parameters) {
        if let Some(rule) = &p.links {
            let particles = self.linkable(rule);
            break_stretched(&mut self.links, &particles, self.n_max, rule.break_ratio);
        }
    }

    /// New links, by the reproducible builder.
    pub fn build_links(&mut self, p: &Parameters) {
        if let Some(rule) = &p.links {
            let particles = self.linkable(rule);
            let search = Search { radius_m: rule.radius_m, max_bonds: self.n_max };
            build_reproducible(&mut self.links, &particles, &search, p.link_rounds);
        }
    }

    /// Snow at x*, with the limits of its temperatures.
    fn linkable(&self, rule: &LinkRule) -> Particles {
        Particles {
            position: self.solid.predicted.clone(),
            limit: self.solid.temperature_c.iter().map(|t| rule.link_limit(self.n_max, *t)).collect(),
            id: self.solid.id.clone(),
        }
    }
}
