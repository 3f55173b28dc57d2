//! Surfaces of dynamic bodies as polyhedra, which pictures draw at the poses of the solver.

use frazil_render::PieceShapes;
use frazil_render::glam::DVec3;
use frazil_scene::{Body, BodyShape, Scene, box_axes};
use frazil_vk::Device;
use std::f64::consts::{PI, TAU};

/// Numbers of faces around a round body and from pole to pole.
const N_AROUND: u32 = 32;
const N_ALONG: u32 = 16;

/// Uploads the surfaces of a scene's dynamic bodies, in their order; `None` for a scene without any. Set-up:
/// it waits for the device.
pub fn shapes(device: &Device, scene: &Scene) -> frazil_render::Result<Option<PieceShapes>> {
    let solids = polyhedra(scene);
    if solids.is_empty() {
        return Ok(None);
    }
    let narrow = |corner: &[f64; 3]| corner.map(|x| x as f32);
    let pieces =
        solids.iter().map(|solid| (solid.corners_m.iter().map(narrow).collect(), solid.faces.as_slice()));
    PieceShapes::new(device, pieces).map(Some)
}

/// Returns the surfaces of a scene's dynamic bodies, in their order.
pub fn polyhedra(scene: &Scene) -> Vec<Polyhedron> {
    scene.bodies.iter().filter_map(polyhedron).collect()
}

/// Closed surface of a body at time 0, round ones as polyhedra.
pub struct Polyhedron {
    /// Corners from the centre of mass, in m.
    pub corners_m: Vec<[f64; 3]>,
    /// Corners of each face, counter-clockwise seen from outside.
    pub faces: Vec<Vec<u32>>,
}

/// Returns the surface of a dynamic body at time 0; `None` for others.
fn polyhedron(body: &Body) -> Option<Polyhedron> {
    let centre_m = DVec3::from_array(body.mass()?.centre_m);
    let (corners_m, faces): (Vec<DVec3>, _) = match &body.shape {
        BodyShape::Sphere { centre_m, radius_m } => {
            let profile = |k: u32| {
                let (sin, cos) = (PI * f64::from(k) / f64::from(N_ALONG)).sin_cos();
                [radius_m * sin, -radius_m * cos]
            };
            turned(DVec3::from_array(*centre_m), DVec3::Y, (0..=N_ALONG).map(profile).collect())
        }
        BodyShape::Cylinder { from_m, to_m, radius_m } => {
            let (middle, axis, half_m) = along(from_m, to_m);
            turned(
                middle,
                axis,
                vec![[0.0, -half_m], [*radius_m, -half_m], [*radius_m, half_m], [0.0, half_m]],
            )
        }
        BodyShape::Capsule { from_m, to_m, radius_m } => {
            let (middle, axis, half_m) = along(from_m, to_m);
            let profile = |k: u32| {
                let (sin, cos) = (PI * f64::from(k) / f64::from(N_ALONG)).sin_cos();
                [radius_m * sin, -radius_m * cos + if 2 * k > N_ALONG { half_m } else { -half_m }]
            };
            let equator = [[*radius_m, half_m]];
            let rim =
                (0..=N_ALONG / 2).map(profile).chain(equator).chain((N_ALONG / 2 + 1..=N_ALONG).map(profile));
            turned(middle, axis, rim.collect())
        }
        BodyShape::Box { centre_m, size_m, rotation_deg } => {
            let axes = box_axes(*rotation_deg).map(DVec3::from_array);
            let corner = |bits: usize| {
                let side = |k: usize| axes[k] * size_m[k] * if bits >> k & 1 == 1 { 0.5 } else { -0.5 };
                DVec3::from_array(*centre_m) + side(0) + side(1) + side(2)
            };
            let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
            ((0..8).map(corner).collect(), faces.map(Vec::from).to_vec())
        }
        BodyShape::Mesh { scale, offset_m, .. } => {
            let mesh = body.mesh()?;
            let place = |v: &[f64; 3]| DVec3::from_array(*offset_m) + *scale * DVec3::from_array(*v);
            let faces = mesh.triangles().iter().map(|triangle| triangle.to_vec()).collect();
            (mesh.vertices().iter().map(place).collect(), faces)
        }
        _ => return None,
    };
    Some(Polyhedron {
        corners_m: corners_m.iter().map(|corner| (*corner - centre_m).to_array()).collect(),
        faces,
    })
}

