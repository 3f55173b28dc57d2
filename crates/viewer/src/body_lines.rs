//! The outlines of `[[bodies]]`: where they are at a time. Solid balls are drawn whole, as those of colliders.

use crate::outline::{height_lines, plane};
use frazil_render::WireBox;
use frazil_render::glam::{DVec3, Vec3};
use frazil_scene::{Body, BodyShape, Scene, Side, TriangleMesh, box_axes};
use frazil_solvers::BodyPose;
use std::collections::HashMap;
use std::f64::consts::TAU;

/// Chords that a circle is drawn by.
const CHORDS: u32 = 48;

/// Edges of a mesh are drawn where its faces turn by more than this.
const CREASE_COS: f64 = 0.95;

/// The outlines of a scene's bodies at a time in s.
pub fn outlines(scene: &Scene, time_s: f64) -> Vec<WireBox> {
    scene.bodies.iter().flat_map(|body| outline(scene, body, time_s)).collect()
}

/// Solid balls among a scene's bodies at a time in s: centre and radius in m.
pub fn balls(scene: &Scene, time_s: f64) -> impl Iterator<Item = (Vec3, f32)> {
    scene.bodies.iter().filter(|body| body.side == Side::Outside).filter_map(move |body| match &body.shape {
        BodyShape::Sphere { centre_m, radius_m } => {
            let pose = BodyPose::at(body.motion.as_ref(), time_s);
            Some((pose.apply(DVec3::from_array(*centre_m)).as_vec3(), *radius_m as f32))
        }
        _ => None,
    })
}

fn outline(scene: &Scene, body: &Body, time_s: f64) -> Vec<WireBox> {
    let pose = BodyPose::at(body.motion.as_ref(), time_s);
    let line = |a: DVec3, b: DVec3| WireBox::line(pose.apply(a).as_vec3(), pose.apply(b).as_vec3());
    let circle = |middle: DVec3, [u, v]: [DVec3; 2]| -> Vec<WireBox> {
        let at = |chord: u32| {
            let (sin, cos) = (TAU * f64::from(chord) / f64::from(CHORDS)).sin_cos();
            middle + cos * u + sin * v
        };
        (0..CHORDS).map(|chord| line(at(chord), at(chord + 1))).collect()
    };
    match &body.shape {
        BodyShape::Plane { point_m, normal } => {
            let point = pose.apply(DVec3::from_array(*point_m)).as_vec3();
            plane(scene, point, (pose.rotation * DVec3::from_array(*normal)).as_vec3())
        }
        // Drawn whole, unless it holds particles.
        BodyShape::Sphere { .. } if body.side == Side::Outside => Vec::new(),
        BodyShape::Sphere { centre_m, radius_m } => {
            let circles = [[0, 1], [1, 2], [2, 0]].map(|axes| axes.map(|axis| *radius_m * DVec3::AXES[axis]));
            circles.into_iter().flat_map(|axes| circle(DVec3::from_array(*centre_m), axes)).collect()
        }
        BodyShape::Box { centre_m, size_m, rotation_deg } => {
            let depth_m = if scene.n_dimensions() == 2 { 0.0 } else { size_m[2] };
            let axes = box_axes(*rotation_deg).map(DVec3::from_array);
            let edges = [axes[0] * size_m[0], axes[1] * size_m[1], axes[2] * depth_m];
            let corner = DVec3::from_array(*centre_m) - 0.5 * (edges[0] + edges[1] + edges[2]);
            let edges = edges.map(|edge| (pose.rotation * edge).as_vec3());
            vec![WireBox { corner: pose.apply(corner).as_vec3(), edges }]
        }
        BodyShape::Cylinder { from_m, to_m, radius_m } | BodyShape::Capsule { from_m, to_m, radius_m } => {
            let ends = [from_m, to_m].map(|end| DVec3::from_array(*end));
            let axis = (ends[1] - ends[0]).normalize();
            let (u, v) = axis.any_orthonormal_pair();
            let [u, v, w] = [u, v, axis].map(|side| *radius_m * side);
            let mut lines: Vec<WireBox> = ends.iter().flat_map(|end| circle(*end, [u, v])).collect();
            lines.extend([u, v, -u, -v].map(|side| line(ends[0] + side, ends[1] + side)));
            if matches!(body.shape, BodyShape::Capsule { .. }) {
                lines.extend(
                    ends.iter().flat_map(|end| [[u, w], [v, w]].map(|axes| circle(*end, axes))).flatten(),
                );
            }
            lines
        }
        BodyShape::Mesh { scale, offset_m, .. } => {
            let place = |v: [f64; 3]| DVec3::from_array(*offset_m) + *scale * DVec3::from_array(v);
            let creases = body.mesh().map(creases).unwrap_or_default();
            creases.into_iter().map(|[a, b]| line(place(a), place(b))).collect()
        }
        BodyShape::Heightfield { origin_m, spacing_m, heights_m, .. } => {
            let (level, up) = (scene.up_axis.horizontal(), scene.up_axis.index());
            let at = |i: usize, j: usize| {
                let mut point = DVec3::ZERO;
                point[level[0]] = origin_m[0] + i as f64 * spacing_m;
                if scene.n_dimensions() == 3 {
                    point[level[1]] = origin_m[1] + j as f64 * spacing_m;
                }
                point[up] = heights_m[j][i];
                Some(pose.apply(point).as_vec3())
            };
            height_lines([heights_m.first().map_or(0, Vec::len), heights_m.len()], at)
        }
        _ => Vec::new(),
    }
}

/// The edges of a mesh at which its faces turn.
fn creases(mesh: &TriangleMesh) -> Vec<[[f64; 3]; 2]> {
    let mut normals: HashMap<[u32; 2], Vec<DVec3>> = HashMap::new();
    for triangle in mesh.triangles() {
        let [a, b, c] = triangle.map(|vertex| DVec3::from_array(mesh.vertices()[vertex as usize]));
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for k in 0..3 {
            let ends = [triangle[k], triangle[(k + 1) % 3]];
            let edge = [ends[0].min(ends[1]), ends[0].max(ends[1])];
            normals.entry(edge).or_default().push(normal);
        }
    }
    let mut edges: Vec<[u32; 2]> = normals
        .into_iter()
        .filter(|(_, normals)| !matches!(normals[..], [a, b] if a.dot(b) > CREASE_COS))
        .map(|(edge, _)| edge)
        .collect();
    edges.sort_unstable();
    edges.into_iter().map(|edge| edge.map(|vertex| mesh.vertices()[vertex as usize])).collect()
}
