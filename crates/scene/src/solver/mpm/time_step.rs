//! How long a step of the material point method is, and what follows from its section.

use serde::Serialize;

use super::section::Mpm;
use crate::Scene;
use crate::validate::{Check, Checker, number, rounded_down};

/// Plastic volume ratio J_P of the snow whose stiffness sets `"auto"`: hardened as by a fair impact.
const HARDENED_PLASTIC_VOLUME: f64 = 0.8;

/// An implicit step has no wave speed to heed, and in a scene at rest no other: this share of it stands for the speeds to come.
const IMPLICIT_SHARE_OF_WAVE_SPEED: f64 = 0.1;

/// What follows from the values of an `[mpm]` section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DerivedMpm {
    /// Cells that the domain has along each axis; 1 across a plane.
    pub n_cells: [u64; 3],
    /// Lamé parameters μ₀ and λ₀ in Pa.
    pub lame_pa: [f64; 2],
    /// Speed of pressure waves in fresh snow, in m/s.
    pub wave_speed_m_s: f64,
    /// That speed in snow hardened to J_P = 0.8, which `dt_s = "auto"` counts on.
    pub hardened_wave_speed_m_s: f64,
    /// Speed in m/s that no particle is expected to exceed.
    pub fastest_m_s: f64,
    /// Cells that a wave in hardened snow passes in a step.
    pub wave_courant_number: f64,
}

impl Scene {
    /// Δt = C h / (c + v), cut off after four digits: c is the speed of waves in hardened snow, v that of the fastest particle. An
    /// implicit step is as long as C h / v allows, v being a tenth of fresh snow's wave speed at least.
    pub(crate) fn auto_wave_dt_s(&self, mpm: &Mpm) -> f64 {
        let v = self.fastest_to_come_m_s();
        let speed = match mpm.implicit {
            Some(_) => v.max(IMPLICIT_SHARE_OF_WAVE_SPEED * mpm.material.wave_speed_m_s(1.0)),
            None => mpm.hardened_wave_speed_m_s() + v,
        };
        rounded_down(mpm.courant_number * mpm.cell_size_m / speed)
    }

    /// What follows from `[mpm]`, if the scene has it.
    pub fn derived_mpm(&self) -> Option<DerivedMpm> {
        let mpm = self.mpm()?;
        let extent = |i: usize| self.domain.max_m[i] - self.domain.min_m[i];
        let wave = mpm.hardened_wave_speed_m_s();
        let (mu, lambda) = mpm.material.lame_pa();
        Some(DerivedMpm {
            // The rounding of decimal numbers adds no cell.
            n_cells: std::array::from_fn(|i| ((extent(i) / mpm.cell_size_m - 1e-9).ceil() as u64).max(1)),
            lame_pa: [mu, lambda],
            wave_speed_m_s: mpm.material.wave_speed_m_s(1.0),
            hardened_wave_speed_m_s: wave,
            fastest_m_s: self.fastest_to_come_m_s(),
            wave_courant_number: wave * self.dt_s() / mpm.cell_size_m,
        })
    }

    /// A step in which a wave or a particle passes a whole cell surely fails.
    pub(crate) fn check_wave_time(&self, check: &Checker<'_>, mpm: &Mpm) -> Check {
        let (dt, h) = (self.dt_s(), mpm.cell_size_m);
        let (wave, particle) = (mpm.material.wave_speed_m_s(1.0), self.fastest_to_come_m_s());
        let (speed, what) = if mpm.implicit.is_none() && wave >= particle {
            (wave, "an elastic wave in fresh snow")
        } else {
            (particle, "a particle that falls through the domain")
        };
        if speed * dt <= h {
            return Ok(());
        }
        check.fail_between(
            &["time.dt_s", "mpm", "particles", "colliders", "domain"],
            format!(
                "{} s, in which {what}, at {} m/s, passes {:.3} cells: surely unstable",
                number(dt),
                number(rounded_down(speed)),
                speed * dt / h
            ),
            format!(
                "at most {} s; dt_s = {} or dt_s = \"auto\" has room for hardening",
                number(rounded_down(h / speed)),
                number(self.auto_wave_dt_s(mpm))
            ),
        )
    }
}

impl Mpm {
    /// Speed of elastic waves in m/s in snow at J_P = 0.8, or as hard as it can become, which `"auto"` counts on.
    pub fn hardened_wave_speed_m_s(&self) -> f64 {
        self.material.wave_speed_m_s(HARDENED_PLASTIC_VOLUME.max(self.material.least_plastic_volume))
    }
}
