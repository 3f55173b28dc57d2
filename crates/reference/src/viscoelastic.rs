//! Twin of the viscoelastic fluid: one function per kernel of `glsl/viscoelastic`, in f64 from the formulas.
//!
//! A [`State`] holds what the device's buffers hold after each stage. Neighbours are those of the cells of
//! the position-based fluid, whose twin it extends.

use glam::{DMat3, DVec3};

use crate::bodies::Body;
use crate::bonds::{self, Bonds};
use crate::fault::FaultKind;
use crate::fluid::{self, Image, wide};
use crate::linalg::nearest_rotation;
use crate::snow::{Correction, corrected_weight, correction_of};

/// Elasticity models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elasticity {
    /// No elasticity.
    None,
    /// Conformation tensor A: the strain of a [`State`] is A − I.
    Conformation,
    /// Strain tensor S.
    StrainTensor,
}

/// Viscosity laws, with viscosities in Pa s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Constant.
    Newtonian(f64),
    /// η∞ + (η₀ − η∞)(1 + (tγ̇)²)^((n−1)/2).
    Carreau {
        /// η₀.
        rest: f64,
        /// η∞.
        infinite: f64,
        /// t in s.
        time_s: f64,
        /// n.
        exponent: f64,
    },
    /// τ_y/γ̇ + K γ̇^(n−1).
    HerschelBulkley {
        /// τ_y in Pa; 0 for a power law.
        yield_pa: f64,
        /// K in Pa sⁿ.
        consistency: f64,
        /// n.
        exponent: f64,
    },
}

/// Nozzle of a feed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feed {
    /// Axis across its mouth.
    pub axis: usize,
    /// Height of the mouth in m.
    pub mouth_m: f32,
    /// Velocity in m/s.
    pub velocity_m_s: [f32; 3],
}

/// Conduction of heat, and the shift of viscosity by temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heat {
    /// Factor on Σ (T_j − T_i) w_ij in the change of a step.
    pub rate: f64,
    /// s = 6/Σ(1 − q)q² over the lattice.
    pub laplacian_scale: f32,
    /// Maximum correction of a particle.
    pub max_correction: f32,
    /// Temperatures of the lower and of the upper faces in °C, by axis; `None` where no heat passes.
    pub faces_c: [[Option<f64>; 3]; 2],
    /// B in K.
    pub activation_k: f64,
    /// T_ref in °C.
    pub reference_c: f64,
    /// Bounds of the factor.
    pub shifts: [f64; 2],
    /// True if relaxation shifts, too.
    pub shifts_relaxation: bool,
}

impl Heat {
    /// Returns the factor on viscosity at a temperature in °C.
    pub fn shift(&self, temperature_c: f64) -> f64 {
        let inverse = |c: f64| 1.0 / (c + 273.15);
        let [min, max] = self.shifts;
        (self.activation_k * (inverse(temperature_c) - inverse(self.reference_c))).exp().clamp(min, max)
    }

    /// Returns the temperature of an image of a particle.
    fn image_c(&self, sides: [u32; 3], temperature_c: f64) -> f64 {
        let crossed = (0..3).filter(|axis| sides[*axis] != 0);
        let fixed: Vec<f64> =
            crossed.filter_map(|axis| self.faces_c[sides[axis] as usize - 1][axis]).collect();
        match fixed.len() % 2 {
            0 => temperature_c,
            _ => 2.0 * fixed.iter().sum::<f64>() / fixed.len() as f64 - temperature_c,
        }
    }
}

/// Parameters of the kernels.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Those of the position-based fluid.
    pub fluid: fluid::Parameters,
    /// Elasticity model.
    pub elasticity: Elasticity,
    /// Springs, if they are the elasticity.
    pub springs: Option<Springs>,
    /// Viscosity law.
    pub law: Law,
    /// Bound of the viscosity in Pa s.
    pub max_pa_s: f64,
    /// Faces to which the fluid sticks: the lower ones, then the upper ones.
    pub sticky: [[bool; 3]; 2],
    /// Speed along x in m/s of the upper y face; the lower one moves oppositely.
    pub wall_speed_m_s: f64,
    /// Σ w q²/3 of the lattice.
    pub lattice_moment: f64,
    /// Shear modulus in Pa.
    pub modulus_pa: f64,
    /// 1/λ in 1/s, 0 without relaxation.
    pub relaxation_per_s: f64,
    /// Yield stress in Pa.
    pub yield_stress_pa: Option<f64>,
    /// γ.
    pub yield_strain: f64,
    /// α in 1/s.
    pub decay_per_s: f64,
    /// True if viscosity is solved implicitly.
    pub is_implicit: bool,
    /// True if bodies complete the neighbourhoods of that solve.
    pub has_body_walls: bool,
    /// Viscosity in Pa s of motion that gradients do not resolve.
    pub unresolved_pa_s: f64,
    /// Bulk viscosity over shear viscosity.
    pub bulk_ratio: f64,
    /// Rate of particle shifting over the rate of stretch.
    pub shifting: f64,
    /// Nozzle, if there is one.
    pub feed: Option<Feed>,
    /// Heat, if there is any.
    pub heat: Option<Heat>,
    /// True for the one-sided force of Huang2016 eq 2.24.
    pub as_printed: bool,
    /// Restitution of walls without stick.
    pub restitution: f64,
    /// Coulomb friction of walls without stick.
    pub friction: f64,
    /// Particle spacing in m.
    pub spacing_m: f64,
    /// Approach speed in m/s below which nothing rebounds.
    pub resting_speed_m_s: f64,
    /// Ratio of residual and impulse to which viscosity is solved.
    pub tolerance: f64,
    /// Maximum of iterations of a viscous solve.
    pub max_iterations: u32,
}

