//! Particles and rigid bodies at one instant, for a picture.

use super::coloring;
use frazil_particles::ParticleSet;
use frazil_solvers::{ActiveBlocks, BodyPoses, Solver, SparseGrid};

/// Data of the picture of one instant.
pub struct Shown<'a> {
    /// Sets of particles: one, or one per phase in scenes with snow and water.
    pub sets: Vec<ParticleSet<'a>>,
    /// Poses of slabs; those at time 0 if nothing moves them.
    pub slabs: Option<BodyPoses>,
    /// Poses of dynamic bodies, which are not drawn where these are unknown.
    pub bodies: Option<BodyPoses>,
    /// Blocks of the solver's grid.
    pub blocks: Option<ActiveBlocks>,
}

impl<'a> Shown<'a> {
    /// Refers to a solver's current particles, and to its bodies as of the last
    /// [`RigidBodies::record_poses`](frazil_solvers::RigidBodies::record_poses).
    pub fn of(solver: &'a dyn Solver) -> Self {
        Self {
            sets: solver.particle_sets(),
            slabs: solver.rigid_bodies().map(|bodies| bodies.poses()),
            bodies: solver.dynamic_bodies().map(|bodies| bodies.poses().clone()),
            blocks: solver.sparse_grid().map(SparseGrid::active_blocks),
        }
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

    /// Returns true if there are particles of several phases, which pictures may distinguish.
    pub fn has_phases(&self) -> bool {
        self.sets.len() > 1
    }
}
