//! Twin of the snow step (Chen2021): snow (solid, DEM) and water (fluid, SPH) as two phases between which
//! particles change, one method per stage, f32.
//!
//! A [`State`] holds the contents of the device's buffers, each phase sorted by cell, so any prefix of a step
//! can run here and the rest on the device. Sums over neighbours run over the particle's own phase first,
//! then the other, each in the order of its cells.
//!
//! - `migration`: `mark_phase_change`, `scan_leavers`, `migrate`, `sort_by_cell`, `reorder`.
//! - `heat`, `conduction`: capacities and conductivities, and the flow between particles.
//! - `links`: `break_links`, `build_links`.
//! - `constraints`: `compute_lambda` and `solve`, the Jacobi iterations; `boundary`: boundary particles of
//!   walls.
//! - `shape`: `attach_to_shape` and `apply_shape_matching`, in f64.
//! - `friction`: between particles, and between particles and walls.

mod boundary;
mod conduction;
mod constraints;
mod friction;
mod heat;
mod kind;
mod ledger;
mod link_rule;
mod links;
mod migration;
mod shape;

use std::ops::{Index, IndexMut};

use crate::bonds::Bonds;
use crate::fault::{Faults, Moved};
use crate::fluid::{self, SPLINE_SCALE, along, dot, spline_shape, zip};

pub use boundary::Boundary;
pub(crate) use conduction::{corrected_weight, correction_of};
pub use heat::{ConductionLaw, Correction, Heat, LatentHeat};
pub use kind::Kind;
pub use ledger::{Ledger, fixed_point_temperature};
pub use link_rule::{LinkLimit, LinkRule};
pub use shape::{Attachment, Cluster};

/// Averaging of the corrections of a pair, Chen2021 eq 5.26.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Averaging {
    /// Division by the larger number of constraints of the two ends.
    Pairwise,
    /// No averaging.
    Off,
}

/// Springs of contacts and links, which take the place of shares of overlap and stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Springs {
    /// Spring constant of a contact in N/m, 0 for none.
    pub contact_n_m: f32,
    /// Spring constant of a link in N/m, 0 for none.
    pub link_n_m: f32,
    /// β: the share of the difference to the present forces that an iteration after the first applies.
    pub share: f32,
    /// k τ Δt/m of the dampers of links.
    pub damping: f32,
    /// Number of stages in which a step solves them; 0 without dampers.
    pub damping_stages: u32,
}

/// Parameters of the stages.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Parameters shared with the fluid; spacing, mass and walls are the same for both phases.
    pub fluid: fluid::Parameters,
    /// m in kg.
    pub mass_kg: f32,
    /// D in m, at most h: particles of snow closer than this touch.
    pub contact_distance_m: f32,
    /// The same of a particle of snow and one of water.
    pub mixed_contact_distance_m: f32,
    /// Volume of a particle of snow over that of one of water.
    pub snow_volume: f32,
    /// The same of its spacing.
    pub snow_spacing: f32,
    /// k_bounce: the share of an overlap removed per iteration, Chen2021 eq 5.14; unless contacts are
    /// springs.
    pub bounce_stiffness: f32,
    /// Averaging of the corrections of a pair.
    pub averaging: Averaging,
    /// N: Jacobi iterations per step.
    pub iterations: u32,
    /// μ_s, Chen2021 eq 5.22.
    pub static_friction: f32,
    /// μ_k, Chen2021 eq 5.22.
    pub kinetic_friction: f32,
    /// μ of the lower and of the upper faces of the domain, by axis, in place of μ_s and μ_k.
    pub face_friction: [[Option<f32>; 3]; 2],
    /// c of XSPH for snow; walls exert no drag on it.
    pub snow_xsph_viscosity: f32,
    /// Rule of the links; none for no links.
    pub links: Option<LinkRule>,
    /// Number of rounds of link building per step.
    pub link_rounds: u32,
    /// k_stretch: the share of a stretch removed per iteration, Chen2021 eq 5.12; unless links are springs.
    pub stretch_stiffness: f32,
    /// Springs of contacts and links.
    pub springs: Springs,
    /// Share of the distance to the shape-matching goal covered per iteration; 0 for no shape matching.
    pub shape_stiffness: f32,
    /// Boundary particles that represent walls in the density of water; none for the closed form.
    pub boundary: Option<Boundary>,
    /// Conduction and phase change.
    pub heat: Heat,
    /// Growth of α per step, Chen2021 eq 6.2.
    pub blend_speed: f32,
    /// α_threshold, Chen2021 eq 6.4.
    pub blend_threshold: f32,
}

