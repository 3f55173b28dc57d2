//! Twin of the position-based fluid: one function per kernel of `glsl/pbd`, f32 and in the kernels' order of
//! operations.
//!
//! A [`State`] holds the contents of the device's buffers. Each stage takes the state and changes the columns
//! that the kernel writes, so any prefix of a step can run here and the rest on the device, or vice versa.

use glam::DVec3;

use crate::bodies::{Body, Load, combine_boundary_densities, reduce_body_loads};
use crate::fault::{Faults, Moved};
use crate::primitives::{Grid, cell_starts, gather, radix_sort_pairs};
use crate::sources::Sources;
use crate::sph;

pub(crate) const SPLINE_SCALE: f32 = 16.0 / std::f32::consts::PI;
pub(crate) const SPLINE_SLOPE_SCALE: f32 = 48.0 / std::f32::consts::PI;

/// Kernels of density, its gradient and XSPH, `SMOOTHING_KERNEL` of `sph/kernels.glsl`; all in h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmoothingKernel {
    /// The cubic B-spline and its gradient.
    CubicSpline,
    /// Poly6 and the gradient of spiky (Huang2016 eq 2.31, 2.35).
    Poly6Spiky,
}

impl SmoothingKernel {
    /// Twin of `kernel_scale`: h³ W over [`Self::shape`].
    pub fn scale(self) -> f32 {
        match self {
            Self::CubicSpline => SPLINE_SCALE,
            Self::Poly6Spiky => 315.0 / (64.0 * std::f32::consts::PI),
        }
    }

    /// Twin of `kernel_slope_scale`: −h⁴ dW/dr over [`Self::slope_shape`].
    pub fn slope_scale(self) -> f32 {
        match self {
            Self::CubicSpline => SPLINE_SLOPE_SCALE,
            Self::Poly6Spiky => 45.0 / std::f32::consts::PI,
        }
    }

    /// Twin of `kernel_shape` at q = r/h.
    pub fn shape(self, q: f32) -> f32 {
        match self {
            Self::CubicSpline => spline_shape(q),
            Self::Poly6Spiky => (1.0 - q * q).max(0.0).powi(3),
        }
    }

    /// Twin of `kernel_slope_shape` at q = r/h.
    pub fn slope_shape(self, q: f32) -> f32 {
        match self {
            Self::CubicSpline => spline_slope_shape(q),
            Self::Poly6Spiky => (1.0 - q).max(0.0).powi(2),
        }
    }

    /// Twin of `kernel_wall_fraction`: the share of the kernel of density beyond a plane at distance q = s/h.
    pub fn wall_fraction(self, q: f32) -> f32 {
        match self {
            Self::CubicSpline => spline_wall_fraction(q),
            Self::Poly6Spiky => sph::poly6_wall_fraction(q, 1.0),
        }
    }

    /// Twin of `kernel_wall_slope`: the integral over the plane of the kernel of gradients, times h.
    pub fn wall_slope(self, q: f32) -> f32 {
        match self {
            Self::CubicSpline => spline_wall_slope(q),
            Self::Poly6Spiky => sph::spiky_wall_marginal(q.max(0.0), 1.0),
        }
    }
}

/// Parameters of the kernels, by the same names.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Δt in s.
    pub dt_s: f32,
    /// Acceleration of free fall in m/s².
    pub gravity_m_s2: [f32; 3],
    /// Kernels of density, its gradient and XSPH.
    pub kernel: SmoothingKernel,
    /// h in m.
    pub support_m: f32,
    /// V/h³.
    pub volume_h3: f32,
    /// ρ₀ in kg/m³.
    pub rest_density_kg_m3: f32,
    /// Mean of max(ρ/ρ₀ − 1, 0) to which the density constraint is solved; 0 for a fixed number of
    /// iterations.
    pub density_tolerance: f32,
    /// Minimum of iterations with a tolerance.
    pub iterations: u32,
    /// Maximum of iterations with a tolerance.
    pub max_iterations: u32,
    /// Mean error at which a solve with a tolerance ends, because the state has diverged.
    pub max_error: f32,
    /// ω.
    pub over_relaxation: f32,
    /// ε h².
    pub relaxation: f32,
    /// k of the artificial pressure.
    pub pressure_strength: f32,
    /// Inverse of the kernel's shape at |Δq|.
    pub pressure_inverse_shape: f32,
    /// n of the artificial pressure.
    pub pressure_exponent: u32,
    /// c of XSPH.
    pub xsph_viscosity: f32,
    /// Drag of walls: 0 slip, 1 no slip.
    pub wall_friction: f32,
    /// Weight of the drag of walls in XSPH.
    pub wall_xsph: f32,
    /// ν̂ = Δt ν s/h².
    pub viscosity_share: f32,
    /// h³/V.
    pub particles_h3: f32,
    /// Friction of the lower and of the upper faces of the domain, minus that of walls.
    pub face_friction: [[f32; 3]; 2],
    /// Density in kg/m³ that is a fault.
    pub max_density_kg_m3: f32,
    /// Speed in m/s that is a fault.
    pub max_speed_m_s: f32,
    /// Lower corner of the domain in m.
    pub domain_min_m: [f32; 3],
    /// Upper corner of the domain in m.
    pub domain_max_m: [f32; 3],
    /// Share of an excess of density that a step of a projection takes back.
    pub excess_share: f32,
    /// Share of a deficit of density within water that a step of a projection takes back.
    pub deficit_share: f32,
    /// True if velocities are projected, false if positions are corrected.
    pub is_projection: bool,
    /// True if images of particles behind the faces of the domain contribute to density, false for the
    /// fraction of the kernel.
    pub has_images: bool,
    /// Axes along which the domain repeats itself.
    pub periodic: [bool; 3],
    /// Minimum distance from a face of the domain in m.
    pub clearance_m: f32,
    /// True if corrections of density follow the gradients at the start of the step.
    pub gradient_at_start: bool,
    /// Minimum distance from a body in m.
    pub body_clearance_m: f32,
    /// Scale of the wall fraction.
    pub fraction_scale: f32,
    /// Bodies.
    pub bodies: Vec<Body>,
    /// Emitters and drains.
    pub sources: Sources,
    /// Mass of a particle in kg.
    pub particle_mass_kg: f32,
    /// Start of the step in s.
    pub time_s: f64,
    /// The grid.
    pub grid: Grid,
}

