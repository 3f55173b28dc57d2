//! The columns of bonds, and how they grow.

use crate::KernelError;
use frazil_vk::{Buffer, Device};

/// Marks an empty slot, and in an order a particle that was not there before.
pub const INVALID_INDEX: u32 = u32::MAX;

/// Columns of bonds, double-buffered: passes that permute rows write the back and swap.
pub(super) struct Table {
    pub partner: Buffer<u32>,
    pub rest_length_m: Buffer<f32>,
    pub state: Buffer<u32>,
    pub degree: Buffer<u32>,
}

/// Size of a table.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub capacity: u32,
    pub slots: u32,
    pub state_columns: u32,
}

impl Extent {
    pub fn column(self) -> usize {
        self.capacity as usize * self.slots as usize
    }

    fn state(self) -> usize {
        self.column() * self.state_columns as usize
    }
}

impl Table {
    /// Makes a table without bonds. Waits for the device. All slots are cleared, so that a saved table has
    /// the same bits in every run.
    pub fn new(device: &Device, extent: Extent, side: &str) -> Result<Self, KernelError> {
        let table = Self {
            partner: device.buffer(&format!("bond partner{side}"), extent.column())?,
            rest_length_m: device.buffer(&format!("bond rest length{side}"), extent.column())?,
            state: device.buffer(&format!("bond state{side}"), extent.state())?,
            degree: device.buffer(&format!("bond degree{side}"), extent.capacity as usize)?,
        };
        let mut recorder = device.recorder()?;
        recorder.fill(&table.partner, INVALID_INDEX);
        recorder.fill(&table.rest_length_m.cast::<u32>(), 0);
        recorder.fill(&table.state, 0);
        recorder.fill(&table.degree, 0);
        device.submit(recorder)?.wait()?;
        Ok(table)
    }

    /// Makes a table with more slots that holds the same bonds. Waits for the device.
    pub fn grown(&self, device: &Device, from: Extent, to: Extent) -> Result<Self, KernelError> {
        let grown = Self::new(device, to, "")?;
        // Slots are stored one after another: the existing ones come first in each column.
        let mut partner = device.download(&self.partner, from.column())?;
        partner.resize(to.column(), INVALID_INDEX);
        device.upload(&grown.partner, &partner)?;
        device.upload(&grown.rest_length_m, &device.download(&self.rest_length_m, from.column())?)?;
        if from.state() > 0 {
            let words = device.download(&self.state, from.state())?;
            let mut state = Vec::with_capacity(to.state());
            for column in words.chunks(from.column()) {
                state.extend_from_slice(column);
                state.resize(state.len() + to.column() - from.column(), 0);
            }
            device.upload(&grown.state, &state)?;
        }
        device.upload(&grown.degree, &device.download(&self.degree, from.capacity as usize)?)?;
        Ok(grown)
    }
}
