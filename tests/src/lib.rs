//! What the cross-crate tests share: a device with validation on, and the end of every test that uses it.

use frazil_vk::{Device, DeviceOptions};

/// Opens the test device with core and synchronization validation.
///
/// # Panics
/// If there is no device: tests that cannot run must fail. `tools/setup` installs a software device.
#[allow(clippy::expect_used)]
pub fn device() -> Device {
    let options = DeviceOptions { validation: true, ..Default::default() };
    Device::open(&options).expect("a Vulkan device with validation layers; tools/setup installs both")
}

/// Fails if the validation layers said anything.
///
/// # Panics
/// With the first message.
pub fn assert_no_validation_messages(device: &Device) {
    let messages = device.validation().messages();
    assert!(messages.is_empty(), "{} validation messages, the first: {:#?}", messages.len(), messages.first());
}
