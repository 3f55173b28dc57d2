//! Outlines of bodies at a given time, of planes where they cut the domain.

use super::space::vec3;
use frazil_render::WireBox;
use frazil_render::glam::{DVec3, Vec3};
use frazil_scene::{Body, BodyShape, Scene, Side, TriangleMesh, box_axes};
use frazil_solvers::BodyPose;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Maximum number of lines in each of the two directions of a heightfield.
const HEIGHT_LINES: usize = 64;

/// Number of chords of a circle.
const N_CHORDS: u32 = 48;

/// Maximum cosine of the angle between the normals of two triangles whose common edge is drawn.
const CREASE_COS: f64 = 0.95;

/// Returns the outlines of a scene's bodies at a time in s, without those that are drawn as solids and those
/// that are dynamic.
pub fn outlines(scene: &Scene, time_s: f64) -> Vec<WireBox> {
    let is_lined = |body: &&Body| !is_solid_on_ground(scene, body) && body.dynamics().is_none();
    let lined = scene.bodies.iter().filter(is_lined);
    lined.flat_map(|body| outline(scene, body, time_s)).collect()
}

/// Returns true for a body that stands on the ground and is drawn as a solid: a box, an upright cylinder or a
/// mesh at rest.
pub fn is_solid_on_ground(scene: &Scene, body: &Body) -> bool {
    let is_drawn = matches!(
        body.shape,
        BodyShape::Box { .. } | BodyShape::UprightCylinder { .. } | BodyShape::Mesh { .. }
    );
    scene.ground().is_some() && is_drawn && body.side == Side::Outside && body.motion.is_none()
}

/// Returns the centres and radii in m of a scene's solid spheres at a time in s, without those that are
/// dynamic.
pub fn solid_spheres(scene: &Scene, time_s: f64) -> impl Iterator<Item = (Vec3, f32)> {
    let prescribed = scene.bodies.iter().filter(|body| body.dynamics().is_none());
    prescribed.filter_map(move |body| match (&body.shape, body.side) {
        (BodyShape::Sphere { centre_m, radius_m }, Side::Outside) => {
            let pose = BodyPose::at(body.motion.as_ref(), time_s);
            Some((pose.apply(DVec3::from_array(*centre_m)).as_vec3(), *radius_m as f32))
        }
        _ => None,
    })
}

fn outline(scene: &Scene, body: &Body, time_s: f64) -> Vec<WireBox> {
    let pose = BodyPose::at(body.motion.as_ref(), time_s);
    let is_flat = scene.n_dimensions() == 2;
    let line = |from: DVec3, to: DVec3| WireBox::line(pose.apply(from).as_vec3(), pose.apply(to).as_vec3());
    let circle = |centre: DVec3, [u, v]: [DVec3; 2]| -> Vec<WireBox> {
        let at = |chord: u32| {
            let (sin, cos) = (TAU * f64::from(chord) / f64::from(N_CHORDS)).sin_cos();
            centre + cos * u + sin * v
        };
        (0..N_CHORDS).map(|chord| line(at(chord), at(chord + 1))).collect()
    };
    match &body.shape {
        BodyShape::Plane { point_m, normal } => {
            let point = pose.apply(DVec3::from_array(*point_m)).as_vec3();
            plane(scene, point, (pose.rotation * DVec3::from_array(*normal)).as_vec3())
        }
        BodyShape::Sphere { centre_m, radius_m } if body.side == Side::Inside => {
            let circles = [[0, 1], [1, 2], [2, 0]].map(|axes| axes.map(|axis| *radius_m * DVec3::AXES[axis]));
            let n_circles = if is_flat { 1 } else { 3 };
            let centre = DVec3::from_array(*centre_m);
            circles.into_iter().take(n_circles).flat_map(|axes| circle(centre, axes)).collect()
        }
        BodyShape::Box { centre_m, size_m, rotation_deg } => {
            // A plane cuts a box to a rectangle.
            let depth_m = if is_flat { 0.0 } else { size_m[2] };
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
            let [u, v, w] = [u, v, axis].map(|direction| *radius_m * direction);
            let mut circles = vec![[u, v]];
            if matches!(body.shape, BodyShape::Capsule { .. }) {
                circles.extend([[u, w], [v, w]]);
            }
            let mut lines: Vec<WireBox> = Vec::new();
            for end in ends {
                circles.iter().for_each(|axes| lines.extend(circle(end, *axes)));
            }
            lines.extend([u, v, -u, -v].map(|side| line(ends[0] + side, ends[1] + side)));
            lines
        }
        BodyShape::UprightCylinder { foot_m, radius_m, height_m } => {
            let (level, up) = (scene.up_axis.horizontal(), scene.up_axis.index());
            let mut foot = DVec3::ZERO;
            (foot[level[0]], foot[level[1]], foot[up]) = (foot_m[0], foot_m[1], scene.foot_height_m(*foot_m));
            let top = foot + *height_m * DVec3::AXES[up];
            let [u, v] = level.map(|axis| *radius_m * DVec3::AXES[axis]);
            let sides = [u, v, -u, -v].map(|side| line(foot + side, top + side));
            [foot, top].into_iter().flat_map(|end| circle(end, [u, v])).chain(sides).collect()
        }
        BodyShape::Mesh { scale, offset_m, .. } => {
            let place = |vertex: [f64; 3]| DVec3::from_array(*offset_m) + *scale * DVec3::from_array(vertex);
            let creases = body.mesh().map(creases).unwrap_or_default();
            creases.into_iter().map(|[from, to]| line(place(from), place(to))).collect()
        }
        BodyShape::Heightfield { origin_m, spacing_m, heights_m, .. } => {
            let (level, up) = (scene.up_axis.horizontal(), scene.up_axis.index());
            let at = |i: usize, j: usize| {
                let mut point = DVec3::ZERO;
                point[level[0]] = origin_m[0] + i as f64 * spacing_m;
                point[level[1]] = if is_flat { 0.0 } else { origin_m[1] + j as f64 * spacing_m };
                point[up] = heights_m[j][i];
                Some(pose.apply(point).as_vec3())
            };
            height_lines([heights_m.first().map_or(0, Vec::len), heights_m.len()], at)
        }
        // Solid spheres are drawn as solids.
        _ => Vec::new(),
    }
}

