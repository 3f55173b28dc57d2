//! Mass, centre of mass and inertia of bodies.

use super::distance::box_axes;
use super::motion::Dynamics;
use super::{Body, BodyMotion, BodyShape};
use crate::slabs::pieces::{Moments, moments};
use crate::vector::{Vec3, dot, unit};
use std::f64::consts::PI;

/// Most dynamic bodies of a scene: one workgroup of the device solves their contacts.
pub const MAX_DYNAMIC_BODIES: usize = 128;

/// Mass of a dynamic body, and how it is distributed, at time 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyMass {
    /// Mass in kg.
    pub mass_kg: f64,
    /// Volume in m³.
    pub volume_m3: f64,
    /// Centre of mass in m.
    pub centre_m: Vec3,
    /// Inertia about the centre of mass along the scene's axes in kg m²: symmetric, row by row.
    pub inertia_kg_m2: [Vec3; 3],
    /// Half sizes in m of a box around the body, the largest first.
    pub half_sizes_m: Vec3,
}

impl Body {
    /// Returns the motion of a dynamic body.
    pub fn dynamics(&self) -> Option<&Dynamics> {
        match &self.motion {
            Some(BodyMotion::Dynamic(dynamics)) => Some(dynamics),
            _ => None,
        }
    }

    /// Returns the mass of a dynamic body; `None` for others, for shapes without a volume, and for a mesh
    /// that was not loaded.
    pub fn mass(&self) -> Option<BodyMass> {
        let dynamics = self.dynamics()?;
        let Moments { volume, centre, inertia } = self.moments()?;
        let density_kg_m3 = dynamics.density_kg_m3.or(dynamics.mass_kg.map(|mass_kg| mass_kg / volume))?;
        Some(BodyMass {
            mass_kg: density_kg_m3 * volume,
            volume_m3: volume,
            centre_m: centre,
            inertia_kg_m2: inertia.map(|row| row.map(|x| density_kg_m3 * x)),
            half_sizes_m: self.half_sizes_m()?,
        })
    }

    /// Returns the volume, its centre, and its second moments for a density of 1.
    fn moments(&self) -> Option<Moments> {
        let centre = self.centre_m()?;
        let round = |volume: f64, along: f64, across: f64, axis: Vec3| Moments {
            volume,
            centre,
            // Of a body of revolution: I = across (1 − a aᵀ) + along a aᵀ.
            inertia: std::array::from_fn(|i| {
                std::array::from_fn(|j| {
                    let identity = if i == j { across } else { 0.0 };
                    identity + (along - across) * axis[i] * axis[j]
                })
            }),
        };
        Some(match &self.shape {
            BodyShape::Sphere { radius_m: r, .. } => {
                let volume = 4.0 / 3.0 * PI * r.powi(3);
                let inertia = 0.4 * volume * r * r;
                round(volume, inertia, inertia, [1.0, 0.0, 0.0])
            }
            BodyShape::Box { size_m, rotation_deg, .. } => {
                let volume = size_m[0] * size_m[1] * size_m[2];
                let axes = box_axes(*rotation_deg);
                let squares: f64 = size_m.iter().map(|size| size * size).sum();
                let own = size_m.map(|size| volume / 12.0 * (squares - size * size));
                let element = |i: usize, j: usize| (0..3).map(|k| own[k] * axes[k][i] * axes[k][j]).sum();
                Moments {
                    volume,
                    centre,
                    inertia: std::array::from_fn(|i| std::array::from_fn(|j| element(i, j))),
                }
            }
            BodyShape::Cylinder { radius_m: r, .. } => {
                let (axis, length) = self.axis()?;
                let volume = PI * r * r * length;
                let across = volume * (r * r / 4.0 + length * length / 12.0);
                round(volume, 0.5 * volume * r * r, across, axis)
            }
            BodyShape::Capsule { radius_m: r, .. } => {
                let (axis, length) = self.axis()?;
                let (middle, caps) = (PI * r * r * length, 4.0 / 3.0 * PI * r.powi(3));
                let along = 0.5 * middle * r * r + 0.4 * caps * r * r;
                // Of a half ball about the centre of the capsule: 2/5 m r² − m (3r/8)² + m (L/2 + 3r/8)².
                let half_ball = 0.4 * r * r + 0.25 * length * length + 0.375 * r * length;
                let across = middle * (r * r / 4.0 + length * length / 12.0) + caps * half_ball;
                round(middle + caps, along, across, axis)
            }
            BodyShape::Mesh { scale, offset_m, .. } => {
                let mesh = self.mesh()?;
                let place = |v: &Vec3| std::array::from_fn(|i| offset_m[i] + scale * v[i]);
                let vertices_m: Vec<Vec3> = mesh.vertices().iter().map(place).collect();
                let faces: Vec<Vec<u32>> =
                    mesh.triangles().iter().map(|triangle| triangle.to_vec()).collect();
                moments(&vertices_m, &faces)
            }
            _ => return None,
        })
    }