/// Constants of springs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Springs {
    /// Stiffness k in N/m of springs without length.
    pub stiffness_n_m: f64,
    /// Rest length in m at which springs have no stiffness.
    pub support_m: f64,
    /// Share of the strain beyond γ that a spring loses in a step.
    pub flow_share: f32,
    /// γ.
    pub yield_strain: f32,
    /// Maximum number of springs of a particle.
    pub max_springs: u32,
    /// Stiffness B in N/m that a particle's springs have at most.
    pub max_bound_n_m: f64,
    /// Δt/m in s/kg.
    pub dt_per_mass: f64,
    /// 1/2V in 1/m³.
    pub half_per_volume: f64,
    /// 1/m in 1/kg.
    pub inverse_mass: f64,
}

impl Springs {
    /// Returns the stiffness in N/m of a spring of a rest length in m.
    pub fn stiffness_n_m(&self, rest_m: f64) -> f64 {
        self.stiffness_n_m * (1.0 - rest_m / self.support_m).max(0.0)
    }
}

/// Scalars of conjugate gradients.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solve {
    /// r·r.
    pub square: f64,
    /// Length of the step along the direction.
    pub along: f64,
    /// Factor on the last direction in the next one.
    pub keep: f64,
    /// Value of r·r at which the solve ends.
    pub target: f64,
    /// Iterations so far.
    pub iterations: u32,
    /// True once the solve has ended.
    pub is_done: bool,
    /// Steps that ended at the bound of iterations.
    pub n_unmet: u32,
    /// All steps.
    pub n_steps: u32,
}

/// Contents of the device's buffers.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Those of the position-based fluid.
    pub fluid: fluid::State,
    /// True if the neighbourhoods are those at the start of the step, else of the predicted positions.
    pub is_at_start: bool,
    /// A − I or S.
    pub strain: Vec<DMat3>,
    /// B.
    pub inverse_moment: Vec<DMat3>,
    /// Share of the gradient that counts.
    pub share: Vec<f64>,
    /// η in Pa s; before the update of the stress its factor by temperature.
    pub viscosity_pa_s: Vec<f64>,
    /// In °C.
    pub temperature_c: Vec<f64>,
    /// Q in Pa: the coupling of the force.
    pub coupling: Vec<DMat3>,
    /// σ in Pa.
    pub stress: Vec<DMat3>,
    /// Displacement of particle shifting in m.
    pub shift_m: Vec<DVec3>,
    /// Springs.
    pub springs: Bonds,
    /// Bound of the stiffness of a particle's springs in N/m.
    pub bound_n_m: Vec<f64>,
    /// v − u of the last viscous solve in m/s.
    pub impulse: Vec<DVec3>,
    /// Residual of the viscous solve in m/s.
    pub residual: Vec<DVec3>,
    /// Direction of the viscous solve.
    pub direction: Vec<DVec3>,
    /// p − Δt a(p).
    pub applied: Vec<DVec3>,
    /// Scalars of the viscous solve.
    pub solve: Solve,
}

/// A neighbour j of a particle i, or an image of it.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    /// Its index.
    pub j: usize,
    /// (R x_j − x_i)/h.
    pub offset: DVec3,
    /// Weight w.
    pub weight: f64,
    /// Signs of the image's positions.
    pub position: DVec3,
    /// Sign of the image's velocity.
    pub sign: f64,
    /// Velocity that the faces add to it, in m/s.
    pub added: DVec3,
}

/// Returns w = −W′(q)/q of the cubic spline up to a factor.
pub fn pair_weight(q: f64) -> f64 {
    if q < 0.5 { 2.0 - 3.0 * q } else { (1.0 - q).max(0.0).powi(2) / q }
}

/// Twin of `moment_beyond` of `body_walls.glsl`: the part of the second moment of the weight along a normal
/// that is beyond a plane at a distance of `q` in h.
pub fn moment_beyond(q: f64) -> f64 {
    let fourth = if q < 0.5 {
        1.0 / 64.0 - q.powi(5) * (0.4 - 0.5 * q)
    } else {
        1.0 / 60.0 - q.powi(4) * (0.25 - q * (0.4 - q / 6.0))
    };
    let first = if q < 0.5 { 1.0 / 6.0 - q * q + q.powi(3) } else { (1.0 - q).powi(3) / 3.0 };
    if q < 1.0 { (32.0 * (fourth - q.powi(3) * first)).max(0.0) } else { 0.0 }
}

/// Twin of `BodyWall` of `body_walls.glsl`: a body in the neighbourhood of a particle.
#[derive(Clone, Copy, Debug)]
pub struct BodyWall {
    /// Index of the body.
    pub body: usize,
    /// Part of the second moment along the normal that the body cuts off, times its friction.
    pub moment: f64,
    /// Distance in m.
    pub distance_m: f64,
    /// Normal of its surface.
    pub normal: DVec3,
    /// Velocity of its surface in m/s.
    pub velocity: DVec3,
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(b.x * a, b.y * a, b.z * a)
}

fn trace(m: DMat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

/// Returns √(m:m).
pub fn norm(m: DMat3) -> f64 {
    m.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Returns m − I tr m/3.
pub fn deviator(m: DMat3) -> DMat3 {
    m - DMat3::from_diagonal(DVec3::splat(trace(m) / 3.0))
}

/// Returns the symmetric matrix of xx, yy, zz and xy, xz, yz.
pub fn symmetric(d: [f32; 3], o: [f32; 3]) -> DMat3 {
    let ([xx, yy, zz], [xy, xz, yz]) = (d.map(f64::from), o.map(f64::from));
    DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz])
}

impl Parameters {
    fn dt_s(&self) -> f64 {
        self.fluid.dt_s.into()
    }

    fn h_m(&self) -> f64 {
        self.fluid.support_m.into()
    }

    /// Returns true if a particle at a place is fed.
    pub fn is_fed(&self, x: [f32; 3]) -> bool {
        self.feed.is_some_and(|feed| x[feed.axis] > feed.mouth_m)
    }

    /// Returns true if a particle at a place and all that could be its neighbours are fed.
    pub fn is_deep_in_feed(&self, x: [f32; 3]) -> bool {
        self.feed.is_some_and(|feed| x[feed.axis] > feed.mouth_m + self.fluid.support_m)
    }

