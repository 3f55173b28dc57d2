//! Parts of the scene file that only some solvers support.

/// A part of the scene file that is available only to solvers that list it in
/// [`features`](crate::SolverScene::features).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Feature {
    /// `[terrain]`.
    Terrain,
    /// `[[bodies]]`.
    Bodies,
    /// `[[emitters]]`.
    Emitters,
    /// `[[drains]]`.
    Drains,
    /// `restitution` of a body.
    BodyRestitution,
    /// `time.dt_s = "auto"`: the solver has an [`auto_dt_s`](crate::SolverScene::auto_dt_s).
    AutoTimeStep,
    /// `time.substeps`.
    Substeps,
    /// `angular_velocity_rad_s` of a block of particles.
    AngularVelocity,
    /// `count` of a block of particles.
    Count,
    /// `mass_spread` of a block of particles.
    MassSpread,
    /// `domain.periodic`.
    PeriodicDomain,
    /// `fill = "random"` and `packing_fraction` of a block of particles.
    RandomFill,
    /// `render.grid`: the solver has a sparse grid.
    GridLines,
}

impl Feature {
    /// Returns the last part of the feature's key.
    pub fn key(self) -> &'static str {
        match self {
            Self::Terrain => "terrain",
            Self::Bodies => "bodies",
            Self::Emitters => "emitters",
            Self::Drains => "drains",
            Self::BodyRestitution => "restitution",
            Self::AutoTimeStep => "dt_s",
            Self::Substeps => "substeps",
            Self::AngularVelocity => "angular_velocity_rad_s",
            Self::Count => "count",
            Self::MassSpread => "mass_spread",
            Self::PeriodicDomain => "periodic",
            Self::RandomFill => "fill",
            Self::GridLines => "grid",
        }
    }
}
