//! Dynamic bodies of a scene at time 0, as kernels read them.

use super::convert::narrow;
use frazil_scene::{Body as SceneBody, BodyMass, SurfaceFeature};
use frazil_shaders::types::{Body, RigidShape, RigidState, StepClock};
use frazil_vk::Buffer;
use glam::{DMat3, DVec3};

/// Added mass of a body over the mass of a box around it, full of particles, with its longest side
/// shortened to the second: at least half of that of spheres, cylinders, plates and rods that accelerate
/// across, with which a step is stable.
const ADDED_MASS: f64 = std::f64::consts::PI / 8.0;
/// Added moment of inertia over the added mass times the square of half the longest side.
const ADDED_INERTIA: f64 = 1.0 / 3.0;

/// Rate in 1/s at which overlaps and errors of joints, which are free of them but for rounding, are taken
/// back.
const ERROR_RATE_PER_S: f64 = 100.0;

/// Returns the share of errors of places that a step takes back.
pub(super) fn taken_back(dt_s: f32) -> f32 {
    -(-ERROR_RATE_PER_S * f64::from(dt_s)).exp_m1() as f32
}

/// Dynamic body at time 0, as kernels read it.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicBody {
    /// Index of the body, and of its load.
    body: u32,
    load: u32,
    pub(super) name: String,
    pub(super) mass: BodyMass,
    velocity_m_s: DVec3,
    angular_velocity_rad_s: DVec3,
    /// Corners and edges of its surface: middle from the centre of mass, and half of it; and the radius of
    /// the spheres about them.
    pub(super) touching_m: Vec<[DVec3; 2]>,
    point_radius_m: f64,
    friction: f64,
    restitution: f64,
    gap_m: Option<f64>,
}

impl DynamicBody {
    /// Returns the dynamic body of a scene's body; `None` for others. Its load is that of its name.
    pub(super) fn of(body: &SceneBody, idx: usize, first_named: usize) -> Option<Self> {
        let (dynamics, mass) = (body.dynamics()?, body.mass()?);
        let (features, point_radius_m) = body.touching_features();
        let centre_m = DVec3::from_array(mass.centre_m);
        // An edge is searched from both of its ends.
        let places = |feature: SurfaceFeature| {
            let middle_m = DVec3::from_array(feature.middle_m) - centre_m;
            let half_m = DVec3::from_array(feature.half_m);
            let ends = if half_m == DVec3::ZERO { vec![half_m] } else { vec![half_m, -half_m] };
            ends.into_iter().map(move |half_m| [middle_m, half_m])
        };
        Some(Self {
            body: idx as u32,
            load: (idx.checked_sub(first_named)?) as u32,
            name: body.name.clone()?,
            mass,
            velocity_m_s: DVec3::from_array(dynamics.velocity_m_s),
            angular_velocity_rad_s: DVec3::from_array(dynamics.angular_velocity_rad_s),
            touching_m: features.into_iter().flat_map(places).collect(),
            point_radius_m,
            friction: dynamics.friction,
            restitution: dynamics.restitution,
            gap_m: dynamics.contact_gap_m,
        })
    }

    fn inertia_kg_m2(&self) -> DMat3 {
        DMat3::from_cols_array_2d(&self.mass.inertia_kg_m2)
    }

    /// Returns the constant properties, among particles of a density in kg/m³ that move with the body, and
    /// with a distance in m of surfaces in contact.
    pub(super) fn shape(&self, (medium_kg_m3, gap_m): (f64, f64), first_point: u32) -> RigidShape {
        let inverse = self.inertia_kg_m2().inverse();
        let [longest, middle, _] = self.mass.half_sizes_m;
        let added_kg = ADDED_MASS * medium_kg_m3 * 8.0 * longest * middle * middle;
        let added_kg_m2 = ADDED_INERTIA * added_kg * longest * longest;
        // The least moment: shares for the others are then too great, never too small.
        let least_kg_m2 = 1.0 / inverse.to_cols_array().into_iter().fold(0.0, |sum: f64, x| sum + x.abs());
        RigidShape {
            body: self.body,
            load: self.load,
            mass_kg: self.mass.mass_kg as f32,
            inverse_inertia_diagonal: std::array::from_fn(|i| inverse.col(i)[i] as f32),
            inverse_inertia_rest: [inverse.y_axis.z, inverse.z_axis.x, inverse.x_axis.y].map(|x| x as f32),
            repeated: (added_kg / (self.mass.mass_kg + added_kg)) as f32,
            repeated_angular: (added_kg_m2 / (least_kg_m2 + added_kg_m2)) as f32,
            first_point,
            n_points: self.touching_m.len() as u32,
            point_radius_m: self.point_radius_m as f32,
            gap_m: self.gap_m.unwrap_or(gap_m) as f32,
            friction: self.friction as f32,
            restitution: self.restitution as f32,
        }
    }

    /// Returns the motion at time 0: positions are at the ends of steps, velocities in the middle.
    pub(super) fn state(&self, gravity_m_s2: DVec3, dt_s: f64) -> RigidState {
        let momentum = self.inertia_kg_m2() * self.angular_velocity_rad_s;
        RigidState {
            rotation: [0.0, 0.0, 0.0, 1.0],
            velocity_m_s: narrow((self.velocity_m_s + 0.5 * dt_s * gravity_m_s2).to_array()),
            // Of a fall, so that the share that a step repeats does not make its start late.
            gained_n_s: narrow((dt_s * self.mass.mass_kg * gravity_m_s2).to_array()),
            gained_in_s: dt_s as f32,
            angular_velocity_rad_s: narrow(self.angular_velocity_rad_s.to_array()),
            angular_momentum_kg_m2_s: narrow(momentum.to_array()),
            ..bytemuck::Zeroable::zeroed()
        }
    }
}

/// Buffers of a solver that dynamic bodies share.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a> {
    pub clock: &'a Buffer<StepClock>,
    pub bodies: &'a Buffer<Body>,
    pub body_data: &'a Buffer<f32>,
}
