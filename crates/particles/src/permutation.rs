//! The one permutation of a step: every column moves from front to back in the same order.

use crate::column::Column;
use frazil_shaders::primitives::gather_columns;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Result};

/// Number of columns that one pass moves, and of those of them whose elements are vectors of three words.
const COLUMNS: usize = 7;
const TRIPLES: usize = 2;

/// Words of such a vector.
const TRIPLE: u32 = 3;

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
        let spare =
            (0..COLUMNS).map(|_| device.buffer("spare column", TRIPLE as usize)).collect::<Result<_>>()?;
        let permutation = Self { device: device.clone(), workgroup_size, spare };
        permutation.kernel(|_| TRIPLE)?;
        Ok(permutation)
    }

    /// Returns the kernel for columns with these numbers of words in an element, compiled on first use.
    fn kernel(&self, words: impl Fn(usize) -> u32) -> Result<Kernel<gather_columns::Interface>> {
        let specialization = gather_columns::Specialization {
            workgroup_size: self.workgroup_size,
            triples_0: words(0) / TRIPLE,
            triples_1: words(1) / TRIPLE,
            words_2: words(2),
            words_3: words(3),
            words_4: words(4),
            words_5: words(5),
            words_6: words(6),
        };
        Kernel::specialized(&self.device, &specialization)
    }

    /// Records, for each column, `new front[i] = old front[order[i]]` for i below the count; one pass moves
    /// up to seven columns, two of them whole vectors of three words.
    ///
    /// `order` must be a permutation of 0 … count − 1.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        order: &Buffer<u32>,
        columns: &[Column<u32>],
    ) {
        let mut left: Vec<usize> = (0..columns.len()).collect();
        while !left.is_empty() {
            let slots = slots_of(&left, |at| columns[at].kind().words().is_multiple_of(TRIPLE));
            let moving = slots.map(|slot| slot.map(|at| &columns[at]));
            let words = |k: usize| moving[k].map_or(0, |column| column.kind().words());
            let kernel = match self.kernel(words) {
                Ok(kernel) => kernel,
                Err(error) => return recorder.fail(error),
            };
            let column = |k: usize| moving[k].map_or(order, |column| column.front());
            let moved = |k: usize| moving[k].map_or(&self.spare[k], |column| column.back());
            let bindings = gather_columns::Bindings {
                count,
                order,
                column0: &column(0).cast(),
                column1: &column(1).cast(),
                column2: column(2),
                column3: column(3),
                column4: column(4),
                column5: column(5),
                column6: column(6),
                moved0: &moved(0).cast(),
                moved1: &moved(1).cast(),
                moved2: moved(2),
                moved3: moved(3),
                moved4: moved(4),
                moved5: moved(5),
                moved6: moved(6),
            };
            recorder.dispatch_counted(&kernel, bindings, ());
            moving.iter().flatten().for_each(|column| column.swap());
            left.retain(|at| !slots.contains(&Some(*at)));
        }
    }
}

/// Returns the columns of the next pass by their slots, of those left: in the first slots columns of whole
/// vectors of three words, in the others any.
fn slots_of(left: &[usize], is_triple: impl Fn(usize) -> bool) -> [Option<usize>; COLUMNS] {
    let mut slots = [None; COLUMNS];
    let mut triples = left.iter().copied().filter(|at| is_triple(*at));
    slots[..TRIPLES].fill_with(|| triples.next());
    let taken = slots;
    let mut others = left.iter().copied().filter(|at| !taken.contains(&Some(*at)));
    slots[TRIPLES..].fill_with(|| others.next());
    slots
}
