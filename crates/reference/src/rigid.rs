//! Rigid bodies that move under their loads, and their contacts: twins of `bodies/place_bodies`,
//! `bodies/move_bodies`, `bodies/find_body_contacts` and `bodies/solve_body_constraints`.

use crate::bodies::{Body, Pose};
use glam::{DMat3, DQuat, DVec3};

/// A dynamic body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidBody {
    /// Mass in kg.
    pub mass_kg: f64,
    /// Moment of inertia about the centre of mass at time 0 in kg m².
    pub inertia_kg_m2: DMat3,
    /// Shares of the momentum, and of the angular momentum, gained in the last step that a step repeats.
    pub repeated: [f64; 2],
    /// Coefficients of friction and of restitution in contacts.
    pub friction: f64,
    /// See `friction`.
    pub restitution: f64,
    /// Centre of mass at time 0 in m.
    pub centre_m: DVec3,
    /// Displacement since in m.
    pub offset_m: DVec3,
    /// Rotation since.
    pub rotation: DQuat,
    /// Velocity in m/s.
    pub velocity_m_s: DVec3,
    /// Angular momentum in kg m²/s.
    pub angular_momentum_kg_m2_s: DVec3,
    /// Momentum in N s and angular momentum in N m s gained in the last step.
    pub gained: [DVec3; 2],
    /// Length of that step in s.
    pub gained_in_s: f64,
}

impl RigidBody {
    /// Makes a body at rest.
    pub fn at_rest(mass_kg: f64, inertia_kg_m2: DMat3, centre_m: DVec3) -> Self {
        Self {
            mass_kg,
            inertia_kg_m2,
            repeated: [0.0; 2],
            friction: 0.0,
            restitution: 0.0,
            centre_m,
            offset_m: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity_m_s: DVec3::ZERO,
            angular_momentum_kg_m2_s: DVec3::ZERO,
            gained: [DVec3::ZERO; 2],
            gained_in_s: f64::INFINITY,
        }
    }

    /// Returns the angular velocity in rad/s at a rotation.
    pub(crate) fn spin(&self, rotation: DQuat) -> DVec3 {
        rotation * (self.inertia_kg_m2.inverse() * (rotation.inverse() * self.angular_momentum_kg_m2_s))
    }

    /// Twin of `bodies/place_bodies`: returns the pose at the start of a step, with its velocities.
    pub fn place_bodies(&self, dt_s: f64) -> Pose {
        let half_way = DQuat::from_scaled_axis(0.5 * dt_s * self.spin(self.rotation)) * self.rotation;
        Pose {
            pivot: self.centre_m,
            offset: self.offset_m,
            rotation: self.rotation,
            velocity: self.velocity_m_s,
            angular_velocity: self.spin(half_way),
        }
    }

    /// Twin of `bodies/move_bodies`: moves the body by a step under a force in N and a torque in N m.
    pub fn move_bodies(&mut self, dt_s: f64, gravity_m_s2: DVec3, force_n: DVec3, torque_n_m: DVec3) {
        let pose = self.place_bodies(dt_s);
        self.offset_m += dt_s * pose.velocity;
        self.rotation = (DQuat::from_scaled_axis(dt_s * pose.angular_velocity) * self.rotation).normalize();
        let ratio = dt_s / self.gained_in_s;
        let left_out: [DVec3; 2] =
            [0, 1].map(|i| (1.0 - ratio) * self.repeated[i] / (1.0 - self.repeated[i]) * self.gained[i]);
        self.velocity_m_s += left_out[0] / self.mass_kg;
        self.angular_momentum_kg_m2_s += left_out[1];
        self.gained = self.gained.map(|gained| ratio * gained);
        self.gained_in_s = dt_s;
        let added = [dt_s * (force_n + self.mass_kg * gravity_m_s2), dt_s * torque_n_m];
        for ((gained, added), repeated) in self.gained.iter_mut().zip(added).zip(self.repeated) {
            *gained = added.lerp(*gained, repeated);
        }
        self.velocity_m_s += self.gained[0] / self.mass_kg;
        self.angular_momentum_kg_m2_s += self.gained[1];
    }

    /// Returns the kinetic energy in J.
    pub fn kinetic_energy_j(&self) -> f64 {
        0.5 * self.mass_kg * self.velocity_m_s.length_squared()
            + 0.5 * self.angular_momentum_kg_m2_s.dot(self.spin(self.rotation))
    }
}

