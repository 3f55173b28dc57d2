//! Checks the initial positions of slab pieces: inside the domain and without overlap.

use crate::check::vector;
use crate::vector::dot;
use crate::{Body, SampledSlabs, Scene, SceneError, SlabPiece, Vec3};

/// Tolerated initial overlap of a piece, in units of the edge of a cube of the same volume.
const OVERLAP_TOLERANCE: f64 = 1e-3;

impl Scene {
    /// Refuses pieces beyond the walls, in the ground, in bodies, and in one another: contact forces would
    /// throw them apart.
    ///
    /// # Errors
    /// [`SceneError::Value`], with the slab, the position and the obstruction.
    pub(crate) fn refuse_misplaced_pieces(&self, sampled: &SampledSlabs) -> Result<(), SceneError> {
        let outlines: Vec<Outline<'_>> = sampled.pieces.iter().map(Outline::of).collect();
        for (idx, piece) in sampled.pieces.iter().enumerate() {
            let refuse = |point: Vec3, what: &str, expected: &str| {
                let at = vector(point.map(|x| (x * 1e6).round() / 1e6));
                let name = self.slabs()[piece.slab].shape.name();
                let key = format!("dem.slabs.{}.shape.{name}", piece.slab);
                Err(self.value_error(&key, format!("a piece {what} at {at} m"), expected))
            };
            let depth_m = OVERLAP_TOLERANCE * piece.volume_m3.cbrt();
            let points = piece.contact_points_m().into_iter().map(|point| moved(piece.centre_m, point));
            for point in points {
                let (min, max) = (self.domain.min_m, self.domain.max_m);
                if (0..3).any(|i| point[i] < min[i] || point[i] > max[i]) {
                    let expected =
                        format!("pieces inside the domain, from {} m to {} m", vector(min), vector(max));
                    return refuse(point, "beyond the walls", &expected);
                }
                let height = self.ground().and_then(|ground| ground.distance_m(point));
                if height.is_some_and(|height_m| height_m < -depth_m) {
                    return refuse(point, "in the ground", "pieces above the terrain");
                }
                let is_in_body = |body: &&Body| self.body_depth_m(body, point) > depth_m;
                if let Some((idx, body)) = self.bodies.iter().enumerate().find(|(_, body)| is_in_body(body)) {
                    let (what, expected) = body.misplaced(&format!("bodies.{idx}"), "pieces");
                    return refuse(point, &what, &expected);
                }
                let mut others = outlines.iter().enumerate().filter(|(other, _)| *other != idx);
                if let Some((_, other)) = others.find(|(_, other)| other.contains(point, depth_m)) {
                    let what = format!("in another, of dem.slabs.{},", other.piece.slab);
                    return refuse(point, &what, "pieces side by side");
                }
            }
        }
        Ok(())
    }
}

fn moved(by: Vec3, point: Vec3) -> Vec3 {
    std::array::from_fn(|i| by[i] + point[i])
}

/// A piece with cached planes and bounds.
struct Outline<'a> {
    piece: &'a SlabPiece,
    planes: Vec<(Vec3, f64)>,
    reach_m: f64,
}

impl<'a> Outline<'a> {
    fn of(piece: &'a SlabPiece) -> Self {
        Self { piece, planes: piece.planes(), reach_m: piece.bounding_radius_m() }
    }

    /// Returns true if a point is deeper inside than `depth_m`.
    fn contains(&self, point_m: Vec3, depth_m: f64) -> bool {
        let offset: Vec3 = std::array::from_fn(|i| point_m[i] - self.piece.centre_m[i]);
        dot(offset, offset) < self.reach_m * self.reach_m
            && self.piece.distance_m(&self.planes, point_m) < -depth_m
    }
}
