//! Shapes: regions of space, polygons, outlines of text, and meshes.

pub(crate) mod blue_noise;
#[cfg(test)]
mod mesh_tests;
mod orientation;
pub(crate) mod outline;
pub(crate) mod point_cloud;
pub(crate) mod polygon;
pub(crate) mod shape;
pub(crate) mod triangle_mesh;

pub use outline::Outline;
pub use point_cloud::PointCloud;
pub use polygon::Polygon;
pub use shape::{Axis, Shape};
pub use triangle_mesh::TriangleMesh;
