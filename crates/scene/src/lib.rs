//! Scenes as pure data: the simulated materials, the method and its parameters, and the display settings.
//!
//! This crate holds
//!
//! - the file format ([`Scene`], its sections and its JSON Schema);
//! - loading with `--set` overrides and errors that name file, line, column and key ([`SceneError`]);
//! - shapes and their sampling into particles ([`Sampled`]);
//! - bodies that particles collide with, and their motions ([`Body`]);
//! - where particles enter and leave while a scene runs ([`Emitter`], [`Drain`]);
//! - terrains ([`Terrain`]) and the release areas of avalanches on them ([`Release`]);
//! - the camera's default framing ([`View`]);
//! - the scenes that ship with the engine ([`builtin`]).
//!
//! It never holds a device, a buffer, a step of a solver, or anything that changes while a simulation runs.
//!
//! Lengths are in metres, times in seconds, masses in kilograms, angles in degrees; keys carry their unit as
//! a suffix. Vectors are `[x, y, z]`. The facts of a key stand in one place, the type of its section in
//! `scene/` or in its solver's folder: its range at the field, by which values are checked (`ranges.rs`), and
//! its default in the `Default` of the type.

mod bodies;
mod check;
mod format;
mod live;
mod load;
mod loaded;
mod properties;
mod random;
mod ranges;
mod reference;
mod scene;
mod section;
mod shapes;
mod slabs;
mod solver;
mod sources;
mod surface;
mod terrain;
mod units;
mod validate;
mod vector;
mod watch;

pub use bodies::{
    Body, BodyMass, BodyMotion, BodyShape, Dynamics, Joint, JointKind, Keyframe, LinearMotor,
    MAX_BODY_TRIANGLES, MAX_DYNAMIC_BODIES, MAX_JOINTS, Motion, RotaryMotor, Side, SurfaceFeature, box_axes,
};
pub use check::{Checker, MAX_PARTICLES};
pub use format::error::{SceneError, nearest, one_of};
pub use format::source::{Location, Place};
pub use format::text::shortened;
pub use live::{LiveParameter, LiveValue};
pub use load::{Builtin, PointArrays, builtin};
pub use loaded::Loaded;
pub use reference::reference;
pub use scene::*;
pub use section::{Section, SectionType};
pub use shapes::{Axis, Outline, PointCloud, Polygon, Shape, TriangleMesh};
pub use slabs::*;
pub use solver::dem::*;
pub use solver::mpm::*;
pub use solver::pbd::*;
pub use solver::viscoelastic::*;
pub use solver::{
    ConstraintGradient, ContactDefaults, Feature, RegistryError, SolverScene, json_schema, register, solvers,
};
pub use sources::{Drain, DrainShape, Emitter, GRAIN_ROOM, Mouth, Stream};
pub use surface::Surface;
pub use terrain::{
    Generated, GeoKeys, MAX_HEIGHTS, MapProjection, Release, ReleaseArea, Terrain, TerrainSource,
};
pub use vector::Vec3;
pub use watch::{SamplingObserver, Watch};
