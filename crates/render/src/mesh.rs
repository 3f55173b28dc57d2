//! Triangle meshes: surfaces in device buffers, and solids built on the host.

use crate::{Result, UpAxis};
use frazil_shaders::render::mesh;
use frazil_vk::{Buffer, Device, DeviceCount};
use glam::Vec3;

/// An indexed mesh on the device.
#[derive(Clone, Copy, Debug)]
pub struct Mesh<'a> {
    /// Vertex positions in m.
    pub position: &'a Buffer<[f32; 3]>,
    /// Unit normals of vertices.
    pub normal: &'a Buffer<[f32; 3]>,
    /// Vertex indices of each triangle.
    pub triangle: &'a Buffer<[u32; 3]>,
    /// Number of triangles.
    pub count: &'a DeviceCount,
    /// Upper bound on the number of triangles drawn, whatever the device count.
    pub max_count: u32,
    /// Material.
    pub material: Material,
    /// Display-encoded colour.
    pub color: [f32; 3],
}

/// Material of a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Material {
    /// Matte, with subsurface scattering.
    #[default]
    Snow,
    /// Matte.
    Stone,
    /// Glossy, lit by the light that moves with the camera.
    Water,
}

/// A solid with its own mesh on the device, such as a house.
#[derive(Clone, Debug)]
pub struct Solid {
    position: Buffer<[f32; 3]>,
    normal: Buffer<[f32; 3]>,
    triangle: Buffer<[u32; 3]>,
    count: DeviceCount,
    color: [f32; 3],
}

/// Vertices and normals of triangles of a solid under construction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolidShape {
    position: Vec<[f32; 3]>,
    normal: Vec<[f32; 3]>,
    triangle: Vec<[u32; 3]>,
}

/// Sides of the prism drawn for a cylinder; normals are those of the cylinder.
const CYLINDER_SIDES: u32 = 48;

impl SolidShape {
    /// Creates a box around `center` with edges along three vectors, given as half edges in m.
    pub fn cuboid(center: Vec3, half_edges: [Vec3; 3]) -> Self {
        let mut shape = Self::default();
        for axis in 0..3 {
            let [across, along] = [half_edges[(axis + 1) % 3], half_edges[(axis + 2) % 3]];
            for side in [-1.0, 1.0] {
                let middle = center + side * half_edges[axis];
                let corners = [-across - along, across - along, across + along, along - across];
                shape.face(
                    &corners.map(|corner| middle + corner),
                    side * half_edges[axis].normalize_or_zero(),
                );
            }
        }
        shape
    }

    /// Creates an upright cylinder from the centre of its base, in m.
    pub fn cylinder(foot: Vec3, radius_m: f32, height_m: f32, up_axis: UpAxis) -> Self {
        let axes = up_axis.axes();
        let outwards = |side: u32| {
            let (sine, cosine) = (std::f32::consts::TAU * side as f32 / CYLINDER_SIDES as f32).sin_cos();
            cosine * axes.right - sine * axes.back
        };
        let mut shape = Self::default();
        for side in 0..=CYLINDER_SIDES {
            for height_m in [0.0, height_m] {
                shape.position.push((foot + radius_m * outwards(side) + height_m * axes.up).to_array());
                shape.normal.push(outwards(side).to_array());
            }
        }
        for side in 0..CYLINDER_SIDES {
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| 2 * side + i);
            shape.triangle.extend([[a, c, d], [a, d, b]]);
        }
        let rim = |height_m: f32| {
            (0..CYLINDER_SIDES).map(move |side| foot + radius_m * outwards(side) + height_m * axes.up)
        };
        shape.face(&rim(height_m).collect::<Vec<_>>(), axes.up);
        shape.face(&rim(0.0).collect::<Vec<_>>(), -axes.up);
        shape
    }

    /// Creates flat-shaded triangles from their vertices in m, counter-clockwise seen from outside.
    pub fn flat(triangles: impl IntoIterator<Item = [Vec3; 3]>) -> Self {
        let mut shape = Self::default();
        for corners in triangles {
            shape.face(&corners, normal_of(&corners));
        }
        shape
    }

    /// Adds a convex face, given by its vertices.
    fn face(&mut self, corners: &[Vec3], normal: Vec3) {
        let first = self.position.len() as u32;
        self.position.extend(corners.iter().map(Vec3::to_array));
        self.normal.extend(corners.iter().map(|_| normal.to_array()));
        self.triangle.extend((2..corners.len() as u32).map(|i| [first, first + i - 1, first + i]));
    }
}

