//! Friction of snow with snow, walls and bodies (Chen2021 eq 5.21, 5.22), from the relative slip of particles
//! in the step.

use super::{Kind, Parameters, State};
use crate::fluid::{added, dot, narrow, wide, zip};

impl Parameters {
    /// Returns the tangential motion that Coulomb's law removes, given the normal correction: all of it while
    /// the contact sticks, up to μ_k times the normal correction when it slips.
    fn coulomb(&self, slip_m: [f32; 3], normal_m: f32) -> [f32; 3] {
        coulomb(slip_m, normal_m, [self.static_friction, self.kinetic_friction])
    }
}

impl Parameters {
    /// Returns (μ_s, μ_k) of the faces that have displaced a particle: the mean, weighted by the squares of
    /// the displacements.
    fn face_friction_at(&self, push: [f32; 3]) -> [f32; 2] {
        let mut sums = [0.0; 2];
        for (axis, pushed) in push.into_iter().enumerate() {
            let face = self.face_friction[usize::from(pushed <= 0.0)][axis];
            let own = face.map_or([self.static_friction, self.kinetic_friction], |face| [face; 2]);
            sums = [sums[0] + pushed * pushed * own[0], sums[1] + pushed * pushed * own[1]];
        }
        sums.map(|sum| sum / dot(push, push))
    }
}

/// Returns the same for the coefficients (μ_s, μ_k).
fn coulomb(slip_m: [f32; 3], normal_m: f32, [static_friction, kinetic_friction]: [f32; 2]) -> [f32; 3] {
    let slide_m = dot(slip_m, slip_m).sqrt();
    if slide_m < static_friction * normal_m {
        return slip_m;
    }
    let share = if slide_m > 0.0 { (kinetic_friction * normal_m / slide_m).min(1.0) } else { 0.0 };
    slip_m.map(|w| w * share)
}

/// Returns the part of a vector that is normal to a direction.
fn tangential(vector: [f32; 3], normal: [f32; 3]) -> [f32; 3] {
    let along = dot(vector, normal);
    zip(vector, normal, |v, n| v - along * n)
}

impl State {
    /// Moves x* of snow back by the friction correction, and confines it.
    pub fn friction(&mut self, p: &Parameters) {
        let solid = &self.solid;
        let moved = |i: usize| zip(solid.predicted[i], solid.position[i], |a, b| a - b);
        let normal_share = p.iterations as f32 * p.bounce_stiffness * p.fluid.over_relaxation;
        let spring_share = 2.0 * p.springs.contact_n_m * p.fluid.dt_s * p.fluid.dt_s / p.mass_kg;
        let solid_links = &self.links.rows;
        let apply_friction = |i: usize| {
            let mut taken = [0.0f32; 3];
            for bond in self.contacts(p, Kind::Solid, i, |kind, j| self[kind].predicted[j]) {
                // Coincident particles have no tangential plane.
                if bond.kind == Kind::Fluid || bond.length_m == 0.0 {
                    continue;
                }
                let (own, other) = (solid.contact[i], solid.contact[bond.j]);
                let overlap_m = p.touching_distance_m([Kind::Solid; 2], own, other) - bond.length_m;
                if overlap_m <= 0.0 {
                    continue;
                }
                let is_linked = || solid_links[i].iter().any(|link| link.partner as usize == bond.j);
                let normal_m = if p.springs.contact_n_m > 0.0 {
                    if p.springs.link_n_m > 0.0 && is_linked() {
                        continue;
                    }
                    spring_share * own[0].min(other[0]) * overlap_m
                } else {
                    normal_share * p.gain(own, other) * overlap_m
                };
                let slide_m = tangential(zip(moved(i), moved(bond.j), |a, b| a - b), bond.normal);
                let constraints = own[1].max(other[1]);
                let taken_m = p.coulomb(slide_m.map(|s| s / constraints), normal_m);
                let weight = 0.5 * own[0].min(other[0]);
                taken = zip(taken, taken_m, |t, m| t + weight * m);
            }
            let push_m = dot(solid.push[i], solid.push[i]).sqrt();
            if push_m > 0.0 {
                let normal = solid.push[i].map(|c| c / push_m);
                // Walls act on the slip that remains after other particles.
                let left_m = zip(moved(i), taken, |m, t| m - t);
                let friction = p.face_friction_at(solid.push[i]);
                let taken_m = coulomb(tangential(left_m, normal), push_m, friction);
                taken = zip(taken, taken_m, |t, m| t + solid.contact[i][0] * m);
            }
            let change = taken.map(|t| -t);
            let spacing = p.spacing(Kind::Solid, solid.contact[i][0]);
            p.fluid.confined_sum(added(solid.predicted[i], solid.residual[1][i], change), spacing)
        };
        let corrected: Vec<_> = (0..solid.len()).map(apply_friction).collect();
        self.solid.predicted = corrected.iter().map(|[x, _]| *x).collect();
        self.solid.residual[1] = corrected.iter().map(|[_, rest]| *rest).collect();
        for i in 0..self.solid.len() {
            self.apply_body_friction(p, i);
            let spacing = p.spacing(Kind::Solid, self.solid.contact[i][0]);
            self.solid.project_out_of_bodies(&p.fluid, i, spacing, 0.0);
        }
    }

    /// Twin of `snow/apply_body_friction`: friction on the last body that displaced the particle, relative to
    /// the displacement of the body.
    fn apply_body_friction(&mut self, p: &Parameters, i: usize) {
        let [x, y, z, number] = self.solid.body_push[i];
        let pressed_m = dot([x, y, z], [x, y, z]).sqrt();
        if number == 0.0 || pressed_m == 0.0 {
            return;
        }
        let body = &p.fluid.bodies[number as usize - 1];
        let at = self.solid.predicted[i];
        let moving = narrow(body.velocity_m_s(wide(at), p.fluid.time_s));
        let moved = zip(at, self.solid.position[i], |a, b| a - b);
        let slip = zip(moved, moving, |m, v| m - p.fluid.dt_s * v);
        let removed = if body.is_sticky {
            slip
        } else {
            let friction = body.friction.map(|friction| [friction as f32; 2]);
            let friction = friction.unwrap_or([p.static_friction, p.kinetic_friction]);
            coulomb(tangential(slip, [x, y, z].map(|c| c / pressed_m)), pressed_m, friction)
        };
        let share = self.solid.contact[i][0];
        self.solid.predicted[i] = zip(at, removed, |x, r| x - share * r);
    }
}