/// Contents of the device's buffers, by the same names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// x in m.
    pub position: Vec<[f32; 3]>,
    /// Part of x below its ulp, and that of x*, in m.
    pub residual: [Vec<[f32; 3]>; 2],
    /// v in m/s.
    pub velocity: Vec<[f32; 3]>,
    /// Ids.
    pub id: Vec<u32>,
    /// Cell keys.
    pub key: Vec<u32>,
    /// Sort permutation of the step.
    pub order: Vec<u32>,
    /// Start of each cell.
    pub cell_start: Vec<u32>,
    /// x* in m.
    pub predicted: Vec<[f32; 3]>,
    /// (x*, λ).
    pub constraint: Vec<[f32; 4]>,
    /// ρ in kg/m³.
    pub density: Vec<f32>,
    /// λ, summed over the iterations of a step.
    pub multiplier: Vec<f32>,
    /// max(ρ/ρ₀ − 1, 0).
    pub excess: Vec<f32>,
    /// Progress of the density solve.
    pub solve: DensitySolve,
    /// Scratch of a projection.
    pub projection: Projection,
    /// True for particles in pipes of emitters.
    pub held: Vec<bool>,
    /// Id of the next particle that an emitter adds.
    pub next_id: u32,
    /// u in m/s: velocities before XSPH.
    pub updated: Vec<[f32; 3]>,
    /// Linear and angular impulse on each body in this step, in N s and N m s.
    pub impulses: Vec<[DVec3; 2]>,
    /// Load on each body.
    pub loads: Vec<Load>,
    /// Faults.
    pub faults: Faults,
}

/// Scratch of a projection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projection {
    /// Predicted constraint, and 1/a_ii.
    pub source: Vec<[f32; 2]>,
    /// Change of velocities by the pressure, in h/Δt.
    pub acceleration: Vec<[f32; 3]>,
    /// t, β and the last error of the accelerated gradient, and the error with which it ends.
    pub momentum: [f32; 4],
}

/// Progress of the density solve of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DensitySolve {
    /// True once the solve has ended: no particle is active.
    pub is_done: bool,
    /// Corrections of the step.
    pub iterations: u32,
    /// Mean of max(ρ/ρ₀ − 1, 0) after them.
    pub error: f32,
    /// Steps so far.
    pub n_steps: u32,
    /// Steps that left a larger error than the tolerance.
    pub n_unmet: u32,
    /// Largest error of a step, and its number.
    pub worst: (f32, u32),
}

/// Neighbours of a particle within the reach of a row, and its images with the sign of each axis.
pub type Row = (Vec<u32>, Vec<(u32, [f32; 3])>);

/// Image of a particle behind faces of the domain.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// Offset from it in h.
    pub offset_h: [f32; 3],
    /// −1 on reflected axes, else 1.
    pub reflection: [f32; 3],
    /// By axis 0 without image, 1 behind the lower and 2 behind the upper face.
    pub sides: [u32; 3],
}

pub(crate) fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn wide(a: [f32; 3]) -> DVec3 {
    DVec3::from_array(a.map(f64::from))
}

pub(crate) fn narrow(a: DVec3) -> [f32; 3] {
    a.as_vec3().to_array()
}

pub(crate) fn zip(a: [f32; 3], b: [f32; 3], f: impl Fn(f32, f32) -> f32) -> [f32; 3] {
    std::array::from_fn(|axis| f(a[axis], b[axis]))
}

/// `spline_shape` of `sph/kernels.glsl`: the kernel's value at q = r/h, over 16/π.
pub fn spline_shape(q: f32) -> f32 {
    let (u, v) = ((1.0 - q).max(0.0), (0.5 - q).max(0.0));
    u * u * u - 4.0 * v * v * v
}

/// `spline_slope_shape` of `sph/kernels.glsl`: minus the kernel's derivative at q = r/h, over 48/π.
pub fn spline_slope_shape(q: f32) -> f32 {
    let (u, v) = ((1.0 - q).max(0.0), (0.5 - q).max(0.0));
    u * u - 4.0 * v * v
}

/// `spline_wall_fraction` of `sph/kernels.glsl`: the share of the kernel beyond a plane at distance q = s/h.
pub fn spline_wall_fraction(q: f32) -> f32 {
    let q = q.max(0.0);
    let (u, v) = ((1.0 - q).max(0.0), (0.5 - q).max(0.0));
    let (u2, v2) = (u * u, v * v);
    32.0 * (u2 * u2 * u * (1.0 / 20.0 - u / 30.0) - 4.0 * v2 * v2 * v * (1.0 / 40.0 - v / 30.0))
}

/// `spline_wall_slope` of `sph/kernels.glsl`: minus the derivative of [`spline_wall_fraction`].
pub fn spline_wall_slope(q: f32) -> f32 {
    let q = q.max(0.0);
    let (u, v) = ((1.0 - q).max(0.0), (0.5 - q).max(0.0));
    let (u2, v2) = (u * u, v * v);
    32.0 * (u2 * u2 * (1.0 / 4.0 - u / 5.0) - 4.0 * v2 * v2 * (1.0 / 8.0 - v / 5.0))
}

/// Returns the part of a vector along the line of an offset; 0 for an offset of 0.
pub fn along(offset: [f32; 3], v: [f32; 3]) -> [f32; 3] {
    let square = dot(offset, offset);
    if square == 0.0 {
        return [0.0; 3];
    }
    let share = dot(offset, v) / square;
    offset.map(|x| share * x)
}

/// `no_slip_drag` of `pbd/walls.glsl`.
pub fn no_slip_drag(q: f32) -> f32 {
    let s = q.max(0.1);
    if s >= 1.0 {
        return 0.0;
    }
    let s2 = s * s;
    let series = 1.0 / 30.0 - s2 * (1.0 / 4.0 + s2 * (1.0 / 2.0 + s.ln() - s * (4.0 / 5.0 - s / 12.0)));
    1.25 * std::f32::consts::PI * series / s
}

/// Returns the sum of a position with its residual and a change, and the residual of the sum: what its
/// rounding cuts off.
pub(crate) fn added(x: [f32; 3], residual: [f32; 3], change: [f32; 3]) -> [[f32; 3]; 2] {
    let step = zip(change, residual, |c, r| c + r);
    let to = zip(x, step, |x, s| x + s);
    // The sum of two floats and its rounding error, as a float, are exact in f64 for all but tiny steps.
    let lost = std::array::from_fn(|a| (f64::from(x[a]) + f64::from(step[a]) - f64::from(to[a])) as f32);
    [to, lost]
}

impl Parameters {
    /// Twin of `confine` of `pbd/walls.glsl`.
    pub fn confine(&self, x_m: [f32; 3]) -> [f32; 3] {
        self.confine_to(x_m, 1.0)
    }

