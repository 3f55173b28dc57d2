//! Twin of the snow step (paper 000): snow (solid, DEM) and water (fluid, SPH) as two phases that particles change between, one
//! method a stage, f32.
//!
//! A [`State`] holds what the device's buffers hold, each phase sorted by cell, so that any prefix of a step can run here and the
//! rest on the device. Sums over neighbours go over the own phase first, then the other, each in the order of its cells.
//!
//! - `migration`: `judge_phase`, `scan_leavers`, `migrate`, `sort_by_cell`, `reorder`.
//! - `heat`: conduction, and temperature from enthalpy.
//! - `constraints`: `weigh` and `solve`, the Jacobi iterations; `boundary`: particles for walls in them.
//! - `shape`: `adopt_shape` and `keep_shape`, in f64.
//! - `friction`: between particles and on walls.

mod boundary;
mod constraints;
mod friction;
mod heat;
mod migration;
mod shape;

use std::ops::{Index, IndexMut};

use crate::fluid::{self, SPLINE_SCALE, dot, spline_shape, zip};
use crate::interlinks::{LinkRule, Links, Particles, break_links, build_reproducible};

pub use boundary::Boundary;
pub use heat::{Heat, LatentHeat};
pub use migration::{Ledger, fixed_point_temperature};
pub use shape::{Adoption, Cluster};

/// What the corrections of a pair are divided by, 000 eq 5.26.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Averaging {
    /// The larger number of constraints that either end has.
    Pairwise,
    /// Nothing.
    Off,
}

/// What a link does against being stretched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stretch {
    /// k_stretch: the share of the stretch that an iteration takes away, 000 eq 5.12.
    Stiffness(f32),
    /// XPBD: one over the spring constant, in m/N.
    Compliance(f32),
}

/// The numbers that the stages take.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Those that the fluid has, too; spacing, mass and walls are the same for both phases.
    pub fluid: fluid::Parameters,
    /// m in kg.
    pub mass_kg: f32,
    /// D in m, at most h: particles closer than this touch.
    pub contact_distance_m: f32,
    /// k_bounce: the share of an overlap that an iteration takes away, 000 eq 5.14.
    pub bounce_stiffness: f32,
    /// What the corrections of a pair are divided by.
    pub averaging: Averaging,
    /// N: Jacobi iterations a step.
    pub iterations: u32,
    /// μ_s, 000 eq 5.22.
    pub static_friction: f32,
    /// μ_k, 000 eq 5.22.
    pub kinetic_friction: f32,
    /// c of XSPH for snow; walls do not drag on it.
    pub snow_xsph_viscosity: f32,
    /// When particles are linked; none for no links.
    pub links: Option<LinkRule>,
    /// Rounds of making links in a step.
    pub link_rounds: u32,
    /// What links do.
    pub stretch: Stretch,
    /// The share of the way to where shape matching puts a particle that an iteration goes; 0 for no shape matching.
    pub shape_stiffness: f32,
    /// What stands for walls in the density of water; none for their closed form.
    pub boundary: Option<Boundary>,
    /// Conduction and phase change.
    pub heat: Heat,
    /// Growth of α in a step, 000 eq 6.2.
    pub blend_speed: f32,
    /// α_threshold, 000 eq 6.4.
    pub blend_threshold: f32,
}

/// One of the two sets of particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Snow.
    Solid,
    /// Water.
    Fluid,
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Solid, Self::Fluid];

    /// Where particles of this phase go when they leave it.
    pub fn other(self) -> Self {
        match self {
            Self::Solid => Self::Fluid,
            Self::Fluid => Self::Solid,
        }
    }
}