/// Columns of one phase.
///
/// Between `migrate` and `reorder` the columns of particle state still have the old number of elements, `key`
/// and `origin` the new one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phase {
    /// x in m.
    pub position: Vec<[f32; 3]>,
    /// Part of x below its ulp, and that of x*, in m.
    pub residual: [Vec<[f32; 3]>; 2],
    /// v in m/s.
    pub velocity: Vec<[f32; 3]>,
    /// Ids, unique over both phases.
    pub id: Vec<u32>,
    /// T in °C.
    pub temperature_c: Vec<f32>,
    /// H in J/kg, relative to ice at T_freeze; only used with [`LatentHeat::Enthalpy`].
    pub enthalpy_j_kg: Vec<f32>,
    /// α: 0 for a particle that has just changed phase, 1 for one that has blended in.
    pub blend: Vec<f32>,
    /// X in m: the rest position, at which the body was undeformed; only used with shape matching.
    pub rest_position: Vec<[f32; 3]>,
    /// Cell keys.
    pub key: Vec<u32>,
    /// 1 for each particle that leaves the phase.
    pub leaves: Vec<u32>,
    /// Number of leaving particles before each particle.
    pub rank: Vec<u32>,
    /// Number of leaving particles.
    pub n_leavers: u32,
    /// Index of each particle before `migrate`, plus the capacity if it was in the other phase.
    pub origin: Vec<u32>,
    /// Permutation of the sort.
    pub order: Vec<u32>,
    /// `origin` in the sorted order.
    pub source: Vec<u32>,
    /// Start of each cell.
    pub cell_start: Vec<u32>,
    /// x* in m.
    pub predicted: Vec<[f32; 3]>,
    /// (x*, φ λ), where φ is the factor on the density constraint of the particle.
    pub constraint: Vec<[f32; 4]>,
    /// (α, n), n the number of contacts and links, at least 1.
    pub contact: Vec<[f32; 2]>,
    /// Correction of heat conduction; empty without.
    pub correction: Vec<Correction>,
    /// ρ in kg/m³.
    pub density: Vec<f32>,
    /// Displacement of the particle by walls in this step, in m; snow only.
    pub push: Vec<[f32; 3]>,
    /// u in m: displacement of the particle by springs in this step; with springs only.
    pub elastic: Vec<[f32; 3]>,
    /// Displacement by bodies in this step, in m, and the number of the last of them plus one; snow only on
    /// the device.
    pub body_push: Vec<[f32; 4]>,
    /// u in m/s: velocities before XSPH.
    pub updated: Vec<[f32; 3]>,
}

impl Phase {
    /// Particles at rest in the phase, blended in, with ids from `first_id`, in an undeformed body. Enthalpy
    /// is 0.
    pub fn new(position: Vec<[f32; 3]>, temperature_c: f32, first_id: u32) -> Self {
        let n = position.len();
        Self {
            velocity: vec![[0.0; 3]; n],
            residual: [vec![[0.0; 3]; n], vec![[0.0; 3]; n]],
            id: (first_id..first_id + n as u32).collect(),
            temperature_c: vec![temperature_c; n],
            enthalpy_j_kg: vec![0.0; n],
            blend: vec![1.0; n],
            rest_position: position.clone(),
            key: vec![0; n],
            leaves: vec![0; n],
            rank: vec![0; n],
            predicted: vec![[0.0; 3]; n],
            constraint: vec![[0.0; 4]; n],
            contact: vec![[1.0; 2]; n],
            density: vec![0.0; n],
            push: vec![[0.0; 3]; n],
            elastic: vec![[0.0; 3]; n],
            body_push: vec![[0.0; 4]; n],
            updated: vec![[0.0; 3]; n],
            position,
            ..Self::default()
        }
    }