    /// The same for a particle of another spacing than water's, of which it is the multiple.
    fn confine_to(&self, x_m: [f32; 3], spacings: f32) -> [f32; 3] {
        let clearance_m = spacings * self.clearance_m;
        std::array::from_fn(|axis| {
            let low = x_m[axis].max(self.domain_min_m[axis] + clearance_m);
            let confined = low.min(self.domain_max_m[axis] - clearance_m);
            if self.periodic[axis] { x_m[axis] } else { confined }
        })
    }

    /// Twin of `pbd/project_out_of_bodies`: returns the position and the displacement by each body, in order.
    pub fn project_out_of_bodies(&self, x_m: [f32; 3]) -> ([f32; 3], Vec<(usize, DVec3)>) {
        self.project_out_to(x_m, 1.0)
    }

    /// The same for a particle of another spacing than water's, of which it is the multiple.
    pub(crate) fn project_out_to(&self, x_m: [f32; 3], spacings: f32) -> ([f32; 3], Vec<(usize, DVec3)>) {
        let confined = self.confine_to(x_m, spacings);
        let mut x = wide(confined);
        let mut pushes = Vec::new();
        let clearance = f64::from(spacings * self.body_clearance_m);
        for _ in 0..3 {
            let n = pushes.len();
            for (k, body) in self.bodies.iter().enumerate() {
                let before = x;
                for _ in 0..4 {
                    let (distance, normal) = body.distance_m(x, self.step_end_s());
                    if clearance - distance <= 1e-5 * clearance {
                        break;
                    }
                    x += (clearance - distance) * normal;
                }
                if x != before {
                    pushes.push((k, x - before));
                }
            }
            if pushes.len() == n {
                break;
            }
            x = wide(self.confine_to(narrow(x), spacings));
        }
        (if pushes.is_empty() { confined } else { narrow(x) }, pushes)
    }

    /// Returns the end of the step in s.
    pub fn step_end_s(&self) -> f64 {
        self.time_s + f64::from(self.dt_s)
    }

    /// Twin of `domain_term` of `pbd/walls.glsl`: returns the share of the kernel cut off by no wall, and h
    /// times the gradient of the share cut off by walls.
    fn domain_term(&self, x_m: [f32; 3]) -> (f32, [f32; 3]) {
        let (mut open, mut gradient) = (1.0f32, [0.0f32; 3]);
        let mut add = |q: f32, normal: [f32; 3]| {
            if q < 1.0 {
                let fraction = self.fraction_scale * self.kernel.wall_fraction(q);
                let slope = self.fraction_scale * self.kernel.wall_slope(q);
                gradient = zip(gradient, normal, |g, n| g * (1.0 - fraction) - open * slope * n);
                open *= 1.0 - fraction;
            }
        };
        for axis in 0..3 {
            let mut normal = [0.0; 3];
            normal[axis] = 1.0;
            add((x_m[axis] - self.domain_min_m[axis]) / self.support_m, normal);
            add((self.domain_max_m[axis] - x_m[axis]) / self.support_m, normal.map(|n| -n));
        }
        (open, gradient)
    }

    /// Twin of `pbd/compute_boundary_density` for one body at the end of the step.
    pub(crate) fn body_density(&self, body: &Body, x: DVec3) -> (f64, DVec3) {
        body.boundary_density(x, self.step_end_s(), self.support_m.into(), self.fraction_scale.into())
    }

    /// Twin of `pbd/compute_boundary_density`: returns the boundary density of all bodies, and h times its
    /// gradient.
    pub fn compute_boundary_density(&self, x_m: [f32; 3]) -> (f64, DVec3) {
        let each = self.bodies.iter().map(|body| self.body_density(body, wide(x_m)));
        each.fold((0.0, DVec3::ZERO), combine_boundary_densities)
    }

    /// Twin of `domain_term` and `add_bodies` of `pbd/walls.glsl`: returns the share of the kernel cut off by
    /// neither walls nor bodies, and h times the gradient of the share cut off.
    pub fn wall_term(&self, x_m: [f32; 3]) -> (f32, [f32; 3]) {
        let (open, gradient) = self.domain_term(x_m);
        if self.bodies.is_empty() {
            return (open, gradient);
        }
        let (density, body_gradient) = self.compute_boundary_density(x_m);
        let body_open = (1.0 - density) as f32;
        let gradient = zip(gradient, narrow(body_gradient), |g, b| g * body_open + open * b);
        (open * body_open, gradient)
    }

    /// Returns the share of the kernel that walls and bodies leave open to density, and h times the gradient
    /// of the rest. With images it is that of bodies beside walls: twin of `density_term` of
    /// `pbd/walls.glsl`.
    pub(crate) fn density_term(&self, x_m: [f32; 3]) -> (f32, [f32; 3]) {
        if !self.has_images {
            return self.wall_term(x_m);
        }
        if self.bodies.is_empty() {
            return (1.0, [0.0; 3]);
        }
        let (open, gradient) = self.domain_term(x_m);
        let (density, body_gradient) = self.compute_boundary_density(x_m);
        let density = density as f32;
        let gradient = zip(narrow(body_gradient), gradient, |b, g| open * b - density * g);
        (1.0 - open * density, gradient)
    }

    /// Returns the images within h of `own` of a particle at `other` behind faces of the domain, each given
    /// with its cell: twin of `common/images.glsl`.
    pub fn images(
        &self,
        (own, cell): ([f32; 3], [u32; 3]),
        (other, other_cell): ([f32; 3], [u32; 3]),
    ) -> Vec<Image> {
        let inverse_h = 1.0 / self.support_m;
        // Offset and reflection on an axis of the particle, and of its images behind the faces beside which
        // both cells are: whose distances from it are less than a cell together.
        let along = |axis: usize| {
            let is_periodic = self.periodic[axis];
            let behind = |face: f32, opposite: f32, side: u32| match is_periodic {
                true => (((own[axis] - face) - (other[axis] - opposite)) * inverse_h, 1.0, side),
                false => (((own[axis] - face) + (other[axis] - face)) * inverse_h, -1.0, side),
            };
            let (low, high) = (self.domain_min_m[axis], self.domain_max_m[axis]);
            let n_cells = (high - self.grid.origin_m[axis]) / self.grid.cell_size_m;
            let below_upper = |cell: [u32; 3]| (n_cells - cell[axis] as f32 - 1.0).max(0.0);
            let mut places = vec![((own[axis] - other[axis]) * inverse_h, 1.0, 0)];
            let (is_lowest, other_is_lowest) = (cell[axis] == 0, other_cell[axis] == 0);
            let [below_lower, below_higher] = if is_periodic {
                [is_lowest && below_upper(other_cell) < 1.0, other_is_lowest && below_upper(cell) < 1.0]
            } else {
                [is_lowest && other_is_lowest, below_upper(cell) + below_upper(other_cell) < 1.0]
            };
            places.extend(below_lower.then(|| behind(low, high, 1)));
            places.extend(below_higher.then(|| behind(high, low, 2)));
            places
        };
        let [xs, ys, zs] = [along(0), along(1), along(2)];
        let mut images = Vec::new();
        for z in &zs {
            for y in &ys {
                let image = |x: &(f32, f32, u32)| Image {
                    offset_h: [x.0, y.0, z.0],
                    reflection: [x.1, y.1, z.1],
                    sides: [x.2, y.2, z.2],
                };
                images.extend(xs.iter().map(image));
            }
        }
        images.retain(|image| image.sides != [0; 3] && dot(image.offset_h, image.offset_h) < 1.0);
        images
    }