    /// Returns the unit vector from one end of a cylinder or capsule to the other, and its length in m.
    fn axis(&self) -> Option<(Vec3, f64)> {
        let (BodyShape::Cylinder { from_m, to_m, .. } | BodyShape::Capsule { from_m, to_m, .. }) =
            &self.shape
        else {
            return None;
        };
        let along: Vec3 = std::array::from_fn(|i| to_m[i] - from_m[i]);
        Some((unit(along), dot(along, along).sqrt()))
    }

    /// Returns the half sizes of a box around the body in its own axes, the largest first.
    fn half_sizes_m(&self) -> Option<Vec3> {
        let mut half: Vec3 = match &self.shape {
            BodyShape::Box { size_m, .. } => size_m.map(|size| 0.5 * size),
            BodyShape::Cylinder { radius_m, .. } => [*radius_m, *radius_m, 0.5 * self.axis()?.1],
            BodyShape::Capsule { radius_m, .. } => [*radius_m, *radius_m, 0.5 * self.axis()?.1 + radius_m],
            _ => {
                let [low, high] = self.bounds_m()?;
                std::array::from_fn(|i| 0.5 * (high[i] - low[i]))
            }
        };
        half.sort_by(|a, b| b.total_cmp(a));
        Some(half)
    }

    /// Returns the corners and edges of a dynamic body that may touch others, at time 0 in m, and the radius
    /// in m by which they are rounded: the centre of a sphere; the axis of a capsule and its ends; corners
    /// and edges of a box; points of the rims of a cylinder, and the lines between them; vertices of a mesh
    /// that are far apart.
    ///
    /// A sharp corner on an edge of another box has no direction along which they touch.
    pub fn touching_features(&self) -> (Vec<SurfaceFeature>, f64) {
        let corners = |points: Vec<Vec3>| points.into_iter().map(SurfaceFeature::corner);
        match &self.shape {
            BodyShape::Sphere { centre_m, radius_m } => (corners(vec![*centre_m]).collect(), *radius_m),
            BodyShape::Capsule { from_m, to_m, radius_m } => {
                let ends = corners(vec![*from_m, *to_m]);
                (ends.chain([SurfaceFeature::edge(*from_m, *to_m)]).collect(), *radius_m)
            }
            BodyShape::Box { centre_m, size_m, rotation_deg } => {
                let axes = box_axes(*rotation_deg);
                let round_m = 0.5 * ROUNDED * size_m[0].min(size_m[1]).min(size_m[2]);
                let half_m = size_m.map(|size| 0.5 * size - round_m);
                let corner = |bits: usize| {
                    std::array::from_fn(|i| {
                        let along =
                            |k: usize| axes[k][i] * if bits >> k & 1 == 1 { half_m[k] } else { -half_m[k] };
                        centre_m[i] + (0..3).map(along).sum::<f64>()
                    })
                };
                let points: Vec<Vec3> = (0..8).map(corner).collect();
                // From each corner along the axes on whose lower side it is.
                let from = |bits: usize| (0..3).map(move |k| (bits, bits | 1 << k)).filter(|(a, b)| a != b);
                let edges = (0..8).flat_map(from).map(|(a, b)| SurfaceFeature::edge(points[a], points[b]));
                (corners(points.clone()).chain(edges).collect(), round_m)
            }
            BodyShape::Cylinder { from_m, to_m, radius_m } => {
                let Some((axis, length_m)) = self.axis() else { return (Vec::new(), 0.0) };
                let [u, v] = across(axis);
                let round_m = ROUNDED * radius_m.min(0.5 * length_m);
                let rim = |(end, inwards): (&Vec3, f64), k: usize| {
                    let (sin, cos) = (2.0 * PI * k as f64 / N_RIM as f64).sin_cos();
                    let inner_m = radius_m - round_m;
                    std::array::from_fn(|i| end[i] + inwards * axis[i] + inner_m * (cos * u[i] + sin * v[i]))
                };
                let ends = [(from_m, round_m), (to_m, -round_m)];
                let points = ends.into_iter().flat_map(|end| (0..N_RIM).map(move |k| rim(end, k)));
                let lines = (0..N_RIM).map(|k| SurfaceFeature::edge(rim(ends[0], k), rim(ends[1], k)));
                (corners(points.collect()).chain(lines).collect(), round_m)
            }
            BodyShape::Mesh { scale, offset_m, .. } => {
                let place = |v: Vec3| std::array::from_fn(|i| offset_m[i] + scale * v[i]);
                let vertices = self.mesh().map(|mesh| far_apart(mesh.vertices())).unwrap_or_default();
                (corners(vertices.into_iter().map(place).collect()).collect(), 0.0)
            }
            _ => (Vec::new(), 0.0),
        }
    }
}

