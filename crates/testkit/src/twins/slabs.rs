//! Pieces of ice: blocks and their links, for the device and for its f64 twin.

use super::dem::partner_of;
use frazil_reference::dem as twin;
use frazil_scene::{Loaded, Slab, SlabLink, SlabPiece, SlabShape};
use frazil_shaders::types::PieceMotion;
use frazil_solvers::StateColumn;
use frazil_solvers::dem::Pieces;
use glam::{DMat3, DQuat, DVec3};

/// Returns ice of 900 kg/m³ with the given strength of its links.
pub fn ice(strength_pa: f64) -> Slab {
    Slab {
        name: "ice".into(),
        shape: SlabShape::Meshes {
            paths: Vec::new(),
            scale: 1.0,
            offset_m: [0.0; 3],
            meshes: Loaded::default(),
        },
        density_kg_m3: 900.0,
        link_strength_pa: strength_pa,
        link_shear_strength_pa: None,
        link_stiffness_n_m: None,
        friction: None,
        restitution: None,
        velocity_m_s: [0.0; 3],
    }
}

/// Makes a box.
pub fn block(slab: &Slab, centre: DVec3, size: DVec3, turn: DQuat) -> SlabPiece {
    let corner = |k: usize| {
        let side = |axis: usize| if k >> axis & 1 == 0 { -0.5 } else { 0.5 };
        (centre + turn * (DVec3::new(side(0), side(1), side(2)) * size)).to_array()
    };
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    SlabPiece::new(0, slab, (0..8).map(corner).collect(), faces.iter().map(|face| face.to_vec()).collect())
}

/// Makes a link of two pieces over a square face.
pub fn link(slab: &Slab, pieces: [usize; 2], point: DVec3, normal: DVec3, area_m2: f64) -> SlabLink {
    SlabLink {
        pieces,
        point_m: point.to_array(),
        normal: normal.to_array(),
        area_m2,
        strength_n: slab.link_strength_pa * area_m2,
        shear_strength_n: slab.link_shear_strength_pa() * area_m2,
    }
}

fn wide(v: [f32; 3]) -> DVec3 {
    DVec3::from_array(v.map(f64::from))
}

fn quaternion(q: [f32; 4]) -> DQuat {
    DQuat::from_array(q.map(f64::from)).normalize()
}

fn inverse_inertia(pieces: &Pieces, piece: usize) -> DMat3 {
    let shape = &pieces.shapes[piece];
    let ([xx, yy, zz], [yz, zx, xy]) =
        (shape.inverse_inertia_diagonal.map(f64::from), shape.inverse_inertia_rest.map(f64::from));
    DMat3::from_cols(DVec3::new(xx, xy, zx), DVec3::new(xy, yy, yz), DVec3::new(zx, yz, zz))
}

fn motion(m: &PieceMotion) -> twin::Motion {
    twin::Motion {
        centre: wide(m.centre_m),
        rotation: quaternion(m.rotation),
        velocity: wide(m.velocity_m_s),
        angular_momentum: wide(m.angular_momentum_kg_m2_s),
    }
}

/// Converts pieces to those of the twin, from the same single-precision numbers.
pub fn twin_slabs(pieces: &Pieces) -> twin::Slabs {
    let solid = |(piece, shape): (usize, &frazil_shaders::types::PieceShape)| {
        let faces = &pieces.faces[shape.first_face as usize..][..shape.n_faces as usize];
        let (mut corners, mut rings) = (Vec::new(), Vec::new());
        for face in faces {
            let ring = &pieces.corners_m[face.first_corner as usize..][..face.n_corners as usize];
            rings.push((corners.len()..corners.len() + ring.len()).collect());
            corners.extend(ring.iter().map(|corner| wide(*corner)));
        }
        let points = pieces.point_pieces.iter().zip(&pieces.points_m);
        let beta = f64::from(shape.damping_ratio);
        twin::Solid {
            mass: shape.mass_kg.into(),
            inertia: inverse_inertia(pieces, piece).inverse(),
            corners,
            faces: rings,
            points: points
                .filter(|(owner, _)| **owner == piece as u32)
                .map(|(_, point)| wide(*point))
                .collect(),
            friction: shape.friction.into(),
            restitution: (-std::f64::consts::PI * beta / (1.0 - beta * beta).sqrt()).exp(),
        }
    };
    let link = |l: &frazil_shaders::types::PieceLink| twin::Link {
        pieces: [l.first as usize, l.second as usize],
        arms: [wide(l.first_arm_m), wide(l.second_arm_m)],
        normal: wide(l.normal),
        side: l.side_m.into(),
        stiffness: [l.stiffness_n_m.into(), l.shear_stiffness_n_m.into()],
        strength: [l.strength_n.into(), l.shear_strength_n.into()],
        damping: [l.damping_n_s_m.into(), l.turning_damping_n_m_s.into()],
    };
    twin::Slabs::new(
        pieces.shapes.iter().enumerate().map(solid).collect(),
        pieces.motions.iter().map(motion).collect(),
        pieces.links.iter().map(link).collect(),
    )
}

/// Returns the pieces that state columns hold, with the shapes of the initial ones.
pub fn slabs_of(columns: &[StateColumn], begin: &twin::Slabs) -> twin::Slabs {
    let words = |name: &str| columns.iter().find(|c| c.name == name).map_or(&[][..], |c| c.words.as_slice());
    let motions: &[PieceMotion] = bytemuck::cast_slice(words("slab_motion"));
    let shear: &[[f32; 3]] = bytemuck::cast_slice(words("slab_point_shear"));
    let contact = |(partner, shear): (&u32, &[f32; 3])| {
        (*partner != u32::MAX).then(|| (partner_of(*partner), wide(*shear)))
    };
    twin::Slabs {
        solids: begin.solids.clone(),
        motions: motions.iter().map(motion).collect(),
        links: begin.links.clone(),
        is_whole: words("slab_link").iter().map(|whole| *whole != 0).collect(),
        contacts: words("slab_point_partner").iter().zip(shear).map(contact).collect(),
    }
}
