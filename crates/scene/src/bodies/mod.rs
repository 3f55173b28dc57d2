//! The `[[bodies]]`: solids and containers that particles of every solver collide with.

mod body;
mod distance;
mod joint;
mod mass;
mod motion;
mod shape;

pub use body::{Body, Side};
pub use distance::box_axes;
pub use joint::{Joint, JointKind, LinearMotor, MAX_JOINTS, RotaryMotor};
pub use mass::{BodyMass, MAX_DYNAMIC_BODIES, SurfaceFeature};
pub use motion::{BodyMotion, Dynamics, Keyframe, Motion};
pub use shape::{BodyShape, MAX_BODY_TRIANGLES};