/// Corner or edge of a body's surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceFeature {
    /// Its middle in m.
    pub middle_m: Vec3,
    /// From its middle to its end in m: zero for a corner.
    pub half_m: Vec3,
}

impl SurfaceFeature {
    fn corner(at_m: Vec3) -> Self {
        Self { middle_m: at_m, half_m: [0.0; 3] }
    }

    fn edge(from_m: Vec3, to_m: Vec3) -> Self {
        Self {
            middle_m: std::array::from_fn(|i| 0.5 * (from_m[i] + to_m[i])),
            half_m: std::array::from_fn(|i| 0.5 * (to_m[i] - from_m[i])),
        }
    }

    /// Returns places of it in m, its ends among them.
    pub(crate) fn places_m(self) -> impl Iterator<Item = Vec3> {
        let n = if self.half_m == [0.0; 3] { 0 } else { N_PLACES };
        (0..=n).map(move |k| {
            let at = if n == 0 { 0.0 } else { 2.0 * f64::from(k) / f64::from(n) - 1.0 };
            std::array::from_fn(|i| self.middle_m[i] + at * self.half_m[i])
        })
    }
}

/// Number of parts of an edge between the places at which overlaps at the start are looked for.
const N_PLACES: u32 = 16;
/// Number of points of a cylinder's rim, and most of a mesh.
const N_RIM: usize = 24;
const MAX_MESH_POINTS: usize = 64;
/// Radius of rounded corners over half the least size.
const ROUNDED: f64 = 0.05;

/// Returns two unit vectors across a unit vector.
fn across(axis: Vec3) -> [Vec3; 2] {
    let least = (0..3).min_by(|&a, &b| axis[a].abs().total_cmp(&axis[b].abs())).unwrap_or(0);
    let mut other = [0.0; 3];
    other[least] = 1.0;
    let u = unit(crate::vector::cross(axis, other));
    [u, crate::vector::cross(axis, u)]
}

