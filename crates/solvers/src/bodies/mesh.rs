//! Closed meshes as `common/mesh.glsl` reads them: a tree of boxes over triangles with their pseudo-normals.

use super::boundary_map::append_boundary_map;
use frazil_scene::{MAX_OBSTACLE_TRIANGLES, Vec3};
use frazil_shaders::common::body::MESH;
use frazil_shaders::types::Body;
use glam::DVec3;

/// Maximum number of triangles in a leaf.
const LEAF_TRIANGLES: usize = 2;

/// Reason why triangles do not form a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshProblem(pub String);

/// Triangle with its pseudo-normals.
pub(super) struct Triangle {
    pub corners: [DVec3; 3],
    face: DVec3,
    /// Edge from each corner to the next.
    edges: [DVec3; 3],
    ends: [DVec3; 3],
}

impl Triangle {
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

/// Makes a body, at rest and without friction, from a closed mesh with consistent orientation; its tree and
/// triangles are appended to `heights_m`.
///
/// Within `reach_m` of its bounding box, distances to it are exact to rounding; farther away they are a lower
/// bound above `reach_m`, so that a query for nothing nearer need not visit triangles.
///
/// With a kernel of support `support_m` its boundary map is appended, too.
///
/// # Errors
/// No triangles, or too many; a triangle without area.
pub fn mesh_body(
    vertices_m: &[Vec3],
    triangles: &[[u32; 3]],
    reach_m: f64,
    support_m: Option<f64>,
    heights_m: &mut Vec<f32>,
) -> Result<Body, MeshProblem> {
    let n = triangles.len();
    if !(1..=MAX_OBSTACLE_TRIANGLES).contains(&n) {
        return Err(MeshProblem(format!("{n} triangles")));
    }
    let vertices: Vec<DVec3> = vertices_m.iter().map(|v| DVec3::from_array(*v)).collect();
    let least = vertices.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let greatest = vertices.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    // Rounded to f32 as on the device, so that coordinates relative to it are exact.
    let middle = (0.5 * (least + greatest)).as_vec3();
    let local: Vec<DVec3> = vertices.iter().map(|v| *v - middle.as_dvec3()).collect();
    let mut faces = with_pseudo_normals(&local, triangles)?;
    let levels = n.div_ceil(LEAF_TRIANGLES).next_power_of_two().ilog2();

    let first_height = heights_m.len() as u32;
    heights_m.push(reach_m as f32);
    let mut order: Vec<usize> = (0..n).collect();
    for level in 0..=levels {
        for node in 0..1_usize << level {
            let (begin, end) = ((node * n) >> level, ((node + 1) * n) >> level);
            let part = &mut order[begin..end];
            let box_of = |of: &dyn Fn(&Triangle) -> [DVec3; 2]| {
                part.iter().fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |about, &idx| {
                    let [low, high] = of(&faces[idx]);
                    [about[0].min(low), about[1].max(high)]
                })
            };
            let [low, high] = box_of(&|t| {
                let [a, b, c] = t.corners;
                [a.min(b).min(c), a.max(b).max(c)]
            });
            push(heights_m, low);
            push(heights_m, high);
            // Splits triangles in halves along the axis of the widest spread of centres, ties by number.
            let [low, high] = box_of(&|t| [centre(t); 2]);
            let extent = high - low;
            let axis = (0..3).fold(0, |best, axis| if extent[axis] > extent[best] { axis } else { best });
            let middle = ((2 * node + 1) * n) >> (level + 1);
            if level < levels && middle > begin && middle < end {
                part.select_nth_unstable_by(middle - begin, |&a, &b| {
                    centre(&faces[a])[axis].total_cmp(&centre(&faces[b])[axis]).then(a.cmp(&b))
                });
            }
        }
    }
    for &idx in &order {
        let Triangle { corners, face, edges, ends } = &mut faces[idx];
        corners.iter().for_each(|&corner| push(heights_m, corner));
        push(heights_m, *face);
        edges.iter().chain(ends.iter()).for_each(|&normal| push(heights_m, normal));
    }
    let first_map = support_m.map_or(0, |h_m| append_boundary_map(&faces, h_m, heights_m));
    let half = local.iter().fold(DVec3::ZERO, |half, v| half.max(v.abs()));
    Ok(Body {
        kind: MESH,
        origin_m: middle.to_array(),
        extent: (half + reach_m).as_vec3().to_array(),
        rotation: [0.0, 0.0, 0.0, 1.0],
        first_height,
        n_heights: [levels, n as u32],
        first_map,
        ..bytemuck::Zeroable::zeroed()
    })
}

fn push(numbers: &mut Vec<f32>, v: DVec3) {
    numbers.extend(v.as_vec3().to_array());
}

fn centre(triangle: &Triangle) -> DVec3 {
    triangle.corners.iter().sum::<DVec3>() / 3.0
}

/// Computes pseudo-normals: of a face its normal; of an edge the sum of those of its two faces; of a corner
/// the sum of those of its faces, each weighted by its angle there (`Baerentzen2005`).
fn with_pseudo_normals(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<Vec<Triangle>, MeshProblem> {
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
