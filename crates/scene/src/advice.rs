//! What is allowed but rarely meant.

use std::fmt;

use crate::source::Location;
use crate::terrain::same_projection;
use crate::{Averaging, Dem, Fluid, Mpm, Phase, Scene};

/// A warning about a scene that can run but may disappoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Where the value stands.
    pub at: Location,
    /// Path of the key.
    pub key: String,
    /// What may go wrong and what would help.
    pub message: String,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.at, self.key, self.message)
    }
}

/// Largest share of the support radius a particle may cross in a step and still meet its neighbours.
const MAX_TRAVEL: f64 = 0.5;

/// Spheres that can touch one of their size.
const CLOSEST_PACKING: f64 = 12.0;

/// Steps of a contact below which packings gain energy.
const RESOLVED_STEPS_PER_CONTACT: f64 = 10.0;

/// Deepest overlap, in radii, at which the centre of a grain is well outside of what it meets.
const DEEPEST_OVERLAP_RADII: f64 = 0.5;

impl Scene {
    /// Warnings, cheap to compute: none of them stops a run.
    pub fn advice(&self) -> Vec<Advice> {
        let mut advice = Vec::new();
        let mut warn = |key: &str, message: String| {
            advice.push(Advice { at: self.source.locate(key), key: key.to_owned(), message });
        };
        if let Some(fluid) = &self.fluid {
            self.advise_fluid(&mut warn, fluid);
        }
        if let Some(mpm) = &self.mpm {
            self.advise_mpm(&mut warn, mpm);
        }
        if let Some(dem) = &self.dem {
            self.advise_dem(&mut warn, dem);
        }
        if self.gravity_m_s2()[self.up_axis.index()] > 0.0 {
            warn("gravity_m_s2", "points up".to_owned());
        }
        self.advise_snow(&mut warn);
        advice
    }

    fn advise_fluid(&self, warn: &mut dyn FnMut(&str, String), fluid: &Fluid) {
        let (dt, d, h) = (self.dt_s(), fluid.particle_spacing_m, fluid.support_radius_m());
        let fastest = self.fastest_m_s();
        if fastest * dt > MAX_TRAVEL * h {
            warn(
                "time.dt_s",
                format!(
                    "a particle that falls through the domain reaches {fastest:.3} m/s and crosses {:.2} support radii in \
                     a step of {dt} s; at most {MAX_TRAVEL} needs a step of {:.3e} s or less",
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
        let lattice_mass = fluid.rest_density_kg_m3 * d * d * d;
        let mass_ratio = self.particle_mass_kg() / lattice_mass;
        if (mass_ratio - 1.0).abs() > 0.05 {
            warn(
                "fluid.particle_mass_kg",
                format!(
                    "is {mass_ratio:.2} times the {lattice_mass:.3e} kg that fill the lattice at the rest density, so that \
                     the fluid starts {}",
                    if mass_ratio > 1.0 { "compressed" } else { "stretched" }
                ),
            );
        }
    }

    fn advise_snow(&self, warn: &mut dyn FnMut(&str, String)) {
        if let Some(snow) = self.snow.as_ref().filter(|snow| snow.averaging == Averaging::Off) {
            // Each of a pair takes half, from as many as touch a sphere.
            let gain = 0.5 * CLOSEST_PACKING * snow.non_penetration_stiffness * self.solver.over_relaxation;
            if gain > 1.0 {
                warn(
                    "snow.averaging",
                    format!(
                        "off, with snow.non_penetration_stiffness times solver.over_relaxation above {:.3}: particles that \
                         touch {CLOSEST_PACKING} others are thrown past where they should be; \"pairwise\" divides by their \
                         number",
                        2.0 / CLOSEST_PACKING
                    ),
                );
            }
        }
        let freezing = self.snow.as_ref().map(|snow| snow.heat.freezing_temperature_c);
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

    /// An explicit step that carries waves through fresh snow may be too long once the snow has hardened.
    fn advise_mpm(&self, warn: &mut dyn FnMut(&str, String), mpm: &Mpm) {
        let (dt, h, wave) = (self.dt_s(), mpm.cell_size_m, mpm.hardened_wave_speed_m_s());
        if mpm.implicit.is_none() && wave * dt > h {
            warn(
                "time.dt_s",
                format!(
                    "an elastic wave in hardened snow, at {wave:.1} m/s, passes {:.2} cells in a step of {dt} s; at most 1 needs a \
                     step of {:.3e} s or less, and dt_s = \"auto\" takes {} s",
                    wave * dt / h,
                    h / wave,
                    self.auto_dt_s(mpm)
                ),
            );
        }
    }

    /// Contacts that steps skip, springs that give way, and maps that cannot be told apart.
    fn advise_dem(&self, warn: &mut dyn FnMut(&str, String), dem: &Dem) {
        let (dt, contact) = (self.dt_s(), dem.contact_time_s());
        if contact < RESOLVED_STEPS_PER_CONTACT * dt {
            warn(
                "time.dt_s",
                format!(
                    "makes {:.1} steps of a contact of {contact:.3e} s; from {RESOLVED_STEPS_PER_CONTACT} on, {:.3e} s or less, heaps \
                     are stable, and dt_s = \"auto\" takes {} s",
                    contact / dt,
                    contact / RESOLVED_STEPS_PER_CONTACT,
                    self.auto_contact_dt_s(dem)
                ),
            );
        }
        let impact = self.impact_m_s();
        let overlap = dem.overlap_radii(impact);
        if overlap > DEEPEST_OVERLAP_RADII {
            warn(
                "dem.normal_stiffness_n_m",
                format!(
                    "an impact at {impact:.1} m/s, as from a height of the whole domain, presses a grain {overlap:.2} radii deep; at most {DEEPEST_OVERLAP_RADII} needs a stiffness of {:.2e} N/m",
                    dem.normal_stiffness_n_m * (overlap / DEEPEST_OVERLAP_RADII).powi(2)
                ),
            );
        }
        for (idx, release) in self.releases.iter().enumerate() {
            if let (Some(theirs), Some(ours)) =
                (release.projection.get(), self.ground().and_then(|t| t.projection()))
                && same_projection(theirs, ours).is_none()
            {
                warn(
                    &format!("releases.{idx}.polygons"),
                    "is in a projection that cannot be compared with the terrain's, one being a code and the other not; it is \
                     taken for the same"
                        .to_owned(),
                );
            }
        }
    }

    /// Speed in m/s of the fastest block after falling through the whole domain.
    fn fastest_m_s(&self) -> f64 {
        let start = self.particles.iter().map(|block| block.velocity_m_s.iter().map(|v| v * v).sum::<f64>());
        (start.fold(0.0, f64::max) + self.fall_m2_s2()).sqrt()
    }
}
