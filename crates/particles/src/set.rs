//! A set of particles as pictures, files and windows see it.

use crate::column::ColumnView;
use frazil_vk::DeviceCount;

/// What the particles of a set are made of, for those who draw them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Material {
    /// Nothing in particular: coloured by a column.
    Generic,
    /// Water.
    Water,
    /// Snow.
    Snow,
}

/// Particles of one kind: a solver has one set or, where it tells phases apart, one a phase.
#[derive(Clone, Debug)]
pub struct ParticleSet<'a> {
    /// Its name, as in files and on the command line.
    pub name: &'static str,
    /// What its particles are made of.
    pub material: Material,
    /// How many particles it has, on the device.
    pub count: &'a DeviceCount,
    /// One element a particle each; `position` is among them.
    pub columns: Vec<ColumnView>,
}

impl ParticleSet<'_> {
    /// The column of a name, if the set has one.
    pub fn column(&self, name: &str) -> Option<&ColumnView> {
        self.columns.iter().find(|column| column.name == name)
    }
}
