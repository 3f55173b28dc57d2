//! Samples the slabs of a scene at time 0.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;

use crate::slabs::pieces::{SampledSlabs, SlabPiece};
use crate::slabs::plate::Plate;
use crate::slabs::slab::SlabShape;
use crate::slabs::solids::{link_neighbours, solid_pieces};
use crate::watch::Watch;
use crate::{Scene, SceneError};

/// First random stream of slabs, after those of releases.
const FIRST_SLAB_STREAM: u64 = 1 << 60;

impl Scene {
    /// Returns the slabs' pieces and links at time 0. The same scene and seed give the same bits.
    ///
    /// # Errors
    /// [`SceneError::Value`] for a plate off the map, a mesh that is not convex, and pieces beyond the walls,
    /// in the ground, in bodies or in one another.
    pub fn sample_slabs(&self) -> Result<SampledSlabs, SceneError> {
        self.sample_slabs_watched(&mut Watch::unobserved())
    }

    pub(crate) fn sample_slabs_watched(&self, watch: &mut Watch<'_>) -> Result<SampledSlabs, SceneError> {
        let mut sampled = SampledSlabs::default();
        for (idx, slab) in self.slabs().iter().enumerate() {
            let key = format!("dem.slabs.{idx}.shape.{}", slab.shape.name());
            let first = sampled.pieces.len();
            match &slab.shape {
                SlabShape::Plate { .. } => {
                    let Some(terrain) = self.ground() else {
                        let found = "a terrain that was not there when the scene was read";
                        return Err(self.value_error(&key, found, "an existing file"));
                    };
                    let Some(plate) = Plate::on(terrain, slab) else {
                        let found = "a plate off the map, or over heights that are unknown";
                        return Err(self.value_error(
                            &key,
                            found,
                            "a plate on the known heights of the terrain",
                        ));
                    };
                    plate.cut(idx, slab, &mut self.slab_rng(idx), &mut sampled);
                }
                SlabShape::Meshes { paths, scale, offset_m, meshes } => {
                    let Some(meshes) = meshes.get() else {
                        let found = "files that were not there when the scene was read";
                        return Err(self.value_error(&key, found, "existing files"));
                    };
                    for (mesh_idx, mesh) in meshes.iter().enumerate() {
                        watch.tick(mesh.triangles().len() as u64)?;
                        let pieces = solid_pieces(idx, slab, mesh, *scale, *offset_m);
                        if let Some(problem) = pieces.iter().find_map(SlabPiece::hollow) {
                            return Err(self.value_error(
                                &format!("{key}.paths.{mesh_idx}"),
                                format!("{}: {problem}", paths.get(mesh_idx).map_or("", |path| path)),
                                "closed surfaces that are convex; divide others into convex ones",
                            ));
                        }
                        sampled.pieces.extend(pieces);
                    }
                    link_neighbours(first, slab, &mut sampled);
                }
            }
        }
        self.refuse_misplaced_pieces(&sampled, watch)?;
        Ok(sampled)
    }

    /// Returns the pieces and links on level ground: sufficient for masses and sizes, without a placement on
    /// the terrain.
    pub(crate) fn flat_slabs(&self) -> SampledSlabs {
        let mut sampled = SampledSlabs::default();
        for (idx, slab) in self.slabs().iter().enumerate() {
            let first = sampled.pieces.len();
            match &slab.shape {
                SlabShape::Plate { .. } => {
                    if let Some(plate) = Plate::level(slab) {
                        plate.cut(idx, slab, &mut self.slab_rng(idx), &mut sampled);
                    }
                }
                SlabShape::Meshes { scale, offset_m, meshes, .. } => {
                    let meshes = meshes.get().map_or(&[][..], Vec::as_slice);
                    let pieces =
                        meshes.iter().flat_map(|mesh| solid_pieces(idx, slab, mesh, *scale, *offset_m));
                    sampled.pieces.extend(pieces);
                    link_neighbours(first, slab, &mut sampled);
                }
            }
        }
        sampled
    }

    /// Returns the random generator for the corners of a slab's pieces.
    fn slab_rng(&self, slab_idx: usize) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(FIRST_SLAB_STREAM + slab_idx as u64);
        rng
    }
}
