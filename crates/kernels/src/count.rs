//! Counts on the device and the dispatch arguments made from them.

use frazil_shaders::primitives::prepare_dispatch;
use frazil_vk::{Device, DeviceCount, Kernel, Recorder, Result, Threads};

/// Kernel that makes dispatch arguments from counts, on the device.
#[derive(Clone)]
pub struct Counts {
    prepare_dispatch: Kernel<prepare_dispatch::Interface>,
    max_groups_x: u32,
}

impl Counts {
    /// Compiles the kernel.
    ///
    /// # Errors
    /// The device refuses it.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self { prepare_dispatch: Kernel::new(device)?, max_groups_x: device.capabilities().max_groups_x })
    }

    /// Records the pass that makes dispatch arguments from `count`; call it whenever the count was written.
    pub fn prepare(&self, recorder: &mut Recorder, count: &DeviceCount) {
        let bindings = prepare_dispatch::Bindings { count, args: &count.args };
        let params = prepare_dispatch::Params { max_groups_x: self.max_groups_x };
        recorder.dispatch(&self.prepare_dispatch, Threads::Fixed(1), bindings, params);
    }

    /// Makes a count with a value known to the host. For set-up only: it waits for the device.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn upload(&self, device: &Device, name: &str, value: u32, capacity: u32) -> Result<DeviceCount> {
        let count = DeviceCount::new(device, name, capacity)?;
        device.upload(&count.count, &[value])?;
        count.expect(value);
        let mut recorder = device.recorder()?;
        self.prepare(&mut recorder, &count);
        device.submit(recorder)?.wait()?;
        Ok(count)
    }
}
