//! Which study is done, and how much of it.

use clap::ValueEnum;
use std::fmt;

/// A study of Breekveldt2017 chapter 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Study {
    /// Rounding that strains a lone particle, and what stops it (sec 4.1).
    Noise,
    /// How far θ_c, θ_s, ξ, ρ₀, E and ν may go; the density at which snow no longer rests (sec 4.2, app. A).
    Limits,
    /// Heavier particles, more of them, other cells (sec 4.3).
    Scaling,
    /// What a step takes with more particles, cells and colliders (sec 4.4).
    Runtime,
}

impl fmt::Display for Study {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Noise => "noise",
            Self::Limits => "limits",
            Self::Scaling => "scaling",
            Self::Runtime => "runtime",
        })
    }
}

/// How much of a study is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Only whether it still runs.
    pub smoke: bool,
    /// Steps that a lone particle drifts for.
    pub steps: Option<u64>,
    /// Most particles that are timed.
    pub particles: Option<u32>,
}

impl Effort {
    /// One of two numbers.
    pub fn choose<T>(self, smoke: T, full: T) -> T {
        if self.smoke { smoke } else { full }
    }
}
