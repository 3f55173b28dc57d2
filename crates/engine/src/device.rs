//! Opening and reporting the requested device.

use crate::failure::Failure;
use frazil_vk::{Device, DeviceInfo, DeviceOptions, DeviceSelector, Watchdog};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::path::PathBuf;
use std::time::Duration;

/// Opens a device; `surface_extensions` is empty if there is no window.
///
/// # Errors
/// There is no such device, it lacks what frazil needs, or a variable has an invalid value.
pub fn open(
    selector: Option<&str>,
    validation: bool,
    surface_extensions: Vec<&'static CStr>,
) -> Result<Device, Failure> {
    open_with(selector, validation, surface_extensions, false, false)
}

/// Opens a device without a window that collects the driver's statistics of kernels, and has hardware
/// counters if `counters` and the device has any.
///
/// # Errors
/// Like [`open`].
pub fn open_to_profile(selector: Option<&str>, validation: bool, counters: bool) -> Result<Device, Failure> {
    open_with(selector, validation, Vec::new(), true, counters)
}

fn open_with(
    selector: Option<&str>,
    validation: bool,
    surface_extensions: Vec<&'static CStr>,
    pipeline_statistics: bool,
    counters: bool,
) -> Result<Device, Failure> {
    let dry_run = is_on("FRAZIL_DRY_RUN").unwrap_or(false);
    let of_environment = std::env::var("FRAZIL_DEVICE").ok().filter(|name| !name.is_empty());
    Ok(Device::open(&DeviceOptions {
        selector: selector.or(of_environment.as_deref()).map(DeviceSelector::from),
        validation,
        gpu_assisted: std::env::var("FRAZIL_VALIDATION").is_ok_and(|value| value == "gpu"),
        watchdog: watchdog()?,
        // Findings of a dry run would mislead runs on the hardware.
        pipeline_cache: if dry_run { None } else { pipeline_cache() },
        surface_extensions,
        pipeline_statistics,
        counters,
        robust_access: is_on("FRAZIL_ROBUST_ACCESS").unwrap_or(true),
        labels: is_on("FRAZIL_LABELS").unwrap_or(validation || pipeline_statistics),
        dry_run,
    })?)
}

/// Returns the limit that `FRAZIL_WATCHDOG` gives in seconds; 0 is none.
fn watchdog() -> Result<Watchdog, Failure> {
    let Some(text) = std::env::var("FRAZIL_WATCHDOG").ok().filter(|text| !text.is_empty()) else {
        return Ok(Watchdog::default());
    };
    match text.parse::<f64>() {
        Ok(0.0) => Ok(Watchdog::Off),
        Ok(limit_s) if (0.001..=1e6).contains(&limit_s) => {
            Ok(Watchdog::Limit(Duration::from_secs_f64(limit_s)))
        }
        _ => Err(Failure::input(format!(
            "FRAZIL_WATCHDOG: found \"{text}\", expected a number of seconds from 0.001 to 1e6, or 0 for no \
             limit"
        ))),
    }
}

/// Returns true if this environment variable turns its option on, and false if it turns it off: as with
/// `FRAZIL_VALIDATION`, "0", "no", "off" and "false" do; none if it is not set.
pub fn is_on(name: &str) -> Option<bool> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
    Some(!["0", "n", "no", "f", "false", "off"].contains(&value.to_lowercase().as_str()))
}

/// Describes a device in one line; a software device is marked as one.
pub fn describe(info: &DeviceInfo) -> String {
    format!("{} ({}, {}, Vulkan {})", info.name, info.kind, info.driver, info.api_version)
}

/// Warning that timings of a software device do not apply to GPUs.
pub const SOFTWARE_WARNING: &str =
    "this is a software device: it shows whether the results are right, not how fast a GPU is";

/// Returns the limits that the engine depends on, under their Vulkan names.
pub fn limits(device: &Device) -> BTreeMap<String, Value> {
    let c = device.capabilities();
    [
        ("subgroupSize", json!(c.subgroup_size)),
        ("minSubgroupSize", json!(c.subgroup_size_range.0)),
        ("maxSubgroupSize", json!(c.subgroup_size_range.1)),
        ("maxComputeSharedMemorySize", json!(c.max_shared_memory)),
        ("maxComputeWorkGroupInvocations", json!(c.max_workgroup_size)),
        ("maxComputeWorkGroupCount[0]", json!(c.max_groups_x)),
        ("maxStorageBufferRange", json!(c.max_storage_range)),
        ("maxPushConstantsSize", json!(c.max_push_constants)),
        ("maxPushDescriptors", json!(c.max_push_descriptors)),
        ("timestampPeriod", json!(c.timestamp_period_ns)),
        ("deviceLocalMemory", json!(c.device_memory)),
        ("maxImageDimension2D", json!(c.max_image_size)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// Returns the user's cache directory by the XDG convention; none if neither variable is set.
fn pipeline_cache() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(caches.join("frazil").join("pipelines.bin"))
}