    /// Returns the viscosity in Pa s at a rate of shear in 1/s.
    pub fn viscosity_pa_s(&self, rate: f64) -> f64 {
        match self.law {
            Law::Newtonian(viscosity) => viscosity,
            Law::Carreau { rest, infinite, time_s, exponent } => {
                let base = 1.0 + (time_s * rate).powi(2);
                (infinite + (rest - infinite) * base.powf(0.5 * (exponent - 1.0))).min(self.max_pa_s)
            }
            Law::HerschelBulkley { yield_pa, consistency, exponent } => {
                let rate = rate.max(1e-12);
                (yield_pa / rate + consistency * rate.powf(exponent - 1.0)).min(self.max_pa_s)
            }
        }
    }

    /// Returns the neighbours of a particle within h, and its images that the fluid is joined to.
    pub fn neighbours(&self, state: &State, i: usize) -> Vec<Neighbour> {
        let (grid, places, state) = (&self.fluid.grid, state.neighbourhood_positions(), &state.fluid);
        let at = |i: usize| (places[i], grid.cell_from_index(state.key[i]));
        let (x, cell) = at(i);
        let mut found = Vec::new();
        let mut add = |j: usize, offset: DVec3, signs: [f64; 3], n_walls: i32, added: f64| {
            let q = offset.length();
            if q > 0.0 && q < 1.0 {
                let sign = if n_walls % 2 == 0 { 1.0 } else { -1.0 };
                let position = DVec3::from_array(signs);
                let added = DVec3::new(-2.0 * sign * added, 0.0, 0.0);
                found.push(Neighbour { j, offset, weight: pair_weight(q), position, sign, added });
            }
        };
        for j in grid.neighbour_runs(cell, &state.cell_start).into_iter().flatten() {
            add(j, (wide(places[j]) - wide(x)) / self.h_m(), [1.0; 3], 0, 0.0);
        }
        for j in 0..places.len() {
            for image in self.fluid.images(at(i), at(j)) {
                let is_wall: [bool; 3] =
                    std::array::from_fn(|axis| image.sides[axis] != 0 && !self.fluid.periodic[axis]);
                let is_joined = (0..3)
                    .all(|axis| !is_wall[axis] || self.sticky[usize::from(image.sides[axis] == 2)][axis]);
                let is_near = self.fluid.is_beside(cell, at(j).1, image.sides);
                if is_joined && is_near {
                    let speed = match (is_wall[1], image.sides[1]) {
                        (true, 1) => -self.wall_speed_m_s,
                        (true, _) => self.wall_speed_m_s,
                        _ => 0.0,
                    };
                    let n_walls = is_wall.iter().filter(|is_wall| **is_wall).count() as i32;
                    add(j, -wide(image.offset_h), image.reflection.map(f64::from), n_walls, speed);
                }
            }
        }
        found
    }

    /// Returns the bodies near a particle, at the start of a step of fluid without elasticity whose viscosity
    /// is solved implicitly.
    pub fn body_walls(&self, state: &State, i: usize) -> Vec<BodyWall> {
        let at = state.fluid.position[i];
        if !self.has_body_walls || !state.is_at_start || self.is_fed(at) {
            return Vec::new();
        }
        let (x, fluid) = (wide(at), &self.fluid);
        let of = |(body, own): (usize, &Body)| {
            let (distance, normal) = own.distance_m(x, fluid.time_s);
            let distance_m = distance.max(0.1 * self.h_m());
            let friction = own.friction.unwrap_or_else(|| fluid.wall_friction.into()).min(1.0);
            let share = if own.is_sticky { 1.0 } else { friction };
            let moment = share * moment_beyond(distance_m / self.h_m());
            let velocity = own.velocity_m_s(x - distance * normal, fluid.time_s);
            (moment > 0.0).then_some(BodyWall { body, moment, distance_m, normal, velocity })
        };
        fluid.bodies.iter().enumerate().filter_map(of).collect()
    }

    /// Returns the moment matrix of a particle, which bodies complete.
    pub fn moment_beside(&self, state: &State, i: usize) -> DMat3 {
        let of_bodies = |sum: DMat3, wall: BodyWall| sum + outer(wall.normal, wall.moment * wall.normal);
        self.body_walls(state, i).into_iter().fold(self.moment(&self.neighbours(state, i)), of_bodies)
    }

    /// Returns ∇v in 1/s at a particle: the sum over neighbours and bodies times B.
    fn gradient_beside(&self, state: &State, v: &[DVec3], i: usize, bodies_move: bool) -> DMat3 {
        let near = self.neighbours(state, i);
        let inverse_moment = state.inverse_moment[i];
        let mut gradient = self.gradient(&near, v, i, inverse_moment);
        for wall in self.body_walls(state, i) {
            let velocity = if bodies_move { wall.velocity } else { DVec3::ZERO };
            let towards = wall.moment / wall.distance_m * wall.normal;
            gradient += outer(v[i] - velocity, towards) * inverse_moment;
        }
        gradient
    }

    /// Returns the impulse over the mass that a body gives a particle, in m/s.
    fn impulse_of_wall(&self, state: &State, i: usize, wall: &BodyWall, relative: DVec3) -> DVec3 {
        let viscosity_pa_s = state.viscosity_pa_s[i] + state.share[i] * self.unresolved_pa_s;
        let force = state.coupling[i] * wall.normal + relative * (viscosity_pa_s / wall.distance_m);
        -self.dt_s() / f64::from(self.fluid.rest_density_kg_m3) * (wall.moment / wall.distance_m) * force
    }

    /// Returns Δt a by bodies in m/s of a field, around which bodies move or rest.
    fn impulse_of_bodies(&self, state: &State, v: &[DVec3], bodies_move: bool) -> Vec<DVec3> {
        let of = |i: usize| {
            let walls = self.body_walls(state, i).into_iter().map(|wall| {
                let velocity = if bodies_move { wall.velocity } else { DVec3::ZERO };
                self.impulse_of_wall(state, i, &wall, v[i] - velocity)
            });
            walls.sum()
        };
        (0..v.len()).map(of).collect()
    }