    /// Returns the share of the kernel that the faces of the domain leave open.
    pub(crate) fn open_of_domain(&self, x_m: [f32; 3]) -> f32 {
        self.domain_term(x_m).0
    }

    /// Returns the drag of the domain's walls on a velocity u at x*.
    pub fn wall_drag(&self, x_m: [f32; 3], u: [f32; 3]) -> [f32; 3] {
        let (open, _) = self.domain_term(x_m);
        let mut drag = u.map(|u| self.wall_friction * (1.0 - open) * u);
        if self.wall_xsph == 0.0 {
            return [0.0; 3];
        }
        for (axis, side) in (0..3).flat_map(|axis| [(axis, 0), (axis, 1)]) {
            let added = self.face_friction[side][axis];
            if added != 0.0 {
                let face = 2 * axis + side;
                let fraction = self.open_of_faces(x_m, face) - self.open_of_faces(x_m, face + 1);
                drag = zip(drag, u, |d, u| d + added * fraction * u);
            }
        }
        drag
    }

    /// Returns the share of the image behind sides, as in [`Image::sides`], that slips, and the velocity of
    /// the image of a particle: 1 and its own without sides.
    fn slip_image(&self, sides: [u32; 3], v: [f32; 3]) -> (f32, [f32; 3]) {
        let mut image = (1.0, v);
        for axis in (0..3).filter(|&axis| sides[axis] != 0 && !self.periodic[axis]) {
            let friction = self.wall_friction + self.face_friction[sides[axis] as usize - 1][axis];
            image.0 *= (1.0 - friction).max(0.0);
            image.1[axis] = -v[axis];
        }
        image
    }

    /// Twin of `viscous_wall_drag` of `pbd/walls.glsl`.
    pub fn viscous_wall_drag(&self, x_m: [f32; 3]) -> [f32; 3] {
        let along: [f32; 3] = std::array::from_fn(|axis| {
            let below = (x_m[axis] - self.domain_min_m[axis]) / self.support_m;
            let above = (self.domain_max_m[axis] - x_m[axis]) / self.support_m;
            (self.wall_friction + self.face_friction[0][axis]) * no_slip_drag(below)
                + (self.wall_friction + self.face_friction[1][axis]) * no_slip_drag(above)
        });
        std::array::from_fn(|axis| along[(axis + 1) % 3] + along[(axis + 2) % 3])
    }

    /// Returns the time in s at which bodies drag water: the end of the step, or with a projection its start.
    fn drag_time_s(&self) -> f64 {
        if self.is_projection { self.time_s } else { self.step_end_s() }
    }

    /// Twin of `pbd/apply_body_drag`: returns the change of a velocity u at x by each body, in order.
    pub fn apply_body_drag(&self, x_m: [f32; 3], u: [f32; 3], xsph_viscosity: f32) -> Vec<[f32; 3]> {
        let (mut open, _) = self.domain_term(x_m);
        let x = wide(x_m);
        let of_body = |body: &Body| {
            let (h_m, scale) = (self.support_m.into(), self.fraction_scale.into());
            let density = body.boundary_density(x, self.drag_time_s(), h_m, scale).0 as f32;
            let friction = body.friction.map_or(self.wall_friction, |friction| friction as f32);
            let gain = if body.is_sticky { 1.0 } else { (xsph_viscosity * friction).min(1.0) };
            let moving = narrow(body.velocity_m_s(x, self.time_s));
            let weight = gain * open * density;
            if density <= 0.0 {
                return [0.0; 3];
            }
            open *= 1.0 - density;
            let difference = zip(moving, u, |v, u| v - u);
            let (distance, normal) = body.distance_m(x, self.drag_time_s());
            let normal = narrow(normal);
            let rate =
                self.viscosity_share * self.particles_h3 * no_slip_drag(distance as f32 / self.support_m);
            let (viscous, across) = ((friction * rate).min(1.0), dot(difference, normal));
            zip(difference, normal, |d, n| weight * d + viscous * (d - across * n))
        };
        self.bodies.iter().map(of_body).collect()
    }

    /// Returns the share of the kernel that the first `n` faces leave open, in the order x_min, x_max,
    /// y_min …
    fn open_of_faces(&self, x_m: [f32; 3], n: usize) -> f32 {
        let open = |face: usize| {
            let axis = face / 2;
            let distance = if face.is_multiple_of(2) {
                x_m[axis] - self.domain_min_m[axis]
            } else {
                self.domain_max_m[axis] - x_m[axis]
            };
            1.0 - self.fraction_scale * self.kernel.wall_fraction((distance / self.support_m).min(1.0))
        };
        (0..n).map(open).product()
    }

    /// Returns the whole extents of the domain in m by which a position lies beyond periodic faces.
    fn lap_shift_m(&self, x_m: [f32; 3]) -> [f32; 3] {
        std::array::from_fn(|axis| {
            let extent_m = self.domain_max_m[axis] - self.domain_min_m[axis];
            let laps = ((x_m[axis] - self.domain_min_m[axis]) / extent_m).floor();
            if self.periodic[axis] { extent_m * laps } else { 0.0 }
        })
    }

    /// Returns x + Δt v in m.
    ///
    /// Also returns the residual of the sum: what its rounding cuts off.
    pub fn predict_one(&self, x: [f32; 3], residual: [f32; 3], v: [f32; 3]) -> [[f32; 3]; 2] {
        added(x, residual, v.map(|v| self.dt_s * v))
    }

