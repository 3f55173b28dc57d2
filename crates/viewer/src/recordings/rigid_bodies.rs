//! Recorded rigid bodies, pieces of slabs and dynamic bodies, for pictures and files of other programs.

use frazil_engine::Failure;
use frazil_engine::picture::{self, HostSurface, Polyhedron};
use frazil_io::{BodyKind, Column, ColumnData, Faces, Frame};
use frazil_render::glam::{DQuat, DVec3, Vec3};
use frazil_scene::Scene;
use frazil_solvers::BodyPoses;
use frazil_vk::Device;
use std::ops::Range;

/// Rigid bodies of a frame, by their kinds.
#[derive(Default)]
pub struct RigidBodies {
    pieces: Option<Frame>,
    dynamic: Option<Frame>,
}

impl RigidBodies {
    /// Returns the recorded rigid bodies of a frame, each kind as a separate frame with `position` (their
    /// centre in m), `id` (their number among those in the scene, from 0), `rotation_x` to `rotation_w` (the
    /// rotation since time 0, a unit quaternion) and their other recorded columns.
    pub fn of(scene: &Scene, frame: &Frame) -> Result<Self, Failure> {
        let (Some(centres_m), Some(turns)) = (frame.body_vec3("centre"), frame.body_vec3("turn")) else {
            return Ok(Self::default());
        };
        let n_dynamic = scene.bodies.iter().filter(|body| body.dynamics().is_some()).count();
        let n = centres_m.len();
        let Some(n_pieces) = n.checked_sub(n_dynamic) else {
            return Err(Failure::input(format!(
                "{n} rigid bodies are recorded, expected the {n_dynamic} dynamic bodies of the recording's \
                 scene"
            )));
        };
        let of = |range: Range<usize>| {
            let is_any = !range.is_empty();
            is_any.then(|| bodies_of(frame, (centres_m, turns), range)).transpose()
        };
        Ok(Self { pieces: of(0..n_pieces)?, dynamic: of(n_pieces..n)? })
    }

    /// Returns the bodies of a kind, if there are any.
    pub fn get(&self, kind: BodyKind) -> Option<&Frame> {
        match kind {
            BodyKind::Pieces => self.pieces.as_ref(),
            BodyKind::Dynamic => self.dynamic.as_ref(),
        }
    }

    /// Uploads the poses of the bodies of a kind, if there are any. It waits for the device.
    pub fn poses(&self, kind: BodyKind, device: &Device) -> Result<Option<BodyPoses>, Failure> {
        let Some(bodies) = self.get(kind) else { return Ok(None) };
        let columns = rotation_columns(bodies)?;
        let rotations: Vec<[f32; 4]> =
            (0..bodies.len()).map(|i| std::array::from_fn(|axis| columns[axis][i])).collect();
        picture::poses(device, bodies.positions(), &rotations).map(Some)
    }
}

fn bodies_of(
    frame: &Frame,
    (centres_m, turns): (&[[f32; 3]], &[[f32; 3]]),
    range: Range<usize>,
) -> Result<Frame, Failure> {
    let rotation = |turn: &[f32; 3]| DQuat::from_scaled_axis(place(*turn)).as_quat().to_array();
    let rotations: Vec<[f32; 4]> = turns[range.clone()].iter().map(rotation).collect();
    let mut columns = vec![
        Column::vec3("position", "m", centres_m[range.clone()].to_vec()),
        Column::u32("id", "", (0..range.len() as u32).collect()),
    ];
    for (axis, name) in ROTATION.into_iter().enumerate() {
        columns.push(Column::f32(name, "", rotations.iter().map(|q| q[axis]).collect()));
    }
    let others = frame.bodies().iter().filter(|column| !["centre", "turn"].contains(&column.name.as_str()));
    columns
        .extend(others.map(|column| Column::new(&*column.name, &*column.unit, part(&column.data, &range))));
    Frame::new(frame.step(), frame.time_s(), columns).map_err(Failure::other)
}

/// Returns a range of the values of a column.
fn part(data: &ColumnData, range: &Range<usize>) -> ColumnData {
    match data {
        ColumnData::U32(values) => ColumnData::U32(values[range.clone()].to_vec()),
        ColumnData::F32(values) => ColumnData::F32(values[range.clone()].to_vec()),
        ColumnData::Vec3(values) => ColumnData::Vec3(values[range.clone()].to_vec()),
    }
}

const ROTATION: [&str; 4] = ["rotation_x", "rotation_y", "rotation_z", "rotation_w"];

