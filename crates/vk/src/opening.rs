//! Opening a device, with a test of whether it computes anything.

use crate::buffer::{Buffer, Location};
use crate::capabilities::{DeviceInfo, DeviceKind};
use crate::device::{Device, DeviceOptions, Shared, find};
use crate::{Error, Result, host};
use std::sync::Arc;

impl Device {
    /// Opens a device. Without a selector, one that computes nothing is passed over.
    ///
    /// # Errors
    /// No loader, no device, no device of that name, or one that lacks what frazil needs; see [`Error`].
    pub fn open(options: &DeviceOptions) -> Result<Self> {
        let mut passed_over: Vec<DeviceInfo> = Vec::new();
        loop {
            let (instance, candidate) = match (find(options, &passed_over), passed_over.first()) {
                // No other device can be had.
                (Err(_), Some(first)) => {
                    return Err(Error::ComputesNothing { device: first.name.trim().to_owned() });
                }
                (found, _) => found?,
            };
            let kind = candidate.info.kind;
            if kind == DeviceKind::Software {
                host::check_address_space(&candidate.info.name)?;
            }
            let device = Self { shared: Arc::new(Shared::new(instance, candidate, options)?) };
            if kind == DeviceKind::Software || options.dry_run || device.computes()? {
                return Ok(device);
            }
            passed_over.push(device.info().clone());
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
