//! What can go wrong between the engine and a device.

use crate::validation::Message;
use ash::vk;

/// A failed device operation: what was tried, on which object, and why it failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no Vulkan loader on this machine.
    #[error(
        "no Vulkan loader: {cause}; install one (Debian: libvulkan1) and a driver (a GPU's own, or mesa-vulkan-drivers)"
    )]
    NoLoader {
        /// What the dynamic linker said.
        cause: String,
    },
    /// The loader found no device at all.
    #[error(
        "no Vulkan device: the loader works but no driver offers a device; install a GPU's driver or Mesa's software device (Debian: mesa-vulkan-drivers)"
    )]
    NoDevice,
    /// The device that was asked for is not there.
    #[error("no device matches \"{wanted}\"; found: {}", available.join(", "))]
    DeviceNotFound {
        /// The name or index that was asked for.
        wanted: String,
        /// What there is, as `index: name`.
        available: Vec<String>,
    },
    /// A device lacks something that frazil cannot do without.
    #[error("device \"{device}\" lacks {}", missing.join(", "))]
    Unsupported {
        /// The device's name.
        device: String,
        /// The features, extensions and limits that are missing.
        missing: Vec<String>,
    },
    /// A layer was asked for and is not installed.
    #[error(
        "validation was asked for but VK_LAYER_KHRONOS_validation is not installed (Debian: vulkan-validationlayers)"
    )]
    NoValidationLayer,
    /// A Vulkan call failed.
    #[error("{operation} failed on {object}: {result}")]
    Call {
        /// The operation, in words.
        operation: &'static str,
        /// The object's name.
        object: String,
        /// Vulkan's answer.
        result: vk::Result,
    },
    /// Memory for an object could not be had.
    #[error(
        "out of device memory: {object} needs {bytes} bytes ({cause}); use fewer particles or a device with more memory"
    )]
    OutOfMemory {
        /// The object's name.
        object: String,
        /// Its size.
        bytes: u64,
        /// What the allocator said.
        cause: String,
    },
    /// Something is larger than the device allows.
    #[error("{object} needs {found} {unit}, this device's limit is {limit} ({limit_name})")]
    BeyondLimit {
        /// The object's name.
        object: String,
        /// The size asked for.
        found: u64,
        /// The unit of `found` and `limit`.
        unit: &'static str,
        /// The device's limit.
        limit: u64,
        /// The limit's name in Vulkan.
        limit_name: &'static str,
    },
    /// The device was lost while it ran a submission.
    #[error(
        "device lost in submission {submission} (passes {first_pass} … {last_pass}); the driver hung, crashed or was reset"
    )]
    DeviceLost {
        /// The submission's number.
        submission: u64,
        /// The first pass in it.
        first_pass: String,
        /// The last pass in it.
        last_pass: String,
    },
    /// Two sides of an interface do not agree.
    #[error("{object}: {problem}")]
    Misuse {
        /// The kernel, buffer or pass.
        object: String,
        /// What is wrong, what was found and what is expected.
        problem: String,
    },
    /// Validation layers reported something.
    #[error("{} validation messages; the first: {}", messages.len(), messages.first().map_or("", |m| &m.text))]
    Validation {
        /// All messages.
        messages: Vec<Message>,
    },
}

impl Error {
    /// Wraps a Vulkan result code with what was being done to what.
    pub(crate) fn call(
        operation: &'static str,
        object: impl Into<String>,
    ) -> impl FnOnce(vk::Result) -> Error {
        let object = object.into();
        move |result| Error::Call { operation, object, result }
    }
}
