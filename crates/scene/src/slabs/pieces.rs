//! The rigid pieces of slabs: their shape, mass and inertia, and the links between neighbours.

use crate::check::{number, vector};
use crate::slabs::slab::Slab;
use crate::vector::{Vec3, cross, dot, unit};

/// Tolerance of convexity: corners may lie beyond a face by this share of the piece's size.
const CONVEX_TOLERANCE: f64 = 1e-6;

/// Slabs of a scene at time 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampledSlabs {
    /// Pieces, in the order of their slabs.
    pub pieces: Vec<SlabPiece>,
    /// Links between pieces of one slab.
    pub links: Vec<SlabLink>,
}

/// A convex rigid body.
#[derive(Clone, Debug, PartialEq)]
pub struct SlabPiece {
    /// Slab of the piece, as an index into [`Scene::slabs`](crate::Scene::slabs).
    pub slab: usize,
    /// Corners in m, relative to the centre of mass.
    pub vertices_m: Vec<Vec3>,
    /// Faces as indices of corners, counter-clockwise seen from outside.
    pub faces: Vec<Vec<u32>>,
    /// Centre of mass in m.
    pub centre_m: Vec3,
    /// Volume in m³.
    pub volume_m3: f64,
    /// Mass in kg.
    pub mass_kg: f64,
    /// Moment of inertia about the centre of mass along the scene's axes in kg m²: symmetric, row by row.
    pub inertia_kg_m2: [Vec3; 3],
    /// Initial velocity in m/s.
    pub velocity_m_s: Vec3,
}

/// A link between two pieces that share a face.
#[derive(Clone, Debug, PartialEq)]
pub struct SlabLink {
    /// Linked pieces, as indices into [`SampledSlabs::pieces`], the lower first.
    pub pieces: [usize; 2],
    /// Centre of the face in m.
    pub point_m: Vec3,
    /// Unit normal of the face, from the first piece to the second.
    pub normal: Vec3,
    /// Area of the face in m².
    pub area_m2: f64,
    /// Tensile strength in N: the force along the normal that breaks the link.
    pub strength_n: f64,
    /// Shear strength in N: the force across the normal that breaks the link.
    pub shear_strength_n: f64,
}

impl SlabPiece {
    /// Makes a convex piece from corners in the scene's coordinates and faces counter-clockwise seen from
    /// outside; mass and inertia are those of the solid.
    pub fn new(slab_idx: usize, slab: &Slab, vertices_m: Vec<Vec3>, faces: Vec<Vec<u32>>) -> Self {
        let Moments { volume, centre, inertia } = moments(&vertices_m, &faces);
        Self {
            slab: slab_idx,
            vertices_m: vertices_m.into_iter().map(|v| std::array::from_fn(|i| v[i] - centre[i])).collect(),
            faces,
            centre_m: centre,
            volume_m3: volume,
            mass_kg: slab.density_kg_m3 * volume,
            inertia_kg_m2: inertia.map(|row| row.map(|x| slab.density_kg_m3 * x)),
            velocity_m_s: slab.velocity_m_s,
        }
    }

    /// Returns the planes of the faces: outward unit normal, and distance in m from the centre of mass.
    pub fn planes(&self) -> Vec<(Vec3, f64)> {
        self.faces
            .iter()
            .map(|face| {
                let corners: Vec<Vec3> = face.iter().map(|&v| self.vertices_m[v as usize]).collect();
                // Newell's normal is that of the best-fitting plane, should the corners not quite lie in one.
                let sum = corners.iter().zip(corners.iter().cycle().skip(1)).fold([0.0; 3], |sum, (a, b)| {
                    let cross = cross(*a, *b);
                    std::array::from_fn(|i| sum[i] + cross[i])
                });
                let normal = unit(sum);
                (normal, dot(normal, corners[0]))
            })
            .collect()
    }

    /// Returns the distance in m of the farthest corner from the centre of mass.
    pub fn bounding_radius_m(&self) -> f64 {
        self.vertices_m.iter().map(|v| dot(*v, *v).sqrt()).fold(0.0, f64::max)
    }

