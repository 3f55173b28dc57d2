//! The two phases.

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
