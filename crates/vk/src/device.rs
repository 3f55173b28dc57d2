//! Device selection and creation, and the state that all objects of a device share.

use crate::capabilities::{self, Candidate, Capabilities, DeviceInfo, DeviceKind};
use crate::compiled::Kernels;
use crate::descriptor_sets::DescriptorSets;
use crate::findings::Findings;
use crate::instance::Instance;
use crate::memory::{MemoryLedger, MemoryUse};
use crate::performance_queries::PerformanceQueries;
use crate::pipeline_cache::PipelineCache;
use crate::pipeline_layout::SetKind;
use crate::replacement::Replacements;
use crate::tick_clock::TickClock;
use crate::timeline::{CommandPool, Limits, SubmissionMode, Timeline};
use crate::validation::ValidationLog;
use crate::{Error, Result};
use ash::{ext, khr, vk};
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use std::ffi::CStr;
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// Selection of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceSelector {
    /// Index in the loader's list.
    Index(usize),
    /// Substring of the name, case-insensitive.
    Name(String),
}

impl From<&str> for DeviceSelector {
    /// Parses a number as an index and anything else as part of a name.
    fn from(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Index)
    }
}

impl fmt::Display for DeviceSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "{index}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// Limit of the time that a submission may take. When it has passed, waits end with [`Error::Hung`], and the
/// device's objects are never destroyed, since it may still use them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watchdog {
    /// A minute on a GPU, whose own driver usually gives up earlier; 20 minutes on a software device, which
    /// may take minutes for a step.
    #[default]
    Lenient,
    /// Any time.
    Off,
    /// This time, and passes are marked, so that [`Error::Hung`] and [`Error::DeviceLost`] name the pass that
    /// the device had reached. Marks are time stamps; with them,
    /// [`Recorder::replayed`](crate::Recorder::replayed) records everything anew.
    Limit(Duration),
}

/// Options for opening a device.
#[derive(Clone, Debug)]
pub struct DeviceOptions {
    /// Device to open; if none is given, a hardware GPU if there is one, else a software device.
    pub selector: Option<DeviceSelector>,
    /// Enables core and synchronization validation; messages are collected in [`Device::validation`].
    pub validation: bool,
    /// Adds GPU-assisted validation to `validation`: the layers instrument kernels, which become slower, and
    /// report accesses beyond the end of a buffer.
    pub gpu_assisted: bool,
    /// Limit of the time that a submission may take.
    pub watchdog: Watchdog,
    /// Folder in which compiled pipelines are cached between runs.
    pub pipeline_cache: Option<PathBuf>,
    /// Instance extensions that the surface of a window requires.
    pub surface_extensions: Vec<&'static CStr>,
    /// Queries the driver for registers, spills and similar statistics of every kernel, if it reports them;
    /// see [`Device::kernel_facts`]. Compiling may take longer.
    pub pipeline_statistics: bool,
    /// Opens the device for [`Device::counters`], if it has any.
    pub counters: bool,
    /// Accesses of kernels beyond the end of a buffer read zero or another element of it and write nothing
    /// outside of it, if the device supports that (`robustBufferAccess`); on by default. Kernels make no such
    /// access, so results are the same without.
    pub robust_access: bool,
    /// Labels each pass for the validation layers and frame debuggers; on by default.
    pub labels: bool,
    /// Takes submissions for finished although nothing was computed, for tests of the host's side on a driver
    /// without its hardware; what is read back, time stamps included, is zero.
    pub dry_run: bool,
}

impl Default for DeviceOptions {
    fn default() -> Self {
        Self {
            selector: None,
            validation: false,
            gpu_assisted: false,
            watchdog: Watchdog::default(),
            pipeline_cache: None,
            surface_extensions: Vec::new(),
            pipeline_statistics: false,
            counters: false,
            robust_access: true,
            labels: true,
            dry_run: false,
        }
    }
}

impl DeviceOptions {
    fn is_gpu_assisted(&self) -> bool {
        self.validation && self.gpu_assisted
    }
}

/// Counts of submissions, waits and memory of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Number of submissions to the queue.
    pub submissions: u64,
    /// Number of times that the host waited for the device.
    pub waits: u64,
    /// Device memory held by buffers and images, in bytes.
    pub bytes_held: u64,
    /// Peak of the device memory held, in bytes.
    pub bytes_peak: u64,
}

