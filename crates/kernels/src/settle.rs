//! Lists whose length the device finds: the length that was asked for becomes a count, as far as there is room.

use frazil_shaders::sparse::settle_blocks;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Result, Threads};

/// Turns totals of scans into the counts of lists, and keeps what each list would have needed.
pub(crate) struct Settle {
    kernel: Kernel<settle_blocks::Interface>,
    max_groups_x: u32,
    total: Buffer<u32>,
    wanted: Buffer<u32>,
}

impl Settle {
    /// Makes room for the lengths of `lists` lists; `name` is what the buffers are called.
    pub fn new(device: &Device, name: &str, lists: usize) -> Result<Self> {
        Ok(Self {
            kernel: Kernel::new(device)?,
            max_groups_x: device.capabilities().max_groups_x,
            total: device.buffer(&format!("{name} total"), 1)?,
            wanted: device.buffer_from(&format!("{name} wanted"), &vec![0; lists])?,
        })
    }

    /// Where a scan leaves the length that a list asks for.
    pub fn total(&self) -> &Buffer<u32> {
        &self.total
    }

    /// The lengths that were asked for last, one a list.
    pub fn wanted(&self) -> &Buffer<u32> {
        &self.wanted
    }

    /// Records the end of a scan: the total becomes the count of `list`, which is the one of number `slot`.
    pub fn record(&self, recorder: &mut Recorder, list: &DeviceCount, slot: u32) {
        let bindings = settle_blocks::Bindings {
            total: &self.total,
            settled: &list.count,
            args: &list.args,
            wanted: &self.wanted,
        };
        let params = settle_blocks::Params { capacity: list.capacity, slot, max_groups_x: self.max_groups_x };
        recorder.dispatch(&self.kernel, Threads::Fixed(1), bindings, params);
    }
}
