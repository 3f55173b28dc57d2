//! Validates the slabs of a scene of grains.

use crate::check::{Check, Checker, number};
use crate::{Dem, MAX_BODY_TRIANGLES, Scene, Slab, SlabShape};

/// Maximum number of pieces of all plates: four plates of the largest number of pieces.
const MAX_PIECES: u64 = 1 << 18;

/// Maximum length of a slab's piece in edges of a cube of its volume: the number of its contact points grows
/// with the square.
const MAX_SLENDERNESS: f64 = 100.0;

impl Scene {
    pub(crate) fn check_slabs(&self, check: &Checker<'_>, dem: &Dem) -> Check {
        let mut names: Vec<&str> = Vec::new();
        for (idx, slab) in dem.slabs.iter().enumerate() {
            let key = format!("dem.slabs.{idx}");
            check.name(&key, &slab.name, &names)?;
            names.push(&slab.name);
            self.check_slab(check, &key, slab)?;
        }
        let pieces = |slab: &Slab| match &slab.shape {
            SlabShape::Plate { pieces, .. } => pieces.iter().map(|n| u64::from(*n)).product(),
            SlabShape::Meshes { .. } => 0,
        };
        let total: u64 = dem.slabs.iter().map(pieces).sum();
        if total > MAX_PIECES {
            let largest = dem.slabs.iter().map(pieces).enumerate().max_by_key(|(_, n)| *n);
            let key = format!("dem.slabs.{}.shape.plate.pieces", largest.map_or(0, |(idx, _)| idx));
            check.fail(&key, format!("{total} pieces in all slabs"), format!("at most {MAX_PIECES}"))?;
        }
        Ok(())
    }

    fn check_slab(&self, check: &Checker<'_>, key: &str, slab: &Slab) -> Check {
        let within = |name: &str| format!("{key}.shape.{}.{name}", slab.shape.name());
        check.vector(&format!("{key}.velocity_m_s"), slab.velocity_m_s, "m/s")?;
        match &slab.shape {
            SlabShape::Plate { origin_m, size_m, thickness_m, pieces, .. } => {
                if self.terrain.is_none() {
                    let expected = "a [terrain] that it lies on";
                    check.fail(&format!("{key}.shape.plate"), "a plate and no [terrain]", expected)?;
                }
                check.vector(&within("origin_m"), [origin_m[0], origin_m[1], 0.0], "metres")?;
                let [length, width] = [0, 1].map(|axis| size_m[axis] / f64::from(pieces[axis]));
                let cube_m = (length * width * thickness_m).cbrt();
                if length.max(width).max(*thickness_m) > MAX_SLENDERNESS * cube_m {
                    let found = [length, width, *thickness_m].map(number);
                    check.fail_between(
                        &[&within("pieces"), &within("size_m"), &within("thickness_m")],
                        format!("pieces of {} m by {} m by {} m", found[0], found[1], found[2]),
                        format!(
                            "pieces no longer than {MAX_SLENDERNESS} times the edge of a cube of their volume"
                        ),
                    )?;
                }
                Ok(())
            }
            SlabShape::Meshes { paths, offset_m, meshes, .. } => {
                if paths.is_empty() {
                    check.fail(&within("paths"), "no files", "at least one OBJ, STL or PLY file")?;
                }
                check.vector(&within("offset_m"), *offset_m, "metres")?;
                // Convexity compares all faces of a piece with all of its corners.
                let meshes = meshes.get().map_or(&[][..], Vec::as_slice);
                for (idx, (path, mesh)) in paths.iter().zip(meshes).enumerate() {
                    let n = mesh.triangles().len();
                    if n > MAX_BODY_TRIANGLES {
                        check.fail(
                            &format!("{}.{idx}", within("paths")),
                            format!("{path}: {n} triangles"),
                            format!("up to {MAX_BODY_TRIANGLES} triangles; divide the file or simplify its surfaces"),
                        )?;
                    }
                }
                Ok(())
            }
        }
    }
}
