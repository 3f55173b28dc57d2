//! Twins of the projection of velocities: `pbd/begin_projection`, `accelerate_by_pressure`,
//! `update_pressure`, `collide_with_bodies`, and the motion of particles at its end.

use crate::bodies::Body;
use crate::fluid::{Parameters, State, dot, narrow, wide, zip};
use glam::DVec3;

/// Neighbour of a particle at the start of the step, or an image of one.
struct Neighbour {
    j: usize,
    q: f32,
    /// h∇V W.
    gradient: [f32; 3],
    /// −1 on axes along which it is mirrored.
    sign: [f32; 3],
}

impl Neighbour {
    /// Returns the vector of this neighbour as the particle sees it.
    fn seen(&self, vectors: &[[f32; 3]]) -> [f32; 3] {
        zip(vectors[self.j], self.sign, |v, sign| sign * v)
    }
}

/// Returns what a step takes back of the difference of a density over rest density from 1: twin of
/// `taken_back` of `pbd/begin_projection`.
fn taken_back(p: &Parameters, ratio: f32, motion_h: f32) -> f32 {
    let excess = ratio - 1.0;
    if excess > 0.0 {
        return (p.excess_share * excess.max(0.025)).max(0.1 * motion_h).min(excess);
    }
    let t = ((ratio - 0.7) / 0.2).clamp(0.0, 1.0);
    let within = t * t * (3.0 - 2.0 * t);
    (1.0 + within * (p.deficit_share - 1.0)) * excess
}

impl Parameters {
    /// Twin of `stopped_m` of `pbd/walls.glsl`: returns what the walls take from a motion from a position.
    fn stopped_m(&self, x_m: [f32; 3], change_m: [f32; 3]) -> [f32; 3] {
        std::array::from_fn(|axis| {
            let lowest_m = self.domain_min_m[axis] + self.clearance_m - x_m[axis];
            let highest_m = self.domain_max_m[axis] - self.clearance_m - x_m[axis];
            let stopped = change_m[axis].max(lowest_m).min(highest_m) - change_m[axis];
            if self.periodic[axis] { 0.0 } else { stopped }
        })
    }

    fn neighbours_at_start(&self, state: &State, i: usize) -> Vec<Neighbour> {
        let scale = self.kernel.slope_scale() * self.volume_h3;
        let found = self.density_neighbours(state, |j| state.position[j], i).into_iter();
        found
            .map(|(j, offset, q, sides)| {
                let slope = scale * self.kernel.slope_shape(q);
                let along = if q > 0.0 { slope / q } else { 0.0 };
                let is_mirrored = |axis: usize| sides[axis] != 0 && !self.periodic[axis];
                Neighbour {
                    j,
                    q,
                    gradient: offset.map(|o| -along * o),
                    sign: std::array::from_fn(|axis| if is_mirrored(axis) { -1.0 } else { 1.0 }),
                }
            })
            .collect()
    }

    /// Returns h times the gradients of the share of walls and bodies at the start of the step, and, times
    /// the velocity of each body, their rate in m/s.
    fn boundary_at_start(&self, x_m: [f32; 3]) -> (f32, [f32; 3], f32) {
        let start = self.at_start();
        let (open, gradient) = start.density_term(x_m);
        let shares = start.shares_of_bodies(x_m).into_iter().zip(&self.bodies);
        let rate: f64 =
            shares.map(|(share, body)| share.dot(body.velocity_m_s(wide(x_m), self.time_s))).sum();
        (open, gradient, rate as f32)
    }

    /// Returns the normal of the nearest body within h at the start of the step, and the least velocity along
    /// it in m/s with which a particle ends the step at the clearance.
    fn contact_at_start(&self, x_m: [f32; 3]) -> Option<(DVec3, f64)> {
        let x = wide(x_m);
        let (h, clearance) = (f64::from(self.support_m), f64::from(self.body_clearance_m));
        let start = self.at_start();
        let is_in_reach = |body: &&Body| start.body_density(body, x).0 > 0.0;
        let near = self.bodies.iter().filter(is_in_reach).map(|body| {
            let (distance, normal) = body.distance_m(x, self.time_s);
            let v = body.velocity_m_s(x, self.time_s);
            (distance, normal, (clearance - distance) / f64::from(self.dt_s) + normal.dot(v))
        });
        let nearest =
            near.filter(|(distance, ..)| *distance < h).reduce(|a, b| if b.0 < a.0 { b } else { a });
        nearest.map(|(_, normal, least)| (normal, least))
    }

    /// Returns these parameters for bodies as they are at the start of the step.
    pub(crate) fn at_start(&self) -> Self {
        Self { time_s: self.time_s - f64::from(self.dt_s), ..self.clone() }
    }

