//! A set of particles as pictures, files and windows see it.

use crate::column::{ColumnKind, ColumnView};
use crate::display::Display;
use frazil_vk::DeviceCount;

/// What the particles of a set are made of, for those who draw them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Material {
    /// Nothing in particular: coloured by a column.
    #[default]
    Generic,
    /// Water.
    Water,
    /// Snow that is one body.
    Snow,
    /// Snow in grains with air between them.
    Grains,
}

/// Share of space that grains side by side fill: a random packing is between 0.56, loose, and 0.64, close.
const GRAIN_FRACTION: f64 = 0.6;

impl Material {
    /// Returns the share of space that particles side by side fill.
    pub fn packing_fraction(self) -> f64 {
        match self {
            Self::Grains => GRAIN_FRACTION,
            Self::Generic | Self::Water | Self::Snow => 1.0,
        }
    }
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
    /// Returns the column of a name, if the set has one.
    pub fn column(&self, name: &str) -> Option<&ColumnView> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// A set of particles as far as a scene alone tells: scenes are checked against it, and recordings are shown by it.
#[derive(Clone, Debug)]
pub struct SetInfo {
    /// Its name.
    pub name: &'static str,
    /// What its particles are made of.
    pub material: Material,
    /// What the column `phase` of recordings holds for its particles, where there are several sets.
    pub phase: u32,
    /// The columns it has.
    pub columns: Vec<ColumnInfo>,
}

/// A column as far as a scene alone tells.
#[derive(Clone, Debug)]
pub struct ColumnInfo {
    /// Its name.
    pub name: &'static str,
    /// What its elements are.
    pub kind: ColumnKind,
    /// How it is shown.
    pub display: Display,
}

impl ColumnInfo {
    /// Describes a column.
    pub fn new(name: &'static str, kind: ColumnKind, display: Display) -> Self {
        Self { name, kind, display }
    }
}
