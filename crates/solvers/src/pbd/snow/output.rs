//! Both phases merged into one set of columns for display and storage, whose length is constant.

use super::migration::Gather;
use super::phase_particles::PhaseParticles;
use crate::SolverError;
use frazil_particles::{Column, ParticleTable, Uses};
use frazil_shaders::snow::list_particles;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder};

pub(super) struct Output {
    list: Kernel<list_particles::Interface>,
    gather: Gather,
    source: Buffer<u32>,
    phase: Column<u32>,
    /// Merged columns, in the order of those of a phase.
    merged: Vec<Column<u32>>,
    /// All particles.
    table: ParticleTable,
}

impl Output {
    /// Makes columns for those that the phases have in a checkpoint.
    pub fn new(device: &Device, workgroup_size: u32, solid: &PhaseParticles) -> Result<Self, SolverError> {
        let n = solid.phase.count.capacity;
        let mut table = ParticleTable::new(device, n, n, workgroup_size)?;
        let merged = solid.table.state_entries().map(|(column, uses)| table.merged(column, *uses));
        let merged = merged.collect::<frazil_vk::Result<_>>()?;
        Ok(Self {
            list: Kernel::specialized(device, &list_particles::Specialization { workgroup_size })?,
            gather: Gather::new(device, workgroup_size)?,
            source: device.buffer("source (all)", n as usize)?,
            phase: table.computed("phase", "1", Uses::RECORDED, &[])?,
            merged,
            table,
        })
    }

    /// Records the merge of both phases into the columns, as of this point of the recorder.
    pub fn record(&self, recorder: &mut Recorder, solid: &PhaseParticles, fluid: &PhaseParticles) {
        let (count, capacity) = (self.count(), self.count().capacity);
        let bindings = list_particles::Bindings {
            count,
            solids: &solid.phase.count.count,
            source: &self.source,
            phase: self.phase.front(),
        };
        let params = list_particles::Params { capacity };
        recorder.dispatch_counted(&self.list, bindings, params);
        let parts = solid.table.state_entries().zip(fluid.table.state_entries());
        for (column, ((solid, _), (fluid, _))) in self.merged.iter().zip(parts) {
            let buffers = [solid.front(), fluid.front(), column.front()];
            self.gather.record(recorder, (count, &self.source, capacity), buffers, column.kind().words());
        }
    }

    /// Returns the number of particles, on the device.
    pub fn count(&self) -> &DeviceCount {
        self.table.count()
    }

    /// Returns the table of all particles.
    pub fn table(&self) -> &ParticleTable {
        &self.table
    }

    /// Returns the table of all particles, for arrays of checkpoints.
    pub fn table_mut(&mut self) -> &mut ParticleTable {
        &mut self.table
    }
}