    /// Returns ∇v B in 1/s at a particle.
    pub fn gradient(&self, near: &[Neighbour], v: &[DVec3], i: usize, inverse_moment: DMat3) -> DMat3 {
        let sum = near
            .iter()
            .fold(DMat3::ZERO, |sum, n| sum + outer(n.sign * v[n.j] + n.added - v[i], n.weight * n.offset));
        sum * inverse_moment * (1.0 / (self.lattice_moment * self.h_m()))
    }

    /// Returns the moment matrix of a particle.
    pub fn moment(&self, near: &[Neighbour]) -> DMat3 {
        let sum = near.iter().fold(DMat3::ZERO, |sum, n| sum + outer(n.offset, n.weight * n.offset));
        sum * (1.0 / self.lattice_moment)
    }

    fn share_at(&self, moment: DMat3) -> f64 {
        let trace = |m: DMat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
        if moment.determinant() <= 1e-5 * (trace(moment) / 3.0).powi(3) {
            return 0.0;
        }
        // Of the harmonic mean of the eigenvalues.
        ((3.0 / trace(moment.inverse()) - 0.06) / 0.08).clamp(0.0, 1.0)
    }

    fn relaxed(&self, strain: DMat3) -> DMat3 {
        let Some(yields) = self.yield_stress_pa else {
            return strain * (-0.5 * self.dt_s() * self.relaxation_per_s).exp();
        };
        let size = self.modulus_pa * norm(deviator(strain)) / 2.0f64.sqrt();
        let share = if size > yields { 1.0 - yields / size } else { 0.0 };
        strain * (-0.5 * share * self.dt_s() * self.relaxation_per_s).exp()
    }

    /// Advances A − I or S by the deformation F of a step.
    pub fn advance(&self, strain: DMat3, f: DMat3) -> DMat3 {
        match self.elasticity {
            Elasticity::None => strain,
            Elasticity::Conformation => {
                let a = f * (DMat3::IDENTITY + self.relaxed(strain)) * f.transpose();
                let strain = self.relaxed(a - DMat3::IDENTITY);
                let part = deviator(strain);
                let size = self.modulus_pa * norm(part) / 2.0f64.sqrt();
                match self.yield_stress_pa {
                    Some(yields) if self.relaxation_per_s == 0.0 && size > yields => {
                        strain - part * (1.0 - yields / size)
                    }
                    _ => strain,
                }
            }
            Elasticity::StrainTensor => {
                let r = DMat3::from_cols_array_2d(&nearest_rotation(f.to_cols_array_2d()));
                let stretch = r.transpose() * f;
                let strain = r * (strain + stretch - DMat3::IDENTITY) * r.transpose();
                let part = deviator(strain);
                let size = norm(part);
                if size <= self.yield_strain {
                    return strain;
                }
                let beyond = (size - self.yield_strain) * (-self.decay_per_s * self.dt_s()).exp();
                strain - part * (1.0 - (self.yield_strain + beyond) / size)
            }
        }
    }

    /// Returns the displacement in m of particle shifting, at a moment and a rate of deformation in 1/s.
    fn shift_m(&self, near: &[Neighbour], moment: DMat3, rate: DMat3) -> DVec3 {
        let (stretch, size) = (trace(moment) * trace(moment.inverse()) / 9.0, norm(rate));
        if size == 0.0 {
            return DVec3::ZERO;
        }
        let k = DMat3::IDENTITY + rate * (1.0 / size);
        let power = k * k * k * k;
        let along = power * (1.0 / trace(power));
        let g =
            along * near.iter().fold(DVec3::ZERO, |sum, n| sum - n.weight * n.offset) / self.lattice_moment;
        let inside = (1.0 - g.length_squared() / 0.7f64.powi(2)).max(0.0);
        let part = (self.shifting * self.dt_s() * trace(along * rate).max(0.0)).min(0.1);
        g * (self.h_m() * ((stretch - 1.02) / 0.1).clamp(0.0, 1.0) * inside * part)
    }

    /// Returns 2 D + ζ/η tr(D) I in 1/s.
    fn stressing_rate(&self, gradient: DMat3) -> DMat3 {
        let expansion = DMat3::from_diagonal(DVec3::splat(self.bulk_ratio * trace(gradient)));
        gradient + gradient.transpose() + expansion
    }

    fn viscous_coupling(&self, state: &State, i: usize, gradient: DMat3) -> DMat3 {
        let viscosity = state.viscosity_pa_s[i];
        let resolved = self.stressing_rate(gradient) * state.inverse_moment[i] * viscosity;
        (resolved - gradient * (viscosity + self.unresolved_pa_s)) * state.share[i]
    }

    /// Returns Δt a in m/s of the couplings and viscosities of a state at a velocity field.
    pub fn impulse(&self, state: &State, v: &[DVec3]) -> Vec<DVec3> {
        self.impulse_with(state, v, |i| state.share[i] * (state.viscosity_pa_s[i] + self.unresolved_pa_s))
    }

    /// The same with viscosities in Pa s of the part of the motion that gradients do not explain.
    fn impulse_with(&self, state: &State, v: &[DVec3], strength: impl Fn(usize) -> f64) -> Vec<DVec3> {
        let scale =
            self.dt_s() / (f64::from(self.fluid.rest_density_kg_m3) * self.lattice_moment * self.h_m());
        let of = |i: usize| {
            self.neighbours(state, i).iter().fold(DVec3::ZERO, |sum, n| {
                let image = n.sign * state.coupling[n.j] * DMat3::from_diagonal(n.position);
                let other = if self.as_printed { DMat3::ZERO } else { image };
                let difference = n.sign * v[n.j] + n.added - v[i];
                let unresolved = difference * ((strength(i) + strength(n.j)) / self.h_m());
                sum + n.weight * ((state.coupling[i] + other) * n.offset + unresolved)
            })
        };
        (0..v.len()).map(|i| scale * of(i)).collect()
    }
}

