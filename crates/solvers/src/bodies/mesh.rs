//! Closed meshes as `common/mesh.glsl` reads them: a tree of boxes over triangles with their pseudo-normals.

use super::boundary_map::append_boundary_map;
use super::triangle::{MeshProblem, Triangle, with_pseudo_normals};
use frazil_scene::{MAX_BODY_TRIANGLES, Vec3};
use frazil_shaders::common::body::MESH;
use frazil_shaders::types::Body;
use glam::DVec3;

/// Maximum number of triangles in a leaf.
const LEAF_TRIANGLES: usize = 2;

/// Makes a body, at rest and without friction, from a closed mesh with consistent orientation; its tree and
/// triangles are appended to `body_data`.
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
    body_data: &mut Vec<f32>,
) -> Result<Body, MeshProblem> {
    let n = triangles.len();
    if !(1..=MAX_BODY_TRIANGLES).contains(&n) {
        return Err(MeshProblem(format!("{n} triangles")));
    }
    let vertices: Vec<DVec3> = vertices_m.iter().map(|v| DVec3::from_array(*v)).collect();
    let lower = vertices.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let upper = vertices.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    // Rounded to f32 as on the device, so that coordinates relative to it are exact.
    let middle = (0.5 * (lower + upper)).as_vec3();
    let local: Vec<DVec3> = vertices.iter().map(|v| *v - middle.as_dvec3()).collect();
    let mut faces = with_pseudo_normals(&local, triangles)?;
    let levels = n.div_ceil(LEAF_TRIANGLES).next_power_of_two().ilog2();

    let first_height = body_data.len() as u32;
    body_data.push(reach_m as f32);
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
            push(body_data, low);
            push(body_data, high);
            // Splits triangles in halves along the axis of the widest spread of centres, ties by number.
            let [low, high] = box_of(&|t| [t.centre(); 2]);
            let extent = high - low;
            let axis = (0..3).fold(0, |best, axis| if extent[axis] > extent[best] { axis } else { best });
            let middle = ((2 * node + 1) * n) >> (level + 1);
            if level < levels && middle > begin && middle < end {
                part.select_nth_unstable_by(middle - begin, |&a, &b| {
                    faces[a].centre()[axis].total_cmp(&faces[b].centre()[axis]).then(a.cmp(&b))
                });
            }
        }
    }
    for &idx in &order {
        let Triangle { corners, face, edges, ends } = &mut faces[idx];
        corners.iter().for_each(|&corner| push(body_data, corner));
        push(body_data, *face);
        edges.iter().chain(ends.iter()).for_each(|&normal| push(body_data, normal));
    }
    let first_map = support_m.map_or(0, |h_m| append_boundary_map(&faces, h_m, body_data));
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
