//! Initial state of the rigid slab pieces and their links, as kernels read it.

use frazil_scene::{Dem, SampledSlabs, Slab, SlabPiece, damping_ratio};
use frazil_shaders::types::{PieceFace, PieceLink, PieceMotion, PieceShape};

/// Damping ratio of links, in translation and rotation: oscillations of a broken plate decay within a few
/// periods.
const LINK_DAMPING: f64 = 0.2;

/// Initial state of rigid pieces and their links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pieces {
    /// Constant properties of each piece.
    pub shapes: Vec<PieceShape>,
    /// Pose and velocity of each piece.
    pub motions: Vec<PieceMotion>,
    /// Faces, piece by piece.
    pub faces: Vec<PieceFace>,
    /// Corners of faces in m from the centre of their piece, face by face.
    pub corners_m: Vec<[f32; 3]>,
    /// Piece of each surface point.
    pub point_pieces: Vec<u32>,
    /// Surface points in m from the centre of their piece.
    pub points_m: Vec<[f32; 3]>,
    /// Links.
    pub links: Vec<PieceLink>,
    /// Links of each piece, piece by piece: the piece at the other end, and the link.
    pub linked: Vec<[u32; 2]>,
}

impl Pieces {
    /// Converts the slab pieces that [`frazil_scene::Scene::sample_slabs`] returns.
    pub fn of(slabs: &[Slab], dem: &Dem, sampled: &SampledSlabs) -> Self {
        let mut pieces = Self::default();
        for piece in &sampled.pieces {
            if let Some(slab) = slabs.get(piece.slab) {
                pieces.push(piece, slab, dem);
            }
        }
        for link in &sampled.links {
            let [first, second] = link.pieces.map(|idx| &sampled.pieces[idx]);
            let Some(slab) = slabs.get(first.slab) else { continue };
            let arm =
                |piece: &SlabPiece| narrow(std::array::from_fn(|i| link.point_m[i] - piece.centre_m[i]));
            let stiffness_n_m = slab.link_stiffness_n_m(dem.normal_stiffness_n_m);
            let side_m = link.area_m2.sqrt();
            let in_a_row = |a: f64, b: f64| a * b / (a + b);
            let mass_kg = in_a_row(first.mass_kg, second.mass_kg);
            let inertia_kg_m2 = in_a_row(first.min_inertia_kg_m2(), second.min_inertia_kg_m2());
            let bending_n_m = stiffness_n_m * link.area_m2 / 12.0;
            pieces.links.push(PieceLink {
                first: link.pieces[0] as u32,
                second: link.pieces[1] as u32,
                first_arm_m: arm(first),
                second_arm_m: arm(second),
                normal: narrow(link.normal),
                side_m: side_m as f32,
                stiffness_n_m: stiffness_n_m as f32,
                shear_stiffness_n_m: slab.link_shear_stiffness_n_m(dem.normal_stiffness_n_m) as f32,
                strength_n: link.strength_n as f32,
                shear_strength_n: link.shear_strength_n as f32,
                damping_n_s_m: (2.0 * LINK_DAMPING * (mass_kg * stiffness_n_m).sqrt()) as f32,
                turning_damping_n_m_s: (2.0 * LINK_DAMPING * (inertia_kg_m2 * bending_n_m).sqrt()) as f32,
            });
        }
        pieces.list_links();
        pieces
    }

    fn push(&mut self, piece: &SlabPiece, slab: &Slab, dem: &Dem) {
        let idx = self.shapes.len() as u32;
        let inverse = piece.inverse_inertia_1_kg_m2();
        let first_face = self.faces.len() as u32;
        for (face, (normal, offset_m)) in piece.faces.iter().zip(piece.planes()) {
            self.faces.push(PieceFace {
                normal: narrow(normal),
                offset_m: offset_m as f32,
                first_corner: self.corners_m.len() as u32,
                n_corners: face.len() as u32,
            });
            self.corners_m.extend(face.iter().map(|&corner| narrow(piece.vertices_m[corner as usize])));
        }
        let points = piece.contact_points_m();
        self.point_pieces.extend(points.iter().map(|_| idx));
        self.points_m.extend(points.into_iter().map(narrow));
        self.shapes.push(PieceShape {
            mass_kg: piece.mass_kg as f32,
            inverse_inertia_diagonal: std::array::from_fn(|i| inverse[i][i] as f32),
            inverse_inertia_rest: [inverse[1][2], inverse[2][0], inverse[0][1]].map(|x| x as f32),
            // Covers rounding, so that no corner lies outside.
            reach_m: (piece.bounding_radius_m() * (1.0 + 1e-6)) as f32,
            friction: slab.friction.unwrap_or(dem.wall_friction()) as f32,
            damping_ratio: damping_ratio(slab.restitution.unwrap_or(dem.wall_restitution())) as f32,
            first_face,
            n_faces: piece.faces.len() as u32,
            first_link: 0,
            n_links: 0,
        });
        self.motions.push(PieceMotion {
            centre_m: narrow(piece.centre_m),
            rotation: [0.0, 0.0, 0.0, 1.0],
            velocity_m_s: narrow(piece.velocity_m_s),
            spin_1_s: [0.0; 3],
            angular_momentum_kg_m2_s: [0.0; 3],
        });
    }

    /// Lists links by piece.
    fn list_links(&mut self) {
        for (piece, shape) in self.shapes.iter_mut().enumerate() {
            shape.first_link = self.linked.len() as u32;
            for (k, link) in self.links.iter().enumerate() {
                let other = match piece as u32 {
                    p if p == link.first => link.second,
                    p if p == link.second => link.first,
                    _ => continue,
                };
                self.linked.push([other, k as u32]);
            }
            shape.n_links = self.linked.len() as u32 - shape.first_link;
        }
    }

    /// Returns the bounding radius of the largest piece in m.
    pub fn reach_m(&self) -> f64 {
        self.shapes.iter().map(|shape| f64::from(shape.reach_m)).fold(0.0, f64::max)
    }
}

fn narrow(v: [f64; 3]) -> [f32; 3] {
    v.map(|x| x as f32)
}
