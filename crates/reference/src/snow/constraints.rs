//! One Jacobi iteration over the constraints of both phases: density (Chen2021 eq 5.15–5.19), contact (5.13,
//! 5.14), stretch (5.11, 5.12), two-way coupling (5.23–5.25), averaging and over-relaxation (5.26, 5.27).

use super::{Averaging, Bond, Kind, Neighbour, Parameters, State};
use crate::fluid::{SPLINE_SCALE, SPLINE_SLOPE_SCALE, added, dot, spline_shape, spline_slope_shape, zip};

impl Parameters {
    /// Returns g_ij, the factor on the contact and stretch corrections of a pair of (α, n).
    pub(super) fn gain(&self, a: [f32; 2], b: [f32; 2]) -> f32 {
        let blend = a[0].min(b[0]);
        match self.averaging {
            Averaging::Pairwise => blend / a[1].max(b[1]),
            Averaging::Off => blend,
        }
    }

    /// Returns the distance in m at which a pair of phases touches that has blended in.
    pub(super) fn full_distance_m(&self, kinds: [Kind; 2]) -> f32 {
        if kinds == [Kind::Solid; 2] { self.contact_distance_m } else { self.mixed_contact_distance_m }
    }

    /// Returns the distance in m at which a pair of (α, n) touches: it grows with α of the end that changed
    /// phase last.
    pub(super) fn touching_distance_m(&self, kinds: [Kind; 2], a: [f32; 2], b: [f32; 2]) -> f32 {
        self.full_distance_m(kinds) * a[0].min(b[0])
    }

    /// Returns the volume of a particle of a phase and of α over that of one of water.
    pub(super) fn volume(&self, kind: Kind, blend: f32) -> f32 {
        match kind {
            Kind::Solid => 1.0 + (self.snow_volume - 1.0) * blend.min(1.0),
            Kind::Fluid => 1.0,
        }
    }

    /// Returns the spacing of a particle of a phase and of α over that of water: half of it is the distance
    /// from walls and bodies.
    pub(super) fn spacing(&self, kind: Kind, blend: f32) -> f32 {
        match kind {
            Kind::Solid => 1.0 + (self.snow_spacing - 1.0) * blend.min(1.0),
            Kind::Fluid => 1.0,
        }
    }

    fn artificial_pressure(&self, q: f32) -> f32 {
        let ratio = spline_shape(q) * self.fluid.pressure_inverse_shape;
        (0..self.fluid.pressure_exponent).fold(self.fluid.pressure_strength, |s, _| s * ratio)
    }
}

/// Returns φ, the factor on the density constraint of a particle. Recently frozen snow still obeys it in part
/// (Chen2021 eq 6.6).
fn fluidity(kind: Kind, blend: f32) -> f32 {
    match kind {
        Kind::Solid => 1.0 - blend,
        Kind::Fluid => blend,
    }
}

impl State {
    /// Returns the boundary particles closer to particle `i` at `x` than h, each with its weight. Returns
    /// none, not an empty list, where walls are closed forms, which they always are for snow.
    fn boundary_neighbours(
        &self,
        p: &Parameters,
        kind: Kind,
        i: usize,
        x: [f32; 3],
    ) -> Option<Vec<(f32, Neighbour)>> {
        let boundary = p.boundary.as_ref().filter(|_| kind == Kind::Fluid)?;
        let cell = p.fluid.grid.cell_from_index(self[kind].key[i]);
        let inverse_h = 1.0 / p.fluid.support_m;
        let near = |j: usize| {
            let [bx, by, bz, weight] = boundary.particles[j];
            let offset_h = zip(x, [bx, by, bz], |a, b| (a - b) * inverse_h);
            let q2 = dot(offset_h, offset_h);
            (q2 < 1.0).then(|| (weight, Neighbour { kind, j, offset_h, q: q2.sqrt() }))
        };
        let runs = p.fluid.grid.neighbour_runs(cell, &boundary.cell_start);
        Some(runs.into_iter().flatten().filter_map(near).collect())
    }