fn rotation_columns(bodies: &Frame) -> Result<[&[f32]; 4], Failure> {
    let [x, y, z, w] = ROTATION.map(|name| bodies.f32(name).map_err(Failure::other));
    Ok([x?, y?, z?, w?])
}

fn place(v: [f32; 3]) -> DVec3 {
    Vec3::from(v).as_dvec3()
}

/// Surfaces of a scene's rigid bodies of a kind, at time 0 from their centres.
pub struct Solids {
    kind: BodyKind,
    solids: Vec<Polyhedron>,
}

impl Solids {
    pub fn new(scene: &Scene, kind: BodyKind) -> Result<Self, Failure> {
        let solids = match kind {
            BodyKind::Pieces => {
                let pieces = scene.sample_slabs()?.pieces.into_iter();
                pieces.map(|piece| Polyhedron { corners_m: piece.vertices_m, faces: piece.faces }).collect()
            }
            BodyKind::Dynamic => picture::polyhedra(scene),
        };
        Ok(Self { kind, solids })
    }

    /// Returns their faces at the poses of [`RigidBodies`].
    pub fn faces(&self, bodies: &Frame) -> Result<Faces, Failure> {
        if bodies.len() != self.solids.len() {
            let (found, expected, noun) = (bodies.len(), self.solids.len(), self.kind.noun());
            return Err(Failure::input(format!(
                "{found} {noun} are recorded, expected the {expected} of the recording's scene"
            )));
        }
        let rotations = rotation_columns(bodies)?;
        let mut faces = Faces::default();
        for (i, solid) in self.solids.iter().enumerate() {
            // A quaternion of f32 has length 1 to 10⁻⁷ only, which must not scale the bodies.
            let rotation = DQuat::from_array(std::array::from_fn(|axis| f64::from(rotations[axis][i])));
            let (rotation, centre) = (rotation.normalize(), place(bodies.positions()[i]));
            let first = faces.position.len() as u32;
            let corners =
                solid.corners_m.iter().map(|v| (centre + rotation * DVec3::from(*v)).as_vec3().to_array());
            faces.position.extend(corners);
            for face in &solid.faces {
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

    fn frame(n_bodies: usize) -> Frame {
        let particles = vec![Column::vec3("position", "m", vec![[0.0; 3]]), Column::u32("id", "", vec![0])];
        let vectors = |name| Column::vec3(name, "", vec![[0.0; 3]; n_bodies]);
        let bodies = vec![vectors("centre"), vectors("turn")];
        Frame::new(0, 0.0, particles).unwrap().with_bodies(bodies).unwrap()
    }

    #[test]
    fn pieces_that_are_not_the_scenes_are_refused() {
        let overrides = ["scale=0.4", "dem.slabs.0.shape.plate.pieces=[2,2]"].map(str::to_owned);
        let scene = Scene::find("avalanche_slabs", &overrides).unwrap();
        let solids = Solids::new(&scene, BodyKind::Pieces).unwrap();
        let bodies = |n_pieces| RigidBodies::of(&scene, &frame(n_pieces)).unwrap();
        let faces = |n_pieces| solids.faces(bodies(n_pieces).get(BodyKind::Pieces).unwrap());
        assert_eq!(faces(4).unwrap().position.len(), 4 * 8);
        let error = faces(3).unwrap_err().to_string();
        assert!(error.contains("3 pieces of slabs are recorded, expected the 4"), "{error}");
        let without = frame(3).with_bodies(Vec::new()).unwrap();
        let without = RigidBodies::of(&scene, &without).unwrap();
        assert!(BodyKind::ALL.into_iter().all(|kind| without.get(kind).is_none()));
    }

    #[test]
    fn dynamic_bodies_follow_the_pieces_of_slabs() {
        let bodies = "bodies=[{name='it',shape={sphere={centre_m=[10,10,175],radius_m=1}},\
            motion={dynamic={mass_kg=1}}}]";
        let scene = Scene::find("avalanche_slabs", &["scale=0.4".to_owned(), bodies.to_owned()]).unwrap();
        let found = RigidBodies::of(&scene, &frame(5)).unwrap();
        assert_eq!(BodyKind::ALL.map(|kind| found.get(kind).unwrap().len()), [4, 1]);
        let error = RigidBodies::of(&scene, &frame(0)).err().unwrap().to_string();
        assert!(error.contains("0 rigid bodies are recorded, expected the 1 dynamic"), "{error}");
    }
}
