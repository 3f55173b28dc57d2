//! Pairs that the passes over neighbours work on.

use super::Fluid;
use super::neighbour_rows::DownloadedRows;
use crate::WorkCounter;
use frazil_shaders::pbd::neighbour_rows::ROW_INDEX_BITS;
use frazil_vk::Device;

pub(super) const LISTING: &[&str] = &["pbd.list_neighbours"];
const WITH_IMAGES: &[&str] = &[
    "pbd.solve_density",
    "pbd.solve_positions",
    "pbd.begin_projection",
    "pbd.accelerate_by_pressure",
    "pbd.update_pressure",
];
const ALL: &[&str] = &[
    "pbd.solve_density",
    "pbd.solve_positions",
    "pbd.begin_projection",
    "pbd.accelerate_by_pressure",
    "pbd.update_pressure",
    "pbd.smooth_velocity",
];

/// Numbers of pairs, each counted from both ends: those in rows, and those of them within the support radius.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs {
    pub listed: u64,
    pub near: u64,
}

impl Fluid {
    /// Counts the pairs of the last step at the positions at which they were listed: candidates in the cells
    /// around each particle, which the search for neighbours tests, those of them in rows, and those within
    /// the support radius. Empty without rows, or if a row was too short. For profiles only: it waits for the
    /// device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn work_counters(&self, device: &Device) -> frazil_vk::Result<Vec<WorkCounter>> {
        let n = device.download(&self.count().count, 1)?[0] as usize;
        let (rows, periodic) = (self.rows(), self.parameters().periodic);
        if rows.slots() == 0 {
            return Ok(Vec::new());
        }
        let listed = device.download(rows.listed(0), n)?;
        let image = |_, entry: u32| {
            let j = (entry & ((1 << ROW_INDEX_BITS) - 1)) as usize;
            Some(rows.image(listed[j], entry >> ROW_INDEX_BITS, periodic))
        };
        let pairs = count_pairs(&rows.download(device, 0)?, &listed, rows.inverse_h(), image);
        let Some([own, images]) = pairs else { return Ok(Vec::new()) };
        let counter = |item, kernels, count| WorkCounter { item, kernels, count };
        let found = device.buffer("candidates and neighbours", n.max(1))?;
        let mut recorder = device.recorder()?;
        let (count, position) = (self.count(), rows.listed(0));
        let h_m = self.parameters().support_m;
        self.grid().record_neighbour_counts(&mut recorder, count, self.key(), position, h_m, &found);
        device.submit(recorder)?.wait()?;
        let found: Vec<[u32; 2]> = device.download(&found, n)?;
        Ok(vec![
            counter("candidate", LISTING, found.iter().map(|[candidates, _]| u64::from(*candidates)).sum()),
            counter("listed_neighbour", ALL, own.listed),
            counter("near_neighbour", ALL, own.near),
            counter("listed_image", WITH_IMAGES, images.listed),
            counter("near_image", WITH_IMAGES, images.near),
        ])
    }
}

/// Counts the pairs in rows of particles listed at `at`: with their own phase, and with another or images,
/// which `other` places by whether they are of their own phase, and by the entry. None if a row is too short.
pub(super) fn count_pairs(
    rows: &DownloadedRows,
    at: &[[f32; 3]],
    inverse_h: f32,
    other: impl Fn(bool, u32) -> Option<[f32; 3]>,
) -> Option<[Pairs; 2]> {
    let mut pairs = [Pairs::default(); 2];
    for (i, x) in at.iter().enumerate() {
        for (part, entries) in rows.row(i)?.into_iter().enumerate() {
            for y in entries.into_iter().filter_map(|entry| other(part == 0, entry)) {
                let q2: f32 = x.iter().zip(y).map(|(a, b)| ((a - b) * inverse_h).powi(2)).sum();
                pairs[part].listed += 1;
                pairs[part].near += u64::from(q2 < 1.0);
            }
        }
    }
    Some(pairs)
}