    /// Computes multipliers of the density constraint, densities, and the number of contacts and links of
    /// each particle.
    pub fn compute_lambda(&mut self, p: &Parameters) {
        let at = |kind: Kind, j: usize| self[kind].predicted[j];
        let weighed = Kind::ALL.map(|kind| {
            let phase = &self[kind];
            let lambda_of = |i: usize| {
                let (ratio, lambda) = self.density_constraint(p, kind, i);
                let [x, y, z] = phase.predicted[i];
                let counts_links = kind == Kind::Solid && p.springs.link_n_m == 0.0;
                let links = if counts_links { self.links.rows[i].len() } else { 0 };
                let n = self.contacts(p, kind, i, at).len() + links;
                let phi = fluidity(kind, phase.blend[i]);
                // The density of snow is unchanged: a heap of grains does not have the density of water.
                let density = match kind {
                    Kind::Solid => phase.density[i],
                    Kind::Fluid => ratio * p.fluid.rest_density_kg_m3,
                };
                ([x, y, z, phi * lambda], [phase.blend[i], n.max(1) as f32], density)
            };
            (0..phase.len()).map(lambda_of).collect::<Vec<_>>()
        });
        for (kind, weighed) in Kind::ALL.into_iter().zip(weighed) {
            let phase = &mut self[kind];
            phase.constraint = weighed.iter().map(|(constraint, _, _)| *constraint).collect();
            phase.contact = weighed.iter().map(|(_, contact, _)| *contact).collect();
            phase.density = weighed.iter().map(|(_, _, density)| *density).collect();
        }
    }

    /// Returns ρ_i/ρ₀ and λ_i at x*.
    fn density_constraint(&self, p: &Parameters, kind: Kind, i: usize) -> (f32, f32) {
        let slope_scale = SPLINE_SLOPE_SCALE * p.fluid.volume_h3;
        let volume = |kind: Kind, j: usize| p.volume(kind, self[kind].blend[j]);
        let (mut ratio, mut sum_squares, mut gradient) =
            (volume(kind, i) * spline_shape(0.0), 0.0f32, [0.0f32; 3]);
        let x = self[kind].predicted[i];
        let boundary = self.boundary_neighbours(p, kind, i, x);
        let (open, wall_gradient) = if boundary.is_some() { (1.0, [0.0; 3]) } else { p.fluid.wall_term(x) };
        let particles = self.neighbours(p, kind, i, |kind, j| self[kind].predicted[j]);
        let particles =
            particles.into_iter().map(|neighbour| (volume(neighbour.kind, neighbour.j), neighbour));
        for (weight, neighbour) in particles.chain(boundary.into_iter().flatten()) {
            ratio += weight * spline_shape(neighbour.q);
            let slope = slope_scale * weight * spline_slope_shape(neighbour.q);
            sum_squares += slope * slope;
            let along = if neighbour.q > 0.0 { slope / neighbour.q } else { 0.0 };
            gradient = zip(gradient, neighbour.offset_h, |g, o| g - along * o);
        }
        ratio = SPLINE_SCALE * p.fluid.volume_h3 * ratio + (1.0 - open);
        gradient = zip(gradient, wall_gradient, |g, w| g + w);
        let excess = (ratio - 1.0).max(0.0);
        (ratio, -excess / (dot(gradient, gradient) + sum_squares + p.fluid.relaxation))
    }

