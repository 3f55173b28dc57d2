//! Particle sets as pictures, files and windows see them.

use crate::column::{ColumnKind, ColumnView};
use crate::display::Display;
use frazil_vk::DeviceCount;

/// Material of a set's particles, for display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Material {
    /// No particular material: coloured by a column.
    #[default]
    Generic,
    /// Water.
    Water,
    /// Snow drawn as one body.
    Snow,
    /// Snow as grains with air between them.
    Grains,
}

/// Volume fraction of packed grains: a random packing is between 0.56 (loose) and 0.64 (close).
const GRAIN_FRACTION: f64 = 0.6;

impl Material {
    /// Returns the volume fraction of packed particles.
    pub fn packing_fraction(self) -> f64 {
        match self {
            Self::Grains => GRAIN_FRACTION,
            Self::Generic | Self::Water | Self::Snow => 1.0,
        }
    }
}

/// Particles of one kind: a solver has one set or, if it distinguishes phases, one for each phase.
#[derive(Clone, Debug)]
pub struct ParticleSet<'a> {
    /// Name, as in files and on the command line.
    pub name: &'static str,
    /// Material of the particles.
    pub material: Material,
    /// Number of particles, on the device.
    pub count: &'a DeviceCount,
    /// Columns with one element for each particle; `position` is among them.
    pub columns: Vec<ColumnView>,
}

impl ParticleSet<'_> {
    /// Returns the column with this name, if the set has one.
    pub fn column(&self, name: &str) -> Option<&ColumnView> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// Description of a particle set that follows from the scene alone: scenes are validated against it, and
/// recordings are displayed by it.
#[derive(Clone, Debug)]
pub struct SetInfo {
    /// Name of the set.
    pub name: &'static str,
    /// Material of the particles.
    pub material: Material,
    /// Value of the column `phase` in recordings for these particles, if there are several sets.
    pub phase: u32,
    /// Columns of the set.
    pub columns: Vec<ColumnInfo>,
}

/// Description of a column that follows from the scene alone.
#[derive(Clone, Debug)]
pub struct ColumnInfo {
    /// Name of the column.
    pub name: &'static str,
    /// Type of the elements.
    pub kind: ColumnKind,
    /// Display settings.
    pub display: Display,
}

impl ColumnInfo {
    /// Describes a column.
    pub fn new(name: &'static str, kind: ColumnKind, display: Display) -> Self {
        Self { name, kind, display }
    }
}