    /// Returns the predicted position, and the residual that it starts with.
    pub fn confined_prediction(&self, x: [f32; 3], residual: [f32; 3], v: [f32; 3]) -> [[f32; 3]; 2] {
        self.confined_sum(self.predict_one(x, residual, v), 1.0)
    }

    /// Returns u = v + (x* − (x + Δt v))/Δt, of positions with their residuals.
    pub fn updated_velocity(
        &self,
        (x, residual, v): ([f32; 3], [f32; 3], [f32; 3]),
        [end, end_residual]: [[f32; 3]; 2],
    ) -> [f32; 3] {
        let [free, free_residual] = self.predict_one(x, residual, v);
        let moved = zip(end, free, |a, b| a - b);
        let below = zip(end_residual, free_residual, |a, b| a - b);
        zip(v, zip(moved, below, |m, b| (m + b) / self.dt_s), |v, u| v + u)
    }

    /// Returns a position between the walls and its residual, 0 where a wall stops it.
    /// The distance from walls is that of water times `spacings`.
    pub fn confined_sum(&self, [to, lost]: [[f32; 3]; 2], spacings: f32) -> [[f32; 3]; 2] {
        let confined = self.confine_to(to, spacings);
        [confined, std::array::from_fn(|a| if confined[a] == to[a] { lost[a] } else { 0.0 })]
    }

    /// Returns the neighbours of each particle within 1.1 h at x*, in the order in which kernels visit them,
    /// and its images with the sign of each axis: twin of `pbd/list_neighbours`, but for the order of images.
    /// With `has_start`, also those within h at the start of the step.
    pub fn list_neighbours(&self, state: &State, has_start: bool) -> Vec<Row> {
        let reach = Self { support_m: 1.1 * self.support_m, ..self.clone() };
        let row = |i: usize| {
            let at = |i: usize| (state.predicted[i], self.grid.cell_from_index(state.key[i]));
            let candidates = self.grid.neighbour_runs(at(i).1, &state.cell_start).into_iter().flatten();
            let (mut own, mut images) = (Vec::new(), Vec::new());
            for j in candidates {
                let is_within = |x: &[[f32; 3]], reach: f32| {
                    let offset = zip(x[i], x[j], |a, b| (a - b) * (1.0 / self.support_m));
                    dot(offset, offset) < reach * reach
                };
                let is_near =
                    is_within(&state.predicted, 1.1) || has_start && is_within(&state.position, 1.0);
                if j != i && is_near {
                    own.push(j as u32);
                }
            }
            for j in (0..state.predicted.len()).filter(|_| self.has_images) {
                let mut found = reach.near_images(at(i), state, j, |j| state.predicted[j]);
                if has_start {
                    let own = (state.position[i], at(i).1);
                    let at_start = self.near_images(own, state, j, |j| state.position[j]);
                    let is_listed = |image: &Image| found.iter().any(|other| other.sides == image.sides);
                    let new: Vec<Image> = at_start.into_iter().filter(|image| !is_listed(image)).collect();
                    found.extend(new);
                }
                images.extend(found.into_iter().map(|image| (j as u32, image.reflection)));
            }
            (own, images)
        };
        (0..state.predicted.len()).map(row).collect()
    }

    /// Returns true if two cells are the same or touch along the axes without an image.
    pub fn is_beside(&self, cell: [u32; 3], other: [u32; 3], sides: [u32; 3]) -> bool {
        (0..3).all(|axis| sides[axis] != 0 || cell[axis].abs_diff(other[axis]) <= 1)
    }

    /// Returns the images of particle `j` near a particle, given with its cell.
    fn near_images(
        &self,
        own: ([f32; 3], [u32; 3]),
        state: &State,
        j: usize,
        x: impl Fn(usize) -> [f32; 3],
    ) -> Vec<Image> {
        let other_cell = self.grid.cell_from_index(state.key[j]);
        let mut images = self.images(own, (x(j), other_cell));
        images.retain(|image| self.is_beside(own.1, other_cell, image.sides));
        images
    }

    /// Returns the candidates of particle `i`, in the order in which kernels visit them, with their offset
    /// over h and q.
    fn neighbours(
        &self,
        state: &State,
        x: impl Fn(usize) -> [f32; 3],
        i: usize,
    ) -> Vec<(usize, [f32; 3], f32)> {
        let cell = self.grid.cell_from_index(state.key[i]);
        let inverse_h = 1.0 / self.support_m;
        let own = x(i);
        let candidates = self.grid.neighbour_runs(cell, &state.cell_start).into_iter().flatten();
        candidates
            .filter(|j| *j != i)
            .filter_map(|j| {
                let offset = zip(own, x(j), |a, b| (a - b) * inverse_h);
                let q2 = dot(offset, offset);
                (q2 < 1.0).then(|| (j, offset, q2.sqrt()))
            })
            .collect()
    }

    /// Returns x − R x' over h of a particle and of the image of another behind sides, as in
    /// [`Image::sides`].
    fn offset_from(&self, sides: [u32; 3], x: [f32; 3], other: [f32; 3]) -> [f32; 3] {
        std::array::from_fn(|axis| {
            let faces = [self.domain_min_m[axis], self.domain_max_m[axis]];
            let offset_m = match (sides[axis], self.periodic[axis]) {
                (0, _) => x[axis] - other[axis],
                (side, true) => {
                    (x[axis] - faces[side as usize - 1]) - (other[axis] - faces[2 - side as usize])
                }
                (side, false) => {
                    (x[axis] - faces[side as usize - 1]) + (other[axis] - faces[side as usize - 1])
                }
            };
            offset_m * (1.0 / self.support_m)
        })
    }

    /// Returns the neighbours of particle `i` in its density: [`Self::neighbours`] and, with images, those of
    /// each and of the particle itself; each with its offset over h, q and [`Image::sides`].
    pub(crate) fn density_neighbours(
        &self,
        state: &State,
        x: impl Fn(usize) -> [f32; 3],
        i: usize,
    ) -> Vec<(usize, [f32; 3], f32, [u32; 3])> {
        if !self.has_images {
            let found = self.neighbours(state, x, i).into_iter();
            return found.map(|(j, offset, q)| (j, offset, q, [0; 3])).collect();
        }
        let cell = self.grid.cell_from_index(state.key[i]);
        let (own, inverse_h) = (x(i), 1.0 / self.support_m);
        let candidates = self.grid.neighbour_runs(cell, &state.cell_start).into_iter().flatten();
        let mut found = Vec::new();
        let beyond = |j: usize| {
            let images = self.near_images((own, cell), state, j, &x).into_iter();
            images.map(move |image| {
                (j, image.offset_h, dot(image.offset_h, image.offset_h).sqrt(), image.sides)
            })
        };
        for j in candidates {
            let offset = zip(own, x(j), |a, b| (a - b) * inverse_h);
            let q2 = dot(offset, offset);
            if q2 < 1.0 && j != i {
                found.push((j, offset, q2.sqrt(), [0; 3]));
            }
            found.extend(beyond(j));
        }
        // Copies beyond periodic faces are of particles in other cells.
        let is_candidate = |j: &usize| self.is_beside(cell, self.grid.cell_from_index(state.key[*j]), [0; 3]);
        let others = (0..state.key.len()).filter(|j| self.periodic != [false; 3] && !is_candidate(j));
        found.extend(others.flat_map(beyond));
        found
    }
}

