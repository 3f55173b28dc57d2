//! Time step of the material point method, and quantities derived from its section.

use serde::Serialize;

use super::section::Mpm;
use crate::Scene;
use crate::check::{Check, Checker, number, rounded_down};

/// Plastic volume ratio J_P of the snow whose stiffness sets `"auto"`: hardened as by a moderate impact.
const HARDENED_PLASTIC_VOLUME: f64 = 0.8;

/// Share of the wave speed that stands for future speeds in an implicit step, which is not limited by waves:
/// a scene at rest has no other speed.
const IMPLICIT_SHARE_OF_WAVE_SPEED: f64 = 0.1;

/// Quantities derived from an `[mpm]` section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DerivedMpm {
    /// Number of cells along each axis of the domain; 1 across a plane.
    pub n_cells: [u64; 3],
    /// Lamé parameters μ₀ and λ₀ in Pa.
    pub lame_pa: [f64; 2],
    /// Speed of pressure waves in fresh snow, in m/s.
    pub wave_speed_m_s: f64,
    /// Speed of pressure waves in snow hardened to J_P = 0.8, which `dt_s = "auto"` uses.
    pub hardened_wave_speed_m_s: f64,
    /// Maximum expected speed of particles in m/s.
    pub fastest_m_s: f64,
    /// Number of cells that a wave in hardened snow passes in a step.
    pub wave_courant_number: f64,
}

impl Scene {
    /// Returns Δt = C h / (c + v), truncated to four digits: c is the speed of waves in hardened snow, v that
    /// of the fastest particle. For an implicit step Δt = C h / v, with v at least a tenth of fresh snow's
    /// wave speed.
    pub(crate) fn auto_wave_dt_s(&self, mpm: &Mpm) -> f64 {
        mpm.longest_dt_s(self.expected_max_speed_m_s())
    }

    /// Returns the quantities derived from `[mpm]`, if the scene has it.
    pub fn derived_mpm(&self) -> Option<DerivedMpm> {
        let mpm = self.mpm()?;
        let extent = |i: usize| self.domain.max_m[i] - self.domain.min_m[i];
        let wave = mpm.hardened_wave_speed_m_s();
        let (mu, lambda) = mpm.material.lame_pa();
        Some(DerivedMpm {
            // The rounding of decimal numbers must not add a cell.
            n_cells: std::array::from_fn(|i| ((extent(i) / mpm.cell_size_m - 1e-9).ceil() as u64).max(1)),
            lame_pa: [mu, lambda],
            wave_speed_m_s: mpm.material.wave_speed_m_s(1.0),
            hardened_wave_speed_m_s: wave,
            fastest_m_s: self.expected_max_speed_m_s(),
            wave_courant_number: wave * self.dt_s() / mpm.cell_size_m,
        })
    }

    /// Refuses a step in which a wave or a particle passes a whole cell.
    pub(crate) fn check_wave_time(&self, check: &Checker<'_>, mpm: &Mpm) -> Check {
        let (dt, h) = (self.dt_s(), mpm.cell_size_m);
        let wave = mpm.material.wave_speed_m_s(1.0);
        // Adaptive substeps follow the speed of particles.
        let particle = if self.has_adaptive_substeps() { 0.0 } else { self.expected_max_speed_m_s() };
        let (speed, what) = if mpm.implicit.is_none() && wave >= particle {
            (wave, "an elastic wave in fresh snow")
        } else {
            (particle, "a particle that falls through the domain")
        };
        if speed * dt <= h {
            return Ok(());
        }
        check.fail_between(
            &["time.dt_s", "mpm", "particles", "bodies", "domain"],
            format!(
                "{} s, in which {what}, at {} m/s, passes {:.3} cells: surely unstable",
                number(dt),
                number(rounded_down(speed)),
                speed * dt / h
            ),
            format!(
                "at most {} s; dt_s = {} or dt_s = \"auto\" leaves a margin for hardening",
                number(rounded_down(h / speed)),
                number(self.auto_wave_dt_s(mpm))
            ),
        )
    }
}

impl Mpm {
    /// Returns the longest stable step in s while the fastest particle has the speed v in m/s.
    pub(super) fn longest_dt_s(&self, v: f64) -> f64 {
        let speed = match self.implicit {
            Some(_) => v.max(IMPLICIT_SHARE_OF_WAVE_SPEED * self.material.wave_speed_m_s(1.0)),
            None => self.hardened_wave_speed_m_s() + v,
        };
        rounded_down(self.courant_number * self.cell_size_m / speed)
    }

    /// Returns the speed of elastic waves in m/s in snow at J_P = 0.8, or at its maximum hardness, which
    /// `"auto"` uses.
    pub fn hardened_wave_speed_m_s(&self) -> f64 {
        self.material.wave_speed_m_s(HARDENED_PLASTIC_VOLUME.max(self.material.min_plastic_volume))
    }
}