impl State {
    /// Returns the positions of the neighbourhoods.
    pub fn neighbourhood_positions(&self) -> &[[f32; 3]] {
        if self.is_at_start { &self.fluid.position } else { &self.fluid.predicted }
    }

    /// Returns u, the velocities before stress.
    pub fn updated(&self) -> Vec<DVec3> {
        self.fluid.updated.iter().map(|u| wide(*u)).collect()
    }

    fn velocity(&self) -> Vec<DVec3> {
        self.fluid.velocity.iter().map(|v| wide(*v)).collect()
    }

    fn set_velocity(&mut self, v: impl Iterator<Item = DVec3>) {
        self.fluid.velocity = v.map(fluid::narrow).collect();
    }

    /// Returns changes of velocity without those of fed particles.
    fn free(&self, p: &Parameters, mut changes: Vec<DVec3>) -> Vec<DVec3> {
        for (change, x) in changes.iter_mut().zip(self.neighbourhood_positions()) {
            if p.is_fed(*x) {
                *change = DVec3::ZERO;
            }
        }
        changes
    }

    /// Twin of `hold_feed` for the velocities before stress, or those after it.
    pub fn hold_feed(&mut self, p: &Parameters, is_after: bool) {
        let Some(feed) = p.feed else { return };
        let velocity = if is_after { &mut self.fluid.velocity } else { &mut self.fluid.updated };
        for (i, x) in self.fluid.position.iter().enumerate() {
            if p.is_fed(*x) {
                let step = DVec3::from_array(feed.velocity_m_s.map(f64::from)) * p.dt_s();
                let [low, high] = [p.fluid.domain_min_m, p.fluid.domain_max_m].map(wide);
                self.fluid.predicted[i] =
                    fluid::narrow((wide(*x) + wide(self.fluid.residual[0][i]) + step).clamp(low, high));
                velocity[i] = feed.velocity_m_s;
            }
        }
    }

    /// Twin of `correct_conduction` and `conduct` of the snow, for one phase.
    pub fn conduct_heat(&mut self, p: &Parameters) {
        let Some(heat) = &p.heat else { return };
        let places: Vec<Vec<(usize, Image)>> =
            (0..self.fluid.predicted.len()).map(|i| self.places(p, i)).collect();
        let correction = |near: &Vec<(usize, Image)>| {
            correction_of(near.iter().map(|(_, place)| (place.offset_h, 1.0)), heat.laplacian_scale)
        };
        let corrections: Vec<Correction> = places.iter().map(correction).collect();
        let before = self.temperature_c.clone();
        for (i, near) in places.iter().enumerate() {
            let flow: f64 = near
                .iter()
                .map(|(j, place)| {
                    let weight =
                        corrected_weight(place, &corrections[i], &corrections[*j], heat.max_correction);
                    (heat.image_c(place.sides, before[*j]) - before[i]) * f64::from(weight)
                })
                .sum();
            self.temperature_c[i] += heat.rate * flow;
        }
    }

    /// Returns the places within h of a particle of its neighbours, itself among them, and of their images.
    fn places(&self, p: &Parameters, i: usize) -> Vec<(usize, Image)> {
        let at = |i: usize| (self.fluid.predicted[i], p.fluid.grid.cell_from_index(self.fluid.key[i]));
        let (x, cell) = at(i);
        let inverse_h = 1.0 / p.fluid.support_m;
        let mut places = Vec::new();
        for j in 0..self.fluid.predicted.len() {
            let (other, other_cell) = at(j);
            let offset_h = std::array::from_fn(|axis| (x[axis] - other[axis]) * inverse_h);
            let own = Image { offset_h, reflection: [1.0; 3], sides: [0; 3] };
            let near = std::iter::once(own).chain(p.fluid.images(at(i), at(j)));
            places.extend(
                near.filter(|place| {
                    fluid::dot(place.offset_h, place.offset_h) < 1.0
                        && p.fluid.is_beside(cell, other_cell, place.sides)
                })
                .map(|place| (j, place)),
            );
        }
        places
    }

    /// Twin of `shift_viscosity`.
    pub fn shift_viscosity(&mut self, p: &Parameters) {
        if let Some(heat) = &p.heat {
            self.viscosity_pa_s = self.temperature_c.iter().map(|t| heat.shift(*t)).collect();
        }
    }

    /// Twin of `update_stress` before an implicit solve.
    pub fn update_viscosity(&mut self, p: &Parameters) {
        let strain = std::mem::take(&mut self.strain);
        self.update_stress(&Parameters { elasticity: Elasticity::None, ..p.clone() });
        self.strain = strain;
    }

