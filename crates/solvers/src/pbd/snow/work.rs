//! Pairs that the passes of snow and water over neighbours work on.

use super::Snow;
use crate::WorkCounter;
use crate::pbd::work::count_pairs;
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
        if rows.slots() == 0 {
            return Ok(Vec::new());
        }
        let mut listed = Vec::new();
        for (number, phase) in [self.solid(), self.fluid()].into_iter().enumerate() {
            let n = device.download(&phase.phase.count.count, 1)?[0] as usize;
            listed.push(device.download(rows.listed(number), n)?);
        }
        let mut counters = Vec::new();
        let names = [
            (OVER_SNOW, ["listed_neighbour_of_snow", "near_neighbour_of_snow"]),
            (OVER_WATER, ["listed_neighbour_of_water", "near_neighbour_of_water"]),
        ];
        for (own, (kernels, items)) in names.into_iter().enumerate() {
            // A particle that changed its phase at the end of the step is no longer there.
            let other = |is_own, j: u32| listed[if is_own { own } else { 1 - own }].get(j as usize).copied();
            let pairs = count_pairs(&rows.download(device, own)?, &listed[own], rows.inverse_h(), other);
            let Some([own, other]) = pairs else { return Ok(Vec::new()) };
            let counts = [own.listed + other.listed, own.near + other.near];
            let counter = |(item, count)| WorkCounter { item, kernels, count };
            counters.extend(items.into_iter().zip(counts).map(counter));
        }
        Ok(counters)
    }
}
