//! Compute kernels: the typed handle to a pipeline, and its compilation.

use crate::buffer::{Buffer, RawBuffer};
use crate::capabilities::{Capabilities, DeviceKind};
use crate::compiled::{Code, KernelInner, KernelSource, MAX_BINDINGS};
use crate::device::{Device, Shared};
use crate::executable::executables;
use crate::hoist::hoist_constants;
use crate::pipeline_layout::{PipelineLayout, SetKind};
use crate::shared_memory::shared_memory_bytes;
use crate::{Error, Result};
use ash::{khr, vk};
use bytemuck::Pod;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Ties a kernel's generated types together.
pub trait KernelInterface {
    /// Buffers, by name.
    type Bindings<'a>;
    /// Push constants.
    type Params: Pod;
    /// Tunables (specialization constants).
    type Specialization: Default + Clone;
    /// Declarations of the shader.
    fn source() -> &'static KernelSource;
    /// Returns the tunables in the order of their ids.
    fn specialization_bits(specialization: &Self::Specialization) -> Vec<u32>;
    /// Returns the buffers in the order of their slots.
    fn buffers<'a>(bindings: &Self::Bindings<'a>) -> impl AsRef<[&'a RawBuffer]>;
}

/// Interface of a kernel whose elements a binding `count` counts on the device.
pub trait CountedInterface: KernelInterface {
    /// Returns the count among the bindings.
    fn count<'a>(bindings: &Self::Bindings<'a>) -> &'a DeviceCount;
}

/// A kernel ready to be dispatched. Cloning it, or creating it again with the same tunables, gives another
/// handle to the same pipeline: a device compiles each variant once and keeps it.
pub struct Kernel<K: KernelInterface> {
    pub(crate) inner: Arc<KernelInner>,
    interface: PhantomData<fn() -> K>,
}

/// Number of elements of a dispatch. The group count follows from the kernel's tile size.
#[derive(Clone, Copy, Debug)]
pub enum Threads<'a> {
    /// A number given by the host.
    Fixed(usize),
    /// A number counted by the device.
    Counted(&'a DeviceCount),
    /// A workgroup for each tile of 2ⁿ of the elements counted by the device, n at most 15, whatever the
    /// kernel's own tile: none if it counted none.
    Tiles(&'a DeviceCount, u32),
}

/// log₂ of the largest tile of [`Threads::Tiles`].
pub const LARGEST_TILE_LOG2: u32 = TILE_ROWS as u32 - 1;

/// A count in device memory, with the dispatch arguments derived from it.
///
/// Row k of `args` serves kernels whose tile is 2^k elements. The kernel `primitives.prepare_dispatch` fills
/// it.
#[derive(Clone, Debug)]
pub struct DeviceCount {
    /// The count itself.
    pub count: Buffer<u32>,
    /// Dispatch arguments for every power-of-two tile size.
    pub args: Buffer<[u32; 3]>,
    /// Maximum count: the capacity of the arrays whose elements it counts.
    pub capacity: u32,
}

/// Number of rows of [`DeviceCount::args`]: tiles of up to 2^15 elements.
const TILE_ROWS: usize = 16;

impl DeviceCount {
    /// Creates a count; its value is undefined until written.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Device, name: &str, capacity: u32) -> Result<Self> {
        let made = Self {
            count: device.buffer(name, 1)?,
            args: device.buffer(&format!("{name} dispatch arguments"), TILE_ROWS)?,
            capacity,
        };
        made.expect(capacity);
        Ok(made)
    }

    /// Sets the expected count, so that byte estimates are correct. It has no effect on results.
    pub fn expect(&self, count: u32) {
        self.count.raw().inner.expected.store(count, Ordering::Relaxed);
    }

    /// Returns the count that the host expects.
    pub fn expected(&self) -> u32 {
        self.count.raw().inner.expected.load(Ordering::Relaxed)
    }
}