    /// Twin of `update_stress`.
    pub fn update_stress(&mut self, p: &Parameters) {
        let n = self.fluid.predicted.len();
        let u = if p.is_implicit && !self.is_at_start { self.velocity() } else { self.updated() };
        self.strain.resize(n, DMat3::ZERO);
        self.share = vec![0.0; n];
        let shift = match &p.heat {
            Some(_) => std::mem::take(&mut self.viscosity_pa_s),
            None => vec![1.0; n],
        };
        self.viscosity_pa_s = vec![0.0; n];
        if self.is_at_start == p.is_implicit {
            self.shift_m = vec![DVec3::ZERO; n];
        }
        for column in [&mut self.inverse_moment, &mut self.coupling, &mut self.stress] {
            *column = vec![DMat3::ZERO; n];
        }
        for i in 0..n {
            let near = p.neighbours(self, i);
            let moment = p.moment_beside(self, i);
            self.share[i] = p.share_at(moment);
            if self.share[i] > 0.0 {
                self.inverse_moment[i] = moment.inverse();
            }
            let gradient = p.gradient_beside(self, &u, i, true);
            let twice_rate = gradient + gradient.transpose();
            self.viscosity_pa_s[i] = shift[i] * p.viscosity_pa_s(norm(twice_rate) / 2.0f64.sqrt());
            if self.share[i] > 0.0 && self.is_at_start == p.is_implicit {
                self.shift_m[i] = p.shift_m(&near, moment, twice_rate * 0.5) * self.share[i];
            }
            let sign = if self.is_at_start { 1.0 } else { -1.0 };
            let inverse_deformation = DMat3::IDENTITY + gradient * (sign * p.dt_s());
            let shrinkage = inverse_deformation.determinant();
            let is_fine = shrinkage > 0.05 && u[i].length() < p.fluid.max_speed_m_s.into();
            if !is_fine {
                self.fluid.faults.note(FaultKind::Inverted, 0, i);
            }
            let mut elastic = DMat3::ZERO;
            if p.elasticity != Elasticity::None {
                self.strain[i] = if self.share[i] > 0.0 && shrinkage > 0.05 {
                    let shifts_relaxation = p.heat.is_some_and(|heat| heat.shifts_relaxation);
                    let of_relaxation = if shifts_relaxation { shift[i] } else { 1.0 };
                    let own =
                        Parameters { relaxation_per_s: p.relaxation_per_s / of_relaxation, ..p.clone() };
                    own.advance(self.strain[i], inverse_deformation.inverse())
                } else {
                    DMat3::ZERO
                };
                let scale = if p.elasticity == Elasticity::StrainTensor { 2.0 } else { 1.0 };
                elastic = self.strain[i] * (scale * p.modulus_pa);
            }
            let of_viscosity =
                if p.is_implicit { DMat3::ZERO } else { p.viscous_coupling(self, i, gradient) };
            self.coupling[i] = elastic * self.inverse_moment[i] * self.share[i] + of_viscosity;
            self.stress[i] = (elastic + p.stressing_rate(gradient) * self.viscosity_pa_s[i]) * self.share[i];
        }
    }

    /// Twin of `differentiate`: the couplings of a field, around which bodies move or rest.
    pub fn differentiate(&mut self, p: &Parameters, field: &[DVec3], bodies_move: bool) {
        for i in 0..field.len() {
            if p.is_deep_in_feed(self.neighbourhood_positions()[i]) {
                self.coupling[i] = DMat3::ZERO;
                continue;
            }
            let gradient = p.gradient_beside(self, field, i, bodies_move);
            self.coupling[i] = p.viscous_coupling(self, i, gradient);
        }
    }

    /// Twin of `apply_stress`.
    pub fn apply_stress(&mut self, p: &Parameters) {
        let u = if p.is_implicit { self.velocity() } else { self.updated() };
        let impulse = if p.is_implicit { p.impulse_with(self, &u, |_| 0.0) } else { p.impulse(self, &u) };
        let impulse = self.free(p, impulse);
        self.set_velocity(u.into_iter().zip(impulse).map(|(u, impulse)| u + impulse));
    }

    /// Twin of `begin_viscosity`.
    pub fn begin_viscosity(&mut self, p: &Parameters) {
        let impulse = self.free(p, self.impulse.clone());
        let v: Vec<DVec3> = self.updated().iter().zip(impulse).map(|(u, d)| *u + d).collect();
        self.set_velocity(v.into_iter());
    }

    /// Twin of `compute_residual`: returns r·r and |v − u|².
    pub fn compute_residual(&mut self, p: &Parameters) -> [f64; 2] {
        let (u, v) = (self.updated(), self.velocity());
        let (impulse, of_bodies) = (p.impulse(self, &v), p.impulse_of_bodies(self, &v, true));
        let residual = |i: usize| u[i] - v[i] + impulse[i] + of_bodies[i];
        self.residual = self.free(p, (0..u.len()).map(residual).collect());
        self.direction.clone_from(&self.residual);
        let so_far = u.iter().zip(&v).map(|(u, v)| (*v - *u).length_squared()).sum();
        [self.residual.iter().map(|r| r.length_squared()).sum(), so_far]
    }

    /// Twin of `apply_operator`: returns p·(p − Δt a(p)).
    pub fn apply_operator(&mut self, p: &Parameters) -> f64 {
        let of_bodies = p.impulse_of_bodies(self, &self.direction, false);
        let impulse = p.impulse(self, &self.direction).into_iter().zip(of_bodies).map(|(a, b)| a + b);
        let applied = self.direction.iter().zip(impulse).map(|(p, impulse)| *p - impulse).collect();
        self.applied = self.free(p, applied);
        self.direction.iter().zip(&self.applied).map(|(p, q)| p.dot(*q)).sum()
    }

    /// Twin of `advance_velocity`: returns r·r.
    pub fn advance_velocity(&mut self) -> f64 {
        let along = self.solve.along;
        let v: Vec<DVec3> =
            self.velocity().iter().zip(&self.direction).map(|(v, p)| *v + along * *p).collect();
        self.set_velocity(v.into_iter());
        for (r, applied) in self.residual.iter_mut().zip(&self.applied) {
            *r -= along * *applied;
        }
        self.residual.iter().map(|r| r.length_squared()).sum()
    }

    /// Twin of `advance_direction`.
    pub fn advance_direction(&mut self) {
        for (p, r) in self.direction.iter_mut().zip(&self.residual) {
            *p = *r + self.solve.keep * *p;
        }
    }

    /// Twin of `load_bodies`, with the couplings of the velocities at the end of a solve: returns the impulse
    /// in N s and the angular impulse in N m s on each body.
    pub fn body_loads(&mut self, p: &Parameters) -> Vec<[DVec3; 2]> {
        let v = self.velocity();
        self.differentiate(p, &v, true);
        let mut loads = vec![[DVec3::ZERO; 2]; p.fluid.bodies.len()];
        for (i, v) in v.into_iter().enumerate() {
            for wall in p.body_walls(self, i) {
                let of_fluid = p.impulse_of_wall(self, i, &wall, v - wall.velocity);
                let impulse = -f64::from(p.fluid.particle_mass_kg) * of_fluid;
                let centre = p.fluid.bodies[wall.body].torque_centre(p.fluid.time_s);
                loads[wall.body][0] += impulse;
                let surface = wide(self.fluid.position[i]) - wall.distance_m * wall.normal;
                loads[wall.body][1] += (surface - centre).cross(impulse);
            }
        }
        loads
    }

