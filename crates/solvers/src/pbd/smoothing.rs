//! Coefficients of the pass that smooths velocities.

use super::parameters::Parameters;

/// Coefficients of XSPH and of the drag of walls.
#[derive(Clone, Copy, Default)]
pub(super) struct Smoothing {
    pub xsph_viscosity: f32,
    pub wall_friction: f32,
    pub wall_xsph: f32,
    pub viscosity_share: f32,
    pub particles_h3: f32,
    /// Difference of each lower and each upper face.
    pub face_friction: [[f32; 3]; 2],
}

impl Smoothing {
    /// Returns the coefficients of water.
    pub fn of_water(parameters: &Parameters) -> Self {
        let Parameters { xsph_viscosity, wall_friction, wall_xsph, face_friction, .. } = *parameters;
        let Parameters { viscosity_share, particles_h3, .. } = *parameters;
        Self { xsph_viscosity, wall_friction, wall_xsph, viscosity_share, particles_h3, face_friction }
    }
}
