//! Pairs that the passes over neighbours work on.

use super::Fluid;
use super::neighbour_rows::NeighbourRows;
use crate::WorkCounter;
use frazil_shaders::pbd::neighbour_rows::{ROW_INDEX_BITS, ROW_TOO_SHORT};
use frazil_vk::Device;

const LISTING: &[&str] = &["pbd.list_neighbours"];
const WITH_IMAGES: &[&str] = &["pbd.solve_density", "pbd.solve_positions"];
const ALL: &[&str] = &["pbd.solve_density", "pbd.solve_positions", "pbd.smooth_velocity"];

/// Numbers of pairs, each counted from both ends: those in rows, and those of them within the support radius.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pairs {
    listed: u64,
    near: u64,
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
        let Some([own, images]) = count_pairs(self.rows(), self.parameters().periodic, n, device)? else {
            return Ok(Vec::new());
        };
        let counter = |item, kernels, count| WorkCounter { item, kernels, count };
        let found = device.buffer("candidates and neighbours", n.max(1))?;
        let mut recorder = device.recorder()?;
        let (count, position) = (self.count(), self.rows().listed());
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

/// Counts the pairs of the first `n` rows with particles and with images behind faces of the domain.
fn count_pairs(
    rows: &NeighbourRows,
    periodic: u32,
    n: usize,
    device: &Device,
) -> frazil_vk::Result<Option<[Pairs; 2]>> {
    if rows.slots() == 0 {
        return Ok(None);
    }
    let row = device.download(rows.row(), n)?;
    if row.contains(&ROW_TOO_SHORT) {
        return Ok(None);
    }
    let neighbour = device.download(rows.neighbour(), rows.neighbour().len())?;
    let listed = device.download(rows.listed(), n)?;
    let stride = rows.neighbour().len() / rows.slots() as usize;
    let mut pairs = [Pairs::default(); 2];
    for (i, (row, x)) in row.iter().zip(&listed).enumerate() {
        let (n_own, n_all) = ((row & 0xffff) as usize, (row >> 16) as usize);
        for slot in 0..n_all {
            let entry = neighbour[slot * stride + i];
            let j = (entry & ((1 << ROW_INDEX_BITS) - 1)) as usize;
            let other = rows.image(listed[j], entry >> ROW_INDEX_BITS, periodic);
            let q2: f32 = x.iter().zip(other).map(|(a, b)| ((a - b) * rows.inverse_h()).powi(2)).sum();
            let pairs = &mut pairs[usize::from(slot >= n_own)];
            pairs.listed += 1;
            pairs.near += u64::from(q2 < 1.0);
        }
    }
    Ok(Some(pairs))
}
