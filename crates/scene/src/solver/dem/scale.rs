//! Scales the lengths of the `[dem]` section that grains do not fix.

use super::section::Dem;
use crate::SlabShape;

impl Dem {
    /// Multiplies the lengths of releases, slabs and the weak layer by `scale`.
    pub(super) fn scale_lengths(&mut self, scale: f64) {
        let flat = |at: &mut [f64; 2]| *at = at.map(|x| scale * x);
        for release in &mut self.releases {
            release.polygon_m.iter_mut().flatten().for_each(flat);
            release.thickness_m.iter_mut().for_each(|thickness_m| *thickness_m *= scale);
        }
        for slab in &mut self.slabs {
            match &mut slab.shape {
                SlabShape::Plate { origin_m, size_m, thickness_m, .. } => {
                    flat(origin_m);
                    flat(size_m);
                    *thickness_m *= scale;
                }
                SlabShape::Meshes { scale: unit_m, offset_m, .. } => {
                    *offset_m = offset_m.map(|x| scale * x);
                    *unit_m *= scale;
                }
            }
        }
        if let Some(area) = self.weak_layer.as_mut().and_then(|layer| layer.fails_within.as_mut()) {
            flat(&mut area.centre_m);
            area.radius_m *= scale;
        }
    }
}
