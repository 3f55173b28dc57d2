//! Warnings about allowed but unusual scenes of water and snow.

use super::fluid::{Fluid, WallDensity};
use super::snow::{Averaging, Conduction, Heat, LatentHeat, LinkLimit, Snow};
use super::xsph::XSPH_DIVISOR;
use crate::{Phase, Scene};

/// Maximum displacement in a step, as a share of the support radius, at which a particle still finds its
/// neighbours.
const MAX_TRAVEL: f64 = 0.5;

/// Maximum number of equal spheres that can touch one sphere.
const CLOSEST_PACKING: f64 = 12.0;

/// Maximum strain of snow by its own weight that passes without a warning: of springs, and of shares of
/// overlaps, which compress the paper's scenes by 0.08, and by 0.16 at twice their size.
const MAX_SAG: f64 = 0.05;
const MAX_SHARE_SAG: f64 = 0.2;

impl Scene {
    pub(crate) fn advise_fluid(&self, warn: &mut dyn FnMut(&str, String), fluid: &Fluid) {
        let (dt, d, h) = (self.dt_s(), fluid.particle_spacing_m, fluid.support_radius_m());
        let fastest = self.fastest_m_s();
        if fastest * dt > MAX_TRAVEL * h && !self.has_adaptive_substeps() {
            warn(
                "time.dt_s",
                format!(
                    "a particle that falls through the domain reaches {fastest:.3} m/s and crosses {:.2} \
                     support radii in a step of {dt} s; at most {MAX_TRAVEL} needs a step of {:.3e} s or \
                     less",
                    fastest * dt / h,
                    MAX_TRAVEL * h / fastest
                ),
            );
        }
        if !(1.5..=3.0).contains(&fluid.support_radius_spacings) {
            let neighbours = 4.0 / 3.0 * std::f64::consts::PI * fluid.support_radius_spacings.powi(3);
            let effect = if neighbours < 30.0 { "too few for a smooth density" } else { "which costs time" };
            warn(
                "fluid.support_radius_spacings",
                format!("gives about {neighbours:.0} neighbours, {effect}"),
            );
        }
        // XSPH acts on scales beyond the kernel like a kinematic viscosity.
        let share_per_s = self.xsph_share(fluid.xsph()) / dt;
        let numerical_pa_s = fluid.rest_density_kg_m3 * share_per_s * h * h / XSPH_DIVISOR;
        let asked = fluid.dynamic_viscosity_pa_s;
        if self.snow().is_none() && asked != Fluid::default_dynamic_viscosity_pa_s() && asked < numerical_pa_s
        {
            warn(
                "fluid.dynamic_viscosity_pa_s",
                format!(
                    "{asked} Pa s is less than the {numerical_pa_s:.3} Pa s that XSPH adds at this spacing; \
                     a smaller fluid.particle_spacing_m or fluid.xsph_rate_per_s lowers it"
                ),
            );
        }
        if self.wall_density() == Some(WallDensity::Integral) && self.snow().is_none() {
            let effect = "stops particles half a spacing away from the domain's faces, and damps the flow \
                          along them; \"images\" does not";
            warn("fluid.wall_density", effect.to_owned());
        }
        let lattice_mass = fluid.rest_density_kg_m3 * d * d * d;
        let mass_ratio = self.particle_mass_kg() / lattice_mass;
        if (mass_ratio - 1.0).abs() > 0.05 {
            warn(
                "fluid.particle_mass_kg",
                format!(
                    "is {mass_ratio:.2} times the {lattice_mass:.3e} kg that fill the lattice at the rest \
                     density, so that the fluid starts {}",
                    if mass_ratio > 1.0 { "compressed" } else { "stretched" }
                ),
            );
        }
    }

