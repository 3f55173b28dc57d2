//! Triangles of a closed mesh with their pseudo-normals.

use glam::DVec3;

/// Reason why triangles do not form a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshProblem(pub String);

/// Triangle with its pseudo-normals.
pub(super) struct Triangle {
    pub corners: [DVec3; 3],
    pub face: DVec3,
    /// Edge from each corner to the next.
    pub edges: [DVec3; 3],
    pub ends: [DVec3; 3],
}

impl Triangle {
    /// Returns the mean of the corners.
    pub fn centre(&self) -> DVec3 {
        self.corners.iter().sum::<DVec3>() / 3.0
    }

    /// Returns the offset of a position from the nearest point, and the pseudo-normal there.
    pub fn nearest(&self, x: DVec3) -> (DVec3, DVec3) {
        let next = |k: usize| self.corners[(k + 1) % 3];
        let is_above =
            (0..3).all(|k| self.face.cross(next(k) - self.corners[k]).dot(x - self.corners[k]) >= 0.0);
        if is_above {
            return (self.face.dot(x - self.corners[0]) * self.face, self.face);
        }
        let on_edge = |k: usize| {
            let (from, way) = (self.corners[k], next(k) - self.corners[k]);
            let share = ((x - from).dot(way) / way.length_squared()).clamp(0.0, 1.0);
            let normal = match share {
                0.0 => self.ends[k],
                1.0 => self.ends[(k + 1) % 3],
                _ => self.edges[k],
            };
            (x - from - share * way, normal)
        };
        let edges = [on_edge(0), on_edge(1), on_edge(2)];
        edges
            .into_iter()
            .min_by(|a, b| a.0.length_squared().total_cmp(&b.0.length_squared()))
            .unwrap_or_default()
    }
}

/// Computes pseudo-normals: of a face its normal; of an edge the sum of those of its two faces; of a corner
/// the sum of those of its faces, each weighted by its angle there (`Baerentzen2005`).
pub(super) fn with_pseudo_normals(
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
) -> Result<Vec<Triangle>, MeshProblem> {
    let at = |vertex: u32| vertices[vertex as usize];
    let volume: f64 = triangles.iter().map(|t| at(t[0]).dot(at(t[1]).cross(at(t[2])))).sum();
    let outwards = volume.signum();
    let mut at_edge = std::collections::HashMap::<[u32; 2], DVec3>::new();
    let mut at_corner = vec![DVec3::ZERO; vertices.len()];
    let edge = |t: &[u32; 3], k: usize| {
        let (a, b) = (t[k], t[(k + 1) % 3]);
        [a.min(b), a.max(b)]
    };
    let mut normals = Vec::with_capacity(triangles.len());
    for t in triangles {
        let [a, b, c] = t.map(at);
        let face = outwards
            * (b - a).cross(c - a).try_normalize().ok_or_else(|| {
                let place = |v: DVec3| format!("[{:.6}, {:.6}, {:.6}]", v.x, v.y, v.z);
                MeshProblem(format!("a triangle without area about {}", place(at(t[0]))))
            })?;
        normals.push(face);
        for k in 0..3 {
            *at_edge.entry(edge(t, k)).or_default() += face;
            let (to, from) = (at(t[(k + 1) % 3]) - at(t[k]), at(t[(k + 2) % 3]) - at(t[k]));
            at_corner[t[k] as usize] += to.angle_between(from) * face;
        }
    }
    Ok(triangles
        .iter()
        .zip(normals)
        .map(|(t, face)| Triangle {
            corners: t.map(at),
            face,
            edges: std::array::from_fn(|k| at_edge[&edge(t, k)].normalize_or(face)),
            ends: t.map(|vertex| at_corner[vertex as usize].normalize_or(face)),
        })
        .collect())
}
