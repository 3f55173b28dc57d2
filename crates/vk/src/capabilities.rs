//! Device identity, limits and optional features that the engine depends on.

use crate::compute_units::{ComputeUnits, UnitKind};
use crate::instance::Instance;
use crate::tick_clock::period_ns;
use ash::{amd, ext, khr, nv, vk};
use std::ffi::CStr;
use std::fmt;

/// Device type, in order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceKind {
    /// A GPU with its own memory.
    Discrete,
    /// A GPU that shares the CPU's memory.
    Integrated,
    /// A GPU passed through to a virtual machine.
    Virtual,
    /// A software device such as Mesa's lavapipe: it shows whether code is correct, not how fast it is on a
    /// GPU.
    Software,
    /// Anything else.
    Other,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discrete => "discrete GPU",
            Self::Integrated => "integrated GPU",
            Self::Virtual => "virtual GPU",
            Self::Software => "software device",
            Self::Other => "other device",
        })
    }
}

/// Identity of a device.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// Index in the loader's list, as in `--device INDEX`.
    pub index: usize,
    /// Device name reported by the driver.
    pub name: String,
    /// Device type.
    pub kind: DeviceKind,
    /// Name and version text of the driver.
    pub driver: String,
    /// Supported Vulkan version, `major.minor.patch`.
    pub api_version: String,
}

/// Limits and optional features of a device. Sizes are in bytes unless named otherwise.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// Subgroup size in invocations.
    pub subgroup_size: u32,
    /// Range of subgroup sizes that a kernel may request.
    pub subgroup_size_range: (u32, u32),
    /// True if a kernel can require one of these sizes (`SUBGROUP_SIZE`), or there is only one, and full
    /// subgroups, and the operations on ballots and sums of a subgroup.
    pub subgroup_ballots: bool,
    /// Maximum number of subgroups in a workgroup whose subgroup size is required.
    pub max_subgroups: u32,
    /// Maximum shared memory of a workgroup.
    pub max_shared_memory: u32,
    /// Maximum number of threads in a workgroup.
    pub max_workgroup_size: u32,
    /// Maximum number of groups in the x dimension of a dispatch; the recorder folds larger dispatches over
    /// y.
    pub max_groups_x: u32,
    /// Maximum number of groups in the y dimension of a dispatch.
    pub max_groups_y: u32,
    /// Size of the largest buffer that a kernel can bind.
    pub max_storage_range: u64,
    /// Maximum size of the push constants.
    pub max_push_constants: u32,
    /// Maximum number of buffers in a push descriptor set.
    pub max_push_descriptors: u32,
    /// Time-stamp period in nanoseconds per tick; 0 if the queue has no time stamps.
    pub timestamp_period_ns: f32,
    /// Number of valid bits of a time stamp, beyond which it wraps around.
    pub timestamp_valid_bits: u32,
    /// True if it can draw; without, it runs everything but pictures.
    pub graphics: bool,
    /// Size of device-local memory.
    pub device_memory: u64,
    /// True if the driver reports registers, spills and shared memory of a pipeline.
    pub pipeline_statistics: bool,
    /// True if hardware counters of passes can be read.
    pub counters: bool,
    /// True if kernels can add to floating-point numbers in buffers atomically.
    pub float_atomics: bool,
    /// Processors that run workgroups, if the driver tells.
    pub compute_units: Option<ComputeUnits>,
    /// Maximum side of a colour image, in pixels.
    pub max_image_size: u32,
}

/// A physical device with its properties, queried once.
#[derive(Clone)]
pub(crate) struct Candidate {
    pub handle: vk::PhysicalDevice,
    /// Unique key of this device under this driver, used in file names.
    pub identity: String,
    pub info: DeviceInfo,
    pub capabilities: Capabilities,
    pub queue_family: u32,
    pub missing: Vec<String>,
}

fn version_text(version: u32) -> String {
    format!(
        "{}.{}.{}",
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version)
    )
}

/// Returns all devices of an instance, in the loader's order, usable or not.
pub(crate) fn candidates(instance: &Instance) -> crate::Result<Vec<Candidate>> {
    // SAFETY: the instance is alive.
    let handles = unsafe { instance.raw.enumerate_physical_devices() }
        .map_err(crate::Error::call("list devices", "the Vulkan loader"))?;
    handles.into_iter().enumerate().map(|(index, handle)| examine(instance, index, handle)).collect()
}

