//! Warnings about allowed but unusual scenes of the material point method.

use super::section::{InitialVolume, Mpm, Spline};
use crate::check::{number, rounded_down};
use crate::{Fill, Scene};

/// Cells across a body below which volumes from the grid are off by more than 4 %.
const MIN_GRID_CELLS: f64 = 20.0;
/// Relative standard deviation of the mass of nodes above which random positions change the elasticity
/// visibly: at 0.24 (four particles per cell) a bar's period is 15 % long and its amplitude falls by a fifth
/// per half period, at 0.01 both are as on a lattice.
const MAX_MASS_DEVIATION: f64 = 0.05;

impl Scene {
    /// Warns about an explicit step that is stable in fresh snow but may be too long once the snow has
    /// hardened, about damping that depends on the time step or has no effect, about particles at random
    /// positions, and about volumes from the grid in thin bodies.
    pub(crate) fn advise_mpm(&self, warn: &mut dyn FnMut(&str, String), mpm: &Mpm) {
        let (dt, h, wave) = (self.dt_s(), mpm.cell_size_m, mpm.hardened_wave_speed_m_s());
        if let Some(ratio) = mpm.flip_ratio
            && ratio < 1.0
        {
            let amounts_to = if ratio > 0.0 {
                format!("it amounts to pic_rate_per_s = {:.4}", -ratio.ln() / dt)
            } else {
                "it is PIC, which damps most".to_owned()
            };
            warn(
                "mpm.flip_ratio",
                format!(
                    "{ratio} in each step, so that the damping of rotation and of waves depends on the time \
                     step: at {dt} s {amounts_to}, which does not depend on it"
                ),
            );
        }
        if mpm.implicit.is_none() && wave * dt > h {
            warn(
                "time.dt_s",
                format!(
                    "an elastic wave in hardened snow, at {wave:.1} m/s, passes {:.2} cells in a step of \
                     {dt} s; at most 1 needs a step of {:.3e} s or less, and dt_s = \"auto\" takes {} s",
                    wave * dt / h,
                    h / wave,
                    self.auto_wave_dt_s(mpm)
                ),
            );
        }
        let band_m = mpm.material.wave_speed_m_s(1.0) * mpm.material.relaxation_time_s;
        if mpm.material.plastic && band_m > 0.0 && band_m < h {
            warn(
                "mpm.material.relaxation_time_s",
                format!(
                    "viscous yield spreads over {} m, less than a cell, so that failure depends on the size \
                     of cells; {} s or more spreads it over one",
                    number(rounded_down(band_m)),
                    number(rounded_down(h / mpm.material.wave_speed_m_s(1.0)))
                ),
            );
        }
        for (idx, block) in self.particles.iter().enumerate() {
            let deviation = mpm.random_mass_deviation(self.particles_in_cell(idx, mpm));
            if block.fill_of_count() == Fill::Uniform && deviation > MAX_MASS_DEVIATION {
                warn(
                    &format!("particles.{idx}.fill"),
                    format!(
                        "\"uniform\" places particles at random, so that the density of the grid varies by \
                         {:.0} %: bodies are softer, and oscillations fade; \"blue_noise\" spreads them \
                         evenly",
                        100.0 * deviation
                    ),
                );
            }
        }
        let (h, n_axes) = (mpm.cell_size_m, mpm.dimensions as usize);
        let extent = |block: &crate::ParticleBlock| {
            let (min, max) = block.shape.bounds_m();
            (0..n_axes).map(|i| max[i] - min[i]).fold(f64::INFINITY, f64::min)
        };
        let thinnest_m = self.particles.iter().map(extent).fold(f64::INFINITY, f64::min);
        if mpm.initial_volume == InitialVolume::Grid && thinnest_m / h < MIN_GRID_CELLS - 1e-6 {
            warn(
                "mpm.initial_volume",
                format!(
                    "\"grid\" gives particles near surfaces too much volume, so that a body {:.1} cells \
                     thick is too stiff; \"sampled\" gives them their share of the shape",
                    thinnest_m / h
                ),
            );
        }
    }

    /// Returns the mean number of particles of a block in a cell.
    fn particles_in_cell(&self, block_idx: usize, mpm: &Mpm) -> f64 {
        let block = &self.particles[block_idx];
        match block.count {
            Some(n) => n as f64 * mpm.cell_size_m.powi(mpm.dimensions as i32) / block.shape.volume_m3(),
            None => mpm.particles_per_cell(),
        }
    }
}

impl Mpm {
    /// Returns the relative standard deviation of the mass of a node if `n` particles per cell are placed
    /// independently: (∫ w²)^(D/2)/√n, where ∫ w² is 151/315 for the cubic and 11/20 for the quadratic
    /// spline.
    fn random_mass_deviation(&self, n: f64) -> f64 {
        let square: f64 = match self.spline {
            Spline::Cubic => 151.0 / 315.0,
            Spline::Quadratic => 11.0 / 20.0,
        };
        (square.powi(self.dimensions as i32) / n).sqrt()
    }
}
