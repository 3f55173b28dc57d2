//! Stream compaction: the indices of flagged elements, in order.

use crate::error::check_capacity;
use crate::{Counts, ExclusiveScan, KernelError};
use frazil_shaders::primitives::compact_indices;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// Lists the elements whose flag is set.
pub struct Compaction {
    scan: ExclusiveScan,
    counts: Counts,
    compact: Kernel<compact_indices::Interface>,
    place: Buffer<u32>,
    capacity: u32,
}

impl Compaction {
    /// Makes a compaction of up to `capacity` elements.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Device, capacity: u32) -> Result<Self, KernelError> {
        Ok(Self {
            scan: ExclusiveScan::new(device, capacity)?,
            counts: Counts::new(device)?,
            compact: Kernel::new(device)?,
            place: device.buffer("compaction places", capacity as usize)?,
            capacity,
        })
    }

    /// Records: `kept[0], kept[1] …` are the indices below `count` whose flag is not 0, in order, and `kept_count` how many.
    ///
    /// # Errors
    /// The count's capacity exceeds the compaction's, or a buffer is smaller than it.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        flags: &Buffer<u32>,
        kept: &Buffer<u32>,
        kept_count: &DeviceCount,
    ) -> Result<(), KernelError> {
        check_capacity("compaction", self.capacity, count, &[flags, kept])?;
        self.scan.record_flags(recorder, count, flags, &self.place, &kept_count.count)?;
        self.counts.prepare(recorder, kept_count);
        let bindings = compact_indices::Bindings { count: &count.count, flags, place: &self.place, kept };
        recorder.dispatch(&self.compact, Threads::Counted(count), bindings, ());
        Ok(())
    }
}
