//! Lists whose length the device finds: the required length becomes a count, clamped to the capacity.

use crate::{KernelError, Scan};
use frazil_shaders::sparse::settle_blocks;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// Converts totals of scans to the counts of lists, and keeps the required length of each list.
pub(crate) struct Settle {
    kernel: Kernel<settle_blocks::Interface>,
    max_groups_x: u32,
    total: Buffer<u32>,
    required: Buffer<u32>,
}

impl Settle {
    /// Makes the buffers for `lists` lists; `name` is the prefix of their names.
    pub fn new(device: &Device, name: &str, lists: usize) -> Result<Self, KernelError> {
        Ok(Self {
            kernel: Kernel::new(device)?,
            max_groups_x: device.capabilities().max_groups_x,
            total: device.buffer(&format!("{name} total"), 1)?,
            required: device.buffer_from(&format!("{name} required"), &vec![0; lists])?,
        })
    }

    /// Returns the buffer in which a scan leaves the required length of a list.
    pub fn total(&self) -> &Buffer<u32> {
        &self.total
    }

    /// Records the scan of the lengths that `count` elements add to a list; the total stays for
    /// [`Self::record`].
    ///
    /// # Errors
    /// The count's capacity exceeds that of the scan.
    pub fn record_scan(
        &self,
        recorder: &mut Recorder,
        scan: &Scan,
        count: &DeviceCount,
        [lengths, first]: [&Buffer<u32>; 2],
    ) -> Result<(), KernelError> {
        scan.record(recorder, count, lengths, first, Some(&self.total))
    }

    /// Returns the last required lengths, one per list.
    pub fn required(&self) -> &Buffer<u32> {
        &self.required
    }

    /// Records the end of a scan: the total becomes the count of `list`, which has index `slot`.
    pub fn record(&self, recorder: &mut Recorder, list: &DeviceCount, slot: u32) {
        let bindings = settle_blocks::Bindings {
            total: &self.total,
            settled: &list.count,
            args: &list.args,
            required: &self.required,
        };
        let params = settle_blocks::Params { capacity: list.capacity, slot, max_groups_x: self.max_groups_x };
        recorder.dispatch(&self.kernel, Threads::Fixed(1), bindings, params);
    }
}
