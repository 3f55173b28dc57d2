//! Devices of tests.

use frazil_vk::{Device, DeviceOptions, DeviceSelector};
use std::sync::LazyLock;

/// Returns the test device with core and synchronization validation, one for all tests of a process: a device
/// caches its compiled kernels, and on a software device their compilation takes longer than most tests. It
/// is the one that `FRAZIL_DEVICE` names, by index or part of its name, or the best one.
///
/// # Panics
/// Without a device: tests that cannot run must fail. `tools/setup` installs a software device.
pub fn device() -> Device {
    static DEVICE: LazyLock<Device> = LazyLock::new(own_device);
    DEVICE.clone()
}

/// Opens a device like the shared one for a test that plants errors or reads the device's statistics.
///
/// # Panics
/// Without a device.
#[allow(clippy::expect_used)]
pub fn own_device() -> Device {
    let name = std::env::var("FRAZIL_DEVICE").ok().filter(|name| !name.is_empty());
    let selector = name.as_deref().map(DeviceSelector::from);
    let gpu_assisted = is_gpu_assisted();
    let options = DeviceOptions { selector, validation: true, gpu_assisted, ..Default::default() };
    Device::open(&options).expect("a Vulkan device with validation layers; tools/setup installs both")
}

/// Asserts that the validation log is empty.
///
/// # Panics
/// With the first message.
pub fn assert_no_validation_messages(device: &Device) {
    let messages = device.validation().messages();
    assert!(
        messages.is_empty(),
        "{} validation messages, the first: {:#?}",
        messages.len(),
        messages.first()
    );
}

/// Returns true with `FRAZIL_VALIDATION=gpu`, which adds GPU-assisted validation to the devices of tests.
pub fn is_gpu_assisted() -> bool {
    std::env::var("FRAZIL_VALIDATION").is_ok_and(|value| value == "gpu")
}

/// Returns true with `FRAZIL_FULL=1`, which requests the long form of tests that have one.
pub fn is_full_run() -> bool {
    std::env::var("FRAZIL_FULL").is_ok_and(|full| full == "1")
}
