//! Links of snow: bonds whose maximum number depends on temperature.

use super::link_rule::LinkRule;
use super::{Parameters, State};
use crate::bonds::{Particles, Search, break_stretched, build_reproducible};
use crate::fluid::{dot, zip};

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

    /// Damps the vibration of links, in the stages of a Runge–Kutta–Legendre scheme of first order (Meyer et
    /// al. 2014): v' = k τ/m Σ n̂ n̂·(v_j − v_i) over a step.
    pub fn damp_links(&mut self, p: &Parameters) {
        let n = p.springs.damping_stages;
        let (x, contact) = (&self.solid.predicted, &self.solid.contact);
        let rate = |v: &[[f32; 3]], i: usize| {
            let mut sum = [0.0f32; 3];
            for link in &self.links.rows[i] {
                let j = link.partner as usize;
                let offset = zip(x[i], x[j], |a, b| a - b);
                let length2 = dot(offset, offset);
                if length2 == 0.0 {
                    continue;
                }
                let closing = zip(v[j], v[i], |a, b| a - b);
                let along = contact[i][0].min(contact[j][0]) * dot(closing, offset) / length2;
                sum = zip(sum, offset, |s, o| s + along * o);
            }
            sum
        };
        let (mut before, mut now) = (self.solid.updated.clone(), self.solid.updated.clone());
        for j in 1..=n {
            let mu = (2 * j - 1) as f32 / j as f32;
            let nu = (1.0 - j as f32) / j as f32;
            let gain = mu * p.springs.damping * 2.0 / (n * n + n) as f32;
            let next = |i: usize| {
                let kept = zip(now[i], before[i], |a, b| a + nu * (b - a));
                zip(kept, rate(&now, i), |k, r| k + gain * r)
            };
            let next = (0..now.len()).map(next).collect();
            before = std::mem::replace(&mut now, next);
        }
        self.solid.updated = now;
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
