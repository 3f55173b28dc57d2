//! A whole step, faults, and sums over all particles.

use glam::DVec3;

use super::constitutive::axial;
use crate::bodies::{Load, reduce_body_loads};

use super::{Grid, Lattice, Parameters, Particle, Solved};

/// Kind of fault of a particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Its position, velocity or deformation is not a number.
    NotFinite,
    /// Its deformation is inverted: det F̂_E ≤ 0.
    Inverted,
    /// It moves by more than a cell in a step.
    TooFast,
}

/// First particle with a fault, in particle order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The step, from 0.
    pub step: u64,
    /// Its index.
    pub particle: usize,
    /// The kind of fault.
    pub kind: FaultKind,
}

/// Energy in J, in a plane J/m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// Σ ½ m v².
    pub kinetic: f64,
    /// Σ V⁰ Ψ.
    pub elastic: f64,
    /// −Σ m g·x.
    pub potential: f64,
}

impl Energy {
    /// Returns the sum of all energies.
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic + self.potential
    }
}

/// State of all particles.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Particles in the order of their cells.
    pub particles: Vec<Particle>,
    /// Number of steps done.
    pub steps: u64,
    /// The fault that stopped the simulation.
    pub fault: Option<Fault>,
    /// Load on each body, in an explicit step.
    pub loads: Vec<Load>,
}

impl State {
    /// State before the first step.
    pub fn new(particles: Vec<Particle>) -> Self {
        Self { particles, steps: 0, fault: None, loads: Vec::new() }
    }

    /// Sorts particles by cell, stably, and returns their keys.
    pub fn sort_by_cell(&mut self, p: &Parameters) -> Vec<u64> {
        let lattice = Lattice::new(p);
        self.particles.sort_by_cached_key(|particle| lattice.particle_key(p, particle));
        self.particles.iter().map(|particle| lattice.particle_key(p, particle)).collect()
    }

    /// Computes the volumes of particles from the grid, before the first step.
    pub fn take_volume_from_grid(&mut self, p: &Parameters) {
        Grid::rasterize(p, &self.particles).initial_volume(p, &mut self.particles);
    }

    /// Advances the state by a step unless an earlier one has failed. Bodies are at their positions at the
    /// start of the step.
    pub fn step(&mut self, p: &Parameters) -> Option<Solved> {
        if self.fault.is_some() {
            return None;
        }
        self.sort_by_cell(p);
        let time_s = self.steps as f64 * p.dt_s;
        let mut grid = Grid::rasterize(p, &self.particles);
        grid.update_velocity(p);
        grid.collide(p, time_s);
        let solved = p.implicit.map(|implicit| {
            grid.find_contacts(p, time_s);
            let solved = grid.solve(p, &self.particles, &implicit);
            grid.collide(p, time_s);
            solved
        });
        self.update_particles(p, &grid, time_s);
        self.steps += 1;
        solved
    }

    /// Runs steps 7 to 10.
    pub fn update_particles(&mut self, p: &Parameters, grid: &Grid, time_s: f64) {
        let mut impulses = grid.impulses.clone();
        impulses.resize(p.bodies.len(), [DVec3::ZERO; 2]);
        for i in 0..self.particles.len() {
            let mut after = grid.moved(p, &self.particles[i], time_s, &mut impulses);
            let fault = fault(p, &after);
            if fault != Some(FaultKind::NotFinite) {
                (after.elastic, after.plastic_volume) =
                    p.material.yielded(after.elastic, after.plastic_volume);
            }
            self.particles[i] = after;
            if let (None, Some(kind)) = (self.fault, fault) {
                self.fault = Some(Fault { step: self.steps, particle: i, kind });
            }
        }
        self.loads.resize(p.bodies.len(), Load::default());
        if self.fault.is_none() {
            reduce_body_loads(&mut self.loads, &mut impulses, p.dt_s);
        }
    }

    /// Returns Σ m in kg, in a plane kg/m.
    pub fn mass(&self) -> f64 {
        self.particles.iter().map(|particle| particle.mass).sum()
    }

    /// Returns Σ m v.
    pub fn momentum(&self) -> DVec3 {
        self.particles.iter().map(|particle| particle.mass * particle.velocity).sum()
    }

    /// Returns Σ m x × v and the contribution of the affine velocities, Σ m D_p axial(C).
    pub fn angular_momenta(&self, p: &Parameters) -> [DVec3; 2] {
        let sum = |of: &dyn Fn(&Particle) -> DVec3| self.particles.iter().map(|x| x.mass * of(x)).sum();
        [sum(&|x| x.position.cross(x.velocity)), sum(&|x| p.inertia_m2() * axial(x.affine))]
    }

    /// Returns Σ m x × v plus the contribution of the affine velocities.
    pub fn angular_momentum(&self, p: &Parameters) -> DVec3 {
        self.angular_momenta(p).into_iter().sum()
    }

    /// Returns the energy of all particles.
    pub fn energy(&self, p: &Parameters) -> Energy {
        let sum = |of: &dyn Fn(&Particle) -> f64| self.particles.iter().map(of).sum();
        Energy {
            kinetic: sum(&|particle| 0.5 * particle.mass * particle.velocity.length_squared()),
            elastic: sum(&|particle| {
                particle.volume * p.material.lame(particle.plastic_volume).energy_pa(particle.elastic)
            }),
            potential: sum(&|particle| -particle.mass * p.gravity_m_s2.dot(particle.position)),
        }
    }
}

/// Returns the fault of a particle that has just moved, if any; its F_E is F̂_E.
fn fault(p: &Parameters, after: &Particle) -> Option<FaultKind> {
    let travel_m = (p.dt_s * after.velocity).abs().max_element();
    if !(after.position.is_finite() && after.velocity.is_finite() && after.elastic.is_finite()) {
        Some(FaultKind::NotFinite)
    } else if after.elastic.determinant() <= 0.0 {
        Some(FaultKind::Inverted)
    } else {
        (travel_m > p.cell_size_m).then_some(FaultKind::TooFast)
    }
}