impl State {
    /// State of `n` particles with these positions and velocities and ids 0 … n − 1; all else is zero.
    pub fn new(position: Vec<[f32; 3]>, velocity: Vec<[f32; 3]>) -> Self {
        let n = position.len();
        Self {
            id: (0..n as u32).collect(),
            key: vec![0; n],
            order: vec![0; n],
            predicted: vec![[0.0; 3]; n],
            constraint: vec![[0.0; 4]; n],
            multiplier: vec![0.0; n],
            excess: vec![0.0; n],
            residual: [vec![[0.0; 3]; n], vec![[0.0; 3]; n]],
            solve: DensitySolve::default(),
            projection: Projection::default(),
            held: Vec::new(),
            next_id: 0,
            density: vec![0.0; n],
            updated: vec![[0.0; 3]; n],
            cell_start: Vec::new(),
            impulses: Vec::new(),
            loads: Vec::new(),
            faults: Faults::default(),
            position,
            velocity,
        }
    }

    /// Twin of `pbd/integrate`.
    pub fn integrate(&mut self, p: &Parameters) {
        // A projection works at the positions of the start of the step.
        let to = Parameters { dt_s: if p.is_projection { 0.0 } else { p.dt_s }, ..p.clone() };
        for i in 0..self.position.len() {
            self.velocity[i] = zip(self.velocity[i], p.gravity_m_s2, |v, g| v + p.dt_s * g);
            let residual = self.residual[0][i];
            let shift_m = p.lap_shift_m(to.predict_one(self.position[i], residual, self.velocity[i])[0]);
            if shift_m != [0.0; 3] {
                self.position[i] = zip(self.position[i], shift_m, |x, shift| x - shift);
            }
            let [x, _] = to.confined_prediction(self.position[i], residual, self.velocity[i]);
            let is_drained = p.sources.drain(self.position[i]);
            self.key[i] = if is_drained { p.grid.n_cells() } else { p.grid.cell_key(x) };
        }
    }

    /// Sorts the keys and computes the permutation, like the radix sort.
    pub fn sort_by_cell(&mut self) {
        self.order = (0..self.key.len() as u32).collect();
        radix_sort_pairs(&mut self.key, &mut self.order, 0..32);
    }

    /// Permutes position, velocity and id.
    pub fn reorder(&mut self) {
        self.position = gather(&self.position, &self.order);
        self.velocity = gather(&self.velocity, &self.order);
        self.residual[0] = gather(&self.residual[0], &self.order);
        self.id = gather(&self.id, &self.order);
        self.multiplier = gather(&self.multiplier, &self.order);
    }

    /// Twin of `grid/cell_ranges`.
    pub fn find_cells(&mut self, p: &Parameters) {
        self.cell_start = cell_starts(&self.key, p.grid.n_cells());
    }

    /// Twin of `pbd/predict`.
    pub fn predict(&mut self, p: &Parameters) {
        for i in 0..self.position.len() {
            let start = (self.position[i], self.residual[0][i], self.velocity[i]);
            [self.predicted[i], self.residual[1][i]] = p.confined_prediction(start.0, start.1, start.2);
        }
        self.project_out_of_bodies(p);
    }

    /// Projects predicted positions out of bodies, and sums the impulses on them.
    fn project_out_of_bodies(&mut self, p: &Parameters) {
        for i in 0..self.predicted.len() {
            let (x, pushes) = p.project_out_of_bodies(self.predicted[i]);
            self.predicted[i] = x;
            for (k, push) in pushes {
                self.add_impulse(p, k, -push / f64::from(p.dt_s), wide(x));
            }
        }
    }

    /// Adds the impulse on body k that is opposite to a particle's, given over the particle's mass, at x.
    pub(crate) fn add_impulse(&mut self, p: &Parameters, k: usize, velocity: DVec3, x: DVec3) {
        self.impulses.resize(p.bodies.len(), [DVec3::ZERO; 2]);
        let impulse = f64::from(p.particle_mass_kg) * velocity;
        let arm = x - p.bodies[k].torque_centre(p.step_end_s());
        self.impulses[k][0] += impulse;
        self.impulses[k][1] += arm.cross(impulse);
    }

    /// Sums the impulses on bodies of the correction along the gradient of the boundary density.
    fn add_corrections(&mut self, p: &Parameters) {
        for i in 0..self.constraint.len() {
            let [x, y, z, lambda] = self.constraint[i];
            if lambda == 0.0 || p.bodies.is_empty() {
                continue;
            }
            let (open, _) = p.wall_term([x, y, z]);
            let along = f64::from(p.over_relaxation * p.support_m * lambda * open);
            let x = wide([x, y, z]);
            for (k, body) in p.bodies.iter().enumerate() {
                let (density, gradient) = p.body_density(body, x);
                let correction = along / (1.0 - density).max(1e-6) * gradient;
                self.add_impulse(p, k, -correction / f64::from(p.dt_s), x);
            }
        }
    }

    /// Twin of `pbd/begin_density_solve`, with this share of the last multipliers.
    pub fn begin_density_solve(&mut self, share: f32) {
        self.solve.is_done = false;
        self.solve.n_steps += 1;
        for i in 0..self.predicted.len() {
            let [x, y, z] = self.predicted[i];
            self.constraint[i] = [x, y, z, share * self.multiplier[i]];
            self.multiplier[i] = 0.0;
        }
    }

    /// Twin of `pbd/check_density` after this number of corrections.
    pub fn check_density(&mut self, p: &Parameters, iteration: u32) {
        self.check_solve(p, iteration, p.density_tolerance);
    }