/// An open device. Cloning is cheap; the device closes when the last clone and the last object made from it
/// are gone.
#[derive(Clone)]
pub struct Device {
    pub(crate) shared: Arc<Shared>,
}

/// State shared by a [`Device`] and its objects.
pub(crate) struct Shared {
    pub raw: ash::Device,
    pub push_descriptor: khr::push_descriptor::Device,
    /// Present with GPU-assisted validation, in place of push descriptors.
    pub descriptor_sets: Option<DescriptorSets>,
    /// Present if pipeline statistics were requested and the driver reports them.
    pub pipeline_executables: Option<khr::pipeline_executable_properties::Device>,
    /// Present if hardware counters were requested and the device has them.
    pub performance_queries: Option<PerformanceQueries>,
    /// True if submissions are taken for finished although nothing was computed.
    pub is_dry_run: bool,
    /// Present if objects can be named.
    pub debug: Option<ext::debug_utils::Device>,
    /// True if passes are labelled.
    pub labels: bool,
    pub candidate: Candidate,
    pub full_subgroups: bool,
    /// True if it was opened with the extensions that windows need.
    #[cfg(feature = "window")]
    pub surfaces: bool,
    pub cache: PipelineCache,
    pub kernels: Kernels,
    pub replacements: Replacements,
    pub findings: Findings,
    pub timeline: Timeline,
    next_id: AtomicU64,
    next_recorder: AtomicU32,
    /// Number of buffers and kernels until the one whose creation fails, if a test asks for it.
    failing_creation: AtomicU64,
    /// Set from outside to end the work of the device.
    cancelled: OnceLock<&'static AtomicBool>,
    memory: Mutex<MemoryLedger>,
    clock: Mutex<TickClock>,
    /// Dropped manually, because it frees memory of `raw`, which is destroyed manually.
    allocator: ManuallyDrop<Mutex<Allocator>>,
    /// Declared last, because everything above is a child of it.
    pub instance: Instance,
}

impl Device {
    /// Makes all submissions fail with [`Error::Cancelled`] from when `flag` is set: for work that is of no
    /// use unless it is complete. The first flag of a device stays.
    pub fn cancel_when(&self, flag: &'static AtomicBool) {
        let _ = self.shared.cancelled.set(flag);
    }

    /// Returns true if the flag of [`Self::cancel_when`] is set.
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// For tests of error paths: lets one later creation of a buffer or kernel fail with
    /// [`Error::OutOfMemory`]: the next for 0, the one after it for 1 …. Those after it succeed. `None`
    /// cancels it; returns true if there was still one to fail.
    pub fn fail_creation(&self, after: Option<u64>) -> bool {
        let next = after.unwrap_or(u64::MAX);
        self.shared.failing_creation.swap(next, Ordering::Relaxed) != u64::MAX
    }

    /// Lists all devices on this machine with their limits and missing features (empty if usable).
    ///
    /// # Errors
    /// No loader or no device.
    pub fn list() -> Result<Vec<(DeviceInfo, Capabilities, Vec<String>)>> {
        let candidates = capabilities::candidates(&Instance::new(false, false, &[])?)?;
        if candidates.is_empty() {
            return Err(Error::NoDevice);
        }
        Ok(candidates.into_iter().map(|c| (c.info, c.capabilities, c.missing)).collect())
    }

    /// Returns the identity of this device.
    pub fn info(&self) -> &DeviceInfo {
        &self.shared.candidate.info
    }

    /// Returns the limits and optional features of this device.
    pub fn capabilities(&self) -> &Capabilities {
        &self.shared.candidate.capabilities
    }

    /// Returns true if this is a software device, whose timings say nothing about GPUs.
    pub fn is_software(&self) -> bool {
        self.info().kind == DeviceKind::Software
    }

    /// Returns true if submissions are taken for finished although nothing was computed
    /// ([`DeviceOptions::dry_run`]): what is read back is zero.
    pub fn is_dry_run(&self) -> bool {
        self.shared.is_dry_run
    }

    /// Returns the messages of the validation layers; empty if they are off.
    pub fn validation(&self) -> &ValidationLog {
        &self.shared.instance.log
    }

    /// Returns an error if the validation layers reported any message.
    ///
    /// # Errors
    /// [`Error::Validation`] if there is any message.
    pub fn check_validation(&self) -> Result<()> {
        let messages = self.validation().messages();
        if messages.is_empty() { Ok(()) } else { Err(Error::Validation { messages }) }
    }