    pub(crate) fn advise_snow(&self, warn: &mut dyn FnMut(&str, String)) {
        if let Some(snow) = self.snow().filter(|snow| snow.averaging == Averaging::Off) {
            // Each particle of a pair takes half of the correction, from as many neighbours as can touch a
            // sphere. Springs are not over-relaxed.
            let stiffness = snow.non_penetration_stiffness.unwrap_or(0.0);
            let gain = 0.5 * CLOSEST_PACKING * stiffness * self.pbd().over_relaxation;
            if gain > 1.0 {
                warn(
                    "snow.averaging",
                    format!(
                        "off, with snow.non_penetration_stiffness times pbd.over_relaxation above {:.3}: \
                         particles that touch {CLOSEST_PACKING} others are thrown past where they should be; \
                         \"pairwise\" divides by their number",
                        2.0 / CLOSEST_PACKING
                    ),
                );
            }
        }
        // The paper's scenes have neither; true latent heat is for fronts that are to be where they should.
        let is_late = |heat: &Heat| {
            heat.conduction == Conduction::Uncorrected && heat.latent_heat == LatentHeat::Enthalpy
        };
        if self.snow().is_some_and(|snow| is_late(&snow.heat)) {
            warn(
                "snow.heat.conduction",
                "\"uncorrected\" conducts heat along walls and free surfaces with two thirds to nine tenths \
                 of the conductivity, which makes fronts of melting and freezing late by a quarter in thin \
                 layers; \"corrected\" follows Fourier's law there, too"
                    .to_owned(),
            );
        }
        if let Some(snow) = self.snow() {
            self.advise_sag(warn, snow);
        }
        let freezing = self.snow().map(|snow| snow.heat.freezing_temperature_c);
        for (block_idx, block) in self.particles.iter().enumerate() {
            let Some(freezing) = freezing else { break };
            let change = match block.phase {
                Phase::Snow if block.temperature_c > freezing => "snow above freezing, which melts at once",
                Phase::Water if block.temperature_c < freezing => {
                    "water below freezing, which freezes at once"
                }
                _ => continue,
            };
            warn(
                &format!("particles.{block_idx}.temperature_c"),
                format!("{} °C makes {change}; freezing is at {freezing} °C", block.temperature_c),
            );
        }
    }

    /// Warns if the highest block of snow is compressed noticeably by its own weight, ρ g H/(2E) in the mean.
    fn advise_sag(&self, warn: &mut dyn FnMut(&str, String), snow: &Snow) {
        let (d, gravity) = (self.snow_spacing_m(), self.gravity_m_s2());
        let density_kg_m3 = self.rest_density_kg_m3() / self.snow_volume_ratio();
        let blocks = self.particles.iter().filter(|block| block.phase == Phase::Snow);
        let load_m2_s2 = blocks
            .map(|block| {
                let (min, max) = block.shape.bounds_m();
                (0..3).map(|axis| gravity[axis].abs() * (max[axis] - min[axis])).fold(0.0, f64::max)
            })
            .fold(0.0, f64::max);
        let sag = |modulus_pa: f64| 0.5 * density_kg_m3 * load_m2_s2 / modulus_pa;
        if let Some(stiffness) = snow.non_penetration_stiffness {
            // A contact removes half of this share of its overlap from each particle in an iteration, which
            // at rest is their fall in a step under those above.
            let links = if snow.links.limit == LinkLimit::None { 0.0 } else { f64::from(snow.links.most) };
            let constraints = if snow.averaging == Averaging::Pairwise { 6.0 + links } else { 1.0 };
            let share = f64::from(self.iterations()) * stiffness * self.pbd().over_relaxation / constraints;
            let modulus_pa = 0.5 * share * self.particle_mass_kg() / (self.dt_s().powi(2) * d);
            if sag(modulus_pa) > MAX_SHARE_SAG {
                warn(
                    "snow.non_penetration_stiffness",
                    format!(
                        "carries snow like a modulus of {modulus_pa:.1e} Pa at {} iterations and a step of \
                         {} s: the highest block is compressed by {:.0} % under its weight; without this key \
                         contacts are springs of snow.youngs_modulus_pa",
                        self.iterations(),
                        self.dt_s(),
                        100.0 * sag(modulus_pa).min(1.0)
                    ),
                );
            }
            return;
        }
        let springs = self.snow_springs(snow);
        let Some(modulus_pa) = springs.modulus_pa(d).filter(|modulus_pa| sag(*modulus_pa) > MAX_SAG) else {
            return;
        };
        let cause = match springs.softening < 1.0 {
            true => format!(
                "{:.1e} Pa, {:.2} of what is asked, is the largest that {} iterations resolve in a step of \
                 {} s",
                modulus_pa,
                springs.softening,
                self.iterations(),
                self.dt_s()
            ),
            false => format!("{modulus_pa:.1e} Pa"),
        };
        warn(
            if springs.softening < 1.0 { "time.dt_s" } else { "snow.youngs_modulus_pa" },
            format!(
                "Young's modulus of the snow: {cause}; the highest block is compressed by {:.0} % under its \
                 weight",
                100.0 * sag(modulus_pa).min(1.0)
            ),
        );
    }

    /// Returns the speed in m/s of the fastest block after falling through the whole domain.
    fn fastest_m_s(&self) -> f64 {
        let start = self.particles.iter().map(|block| block.velocity_m_s.iter().map(|v| v * v).sum::<f64>());
        (start.fold(0.0, f64::max) + self.fall_m2_s2()).sqrt()
    }
}