impl Threads<'_> {
    /// Returns the number of elements, as far as the host knows.
    pub(crate) fn expected(&self) -> u64 {
        match self {
            Self::Fixed(n) => *n as u64,
            Self::Counted(count) => u64::from(count.expected()),
            Self::Tiles(count, log2) => u64::from(count.expected().div_ceil(1 << log2)),
        }
    }

    /// Returns the number of workgroups of a kernel with this tile, as far as the host knows.
    pub(crate) fn groups(&self, tile: u32) -> u64 {
        match self {
            Self::Tiles(..) => self.expected(),
            Self::Fixed(_) | Self::Counted(_) => self.expected().div_ceil(tile.max(1).into()),
        }
    }
}

impl<K: KernelInterface> Kernel<K> {
    /// Compiles the kernel with the default tunables of the shader.
    ///
    /// # Errors
    /// The kernel exceeds the device's limits, or the driver rejects it.
    pub fn new(device: &Device) -> Result<Self> {
        Self::specialized(device, &K::Specialization::default())
    }

    /// Compiles the kernel with the given tunables.
    ///
    /// # Errors
    /// Like [`Self::new`].
    pub fn specialized(device: &Device, specialization: &K::Specialization) -> Result<Self> {
        let (shared, values) = (&device.shared, K::specialization_bits(specialization));
        let source = K::source();
        shared.count_creation(source.name, 0)?;
        let inner = shared.kernels.get_or_compile(source, values, |values| {
            let replacement = shared.replacements.kernel(source.name);
            let spirv = replacement.as_deref().unwrap_or(source.spirv);
            let kernel = compile(&Target::of(shared), source, spirv, values)?;
            shared.set_name(kernel.code().pipeline, source.name);
            Ok(kernel)
        })?;
        Ok(Self { inner, interface: PhantomData })
    }

    /// Returns the name, `area.name`.
    pub fn name(&self) -> &'static str {
        self.inner.source.name
    }

    /// Returns the number of elements that one workgroup processes: its threads, multiplied by items per
    /// thread or divided by threads per item if the shader declares one of them.
    pub fn tile(&self) -> u32 {
        self.inner.tile
    }
}

impl<K: KernelInterface> Clone for Kernel<K> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), interface: PhantomData }
    }
}

/// A logical device, as far as compiling kernels needs it.
pub(crate) struct Target<'a> {
    pub raw: &'a ash::Device,
    pub capabilities: &'a Capabilities,
    pub full_subgroups: bool,
    pub is_software: bool,
    /// Present if statistics are captured.
    pub executables: Option<&'a khr::pipeline_executable_properties::Device>,
    /// True if the code is captured, too.
    pub captures_code: bool,
    pub cache: vk::PipelineCache,
    pub sets: SetKind,
}

impl<'a> Target<'a> {
    pub fn of(shared: &'a Shared) -> Self {
        Self {
            raw: &shared.raw,
            capabilities: &shared.candidate.capabilities,
            full_subgroups: shared.full_subgroups,
            is_software: shared.candidate.info.kind == DeviceKind::Software,
            executables: shared.pipeline_executables.as_ref(),
            captures_code: false,
            cache: shared.cache.handle,
            sets: shared.set_kind(),
        }
    }
}

/// Compiles a kernel from `spirv`, which has the interface of the source.
pub(crate) fn compile(
    target: &Target<'_>,
    source: &'static KernelSource,
    spirv: &[u8],
    values: &[u32],
) -> Result<KernelInner> {
    let limits = check_limits(target.capabilities, source, spirv, values)?;
    let device = target.raw;
    let stages = vk::ShaderStageFlags::COMPUTE;
    let layout = PipelineLayout::new(
        device,
        source.name,
        source.bindings.len(),
        source.params_bytes,
        stages,
        target.sets,
    )?;
    let created = create_code(target, source, spirv, values, &limits, &layout);
    let code = created.inspect_err(|_| layout.destroy(device))?;
    Ok(KernelInner::new(source, values, limits.tile, limits.workgroup_size, layout, code))
}

/// Compiles other code of a kernel from `spirv`, which has the interface of its source.
pub(crate) fn recompile(target: &Target<'_>, kernel: &KernelInner, spirv: &[u8]) -> Result<Code> {
    let (source, values) = (kernel.source, &kernel.specialization);
    let limits = check_limits(target.capabilities, source, spirv, values)?;
    create_code(target, source, spirv, values, &limits, &kernel.layout)
}