    /// Returns the counts of submissions, waits and memory so far.
    pub fn statistics(&self) -> Statistics {
        let (submissions, waits) = self.shared.timeline.counts();
        let (bytes_held, bytes_peak) = self.shared.memory().totals();
        Statistics { submissions, waits, bytes_held, bytes_peak }
    }

    /// Returns the memory held by buffers and images, by name, largest first. Names that no longer hold
    /// memory are listed for their peaks.
    pub fn memory(&self) -> Vec<MemoryUse> {
        self.shared.memory().uses()
    }

    /// Resets the memory peaks, for a measurement whose set-up used memory of its own.
    pub fn forget_memory_peaks(&self) {
        self.shared.memory().forget_peaks();
    }

    /// Returns a finding about this device stored earlier by this process or by one with the same cache
    /// folder.
    ///
    /// Findings are specific to the device and the driver's version: a new driver starts without any.
    pub fn stored_finding(&self, key: &str) -> Option<String> {
        self.shared.findings.get(key)
    }

    /// Stores a finding for [`Self::stored_finding`], in this process and, if a pipeline cache was given, in
    /// a file beside it. `key` is part of a file's name. If the file cannot be written, only this process
    /// has the finding.
    pub fn store_finding(&self, key: &str, value: &str) {
        drop(self.shared.findings.store(key, value));
    }

    /// Stores a finding like [`Self::store_finding`], with an error if its file cannot be written.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_finding(&self, key: &str, value: &str) -> std::io::Result<()> {
        self.shared.findings.store(key, value)
    }

    /// Removes a stored finding and its file; returns false if there was none.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn forget_finding(&self, key: &str) -> std::io::Result<bool> {
        self.shared.findings.forget(key)
    }

    /// Returns the file of a finding, whether it exists or not; none if no pipeline cache was given.
    pub fn finding_file(&self, key: &str) -> Option<PathBuf> {
        self.shared.findings.file(key)
    }

    /// Writes the pipelines compiled so far to the cache file given at opening, if any.
    ///
    /// # Errors
    /// The file cannot be written; nothing else is lost by that.
    pub fn save_pipeline_cache(&self) -> std::io::Result<()> {
        self.shared.cache.save(&self.shared.raw)
    }

    /// Waits until all submissions have finished.
    ///
    /// # Errors
    /// The device was lost.
    pub fn wait_idle(&self) -> Result<()> {
        self.wait_for(self.shared.timeline.counts().0)
    }

    /// Returns the number of submissions that have not finished.
    ///
    /// # Errors
    /// The device was lost.
    pub fn submissions_in_flight(&self) -> Result<usize> {
        self.shared.collect()?;
        Ok(self.shared.timeline.in_flight())
    }

    /// Returns true if submission `value` has finished.
    pub(crate) fn has_completed(&self, value: u64) -> Result<bool> {
        Ok(self.shared.timeline.completed(&self.shared.raw)? >= value)
    }

    /// Waits until submission `value` has finished. Counted in [`Statistics::waits`].
    pub(crate) fn wait_for(&self, value: u64) -> Result<()> {
        self.shared.timeline.wait_for(&self.shared.raw, value)?;
        self.shared.collect()
    }

    /// Waits until the queue is idle, presentation included. For tear-down only; an error (a lost device) is
    /// ignored. Returns false if the device hangs, so that nothing may be destroyed.
    #[cfg(feature = "window")]
    pub(crate) fn wait_for_queue(&self) -> bool {
        if self.shared.timeline.is_hung() {
            return false;
        }
        self.shared.timeline.with_queue(|queue| {
            // SAFETY: the queue is ours alone here.
            let _ = unsafe { self.shared.raw.queue_wait_idle(queue) };
        });
        true
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("info", self.info()).finish_non_exhaustive()
    }
}

/// Returns the requested device, which has what the engine needs, with its instance; none of `passed_over`.
pub(crate) fn find(options: &DeviceOptions, passed_over: &[DeviceInfo]) -> Result<(Instance, Candidate)> {
    let instance = Instance::new(options.validation, options.gpu_assisted, &options.surface_extensions)?;
    let mut candidates = capabilities::candidates(&instance)?;
    candidates.retain(|candidate| !passed_over.iter().any(|info| info.index == candidate.info.index));
    let candidate = choose(candidates, options.selector.as_ref())?;
    if !candidate.missing.is_empty() {
        return Err(Error::Unsupported { device: candidate.info.name, missing: candidate.missing });
    }
    Ok((instance, candidate))
}

