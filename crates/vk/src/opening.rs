//! Opening a device, with a test of whether it computes anything.

use crate::buffer::{Buffer, Location};
use crate::capabilities::DeviceKind;
use crate::device::{Device, DeviceOptions, Shared, find};
use crate::{Error, Result, host};
use std::sync::Arc;

impl Device {
    /// Opens a device. Without a selector, one that computes nothing is passed over.
    ///
    /// # Errors
    /// No loader, no device, no device of that name, or one that lacks what frazil needs; see [`Error`].
    pub fn open(options: &DeviceOptions) -> Result<Self> {
        let mut passed_over = Vec::new();
        loop {
            let (instance, candidate) = find(options, &passed_over)?;
            let (index, kind) = (candidate.info.index, candidate.info.kind);
            if kind == DeviceKind::Software {
                host::check_address_space(&candidate.info.name)?;
            }
            let device = Self { shared: Arc::new(Shared::new(instance, candidate, options)?) };
            if kind == DeviceKind::Software || options.dry_run || device.computes()? {
                return Ok(device);
            }
            if options.selector.is_some() || Self::list()?.len() == passed_over.len() + 1 {
                return Err(Error::ComputesNothing { device: device.info().name.clone() });
            }
            passed_over.push(index);
        }
    }

    /// Returns true if the device executes what is submitted: it fills a buffer, and the host reads it.
    /// Mesa's drivers accept submissions for hardware that is absent (`mesa-drm-shim`).
    fn computes(&self) -> Result<bool> {
        const VALUE: u32 = 0x600d_f00d;
        let buffer: Buffer<u32> = self.buffer_in("test of the device", 1, Location::Readback)?;
        buffer.write(&[0])?;
        let mut recorder = self.recorder()?;
        recorder.fill(&buffer, VALUE);
        self.submit(recorder)?.wait()?;
        Ok(buffer.read(1)? == [VALUE])
    }
}
