//! Closed meshes for tests, and their device form.

use frazil_reference::uniform_bodies::Mesh;
use frazil_shaders::types::Body;
use frazil_solvers::mesh_body;
use glam::DVec3;

/// Maximum distance from a mesh that tests query, in m.
const REACH_M: f64 = 0.12;

/// Creates a box with faces parallel to the axes, of two triangles each.
pub fn box_mesh(min_m: DVec3, max_m: DVec3) -> Mesh {
    prism(&[[min_m.x, min_m.y], [max_m.x, min_m.y], [max_m.x, max_m.y], [min_m.x, max_m.y]], min_m.z, max_m.z)
}

/// Creates a prism by extruding a polygon in x and y from one z to another. The polygon is counter-clockwise,
/// and all of it is visible from its first corner.
pub fn prism(outline_m: &[[f64; 2]], from_z_m: f64, to_z_m: f64) -> Mesh {
    let n = outline_m.len();
    let at = |k: usize, z: f64| DVec3::new(outline_m[k % n][0], outline_m[k % n][1], z);
    let mut triangles_m = Vec::new();
    for k in 0..n {
        let (a, b) = ([at(k, from_z_m), at(k, to_z_m)], [at(k + 1, from_z_m), at(k + 1, to_z_m)]);
        triangles_m.push([a[0], b[0], b[1]]);
        triangles_m.push([a[0], b[1], a[1]]);
        if (1..n - 1).contains(&k) {
            triangles_m.push([at(0, to_z_m), at(k, to_z_m), at(k + 1, to_z_m)]);
            triangles_m.push([at(0, from_z_m), at(k + 1, from_z_m), at(k, from_z_m)]);
        }
    }
    Mesh { triangles_m }
}

/// Creates a ball: an octahedron whose faces are divided into n².
pub fn ball_mesh(centre_m: DVec3, radius_m: f64, n: i32) -> Mesh {
    let mut triangles_m = Vec::new();
    for signs in 0..8 {
        let sign = DVec3::from_array([1, 2, 4].map(|bit| if signs & bit == 0 { 1.0 } else { -1.0 }));
        let at = |i: i32, j: i32| {
            let share = DVec3::new(f64::from(i), f64::from(j), f64::from(n - i - j)).normalize();
            (centre_m + radius_m * sign * share).as_vec3().as_dvec3()
        };
        let mut push = |a: DVec3, b: DVec3, c: DVec3| {
            triangles_m.push(if sign.element_product() > 0.0 { [a, b, c] } else { [a, c, b] });
        };
        for i in 0..n {
            for j in 0..n - i {
                push(at(i, j), at(i + 1, j), at(i, j + 1));
                if i + j + 2 <= n {
                    push(at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
                }
            }
        }
    }
    Mesh { triangles_m }
}

/// Converts a mesh at rest to its device form; its data are appended to `body_data`.
///
/// # Panics
/// If the mesh is not a valid body.
pub fn device_mesh(mesh: &Mesh, body_data: &mut Vec<f32>) -> Body {
    convert(mesh, None, body_data)
}

/// Like [`device_mesh`], with the boundary map for a kernel of support `h_m`.
///
/// # Panics
/// If the mesh is not a valid body.
pub fn device_mesh_with_map(mesh: &Mesh, h_m: f64, body_data: &mut Vec<f32>) -> Body {
    convert(mesh, Some(h_m), body_data)
}

#[allow(clippy::expect_used)]
fn convert(mesh: &Mesh, support_m: Option<f64>, body_data: &mut Vec<f32>) -> Body {
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    let mut number = |corner: DVec3| {
        let corner = corner.to_array();
        let found = vertices.iter().position(|v| *v == corner);
        found.unwrap_or_else(|| {
            vertices.push(corner);
            vertices.len() - 1
        }) as u32
    };
    let triangles: Vec<[u32; 3]> = mesh.triangles_m.iter().map(|t| t.map(&mut number)).collect();
    mesh_body(&vertices, &triangles, REACH_M, support_m, body_data).expect("a sound mesh")
}
