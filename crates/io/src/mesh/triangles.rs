//! Surface of triangles, and the check of whether it can be written.

use crate::frame::{Column, check_columns};

/// Triangles, with a normal at each vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mesh<'a> {
    /// Positions of vertices, in m.
    pub position: &'a [[f32; 3]],
    /// Unit normals of vertices, one per position.
    pub normal: &'a [[f32; 3]],
    /// Vertex indices of each triangle, counted from 0, counter-clockwise seen from outside.
    pub triangles: &'a [[u32; 3]],
    /// Properties of vertices, one value per position, which only PLY holds.
    pub attributes: &'a [Column],
}

impl Mesh<'_> {
    /// Returns what no format can represent, or no program could read.
    pub(super) fn problem(&self) -> Option<String> {
        let n = self.position.len();
        if self.normal.len() != n {
            return Some(format!("{} normals, expected one for each of {n} vertices", self.normal.len()));
        }
        if u32::try_from(n).is_err() || u32::try_from(self.triangles.len()).is_err() {
            let max = u32::MAX;
            return Some(format!(
                "{n} vertices and {} triangles, expected at most {max}",
                self.triangles.len()
            ));
        }
        if let Err(error) = check_columns(self.attributes, n) {
            return Some(error.to_string());
        }
        let is_odd = |vectors: &[[f32; 3]]| vectors.iter().position(|v| v.iter().any(|x| !x.is_finite()));
        for (name, vectors) in [("position", self.position), ("normal", self.normal)] {
            if let Some(i) = is_odd(vectors) {
                return Some(format!("{name} {:?} of vertex {i}, expected finite numbers", vectors[i]));
            }
        }
        let beyond = |triangle: &[u32; 3]| triangle.iter().any(|v| *v as usize >= n);
        let i = self.triangles.iter().position(beyond)?;
        Some(format!("triangle {i} has the vertices {:?}, expected numbers below {n}", self.triangles[i]))
    }
}