impl Solid {
    /// Uploads a solid with a display-encoded colour. Set-up: it waits for the device.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Device, shape: &SolidShape, color: [f32; 3]) -> Result<Self> {
        let n = shape.triangle.len() as u32;
        let count = DeviceCount::new(device, "triangles of a solid", n)?;
        device.upload(&count.count, &[n])?;
        Ok(Self {
            position: device.buffer_from("corners of a solid", &shape.position)?,
            normal: device.buffer_from("normals of a solid", &shape.normal)?,
            triangle: device.buffer_from("faces of a solid", &shape.triangle)?,
            count,
            color,
        })
    }

    /// Returns the solid as a mesh to draw.
    pub fn mesh(&self) -> Mesh<'_> {
        Mesh {
            position: &self.position,
            normal: &self.normal,
            triangle: &self.triangle,
            count: &self.count,
            max_count: self.count.capacity,
            material: Material::Stone,
            color: self.color,
        }
    }
}

/// Shapes of rigid pieces in their own frames, independent of their poses.
#[derive(Clone, Debug)]
pub struct PieceShapes {
    pub(crate) corner: Buffer<[f32; 3]>,
    pub(crate) face_normal: Buffer<[f32; 3]>,
    pub(crate) piece: Buffer<u32>,
    pub(crate) n_vertices: u32,
    n_pieces: usize,
}

/// Rigid pieces with their current poses.
#[derive(Clone, Copy, Debug)]
pub struct Pieces<'a> {
    /// Shapes.
    pub shapes: &'a PieceShapes,
    /// Centres in m.
    pub centre: &'a Buffer<[f32; 3]>,
    /// Orientations as unit quaternions (x, y, z, w).
    pub rotation: &'a Buffer<[f32; 4]>,
    /// Display-encoded colour.
    pub color: [f32; 3],
}

impl PieceShapes {
    /// Uploads convex pieces: vertices in m relative to the centre, and faces by vertex index,
    /// counter-clockwise seen from outside. Set-up: it waits for the device.
    ///
    /// # Errors
    /// A face with a vertex index out of range; out of memory.
    pub fn new<'s>(
        device: &Device,
        pieces: impl IntoIterator<Item = (Vec<[f32; 3]>, &'s [Vec<u32>])>,
    ) -> Result<Self> {
        let (mut corner, mut face_normal, mut piece, mut n_pieces) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (idx, (corners, faces)) in pieces.into_iter().enumerate() {
            for face in faces {
                let places = face.iter().map(|i| corners.get(*i as usize).copied().map(Vec3::from_array));
                let Some(places) = places.collect::<Option<Vec<Vec3>>>() else {
                    let problem =
                        format!("a face of corners {face:?}, expected numbers below {}", corners.len());
                    return Err(
                        frazil_vk::Error::Misuse { object: format!("piece {idx} to draw"), problem }.into()
                    );
                };
                // All triangles of a polygon share its Newell normal, which is robust against collinear
                // vertices.
                let rim = (0..places.len()).map(|i| places[i].cross(places[(i + 1) % places.len()]));
                let normal = rim.sum::<Vec3>().normalize_or_zero().to_array();
                for i in 2..places.len() {
                    corner.extend([places[0], places[i - 1], places[i]].map(|place| place.to_array()));
                    face_normal.push(normal);
                    piece.extend([idx as u32; 3]);
                }
            }
            n_pieces = idx + 1;
        }
        Ok(Self {
            n_vertices: corner.len() as u32,
            corner: device.buffer_from("corners of pieces", &corner)?,
            face_normal: device.buffer_from("normals of pieces", &face_normal)?,
            piece: device.buffer_from("pieces of corners", &piece)?,
            n_pieces,
        })
    }

    /// Returns the number of pieces.
    pub fn len(&self) -> usize {
        self.n_pieces
    }

    /// Returns true if there are no pieces.
    pub fn is_empty(&self) -> bool {
        self.n_pieces == 0
    }
}

fn normal_of([a, b, c]: &[Vec3; 3]) -> Vec3 {
    (*b - *a).cross(*c - *a).normalize_or_zero()
}

impl Material {
    /// Returns the index of the material in `mesh.frag`.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Snow => mesh::MATERIAL_SNOW,
            Self::Stone => mesh::MATERIAL_STONE,
            Self::Water => mesh::MATERIAL_WATER,
        }
    }
}
