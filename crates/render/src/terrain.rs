//! Hill-shaded terrain.

use crate::lighting::Lighting;
use crate::terrain_detail::TerrainDetail;
use crate::{Chunk, OrbitCamera, Result};
use frazil_shaders::render::terrain::{self, CHUNK_QUADS};
use frazil_shaders::types::{Fog, View};
use frazil_vk::{Buffer, Device, Draw, Error, Raster};
use glam::Vec3;

/// A terrain ready to be drawn: heights over a regular grid, z up, the first at x = y = 0.
///
/// It is drawn in chunks of 32 × 32 quads with level of detail: no point of a picture is more than
/// [`Self::error_px`] pixels from its exact position. Chunks share their edges to the bit, so that there are
/// no cracks.
pub struct Terrain {
    height: Buffer<f32>,
    n: [u32; 2],
    cell_m: f32,
    range_m: [f32; 2],
    detail: TerrainDetail,
    error_px: f32,
}

impl Terrain {
    /// Default bound on the error in pixels.
    pub const ERROR_PX: f32 = 1.0;

    /// Creates a terrain from rows along y of `n_columns` heights in m along x, NaN where unknown, at a
    /// distance of `cell_m`. Set-up: it waits for the device.
    ///
    /// # Errors
    /// Fewer than two columns or rows, or an incomplete last row; a cell size that is not positive; out of
    /// memory.
    pub fn new(device: &Device, n_columns: usize, cell_m: f32, heights_m: &[f32]) -> Result<Self> {
        let misuse = |problem: String| Error::Misuse { object: "a terrain to draw".into(), problem };
        let n_rows = heights_m.len().checked_div(n_columns).unwrap_or(0);
        if n_columns < 2 || n_rows < 2 || n_columns * n_rows != heights_m.len() {
            let n = heights_m.len();
            return Err(misuse(format!(
                "{n} heights in rows of {n_columns}, expected two rows of two or more"
            ))
            .into());
        }
        let n = [n_columns, n_rows].map(u32::try_from);
        let [Ok(n_columns), Ok(n_rows)] = n else {
            return Err(
                misuse(format!("{n_columns} × {n_rows} heights, expected fewer than 2^32 a side")).into()
            );
        };
        if !(cell_m > 0.0 && cell_m.is_finite()) {
            return Err(misuse(format!("heights {cell_m} m apart, expected a length above 0")).into());
        }
        let known = || heights_m.iter().copied().filter(|height| !height.is_nan());
        let range_m = [known().fold(f32::INFINITY, f32::min), known().fold(f32::NEG_INFINITY, f32::max)];
        let n = [n_columns, n_rows];
        Ok(Self {
            height: device.buffer_from("terrain heights", heights_m)?,
            n,
            cell_m,
            range_m,
            detail: TerrainDetail::new(n, cell_m, heights_m),
            error_px: Self::ERROR_PX,
        })
    }

    /// Sets the bound on the error in pixels; 0 draws every height.
    #[must_use]
    pub fn with_error_px(self, error_px: f32) -> Self {
        Self { error_px, ..self }
    }

    /// Returns the bound on the error in pixels.
    pub fn error_px(&self) -> f32 {
        self.error_px
    }

    /// Returns two opposite corners in m of a box around the known heights.
    pub fn bounds(&self) -> [Vec3; 2] {
        let [width_m, depth_m] = self.n.map(|n| (n - 1) as f32 * self.cell_m);
        let [lowest_m, highest_m] = self.range_m;
        [Vec3::new(0.0, 0.0, lowest_m), Vec3::new(width_m, depth_m, highest_m)]
    }

    /// Returns the chunks to draw for a picture of `width` × `height` pixels.
    pub fn chunks(&self, camera: &OrbitCamera, width: u32, height: u32) -> Vec<Chunk> {
        self.chunks_of(&camera.view(width, height), height)
    }

    /// Returns the number of triangles that are drawn for a picture of `width` × `height` pixels.
    pub fn n_triangles(&self, camera: &OrbitCamera, width: u32, height: u32) -> u64 {
        let n_chunks = self.chunks(camera, width, height).len() as u64;
        n_chunks * 2 * u64::from(CHUNK_QUADS) * u64::from(CHUNK_QUADS)
    }

    /// Returns the chunks to draw in a view with a picture of `height` pixels.
    fn chunks_of(&self, view: &View, height: u32) -> Vec<Chunk> {
        self.detail.chunks(view, height, self.error_px)
    }

    pub(crate) fn draws(
        &self,
        pipeline: &Raster<terrain::Interface>,
        view: View,
        height: u32,
        fog: Fog,
        lighting: &Lighting,
    ) -> Vec<Draw> {
        let draw = |chunk: &Chunk| {
            let Chunk { first, stride, coarser } = *chunk;
            let params = terrain::Params {
                view,
                fog,
                n: self.n,
                cell_m: self.cell_m,
                first,
                stride,
                coarser,
                lowest_m: self.range_m[0],
                highest_m: self.range_m[1],
            };
            let bindings = terrain::Bindings {
                height: &self.height,
                light_terms: &lighting.terms,
                opaque_shadow: &lighting.opaque_shadow,
                fluid_shadow: &lighting.fluid_shadow,
            };
            pipeline.draw(bindings, params, 6 * CHUNK_QUADS * CHUNK_QUADS)
        };
        self.chunks_of(&view, height).iter().map(draw).collect()
    }
}