fn create_code(
    target: &Target<'_>,
    source: &KernelSource,
    spirv: &[u8],
    values: &[u32],
    limits: &Limits,
    layout: &PipelineLayout,
) -> Result<Code> {
    let pipeline = create_pipeline(target, source, spirv, values, limits.subgroup_size, layout)?;
    Ok(Code {
        pipeline,
        shared_memory_bytes: limits.shared_memory_bytes,
        executables: executables(target.executables, pipeline),
    })
}

fn create_pipeline(
    target: &Target<'_>,
    source: &KernelSource,
    spirv: &[u8],
    values: &[u32],
    subgroup_size: Option<u32>,
    layout: &PipelineLayout,
) -> Result<vk::Pipeline> {
    let device = target.raw;
    let entries: Vec<_> = source
        .specializations
        .iter()
        .enumerate()
        .map(|(i, s)| vk::SpecializationMapEntry { constant_id: s.id, offset: 4 * i as u32, size: 4 })
        .collect();
    let specialization =
        vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(values));
    let module = shader_module(device, source.name, spirv, target.is_software)?;
    let (least, subgroup) = target.capabilities.subgroup_size_range;
    let subgroup = subgroup.max(1);
    let whole_subgroups =
        subgroup_size.is_some() || target.full_subgroups && values.first().is_some_and(|w| w % subgroup == 0);
    let mut required = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default()
        .required_subgroup_size(subgroup_size.unwrap_or_default());
    let mut stage = vk::PipelineShaderStageCreateInfo::default()
        .flags(if whole_subgroups {
            vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS
        } else {
            vk::PipelineShaderStageCreateFlags::empty()
        })
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main")
        .specialization_info(&specialization);
    // Where there is one size, a driver need not let a kernel require it.
    if subgroup_size.is_some() && least != subgroup {
        stage = stage.push_next(&mut required);
    }
    let mut flags = vk::PipelineCreateFlags::empty();
    if target.executables.is_some() {
        flags |= vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR;
    }
    if target.captures_code {
        flags |= vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR;
    }
    let info = [vk::ComputePipelineCreateInfo::default().flags(flags).stage(stage).layout(layout.handle)];
    // SAFETY: the layout was made from what the shader declares, and limits were checked.
    let created = unsafe { device.create_compute_pipelines(target.cache, &info, None) };
    // SAFETY: pipelines do not need their modules once created.
    unsafe { device.destroy_shader_module(module, None) };
    let pipelines = created.map_err(|(_, result)| Error::Call {
        operation: "compile kernel",
        object: source.name.into(),
        result,
    })?;
    Ok(pipelines[0])
}

/// Workgroup parameters of a kernel, checked against the device's limits.
struct Limits {
    tile: u32,
    workgroup_size: u32,
    /// Size that the shader's constant `SUBGROUP_SIZE` requires.
    subgroup_size: Option<u32>,
    shared_memory_bytes: Option<u64>,
}

/// SPIR-V capability `AtomicFloat32AddEXT`.
const ATOMIC_FLOAT32_ADD: u32 = 6033;

/// Returns true if a module declares a capability.
fn declares_capability(spirv: &[u8], capability: u32) -> bool {
    // Five words of header; then each instruction begins with its length and its opcode.
    const HEADER_WORDS: usize = 5;
    const OP_CAPABILITY: u32 = 17;
    let words: Vec<u32> = bytemuck::pod_collect_to_vec(spirv);
    // Capabilities are the first instructions of a module.
    let declared = words.get(HEADER_WORDS..).unwrap_or_default().chunks_exact(2);
    let mut declared = declared.take_while(|words| words[0] == 2 << 16 | OP_CAPABILITY);
    declared.any(|words| words[1] == capability)
}

