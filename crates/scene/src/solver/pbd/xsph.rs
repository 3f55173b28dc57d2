//! XSPH: the share of the smoothed velocity difference of neighbours that a step blends in.

use crate::Scene;
use crate::check::{Check, Checker};
use crate::vector::length;

/// Rate of XSPH of water that a scene does not state, over √(g/d): 16/s at a spacing of 1 cm. Without it the
/// particles of a resting column keep moving at some centimetres per second. Scenes that are similar, with
/// gravity and lengths in proportion, have similar flows; without gravity it is 0.
const WATER_FROUDE_RATE: f64 = 0.5;

/// The same of snow and of the water beside it: the 80/s of Chen2021 table 8.4, 0.1 in a step of 1.25 ms, at
/// its spacing of 2.15 cm. It damps the vibration of snow that settles, and of water whose density is solved
/// by a fixed number of iterations: a pool of ten layers moves at 1 cm/s after 0.6 s, with the rate of water
/// alone at 2.7 cm/s.
const SNOW_FROUDE_RATE: f64 = 3.75;

/// XSPH acts on scales beyond the kernel like a kinematic viscosity of rate · h² over this.
pub(super) const XSPH_DIVISOR: f64 = 44.5;

/// XSPH as a section states it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Xsph {
    /// Rate in 1/s.
    pub rate_per_s: Option<f64>,
    /// Share per step, the papers' coefficient, in place of the rate.
    pub per_step: Option<f64>,
}

impl Xsph {
    /// Refuses a rate beside a share per step.
    pub(crate) fn check(self, check: &Checker<'_>, section: &str) -> Check {
        if self.rate_per_s.is_some() && self.per_step.is_some() {
            let keys = [&*format!("{section}.xsph_rate_per_s"), &*format!("{section}.xsph_viscosity")];
            let found = format!("a rate and {section}.xsph_viscosity, a share per step");
            check.fail_between(&keys, found, "one of the two")?;
        }
        Ok(())
    }
}

impl Scene {
    /// Returns the share of the smoothed velocity difference that a step blends in: 1 − exp(−rate Δt), so
    /// that the damping per second does not depend on the step, or the share per step that the section
    /// states.
    pub fn xsph_share(&self, xsph: Xsph) -> f64 {
        let rate_per_s = xsph.rate_per_s.unwrap_or_else(|| {
            let froude_rate = if self.snow().is_some() { SNOW_FROUDE_RATE } else { WATER_FROUDE_RATE };
            froude_rate * (length(self.gravity_m_s2()) / self.particle_spacing_m()).sqrt()
        });
        xsph.per_step.unwrap_or(-(-rate_per_s * self.dt_s()).exp_m1())
    }
}
