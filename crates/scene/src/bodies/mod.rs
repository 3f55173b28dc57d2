//! The `[[bodies]]`: solids and containers that particles of every solver collide with.

mod body;
mod distance;
mod motion;
mod shape;

pub use body::{Body, Side};
pub use distance::box_axes;
pub use motion::{BodyMotion, Keyframe, Motion};
pub use shape::{BodyShape, MAX_BODY_TRIANGLES};