/// Checks a kernel against the limits of the device.
fn check_limits(
    capabilities: &Capabilities,
    source: &KernelSource,
    spirv: &[u8],
    values: &[u32],
) -> Result<Limits> {
    let value = |name: &str| {
        source.specializations.iter().zip(values).find(|(s, _)| s.name == name).map(|(_, value)| *value)
    };
    let workgroup_size = value("workgroup_size").unwrap_or(1);
    let beyond = |found: u64, unit, limit: u64, limit_name| Error::BeyondLimit {
        object: format!("kernel {}", source.name),
        found,
        unit,
        limit,
        limit_name,
    };
    if workgroup_size > capabilities.max_workgroup_size {
        let limit = u64::from(capabilities.max_workgroup_size);
        return Err(beyond(
            workgroup_size.into(),
            "threads a group",
            limit,
            "maxComputeWorkGroupInvocations",
        ));
    }
    let max_bindings = u64::from(capabilities.max_push_descriptors).min(MAX_BINDINGS as u64);
    if source.bindings.len() as u64 > max_bindings {
        let limit = max_bindings;
        return Err(beyond(source.bindings.len() as u64, "buffers", limit, "maxPushDescriptors"));
    }
    if source.params_bytes > capabilities.max_push_constants {
        let limit = u64::from(capabilities.max_push_constants);
        return Err(beyond(source.params_bytes.into(), "push-constant bytes", limit, "maxPushConstantsSize"));
    }
    // Drivers may end the process on such a kernel instead of refusing it.
    if !capabilities.float_atomics && declares_capability(spirv, ATOMIC_FLOAT32_ADD) {
        return Err(Error::Misuse {
            object: format!("kernel {}", source.name),
            problem: "the device cannot add floats atomically (VK_EXT_shader_atomic_float)".into(),
        });
    }
    let subgroup_size = value("subgroup_size");
    if let Some(size) = subgroup_size {
        let (least, most) = capabilities.subgroup_size_range;
        let subgroups = workgroup_size / size.max(1);
        if !capabilities.subgroup_ballots {
            let problem = "the device cannot require a subgroup size, or lacks its operations".into();
            return Err(Error::Misuse { object: format!("kernel {}", source.name), problem });
        }
        if !size.is_power_of_two() || size < least || size > most || workgroup_size % size != 0 {
            let problem = format!(
                "subgroups of {size} in groups of {workgroup_size}, expected a power of two from {least} to \
                 {most} that divides the group"
            );
            return Err(Error::Misuse { object: format!("kernel {}", source.name), problem });
        }
        if subgroups > capabilities.max_subgroups {
            let limit = u64::from(capabilities.max_subgroups);
            return Err(beyond(subgroups.into(), "subgroups a group", limit, "maxComputeWorkgroupSubgroups"));
        }
    }
    // A thread processes several elements, or several threads process one element.
    let tile = workgroup_size.saturating_mul(value("items_per_thread").unwrap_or(1))
        / value("threads_per_item").unwrap_or(1).max(1);
    if !tile.is_power_of_two() || tile >= 1 << TILE_ROWS {
        return Err(Error::Misuse {
            object: format!("kernel {}", source.name),
            problem: format!(
                "a workgroup takes {tile} elements, expected a power of two below 2^{TILE_ROWS}"
            ),
        });
    }
    let by_id: HashMap<u32, u32> =
        source.specializations.iter().map(|s| s.id).zip(values.iter().copied()).collect();
    let shared_memory_bytes = shared_memory_bytes(spirv, &by_id);
    let limit = u64::from(capabilities.max_shared_memory);
    match shared_memory_bytes {
        Some(bytes) if bytes > limit => {
            Err(beyond(bytes, "bytes of shared memory", limit, "maxComputeSharedMemorySize"))
        }
        _ => Ok(Limits { tile, workgroup_size, subgroup_size, shared_memory_bytes }),
    }
}

/// Loads a shader; on a software device with its loads of constants at the start.
pub(crate) fn shader_module(
    device: &ash::Device,
    name: &str,
    spirv: &[u8],
    is_software: bool,
) -> Result<vk::ShaderModule> {
    let mut words: Vec<u32> = bytemuck::pod_collect_to_vec(spirv);
    if is_software {
        words = hoist_constants(&words);
    }
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    // SAFETY: the words come from shaderc for Vulkan 1.3.
    unsafe { device.create_shader_module(&info, None) }.map_err(Error::call("load shader", name))
}