/// The columns of one phase.
///
/// Between `migrate` and `reorder` those of the particles themselves still have the old number, `key` and `origin` the new one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phase {
    /// x in m.
    pub position: Vec<[f32; 3]>,
    /// v in m/s.
    pub velocity: Vec<[f32; 3]>,
    /// Ids, unique over both phases.
    pub id: Vec<u32>,
    /// T in °C.
    pub temperature_c: Vec<f32>,
    /// H in J/kg, from ice at T_freeze; followed with [`LatentHeat::Enthalpy`] only.
    pub enthalpy_j_kg: Vec<f32>,
    /// α: 0 for a particle that has just changed phase, 1 for one that has blended in.
    pub blend: Vec<f32>,
    /// X in m: where the particle was when its body was whole; followed with shape matching only.
    pub rest_position: Vec<[f32; 3]>,
    /// Cells.
    pub key: Vec<u32>,
    /// 1 for each particle that leaves the phase.
    pub leaves: Vec<u32>,
    /// For each particle how many before it leave.
    pub rank: Vec<u32>,
    /// How many leave.
    pub n_leavers: u32,
    /// Where each particle was before `migrate`: its place, plus the capacity if that was in the other phase.
    pub origin: Vec<u32>,
    /// The permutation of the sort.
    pub order: Vec<u32>,
    /// `origin` in the sorted order.
    pub source: Vec<u32>,
    /// Where cells begin.
    pub cell_start: Vec<u32>,
    /// x* in m.
    pub predicted: Vec<[f32; 3]>,
    /// (x*, φ λ), φ the share in which the particle obeys the density constraint.
    pub constraint: Vec<[f32; 4]>,
    /// (α, n), n the number of contacts and links, at least 1.
    pub contact: Vec<[f32; 2]>,
    /// ρ in kg/m³.
    pub density: Vec<f32>,
    /// What walls moved the particle by in this step, in m; of snow only.
    pub push: Vec<[f32; 3]>,
    /// What bodies did, and the number of the last of them, plus one.
    pub body_push: Vec<[f32; 4]>,
    /// u in m/s: velocities before XSPH.
    pub updated: Vec<[f32; 3]>,
}

impl Phase {
    /// Particles at rest in the phase, blended in, numbered from `first_id`, in a body that is whole. Enthalpy is 0.
    pub fn new(position: Vec<[f32; 3]>, temperature_c: f32, first_id: u32) -> Self {
        let n = position.len();
        Self {
            velocity: vec![[0.0; 3]; n],
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
            body_push: vec![[0.0; 4]; n],
            updated: vec![[0.0; 3]; n],
            position,
            ..Self::default()
        }
    }

    /// Particles in the phase.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Moves x* out of bodies, and keeps by how much.
    fn push_out(&mut self, p: &fluid::Parameters, i: usize) {
        let (x, pushes) = p.push_out(self.predicted[i]);
        self.predicted[i] = x;
        for (k, push) in pushes {
            let [px, py, pz, _] = self.body_push[i];
            let [x, y, z] = zip([px, py, pz], fluid::narrow(push), |a, b| a + b);
            self.body_push[i] = [x, y, z, (k + 1) as f32];
        }
    }

    /// x* at the beginning of the iteration, as `weigh` left it beside λ.
    fn weighed(&self, i: usize) -> [f32; 3] {
        let [x, y, z, _] = self.constraint[i];
        [x, y, z]
    }
}

/// The device's buffers.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Snow.
    pub solid: Phase,
    /// Water.
    pub fluid: Phase,
    /// Room for particles in each phase: the number of all.
    pub capacity: u32,
    /// Bonds between snow particles.
    pub links: Links,
    /// For each slot of `links` its multiplier in kg m, summed over the iterations of the step; with [`Stretch::Compliance`] only.
    pub multiplier: Vec<Vec<f32>>,
    /// What has changed phase so far.
    pub ledger: Ledger,
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

/// A particle near another.
#[derive(Clone, Copy)]
struct Neighbour {
    kind: Kind,
    j: usize,
    /// x_ij / h.
    offset_h: [f32; 3],
    /// r / h.
    q: f32,
}

/// A particle that touches another, or is linked with it.
#[derive(Clone, Copy)]
struct Bond {
    kind: Kind,
    j: usize,
    /// n̂ = x_ij/|x_ij|, 0 where the two coincide.
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
    /// Both phases at rest, without links.
    pub fn new(solid: Phase, fluid: Phase, n_max: u32) -> Self {
        let (n_solid, capacity) = (solid.len(), (solid.len() + fluid.len()) as u32);
        let links = Links::none(n_solid, n_max);
        Self {
            solid,
            fluid,
            capacity,
            links,
            multiplier: vec![Vec::new(); n_solid],
            ledger: Ledger::default(),
        }
    }

    /// All stages, in order.
    pub fn step(&mut self, p: &Parameters) {
        self.begin_step(p);
        for iteration in 0..p.iterations {
            self.weigh(p);
            self.solve(p, iteration);
            if p.shape_stiffness > 0.0 {
                self.keep_shape(p);
            }
        }
        self.friction(p);
        self.update_velocity(p);
        self.smooth_velocity(p);
    }

