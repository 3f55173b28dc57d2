//! The particles and the rigid bodies of one instant, for its picture.

use super::coloring;
use super::landscape::SlabPoses;
use frazil_particles::ParticleSet;
use frazil_solvers::Solver;

/// What one instant's picture is made of.
pub struct Shown<'a> {
    /// Sets of particles: one, or in scenes with snow beside water one a phase.
    pub sets: Vec<ParticleSet<'a>>,
    /// Where slabs are; at time 0 where nothing moves them.
    pub slabs: Option<SlabPoses>,
}

impl<'a> Shown<'a> {
    /// Takes a solver's particles as they are now, and its bodies as of the last [`Solver::record_bodies`].
    pub fn of(solver: &'a dyn Solver) -> Self {
        Self { sets: solver.particle_sets(), slabs: solver.rigid_bodies().map(SlabPoses::of) }
    }

    /// Lists the names that all particles can be coloured by.
    pub fn names(&self) -> Vec<String> {
        let of = |set: &ParticleSet<'_>| {
            let columns = set.columns.iter().map(|column| (column.name.as_ref(), column.kind));
            coloring::names(columns, self.has_phases())
        };
        let mut sets = self.sets.iter().map(of);
        let mut names = sets.next().unwrap_or_default();
        sets.for_each(|others| names.retain(|name| others.contains(name)));
        names
    }

    /// Returns true if particles are of several phases, which pictures may tell apart.
    pub fn has_phases(&self) -> bool {
        self.sets.len() > 1
    }
}
