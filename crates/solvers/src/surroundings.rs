//! Domain, gravity and bodies as kernels read them.

use crate::SolverError;
use crate::mesh_body::{MeshProblem, mesh_body};
use frazil_scene::{Collider, Obstacle, ObstacleShape, Scene, Side, Terrain, Vec3, damping_ratio};
use frazil_shaders::common::body::{BALL, BOX, CONTAINER, CYLINDER, HEIGHTFIELD, MESH, PLANE};
use frazil_shaders::types::Body;
use glam::{EulerRot, Quat};

/// End time in s of a body that never stops, later than any simulation ends.
const NEVER_S: f32 = 1e30;

/// Domain, gravity and bodies of a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Lower corner of the domain in m.
    pub domain_min_m: [f32; 3],
    /// Upper corner of the domain in m.
    pub domain_max_m: [f32; 3],
    /// Gravitational acceleration in m/s².
    pub gravity_m_s2: [f32; 3],
    /// Vertical axis: 0, 1 or 2.
    pub up_axis: u32,
    /// Bodies that particles collide with.
    pub colliders: Vec<Body>,
    /// Names of the obstacles, which are the last bodies and whose loads are measured.
    pub obstacles: Vec<String>,
    /// Heights of all heightfields in m, and the data of meshes.
    pub heights_m: Vec<f32>,
}

impl Surroundings {
    /// Reads the domain, gravity and colliders of a scene.
    ///
    /// # Errors
    /// The scene has a collider of a kind unknown to solvers.
    pub fn of(scene: &Scene) -> Result<Self, SolverError> {
        let mut surroundings = Surroundings {
            domain_min_m: narrow(scene.domain.min_m),
            domain_max_m: narrow(scene.domain.max_m),
            gravity_m_s2: narrow(scene.gravity_m_s2()),
            up_axis: scene.up_axis.index() as u32,
            ..Default::default()
        };
        if let Some(terrain) = scene.ground() {
            let body = terrain_body(scene, terrain, &mut surroundings.heights_m);
            surroundings.colliders.push(body);
        }
        for (collider_idx, collider) in scene.colliders.iter().enumerate() {
            let body = body_of(scene, collider_idx, collider, &mut surroundings.heights_m)?;
            surroundings.colliders.push(body);
        }
        for (obstacle_idx, obstacle) in scene.obstacles.iter().enumerate() {
            let body = obstacle_body(scene, obstacle_idx, obstacle, &mut surroundings.heights_m)?;
            surroundings.colliders.push(body);
            surroundings.obstacles.push(obstacle.name.clone());
        }
        Ok(surroundings)
    }

    /// Returns true if any of the bodies is a mesh.
    pub(crate) fn has_meshes(&self) -> bool {
        self.colliders.iter().any(|body| body.kind == MESH)
    }
}

fn narrow(v: [f64; 3]) -> [f32; 3] {
    v.map(|x| x as f32)
}

/// Converts a collider for kernels; appends the heights of a heightfield to `heights_m`.
fn body_of(
    scene: &Scene,
    collider_idx: usize,
    collider: &Collider,
    heights_m: &mut Vec<f32>,
) -> Result<Body, SolverError> {
    let (surface, motion) = (collider.surface(), collider.motion());
    let plain = plain_body(scene);
    let body = Body {
        is_sticky: surface.sticky.into(),
        friction: collider.given_surface().map_or(plain.friction, |surface| surface.friction as f32),
        velocity_m_s: motion.map_or([0.0; 3], |motion| narrow(motion.velocity_m_s)),
        from_s: motion.map_or(0.0, |motion| motion.from_s as f32),
        until_s: motion.and_then(|motion| motion.until_s).map_or(NEVER_S, |until_s| until_s as f32),
        ..plain
    };
    Ok(match collider {
        Collider::Plane { point_m, normal, .. } => {
            let length = normal.iter().map(|n| n * n).sum::<f64>().sqrt();
            Body { origin_m: narrow(*point_m), extent: narrow(normal.map(|n| n / length)), ..body }
        }
        Collider::Sphere { centre_m, radius_m, side, .. } => Body {
            kind: if *side == Side::Outside { BALL } else { CONTAINER },
            origin_m: narrow(*centre_m),
            extent: [*radius_m as f32, 0.0, 0.0],
            ..body
        },
        Collider::Box { centre_m, size_m, rotation_deg, .. } => Body {
            kind: BOX,
            origin_m: narrow(*centre_m),
            extent: narrow(size_m.map(|size| 0.5 * size)),
            rotation: rotation(*rotation_deg),
            ..body
        },
        Collider::Heightfield { origin_m, spacing_m, heights_m: rows, .. } => {
            let level = scene.up_axis.horizontal();
            let mut corner = [0.0_f32; 3];
            corner[level[0]] = origin_m[0] as f32;
            corner[level[1]] = origin_m[1] as f32;
            let first_height = heights_m.len() as u32;
            heights_m.extend(rows.iter().flatten().map(|&height| height as f32));
            Body {
                kind: HEIGHTFIELD,
                origin_m: corner,
                extent: [*spacing_m as f32, 0.0, 0.0],
                first_height,
                n_heights: [rows.first().map_or(1, Vec::len) as u32, rows.len() as u32],
                ..body
            }
        }
        _ => {
            let (key, found) = (format!("colliders.{collider_idx}"), collider.name().to_owned());
            return Err(SolverError::Scene { key, found });
        }
    })
}

