//! Initial state of grains.

/// Initial state of grains without contacts: columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grains {
    /// Positions in m.
    pub positions_m: Vec<[f32; 3]>,
    /// Velocities in m/s.
    pub velocities_m_s: Vec<[f32; 3]>,
    /// Angular velocities in 1/s.
    pub spins_1_s: Vec<[f32; 3]>,
    /// Radii in m.
    pub radii_m: Vec<f32>,
    /// Parts of positions in m below their ulp; none: 0.
    pub residuals_m: Vec<[f32; 3]>,
}

/// Maximum number of grains: rows of contact lists keep their state in the bits above.
pub const MAX_GRAINS: usize = 1 << 29;
