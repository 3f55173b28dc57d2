//! Validation of the parts of a scene that every solver knows.

mod bodies;
mod ground;
mod render;
mod scene;
