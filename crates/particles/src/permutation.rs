//! The one permutation of a step: every column moves from front to back in the same order.

use crate::column::AnyColumn;
use frazil_shaders::primitives::gather_columns;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Result, Threads};

/// Number of columns that one pass moves.
const COLUMNS: usize = 7;

/// Reorders columns.
#[derive(Clone)]
pub struct Permutation {
    device: Device,
    workgroup_size: u32,
    /// Placeholders for slots without a column: kernels bind all slots, and no two written ones may be the
    /// same buffer.
    spare: Vec<Buffer<u32>>,
}

impl Permutation {
    /// Makes a permutation with the default workgroup size.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Device) -> Result<Self> {
        Self::with_workgroup_size(device, gather_columns::Specialization::default().workgroup_size)
    }

    /// Makes a permutation with another workgroup size, a power of two.
    ///
    /// # Errors
    /// A workgroup size beyond the device's limits, or out of memory.
    pub fn with_workgroup_size(device: &Device, workgroup_size: u32) -> Result<Self> {
        let spare = (0..COLUMNS).map(|_| device.buffer("spare column", 1)).collect::<Result<_>>()?;
        let permutation = Self { device: device.clone(), workgroup_size, spare };
        permutation.kernel(|_| 1)?;
        Ok(permutation)
    }

    /// Returns the kernel for columns with these numbers of words in an element, compiled on first use.
    fn kernel(&self, words: impl Fn(usize) -> u32) -> Result<Kernel<gather_columns::Interface>> {
        let specialization = gather_columns::Specialization {
            workgroup_size: self.workgroup_size,
            words_0: words(0),
            words_1: words(1),
            words_2: words(2),
            words_3: words(3),
            words_4: words(4),
            words_5: words(5),
            words_6: words(6),
        };
        Kernel::specialized(&self.device, &specialization)
    }

    /// Records, for each column, `new front[i] = old front[order[i]]` for i below the count; one pass moves
    /// up to seven columns.
    ///
    /// `order` must be a permutation of 0 … count − 1.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        order: &Buffer<u32>,
        columns: &mut [&mut dyn AnyColumn],
    ) {
        for columns in columns.chunks_mut(COLUMNS) {
            let (from, to): (Vec<_>, Vec<_>) =
                columns.iter().map(|column| (column.view(), column.back_words())).unzip();
            let words = |k: usize| from.get(k).map_or(0, |view| view.kind.words());
            let kernel = match self.kernel(words) {
                Ok(kernel) => kernel,
                Err(error) => return recorder.fail(error),
            };
            let column = |k: usize| from.get(k).map_or(order, |view| &view.words);
            let moved = |k: usize| to.get(k).unwrap_or(&self.spare[k]);
            let bindings = gather_columns::Bindings {
                count: &count.count,
                order,
                column0: column(0),
                column1: column(1),
                column2: column(2),
                column3: column(3),
                column4: column(4),
                column5: column(5),
                column6: column(6),
                moved0: moved(0),
                moved1: moved(1),
                moved2: moved(2),
                moved3: moved(3),
                moved4: moved(4),
                moved5: moved(5),
                moved6: moved(6),
            };
            recorder.dispatch(&kernel, Threads::Counted(count), bindings, ());
            columns.iter_mut().for_each(|column| column.swap());
        }
    }
}
