//! The `[[bodies]]`: solids and containers that particles of every solver collide with.

mod body;
mod motion;
mod shape;

pub use body::Body;
pub use motion::{BodyMotion, Keyframe};
pub use shape::BodyShape;