    /// Twin of `end_viscosity`.
    pub fn end_viscosity(&mut self, p: &Parameters) {
        self.impulse = self.velocity().iter().zip(self.updated()).map(|(v, u)| *v - u).collect();
        for (x, change) in self.fluid.predicted.iter_mut().zip(&self.impulse) {
            if *change != DVec3::ZERO {
                *x = p.fluid.confine(fluid::narrow(wide(*x) + p.dt_s() * *change));
            }
        }
    }

    /// Twin of `shift_particles`.
    pub fn shift_particles(&mut self, p: &Parameters) {
        for (i, x) in self.fluid.predicted.iter_mut().enumerate() {
            if !p.is_fed(self.fluid.position[i]) && self.shift_m[i] != DVec3::ZERO {
                *x = p.fluid.confine(fluid::narrow(wide(*x) + self.shift_m[i]));
            }
        }
    }

    /// Twin of `settle_viscosity` before the first pass.
    pub fn settle_start(&mut self) {
        let is_done = self.fluid.position.is_empty();
        self.solve = Solve { is_done, iterations: 0, n_steps: self.solve.n_steps + 1, ..self.solve };
    }

    /// Twin of `settle_viscosity` with the first residual and |v − u|²; not run without particles.
    pub fn settle_first(&mut self, p: &Parameters, [square, so_far]: [f64; 2]) {
        if self.solve.is_done {
            return;
        }
        self.solve.keep = 0.0;
        self.solve.target = p.tolerance.powi(2) * square.max(so_far).max(1e-36);
        self.settle_end(p, square);
    }

    /// Twin of `settle_viscosity` with p·(p − Δt a(p)).
    pub fn settle_step(&mut self, product: f64) {
        self.solve.along = if product > 0.0 { self.solve.square / product } else { 0.0 };
        self.solve.iterations += 1;
    }

    /// Twin of `settle_viscosity` with the residual of an iteration.
    pub fn settle_next(&mut self, p: &Parameters, square: f64) {
        self.solve.keep = if self.solve.square > 0.0 { square / self.solve.square } else { 0.0 };
        self.settle_end(p, square);
    }

    fn settle_end(&mut self, p: &Parameters, square: f64) {
        self.solve.square = square;
        let goes_on = square > self.solve.target;
        if !goes_on || self.solve.iterations >= p.max_iterations {
            self.solve.n_unmet += u32::from(goes_on);
            self.solve.is_done = true;
        }
    }

    /// Twin of the passes that begin the implicit solve.
    pub fn begin_solve(&mut self, p: &Parameters) {
        self.settle_start();
        self.begin_viscosity(p);
        let v = self.velocity();
        self.differentiate(p, &v, true);
        let products = self.compute_residual(p);
        self.settle_first(p, products);
    }

    /// Twin of the passes of one iteration; directions are between walls at rest.
    pub fn iterate_solve(&mut self, p: &Parameters) {
        if self.solve.is_done {
            return;
        }
        let at_rest = Parameters { wall_speed_m_s: 0.0, ..p.clone() };
        let direction = self.direction.clone();
        self.differentiate(&at_rest, &direction, false);
        let product = self.apply_operator(&at_rest);
        self.settle_step(product);
        let square = self.advance_velocity();
        self.settle_next(p, square);
        if !self.solve.is_done {
            self.advance_direction();
        }
    }

    /// Twin of `collide_walls`.
    pub fn collide_walls(&mut self, p: &Parameters) {
        for i in 0..self.fluid.predicted.len() {
            let (x, before) = (wide(self.fluid.predicted[i]), wide(self.fluid.velocity[i]));
            let mut v = wide(self.fluid.updated[i]);
            for axis in 0..3 {
                for side in 0..2 {
                    let face_m = [p.fluid.domain_min_m, p.fluid.domain_max_m][side][axis];
                    let inward = [1.0, -1.0][side];
                    let distance_m = inward * (x[axis] - f64::from(face_m));
                    if p.fluid.periodic[axis] || distance_m >= p.spacing_m {
                        continue;
                    }
                    if p.sticky[side][axis] {
                        if self.share[i] == 0.0 {
                            let along_x = if axis == 1 { -inward * p.wall_speed_m_s } else { 0.0 };
                            v = DVec3::new(along_x, 0.0, 0.0);
                        }
                        continue;
                    }
                    let approach = -inward * before[axis];
                    if approach > p.resting_speed_m_s && inward * v[axis] > -approach {
                        v[axis] = inward * (inward * v[axis]).max(p.restitution * approach);
                    }
                    // p Δt/(ρ d) with p = −ρ h² λ/Δt².
                    let pushed = (-f64::from(self.fluid.multiplier[i])).max(0.0) * p.h_m().powi(2);
                    let loss = p.friction * pushed / (p.dt_s() * p.spacing_m);
                    let mut along = v;
                    along[axis] = 0.0;
                    let speed = along.length();
                    if loss > 0.0 && speed > 0.0 {
                        v -= (loss / speed).min(1.0) * along;
                    }
                }
            }
            self.fluid.updated[i] = fluid::narrow(v);
        }
    }

    fn spring_particles(&self, springs: &Springs) -> bonds::Particles {
        bonds::Particles {
            position: self.fluid.predicted.clone(),
            limit: vec![springs.max_springs; self.fluid.predicted.len()],
            id: self.fluid.id.clone(),
        }
    }

    /// Twin of the flow of rest lengths (`update_plastic_springs`).
    pub fn update_springs(&mut self, springs: &Springs) {
        let (share, yields) = (springs.flow_share, springs.yield_strain);
        bonds::update_plastic_springs(&mut self.springs, &self.fluid.predicted, share, yields);
    }