    /// Moves x* by the corrections of one iteration and confines it; the first iteration of a step is number
    /// 0.
    pub fn solve(&mut self, p: &Parameters, iteration: u32) {
        if iteration == 0 {
            // The displacement by `predict` is the first push of the walls.
            let solid = &self.solid;
            let push = |i: usize| {
                let unconstrained = p.fluid.predict_one(solid.position[i], [0.0; 3], solid.velocity[i])[0];
                zip(p.fluid.confine(unconstrained), unconstrained, |a, b| a - b)
            };
            self.solid.push = (0..self.solid.len()).map(push).collect();
            for kind in Kind::ALL {
                self[kind].elastic = vec![[0.0; 3]; self[kind].len()];
            }
        }
        let elastic = Kind::ALL.map(|kind| self.elastic(p, kind, iteration == 0));
        let corrections = Kind::ALL.map(|kind| self.corrections(p, kind, &elastic[kind as usize]));
        for (kind, elastic) in Kind::ALL.into_iter().zip(elastic) {
            self[kind].elastic = elastic;
        }
        // With springs, walls and bodies take back a share of their displacement before the next.
        let share = if iteration == 0 { 1.0 } else { p.springs.share };
        let undone = if p.springs.contact_n_m > 0.0 || p.springs.link_n_m > 0.0 { share } else { 0.0 };
        for (kind, corrections) in Kind::ALL.into_iter().zip(corrections) {
            for (i, correction) in corrections.into_iter().enumerate() {
                let phase = &mut self[kind];
                let mut change = correction;
                if kind == Kind::Solid {
                    change = zip(change, phase.push[i], |c, p| c - undone * p);
                    phase.push[i] = phase.push[i].map(|p| (1.0 - undone) * p);
                }
                let spacing = p.spacing(kind, phase.contact[i][0]);
                let [x, rest] = added(phase.weighed(i), phase.residual[1][i], change);
                [phase.predicted[i], phase.residual[1][i]] = p.fluid.confined_sum([x, rest], spacing);
                if kind == Kind::Solid {
                    let moved = zip(phase.predicted[i], x, |a, b| a - b);
                    phase.push[i] = zip(phase.push[i], moved, |p, m| p + m);
                }
                let undone = if kind == Kind::Solid { undone } else { 0.0 };
                phase.project_out_of_bodies(&p.fluid, i, spacing, undone);
            }
        }
    }

    /// Returns the displacement u in m of each particle of a phase by springs after an iteration: the first
    /// takes the forces at the positions of the last step, the others approach those at x* by β.
    fn elastic(&self, p: &Parameters, kind: Kind, is_first: bool) -> Vec<[f32; 3]> {
        let own = &self[kind].elastic;
        if is_first {
            let forces = |i: usize| match kind {
                Kind::Solid => self.spring_forces(p, kind, i, |kind, j| self[kind].position[j], true),
                Kind::Fluid => [0.0; 3],
            };
            return (0..self[kind].len()).map(forces).collect();
        }
        let approach = |i: usize| {
            let force = self.spring_forces(p, kind, i, |kind, j| self[kind].weighed(j), false);
            zip(own[i], force, |u, f| u + p.springs.share * (f - u))
        };
        (0..self[kind].len()).map(approach).collect()
    }

    /// Returns Δt²/m times the force of springs on a particle, in m, at positions `at`. A linked pair has no
    /// contact, nor has a pair that is farther apart than h at x*; contacts between snow and water are left
    /// out on request.
    fn spring_forces(
        &self,
        p: &Parameters,
        kind: Kind,
        i: usize,
        at: impl Fn(Kind, usize) -> [f32; 3] + Copy,
        is_snow_alone: bool,
    ) -> [f32; 3] {
        let unit = p.fluid.dt_s * p.fluid.dt_s / p.mass_kg;
        let is_linked = |j: usize| self.links.rows[i].iter().any(|link| link.partner as usize == j);
        let mut sum = [0.0f32; 3];
        if p.springs.contact_n_m > 0.0 {
            for bond in self.contacts(p, kind, i, at) {
                let is_solid = [kind, bond.kind] == [Kind::Solid; 2];
                let has_link = is_solid && p.springs.link_n_m > 0.0 && is_linked(bond.j);
                let apart = zip(self[kind].weighed(i), self[bond.kind].weighed(bond.j), |a, b| a - b);
                let is_near = dot(apart, apart) < p.fluid.support_m * p.fluid.support_m;
                if has_link || !is_near || (is_snow_alone && !is_solid) {
                    continue;
                }
                let (own, other) = (self[kind].contact[i], self[bond.kind].contact[bond.j]);
                let overlap_m =
                    (p.touching_distance_m([kind, bond.kind], own, other) - bond.length_m).max(0.0);
                let along_m = unit * p.springs.contact_n_m * own[0].min(other[0]) * overlap_m;
                sum = zip(sum, bond.normal, |s, n| s + along_m * n);
            }
        }
        if kind == Kind::Solid && p.springs.link_n_m > 0.0 {
            for link in &self.links.rows[i] {
                let j = link.partner as usize;
                let bond = Bond::new(kind, j, at(kind, i), at(kind, j));
                let blend = self.solid.contact[i][0].min(self.solid.contact[j][0]);
                let along_m = -unit * p.springs.link_n_m * blend * (bond.length_m - link.rest_length_m);
                sum = zip(sum, bond.normal, |s, n| s + along_m * n);
            }
        }
        sum
    }

