//! Kinds of new scenes, and their texts.

use clap::ValueEnum;

/// Kind of a new scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Water by position-based dynamics.
    Pbd,
    /// Snow and water with heat, by position-based dynamics.
    Snow,
    /// A viscoelastic fluid.
    Viscoelastic,
    /// Snow as a continuum, by the material point method.
    Mpm,
    /// Grains, by the discrete element method.
    Dem,
    /// Grains on a mountain side.
    Avalanche,
}

impl Kind {
    /// Returns the text of the scene, in whose comments FILE stands for the name of its file.
    pub fn text(self) -> &'static str {
        match self {
            Self::Pbd => include_str!("pbd.toml"),
            Self::Snow => include_str!("snow.toml"),
            Self::Viscoelastic => include_str!("viscoelastic.toml"),
            Self::Mpm => include_str!("mpm.toml"),
            Self::Dem => include_str!("dem.toml"),
            Self::Avalanche => include_str!("avalanche.toml"),
        }
    }

    /// Returns the name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
