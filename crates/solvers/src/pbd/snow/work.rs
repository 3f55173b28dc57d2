//! Pairs that the passes of snow and water over neighbours work on.

use super::Snow;
use crate::pbd::work::{LISTING, count_pairs};
use crate::{SolverError, WorkCounter};
use frazil_kernels::{Counts, UniformGrid};
use frazil_vk::Device;

const OVER_WATER: &[&str] = &["snow.compute_fluid_lambda", "snow.solve_fluid"];
const OVER_SNOW: &[&str] = &["snow.compute_solid_lambda", "snow.solve_solid", "snow.apply_friction"];

impl Snow {
    /// Counts the pairs in the rows of the last step, and those of them within the support radius at the
    /// positions at which they were listed, each from the particle whose pass works on it; and the candidates
    /// of both phases that a search for neighbours tests. Empty without rows, or if a row was too short. For
    /// profiles only: it waits for the device.
    ///
    /// # Errors
    /// The device was lost, or has no memory for another grid.
    pub fn work_counters(&self, device: &Device) -> Result<Vec<WorkCounter>, SolverError> {
        let rows = self.rows();
        if rows.slots() == 0 {
            return Ok(Vec::new());
        }
        let mut listed = Vec::new();
        for (number, phase) in [self.solid(), self.fluid()].into_iter().enumerate() {
            let n = device.download(&phase.phase.count.count, 1)?[0] as usize;
            listed.push(device.download(rows.listed(number), n)?);
        }
        // Each phase has a search of its own, in one call.
        let searches = listed.iter().filter(|phase| !phase.is_empty()).count().max(1) as u64;
        let count = self.count_candidates(device, &listed.concat())? / searches;
        let mut counters = vec![WorkCounter { item: "candidate", kernels: LISTING, count }];
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
    /// Counts the particles in the 27 cells around each one, itself included.
    fn count_candidates(&self, device: &Device, at: &[[f32; 3]]) -> Result<u64, SolverError> {
        let (n, parameters) = (at.len(), &self.parameters().fluid);
        let (walls, h_m) = (&parameters.walls, parameters.support_m);
        let grid = UniformGrid::new(device, walls.domain_min_m, walls.domain_max_m, h_m)?;
        let count = Counts::new(device)?.upload(device, "listed particles", n as u32, n as u32)?;
        let key = device.buffer("keys of listed particles", n.max(1))?;
        let mut recorder = device.recorder()?;
        grid.record_keys(&mut recorder, &count, &device.buffer_from("listed particles", at)?, &key);
        device.submit(recorder)?.wait()?;
        let keys = device.download(&key, n)?;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| keys[i]);
        let sorted: Vec<[f32; 3]> = order.iter().map(|&i| at[i]).collect();
        let sorted_keys: Vec<u32> = order.iter().map(|&i| keys[i]).collect();
        let (position, key) =
            (device.buffer_from("sorted", &sorted)?, device.buffer_from("sorted keys", &sorted_keys)?);
        let found = device.buffer("candidates and neighbours", n.max(1))?;
        let mut recorder = device.recorder()?;
        grid.record_cell_ranges(&mut recorder, &count, &key);
        grid.record_neighbour_counts(&mut recorder, &count, &key, &position, h_m, &found);
        device.submit(recorder)?.wait()?;
        let found: Vec<[u32; 2]> = device.download(&found, n)?;
        Ok(found.iter().map(|[candidates, _]| u64::from(*candidates)).sum())
    }
}
