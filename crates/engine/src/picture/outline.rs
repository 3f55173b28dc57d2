//! Outlines of colliders at a given time, clipped to the domain.

use super::space::vec3;
use frazil_render::WireBox;
use frazil_render::glam::Vec3;
use frazil_scene::{Collider, Scene, box_axes};

/// Maximum number of lines in each of the two directions of a heightfield.
const HEIGHT_LINES: usize = 64;

/// Returns the outlines of a scene's boxes, planes and heightfields at a time in s.
pub fn outlines(scene: &Scene, time_s: f64) -> Vec<WireBox> {
    scene.colliders.iter().flat_map(|collider| outline(scene, collider, time_s)).collect()
}

fn wire_box(centre: Vec3, size_m: [f64; 3], rotation_deg: [f64; 3]) -> WireBox {
    let axes = box_axes(rotation_deg).map(vec3);
    let edges: [Vec3; 3] = std::array::from_fn(|axis| axes[axis] * size_m[axis] as f32);
    WireBox { corner: centre - 0.5 * (edges[0] + edges[1] + edges[2]), edges }
}

/// Returns lines through a heightfield in both directions, at most [`HEIGHT_LINES`] of each; none where a
/// height is unknown.
pub fn height_lines(n: [usize; 2], at: impl Fn(usize, usize) -> Option<Vec3>) -> Vec<WireBox> {
    let strides = n.map(|n| n.div_ceil(HEIGHT_LINES).max(1));
    let line = |a: (usize, usize), b: (usize, usize)| Some(WireBox::line(at(a.0, a.1)?, at(b.0, b.1)?));
    let mut lines = Vec::new();
    for j in (0..n[1]).step_by(strides[1]) {
        let row = (0..n[0]).step_by(strides[0]);
        lines.extend(row.clone().zip(row.skip(1)).filter_map(|(i, next)| line((i, j), (next, j))));
    }
    for i in (0..n[0]).step_by(strides[0]) {
        let column = (0..n[1]).step_by(strides[1]);
        lines.extend(column.clone().zip(column.skip(1)).filter_map(|(j, next)| line((i, j), (i, next))));
    }
    lines
}

/// Returns the displacement of a collider, in m.
pub fn offset(collider: &Collider, time_s: f64) -> Vec3 {
    collider.motion().map_or(Vec3::ZERO, |motion| vec3(motion.offset_m(time_s)))
}

fn outline(scene: &Scene, collider: &Collider, time_s: f64) -> Vec<WireBox> {
    let moved = offset(collider, time_s);
    match collider {
        Collider::Box { centre_m, size_m, rotation_deg, .. } => {
            // A plane cuts a box to a rectangle.
            let depth_m = if scene.n_dimensions() == 2 { 0.0 } else { size_m[2] };
            vec![wire_box(vec3(*centre_m) + moved, [size_m[0], size_m[1], depth_m], *rotation_deg)]
        }
        Collider::Plane { point_m, normal, .. } => plane(scene, vec3(*point_m) + moved, vec3(*normal)),
        Collider::Heightfield { origin_m, spacing_m, heights_m, .. } => {
            let (level, up) = (scene.up_axis.horizontal(), scene.up_axis.index());
            let at = |i: usize, j: usize| {
                let mut point = Vec3::ZERO;
                point[level[0]] = (origin_m[0] + i as f64 * spacing_m) as f32;
                point[level[1]] =
                    if scene.n_dimensions() == 2 { 0.0 } else { (origin_m[1] + j as f64 * spacing_m) as f32 };
                point[up] = heights_m[j][i] as f32;
                Some(point + moved)
            };
            height_lines([heights_m.first().map_or(0, Vec::len), heights_m.len()], at)
        }
        // Spheres are drawn as solids; a container would hide its contents.
        _ => Vec::new(),
    }
}

/// Returns the intersection of a plane with the domain: lines between the points at which it cuts the edges
/// of one face.
pub fn plane(scene: &Scene, point: Vec3, normal: Vec3) -> Vec<WireBox> {
    let (lo, hi) = (vec3(scene.domain.min_m), vec3(scene.domain.max_m));
    let corner = |bits: usize| Vec3::from_array(std::array::from_fn(|axis| [lo, hi][bits >> axis & 1][axis]));
    let height = |x: Vec3| (x - point).dot(normal);
    let cut = |a: Vec3, b: Vec3| {
        let (above, below) = (height(a), height(b));
        ((above < 0.0) != (below < 0.0)).then(|| a.lerp(b, above / (above - below)))
    };
    // A 2D domain has one face, a 3D domain six.
    let faces: Vec<[usize; 4]> = (0..3)
        .filter(|axis| scene.n_dimensions() == 3 || *axis == 2)
        .flat_map(|axis| {
            let [u, v] = [1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3)];
            let sides = if scene.n_dimensions() == 3 { vec![0, 1 << axis] } else { vec![0] };
            sides.into_iter().map(move |side| [side, side | u, side | u | v, side | v])
        })
        .collect();
    let line_on = |face: &[usize; 4]| {
        let mut cuts = (0..4).filter_map(|k| cut(corner(face[k]), corner(face[(k + 1) % 4])));
        Some(WireBox::line(cuts.next()?, cuts.next()?))
    };
    faces.iter().filter_map(line_on).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(dimensions: &str, collider: &str) -> Scene {
        let scene = if dimensions == "2" { "ramps" } else { "snowballs_3d" };
        let colliders = format!("colliders=[{{{collider}}}]");
        Scene::find(scene, &[colliders, "scale=0.5".to_owned()]).unwrap()
    }

    #[test]
    fn a_plane_is_drawn_where_it_cuts_the_domain() {
        let flat = scene("2", "plane={point_m=[0,0.1,0],normal=[0,1,0]}");
        let lines = outlines(&flat, 0.0);
        assert_eq!(lines.len(), 1);
        assert!(lines.iter().all(|line| (line.corner.y - 0.05).abs() < 1e-6 && line.edges[0].y.abs() < 1e-6));
        let solid = scene("3", "plane={point_m=[0,0.1,0],normal=[0,1,0]}");
        assert_eq!(outlines(&solid, 0.0).len(), 4);
    }

    #[test]
    fn a_body_that_moves_is_drawn_where_it_is() {
        let motion = "motion={velocity_m_s=[1,0,0],from_s=1.0,until_s=2.0}";
        let moving = scene("2", &format!("box={{centre_m=[0.5,0.1,0],size_m=[0.2,0.1,1],{motion}}}"));
        let at = |time_s| outlines(&moving, time_s)[0].corner.x;
        let motion = moving.colliders[0].motion().unwrap();
        assert_eq!(at(0.0), at(motion.from_s));
        let distance = at(1e3) - at(0.0);
        assert!((f64::from(distance) - (motion.until_s.unwrap() - motion.from_s)).abs() < 1e-6, "{distance}");
    }
}