    /// Returns Δx in m of each particle of a phase, from the positions that `compute_lambda` left in
    /// `constraint`, before walls; `elastic` is u after the iteration.
    fn corrections(&self, p: &Parameters, kind: Kind, elastic: &[[f32; 3]]) -> Vec<[f32; 3]> {
        let omega = p.fluid.over_relaxation;
        let correct = |i: usize| {
            let density = self.density_correction(p, kind, i);
            let springs = zip(elastic[i], self[kind].elastic[i], |after, before| after - before);
            let mut correction = zip(density, springs, |d, s| omega * p.fluid.support_m * d + s);
            if p.springs.contact_n_m == 0.0 {
                for bond in self.contacts(p, kind, i, |kind, j| self[kind].weighed(j)) {
                    let (own, other) = (self[kind].contact[i], self[bond.kind].contact[bond.j]);
                    let overlap_m =
                        (p.touching_distance_m([kind, bond.kind], own, other) - bond.length_m).max(0.0);
                    let along_m = 0.5 * p.bounce_stiffness * omega * p.gain(own, other) * overlap_m;
                    correction = zip(correction, bond.normal, |c, n| c + along_m * n);
                }
            }
            if kind == Kind::Solid && p.springs.link_n_m == 0.0 {
                for link in &self.links.rows[i] {
                    let j = link.partner as usize;
                    let bond = Bond::new(kind, j, self.solid.weighed(i), self.solid.weighed(j));
                    let gain = p.gain(self.solid.contact[i], self.solid.contact[j]);
                    let stretch_m = bond.length_m - link.rest_length_m;
                    let along_m = -0.5 * p.stretch_stiffness * omega * gain * stretch_m;
                    correction = zip(correction, bond.normal, |c, n| c + along_m * n);
                }
            }
            correction
        };
        (0..self[kind].len()).map(correct).collect()
    }

    /// Returns Σ_j (μ_i v_j + μ_j v_i) h∇V W + μ_i h∇wall, the latter in closed form or as a sum over
    /// boundary particles, with artificial pressure between water particles.
    fn density_correction(&self, p: &Parameters, kind: Kind, i: usize) -> [f32; 3] {
        let own = self[kind].constraint[i][3];
        let mut sum = [0.0f32; 3];
        let mut add = |mu: f32, neighbour: Neighbour| {
            let along =
                if neighbour.q > 0.0 { mu * spline_slope_shape(neighbour.q) / neighbour.q } else { 0.0 };
            sum = zip(sum, neighbour.offset_h, |s, o| s - along * o);
        };
        for neighbour in self.neighbours(p, kind, i, |kind, j| self[kind].weighed(j)) {
            let volume = |kind: Kind, j: usize| p.volume(kind, self[kind].contact[j][0]);
            let mut mu = own * volume(neighbour.kind, neighbour.j)
                + self[neighbour.kind].constraint[neighbour.j][3] * volume(kind, i);
            if (kind, neighbour.kind) == (Kind::Fluid, Kind::Fluid) {
                mu -= p.artificial_pressure(neighbour.q);
            }
            add(mu, neighbour);
        }
        let x = self[kind].weighed(i);
        let boundary = self.boundary_neighbours(p, kind, i, x);
        let wall_gradient = if boundary.is_some() { [0.0; 3] } else { p.fluid.wall_term(x).1 };
        for (weight, neighbour) in boundary.into_iter().flatten() {
            add(weight * own, neighbour);
        }
        zip(sum, wall_gradient, |s, w| SPLINE_SLOPE_SCALE * p.fluid.volume_h3 * s + own * w)
    }
}
