//! Columns of one pass that fills or moves elements of several.

use frazil_particles::Column;
use frazil_vk::{Buffer, Device, Result};

/// Number of columns of one pass.
pub const MAX_COLUMNS: usize = 7;

/// Up to [`MAX_COLUMNS`] columns, and placeholders for slots without one: kernels bind all slots, and no two
/// written ones may be the same buffer.
pub struct Slots {
    columns: Vec<Column<u32>>,
    spare: Vec<Buffer<u32>>,
}

impl Slots {
    pub fn new<'a>(device: &Device, columns: impl Iterator<Item = &'a Column<u32>>) -> Result<Self> {
        let columns: Vec<_> = columns.cloned().collect();
        let spare = (0..MAX_COLUMNS).map(|_| device.buffer("spare column", 1)).collect::<Result<_>>()?;
        Ok(Self { columns, spare })
    }

    /// Returns the words of an element of each slot, 0 without a column.
    pub fn words(&self) -> [u32; MAX_COLUMNS] {
        std::array::from_fn(|slot| self.columns.get(slot).map_or(0, |column| column.kind().words()))
    }

    /// Returns the present buffer of each slot.
    pub fn fronts(&self) -> [&Buffer<u32>; MAX_COLUMNS] {
        std::array::from_fn(|slot| self.columns.get(slot).map_or(&self.spare[slot], |column| column.front()))
    }
}
