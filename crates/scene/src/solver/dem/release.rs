//! Density of the snow of releases.

use super::section::Dem;
use crate::Release;

/// Default volume fraction of grains, unless their radii are too unequal for it.
const PACKING_FRACTION: f64 = 0.55;

/// Share of the closest packing that is used in that case.
const SHARE_OF_CLOSEST: f64 = 0.95;

/// Volume fraction of the closest packing of equal spheres, π/√18.
const CLOSEST_PACKING_FRACTION: f64 = 0.740_480_489_693_061;

impl Release {
    /// Returns the bulk density of the snow, with its pores, in kg/m³.
    pub fn bulk_density_kg_m3(&self, dem: &Dem) -> f64 {
        let of_share = || PACKING_FRACTION * dem.density_kg_m3;
        self.bulk_density_kg_m3
            .unwrap_or_else(|| of_share().min(SHARE_OF_CLOSEST * Self::max_density_kg_m3(dem)))
    }

    /// Returns the bulk density of a close-packed lattice with space for the largest grain at each of its
    /// points.
    pub(crate) fn max_density_kg_m3(dem: &Dem) -> f64 {
        let sizes = dem.mean_grain_mass_kg() / dem.grain_mass_kg(dem.max_radius_m());
        CLOSEST_PACKING_FRACTION * sizes * dem.density_kg_m3
    }
}
