//! Scenes as pure data: what is simulated, with which method and parameters, and what to show of it.
//!
//! Here live the file format ([`Scene`], its sections and its JSON Schema), loading with `--set` overrides and errors
//! that name file, line, column and key ([`SceneError`]), shapes and their sampling into particles ([`Sampled`]), terrains
//! ([`Terrain`]) and the areas of them whose snow comes loose ([`Release`]), the
//! camera's default framing ([`View`]) and the scenes that ship with the engine ([`builtin`]).
//!
//! Here will never live: a device, a buffer, a step of a solver, or anything that changes while a simulation runs.
//!
//! Lengths are metres, times seconds, masses kilograms, angles degrees; keys carry their unit. Vectors are `[x, y, z]`.
//! Every number a scene may leave out has its default in one place: the `Default` of its section in `scene.rs`.

mod advice;
mod body;
mod builtin;
mod camera;
mod cells;
mod collider;
mod conduction;
mod dem;
mod error;
mod every;
mod grain_sampling;
mod load;
mod load_ground;
mod loaded;
mod mesh_file;
mod mpm;
mod obstacle;
mod outline;
mod polygon;
mod polygon_file;
mod random_packing;
mod reader;
mod release;
mod release_sampling;
mod sample;
mod scale;
mod scene;
mod shape;
mod slab;
mod slab_pieces;
mod slab_placement;
mod slab_points;
mod slab_time;
mod snow;
mod source;
mod terrain;
mod time_step;
mod tree;
mod triangle_mesh;
mod validate;
mod validate_body;
mod validate_collider;
mod validate_dem;
mod validate_mpm;
mod validate_snow;

pub use advice::Advice;
pub use body::*;
pub use builtin::{Builtin, builtin};
pub use camera::View;
pub use collider::{Collider, Motion, Side, box_axes};
pub use dem::*;
pub use error::SceneError;
pub use every::{Every, EveryError};
pub use loaded::Loaded;
pub use mpm::*;
pub use obstacle::*;
pub use outline::Outline;
pub use polygon::Polygon;
pub use release::*;
pub use sample::Sampled;
pub use scene::*;
pub use shape::{Axis, Shape};
pub use slab::*;
pub use slab_pieces::{SampledSlabs, SlabLink, SlabPiece};
pub use snow::*;
pub use source::{Location, Place};
pub use terrain::{Generated, MAX_HEIGHTS, Terrain, TerrainSource};
pub use time_step::TimeStep;
pub use triangle_mesh::TriangleMesh;
pub use validate::MAX_PARTICLES;

/// A point or vector, `[x, y, z]`.
pub type Vec3 = [f64; 3];

/// JSON Schema of the scene file, for editors and for checking scenes that other programs write.
pub fn json_schema() -> serde_json::Value {
    schemars::schema_for!(Scene).to_value()
}
