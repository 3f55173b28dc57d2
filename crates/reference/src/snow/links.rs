//! Links of snow: bonds whose maximum number depends on temperature.

use super::link_rule::LinkRule;
use super::{Parameters, State};
use crate::bonds::{Particles, Search, break_stretched, build_reproducible};

impl State {
    /// Removes links that are too long or exceed the limit.
    pub fn break_links(&mut self, p: &Parameters) {
        if let Some(rule) = &p.links {
            let particles = self.linkable(rule);
            break_stretched(&mut self.links, &particles, self.n_max, rule.break_ratio);
        }
    }

    /// Builds new links with the reproducible builder.
    pub fn build_links(&mut self, p: &Parameters) {
        if let Some(rule) = &p.links {
            let particles = self.linkable(rule);
            let search = Search { radius_m: rule.radius_m, max_bonds: self.n_max };
            build_reproducible(&mut self.links, &particles, &search, p.link_rounds);
        }
    }

    /// Returns snow at x*, with the limits for its temperatures.
    fn linkable(&self, rule: &LinkRule) -> Particles {
        Particles {
            position: self.solid.predicted.clone(),
            limit: self.solid.temperature_c.iter().map(|t| rule.link_limit(self.n_max, *t)).collect(),
            id: self.solid.id.clone(),
        }
    }
}