/// Surface that a point of a dynamic body may touch.
#[derive(Clone, Debug)]
pub enum Surface {
    /// Plane at rest: a point of it in m, and its unit normal.
    Face(DVec3, DVec3),
    /// Body that no load moves.
    Prescribed(Body),
    /// Body of this index among the dynamic ones.
    Dynamic(Body, usize),
}

/// Corner or edge of the surface of a dynamic body.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Index of its body among the dynamic ones.
    pub owner: usize,
    /// Place from the centre of mass at time 0, in m; of an edge its middle.
    pub place_m: DVec3,
    /// From the middle of an edge to its end in m; zero for a corner.
    pub half_m: DVec3,
    /// Radius in m of the sphere about it, and the distance of surfaces in contact.
    pub radius_m: f64,
    /// See `radius_m`.
    pub gap_m: f64,
}

/// Contact of a point with a surface.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    /// The body, and the index of the other dynamic one if it has one.
    pub bodies: (usize, Option<usize>),
    /// Index of the surface.
    pub surface: usize,
    /// Unit normal, towards the body.
    pub normal: DVec3,
    /// The point from the two centres of mass, in m.
    pub arms_m: [DVec3; 2],
    /// Distance in m, negative where the surfaces overlap.
    pub gap_m: f64,
    /// Velocity in m/s of a surface that no load moves.
    pub surface_m_s: DVec3,
    /// Coefficient of friction.
    pub friction: f64,
    /// Least velocity in m/s along the normal after the contact.
    pub least_m_s: f64,
    /// Impulses in N s along and across the normal.
    pub impulse_n_s: (f64, DVec3),
}

/// Returns the place of an edge, over half of it, from which on the distance to a body no longer falls, if it
/// falls at the first end and not at the last.
fn touching_place(half_m: DVec3, surface: impl Fn(f64) -> (f64, DVec3)) -> Option<f64> {
    let is_falling = |at: f64| surface(at).1.dot(half_m) < -1e-3 * half_m.length();
    if half_m == DVec3::ZERO {
        return Some(0.0);
    }
    if !is_falling(-1.0) || is_falling(1.0) {
        return None;
    }
    let (mut low, mut high) = (-1.0, 1.0);
    for _ in 0..12 {
        let middle = 0.5 * (low + high);
        if is_falling(middle) { low = middle } else { high = middle }
    }
    Some(high)
}

/// Most contacts of a point.
const MAX_CONTACTS_OF_POINT: usize = 4;

/// Twin of `bodies/find_body_contacts`: returns the contacts of points, in the order of points and surfaces,
/// at the end of a step. `rebound_m_s` is the speed below which there is none; it is also added to the speed
/// at which a gap may close in the step. Contacts have the impulses that `before` has for their point and
/// surface. `are_joined` tells which body and surface do not touch.
pub fn find_body_contacts(
    bodies: &[RigidBody],
    points: &[Point],
    surfaces: &[Surface],
    (time_s, dt_s, rebound_m_s): (f64, f64, f64),
    before: impl Fn(usize, usize) -> (f64, DVec3),
    are_joined: impl Fn(usize, usize) -> bool,
) -> Vec<Contact> {
    let mut contacts = Vec::new();
    for (p, point) in points.iter().enumerate() {
        let body = &bodies[point.owner];
        let middle_m = body.rotation * point.place_m;
        let half_m = body.rotation * point.half_m;
        let first = contacts.len();
        for (number, surface) in surfaces.iter().enumerate() {
            let from_m = body.centre_m + body.offset_m + middle_m;
            let surface_at = |at: f64| match surface {
                Surface::Face(on_m, normal) => (normal.dot(from_m + at * half_m - on_m), *normal),
                Surface::Prescribed(body) | Surface::Dynamic(body, _) => {
                    body.distance_m(from_m + at * half_m, time_s)
                }
            };
            if matches!(surface, Surface::Dynamic(_, k) if *k == point.owner) {
                continue;
            }
            let Some(at) = touching_place(half_m, surface_at) else { continue };
            let (distance_m, normal) = surface_at(at);
            let arm_m = middle_m + at * half_m;
            let at_m = from_m + at * half_m;
            let velocity_m_s = body.velocity_m_s + body.spin(body.rotation).cross(arm_m);
            let touching_m = at_m - point.radius_m * normal;
            let mut contact = Contact {
                bodies: (point.owner, None),
                surface: number,
                normal,
                arms_m: [arm_m - point.radius_m * normal, DVec3::ZERO],
                gap_m: distance_m - point.radius_m - point.gap_m,
                surface_m_s: DVec3::ZERO,
                friction: body.friction,
                least_m_s: 0.0,
                impulse_n_s: before(p, number),
            };
            let mut restitution = body.restitution;
            let mut other_m_s = DVec3::ZERO;
            match surface {
                Surface::Face(..) => {}
                Surface::Prescribed(body) => {
                    contact.surface_m_s = body.velocity_m_s(at_m, time_s);
                    other_m_s = contact.surface_m_s;
                }
                Surface::Dynamic(_, k) => {
                    let other = &bodies[*k];
                    contact.bodies.1 = Some(*k);
                    contact.arms_m[1] = touching_m - other.centre_m - other.offset_m;
                    contact.friction = (body.friction * other.friction).sqrt();
                    restitution = restitution.max(other.restitution);
                    other_m_s = other.velocity_m_s + other.spin(other.rotation).cross(contact.arms_m[1]);
                }
            }
            let along_m_s = normal.dot(velocity_m_s - other_m_s);
            if contact.gap_m + (along_m_s.min(0.0) - rebound_m_s) * dt_s > 0.0
                || contacts.len() - first == MAX_CONTACTS_OF_POINT
                || are_joined(point.owner, number)
            {
                continue;
            }
            contact.least_m_s = (-contact.gap_m / dt_s).min(0.0);
            if along_m_s < -rebound_m_s {
                contact.least_m_s = contact.least_m_s.max(-restitution * along_m_s);
            }
            contacts.push(contact);
        }
    }
    contacts
}

