//! Errors of device operations.

use crate::validation::Message;
use ash::vk;

/// A failed device operation: the operation, the object, and the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no Vulkan loader on this machine.
    #[error(
        "no Vulkan loader: {cause}; install one (Debian: libvulkan1) and a driver (a GPU's own, or \
         mesa-vulkan-drivers)"
    )]
    NoLoader {
        /// Message of the dynamic linker.
        cause: String,
    },
    /// The loader found no device at all.
    #[error(
        "no Vulkan device: the loader works but no driver offers a device; install a GPU's driver or Mesa's \
         software device (Debian: mesa-vulkan-drivers)"
    )]
    NoDevice,
    /// The requested device does not exist.
    #[error("no device matches \"{requested}\"; found: {}", available.join(", "))]
    DeviceNotFound {
        /// Requested name or index.
        requested: String,
        /// Available devices, as `index: name`.
        available: Vec<String>,
    },
    /// The device lacks a feature that frazil requires.
    #[error("device \"{device}\" lacks {}", missing.join(", "))]
    Unsupported {
        /// Name of the device.
        device: String,
        /// Missing features, extensions and limits.
        missing: Vec<String>,
    },
    /// The device accepts work and does not execute it.
    #[error(
        "device \"{device}\" computes nothing: a buffer that it was to fill did not change; it stands for \
         hardware that is absent, for which `frazil kernels --for` compiles"
    )]
    ComputesNothing {
        /// Name of the device.
        device: String,
    },
    /// The device has no hardware counters, or was opened without them.
    #[error(
        "{device} ({driver}) has no hardware counters that programs can read (VK_KHR_performance_query); of \
         Mesa's drivers RADV and ANV have them, and Turnip with TU_DEBUG=perfc"
    )]
    NoCounters {
        /// Name of the device.
        device: String,
        /// Name and version of its driver.
        driver: String,
    },
    /// The driver refuses the lock that hardware counters need.
    #[error(
        "{device} refuses the profiling lock: {}; reading hardware counters takes the right to (root or \
         CAP_PERFMON; on Intel GPUs `sysctl dev.i915.perf_stream_paranoid=0` or \
         `dev.xe.observation_paranoid=0`), and no other profiler at the same time", cause(*result)
    )]
    ProfilingLock {
        /// Name of the device.
        device: String,
        /// Vulkan result code.
        result: vk::Result,
    },
    /// A requested layer is not installed.
    #[error(
        "validation was asked for but VK_LAYER_KHRONOS_validation is not installed (Debian: \
         vulkan-validationlayers)"
    )]
    NoValidationLayer,
    /// A Vulkan call failed.
    #[error("{operation} failed on {object}: {}", cause(*result))]
    Call {
        /// Description of the operation.
        operation: &'static str,
        /// Name of the object.
        object: String,
        /// Vulkan result code.
        result: vk::Result,
    },
    /// Memory for an object could not be allocated.
    #[error(
        "out of device memory: {object} needs {bytes} bytes ({cause}); use fewer particles or a device with \
         more memory"
    )]
    OutOfMemory {
        /// Name of the object.
        object: String,
        /// Requested size in bytes.
        bytes: u64,
        /// Message of the allocator.
        cause: String,
    },
    /// A size exceeds a limit of the device.
    #[error("{object} needs {found} {unit}, this device's limit is {limit} ({limit_name})")]
    BeyondLimit {
        /// Name of the object.
        object: String,
        /// Requested size.
        found: u64,
        /// Unit of `found` and `limit`.
        unit: &'static str,
        /// Limit of the device.
        limit: u64,
        /// Name of the limit in Vulkan.
        limit_name: &'static str,
    },
    /// The device was lost while it ran a submission.
    #[error(
        "device lost in submission {submission}, {}; the driver hung, crashed or was reset",
        place(reached, first_pass, last_pass)
    )]
    DeviceLost {
        /// Number of the submission.
        submission: u64,
        /// Pass that had not finished, as `name (3 of 40)`, if passes were marked; see [`crate::Watchdog`].
        reached: Option<String>,
        /// First pass of the submission.
        first_pass: String,
        /// Last pass of the submission.
        last_pass: String,
    },
    /// A submission did not finish within the limit of the [watchdog](crate::Watchdog). The device's objects
    /// are not destroyed, since it may still use them.
    #[error(
        "the device hangs: submission {submission} did not finish within {limit_s} s, {}; a kernel that \
         never ends, or a device that needs a higher limit of the watchdog",
        place(reached, first_pass, last_pass)
    )]
    Hung {
        /// Number of the submission.
        submission: u64,
        /// Limit in seconds.
        limit_s: f64,
        /// Pass that had not finished, as `name (3 of 40)`, if passes were marked.
        reached: Option<String>,
        /// First pass of the submission.
        first_pass: String,
        /// Last pass of the submission.
        last_pass: String,
    },
    /// Work was cancelled from outside.
    #[error("cancelled")]
    Cancelled,
    /// The two sides of an interface disagree.
    #[error("{object}: {problem}")]
    Misuse {
        /// Kernel, buffer or pass.
        object: String,
        /// Description of the mistake, with the found and the expected value.
        problem: String,
    },
    /// The validation layers reported messages.
    #[error(
        "{} validation messages; the first: {}", messages.len(), messages.first().map_or("", |m| &m.text)
    )]
    Validation {
        /// All messages.
        messages: Vec<Message>,
    },
}

/// Describes a result without the link to the specification that some have.
fn cause(result: vk::Result) -> String {
    let text = result.to_string();
    text.split(" See <").next().unwrap_or_default().trim_end_matches('.').to_owned()
}

/// Describes how far a submission came.
fn place(reached: &Option<String>, first_pass: &str, last_pass: &str) -> String {
    match reached {
        Some(pass) => format!("in pass {pass}"),
        None if first_pass.is_empty() => "without passes: barriers for the host".into(),
        None => format!("in one of the passes {first_pass} … {last_pass}"),
    }
}

impl Error {
    /// Wraps a Vulkan result code with the operation and the object.
    pub(crate) fn call(
        operation: &'static str,
        object: impl Into<String>,
    ) -> impl FnOnce(vk::Result) -> Error {
        let object = object.into();
        move |result| Error::Call { operation, object, result }
    }
}