fn examine(instance: &Instance, index: usize, handle: vk::PhysicalDevice) -> crate::Result<Candidate> {
    let raw = &instance.raw;
    // SAFETY: the handle comes from this instance.
    let basic = unsafe { raw.get_physical_device_properties(handle) };
    let name = basic.device_name_as_c_str().unwrap_or(c"unnamed").to_string_lossy().into_owned();
    let mut missing = Vec::new();
    let is_1_3 = basic.api_version >= vk::API_VERSION_1_3;
    if !is_1_3 {
        missing.push(format!("Vulkan 1.3 (offers {})", version_text(basic.api_version)));
    }

    // SAFETY: the handle comes from this instance.
    let extensions = unsafe { raw.enumerate_device_extension_properties(handle) }
        .map_err(crate::Error::call("list extensions", name.as_str()))?;
    let has = |name: &CStr| extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
    if !has(khr::push_descriptor::NAME) {
        missing.push("VK_KHR_push_descriptor".into());
    }

    let mut push = vk::PhysicalDevicePushDescriptorPropertiesKHR::default();
    let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Properties::default();
    let mut v13 = vk::PhysicalDeviceVulkan13Properties::default();
    let mut multiprocessors = vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV::default();
    let mut cores = vk::PhysicalDeviceShaderCorePropertiesAMD::default();
    let mut active_cores = vk::PhysicalDeviceShaderCoreProperties2AMD::default();
    let mut properties = vk::PhysicalDeviceProperties2::default();
    if has(nv::shader_sm_builtins::NAME) {
        properties = properties.push_next(&mut multiprocessors);
    }
    if has(amd::shader_core_properties::NAME) {
        properties = properties.push_next(&mut cores);
    }
    if has(amd::shader_core_properties2::NAME) {
        properties = properties.push_next(&mut active_cores);
    }
    if has(khr::push_descriptor::NAME) {
        properties = properties.push_next(&mut push);
    }
    if is_1_3 {
        properties = properties.push_next(&mut v11).push_next(&mut v12).push_next(&mut v13);
    }
    // SAFETY: the chain holds only structures that the device's version and extensions define.
    unsafe { raw.get_physical_device_properties2(handle, &mut properties) };
    let limits = properties.properties.limits;
    let cache_uuid = properties.properties.pipeline_cache_uuid;

    let mut f12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut f13 = vk::PhysicalDeviceVulkan13Features::default();
    let mut executables = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default();
    let mut float_atomics = vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT::default();
    let mut performance = vk::PhysicalDevicePerformanceQueryFeaturesKHR::default();
    let mut features = vk::PhysicalDeviceFeatures2::default();
    if has(khr::performance_query::NAME) {
        features = features.push_next(&mut performance);
    }
    if has(khr::pipeline_executable_properties::NAME) {
        features = features.push_next(&mut executables);
    }
    if has(ext::shader_atomic_float::NAME) {
        features = features.push_next(&mut float_atomics);
    }
    if is_1_3 {
        features = features.push_next(&mut f12).push_next(&mut f13);
    }
    // SAFETY: as above.
    unsafe { raw.get_physical_device_features2(handle, &mut features) };
    for (present, feature) in [
        (f12.scalar_block_layout, "scalarBlockLayout"),
        (f12.timeline_semaphore, "timelineSemaphore"),
        (f12.host_query_reset, "hostQueryReset"),
        (f13.synchronization2, "synchronization2"),
    ] {
        if present == vk::FALSE {
            missing.push(feature.into());
        }
    }

    // SAFETY: the handle comes from this instance.
    let families = unsafe { raw.get_physical_device_queue_family_properties(handle) };
    let flags: Vec<_> = families.iter().map(|family| family.queue_flags).collect();
    let family = choose_family(&flags);
    if family.is_none() {
        missing.push("a queue for compute".into());
    }
    let (queue_family, draws) = family.unwrap_or_default();
    let timestamp_valid_bits = families.get(queue_family).map_or(0, |family| family.timestamp_valid_bits);

    // SAFETY: the handle comes from this instance.
    let memory = unsafe { raw.get_physical_device_memory_properties(handle) };
    let device_memory = memory
        .memory_heaps_as_slice()
        .iter()
        .filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL))
        .map(|heap| heap.size)
        .sum();

    let compute_units = if multiprocessors.shader_sm_count > 0 {
        let kind = UnitKind::Multiprocessor { max_warps: multiprocessors.shader_warps_per_sm };
        Some(ComputeUnits { count: multiprocessors.shader_sm_count, kind })
    } else if cores.simd_per_compute_unit > 0 {
        let all = cores.shader_engine_count
            * cores.shader_arrays_per_engine_count
            * cores.compute_units_per_shader_array;
        let kind = UnitKind::ComputeUnit {
            simds: cores.simd_per_compute_unit,
            max_waves: cores.wavefronts_per_simd,
            wave_size: v13.min_subgroup_size.max(1),
        };
        let active = active_cores.active_compute_unit_count;
        Some(ComputeUnits { count: if active > 0 { active } else { all }, kind })
    } else if basic.device_type == vk::PhysicalDeviceType::CPU {
        // lavapipe has a thread for each core, or as many as this variable says; at 0 the queue's own.
        let asked = std::env::var("LP_NUM_THREADS").ok().and_then(|n| n.parse().ok());
        let cores = || std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        Some(ComputeUnits { count: asked.unwrap_or_else(cores).max(1), kind: UnitKind::Thread })
    } else {
        None
    };
    let text =
        |name: Result<&CStr, _>| name.map(|t: &CStr| t.to_string_lossy().into_owned()).unwrap_or_default();
    let driver = format!("{} {}", text(v12.driver_name_as_c_str()), text(v12.driver_info_as_c_str()))
        .trim()
        .to_owned();
    Ok(Candidate {
        handle,
        // The identity includes the driver's build; a software device compiles different code for each
        // subgroup size.
        identity: cache_uuid
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .chain([format!("-{}", v11.subgroup_size)])
            .collect(),
        queue_family: queue_family as u32,
        info: DeviceInfo {
            index,
            name,
            kind: match basic.device_type {
                vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
                vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
                vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
                vk::PhysicalDeviceType::CPU => DeviceKind::Software,
                _ => DeviceKind::Other,
            },
            driver,
            api_version: version_text(basic.api_version),
        },
        capabilities: Capabilities {
            subgroup_size: v11.subgroup_size,
            subgroup_size_range: (v13.min_subgroup_size, v13.max_subgroup_size),
            subgroup_ballots: f13.compute_full_subgroups == vk::TRUE
                && (v13.min_subgroup_size == v13.max_subgroup_size
                    || f13.subgroup_size_control == vk::TRUE
                        && v13.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE))
                && v11.subgroup_supported_stages.contains(vk::ShaderStageFlags::COMPUTE)
                && v11
                    .subgroup_supported_operations
                    .contains(vk::SubgroupFeatureFlags::BALLOT | vk::SubgroupFeatureFlags::ARITHMETIC),
            max_subgroups: v13.max_compute_workgroup_subgroups,
            max_shared_memory: limits.max_compute_shared_memory_size,
            max_workgroup_size: limits
                .max_compute_work_group_invocations
                .min(limits.max_compute_work_group_size[0]),
            max_groups_x: limits.max_compute_work_group_count[0],
            max_groups_y: limits.max_compute_work_group_count[1],
            max_storage_range: u64::from(limits.max_storage_buffer_range),
            max_push_constants: limits.max_push_constants_size,
            max_push_descriptors: push.max_push_descriptors,
            timestamp_period_ns: period_ns(timestamp_valid_bits, limits.timestamp_period),
            timestamp_valid_bits,
            graphics: draws && f13.dynamic_rendering == vk::TRUE,
            device_memory,
            pipeline_statistics: executables.pipeline_executable_info == vk::TRUE,
            counters: performance.performance_counter_query_pools == vk::TRUE,
            float_atomics: float_atomics.shader_buffer_float32_atomic_add == vk::TRUE,
            compute_units,
            max_image_size: limits.max_image_dimension2_d.min(limits.max_framebuffer_width),
        },
        missing,
    })
}

/// Returns the first queue family for graphics and compute, else the first for compute, from the flags of
/// all, and true if it draws.
fn choose_family(flags: &[vk::QueueFlags]) -> Option<(usize, bool)> {
    let first_with = |required| flags.iter().position(|flags| flags.contains(required));
    let both = first_with(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE).map(|family| (family, true));
    both.or_else(|| first_with(vk::QueueFlags::COMPUTE).map(|family| (family, false)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_graphics_has_a_queue_for_compute() {
        let [graphics, compute, transfer] =
            [vk::QueueFlags::GRAPHICS, vk::QueueFlags::COMPUTE, vk::QueueFlags::TRANSFER];
        assert_eq!(choose_family(&[transfer, compute, graphics | compute]), Some((2, true)));
        assert_eq!(choose_family(&[transfer, graphics, compute | transfer]), Some((2, false)));
        assert_eq!(choose_family(&[transfer, graphics]), None);
        assert_eq!(choose_family(&[]), None);
    }
}