    /// Returns what each body contributes to h times the gradient of the density term.
    fn shares_of_bodies(&self, x_m: [f32; 3]) -> Vec<DVec3> {
        let x = wide(x_m);
        let open = f64::from(self.open_of_domain(x_m));
        let each: Vec<(f64, DVec3)> = self.bodies.iter().map(|body| self.body_density(body, x)).collect();
        let total: f64 = each.iter().map(|(density, _)| 1.0 - density).product();
        each.iter().map(|(density, gradient)| open * total / (1.0 - density).max(1e-6) * *gradient).collect()
    }

    /// Twin of the collisions of `pbd/collide_with_bodies`: returns the velocity after them, and the change
    /// by each body, in order.
    fn collide(&self, x_m: [f32; 3], v_m_s: [f32; 3]) -> ([f32; 3], Vec<(usize, DVec3)>) {
        let (x, mut v) = (wide(x_m), wide(v_m_s));
        let (clearance, dt) = (f64::from(self.body_clearance_m), f64::from(self.dt_s));
        let mut changes = Vec::new();
        for _ in 0..3 {
            let n = changes.len();
            for (k, body) in self.bodies.iter().enumerate() {
                let (distance, normal) = body.distance_m(x, self.time_s);
                let approach = -normal.dot(v - body.velocity_m_s(x, self.time_s));
                let change = (clearance - distance) / dt + approach;
                if change <= 1e-5 * clearance / dt
                    || body.distance_m(x + dt * v, self.step_end_s()).0 >= clearance
                {
                    continue;
                }
                v += change * normal;
                changes.push((k, change * normal));
            }
            if changes.len() == n {
                break;
            }
        }
        (if changes.is_empty() { v_m_s } else { narrow(v) }, changes)
    }
}

impl State {
    /// Twin of `pbd/begin_projection`.
    pub fn begin_projection(&mut self, p: &Parameters) {
        self.solve.is_done = false;
        self.solve.n_steps += 1;
        self.projection.source.resize(self.position.len(), [0.0; 2]);
        for i in 0..self.position.len() {
            let (x, v) = (self.position[i], self.velocity[i]);
            let mut ratio = p.kernel.shape(0.0);
            let (mut squares, mut gradient, mut rate) = (0.0f32, [0.0f32; 3], 0.0f32);
            let mut squared_speed = 0.0f32;
            for near in p.neighbours_at_start(self, i) {
                ratio += p.kernel.shape(near.q);
                squares += dot(near.gradient, near.gradient);
                if near.q == 0.0 {
                    squares += (p.kernel.slope_scale() * p.volume_h3 * p.kernel.slope_shape(0.0)).powi(2);
                }
                gradient = zip(gradient, near.gradient, |a, b| a + b);
                let relative = zip(v, near.seen(&self.velocity), |a, b| a - b);
                rate += dot(near.gradient, relative);
                let length = dot(near.gradient, near.gradient).sqrt();
                if length > 0.0 {
                    squared_speed += p.kernel.shape(near.q) * (dot(near.gradient, relative) / length).powi(2);
                }
            }
            let motion_h = p.dt_s / p.support_m * (squared_speed / ratio).sqrt();
            let (open, wall, of_bodies) = p.boundary_at_start(x);
            let ratio = p.kernel.scale() * p.volume_h3 * ratio + (1.0 - open);
            let gradient = zip(gradient, wall, |a, b| a + b);
            let rate = rate + dot(wall, v) - of_bodies;
            self.constraint[i] = [x[0], x[1], x[2], self.multiplier[i]];
            self.projection.source[i] = if self.is_held(i) {
                [0.0; 2]
            } else {
                [
                    taken_back(p, ratio, motion_h) + p.dt_s / p.support_m * rate,
                    1.0 / (dot(gradient, gradient) + squares + p.relaxation),
                ]
            };
            self.density[i] = ratio * p.rest_density_kg_m3;
            self.excess[i] = motion_h;
        }
        let mean = self.excess.iter().sum::<f32>() / self.excess.len().max(1) as f32;
        let tolerance = (0.03 * mean).clamp(0.1 * p.density_tolerance, p.density_tolerance);
        self.projection.momentum = [1.0, 0.0, 1e30, tolerance];
    }

    fn accelerations(&self, p: &Parameters, lambda: impl Fn(usize) -> f32) -> Vec<[f32; 3]> {
        let of = |i: usize| {
            if self.is_held(i) {
                return [0.0; 3];
            }
            let (_, wall, _) = p.boundary_at_start(self.position[i]);
            let own = lambda(i);
            p.neighbours_at_start(self, i).iter().fold(wall.map(|w| own * w), |sum, near| {
                let both = own + lambda(near.j);
                zip(sum, near.gradient, |a, g| a + both * g)
            })
        };
        (0..self.position.len()).map(of).collect()
    }