    /// Returns the number of particles in the phase.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Returns true if the phase is empty.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Takes back a share of the displacement by bodies so far, projects x* out of bodies, and adds the
    /// displacement by each. The distance that it keeps is that of water times `spacings`.
    fn project_out_of_bodies(&mut self, p: &fluid::Parameters, i: usize, spacings: f32, undone: f32) {
        if undone > 0.0 {
            let [px, py, pz, number] = self.body_push[i];
            self.predicted[i] = zip(self.predicted[i], [px, py, pz], |x, p| x - undone * p);
            let [x, y, z] = [px, py, pz].map(|p| (1.0 - undone) * p);
            self.body_push[i] = [x, y, z, number];
        }
        let (x, pushes) = p.project_out_to(self.predicted[i], spacings);
        self.predicted[i] = x;
        for (k, push) in pushes {
            let [px, py, pz, _] = self.body_push[i];
            let [x, y, z] = zip([px, py, pz], fluid::narrow(push), |a, b| a + b);
            self.body_push[i] = [x, y, z, (k + 1) as f32];
        }
    }

    /// Returns x* at the start of the iteration, which `compute_lambda` stored beside λ.
    fn weighed(&self, i: usize) -> [f32; 3] {
        let [x, y, z, _] = self.constraint[i];
        [x, y, z]
    }
}

/// Contents of the device's buffers.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Snow.
    pub solid: Phase,
    /// Water.
    pub fluid: Phase,
    /// Capacity of each phase: the total number of particles.
    pub capacity: u32,
    /// Bonds between snow particles.
    pub links: Bonds,
    /// Maximum number of links of a particle.
    pub n_max: u32,
    /// Totals of phase changes so far.
    pub ledger: Ledger,
    /// Faults.
    pub faults: Faults,
}

impl Index<Kind> for State {
    type Output = Phase;
    fn index(&self, kind: Kind) -> &Phase {
        match kind {
            Kind::Solid => &self.solid,
            Kind::Fluid => &self.fluid,
        }
    }
}

impl IndexMut<Kind> for State {
    fn index_mut(&mut self, kind: Kind) -> &mut Phase {
        match kind {
            Kind::Solid => &mut self.solid,
            Kind::Fluid => &mut self.fluid,
        }
    }
}

/// Neighbour of a particle.
#[derive(Clone, Copy)]
struct Neighbour {
    kind: Kind,
    j: usize,
    /// x_ij / h.
    offset_h: [f32; 3],
    /// r / h.
    q: f32,
}

/// Particle in contact or linked with another.
#[derive(Clone, Copy)]
struct Bond {
    kind: Kind,
    j: usize,
    /// n̂ = x_ij/|x_ij|, 0 for coincident particles.
    normal: [f32; 3],
    /// |x_ij| in m.
    length_m: f32,
}

impl Bond {
    fn new(kind: Kind, j: usize, own: [f32; 3], other: [f32; 3]) -> Self {
        let offset_m = zip(own, other, |a, b| a - b);
        let length_m = dot(offset_m, offset_m).sqrt();
        let normal = if length_m > 0.0 { offset_m.map(|o| o / length_m) } else { [0.0; 3] };
        Self { kind, j, normal, length_m }
    }
}

impl State {
    /// State of both phases at rest, without links.
    pub fn new(solid: Phase, fluid: Phase, n_max: u32) -> Self {
        let (n_solid, capacity) = (solid.len(), (solid.len() + fluid.len()) as u32);
        Self {
            solid,
            fluid,
            capacity,
            links: Bonds::none(n_solid),
            n_max,
            ledger: Ledger::default(),
            faults: Faults::default(),
        }
    }

    /// Runs all stages, in order.
    pub fn step(&mut self, p: &Parameters) {
        self.begin_step(p);
        for iteration in 0..p.iterations {
            self.compute_lambda(p);
            self.solve(p, iteration);
            if p.shape_stiffness > 0.0 {
                self.apply_shape_matching(p);
            }
        }
        self.friction(p);
        self.update_velocity(p);
        self.damp_links(p);
        self.smooth_velocity(p);
        self.end_step();
    }

