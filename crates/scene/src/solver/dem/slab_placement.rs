//! Checks the initial positions of slab pieces: inside the domain and without overlap.

use super::cells::Cells;
use crate::check::vector;
use crate::vector::dot;
use crate::watch::Watch;
use crate::{Body, SampledSlabs, Scene, SceneError, SlabPiece, SlabShape, Vec3};

/// Tolerated initial overlap of a piece, in units of the edge of a cube of the same volume.
const OVERLAP_TOLERANCE: f64 = 1e-3;

impl Scene {
    /// Refuses pieces beyond the walls, in the ground, in bodies, and in one another: contact forces would
    /// throw them apart.
    ///
    /// # Errors
    /// [`SceneError::Value`], with the slab, the position and the obstruction.
    pub(crate) fn refuse_misplaced_pieces(
        &self,
        sampled: &SampledSlabs,
        watch: &mut Watch<'_>,
    ) -> Result<(), SceneError> {
        let outlines: Vec<Outline<'_>> = sampled.pieces.iter().map(Outline::of).collect();
        // A point in a piece is no farther from its centre than the largest piece reaches.
        let reach_m = outlines.iter().map(|outline| outline.reach_m).fold(f64::MIN_POSITIVE, f64::max);
        let centres: Vec<Vec3> = sampled.pieces.iter().map(|piece| piece.centre_m).collect();
        let cells = Cells::new(&centres, reach_m, watch)?;
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
                watch.tick(1)?;
                let (min, max) = (self.domain.min_m, self.domain.max_m);
                if (0..3).any(|i| point[i] < min[i] || point[i] > max[i]) {
                    let expected = format!(
                        "pieces inside the domain, from {} m to {} m{}",
                        vector(min),
                        vector(max),
                        self.scale_hint_of_slab(piece.slab)
                    );
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
                let mut first = u32::MAX;
                cells.visit_near(point, |other| {
                    if other as usize != idx && outlines[other as usize].contains(point, depth_m) {
                        first = first.min(other);
                    }
                });
                if let Some(other) = outlines.get(first as usize) {
                    let what = format!("in another, of dem.slabs.{},", other.piece.slab);
                    return refuse(point, &what, "pieces side by side");
                }
            }
        }
        Ok(())
    }

    /// Returns the end of a message about the first mesh of a slab that another scale would put into the
    /// domain.
    fn scale_hint_of_slab(&self, slab_idx: usize) -> String {
        match &self.slabs()[slab_idx].shape {
            SlabShape::Meshes { scale, offset_m, meshes, .. } => {
                let meshes = meshes.get().map_or(&[][..], Vec::as_slice);
                let mut hints = meshes.iter().map(|mesh| self.scale_hint(Some(mesh), *scale, *offset_m));
                hints.find(|hint| !hint.is_empty()).unwrap_or_default()
            }
            SlabShape::Plate { .. } => String::new(),
        }
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