    /// Twin of the end of springs (`mark_flowed_springs`, `remove_bonds`).
    pub fn break_springs(&mut self, springs: &Springs) {
        let particles = self.spring_particles(springs);
        let max_rest_m = springs.support_m as f32;
        let keep = bonds::mark_flowed_springs(&self.springs, &particles, springs.max_springs, max_rest_m);
        bonds::remove_bonds(&mut self.springs, &keep);
    }

    /// Returns the offset x_j − x_i in m and the rest length in m of each spring of a particle whose ends do
    /// not coincide.
    fn springs_of(&self, at: &[[f32; 3]], i: usize) -> Vec<(usize, DVec3, f64)> {
        let row = self.springs.rows[i].iter();
        row.map(|spring| (spring.partner as usize, f64::from(spring.rest_length_m)))
            .map(|(j, rest_m)| (j, wide(at[j]) - wide(at[i]), rest_m))
            .filter(|(_, offset, _)| offset.length() > 0.0)
            .collect()
    }

    /// Twin of `bound_springs`.
    pub fn bound_springs(&mut self, springs: &Springs) {
        let n = self.fluid.predicted.len();
        let bound = |i: usize| {
            let near = self.springs_of(&self.fluid.predicted, i);
            let sum = near.iter().fold(DMat3::ZERO, |sum, (_, offset, rest_m)| {
                let n = offset.normalize();
                sum + outer(n, springs.stiffness_n_m(*rest_m) * n)
            });
            let row = |r: DVec3| r.abs().element_sum();
            row(sum.x_axis).max(row(sum.y_axis)).max(row(sum.z_axis))
        };
        self.bound_n_m = (0..n).map(bound).collect();
    }

    /// Twin of `apply_springs` for the velocities before stress, or those after it.
    pub fn apply_springs(&mut self, springs: &Springs, is_after: bool) {
        for i in 0..self.fluid.predicted.len() {
            let (mut force, mut stress) = (DVec3::ZERO, DMat3::ZERO);
            for (j, offset, rest_m) in self.springs_of(&self.fluid.predicted, i) {
                let share = (springs.max_bound_n_m / self.bound_n_m[i].max(self.bound_n_m[j])).min(1.0);
                let stretch_m = offset.length() - rest_m;
                let pull = share * springs.stiffness_n_m(rest_m) * stretch_m * offset.normalize();
                force += pull;
                stress += outer(pull, offset);
            }
            let velocity = if is_after { &mut self.fluid.velocity } else { &mut self.fluid.updated };
            velocity[i] = fluid::narrow(wide(velocity[i]) + springs.dt_per_mass * force);
            self.stress[i] += stress * springs.half_per_volume;
        }
    }

    /// Twin of the energy of springs of `measure` in J/kg, and the number of their ends.
    pub fn measure_springs(&self, springs: &Springs) -> (f64, usize) {
        let energy = |i: usize| -> f64 {
            let near = self.springs_of(&self.fluid.position, i);
            near.iter()
                .map(|(_, offset, rest_m)| {
                    0.25 * springs.stiffness_n_m(*rest_m) * (offset.length() - rest_m).powi(2)
                })
                .sum()
        };
        let ends = self.springs.rows.iter().map(Vec::len).sum();
        ((0..self.fluid.position.len()).map(energy).sum::<f64>() * springs.inverse_mass, ends)
    }

    /// Twin of `pbd/end_step`, and x ← x*.
    pub fn end_step(&mut self) {
        self.fluid.end_step();
        self.fluid.position.clone_from(&self.fluid.predicted);
    }

    /// Twin of the elastic energy and the angular momentum of `measure`, over the particle's mass.
    pub fn measure_elasticity(&self, p: &Parameters) -> (f64, DVec3) {
        let energy = |strain: &DMat3| match p.elasticity {
            Elasticity::None => 0.0,
            Elasticity::Conformation => {
                0.5 * (trace(*strain) - (DMat3::IDENTITY + *strain).determinant().max(1e-30).ln())
            }
            Elasticity::StrainTensor => norm(*strain).powi(2),
        };
        let scale = p.modulus_pa / f64::from(p.fluid.rest_density_kg_m3);
        let centre = 0.5 * (wide(p.fluid.domain_min_m) + wide(p.fluid.domain_max_m));
        let moments = self
            .fluid
            .position
            .iter()
            .zip(&self.fluid.velocity)
            .map(|(x, v)| (wide(*x) - centre).cross(wide(*v)));
        (scale * self.strain.iter().map(energy).sum::<f64>(), moments.sum())
    }

    /// Returns the power in W/V over one particle's volume that stress and unresolved motion take from a
    /// field: Σ σ:L of the couplings' stress, and half of Σ w over pairs of the unresolved part.
    pub fn power(&self, p: &Parameters, v: &[DVec3], elastic: bool) -> f64 {
        (0..v.len())
            .map(|i| {
                let near = p.neighbours(self, i);
                let l = p.gradient(&near, v, i, self.inverse_moment[i]);
                let mut stress = p.stressing_rate(l) * (self.viscosity_pa_s[i] * self.share[i]);
                if elastic {
                    let scale = if p.elasticity == Elasticity::StrainTensor { 2.0 } else { 1.0 };
                    stress += self.strain[i] * (scale * p.modulus_pa * self.share[i]);
                }
                let product: f64 =
                    stress.to_cols_array().iter().zip(l.to_cols_array()).map(|(s, l)| s * l).sum();
                let strength = self.share[i] * (self.viscosity_pa_s[i] + p.unresolved_pa_s);
                // What the gradient does not explain of the differences.
                let rest: f64 = near
                    .iter()
                    .map(|n| {
                        let difference = n.sign * v[n.j] + n.added - v[i];
                        let explained = l * n.offset * p.h_m();
                        n.weight * difference.dot(difference - explained)
                    })
                    .sum();
                product + strength * rest / (p.lattice_moment * p.h_m().powi(2))
            })
            .sum()
    }
}