/// One equation of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The body, and the index of the other dynamic one if it has one.
    pub bodies: (usize, Option<usize>),
    /// True if it is of angular velocities.
    pub is_angular: bool,
    /// Unit vector.
    pub direction: DVec3,
    /// Place from the two centres of mass in m.
    pub arms_m: [DVec3; 2],
    /// Relative velocity after the solve, less `compliance` times the impulse.
    pub wanted: f64,
    /// See `wanted`.
    pub compliance: f64,
    /// Largest impulse.
    pub limit: f64,
    /// False of a broken joint.
    pub is_active: bool,
    /// Impulse in N s or N m s.
    pub impulse: f64,
}

impl Row {
    /// Returns the bodies with their arms in m and signs.
    fn sides(&self) -> impl Iterator<Item = (usize, DVec3, f64)> + use<> {
        let own = (self.bodies.0, self.arms_m[0], 1.0);
        let partner = self.bodies.1.map(|partner| (partner, self.arms_m[1], -1.0));
        [Some(own), partner].into_iter().flatten()
    }

    fn apply(&self, bodies: &mut [RigidBody], impulse: f64) {
        for (k, arm_m, sign) in self.sides() {
            let impulse = sign * impulse * self.direction;
            if self.is_angular {
                bodies[k].angular_momentum_kg_m2_s += impulse;
            } else {
                bodies[k].velocity_m_s += impulse / bodies[k].mass_kg;
                bodies[k].angular_momentum_kg_m2_s += arm_m.cross(impulse);
            }
        }
    }

    /// Returns the relative velocity in its direction.
    pub fn velocity(&self, bodies: &[RigidBody]) -> f64 {
        let of = |(k, arm_m, sign): (usize, DVec3, f64)| {
            let spin = bodies[k].spin(bodies[k].rotation);
            let v = if self.is_angular { spin } else { bodies[k].velocity_m_s + spin.cross(arm_m) };
            sign * self.direction.dot(v)
        };
        self.sides().map(of).sum()
    }

    /// Returns the relative velocity that a unit of impulse gives.
    pub fn inverse_mass(&self, bodies: &[RigidBody]) -> f64 {
        let of = |(k, arm_m, _): (usize, DVec3, f64)| {
            let (body, linear) = (&bodies[k], if self.is_angular { 0.0 } else { 1.0 / bodies[k].mass_kg });
            let about = if self.is_angular { self.direction } else { arm_m.cross(self.direction) };
            let own = body.rotation.inverse() * about;
            linear + own.dot(body.inertia_kg_m2.inverse() * own)
        };
        self.sides().map(of).sum()
    }