/// Returns vertices of which each is as far as possible from those before it.
fn far_apart(vertices: &[Vec3]) -> Vec<Vec3> {
    let Some(&first) = vertices.first() else { return Vec::new() };
    let mut chosen = vec![first];
    let mut nearest = vec![f64::INFINITY; vertices.len()];
    while chosen.len() < MAX_MESH_POINTS.min(vertices.len()) {
        let last = chosen[chosen.len() - 1];
        let mut farthest = 0;
        for (k, vertex) in vertices.iter().enumerate() {
            let offset: Vec3 = std::array::from_fn(|i| vertex[i] - last[i]);
            nearest[k] = nearest[k].min(dot(offset, offset));
            if nearest[k] > nearest[farthest] {
                farthest = k;
            }
        }
        if nearest[farthest] == 0.0 {
            break;
        }
        chosen.push(vertices[farthest]);
    }
    chosen
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use crate::Scene;
    use std::f64::consts::PI;

    fn mass(shape: &str) -> super::BodyMass {
        let body =
            format!("bodies=[{{name='it',shape={{{shape}}},motion={{dynamic={{density_kg_m3=500}}}}}}]");
        Scene::find("drop", &[body, "domain={min_m=[-1,0,-1],max_m=[1,2,1]}".to_owned()]).unwrap().bodies[0]
            .mass()
            .unwrap()
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{found}, not {expected}");
    }

    #[test]
    fn masses_and_inertias_are_those_of_closed_forms() {
        let sphere = mass("sphere={centre_m=[0,1,0],radius_m=0.1}");
        close(sphere.mass_kg, 500.0 * 4.0 / 3.0 * PI * 1e-3);
        close(sphere.inertia_kg_m2[1][1], 0.4 * sphere.mass_kg * 0.01);
        let cylinder = mass("cylinder={from_m=[0,1,0],to_m=[0,1,0.4],radius_m=0.1}");
        close(cylinder.mass_kg, 500.0 * PI * 0.01 * 0.4);
        close(cylinder.inertia_kg_m2[2][2], 0.5 * cylinder.mass_kg * 0.01);
        close(cylinder.inertia_kg_m2[0][0], cylinder.mass_kg * (0.01 / 4.0 + 0.16 / 12.0));
        // A capsule without length is a sphere.
        let capsule = mass("capsule={from_m=[0,1,0],to_m=[0,1,1e-9],radius_m=0.1}");
        for i in 0..3 {
            // The half balls are 1e-9 m apart.
            let ratio = capsule.inertia_kg_m2[i][i] / sphere.inertia_kg_m2[i][i];
            assert!((ratio - 1.0).abs() < 1e-7, "{ratio}");
        }
    }

    /// A box as a mesh has the mass and inertia of the box.
    #[test]
    fn a_mesh_has_the_mass_and_inertia_of_its_shape() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("box.obj");
        let corners = (0..8).map(|k| {
            let of = |bit: usize, size: f64| if k >> bit & 1 == 1 { size } else { 0.0 };
            format!("v {} {} {}\n", of(0, 0.1), of(1, 0.2), of(2, 0.3))
        });
        let faces = ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"];
        let triangles = faces.iter().map(|face| {
            let [a, b, c, d]: [&str; 4] = face.split(' ').collect::<Vec<_>>().try_into().unwrap();
            format!("f {a} {b} {c}\nf {a} {c} {d}\n")
        });
        std::fs::write(&path, corners.chain(triangles).collect::<String>()).unwrap();
        let mesh = mass(&format!("mesh={{path='{}',scale=0.5,offset_m=[0.1,1,0.2]}}", path.display()));
        let solid = mass("box={centre_m=[0.125,1.05,0.275],size_m=[0.05,0.1,0.15]}");
        // Files of meshes are read in single precision.
        let near = |found: f64, expected: f64, size: f64| {
            assert!((found - expected).abs() < 1e-6 * size, "{mesh:?}, not {solid:?}");
        };
        near(mesh.mass_kg, solid.mass_kg, solid.mass_kg);
        for i in 0..3 {
            near(mesh.centre_m[i], solid.centre_m[i], 1.0);
            for j in 0..3 {
                near(mesh.inertia_kg_m2[i][j], solid.inertia_kg_m2[i][j], solid.inertia_kg_m2[0][0]);
            }
        }
    }

    #[test]
    fn a_turned_box_keeps_the_trace_of_its_inertia() {
        let turned = mass("box={centre_m=[0.1,1,0.2],size_m=[0.1,0.2,0.3],rotation_deg=[10,20,30]}");
        close(turned.mass_kg, 500.0 * 0.006);
        let trace: f64 = (0..3).map(|i| turned.inertia_kg_m2[i][i]).sum();
        close(trace, turned.mass_kg / 6.0 * (0.01 + 0.04 + 0.09));
        assert!(turned.inertia_kg_m2[0][1].abs() > 1e-3 * trace);
        let half = turned.half_sizes_m;
        assert!((half[0] - 0.15).abs() < 1e-12 && (half[2] - 0.05).abs() < 1e-12);
    }
}