    /// Ends the density solve if its error is within `tolerance`.
    pub(crate) fn check_solve(&mut self, p: &Parameters, iteration: u32, tolerance: f32) {
        let solve = &mut self.solve;
        // It is dispatched by the number of active particles.
        if solve.is_done || self.excess.is_empty() {
            return;
        }
        solve.error = self.excess.iter().sum::<f32>() / self.excess.len().max(1) as f32;
        solve.iterations = iteration;
        let is_met = solve.error <= p.density_tolerance;
        let has_diverged = solve.error.is_nan() || solve.error >= p.max_error;
        let is_end = solve.error <= tolerance;
        if is_end && iteration >= p.iterations || iteration >= p.max_iterations || has_diverged {
            solve.is_done = true;
            solve.n_unmet += u32::from(!is_met);
            if solve.error.is_nan() || solve.error > solve.worst.0 {
                solve.worst = (solve.error, solve.n_steps);
            }
        }
    }

    fn is_solved(&self, p: &Parameters) -> bool {
        p.density_tolerance > 0.0 && self.solve.is_done
    }

    /// Twin of `pbd/solve_density` at the predicted positions.
    pub fn solve_density(&mut self, p: &Parameters) {
        if self.is_solved(p) {
            return;
        }
        let slope_scale = p.kernel.slope_scale() * p.volume_h3;
        for i in 0..self.predicted.len() {
            let mut ratio = p.kernel.shape(0.0);
            let mut sum_squares = 0.0f32;
            let mut gradient = [0.0f32; 3];
            for (_, offset, q, _) in p.density_neighbours(self, |j| self.predicted[j], i) {
                ratio += p.kernel.shape(q);
                let slope = slope_scale * p.kernel.slope_shape(q);
                sum_squares += slope * slope;
                let along = if q > 0.0 { slope / q } else { 0.0 };
                gradient = zip(gradient, offset, |g, o| g - along * o);
            }
            let (open, wall_gradient) = p.density_term(self.predicted[i]);
            ratio = p.kernel.scale() * p.volume_h3 * ratio + (1.0 - open);
            gradient = zip(gradient, wall_gradient, |g, w| g + w);
            let inverse_mass = dot(gradient, gradient) + sum_squares + p.relaxation;
            self.excess[i] = (ratio - 1.0).max(0.0);
            let lambda = if p.density_tolerance > 0.0 {
                (self.multiplier[i] - (ratio - 1.0) / inverse_mass).min(0.0) - self.multiplier[i]
            } else {
                -self.excess[i] / inverse_mass
            };
            let [x, y, z] = self.predicted[i];
            self.constraint[i] = [x, y, z, lambda];
            self.density[i] = ratio * p.rest_density_kg_m3;
        }
    }

    /// Twin of `pbd/solve_positions`.
    pub fn solve_positions(&mut self, p: &Parameters) {
        if self.is_solved(p) {
            return;
        }
        let at = |j: usize| [self.constraint[j][0], self.constraint[j][1], self.constraint[j][2]];
        let mut next = Vec::with_capacity(self.constraint.len());
        let mut rests = Vec::with_capacity(self.constraint.len());
        for i in 0..self.constraint.len() {
            let own = self.constraint[i][3];
            let mut correction = [0.0f32; 3];
            for (j, mut offset, mut q, sides) in p.density_neighbours(self, at, i) {
                if p.gradient_at_start {
                    offset = p.offset_from(sides, self.position[i], self.position[j]);
                    q = dot(offset, offset).sqrt();
                }
                let ratio = p.kernel.shape(q) * p.pressure_inverse_shape;
                let artificial = (0..p.pressure_exponent).fold(p.pressure_strength, |a, _| a * ratio);
                let lambda = own + self.constraint[j][3] - artificial;
                let along = if q > 0.0 { lambda * p.kernel.slope_shape(q) / q } else { 0.0 };
                correction = zip(correction, offset, |c, o| c - along * o);
            }
            let (_, wall_gradient) = p.density_term(at(i));
            let total =
                zip(correction, wall_gradient, |c, w| p.kernel.slope_scale() * p.volume_h3 * c + own * w);
            let change = total.map(|t| p.over_relaxation * p.support_m * t);
            let [x, rest] = p.confined_sum(added(at(i), self.residual[1][i], change), 1.0);
            next.push(x);
            rests.push(rest);
        }
        (self.predicted, self.residual[1]) = (next, rests);
        for (sum, constraint) in self.multiplier.iter_mut().zip(&self.constraint) {
            *sum += constraint[3];
        }
        self.add_corrections(p);
        self.project_out_of_bodies(p);
    }

    /// Twin of `pbd/update_velocity`.
    pub fn update_velocity(&mut self, p: &Parameters) {
        for i in 0..self.position.len() {
            let start = (self.position[i], self.residual[0][i], self.velocity[i]);
            let end = [self.predicted[i], self.residual[1][i]];
            self.updated[i] = p.updated_velocity(start, end);
            let start = [self.position[i], self.velocity[i]];
            let moved = Moved { start, end: [self.predicted[i], self.updated[i]], density: self.density[i] };
            if let Some(kind) = moved.fault(p.max_density_kg_m3, p.max_speed_m_s) {
                self.faults.note(kind, 0, i);
            }
        }
    }

    /// Twin of `pbd/end_step`. Returns false if the simulation ends.
    pub fn end_step(&mut self) -> bool {
        self.faults.end_step(&[&self.id])
    }

    /// Twin of `pbd/smooth_velocity`, `pbd/apply_body_drag` and `bodies/reduce_body_loads`, and x ← x*.
    pub fn smooth_velocity(&mut self, p: &Parameters) {
        self.smooth(p);
        self.reduce_loads(p);
        self.position.clone_from(&self.predicted);
        self.residual.swap(0, 1);
    }

    /// Twin of `bodies/reduce_body_loads`.
    pub(crate) fn reduce_loads(&mut self, p: &Parameters) {
        self.impulses.resize(p.bodies.len(), [DVec3::ZERO; 2]);
        self.loads.resize(p.bodies.len(), Load::default());
        reduce_body_loads(&mut self.loads, &mut self.impulses, p.dt_s.into());
    }

