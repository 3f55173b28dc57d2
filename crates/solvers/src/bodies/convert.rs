//! Conversion of a scene's terrain and bodies to those of kernels.

use super::mesh::mesh_body;
use super::motion::{NEVER_S, set_motion};
use super::triangle::MeshProblem;
use crate::SolverError;
use frazil_scene::{
    Body as SceneBody, BodyShape, ContactDefaults, Scene, Side, Terrain, TriangleMesh, Vec3, damping_ratio,
};
use frazil_shaders::common::body::{BOX, CAPSULE, CYLINDER, HEIGHTFIELD, PLANE, SPHERE, UPRIGHT_CYLINDER};
use frazil_shaders::types::Body;
use glam::{DQuat, DVec3, EulerRot, Quat};

/// Friction of a body whose friction the scene does not set, where each kernel has its own default.
const DEFAULT_FRICTION: f32 = -1.0;

/// Reach of a mesh over the distance at which particles interact with it: rounding must not cut it short.
const REACH_MARGIN: f64 = 1.01;

pub(super) fn narrow(v: [f64; 3]) -> [f32; 3] {
    v.map(|x| x as f32)
}

/// Returns the rotation about x, then y, then z.
fn rotation(degrees: [f64; 3]) -> [f32; 4] {
    let [x, y, z] = degrees.map(|angle| angle.to_radians() as f32);
    Quat::from_euler(EulerRot::ZYX, z, y, x).to_array()
}

/// Returns the contact of the scene's solver with bodies whose keys are absent.
fn defaults_of(scene: &Scene) -> Result<ContactDefaults, SolverError> {
    scene.contact_defaults().ok_or_else(|| SolverError::Scene {
        key: "solver.kind".to_owned(),
        found: format!("\"{}\"", scene.solver.kind.name()),
    })
}

/// Returns a body at rest with default values.
fn plain_body(defaults: &ContactDefaults) -> Body {
    Body {
        kind: PLANE,
        is_sticky: 0,
        friction: defaults.friction.map_or(DEFAULT_FRICTION, |friction| friction as f32),
        damping_ratio: defaults.restitution.map_or(0.0, |e| damping_ratio(e) as f32),
        origin_m: [0.0; 3],
        extent: [0.0; 3],
        rotation: [0.0, 0.0, 0.0, 1.0],
        velocity_m_s: [0.0; 3],
        from_s: 0.0,
        until_s: NEVER_S,
        first_height: 0,
        n_heights: [1, 1],
        is_container: 0,
        motion: 0,
        first_motion: 0,
        n_keys: 0,
        first_map: 0,
    }
}

/// Returns the ground; beyond the map, the heights of its edge continue.
pub(super) fn convert_terrain(
    scene: &Scene,
    terrain: &Terrain,
    body_data: &mut Vec<f32>,
) -> Result<Body, SolverError> {
    let first_height = body_data.len() as u32;
    body_data.extend(terrain.extended_heights_m());
    Ok(Body {
        kind: HEIGHTFIELD,
        extent: [terrain.cell_m() as f32, 0.0, 0.0],
        first_height,
        n_heights: [terrain.n_columns() as u32, terrain.n_rows() as u32],
        ..plain_body(&defaults_of(scene)?)
    })
}

/// Converts a mesh, placed in the scene, and appends its data to `body_data`.
fn mesh_of(
    mesh: Option<&TriangleMesh>,
    key: String,
    scale: f64,
    offset_m: Vec3,
    defaults: &ContactDefaults,
    body_data: &mut Vec<f32>,
) -> Result<Body, SolverError> {
    let Some(mesh) = mesh else {
        return Err(SolverError::Scene { key, found: "a file that was not read".to_owned() });
    };
    let place = |v: &Vec3| std::array::from_fn(|i| scale * v[i] + offset_m[i]);
    let vertices_m: Vec<Vec3> = mesh.vertices().iter().map(place).collect();
    let (reach_m, support_m) = (REACH_MARGIN * defaults.mesh_reach_m, defaults.mesh_density_support_m);
    mesh_body(&vertices_m, mesh.triangles(), reach_m, support_m, body_data)
        .map_err(|MeshProblem(problem)| SolverError::Mesh { key, problem })
}

