//! Twin of the position-based fluid: one function per kernel of `glsl/pbd`, f32 and in the kernels' order of
//! operations.
//!
//! A [`State`] holds the contents of the device's buffers. Each stage takes the state and changes the columns
//! that the kernel writes, so any prefix of a step can run here and the rest on the device, or vice versa.

use crate::primitives::{Grid, cell_starts, gather, radix_sort_pairs};

pub(crate) const SPLINE_SCALE: f32 = 16.0 / std::f32::consts::PI;
pub(crate) const SPLINE_SLOPE_SCALE: f32 = 48.0 / std::f32::consts::PI;

/// Solid inside the domain: a unit normal and a distance along it, or a centre and a radius, in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Collider {
    /// Fluid where normal · x ≥ offset.
    Plane([f32; 3], f32),
    /// Fluid outside the sphere.
    Ball([f32; 3], f32),
    /// Fluid inside the sphere.
    Container([f32; 3], f32),
}

/// Parameters of the kernels, by the same names.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Δt in s.
    pub dt_s: f32,
    /// Acceleration of free fall in m/s².
    pub gravity_m_s2: [f32; 3],
    /// h in m.
    pub support_m: f32,
    /// V/h³.
    pub volume_h3: f32,
    /// ρ₀ in kg/m³.
    pub rest_density_kg_m3: f32,
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
    /// Drag of walls in XSPH: 0 slip, 1 no slip.
    pub wall_friction: f32,
    /// Lower corner of the domain in m.
    pub domain_min_m: [f32; 3],
    /// Upper corner of the domain in m.
    pub domain_max_m: [f32; 3],
    /// Minimum distance from a wall in m.
    pub clearance_m: f32,
    /// Scale of the wall fraction.
    pub fraction_scale: f32,
    /// The solids.
    pub colliders: Vec<Collider>,
    /// The grid.
    pub grid: Grid,
}

/// Contents of the device's buffers, by the same names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// x in m.
    pub position: Vec<[f32; 3]>,
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
    /// u in m/s: velocities before XSPH.
    pub updated: Vec<[f32; 3]>,
}

pub(crate) fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
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

impl Collider {
    /// Returns the unit normal into the fluid and the signed distance in m, positive in the fluid.
    pub fn distance(&self, x_m: [f32; 3]) -> ([f32; 3], f32) {
        let radial = |centre: [f32; 3]| {
            let offset = zip(x_m, centre, |a, b| a - b);
            let r = dot(offset, offset).sqrt();
            (if r > 0.0 { offset.map(|o| o / r) } else { [0.0, 1.0, 0.0] }, r)
        };
        match *self {
            Self::Plane(normal, offset_m) => (normal, dot(normal, x_m) - offset_m),
            Self::Ball(centre, radius_m) => {
                let (direction, r) = radial(centre);
                (direction, r - radius_m)
            }
            Self::Container(centre, radius_m) => {
                let (direction, r) = radial(centre);
                (direction.map(|d| -d), radius_m - r)
            }
        }
    }
}

impl Parameters {
    /// Twin of `CONFINE` of `pbd/walls.glsl`.
    pub fn confine(&self, mut x_m: [f32; 3]) -> [f32; 3] {
        for collider in &self.colliders {
            let (normal, distance) = collider.distance(x_m);
            let push = (self.clearance_m - distance).max(0.0);
            x_m = zip(x_m, normal, |x, n| x + push * n);
        }
        std::array::from_fn(|axis| {
            let low = x_m[axis].max(self.domain_min_m[axis] + self.clearance_m);
            low.min(self.domain_max_m[axis] - self.clearance_m)
        })
    }

