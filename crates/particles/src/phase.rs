//! The columns that the particles of every phase have.

use crate::column::Column;
use crate::table::{ParticleTable, Uses};
use frazil_vk::{Device, DeviceCount, Result};

/// Count, positions, velocities and ids of the particles of one phase, registered in its table.
#[derive(Clone, Debug)]
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
    /// Registers the columns and uploads the values of the first particles, as many as there are. Set-up
    /// only: waits for the device.
    ///
    /// # Errors
    /// Out of memory, or a size beyond what the device can bind.
    pub fn register(
        table: &mut ParticleTable,
        positions_m: &[[f32; 3]],
        velocities_m_s: &[[f32; 3]],
        ids: &[u32],
    ) -> Result<Self> {
        let uses = Uses::RECORDED.permuted();
        Ok(Self {
            position: table.column("position", "m", uses, positions_m)?,
            velocity: table.column("velocity", "m/s", uses, velocities_m_s)?,
            id: table.column("id", "1", uses, ids)?,
            count: table.count().clone(),
        })
    }

    /// Makes a table of these columns alone, with ids 0, 1, 2 … in the order given. Set-up only: waits for
    /// the device.
    ///
    /// # Errors
    /// Like [`Self::register`]; a workgroup size beyond the device's limits.
    ///
    /// # Panics
    /// If there are more particles than `capacity`.
    pub fn with_table(
        device: &Device,
        positions_m: &[[f32; 3]],
        velocities_m_s: &[[f32; 3]],
        capacity: u32,
        workgroup_size: u32,
    ) -> Result<(ParticleTable, Self)> {
        let ids: Vec<u32> = (0..positions_m.len() as u32).collect();
        let mut table = ParticleTable::new(device, ids.len() as u32, capacity, workgroup_size)?;
        let phase = Self::register(&mut table, positions_m, velocities_m_s, &ids)?;
        Ok((table, phase))
    }
}
