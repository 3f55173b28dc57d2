//! Removal of the particles in drains, for solvers whose sort does not leave them out.

use super::Sources;
use super::columns::{MAX_COLUMNS, Slots};
use crate::SolverError;
use frazil_kernels::Compaction;
use frazil_particles::{Column, ParticleTable, PhaseArray};
use frazil_shaders::sources::{count_drained, fill_drained, mark_drained};
use frazil_shaders::types::StepClock;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// Passes that remove particles: those in drains are listed in order, and the last particles that stay take
/// their places, so that the cost of a step without one is that of the list.
pub(crate) struct Removal {
    flags: Buffer<u32>,
    removed: Buffer<u32>,
    removed_count: DeviceCount,
    list: Compaction,
    mark: Kernel<mark_drained::Interface>,
    moves: Vec<(Kernel<fill_drained::Interface>, Slots)>,
    count: Kernel<count_drained::Interface>,
    max_groups_x: u32,
}

impl Removal {
    /// Makes the removal of particles from all columns of a table that steps depend on.
    pub fn new(device: &Device, workgroup_size: u32, table: &ParticleTable) -> Result<Self, SolverError> {
        let capacity = table.count().capacity;
        let columns: Vec<Column<u32>> = table.state_entries().map(|(column, _)| column.clone()).collect();
        let of_columns = |columns: &[Column<u32>]| -> Result<_, SolverError> {
            let slots = Slots::new(device, columns.iter())?;
            let [words_0, words_1, words_2, words_3, words_4, words_5, words_6] = slots.words();
            let constants = fill_drained::Specialization {
                workgroup_size,
                words_0,
                words_1,
                words_2,
                words_3,
                words_4,
                words_5,
                words_6,
            };
            Ok((Kernel::specialized(device, &constants)?, slots))
        };
        let removed_count = DeviceCount::new(device, "removed count", capacity)?;
        removed_count.expect(1);
        Ok(Self {
            flags: device.buffer("drained", capacity as usize)?,
            removed: device.buffer("removed", capacity as usize)?,
            removed_count,
            list: Compaction::new(device, capacity)?,
            mark: Kernel::specialized(device, &mark_drained::Specialization { workgroup_size })?,
            moves: columns.chunks(MAX_COLUMNS).map(of_columns).collect::<Result<_, _>>()?,
            count: Kernel::new(device)?,
            max_groups_x: device.capabilities().max_groups_x,
        })
    }

    /// Records the removal of the particles that begin a step in a drain.
    ///
    /// # Errors
    /// A primitive returns an error.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        sources: &Sources,
        phase: &PhaseArray,
        clock: &Buffer<StepClock>,
    ) -> Result<(), SolverError> {
        let Some(drain) = sources.drains() else { return Ok(()) };
        let (count, removed_count) = (&phase.count, &self.removed_count.count);
        let position = phase.position.front();
        let bindings = mark_drained::Bindings { count, clock, drain, position, flags: &self.flags };
        recorder.dispatch_counted(&self.mark, bindings, ());
        self.list.record(recorder, count, &self.flags, &self.removed, &self.removed_count)?;
        for (kernel, columns) in &self.moves {
            let [column0, column1, column2, column3, column4, column5, column6] = columns.fronts();
            let bindings = fill_drained::Bindings {
                count,
                removed_count,
                removed: &self.removed,
                column0,
                column1,
                column2,
                column3,
                column4,
                column5,
                column6,
            };
            recorder.dispatch(kernel, Threads::Counted(&self.removed_count), bindings, ());
        }
        let emission = sources.emission();
        let bindings = count_drained::Bindings { count, args: &count.args, removed_count, emission };
        let params = count_drained::Params { max_groups_x: self.max_groups_x };
        recorder.dispatch(&self.count, Threads::Fixed(1), bindings, params);
        Ok(())
    }
}