/// Returns lines through a heightfield in both directions, at most [`HEIGHT_LINES`] of each; none where a
/// height is unknown.
fn height_lines(n: [usize; 2], at: impl Fn(usize, usize) -> Option<Vec3>) -> Vec<WireBox> {
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

/// Returns the intersection of a plane with the domain: lines between the points at which it cuts the edges
/// of one face.
fn plane(scene: &Scene, point: Vec3, normal: Vec3) -> Vec<WireBox> {
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

/// Returns the edges of a mesh at which its surface has a crease.
fn creases(mesh: &TriangleMesh) -> Vec<[[f64; 3]; 2]> {
    let mut normals: BTreeMap<[u32; 2], Vec<DVec3>> = BTreeMap::new();
    for triangle in mesh.triangles() {
        let [a, b, c] = triangle.map(|vertex| DVec3::from_array(mesh.vertices()[vertex as usize]));
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for k in 0..3 {
            let ends = [triangle[k], triangle[(k + 1) % 3]];
            let edge = [ends[0].min(ends[1]), ends[0].max(ends[1])];
            normals.entry(edge).or_default().push(normal);
        }
    }
    let is_crease = |normals: &[DVec3]| !matches!(normals, [a, b] if a.dot(*b) > CREASE_COS);
    let edges = normals.iter().filter(|(_, normals)| is_crease(normals)).map(|(edge, _)| *edge);
    edges.map(|edge| edge.map(|vertex| mesh.vertices()[vertex as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a scene of water, or of snow in two dimensions, with one body.
    fn scene(dimensions: u32, body: &str) -> Scene {
        let name = if dimensions == 2 { "ramps" } else { "drop" };
        Scene::find(name, &[format!("bodies=[{{name='it',{body}}}]")]).unwrap()
    }

    /// Returns the ends of all lines.
    fn ends(lines: &[WireBox]) -> Vec<Vec3> {
        lines.iter().flat_map(|line| [line.corner, line.corner + line.edges[0]]).collect()
    }

    #[test]
    fn every_shape_is_drawn_on_its_surface() {
        let on_sphere = |x: Vec3| (x - Vec3::new(0.1, 0.2, 0.3)).length() - 0.05;
        let lines =
            outlines(&scene(3, "side='inside',shape={sphere={centre_m=[0.1,0.2,0.3],radius_m=0.05}}"), 0.0);
        assert_eq!(lines.len(), 3 * N_CHORDS as usize);
        assert!(ends(&lines).into_iter().all(|x| on_sphere(x).abs() < 1e-6));

        let axis = "from_m=[0,0.1,0],to_m=[0.2,0.1,0],radius_m=0.05";
        let cylinder = outlines(&scene(3, &format!("shape={{cylinder={{{axis}}}}}")), 0.0);
        assert_eq!(cylinder.len(), 2 * N_CHORDS as usize + 4);
        let across = |x: Vec3| Vec3::new(0.0, x.y - 0.1, x.z).length() - 0.05;
        assert!(ends(&cylinder).into_iter().all(|x| across(x).abs() < 1e-6 && (x.x - 0.1).abs() < 0.1001));

        let capsule = outlines(&scene(3, &format!("shape={{capsule={{{axis}}}}}")), 0.0);
        let on_capsule = |x: Vec3| (x - Vec3::new(x.x.clamp(0.0, 0.2), 0.1, 0.0)).length() - 0.05;
        // The circles along the axis pass through the inside, too.
        assert!(ends(&capsule).into_iter().all(|x| on_capsule(x) < 1e-6));
        assert!(ends(&capsule).into_iter().any(|x| (x.x + 0.05).abs() < 1e-6));

        let trunk = outlines(
            &scene(3, "shape={upright_cylinder={foot_m=[0.1,0.2],radius_m=0.05,height_m=0.3}}"),
            0.0,
        );
        let across = |x: Vec3| Vec3::new(x.x - 0.1, 0.0, x.z - 0.2).length() - 0.05;
        assert!(ends(&trunk).into_iter().all(|x| across(x).abs() < 1e-6 && (x.y - 0.15).abs() < 0.1501));

        let heights = "heightfield={origin_m=[0,0],spacing_m=0.1,heights_m=[[0,0.1],[0.1,0]]}";
        assert_eq!(outlines(&scene(3, &format!("shape={{{heights}}}")), 0.0).len(), 4);
        let plane = outlines(&scene(3, "shape={plane={point_m=[0,0.01,0],normal=[0,1,0]}}"), 0.0);
        assert!(ends(&plane).into_iter().all(|x| (x.y - 0.01).abs() < 1e-6) && plane.len() == 4);
        assert_eq!(outlines(&scene(2, "shape={plane={point_m=[0,0.1,0],normal=[0,1,0]}}"), 0.0).len(), 1);
    }

    #[test]
    fn a_solid_sphere_is_drawn_as_a_solid_where_it_is() {
        let ball = "shape={sphere={centre_m=[0.1,0.2,0.3],radius_m=0.05}}";
        let moving = scene(3, &format!("{ball},motion={{uniform={{velocity_m_s=[1,0,0],until_s=0.5}}}}"));
        let balls: Vec<_> = solid_spheres(&moving, 2.0).collect();
        assert_eq!(balls.len(), 1);
        assert!((balls[0].0 - Vec3::new(0.6, 0.2, 0.3)).length() < 1e-6 && balls[0].1 == 0.05);
        assert!(outlines(&moving, 2.0).is_empty());
        let container = scene(3, &format!("side='inside',{ball}"));
        assert_eq!(solid_spheres(&container, 0.0).count(), 0);
    }

    #[test]
    fn a_body_that_moves_is_drawn_where_it_is() {
        let motion = "motion={uniform={velocity_m_s=[1,0,0],from_s=1.0,until_s=2.0}}";
        let body = format!("shape={{box={{centre_m=[0.5,0.1,0],size_m=[0.2,0.1,1]}}}},{motion}");
        let moving = scene(2, &body);
        let at = |time_s| outlines(&moving, time_s)[0].corner.x;
        assert_eq!(at(0.0), at(1.0));
        assert!((at(1e3) - at(0.0) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn bodies_at_rest_on_the_ground_are_drawn_as_solids() {
        let with = |overrides: &[String]| Scene::find("slope_obstacle", overrides).unwrap();
        assert!(outlines(&with(&[]), 0.0).is_empty());
        let moved = "bodies.0.motion={uniform={velocity_m_s=[1,0,0]}}".to_owned();
        assert_eq!(outlines(&with(&[moved]), 0.0).len(), 1);
    }

    #[test]
    fn a_box_that_spins_is_drawn_where_it_is() {
        let size = "centre_m=[0.2,0.1,0],size_m=[0.2,0.1,0.3]";
        let spin = "spinning={point_m=[0,0.1,0],angular_velocity_rad_s=[0,0,3.141592653589793],until_s=0.5}";
        let spinning = scene(3, &format!("shape={{box={{{size}}}}},motion={{{spin}}}"));
        let outline = outlines(&spinning, 9.0);
        assert_eq!(outline.len(), 1);
        let WireBox { corner, edges } = outline[0];
        let centre = corner + 0.5 * (edges[0] + edges[1] + edges[2]);
        // A quarter turn about z through (0, 0.1, 0).
        assert!((centre - Vec3::new(0.0, 0.3, 0.0)).length() < 1e-6, "{centre}");
        assert!((edges[0] - Vec3::new(0.0, 0.2, 0.0)).length() < 1e-6, "{}", edges[0]);
        let flat = outlines(&scene(2, &format!("shape={{box={{{size}}}}}")), 0.0);
        assert_eq!(flat[0].edges[2], Vec3::ZERO);
    }

    #[test]
    fn of_a_mesh_the_creases_are_drawn() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/meshes/splitter.obj");
        let splitter = scene(3, &format!("shape={{mesh={{path='{path}',scale=0.01,offset_m=[0,-9,0]}}}}"));
        let mesh = splitter.bodies[0].mesh().unwrap();
        let n_edges = mesh.triangles().len() * 3 / 2;
        let n_lines = outlines(&splitter, 0.0).len();
        // The diagonals of flat faces are left out.
        assert!(n_lines > 0 && n_lines < n_edges, "{n_lines} of {n_edges}");
    }
}
