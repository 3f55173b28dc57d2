//! The one permutation a step: every column moves from front to back in the same order.

use crate::column::{AnyColumn, ColumnKind};
use frazil_shaders::primitives::gather_u32;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Result, Threads};

/// Moves columns to a new order.
#[derive(Clone)]
pub struct Permutation {
    one_word: Kernel<gather_u32::Interface>,
    three_words: Kernel<gather_u32::Interface>,
}

impl Permutation {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// The device refuses them.
    pub fn new(device: &Device) -> Result<Self> {
        Self::with_workgroup_size(device, gather_u32::Specialization::default().workgroup_size)
    }

    /// Compiles the kernels with another workgroup size, a power of two.
    ///
    /// # Errors
    /// The device's limits do not allow it.
    pub fn with_workgroup_size(device: &Device, workgroup_size: u32) -> Result<Self> {
        let of = |kind: ColumnKind| {
            let specialization = gather_u32::Specialization { workgroup_size, words: kind.words() };
            Kernel::specialized(device, &specialization)
        };
        Ok(Self { one_word: of(ColumnKind::U32)?, three_words: of(ColumnKind::Vec3)? })
    }

    /// Records, for each column, `new front[i] = old front[order[i]]` for i below the count; one pass a column.
    ///
    /// `order` must be a permutation of 0 … count − 1.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        order: &Buffer<u32>,
        columns: &mut [&mut dyn AnyColumn],
    ) {
        for column in columns {
            let view = column.view();
            let kernel = match view.kind.words() {
                1 => &self.one_word,
                3 => &self.three_words,
                words => {
                    return recorder.fail(frazil_vk::Error::Misuse {
                        object: format!("permutation of \"{}\"", view.name),
                        problem: format!("elements of {words} words, expected 1 or 3"),
                    });
                }
            };
            let bindings = gather_u32::Bindings {
                count: &count.count,
                order,
                column: &view.words,
                moved: &column.back_words(),
            };
            recorder.dispatch(kernel, Threads::Counted(count), bindings, ());
            column.swap();
        }
    }
}
