//! Volume and spacing of particles of snow, which have the mass of those of water.

use crate::{ParticleBlock, Phase, Scene};

impl Scene {
    /// Returns the volume of a particle of snow over that of one of water, ρ₀/ρ_s; 1 in scenes without
    /// `snow.density_kg_m3`.
    pub fn snow_volume_ratio(&self) -> f64 {
        // A density that is refused has no volume: other errors must not follow from it.
        let density_kg_m3 = self.snow().and_then(|snow| snow.density_kg_m3).filter(|rho| *rho > 0.0);
        density_kg_m3.map_or(1.0, |density_kg_m3| self.rest_density_kg_m3() / density_kg_m3)
    }

    /// Returns the spacing in m of particles of snow.
    pub fn snow_spacing_m(&self) -> f64 {
        // Exactly the spacing of water where the densities are equal.
        let ratio = self.snow_volume_ratio();
        if ratio == 1.0 { self.particle_spacing_m() } else { ratio.cbrt() * self.particle_spacing_m() }
    }

    /// Returns the spacing in m of the particles of a block.
    pub fn block_spacing_m(&self, block: &ParticleBlock) -> f64 {
        self.phase_spacing_m(block.phase)
    }

    pub(crate) fn phase_spacing_m(&self, phase: Phase) -> f64 {
        match phase {
            Phase::Snow => self.snow_spacing_m(),
            Phase::Water => self.particle_spacing_m(),
        }
    }
}
