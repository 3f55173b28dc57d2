//! Bodies of snow, fixed bodies, and sums over particles in f64, shared by the tests of the physics of the
//! material point method.

use crate::snowpack::Snowpack;
use frazil_reference::mpm as twin;
use frazil_scene::Mpm as Section;
use frazil_shaders::common::body::{BOX, PLANE};
use frazil_shaders::types::Body;
use frazil_solvers::mpm::{InitialState, Surroundings};
use frazil_testkit::twins::mpm::twin_parameters;
use glam::DVec3;

/// Snow on the device, with the parameters that sums over its particles need.
pub struct Trial {
    /// Solver with the snow.
    pub snow: Snowpack,
    /// Parameters of the snow.
    pub twin: twin::Parameters,
}

/// Sums over all particles, in a plane per metre of depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sums {
    /// Mass Σ m in kg.
    pub mass: f64,
    /// Momentum Σ m v in kg m/s.
    pub momentum: DVec3,
    /// Angular momentum about the origin in kg m²/s, including that of affine velocities.
    pub angular_momentum: DVec3,
    /// Kinetic energy in J, including that of affine velocities, Σ ½ m D |C|².
    pub kinetic: f64,
    /// Elastic strain energy in J.
    pub elastic: f64,
    /// Potential energy in J.
    pub potential: f64,
    /// Centre of mass Σ m x / Σ m in m.
    pub centre: DVec3,
}

impl Sums {
    /// Returns the total energy in J.
    pub fn energy(&self) -> f64 {
        self.kinetic + self.elastic + self.potential
    }
}

impl Trial {
    /// Creates snow.
    pub fn new(section: &Section, dt_s: f64, surroundings: &Surroundings, beginning: &InitialState) -> Self {
        let snow = Snowpack::new(section, dt_s, surroundings.clone(), beginning);
        Self { snow, twin: twin_parameters(section, dt_s, surroundings) }
    }

    /// Runs steps and sums.
    pub fn advance(&mut self, steps: u64) -> Sums {
        if steps > 0 {
            self.snow.advance(steps);
        }
        self.sums()
    }

    /// Sums over all particles.
    pub fn sums(&self) -> Sums {
        self.sums_of(|_| true)
    }

    /// Sums over the particles whose ids are chosen.
    pub fn sums_of(&self, is_chosen: impl Fn(u32) -> bool) -> Sums {
        let particles = self.snow.particles().into_iter().filter(|p| is_chosen(p.id)).collect();
        let state = twin::State::new(particles);
        let energy = state.energy(&self.twin);
        let spin = |p: &twin::Particle| -> f64 {
            p.affine.to_cols_array().iter().map(|c| 0.5 * p.mass * self.twin.inertia_m2() * c * c).sum()
        };
        let pending_n: DVec3 = state.particles.iter().map(|p| p.surface_force).sum();
        let weighted: DVec3 = state.particles.iter().map(|p| p.mass * p.position).sum();
        Sums {
            mass: state.mass(),
            // The next step adds the forces of surfaces of this one.
            momentum: state.momentum() + self.twin.dt_s * pending_n,
            angular_momentum: state.angular_momentum(&self.twin),
            kinetic: energy.kinetic + state.particles.iter().map(spin).sum::<f64>(),
            elastic: energy.elastic,
            potential: energy.potential,
            centre: weighted / state.mass(),
        }
    }
}

/// Creates particles at the cell centres of a square or cubic lattice inside a shape: each has its cell's
/// volume and mass.
pub fn filled(
    dimensions: u32,
    min_m: [f64; 3],
    max_m: [f64; 3],
    spacing_m: f64,
    density_kg_m3: f64,
    is_inside: impl Fn(DVec3) -> bool,
) -> InitialState {
    let n: [u64; 3] = std::array::from_fn(|axis| {
        if axis < dimensions as usize { ((max_m[axis] - min_m[axis]) / spacing_m).round() as u64 } else { 1 }
    });
    let volume = spacing_m.powi(dimensions as i32);
    let mut beginning = InitialState::default();
    for i in 0..n.iter().product() {
        let at = [i % n[0], i / n[0] % n[1], i / n[0] / n[1]];
        let x: [f64; 3] = std::array::from_fn(|axis| {
            if axis < dimensions as usize { min_m[axis] + (at[axis] as f64 + 0.5) * spacing_m } else { 0.0 }
        });
        if is_inside(DVec3::from_array(x)) {
            beginning.positions_m.push(x.map(|x| x as f32));
            beginning.velocities_m_s.push([0.0; 3]);
            beginning.masses_kg.push((density_kg_m3 * volume) as f32);
            beginning.volumes_m3.push(volume as f32);
        }
    }
    beginning
}

/// Creates a box of snow.
pub fn block(
    dimensions: u32,
    min_m: [f64; 3],
    max_m: [f64; 3],
    spacing_m: f64,
    density_kg_m3: f64,
) -> InitialState {
    filled(dimensions, min_m, max_m, spacing_m, density_kg_m3, |_| true)
}

/// Creates a disk in a plane, a ball in space.
pub fn ball(
    dimensions: u32,
    centre_m: [f64; 3],
    radius_m: f64,
    spacing_m: f64,
    density_kg_m3: f64,
) -> InitialState {
    let corner = |side: f64| centre_m.map(|c| c + side * radius_m);
    let centre = DVec3::from_array(centre_m);
    let is_inside = |x: DVec3| (x - centre).length() < radius_m;
    filled(dimensions, corner(-1.0), corner(1.0), spacing_m, density_kg_m3, is_inside)
}

/// Sets every particle's velocity from a field.
pub fn moving(mut body: InitialState, velocity_m_s: impl Fn(DVec3) -> DVec3) -> InitialState {
    for (v, x) in body.velocities_m_s.iter_mut().zip(&body.positions_m) {
        *v = velocity_m_s(DVec3::from_array(x.map(f64::from))).to_array().map(|v| v as f32);
    }
    body
}

/// Joins two bodies: ids continue from the first to the second.
pub fn both(mut first: InitialState, second: InitialState) -> InitialState {
    first.positions_m.extend(second.positions_m);
    first.velocities_m_s.extend(second.velocities_m_s);
    first.masses_kg.extend(second.masses_kg);
    first.volumes_m3.extend(second.volumes_m3);
    first
}

/// Creates a plane; snow is on the side that its normal points to.
pub fn plane(point_m: [f64; 3], normal: [f64; 3], friction: f64, is_sticky: bool) -> Body {
    Body {
        kind: PLANE,
        is_sticky: is_sticky.into(),
        friction: friction as f32,
        origin_m: point_m.map(|x| x as f32),
        extent: normal.map(|x| x as f32),
        rotation: [0.0, 0.0, 0.0, 1.0],
        ..bytemuck::Zeroable::zeroed()
    }
}

/// Creates an upright box that moves at a velocity from one time to another.
pub fn plow(
    centre_m: [f64; 3],
    half_size_m: [f64; 3],
    velocity_m_s: [f64; 3],
    from_s: f64,
    until_s: f64,
) -> Body {
    Body {
        kind: BOX,
        origin_m: centre_m.map(|x| x as f32),
        extent: half_size_m.map(|x| x as f32),
        rotation: [0.0, 0.0, 0.0, 1.0],
        velocity_m_s: velocity_m_s.map(|v| v as f32),
        from_s: from_s as f32,
        until_s: until_s as f32,
        ..bytemuck::Zeroable::zeroed()
    }
}