fn along(from_m: &[f64; 3], to_m: &[f64; 3]) -> (DVec3, DVec3, f64) {
    let [from, to] = [from_m, to_m].map(|end| DVec3::from_array(*end));
    (0.5 * (from + to), (to - from).normalize(), 0.5 * (to - from).length())
}

/// Turns a profile of radii and places along an axis, from one pole to the other, about the axis.
fn turned(centre_m: DVec3, axis: DVec3, profile: Vec<[f64; 2]>) -> (Vec<DVec3>, Vec<Vec<u32>>) {
    let (u, v) = axis.any_orthonormal_pair();
    let mut corners_m = Vec::new();
    let mut rings: Vec<Vec<u32>> = Vec::new();
    for (k, [radius_m, at_m]) in profile.iter().enumerate() {
        let first = corners_m.len() as u32;
        // The poles have one corner each.
        let n = if k == 0 || k + 1 == profile.len() { 1 } else { N_AROUND };
        for k in 0..n {
            let (sin, cos) = (TAU * f64::from(k) / f64::from(N_AROUND)).sin_cos();
            let across_m = if n == 1 { DVec3::ZERO } else { *radius_m * (cos * u + sin * v) };
            corners_m.push(centre_m + *at_m * axis + across_m);
        }
        rings.push((first..first + n).collect());
    }
    let mut faces = Vec::new();
    for pair in rings.windows(2) {
        for k in 0..N_AROUND as usize {
            let at = |ring: &[u32], k: usize| ring[k % ring.len()];
            let [low, high] = [&pair[0], &pair[1]];
            let mut face = vec![at(low, k), at(low, k + 1), at(high, k + 1), at(high, k)];
            // Triangles at the poles.
            face.dedup();
            if face.first() == face.last() {
                face.pop();
            }
            faces.push(face);
        }
    }
    (corners_m, faces)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;

    /// Volume that the faces enclose, of which the sign is that of their orientation.
    fn volume_m3(solid: &Polyhedron) -> f64 {
        let corner = |face: &[u32], k: usize| DVec3::from_array(solid.corners_m[face[k] as usize]);
        let of = |face: &Vec<u32>| -> f64 {
            (2..face.len())
                .map(|k| corner(face, 0).dot(corner(face, k - 1).cross(corner(face, k))) / 6.0)
                .sum()
        };
        solid.faces.iter().map(of).sum()
    }

    #[test]
    fn surfaces_enclose_the_volume_of_the_body_and_face_outwards() {
        let axis = "from_m=[0,1,0],to_m=[0.2,1.1,0.1],radius_m=0.1";
        for shape in [
            "sphere={centre_m=[0,1,0],radius_m=0.1}".to_owned(),
            "box={centre_m=[0,1,0],size_m=[0.1,0.2,0.3],rotation_deg=[10,20,30]}".to_owned(),
            format!("cylinder={{{axis}}}"),
            format!("capsule={{{axis}}}"),
        ] {
            let body =
                format!("bodies=[{{name='it',shape={{{shape}}},motion={{dynamic={{density_kg_m3=500}}}}}}]");
            let wide = "domain={min_m=[-1,0,-1],max_m=[1,2,1]}".to_owned();
            let scene = Scene::find("drop", &[body, wide]).unwrap();
            let exact = scene.bodies[0].mass().unwrap().volume_m3;
            let found = volume_m3(&polyhedra(&scene)[0]);
            // Chords of 32 around and 16 along leave out 2 %.
            assert!((found / exact - 1.0).abs() < 0.02, "{shape}: {found} of {exact} m³");
        }
    }
}
