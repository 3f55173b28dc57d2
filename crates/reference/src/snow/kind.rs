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
    /// Both phases.
    pub const ALL: [Self; 2] = [Self::Solid, Self::Fluid];

    /// Returns the phase to which particles of this phase change.
    pub fn other(self) -> Self {
        match self {
            Self::Solid => Self::Fluid,
            Self::Fluid => Self::Solid,
        }
    }
}