/// Selects the requested device, or the best usable one: by device type, then in the loader's order.
fn choose(candidates: Vec<Candidate>, selector: Option<&DeviceSelector>) -> Result<Candidate> {
    if candidates.is_empty() {
        return Err(Error::NoDevice);
    }
    let Some(selector) = selector else {
        let best = candidates.into_iter().min_by_key(|c| (!c.missing.is_empty(), c.info.kind, c.info.index));
        return best.ok_or(Error::NoDevice);
    };
    let matches = |c: &Candidate| match selector {
        DeviceSelector::Index(index) => c.info.index == *index,
        DeviceSelector::Name(name) => c.info.name.to_lowercase().contains(&name.to_lowercase()),
    };
    let available = candidates.iter().map(|c| format!("{}: {}", c.info.index, c.info.name)).collect();
    candidates
        .into_iter()
        .find(matches)
        .ok_or_else(|| Error::DeviceNotFound { requested: selector.to_string(), available })
}

/// A logical device with the features that the engine needs, and nothing made from it yet.
pub(crate) struct Logical {
    pub raw: ash::Device,
    pub full_subgroups: bool,
    /// Present if pipeline statistics were requested and the driver reports them.
    pub pipeline_executables: Option<khr::pipeline_executable_properties::Device>,
    /// Present if hardware counters were requested and the device has them.
    pub performance_queries: Option<PerformanceQueries>,
}

impl Logical {
    pub fn new(instance: &Instance, candidate: &Candidate, options: &DeviceOptions) -> Result<Self> {
        let name = &candidate.info.name;
        let mut available = vk::PhysicalDeviceVulkan13Features::default();
        let mut query = vk::PhysicalDeviceFeatures2::default().push_next(&mut available);
        // SAFETY: the device offers Vulkan 1.3, which defines the structure.
        unsafe { instance.raw.get_physical_device_features2(candidate.handle, &mut query) };
        let robust = options.robust_access && query.features.robust_buffer_access == vk::TRUE;
        let full_subgroups = available.compute_full_subgroups == vk::TRUE;

        let statistics = options.pipeline_statistics && candidate.capabilities.pipeline_statistics;
        let mut executables = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default()
            .pipeline_executable_info(true);

        let mut extensions = vec![khr::push_descriptor::NAME.as_ptr()];
        if statistics {
            extensions.push(khr::pipeline_executable_properties::NAME.as_ptr());
        }
        let counters = options.counters && candidate.capabilities.counters;
        let mut performance =
            vk::PhysicalDevicePerformanceQueryFeaturesKHR::default().performance_counter_query_pools(true);
        if counters {
            extensions.push(khr::performance_query::NAME.as_ptr());
        }
        let mut float_atomics =
            vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT::default().shader_buffer_float32_atomic_add(true);
        if candidate.capabilities.float_atomics {
            extensions.push(ext::shader_atomic_float::NAME.as_ptr());
        }
        if !options.surface_extensions.is_empty() {
            extensions.push(khr::swapchain::NAME.as_ptr());
        }
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(candidate.queue_family)
            .queue_priorities(&priorities)];
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default()
            .scalar_block_layout(true)
            .timeline_semaphore(true)
            .host_query_reset(true);
        let mut v13 = vk::PhysicalDeviceVulkan13Features::default()
            .synchronization2(true)
            .dynamic_rendering(candidate.capabilities.graphics)
            .compute_full_subgroups(full_subgroups)
            .subgroup_size_control(available.subgroup_size_control == vk::TRUE);
        let features = vk::PhysicalDeviceFeatures::default().robust_buffer_access(robust);
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .enabled_features(&features)
            .push_next(&mut v12)
            .push_next(&mut v13);
        if statistics {
            info = info.push_next(&mut executables);
        }
        if counters {
            info = info.push_next(&mut performance);
        }
        if candidate.capabilities.float_atomics {
            info = info.push_next(&mut float_atomics);
        }
        // SAFETY: everything asked for was found on the device, and all pointers live until the call returns.
        let raw = unsafe { instance.raw.create_device(candidate.handle, &info, None) }
            .map_err(Error::call("open device", name))?;
        let pipeline_executables =
            statistics.then(|| khr::pipeline_executable_properties::Device::new(&instance.raw, &raw));
        let performance_queries = counters.then(|| PerformanceQueries::new(instance, &raw));
        Ok(Self { raw, full_subgroups, pipeline_executables, performance_queries })
    }
}

