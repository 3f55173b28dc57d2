//! Suspended powder: translucent puffs around particles.

use frazil_vk::{Buffer, DeviceCount};

/// Particles that carry suspended powder, each in a puff whose density falls smoothly to 0 at its radius.
#[derive(Clone, Copy, Debug)]
pub struct Powder<'a> {
    /// Positions of the particles, in m.
    pub positions: &'a Buffer<[f32; 3]>,
    /// Number of particles.
    pub count: &'a DeviceCount,
    /// Upper bound on the number of particles, whatever the device count.
    pub max_count: u32,
    /// Load of each particle.
    pub load: PowderLoad<'a>,
    /// Extinction cross-section in m² of a puff of full load: its optical depth, integrated over a plane
    /// across the line of sight.
    pub extinction_m2: f32,
    /// Radius of the puffs in m.
    pub radius_m: f32,
    /// Height of a puff's centre above its particle in m.
    pub lift_m: f32,
}

/// Load of a particle with powder.
#[derive(Clone, Copy, Debug)]
pub enum PowderLoad<'a> {
    /// The full load for all.
    Full,
    /// A share 1 − (v₀/v)² of it at the speed v above the onset v₀, and none below.
    BySpeed {
        /// Velocities in m/s.
        velocities: &'a Buffer<[f32; 3]>,
        /// Onset v₀ in m/s, above 0.
        onset_m_s: f32,
    },
}

/// Sums of the last picture with powder, one element per pixel, row by row from the top: quanta of optical
/// depth, and their products with the sun's light, the share of the sky, and the transmittance of the fog.
#[derive(Clone, Debug)]
pub struct PowderSums {
    /// Width in pixels, that of the picture.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The sums; an optical depth of 1 is [`Self::QUANTA`].
    pub sums: Buffer<[f32; 4]>,
}

impl Powder<'_> {
    /// Returns the extinction cross-section in m² of a puff of a radius in m that has an optical depth
    /// through its middle.
    pub fn extinction_of(optical_depth: f32, radius_m: f32) -> f32 {
        // Of the density (1 − s²/R²)²: 32πR³/105 over 16R/15.
        std::f32::consts::PI * radius_m * radius_m * (2.0 / 7.0) * optical_depth
    }
}

impl PowderSums {
    /// Sum of an optical depth of 1.
    pub const QUANTA: f32 = frazil_shaders::render::powder_sums::QUANTA as f32;
}