/// Returns the rotation about x, then y, then z.
fn rotation(degrees: [f64; 3]) -> [f32; 4] {
    let [x, y, z] = degrees.map(|angle| angle.to_radians() as f32);
    Quat::from_euler(EulerRot::ZYX, z, y, x).to_array()
}

/// Returns a body at rest with default values; grains collide with it as with walls.
fn plain_body(scene: &Scene) -> Body {
    Body {
        kind: PLANE,
        is_sticky: 0,
        friction: scene.dem().map_or(0.0, |dem| dem.wall_friction() as f32),
        damping_ratio: scene.dem().map_or(0.0, |dem| damping_ratio(dem.wall_restitution()) as f32),
        origin_m: [0.0; 3],
        extent: [0.0; 3],
        rotation: [0.0, 0.0, 0.0, 1.0],
        velocity_m_s: [0.0; 3],
        from_s: 0.0,
        until_s: NEVER_S,
        first_height: 0,
        n_heights: [1, 1],
    }
}

/// Returns the ground; beyond the map, the heights of its edge continue.
fn terrain_body(scene: &Scene, terrain: &Terrain, heights_m: &mut Vec<f32>) -> Body {
    let first_height = heights_m.len() as u32;
    heights_m.extend(terrain.extended_heights_m());
    Body {
        kind: HEIGHTFIELD,
        extent: [terrain.cell_m() as f32, 0.0, 0.0],
        first_height,
        n_heights: [terrain.n_columns() as u32, terrain.n_rows() as u32],
        ..plain_body(scene)
    }
}

/// Returns the maximum distance in m between a surface and a grain in contact with it.
fn reach_m(scene: &Scene) -> f64 {
    scene.dem().map_or(0.0, |dem| 1.01 * (dem.greatest_radius_m() + dem.terrain_adhesion_range_m()))
}

/// Converts an obstacle for kernels; appends the data of a mesh to `heights_m`.
fn obstacle_body(
    scene: &Scene,
    obstacle_idx: usize,
    obstacle: &Obstacle,
    heights_m: &mut Vec<f32>,
) -> Result<Body, SolverError> {
    let plain = plain_body(scene);
    let body = Body {
        friction: obstacle.friction.map_or(plain.friction, |friction| friction as f32),
        damping_ratio: obstacle.restitution.map_or(plain.damping_ratio, |e| damping_ratio(e) as f32),
        ..plain
    };
    Ok(match &obstacle.shape {
        ObstacleShape::Box { centre_m, size_m, rotation_deg } => Body {
            kind: BOX,
            origin_m: narrow(*centre_m),
            extent: narrow(size_m.map(|size| 0.5 * size)),
            rotation: rotation(*rotation_deg),
            ..body
        },
        ObstacleShape::Cylinder { foot_m, radius_m, height_m } => {
            let level = scene.up_axis.horizontal();
            let ground_m = scene.ground().and_then(|ground| ground.height_m(*foot_m)).unwrap_or(0.0);
            let mut foot = [0.0; 3];
            foot[level[0]] = foot_m[0];
            foot[level[1]] = foot_m[1];
            foot[scene.up_axis.index()] = ground_m;
            Body {
                kind: CYLINDER,
                origin_m: narrow(foot),
                extent: [*radius_m as f32, *height_m as f32, 0.0],
                ..body
            }
        }
        ObstacleShape::Mesh { scale, offset_m, .. } => {
            let key = format!("obstacles.{obstacle_idx}.shape.mesh.path");
            let Some(mesh) = obstacle.mesh() else {
                return Err(SolverError::Scene { key, found: "a file that was not read".to_owned() });
            };
            let place = |v: &Vec3| std::array::from_fn(|i| scale * v[i] + offset_m[i]);
            let vertices_m: Vec<Vec3> = mesh.vertices().iter().map(place).collect();
            let made = mesh_body(&vertices_m, mesh.triangles(), reach_m(scene), heights_m)
                .map_err(|MeshProblem(problem)| SolverError::Mesh { key, problem })?;
            Body { friction: body.friction, damping_ratio: body.damping_ratio, until_s: NEVER_S, ..made }
        }
        shape => {
            let key = format!("obstacles.{obstacle_idx}.shape");
            return Err(SolverError::Scene { key, found: format!("\"{}\"", shape.name()) });
        }
    })
}

/// Returns a body that no particle touches, for buffers that must not be empty.
pub(crate) fn nowhere() -> Body {
    Body { extent: [0.0, 1.0, 0.0], rotation: [0.0, 0.0, 0.0, 1.0], ..bytemuck::Zeroable::zeroed() }
}
