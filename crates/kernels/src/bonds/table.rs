//! The columns of bonds, and how they grow.

use crate::KernelError;
use frazil_vk::{Device, DoubleBuffer};

/// Marks an empty slot, and in an order a particle that was not there before.
pub const INVALID_INDEX: u32 = u32::MAX;

/// Columns of bonds, double-buffered: passes that permute rows write the back and swap.
pub(super) struct Table {
    pub partner: DoubleBuffer<u32>,
    pub rest_length_m: DoubleBuffer<f32>,
    pub state: DoubleBuffer<u32>,
    pub degree: DoubleBuffer<u32>,
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
    pub fn new(device: &Device, extent: Extent) -> Result<Self, KernelError> {
        let table = Self {
            partner: DoubleBuffer::new(device, "bond partner", extent.column())?,
            rest_length_m: DoubleBuffer::new(device, "bond rest length", extent.column())?,
            state: DoubleBuffer::new(device, "bond state", extent.state())?,
            degree: DoubleBuffer::new(device, "bond degree", extent.capacity as usize)?,
        };
        let mut recorder = device.recorder()?;
        for _ in 0..2 {
            recorder.fill(table.partner.front(), INVALID_INDEX);
            recorder.fill(table.rest_length_m.front(), 0);
            recorder.fill(table.state.front(), 0);
            recorder.fill(table.degree.front(), 0);
            table.swap();
        }
        device.submit(recorder)?.wait()?;
        Ok(table)
    }

    /// Makes the back columns the front.
    pub fn swap(&self) {
        self.partner.swap();
        self.rest_length_m.swap();
        self.state.swap();
        self.degree.swap();
    }

    /// Makes a table with more slots that holds the same bonds. Waits for the device.
    pub fn grown(&self, device: &Device, from: Extent, to: Extent) -> Result<Self, KernelError> {
        let grown = Self::new(device, to)?;
        // Slots are stored one after another: the existing ones come first in each column.
        let mut partner = device.download(self.partner.front(), from.column())?;
        partner.resize(to.column(), INVALID_INDEX);
        device.upload(grown.partner.front(), &partner)?;
        device.upload(
            grown.rest_length_m.front(),
            &device.download(self.rest_length_m.front(), from.column())?,
        )?;
        if from.state() > 0 {
            let words = device.download(self.state.front(), from.state())?;
            let mut state = Vec::with_capacity(to.state());
            for column in words.chunks(from.column()) {
                state.extend_from_slice(column);
                state.resize(state.len() + to.column() - from.column(), 0);
            }
            device.upload(grown.state.front(), &state)?;
        }
        device
            .upload(grown.degree.front(), &device.download(self.degree.front(), from.capacity as usize)?)?;
        Ok(grown)
    }
}
