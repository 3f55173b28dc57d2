//! Selection of a study and its extent.

use std::fmt;

/// A study of Breekveldt2017 chapter 4, or of recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Study {
    /// Strain of a single particle due to rounding, and its counter-measures (sec 4.1).
    Noise,
    /// Limits of θ_c, θ_s, ξ, ρ₀, E and ν; the density at which snow no longer rests (sec 4.2, app. A).
    Limits,
    /// Effect of particle mass, particle count and cell size (sec 4.3).
    Scaling,
    /// Time of a step as a function of particles, cells and bodies (sec 4.4).
    Runtime,
    /// Number of connected pieces in each frame of recordings.
    Fragments,
}

impl Study {
    /// All studies.
    pub const ALL: [Self; 5] = [Self::Noise, Self::Limits, Self::Scaling, Self::Runtime, Self::Fragments];

    /// Returns the name, which is that of the files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Noise => "noise",
            Self::Limits => "limits",
            Self::Scaling => "scaling",
            Self::Runtime => "runtime",
            Self::Fragments => "fragments",
        }
    }

    /// Returns a description in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Noise => "Strain of a single particle due to rounding, and its counter-measures (sec 4.1)",
            Self::Limits => {
                "Limits of θ_c, θ_s, ξ, ρ₀, E and ν; the density at which snow no longer rests (sec 4.2, \
                 app. A)"
            }
            Self::Scaling => "Effect of particle mass, particle count and cell size (sec 4.3)",
            Self::Runtime => "Time of a step as a function of particles, cells and colliders (sec 4.4)",
            Self::Fragments => "Number of connected pieces in each frame of recordings",
        }
    }
}

impl fmt::Display for Study {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Extent of a study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// True to test only that the study runs.
    pub smoke: bool,
    /// Number of steps that a single particle drifts.
    pub steps: Option<u64>,
    /// Maximum number of particles that are timed.
    pub particles: Option<u32>,
}

impl Effort {
    /// Selects one of two values: for a smoke test, or for the full study.
    pub(super) fn choose<T>(self, smoke: T, full: T) -> T {
        if self.smoke { smoke } else { full }
    }
}