    /// Runs the stages before the iterations.
    pub fn begin_step(&mut self, p: &Parameters) {
        self.integrate(p);
        self.mark_phase_change(p);
        self.scan_leavers();
        self.migrate();
        self.sort_by_cell(p);
        self.reorder();
        self.predict(p);
        self.conduct(p);
        self.break_links(p);
        self.build_links(p);
        if p.shape_stiffness > 0.0 {
            self.attach_to_shape();
        }
    }

    /// Adds gravity to velocities, and finds the cell of each predicted position.
    pub fn integrate(&mut self, p: &Parameters) {
        for kind in Kind::ALL {
            let phase = &mut self[kind];
            for v in &mut phase.velocity {
                *v = zip(*v, p.fluid.gravity_m_s2, |v, g| v + p.fluid.dt_s * g);
            }
            let cell = |i: usize| {
                let start = (phase.position[i], phase.residual[0][i], phase.velocity[i]);
                p.fluid.grid.cell_key(p.fluid.confined_prediction(start.0, start.1, start.2)[0])
            };
            phase.key = (0..phase.position.len()).map(cell).collect();
        }
    }

    /// Computes x* = confine(x + Δt v), out of bodies.
    pub fn predict(&mut self, p: &Parameters) {
        for kind in Kind::ALL {
            let phase = &mut self[kind];
            let n = phase.len();
            (phase.predicted, phase.residual[1]) = (vec![[0.0; 3]; n], vec![[0.0; 3]; n]);
            for i in 0..n {
                [phase.predicted[i], phase.residual[1][i]] =
                    p.fluid.confined_prediction(phase.position[i], phase.residual[0][i], phase.velocity[i]);
            }
            phase.body_push = vec![[0.0; 4]; phase.len()];
            for i in 0..phase.len() {
                phase.project_out_of_bodies(&p.fluid, i, 1.0, 0.0);
            }
        }
    }

    /// Computes u = v + (x* − (x + Δt v))/Δt.
    pub fn update_velocity(&mut self, p: &Parameters) {
        for kind in Kind::ALL {
            let phase = &mut self[kind];
            let update = |i: usize| {
                let start = (phase.position[i], phase.residual[0][i], phase.velocity[i]);
                p.fluid.updated_velocity(start, [phase.predicted[i], phase.residual[1][i]])
            };
            phase.updated = (0..phase.len()).map(update).collect();
            for i in 0..self[kind].len() {
                let phase = &self[kind];
                let start = [phase.position[i], phase.velocity[i]];
                let end = [phase.predicted[i], phase.updated[i]];
                // The density of snow is not computed.
                let density = match kind {
                    Kind::Solid => 0.0,
                    Kind::Fluid => phase.density[i],
                };
                let fault =
                    Moved { start, end, density }.fault(p.fluid.max_density_kg_m3, p.fluid.max_speed_m_s);
                if let Some(fault) = fault {
                    self.faults.note(fault, u32::from(kind == Kind::Fluid), i);
                }
            }
        }
    }

    /// Twin of `pbd/end_step`. Returns false if the simulation ends.
    pub fn end_step(&mut self) -> bool {
        self.faults.end_step(&[&self.solid.id, &self.fluid.id])
    }

    /// Applies XSPH within each phase, Chen2021 eq 5.20, with drag of walls on water only, and sets x ← x*.
    pub fn smooth_velocity(&mut self, p: &Parameters) {
        for kind in Kind::ALL {
            let xsph_viscosity = match kind {
                Kind::Solid => p.snow_xsph_viscosity,
                Kind::Fluid => p.fluid.xsph_viscosity,
            };
            let phase = &self[kind];
            let smooth = |i: usize| {
                let own = phase.updated[i];
                let mut smoothing = [0.0f32; 3];
                for neighbour in self.neighbours(p, kind, i, |kind, j| self[kind].predicted[j]) {
                    if neighbour.kind == kind {
                        let weight = spline_shape(neighbour.q);
                        let towards = zip(phase.updated[neighbour.j], own, |a, b| a - b);
                        let towards = along(neighbour.offset_h, towards);
                        smoothing = zip(smoothing, towards, |s, t| s + weight * t);
                    }
                }
                let drag = match kind {
                    Kind::Solid => [0.0; 3],
                    Kind::Fluid => p.fluid.wall_drag(phase.predicted[i], own),
                };
                let smoothed = zip(smoothing, drag, |s, d| 3.0 * SPLINE_SCALE * p.fluid.volume_h3 * s - d);
                let velocity = zip(own, smoothed, |u, s| u + xsph_viscosity * s);
                let changes = match kind {
                    Kind::Solid => Vec::new(),
                    Kind::Fluid => p.fluid.apply_body_drag(phase.predicted[i], own, xsph_viscosity),
                };
                changes.into_iter().fold(velocity, |velocity, change| zip(velocity, change, |v, c| v + c))
            };
            let velocity = (0..phase.len()).map(smooth).collect();
            let phase = &mut self[kind];
            phase.velocity = velocity;
            phase.position.clone_from(&phase.predicted);
            phase.residual.swap(0, 1);
        }
    }