/// Converts a heightfield, and appends its heights to `body_data`.
fn heightfield_body(
    scene: &Scene,
    (origin_m, spacing_m): ([f64; 2], f64),
    rows: &[Vec<f64>],
    body_data: &mut Vec<f32>,
    body: Body,
) -> Body {
    let level = scene.up_axis.horizontal();
    let mut corner = [0.0_f32; 3];
    corner[level[0]] = origin_m[0] as f32;
    corner[level[1]] = origin_m[1] as f32;
    let first_height = body_data.len() as u32;
    body_data.extend(rows.iter().flatten().map(|&height| height as f32));
    Body {
        kind: HEIGHTFIELD,
        origin_m: corner,
        extent: [spacing_m as f32, 0.0, 0.0],
        first_height,
        n_heights: [rows.first().map_or(1, Vec::len) as u32, rows.len() as u32],
        ..body
    }
}

/// Converts a body; appends the data of its shape and motion to `body_data`.
pub(super) fn convert_body(
    scene: &Scene,
    body_idx: usize,
    from: &SceneBody,
    body_data: &mut Vec<f32>,
) -> Result<Body, SolverError> {
    let defaults = defaults_of(scene)?;
    let plain = plain_body(&defaults);
    let surface = Body {
        is_sticky: from.sticky.into(),
        friction: from.friction.map_or(plain.friction, |friction| friction as f32),
        damping_ratio: from.restitution.map_or(plain.damping_ratio, |e| damping_ratio(e) as f32),
        is_container: u32::from(from.side == Side::Inside),
        ..plain
    };
    let along = |kind: u32, from_m: &Vec3, to_m: &Vec3, radius_m: f64| {
        let (from, to) = (DVec3::from_array(*from_m), DVec3::from_array(*to_m));
        let rotation = DQuat::from_rotation_arc(DVec3::Y, (to - from).normalize());
        Body {
            kind,
            origin_m: narrow((0.5 * (from + to)).to_array()),
            extent: [radius_m as f32, (0.5 * (to - from).length()) as f32, 0.0],
            rotation: rotation.as_quat().to_array(),
            ..surface
        }
    };
    let mut body = match &from.shape {
        BodyShape::Plane { point_m, normal } => {
            let length = normal.iter().map(|n| n * n).sum::<f64>().sqrt();
            Body { origin_m: narrow(*point_m), extent: narrow(normal.map(|n| n / length)), ..surface }
        }
        BodyShape::Sphere { centre_m, radius_m } => Body {
            kind: SPHERE,
            origin_m: narrow(*centre_m),
            extent: [*radius_m as f32, 0.0, 0.0],
            ..surface
        },
        BodyShape::Box { centre_m, size_m, rotation_deg } => Body {
            kind: BOX,
            origin_m: narrow(*centre_m),
            extent: narrow(size_m.map(|size| 0.5 * size)),
            rotation: rotation(*rotation_deg),
            ..surface
        },
        BodyShape::Cylinder { from_m, to_m, radius_m } => along(CYLINDER, from_m, to_m, *radius_m),
        BodyShape::UprightCylinder { foot_m, radius_m, height_m } => {
            let level = scene.up_axis.horizontal();
            let mut foot = [0.0; 3];
            foot[level[0]] = foot_m[0];
            foot[level[1]] = foot_m[1];
            foot[scene.up_axis.index()] = scene.foot_height_m(*foot_m);
            Body {
                kind: UPRIGHT_CYLINDER,
                origin_m: narrow(foot),
                extent: [*radius_m as f32, *height_m as f32, 0.0],
                ..surface
            }
        }
        BodyShape::Capsule { from_m, to_m, radius_m } => along(CAPSULE, from_m, to_m, *radius_m),
        BodyShape::Mesh { scale, offset_m, .. } => {
            let key = format!("bodies.{body_idx}.shape.mesh.path");
            let made = mesh_of(from.mesh(), key, *scale, *offset_m, &defaults, body_data)?;
            Body {
                kind: made.kind,
                origin_m: made.origin_m,
                extent: made.extent,
                first_height: made.first_height,
                n_heights: made.n_heights,
                first_map: made.first_map,
                ..surface
            }
        }
        BodyShape::Heightfield { origin_m, spacing_m, heights_m: rows, .. } => {
            heightfield_body(scene, (*origin_m, *spacing_m), rows, body_data, surface)
        }
        shape => {
            let key = format!("bodies.{body_idx}.shape");
            return Err(SolverError::Scene { key, found: format!("\"{}\"", shape.name()) });
        }
    };
    if let Some(motion) = &from.motion
        && !set_motion(&mut body, from, motion, body_data)
    {
        let key = format!("bodies.{body_idx}.motion");
        return Err(SolverError::Scene { key, found: format!("\"{}\"", motion.name()) });
    }
    Ok(body)
}
