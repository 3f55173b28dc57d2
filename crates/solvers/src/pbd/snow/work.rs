//! Pairs that the passes of snow and water over neighbours work on.

use super::Snow;
use crate::WorkCounter;
use frazil_shaders::pbd::neighbour_rows::ROW_TOO_SHORT;
use frazil_vk::Device;

const OVER_WATER: &[&str] = &["snow.compute_fluid_lambda", "snow.solve_fluid"];
const OVER_SNOW: &[&str] = &["snow.compute_solid_lambda", "snow.solve_solid", "snow.apply_friction"];

impl Snow {
    /// Counts the pairs in the rows of the last step, and those of them within the support radius at the
    /// positions at which they were listed, each from the particle whose pass works on it. Empty without
    /// rows, or if a row was too short. For profiles only: it waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn work_counters(&self, device: &Device) -> frazil_vk::Result<Vec<WorkCounter>> {
        let rows = self.rows();
        let (slots, stride) = (rows.slots() as usize, rows.stride() as usize);
        if slots == 0 {
            return Ok(Vec::new());
        }
        let mut listed = Vec::new();
        for (phase, position) in [self.solid(), self.fluid()].into_iter().zip(rows.listed()) {
            let n = device.download(&phase.phase.count.count, 1)?[0] as usize;
            listed.push(device.download(position, n)?);
        }
        let mut counters = Vec::new();
        let names = [
            (OVER_SNOW, ["listed_neighbour_of_snow", "near_neighbour_of_snow"]),
            (OVER_WATER, ["listed_neighbour_of_water", "near_neighbour_of_water"]),
        ];
        for (own, (kernels, items)) in names.into_iter().enumerate() {
            let words = device.download(rows.buffers()[own], rows.buffers()[own].len())?;
            let mut counts = [0_u64; 2];
            for (i, x) in listed[own].iter().enumerate() {
                let lengths = words[slots * stride + i];
                if lengths == ROW_TOO_SHORT {
                    return Ok(Vec::new());
                }
                let (n_own, n_all) = ((lengths & 0xffff) as usize, (lengths >> 16) as usize);
                for slot in 0..n_all {
                    let of = if slot < n_own { own } else { 1 - own };
                    // A particle that changed its phase at the end of the step is no longer there.
                    let Some(y) = listed[of].get(words[slot * stride + i] as usize) else { continue };
                    let q2: f32 = x.iter().zip(y).map(|(a, b)| ((a - b) * rows.inverse_h()).powi(2)).sum();
                    counts[0] += 1;
                    counts[1] += u64::from(q2 < 1.0);
                }
            }
            let counter = |(item, count)| WorkCounter { item, kernels, count };
            counters.extend(items.into_iter().zip(counts).map(counter));
        }
        Ok(counters)
    }
}