    /// Smooths the updated velocities at x*, into the velocities.
    pub(crate) fn smooth(&mut self, p: &Parameters) {
        let arms = if p.is_projection { p.at_start() } else { p.clone() };
        for i in 0..self.predicted.len() {
            let own = self.updated[i];
            let mut smoothing = [0.0f32; 3];
            let mut viscous = [0.0f32; 3];
            for (j, offset, q, sides) in p.density_neighbours(self, |j| self.predicted[j], i) {
                let (slip, other) = p.slip_image(sides, self.updated[j]);
                let towards = along(offset, zip(other, own, |a, b| a - b));
                let weight = slip * (1.0 - q) * (1.0 - 0.5 * q);
                viscous = zip(viscous, towards, |s, t| s + weight * t);
                if sides == [0; 3] {
                    let weight = p.kernel.shape(q);
                    smoothing = zip(smoothing, towards, |s, t| s + weight * t);
                }
            }
            let drag = p.wall_drag(self.predicted[i], own);
            let rate = p.viscous_wall_drag(self.predicted[i]);
            self.velocity[i] = std::array::from_fn(|a| {
                own[a]
                    + p.xsph_viscosity * (3.0 * p.kernel.scale() * p.volume_h3 * smoothing[a] - drag[a])
                    + p.viscosity_share * (5.0 * viscous[a] - p.particles_h3 * rate[a] * own[a])
            });
            let changes = p.apply_body_drag(self.predicted[i], own, p.wall_xsph * p.xsph_viscosity);
            for (k, change) in changes.into_iter().enumerate() {
                self.velocity[i] = zip(self.velocity[i], change, |v, c| v + c);
                self.add_impulse(&arms, k, -wide(change), wide(self.predicted[i]));
            }
        }
    }
}

/// Twin of `pbd/scale_multiplier`.
pub fn scale_multiplier(multiplier: &mut [f32], factor: f32) {
    multiplier.iter_mut().for_each(|lambda| *lambda *= factor);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Integrates f(q) dq over 0 … 1 by the midpoint rule; with 2000 points the error is below 1e-6 for these
    /// polynomials.
    fn integrate(f: impl Fn(f64) -> f64) -> f64 {
        let n = 2000;
        (0..n).map(|i| f((f64::from(i) + 0.5) / f64::from(n))).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn the_spline_integrates_to_one() {
        let shell = |q: f64| {
            4.0 * std::f64::consts::PI * q * q * f64::from(SPLINE_SCALE) * f64::from(spline_shape(q as f32))
        };
        assert!((integrate(shell) - 1.0).abs() < 1e-5);
    }

    const KERNELS: [SmoothingKernel; 2] = [SmoothingKernel::CubicSpline, SmoothingKernel::Poly6Spiky];

    #[test]
    fn each_kernel_and_each_slope_integrate_to_one() {
        for kernel in KERNELS {
            let shell = |q: f64| 4.0 * std::f64::consts::PI * q * q;
            let value = |q: f64| f64::from(kernel.scale()) * f64::from(kernel.shape(q as f32));
            let integral = integrate(|q| shell(q) * value(q));
            assert!((integral - 1.0).abs() < 1e-5, "{kernel:?}: {integral}");
            // By parts: ∫ W dV = −∫ W′ r/3 dV for any kernel that ends at h.
            let slope = |q: f64| f64::from(kernel.slope_scale()) * f64::from(kernel.slope_shape(q as f32));
            let integral = integrate(|q| shell(q) * slope(q) * q / 3.0);
            assert!((integral - 1.0).abs() < 1e-5, "slope of {kernel:?}: {integral}");
        }
    }

    proptest! {
        /// Values and slopes are those of the kernels in SI units at any support radius, zero from h on, and
        /// the contribution of a plane is what lies beyond it.
        #[test]
        fn kernels_are_those_of_the_papers(q in 0.0f64..1.2, h in 0.01f64..2.0) {
            let h3 = h.powi(3);
            let single = q as f32;
            for kernel in KERNELS {
                let (value, slope, fraction, marginal) = match kernel {
                    SmoothingKernel::CubicSpline => (
                        sph::cubic_spline(q * h, h),
                        sph::cubic_spline_derivative(q * h, h),
                        sph::cubic_spline_wall_fraction(q * h, h),
                        sph::cubic_spline_wall_marginal(q * h, h),
                    ),
                    SmoothingKernel::Poly6Spiky => (
                        sph::poly6(q * h, h),
                        sph::spiky_derivative(q * h, h),
                        sph::poly6_wall_fraction(q * h, h),
                        sph::spiky_wall_marginal(q * h, h),
                    ),
                };
                let near = |found: f32, expected: f64| (f64::from(found) - expected).abs() < 1e-4;
                prop_assert!(near(kernel.scale() * kernel.shape(single), value * h3), "value of {kernel:?}");
                prop_assert!(
                    near(kernel.slope_scale() * kernel.slope_shape(single), -slope * h3 * h),
                    "slope"
                );
                prop_assert!(near(kernel.wall_fraction(single), fraction), "fraction of {kernel:?}");
                prop_assert!(near(kernel.wall_slope(single), marginal * h), "slope at a wall of {kernel:?}");
                if q >= 1.0 {
                    let at = [kernel.shape(single), kernel.slope_shape(single)];
                    prop_assert_eq!(at, [0.0; 2], "beyond h");
                }
            }
        }
    }

    #[test]
    fn slopes_are_central_differences() {
        let step = 1e-3f32;
        for i in 1..100 {
            let q = i as f32 / 100.0;
            let value = |q: f32| SPLINE_SCALE * spline_shape(q);
            let difference = (value(q - step) - value(q + step)) / (2.0 * step);
            // The error is a third derivative of at most 12 · 16/π times step²/6, and f32 rounding over 2 ·
            // step.
            assert!((difference - SPLINE_SLOPE_SCALE * spline_slope_shape(q)).abs() < 2e-3, "q = {q}");
            let cut = (spline_wall_fraction(q - step) - spline_wall_fraction(q + step)) / (2.0 * step);
            assert!((cut - spline_wall_slope(q)).abs() < 1e-3, "wall at q = {q}");
        }
    }

    #[test]
    fn a_wall_cuts_off_what_lies_behind_it() {
        assert!((spline_wall_fraction(0.0) - 0.5).abs() < 1e-6, "half of the kernel at the wall");
        assert_eq!(spline_wall_fraction(-0.3), spline_wall_fraction(0.0), "no more than half behind it");
        assert_eq!(spline_wall_fraction(1.0), 0.0);
        for s in [0.1f64, 0.25, 0.4, 0.6, 0.9] {
            // A shell of radius q has the share (1 − s/q)/2 of its surface beyond the plane.
            let behind = integrate(|q| {
                let shell = 4.0
                    * std::f64::consts::PI
                    * q
                    * q
                    * f64::from(SPLINE_SCALE)
                    * f64::from(spline_shape(q as f32));
                shell * (0.5 * (1.0 - s / q)).max(0.0)
            });
            assert!((behind - f64::from(spline_wall_fraction(s as f32))).abs() < 1e-4, "s = {s}");
        }
    }
}