    /// Solves the row, and returns the change in m/s of the relative velocity.
    fn solve(&mut self, bodies: &mut [RigidBody]) -> f64 {
        if !self.is_active {
            return 0.0;
        }
        let inverse = self.inverse_mass(bodies);
        let lacking = self.wanted - self.velocity(bodies) - self.compliance * self.impulse;
        let before = self.impulse;
        self.impulse = (before + lacking / (inverse + self.compliance)).clamp(-self.limit, self.limit);
        self.apply(bodies, self.impulse - before);
        let of_change =
            if self.is_angular { (inverse / bodies[self.bodies.0].mass_kg).sqrt() } else { inverse };
        of_change * (self.impulse - before).abs()
    }
}

/// Twin of `bodies/solve_body_constraints`: projected Gauss–Seidel over the rows of joints and the contacts,
/// until an iteration changes no relative velocity by more than a tolerance; the share `taken_back` of
/// overlaps is taken back.
pub fn solve_body_constraints(
    bodies: &mut [RigidBody],
    rows: &mut [Row],
    contacts: &mut [Contact],
    (max_iterations, tolerance_m_s): (usize, f64),
    taken_back: f64,
) {
    let sides = |contact: &Contact| {
        let (owner, partner) = contact.bodies;
        let own = (owner, contact.arms_m[0], 1.0);
        [Some(own), partner.map(|partner| (partner, contact.arms_m[1], -1.0))].into_iter().flatten()
    };
    let push = |bodies: &mut [RigidBody], contact: &Contact, impulse_n_s: DVec3| {
        for (k, arm_m, sign) in sides(contact) {
            bodies[k].velocity_m_s += sign * impulse_n_s / bodies[k].mass_kg;
            bodies[k].angular_momentum_kg_m2_s += arm_m.cross(sign * impulse_n_s);
        }
    };
    let velocity = |bodies: &[RigidBody], contact: &Contact| {
        sides(contact).fold(-contact.surface_m_s, |sum, (k, arm_m, sign)| {
            sum + sign * (bodies[k].velocity_m_s + bodies[k].spin(bodies[k].rotation).cross(arm_m))
        })
    };
    let inverse_mass = |bodies: &[RigidBody], contact: &Contact, direction: DVec3| -> f64 {
        let of = |(k, arm_m, _): (usize, DVec3, f64)| {
            let (body, across) = (&bodies[k], arm_m.cross(direction));
            let own = body.rotation.inverse() * across;
            1.0 / body.mass_kg + own.dot(body.inertia_kg_m2.inverse() * own)
        };
        sides(contact).map(of).sum()
    };
    for row in &*rows {
        row.apply(bodies, row.impulse);
    }
    for contact in &*contacts {
        let (normal_n_s, tangential_n_s) = contact.impulse_n_s;
        push(bodies, contact, normal_n_s * contact.normal + tangential_n_s);
    }
    for _ in 0..max_iterations {
        let mut change_m_s: f64 = 0.0;
        for row in &mut *rows {
            change_m_s = change_m_s.max(row.solve(bodies));
        }
        for contact in &mut *contacts {
            let n = contact.normal;
            let lacking_m_s = contact.least_m_s - n.dot(velocity(bodies, contact));
            let (before_n_s, across_n_s) = contact.impulse_n_s;
            let along = inverse_mass(bodies, contact, n);
            let normal_n_s = (before_n_s + lacking_m_s / along).max(0.0);
            change_m_s = change_m_s.max(along * (normal_n_s - before_n_s).abs());
            push(bodies, contact, (normal_n_s - before_n_s) * n);
            let v = velocity(bodies, contact);
            let sliding_m_s = v - n.dot(v) * n;
            let direction = sliding_m_s.normalize_or_zero();
            let across =
                if direction == DVec3::ZERO { along } else { inverse_mass(bodies, contact, direction) };
            let wanted_n_s = across_n_s - sliding_m_s / across;
            let tangential_n_s = wanted_n_s.clamp_length_max(contact.friction * normal_n_s);
            change_m_s = change_m_s.max(across * (tangential_n_s - across_n_s).length());
            push(bodies, contact, tangential_n_s - across_n_s);
            contact.impulse_n_s = (normal_n_s, tangential_n_s);
        }
        if change_m_s <= tolerance_m_s {
            break;
        }
    }
    let mut moved_m = vec![DVec3::ZERO; bodies.len()];
    for contact in contacts.iter().filter(|contact| contact.gap_m < 0.0) {
        let total: f64 = sides(contact).map(|(k, ..)| 1.0 / bodies[k].mass_kg).sum();
        let apart_m: DVec3 = sides(contact).map(|(k, _, sign)| sign * moved_m[k]).sum();
        let lacking_m = (-taken_back * contact.gap_m - contact.normal.dot(apart_m)).max(0.0);
        for (k, _, sign) in sides(contact) {
            moved_m[k] += sign * lacking_m / (bodies[k].mass_kg * total) * contact.normal;
        }
    }
    for (body, moved_m) in bodies.iter_mut().zip(moved_m) {
        body.offset_m += moved_m;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step whose loads react to the acceleration of the step before: F = −m_a a.
    fn after_reacting(repeated: f64, added_kg: f64) -> f64 {
        let mut body = RigidBody::at_rest(1.0, DMat3::IDENTITY, DVec3::ZERO);
        body.repeated[0] = repeated;
        let (dt_s, mut before) = (1e-3, DVec3::ZERO);
        for _ in 0..1000 {
            let force = DVec3::X - added_kg * (body.velocity_m_s - before) / dt_s;
            before = body.velocity_m_s;
            body.move_bodies(dt_s, DVec3::ZERO, force, DVec3::ZERO);
        }
        body.velocity_m_s.x
    }

    #[test]
    fn a_light_body_is_stable_with_repeated_momentum_and_not_without() {
        for added_kg in [0.5, 2.0, 20.0] {
            // An added mass of half to five times the true one.
            for estimate in [0.5, 1.0, 5.0] {
                let repeated = estimate * added_kg / (1.0 + estimate * added_kg);
                let found = after_reacting(repeated, added_kg);
                // v = F t/(m + m_a), late by some steps.
                let exact = 1.0 / (1.0 + added_kg);
                let late = 1e-3 * (2.0 + estimate * added_kg) / (1.0 + added_kg);
                assert!((found - exact).abs() <= late, "m_a = {added_kg} kg: {found}, not {exact} m/s");
            }
        }
        let diverged = after_reacting(0.0, 2.0).abs();
        assert!(diverged.is_nan() || diverged > 1e3, "{diverged} m/s");
    }

    /// Period of the Dzhanibekov flip by Jacobi's elliptic functions (Landau & Lifshitz, Mechanics, §37).
    #[test]
    fn a_body_that_spins_about_its_middle_axis_flips_with_the_period_of_theory() {
        let [i1, i2, i3] = [1.0_f64, 2.0, 3.0];
        let mut body = RigidBody::at_rest(1.0, DMat3::from_diagonal(DVec3::new(i1, i2, i3)), DVec3::ZERO);
        let spin = DVec3::new(0.01, 5.0, 0.0);
        body.angular_momentum_kg_m2_s = DVec3::new(i1, i2, i3) * spin;
        let energy = body.kinetic_energy_j();
        let l2 = body.angular_momentum_kg_m2_s.length_squared();
        let tau = ((i3 - i2) * (l2 - 2.0 * energy * i1) / (i1 * i2 * i3)).sqrt();
        let k2 = (i2 - i1) * (2.0 * energy * i3 - l2) / ((i3 - i2) * (l2 - 2.0 * energy * i1));
        // K(k) by the arithmetic–geometric mean; of k² above 1 the roles of the axes change.
        let (rate, k2) = if k2 <= 1.0 {
            (tau, k2)
        } else {
            (((i2 - i1) * (2.0 * energy * i3 - l2) / (i1 * i2 * i3)).sqrt(), 1.0 / k2)
        };
        let (mut a, mut g) = (1.0, (1.0 - k2).sqrt());
        while (a - g).abs() > 1e-15 {
            (a, g) = (0.5 * (a + g), (a * g).sqrt());
        }
        // ω₂ changes its sign each half of the period 4 K.
        let flip_s = 2.0 * std::f64::consts::FRAC_PI_2 / a / rate;
        let (dt_s, mut flips, mut before) = (1e-4, Vec::new(), 1.0_f64);
        for n in 1..=100_000 {
            body.move_bodies(dt_s, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
            let along = (body.rotation.inverse() * body.angular_momentum_kg_m2_s).y;
            if along * before < 0.0 {
                flips.push(f64::from(n) * dt_s);
            }
            before = along;
        }
        let found = (flips[flips.len() - 1] - flips[0]) / (flips.len() - 1) as f64;
        assert!((found / flip_s - 1.0).abs() < 1e-3, "{found} s, not {flip_s} s");
        assert!((body.kinetic_energy_j() / energy - 1.0).abs() < 1e-4, "energy");
    }
}