    /// Returns the particles in the cells around particle `i`, without itself: its own phase first.
    fn candidates(&self, p: &Parameters, kind: Kind, i: usize) -> impl Iterator<Item = (Kind, usize)> {
        let cell = p.fluid.grid.cell_from_index(self[kind].key[i]);
        [kind, kind.other()]
            .into_iter()
            .flat_map(move |other| {
                let runs = p.fluid.grid.neighbour_runs(cell, &self[other].cell_start);
                runs.into_iter().flatten().map(move |j| (other, j))
            })
            .filter(move |candidate| *candidate != (kind, i))
    }

    /// Returns the particles of its own and of the other phase within a reach in h of particle `i` at the
    /// predicted positions, in the order of their cells: twin of `pbd/list_neighbours`.
    pub fn list_neighbours(&self, p: &Parameters, kind: Kind, i: usize, reach: f32) -> [Vec<u32>; 2] {
        let mut rows = [Vec::new(), Vec::new()];
        for (other, j) in self.candidates(p, kind, i) {
            let offset_h = zip(self[kind].predicted[i], self[other].predicted[j], |a, b| {
                (a - b) * (1.0 / p.fluid.support_m)
            });
            if dot(offset_h, offset_h) < reach * reach {
                rows[usize::from(other != kind)].push(j as u32);
            }
        }
        rows
    }

    /// Returns true if a particle of a phase is not closer than a distance, whose square in h is
    /// `max_moved_q2`, to where its neighbours were listed: twin of `pbd/mark_moved`.
    pub fn mark_moved(&self, p: &Parameters, kind: Kind, listed: &[[f32; 3]], max_moved_q2: f32) -> bool {
        let is_far = |(x, listed): (&[f32; 3], &[f32; 3])| {
            let moved_h = zip(*x, *listed, |a, b| (a - b) * (1.0 / p.fluid.support_m));
            dot(moved_h, moved_h) >= max_moved_q2
        };
        self[kind].predicted.iter().zip(listed).any(is_far)
    }

    /// Returns the particles closer to particle `i` than h, at positions `at`.
    fn neighbours(
        &self,
        p: &Parameters,
        kind: Kind,
        i: usize,
        at: impl Fn(Kind, usize) -> [f32; 3],
    ) -> Vec<Neighbour> {
        let inverse_h = 1.0 / p.fluid.support_m;
        let own = at(kind, i);
        let near = |(kind, j): (Kind, usize)| {
            let offset_h = zip(own, at(kind, j), |a, b| (a - b) * inverse_h);
            let q2 = dot(offset_h, offset_h);
            (q2 < 1.0).then(|| Neighbour { kind, j, offset_h, q: q2.sqrt() })
        };
        self.candidates(p, kind, i).filter_map(near).collect()
    }

    /// Returns the particles that touch particle `i`, at positions `at`: closer than D, unless both are
    /// water.
    fn contacts(
        &self,
        p: &Parameters,
        kind: Kind,
        i: usize,
        at: impl Fn(Kind, usize) -> [f32; 3],
    ) -> Vec<Bond> {
        let own = at(kind, i);
        self.candidates(p, kind, i)
            .filter(|(other, _)| (kind, *other) != (Kind::Fluid, Kind::Fluid))
            .map(|(other, j)| Bond::new(other, j, own, at(other, j)))
            .filter(|bond| bond.length_m < p.full_distance_m([kind, bond.kind]))
            .collect()
    }
}
