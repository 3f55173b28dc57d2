//! Validation of the parts of a scene that every solver knows.

mod bodies;
mod joints;
mod render;
mod scene;
mod sources;
mod speeds;