    /// Twin of `pbd/accelerate_by_pressure` in an iteration.
    pub fn accelerate_by_pressure(&mut self, p: &Parameters) {
        if self.solve.is_done {
            return;
        }
        let mut accelerations = self.accelerations(p, |j| self.constraint[j][3]);
        for (i, a) in accelerations.iter_mut().enumerate().filter(|(i, _)| !self.is_held(*i)) {
            if let Some((normal, least)) = p.contact_at_start(self.position[i]) {
                let v = wide(self.velocity[i]) + f64::from(p.support_m / p.dt_s) * wide(*a);
                let missing = (least - normal.dot(v)).max(0.0) * f64::from(p.dt_s / p.support_m);
                *a = zip(*a, narrow(missing * normal), |a, c| a + c);
            }
            let change_m = zip(self.velocity[i], *a, |v, a| p.dt_s * v + p.support_m * a);
            *a = zip(*a, p.stopped_m(self.position[i], change_m), |a, s| a + s / p.support_m);
        }
        self.projection.acceleration = accelerations;
    }

    /// Twin of `pbd/update_pressure`.
    pub fn update_pressure(&mut self, p: &Parameters) {
        if self.solve.is_done {
            return;
        }
        for i in 0..self.position.len() {
            let a = self.projection.acceleration[i];
            let (_, wall, _) = p.boundary_at_start(self.position[i]);
            let [predicted, inverse] = self.projection.source[i];
            let r = p.neighbours_at_start(self, i).iter().fold(predicted + dot(wall, a), |r, near| {
                r + dot(near.gradient, zip(a, near.seen(&self.projection.acceleration), |a, b| a - b))
            });
            let extrapolated = self.constraint[i][3];
            let before = self.multiplier[i];
            let lambda = (extrapolated - p.over_relaxation * r * inverse).min(0.0);
            self.multiplier[i] = lambda;
            self.constraint[i][3] = (lambda + self.projection.momentum[1] * (lambda - before)).min(0.0);
            let error = if extrapolated < 0.0 { r.abs() } else { r.max(0.0) };
            self.excess[i] = if self.is_held(i) { 0.0 } else { error };
        }
    }

    /// Twin of `pbd/check_density` with momentum.
    pub fn check_projection(&mut self, p: &Parameters, iteration: u32) {
        let is_running = !self.solve.is_done && !self.excess.is_empty();
        let [t, _, last, tolerance] = self.projection.momentum;
        self.check_solve(p, iteration, tolerance);
        if is_running {
            let next = |t: f32| 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
            let t = if self.solve.error > last { 1.0 } else { next(t) };
            self.projection.momentum = [t, (t - 1.0) / next(t), self.solve.error, tolerance];
        }
    }

    /// Twin of the last `pbd/accelerate_by_pressure`, and of `pbd/collide_with_bodies`.
    pub fn apply_pressure(&mut self, p: &Parameters) {
        let changes = self.accelerations(p, |j| self.multiplier[j]);
        let start = p.at_start();
        for (i, change) in changes.into_iter().enumerate() {
            self.velocity[i] = zip(self.velocity[i], change, |v, a| v + p.support_m / p.dt_s * a);
            let x = self.position[i];
            if self.multiplier[i] != 0.0 {
                let along = f64::from(p.support_m / p.dt_s * self.multiplier[i]);
                for (k, share) in start.shares_of_bodies(x).into_iter().enumerate() {
                    self.add_impulse(&start, k, -along * share, wide(x));
                }
            }
            let (v, collisions) = p.collide(x, self.velocity[i]);
            self.velocity[i] = v;
            for (k, change) in collisions {
                self.add_impulse(&start, k, -change, wide(x));
            }
        }
    }

    /// Twin of the motion at the end of a projection: `pbd/predict`, `pbd/project_out_of_bodies` at half the
    /// clearance, `pbd/update_velocity` and `bodies/reduce_body_loads`.
    pub fn move_particles(&mut self, p: &Parameters) {
        let clearance = Parameters { body_clearance_m: 0.5 * p.body_clearance_m, ..p.clone() };
        self.predict(&clearance);
        self.update_velocity(p);
        self.reduce_loads(p);
        std::mem::swap(&mut self.velocity, &mut self.updated);
        std::mem::swap(&mut self.position, &mut self.predicted);
        self.residual.swap(0, 1);
    }

    /// Twin of `pbd/smooth_velocity` and `pbd/apply_body_drag` at the start of the step.
    pub fn smooth_at_start(&mut self, p: &Parameters) {
        let predicted = std::mem::replace(&mut self.predicted, self.position.clone());
        std::mem::swap(&mut self.velocity, &mut self.updated);
        self.smooth(p);
        self.predicted = predicted;
    }
}