    /// Returns the largest signed distance in m of a point from [`Self::planes`]: negative inside, outside at
    /// most the distance from the piece.
    pub fn distance_m(&self, planes: &[(Vec3, f64)], point_m: Vec3) -> f64 {
        let offset: Vec3 = std::array::from_fn(|i| point_m[i] - self.centre_m[i]);
        planes
            .iter()
            .map(|(normal, offset_m)| dot(*normal, offset) - offset_m)
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns the reason why the piece is not convex, if there is one.
    pub(crate) fn hollow(&self) -> Option<String> {
        let size = self.vertices_m.iter().map(|v| dot(*v, *v).sqrt()).fold(0.0, f64::max);
        for (normal, offset) in self.planes() {
            for v in &self.vertices_m {
                let beyond = dot(normal, *v) - offset;
                if beyond > CONVEX_TOLERANCE * size {
                    let corner: Vec3 = std::array::from_fn(|i| self.centre_m[i] + v[i]);
                    return Some(format!(
                        "a hollow: the corner at {} m is {} m beyond a face",
                        vector(corner),
                        number(beyond)
                    ));
                }
            }
        }
        None
    }
}

impl SlabLink {
    pub(crate) fn new(pieces: [usize; 2], slab: &Slab, point_m: Vec3, normal: Vec3, area_m2: f64) -> Self {
        Self {
            pieces,
            point_m,
            normal,
            area_m2,
            strength_n: slab.link_strength_pa * area_m2,
            shear_strength_n: slab.link_shear_strength_pa() * area_m2,
        }
    }
}

/// Returns the normal oriented to point from the first piece to the second.
pub(crate) fn facing(pieces: &[SlabPiece], [a, b]: [usize; 2], normal: Vec3) -> Vec3 {
    let offset = std::array::from_fn(|i| pieces[b].centre_m[i] - pieces[a].centre_m[i]);
    if dot(offset, normal) < 0.0 { normal.map(|x| -x) } else { normal }
}

/// Volume, centre of mass, and moment of inertia about it of a solid of density 1.
pub(crate) struct Moments {
    pub volume: f64,
    pub centre: Vec3,
    pub inertia: [Vec3; 3],
}

/// Sums over tetrahedra from a corner to the triangles of the faces: exact for solids with plane faces.
pub(crate) fn moments(vertices: &[Vec3], faces: &[Vec<u32>]) -> Moments {
    // Relative to a corner, so that map coordinates do not suffer cancellation.
    let origin = vertices[0];
    let offset = |v: u32| -> Vec3 { std::array::from_fn(|i| vertices[v as usize][i] - origin[i]) };
    let (mut six_volumes, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
    for face in faces {
        for pair in face[1..].windows(2) {
            let [a, b, c] = [face[0], pair[0], pair[1]].map(offset);
            let determinant = dot(a, cross(b, c));
            let sum: Vec3 = std::array::from_fn(|i| a[i] + b[i] + c[i]);
            six_volumes += determinant;
            for i in 0..3 {
                first[i] += determinant * sum[i] / 24.0;
                for j in 0..3 {
                    second[i][j] +=
                        determinant * (a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + sum[i] * sum[j]) / 120.0;
                }
            }
        }
    }
    let volume = six_volumes / 6.0;
    let mean: Vec3 = first.map(|x| x / volume);
    let about_mean = |i: usize, j: usize| second[i][j] - volume * mean[i] * mean[j];
    let trace: f64 = (0..3).map(|i| about_mean(i, i)).sum();
    Moments {
        volume,
        centre: std::array::from_fn(|i| origin[i] + mean[i]),
        inertia: std::array::from_fn(|i| {
            std::array::from_fn(|j| if i == j { trace - about_mean(i, i) } else { -about_mean(i, j) })
        }),
    }
}

pub(crate) fn signed_volume(vertices: &[Vec3], faces: &[Vec<u32>]) -> f64 {
    moments(vertices, faces).volume
}