    /// The stages before the iterations.
    pub fn begin_step(&mut self, p: &Parameters) {
        self.integrate(p);
        self.judge_phase(p);
        self.scan_leavers();
        self.migrate();
        self.sort_by_cell(p);
        self.reorder();
        self.predict(p);
        self.conduct(p);
        self.break_links(p);
        self.build_links(p);
        if p.shape_stiffness > 0.0 {
            self.adopt_shape();
        }
    }

    /// Velocities after gravity, and the cell that each particle is going to be in.
    pub fn integrate(&mut self, p: &Parameters) {
        for kind in Kind::ALL {
            let phase = &mut self[kind];
            for v in &mut phase.velocity {
                *v = zip(*v, p.fluid.gravity_m_s2, |v, g| v + p.fluid.dt_s * g);
            }
            let cell = |(x, v): (&[f32; 3], &[f32; 3])| {
                p.fluid.grid.cell_key(p.fluid.confine_in_domain(p.fluid.predict_one(*x, *v)))
            };
            phase.key = phase.position.iter().zip(&phase.velocity).map(cell).collect();
        }
    }

    /// x* = confine(x + Δt v).
    pub fn predict(&mut self, p: &Parameters) {
        for kind in Kind::ALL {
            let phase = &mut self[kind];
            let pairs = phase.position.iter().zip(&phase.velocity);
            let confined =
                |(x, v): (&[f32; 3], &[f32; 3])| p.fluid.confine_in_domain(p.fluid.predict_one(*x, *v));
            phase.predicted = pairs.map(confined).collect();
            phase.body_push = vec![[0.0; 4]; phase.len()];
            for i in 0..phase.len() {
                phase.push_out(&p.fluid, i);
            }
        }
    }

    /// Links that are too long or too many go.
    pub fn break_links(&mut self, p: &Parameters) {
        if let Some(rule) = &p.links {
            let particles = self.linkable();
            break_links(&mut self.links, &particles, rule);
        }
    }

    /// New links, by the reproducible builder.
    pub fn build_links(&mut self, p: &Parameters) {
        if let Some(rule) = &p.links {
            let particles = self.linkable();
            build_reproducible(&mut self.links, &particles, rule, p.link_rounds);
        }
    }

    /// Snow as the interlinks see it: at x*.
    fn linkable(&self) -> Particles {
        Particles {
            position: self.solid.predicted.clone(),
            temperature_c: self.solid.temperature_c.clone(),
            id: self.solid.id.clone(),
        }
    }

    /// u = v + (x* − (x + Δt v))/Δt.
    pub fn update_velocity(&mut self, p: &Parameters) {
        for kind in Kind::ALL {
            let phase = &mut self[kind];
            let update = |i: usize| {
                let unconstrained = p.fluid.predict_one(phase.position[i], phase.velocity[i]);
                let moved = zip(phase.predicted[i], unconstrained, |a, b| (a - b) / p.fluid.dt_s);
                zip(phase.velocity[i], moved, |v, m| v + m)
            };
            phase.updated = (0..phase.len()).map(update).collect();
        }
    }

    /// XSPH within each phase, 000 eq 5.20, with drag of walls on water only; and x ← x*.
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
                        smoothing = zip(smoothing, towards, |s, t| s + weight * t);
                    }
                }
                let drag = match kind {
                    Kind::Solid => [0.0; 3],
                    Kind::Fluid => p.fluid.wall_drag(phase.predicted[i], own, xsph_viscosity),
                };
                let smoothed =
                    zip(own, smoothing, |u, s| u + xsph_viscosity * (SPLINE_SCALE * p.fluid.volume_h3 * s));
                zip(smoothed, drag, |u, d| u - d)
            };
            let velocity = (0..phase.len()).map(smooth).collect();
            let phase = &mut self[kind];
            phase.velocity = velocity;
            phase.position.clone_from(&phase.predicted);
        }
    }

    /// The particles in the cells around particle `i`, without itself: the own phase first.
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

    /// The particles closer to particle `i` than h, at positions `at`.
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

    /// The particles that touch particle `i`, at positions `at`: closer than D, unless both are water.
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
            .filter(|bond| bond.length_m < p.contact_distance_m)
            .collect()
    }
}