    /// Twin of `WALL_TERM` of `pbd/walls.glsl`: returns the share of the kernel cut off by no wall, and h
    /// times the gradient of the share cut off by walls.
    pub fn wall_term(&self, x_m: [f32; 3]) -> (f32, [f32; 3]) {
        let (mut open, mut gradient) = (1.0f32, [0.0f32; 3]);
        let mut add = |q: f32, normal: [f32; 3]| {
            if q < 1.0 {
                let fraction = self.fraction_scale * spline_wall_fraction(q);
                let slope = self.fraction_scale * spline_wall_slope(q);
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
        for collider in &self.colliders {
            let (normal, distance) = collider.distance(x_m);
            add(distance / self.support_m, normal);
        }
        (open, gradient)
    }

    /// Returns x + Δt v in m.
    pub fn predict_one(&self, x: [f32; 3], v: [f32; 3]) -> [f32; 3] {
        zip(x, v, |x, v| x + self.dt_s * v)
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
            density: vec![0.0; n],
            updated: vec![[0.0; 3]; n],
            cell_start: Vec::new(),
            position,
            velocity,
        }
    }

    /// Twin of `pbd/integrate`.
    pub fn integrate(&mut self, p: &Parameters) {
        for i in 0..self.position.len() {
            self.velocity[i] = zip(self.velocity[i], p.gravity_m_s2, |v, g| v + p.dt_s * g);
            let x = p.confine(p.predict_one(self.position[i], self.velocity[i]));
            self.key[i] = p.grid.cell_key(x);
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
        self.id = gather(&self.id, &self.order);
    }

    /// Twin of `grid/cell_ranges`.
    pub fn find_cells(&mut self, p: &Parameters) {
        self.cell_start = cell_starts(&self.key, p.grid.n_cells());
    }

    /// Twin of `pbd/predict`.
    pub fn predict(&mut self, p: &Parameters) {
        let pairs = self.position.iter().zip(&self.velocity);
        self.predicted = pairs.map(|(x, v)| p.confine(p.predict_one(*x, *v))).collect();
    }

    /// Twin of `pbd/solve_density` at the predicted positions.
    pub fn solve_density(&mut self, p: &Parameters) {
        let slope_scale = SPLINE_SLOPE_SCALE * p.volume_h3;
        for i in 0..self.predicted.len() {
            let mut ratio = spline_shape(0.0);
            let mut sum_squares = 0.0f32;
            let mut gradient = [0.0f32; 3];
            for (_, offset, q) in p.neighbours(self, |j| self.predicted[j], i) {
                ratio += spline_shape(q);
                let slope = slope_scale * spline_slope_shape(q);
                sum_squares += slope * slope;
                let along = if q > 0.0 { slope / q } else { 0.0 };
                gradient = zip(gradient, offset, |g, o| g - along * o);
            }
            let (open, wall_gradient) = p.wall_term(self.predicted[i]);
            ratio = SPLINE_SCALE * p.volume_h3 * ratio + (1.0 - open);
            gradient = zip(gradient, wall_gradient, |g, w| g + w);
            let excess = (ratio - 1.0).max(0.0);
            let lambda = -excess / (dot(gradient, gradient) + sum_squares + p.relaxation);
            let [x, y, z] = self.predicted[i];
            self.constraint[i] = [x, y, z, lambda];
            self.density[i] = ratio * p.rest_density_kg_m3;
        }
    }

    /// Twin of `pbd/solve_positions`.
    pub fn solve_positions(&mut self, p: &Parameters) {
        let at = |j: usize| [self.constraint[j][0], self.constraint[j][1], self.constraint[j][2]];
        let mut next = Vec::with_capacity(self.constraint.len());
        for i in 0..self.constraint.len() {
            let own = self.constraint[i][3];
            let mut correction = [0.0f32; 3];
            for (j, offset, q) in p.neighbours(self, at, i) {
                let ratio = spline_shape(q) * p.pressure_inverse_shape;
                let artificial = (0..p.pressure_exponent).fold(p.pressure_strength, |a, _| a * ratio);
                let lambda = own + self.constraint[j][3] - artificial;
                let along = if q > 0.0 { lambda * spline_slope_shape(q) / q } else { 0.0 };
                correction = zip(correction, offset, |c, o| c - along * o);
            }
            let (_, wall_gradient) = p.wall_term(at(i));
            let total = zip(correction, wall_gradient, |c, w| SPLINE_SLOPE_SCALE * p.volume_h3 * c + own * w);
            next.push(p.confine(zip(at(i), total, |x, t| x + p.over_relaxation * p.support_m * t)));
        }
        self.predicted = next;
    }

    /// Twin of `pbd/update_velocity`.
    pub fn update_velocity(&mut self, p: &Parameters) {
        for i in 0..self.position.len() {
            let unconstrained = p.predict_one(self.position[i], self.velocity[i]);
            let moved = zip(self.predicted[i], unconstrained, |a, b| (a - b) / p.dt_s);
            self.updated[i] = zip(self.velocity[i], moved, |v, m| v + m);
        }
    }

    /// Twin of `pbd/smooth_velocity`, and x ← x*.
    pub fn smooth_velocity(&mut self, p: &Parameters) {
        for i in 0..self.predicted.len() {
            let own = self.updated[i];
            let mut smoothing = [0.0f32; 3];
            for (j, _, q) in p.neighbours(self, |j| self.predicted[j], i) {
                let weight = spline_shape(q);
                let towards = zip(self.updated[j], own, |a, b| a - b);
                smoothing = zip(smoothing, towards, |s, t| s + weight * t);
            }
            let (open, _) = p.wall_term(self.predicted[i]);
            let drag = p.wall_friction * (1.0 - open);
            self.velocity[i] = std::array::from_fn(|a| {
                own[a] + p.xsph_viscosity * (SPLINE_SCALE * p.volume_h3 * smoothing[a] - drag * own[a])
            });
        }
        self.position.clone_from(&self.predicted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
