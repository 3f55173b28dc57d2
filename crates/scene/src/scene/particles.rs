//! The `[[particles]]` sections: shapes filled with particles at the start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::{MAX_TEMPERATURE_C, MIN_TEMPERATURE_C};
use crate::{Shape, Vec3};

/// Maximum volume fraction of a random packing: beyond it few packings converge without overlap.
pub(crate) const MAX_PACKING_FRACTION: f64 = 0.58;

/// Material of a particle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Fluid: SPH particles under a density constraint.
    #[default]
    Water,
    /// Solid: DEM particles with contact, friction and links. Needs a `[snow]` section.
    Snow,
}

/// Sampling method that fills a shape with particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// A cubic lattice of the fluid's spacing d: in a box from d/2 inside the lower corner, in other shapes
    /// centred.
    #[default]
    Lattice,
    /// round(volume / d³) points drawn uniformly by volume. Grains would overlap: not in scenes of the
    /// discrete element method.
    Uniform,
    /// round(volume / d³) points spread evenly by volume but without the directions of a lattice: their
    /// density, smoothed over a spacing, is that of the shape up to its surface. Drawn from the seed, like
    /// `uniform`, which leaves gaps and clusters. Not in scenes of the discrete element method.
    BlueNoise,
    /// A random packing of grains without overlap: as many as fill `packing_fraction` of the shape. Scenes of
    /// the discrete element method only.
    Random,
}

/// A shape filled with particles at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParticleBlock {
    /// The region, inside the domain.
    pub shape: Shape,
    /// Sampling method.
    #[serde(default)]
    pub fill: Fill,
    /// Material of the particles.
    #[serde(default)]
    pub phase: Phase,
    /// Temperature in °C at the start.
    #[serde(default = "ParticleBlock::default_temperature_c")]
    #[schemars(range(min = MIN_TEMPERATURE_C, max = MAX_TEMPERATURE_C))]
    pub temperature_c: f64,
    /// Initial velocity in m/s.
    #[serde(default)]
    pub velocity_m_s: Vec3,
    /// Random displacement of lattice points, up to this many spacings along each axis.
    #[serde(default)]
    #[schemars(range(min = 0, max = 0.5))]
    pub jitter_spacings: f64,
    /// Initial rigid rotation about the centre of the shape's bounds, in rad/s; about z in scenes of two
    /// dimensions. Grains spin at the same rate. Not in scenes of the position-based fluid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_velocity_rad_s: Option<Vec3>,
    /// Initial velocity gradient in 1/s about the centre of the shape's bounds, by rows: ∂v_x/∂x, ∂v_x/∂y,
    /// ∂v_x/∂z, then of v_y and of v_z. Added to `velocity_m_s`: `[[0, s, 0], [0, 0, 0], [0, 0, 0]]` shears
    /// along x at the rate s, `[[0, -w, 0], [w, 0, 0], [0, 0, 0]]` spins about z at the rate w.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity_gradient_per_s: Option<[Vec3; 3]>,
    /// Number of particles; by default as many as fill the shape. In scenes of the material point method,
    /// where they are spread as by `fill = "blue_noise"` unless `fill` is `"uniform"`, and of grains with
    /// `fill = "random"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub count: Option<u64>,
    /// Volume fraction of a random packing of grains; by default 0.55, a loose heap (Onoda &
    /// Liniger 1990), or less in a shape that is narrow compared with its grains. With `fill = "random"`
    /// only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = MAX_PACKING_FRACTION), extend("exclusiveMinimum" = 0))]
    pub packing_fraction: Option<f64>,
    /// Relative spread of masses about their mean (Cai2020 sec 2): each is the mean times 1 ± up to this
    /// share. Scenes of the material point method only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub mass_spread: Option<f64>,
}

impl ParticleBlock {
    /// Returns an upper bound of the particles' initial speed in m/s.
    pub(crate) fn fastest_m_s(&self) -> f64 {
        let (start_m_s, [rotation_per_s, gradient_per_s], half_diagonal_m) = self.speed_parts();
        start_m_s + (rotation_per_s + gradient_per_s) * half_diagonal_m
    }

    /// Returns the key that adds most to that speed.
    pub(crate) fn fastest_key(&self) -> &'static str {
        let (start_m_s, [rotation_per_s, gradient_per_s], half_diagonal_m) = self.speed_parts();
        let is_of_file = self.shape.cloud().is_some_and(|cloud| cloud.velocities_m_s.is_some());
        let start_key = if is_of_file { "shape.points.path" } else { "velocity_m_s" };
        let parts = [
            (start_key, start_m_s),
            ("angular_velocity_rad_s", rotation_per_s * half_diagonal_m),
            ("velocity_gradient_per_s", gradient_per_s * half_diagonal_m),
        ];
        parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(start_key, |(key, _)| key)
    }

    /// Returns the largest speed in m/s without rotation and gradient, bounds of these, and half the diagonal
    /// of the bounds in m.
    fn speed_parts(&self) -> (f64, [f64; 2], f64) {
        let length = |v: &Vec3| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (min, max) = self.shape.bounds_m();
        let half_diagonal_m = 0.5 * length(&std::array::from_fn(|i| max[i] - min[i]));
        let own = self.shape.cloud().and_then(|cloud| cloud.velocities_m_s.as_ref());
        let start_m_s = match own {
            Some(velocities) => velocities.iter().map(length).fold(0.0, f64::max),
            None => length(&self.velocity_m_s),
        };
        let rotation_per_s = self.angular_velocity_rad_s.map_or(0.0, |w| length(&w));
        // The Frobenius norm bounds the stretch of any arm.
        let gradient_per_s =
            self.velocity_gradient_per_s.map_or(0.0, |rows| length(&rows.map(|row| length(&row))));
        (start_m_s, [rotation_per_s, gradient_per_s], half_diagonal_m)
    }

    fn default_temperature_c() -> f64 {
        20.0
    }
}