/// Objects that a device always has.
struct Parts {
    allocator: Allocator,
    cache: PipelineCache,
    timeline: Timeline,
}

impl Parts {
    fn new(
        instance: &Instance,
        candidate: &Candidate,
        raw: &ash::Device,
        options: &DeviceOptions,
    ) -> Result<Self> {
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.raw.clone(),
            device: raw.clone(),
            physical_device: candidate.handle,
            debug_settings: Default::default(),
            buffer_device_address: false,
            allocation_sizes: Default::default(),
        })
        .map_err(|e| Error::OutOfMemory {
            object: "the allocator".into(),
            bytes: 0,
            cause: e.to_string(),
        })?;
        let cache = PipelineCache::open(raw, options.pipeline_cache.clone())?;
        let has_time_stamps = candidate.capabilities.timestamp_period_ns > 0.0;
        let limits = watchdog_limits(candidate.info.kind, has_time_stamps, options.watchdog);
        let mode =
            SubmissionMode { is_first_version: options.is_gpu_assisted(), is_dry_run: options.dry_run };
        let timeline =
            Timeline::new(raw, candidate.queue_family, limits, mode).inspect_err(|_| cache.destroy(raw))?;
        Ok(Self { allocator, cache, timeline })
    }
}

/// Limit of submissions on a GPU, unless another one is requested.
const LENIENT_LIMIT: Duration = Duration::from_secs(60);
/// The same on a software device.
const LENIENT_LIMIT_SOFTWARE: Duration = Duration::from_secs(20 * 60);

fn watchdog_limits(kind: DeviceKind, has_time_stamps: bool, watchdog: Watchdog) -> Limits {
    match watchdog {
        Watchdog::Off => Limits { submission: None, marks: false },
        Watchdog::Lenient => {
            let is_gpu = !matches!(kind, DeviceKind::Software | DeviceKind::Other);
            let limit = if is_gpu { LENIENT_LIMIT } else { LENIENT_LIMIT_SOFTWARE };
            Limits { submission: Some(limit), marks: false }
        }
        Watchdog::Limit(limit) => Limits { submission: Some(limit), marks: has_time_stamps },
    }
}

impl Shared {
    pub fn new(instance: Instance, candidate: Candidate, options: &DeviceOptions) -> Result<Self> {
        let Logical { raw, full_subgroups, pipeline_executables, performance_queries } =
            Logical::new(&instance, &candidate, options)?;
        let Parts { allocator, cache, timeline } = Parts::new(&instance, &candidate, &raw, options)
            .inspect_err(|_| {
                // SAFETY: nothing made from the device is left.
                unsafe { raw.destroy_device(None) };
            })?;
        let debug = instance.debug_utils.then(|| ext::debug_utils::Device::new(&instance.raw, &raw));
        Ok(Self {
            push_descriptor: khr::push_descriptor::Device::new(&instance.raw, &raw),
            descriptor_sets: options.is_gpu_assisted().then(DescriptorSets::default),
            pipeline_executables,
            performance_queries,
            labels: options.labels && debug.is_some(),
            debug,
            cache,
            kernels: Kernels::default(),
            replacements: Replacements::default(),
            findings: Findings::new(options.pipeline_cache.as_ref(), candidate.identity.clone()),
            timeline,
            raw,
            full_subgroups,
            is_dry_run: options.dry_run,
            #[cfg(feature = "window")]
            surfaces: !options.surface_extensions.is_empty(),
            next_id: AtomicU64::new(0),
            next_recorder: AtomicU32::new(1),
            failing_creation: AtomicU64::new(u64::MAX),
            cancelled: OnceLock::new(),
            memory: Mutex::default(),
            clock: Mutex::new(TickClock::new(
                candidate.capabilities.timestamp_valid_bits,
                candidate.capabilities.timestamp_period_ns,
            )),
            allocator: ManuallyDrop::new(Mutex::new(allocator)),
            candidate,
            instance,
        })
    }

