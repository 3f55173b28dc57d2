//! Recorded pieces of slabs, for files of other programs.

use frazil_engine::Failure;
use frazil_engine::picture::HostSurface;
use frazil_io::{Column, Faces, Frame};
use frazil_render::glam::{DQuat, DVec3, Vec3};
use frazil_scene::{Scene, SlabPiece};

/// Pieces of a scene's slabs, in their frames at time 0.
pub struct SlabSolids {
    pieces: Vec<SlabPiece>,
}

/// Returns the recorded pieces of a frame, if any, as a separate frame with `position` (their centre in m),
/// `id` (their number in the scene, from 0), `rotation_x` to `rotation_w` (the rotation since time 0, a unit
/// quaternion) and their other recorded columns.
pub fn pieces(frame: &Frame) -> Result<Option<Frame>, Failure> {
    let (Some(centres_m), Some(turns)) = (frame.body_vec3("centre"), frame.body_vec3("turn")) else {
        return Ok(None);
    };
    let rotations: Vec<[f32; 4]> =
        turns.iter().map(|turn| DQuat::from_scaled_axis(place(*turn)).as_quat().to_array()).collect();
    let mut columns = vec![
        Column::vec3("position", "m", centres_m.to_vec()),
        Column::u32("id", "", (0..centres_m.len() as u32).collect()),
    ];
    for (axis, name) in ROTATION.into_iter().enumerate() {
        columns.push(Column::f32(name, "", rotations.iter().map(|q| q[axis]).collect()));
    }
    let others = frame.bodies().iter().filter(|column| !["centre", "turn"].contains(&column.name.as_str()));
    columns.extend(others.cloned());
    Frame::new(frame.step(), frame.time_s(), columns).map(Some).map_err(Failure::other)
}

const ROTATION: [&str; 4] = ["rotation_x", "rotation_y", "rotation_z", "rotation_w"];

fn place(v: [f32; 3]) -> DVec3 {
    Vec3::from(v).as_dvec3()
}

impl SlabSolids {
    pub fn new(scene: &Scene) -> Result<Self, Failure> {
        Ok(Self { pieces: scene.sample_slabs()?.pieces })
    }

    /// Returns their faces at the poses of [`pieces`].
    pub fn faces(&self, pieces: &Frame) -> Result<Faces, Failure> {
        if pieces.len() != self.pieces.len() {
            let (found, expected) = (pieces.len(), self.pieces.len());
            return Err(Failure::input(format!(
                "{found} pieces of slabs are recorded, expected the {expected} of the recording's scene"
            )));
        }
        let mut rotations = Vec::with_capacity(4);
        for name in ROTATION {
            rotations.push(pieces.f32(name).map_err(Failure::other)?);
        }
        let mut faces = Faces::default();
        for (i, piece) in self.pieces.iter().enumerate() {
            // A quaternion of f32 has length 1 to 10⁻⁷ only, which must not scale the pieces.
            let rotation = DQuat::from_array(std::array::from_fn(|axis| f64::from(rotations[axis][i])));
            let (rotation, centre) = (rotation.normalize(), place(pieces.positions()[i]));
            let first = faces.position.len() as u32;
            let corners =
                piece.vertices_m.iter().map(|v| (centre + rotation * DVec3::from(*v)).as_vec3().to_array());
            faces.position.extend(corners);
            for face in &piece.faces {
                faces.corners.extend(face.iter().map(|corner| first + corner));
                faces.ends.push(faces.corners.len() as u32);
                faces.body.push(i as u32);
            }
        }
        Ok(faces)
    }
}

/// Triangulates faces, each with its own corners and normal.
pub fn triangles(faces: &Faces) -> HostSurface {
    let mut flat = HostSurface::default();
    for corners in faces.each() {
        let corners: Vec<[f32; 3]> = corners.iter().map(|&corner| faces.position[corner as usize]).collect();
        // Newell's normal, that of the best-fit plane, also if three corners are collinear. Relative to one
        // corner, for precision.
        let origin = corners.first().copied().map_or(DVec3::ZERO, place);
        let pairs = corners.iter().zip(corners.iter().cycle().skip(1));
        let sum: DVec3 = pairs.map(|(a, b)| (place(*a) - origin).cross(place(*b) - origin)).sum();
        let first = flat.position.len() as u32;
        flat.normal.extend(corners.iter().map(|_| sum.normalize_or_zero().as_vec3().to_array()));
        flat.triangles.extend((2..corners.len() as u32).map(|k| [first, first + k - 1, first + k]));
        flat.position.extend(corners);
    }
    flat
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;

    #[test]
    fn pieces_that_are_not_the_scenes_are_refused() {
        let overrides = ["scale=0.4", "dem.slabs.0.shape.plate.pieces=[2,2]"].map(str::to_owned);
        let solids = SlabSolids::new(&Scene::find("avalanche_slabs", &overrides).unwrap()).unwrap();
        let frame = |n_pieces: usize| {
            let particles =
                vec![Column::vec3("position", "m", vec![[0.0; 3]]), Column::u32("id", "", vec![0])];
            let vectors = |name| Column::vec3(name, "", vec![[0.0; 3]; n_pieces]);
            let bodies = vec![vectors("centre"), vectors("turn")];
            Frame::new(0, 0.0, particles).unwrap().with_bodies(bodies).unwrap()
        };
        let faces = |n_pieces| solids.faces(&pieces(&frame(n_pieces)).unwrap().unwrap());
        assert_eq!(faces(4).unwrap().position.len(), 4 * 8);
        let error = faces(3).unwrap_err().to_string();
        assert!(error.contains("3 pieces of slabs are recorded, expected the 4"), "{error}");
        let without = frame(3).with_bodies(Vec::new()).unwrap();
        assert!(pieces(&without).unwrap().is_none());
    }
}
