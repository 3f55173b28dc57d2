//! The particles of one phase: their count, and the columns that every phase has.

use crate::column::{AnyColumn, Column};
use crate::permutation::Permutation;
use frazil_kernels::Counts;
use frazil_vk::{Buffer, Device, DeviceCount, Recorder, Result};

/// Particles of one phase, in buffers for `capacity` of them.
#[derive(Debug)]
pub struct PhaseArray {
    /// Number of particles, on the device.
    pub count: DeviceCount,
    /// Positions in m.
    pub position: Column<[f32; 3]>,
    /// Velocities in m/s.
    pub velocity: Column<[f32; 3]>,
    /// Unique number of the particle, which it keeps for life.
    pub id: Column<u32>,
}

impl PhaseArray {
    /// Uploads particles, with ids 0, 1, 2 … in the order given. A set-up function: it waits for the device.
    ///
    /// # Errors
    /// Out of memory, or a size beyond what the device can bind.
    ///
    /// # Panics
    /// If the two slices differ in length or there are more particles than `capacity`.
    pub fn upload(
        device: &Device,
        counts: &Counts,
        positions_m: &[[f32; 3]],
        velocities_m_s: &[[f32; 3]],
        capacity: u32,
    ) -> Result<Self> {
        let ids: Vec<u32> = (0..positions_m.len() as u32).collect();
        Self::restore(device, counts, positions_m, velocities_m_s, &ids, capacity)
    }

    /// Uploads particles with the ids they already have. A set-up function: it waits for the device.
    ///
    /// # Errors
    /// Like [`Self::upload`].
    ///
    /// # Panics
    /// If the slices differ in length or there are more particles than `capacity`.
    pub fn restore(
        device: &Device,
        counts: &Counts,
        positions_m: &[[f32; 3]],
        velocities_m_s: &[[f32; 3]],
        ids: &[u32],
        capacity: u32,
    ) -> Result<Self> {
        let n = positions_m.len();
        assert!(
            velocities_m_s.len() == n && ids.len() == n && n <= capacity as usize,
            "columns of one length that fit"
        );
        let phase = Self {
            count: counts.upload(device, "particle count", n as u32, capacity)?,
            position: Column::new(device, "position", "m", capacity as usize)?,
            velocity: Column::new(device, "velocity", "m/s", capacity as usize)?,
            id: Column::new(device, "id", "1", capacity as usize)?,
        };
        device.upload(phase.position.front(), positions_m)?;
        device.upload(phase.velocity.front(), velocities_m_s)?;
        device.upload(phase.id.front(), ids)?;
        Ok(phase)
    }

    /// Records the step's one permutation of all columns.
    pub fn permute(&mut self, recorder: &mut Recorder, permutation: &Permutation, order: &Buffer<u32>) {
        let columns: &mut [&mut dyn AnyColumn] = &mut [&mut self.position, &mut self.velocity, &mut self.id];
        permutation.record(recorder, &self.count, order, columns);
    }
}