    pub fn allocator(&self) -> MutexGuard<'_, Allocator> {
        self.allocator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes finished submissions from the timeline and destroys the objects retired with them.
    pub fn collect(&self) -> Result<()> {
        self.timeline.collect(&self.raw, |allocation| {
            // Freeing an allocation of this allocator cannot fail.
            let _ = self.allocator().free(allocation);
        })
    }

    /// Returns the kind of the descriptor sets of all layouts.
    pub fn set_kind(&self) -> SetKind {
        if self.descriptor_sets.is_some() { SetKind::Allocated } else { SetKind::Pushed }
    }

    /// Returns a command pool that the device is not using.
    pub fn command_pool(&self) -> Result<CommandPool> {
        let pool = self.timeline.command_pool(&self.raw)?;
        if let Some(sets) = &self.descriptor_sets {
            sets.restart(&self.raw, pool.buffer);
        }
        Ok(pool)
    }

    /// Waits for the device before its objects are destroyed; returns false if it may still use them.
    fn is_idle(&self) -> bool {
        // Bounded by the watchdog, unlike the second wait, which includes presentation.
        let waited = self.timeline.wait_for(&self.raw, self.timeline.counts().0);
        if self.timeline.is_hung() {
            return false;
        }
        // SAFETY: the device is alive, and its queue is used by nobody else any more.
        let idle = unsafe { self.raw.device_wait_idle() };
        // A lost device uses nothing any more. Waiting fails, too, where memory is exhausted.
        waited.is_ok() || matches!(idle, Ok(()) | Err(vk::Result::ERROR_DEVICE_LOST))
    }

    /// Returns a new unique resource number.
    pub fn next_resource_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts the creation of a buffer or kernel, and fails it if a test asks for it.
    pub fn count_creation(&self, object: &str, bytes: u64) -> Result<()> {
        let count = |left: u64| (left != u64::MAX).then(|| left.wrapping_sub(1));
        match self.failing_creation.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count) {
            Ok(0) => Err(Error::OutOfMemory {
                object: object.to_owned(),
                bytes,
                cause: "a test lets this creation fail".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Returns a new number of a recorder. Slots start with 0, which is no recorder.
    pub fn next_recorder(&self) -> u32 {
        self.next_recorder.fetch_add(1, Ordering::Relaxed)
    }

    pub fn memory(&self) -> MutexGuard<'_, MemoryLedger> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the clock of the time stamps.
    pub fn clock(&self) -> MutexGuard<'_, TickClock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the debug name of an object, shown by layers and frame debuggers.
    pub fn set_name<H: vk::Handle>(&self, handle: H, name: &str) {
        let Some(debug) = &self.debug else { return };
        let name = std::ffi::CString::new(name).unwrap_or_default();
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle).object_name(&name);
        // SAFETY: the handle is a live object of this device. A failure only loses a name.
        let _ = unsafe { debug.set_debug_utils_object_name(&info) };
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if !self.is_idle() {
            self.instance.is_abandoned.store(true, Ordering::Relaxed);
            return;
        }
        self.timeline.destroy(&self.raw, |allocation| {
            let allocator = self.allocator.get_mut().unwrap_or_else(PoisonError::into_inner);
            let _ = allocator.free(allocation);
        });
        if let Some(sets) = &self.descriptor_sets {
            sets.destroy(&self.raw);
        }
        self.kernels.destroy(&self.raw);
        self.replacements.destroy(&self.raw);
        self.cache.destroy(&self.raw);
        // SAFETY: dropped once, here, and never used after.
        unsafe { ManuallyDrop::drop(&mut self.allocator) };
        // SAFETY: all children are destroyed: kernels above; buffers, images and raster pipelines hold this
        // device alive and retire into the timeline, which was just emptied.
        unsafe { self.raw.destroy_device(None) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_has_a_watchdog_unless_it_is_turned_off() {
        let limit_s =
            |kind, watchdog| watchdog_limits(kind, true, watchdog).submission.map(|limit| limit.as_secs());
        assert_eq!(limit_s(DeviceKind::Discrete, Watchdog::default()), Some(60));
        for kind in [DeviceKind::Software, DeviceKind::Other] {
            assert_eq!(limit_s(kind, Watchdog::default()), Some(1200));
            assert_eq!(limit_s(kind, Watchdog::Off), None);
            assert_eq!(limit_s(kind, Watchdog::Limit(Duration::from_secs(5))), Some(5));
        }
    }
}
