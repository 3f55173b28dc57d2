//! Command recorder, which places exactly the barriers that the passes require.

use crate::buffer::{Buffer, RawBuffer};
use crate::compiled::{BindingSource, MAX_BINDINGS, Reach};
use crate::device::{Device, Shared};
use crate::hazard::{Access, Event, Stage, Use, UseSet};
use crate::image::Image;
use crate::kernel::{Kernel, KernelInterface, LARGEST_TILE_LOG2, Threads};
use crate::slot::Slot;
use crate::timeline::{CommandPool, Commands, Stamp};
use crate::timing::TimeStamps;
use crate::{Error, Result};
use ash::vk;
use bytemuck::Pod;
use std::any::Any;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Selection of the required barriers that are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarrierPlan {
    /// All barriers.
    #[default]
    All,
    /// All but the one with this index: a deliberate mistake, for tests of the checkers.
    Omit(u32),
}

/// Options of a recorder.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecorderOptions {
    /// Writes time stamps around each pass; see [`crate::Submission::pass_times`].
    pub profile: bool,
    /// Keeps the list of accesses and barriers; see [`Recorder::events`].
    pub trace: bool,
    /// Barriers to record.
    pub barriers: BarrierPlan,
}

/// Maximum number of passes that one recorder can time-stamp; later ones are untimed.
const MAX_TIMED_PASSES: u32 = 8192;

/// Records passes. Mistakes are stored and reported by [`Device::submit`], so that recording calls need no
/// error handling.
///
/// Barriers are global memory barriers with exact stages and accesses: drivers do not act on the extents of
/// finer ones, and one barrier then serves all the resources of a pass.
pub struct Recorder {
    pub(crate) shared: Arc<Shared>,
    pool: Option<CommandPool>,
    /// Number of this recorder on its device.
    generation: u32,
    /// Resources used so far.
    kept: Vec<Kept>,
    /// Indices in `kept` by resource: for resources whose [`Slot`] another recorder has overwritten.
    index_of: HashMap<u64, u32>,
    /// Other objects that must outlive the submission.
    objects: Vec<Arc<dyn Any + Send + Sync>>,
    /// `ordered[a][b]`: uses a before this point are ordered before all later uses b.
    ordered: [[u32; Use::ALL.len()]; Use::ALL.len()],
    /// `reached[a][s]`: uses a before this point have a chain of barriers to stage s.
    reached: [[u32; Stage::COUNT]; Use::ALL.len()],
    clock: u32,
    passes: u32,
    barriers: u32,
    plan: BarrierPlan,
    events: Option<Vec<Event>>,
    time_stamps: Option<TimeStamps>,
    bound_pipeline: vk::Pipeline,
    declared_bytes: Option<u64>,
    first_pass: &'static str,
    last_pass: &'static str,
    /// Label of the last pass, with a terminating zero.
    label: Vec<u8>,
    host_reads: Vec<RawBuffer>,
    error: Option<Error>,
    pub(crate) stamp: Stamp,
}

/// A resource that this recorder has used: its last accesses, and the handle that keeps it alive.
struct Kept {
    id: u64,
    write: Option<(Use, u32)>,
    /// Last read by each use since that write.
    reads: [u32; Use::ALL.len()],
    _owner: Owner,
}

enum Owner {
    Buffer { _buffer: RawBuffer },
    Image { _image: Image },
}

/// A resource that a pass uses.
#[derive(Clone, Copy)]
pub(crate) enum Resource<'a> {
    Buffer(&'a RawBuffer),
    Image(&'a Image),
}

impl Resource<'_> {
    fn id(self) -> u64 {
        match self {
            Self::Buffer(buffer) => buffer.inner.id,
            Self::Image(image) => image.id(),
        }
    }

    fn slot(&self) -> &Slot {
        match self {
            Self::Buffer(buffer) => &buffer.inner.slot,
            Self::Image(image) => image.slot(),
        }
    }

    fn owner(self) -> Owner {
        match self {
            Self::Buffer(buffer) => Owner::Buffer { _buffer: buffer.clone() },
            Self::Image(image) => Owner::Image { _image: image.clone() },
        }
    }
}

/// A finished recorder.
pub(crate) struct Finished {
    pub commands: Commands,
    pub kept: Vec<Box<dyn Any + Send>>,
    pub time_stamps: Option<TimeStamps>,
}

impl Device {
    /// Starts recording.
    ///
    /// # Errors
    /// The device cannot allocate a command buffer.
    pub fn recorder(&self) -> Result<Recorder> {
        self.recorder_with(RecorderOptions::default())
    }

    /// Starts recording with options.
    ///
    /// # Errors
    /// Like [`Self::recorder`].
    pub fn recorder_with(&self, options: RecorderOptions) -> Result<Recorder> {
        let shared = self.shared.clone();
        let pool = shared.timeline.command_pool(&shared.raw)?;
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the buffer is fresh or was reset with its pool.
        unsafe { shared.raw.begin_command_buffer(pool.buffer, &begin) }
            .map_err(Error::call("begin", "a command buffer"))?;
        let time_stamps = if options.profile { TimeStamps::new(&shared, MAX_TIMED_PASSES)? } else { None };
        Ok(Recorder {
            generation: shared.next_recorder(),
            shared,
            pool: Some(pool),
            kept: Vec::new(),
            index_of: HashMap::new(),
            objects: Vec::new(),
            ordered: Default::default(),
            reached: Default::default(),
            clock: 1,
            passes: 0,
            barriers: 0,
            plan: options.barriers,
            events: options.trace.then(Vec::new),
            time_stamps,
            bound_pipeline: vk::Pipeline::null(),
            declared_bytes: None,
            first_pass: "",
            last_pass: "",
            label: Vec::new(),
            host_reads: Vec::new(),
            error: None,
            stamp: Arc::new(AtomicU64::new(0)),
        })
    }
}

impl Recorder {
    /// Runs `kernel` over `threads` elements.
    ///
    /// Reported by [`Device::submit`]: the same buffer bound twice where one of the bindings writes.
    pub fn dispatch<K: KernelInterface>(
        &mut self,
        kernel: &Kernel<K>,
        threads: Threads<'_>,
        bindings: K::Bindings<'_>,
        params: K::Params,
    ) {
        let source = kernel.inner.source;
        let buffers = K::buffers(&bindings);
        let buffers = buffers.as_ref();
        if let Some(problem) = aliasing(source.bindings, buffers) {
            return self.fail(Error::Misuse { object: format!("dispatch of {}", source.name), problem });
        }
        let arguments = match threads {
            Threads::Fixed(_) => None,
            Threads::Counted(count) | Threads::Tiles(count, _) => {
                Some((Resource::Buffer(count.args.raw()), Use::IndirectRead))
            }
        };
        let bound = source.bindings.iter().zip(buffers).map(|(binding, buffer)| {
            let usage = if binding.writes { Use::ComputeWrite } else { Use::ComputeRead };
            (Resource::Buffer(buffer), usage)
        });
        // Bytes are only reported beside times.
        let bytes = match self.time_stamps {
            Some(_) => {
                let reach = Reach {
                    threads: threads.expected(),
                    specialization: &kernel.inner.specialization,
                    counts: &expected_counts(buffers),
                    parameters: bytemuck::bytes_of(&params),
                };
                minimum_bytes(source.bindings, buffers, &reach)
            }
            None => 0,
        };
        self.begin_pass(source.name, bound.chain(arguments), bytes);

        let commands = self.commands();
        let device = &self.shared.raw;
        if self.bound_pipeline != kernel.inner.pipeline {
            self.bound_pipeline = kernel.inner.pipeline;
            // SAFETY: the pipeline lives as long as the device.
            unsafe {
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, kernel.inner.pipeline)
            };
        }
        push_buffers(&self.shared, commands, vk::PipelineBindPoint::COMPUTE, kernel.inner.layout, buffers);
        let params = bytemuck::bytes_of(&params);
        if !params.is_empty() {
            // SAFETY: the layout's range has the size of K::Params, as the generated code asserts.
            unsafe {
                device.cmd_push_constants(
                    commands,
                    kernel.inner.layout,
                    vk::ShaderStageFlags::COMPUTE,
                    0,
                    params,
                );
            }
        }
        match threads {
            Threads::Fixed(n) => {
                let groups = (n as u64).div_ceil(u64::from(kernel.inner.tile));
                let max = u64::from(self.shared.candidate.capabilities.max_groups_x);
                let rows = groups.div_ceil(max).max(1);
                // SAFETY: both dimensions are within the device's limits.
                unsafe { device.cmd_dispatch(commands, groups.min(max) as u32, rows as u32, 1) };
            }
            Threads::Counted(count) | Threads::Tiles(count, _) => {
                let row = match threads {
                    Threads::Tiles(_, log2) => u64::from(log2.min(LARGEST_TILE_LOG2)),
                    _ => u64::from(kernel.inner.tile.trailing_zeros()),
                };
                // SAFETY: the row lies in the buffer (the tile was checked, or is bounded), and the arguments
                // are made by prepare_dispatch within the device's limits.
                unsafe { device.cmd_dispatch_indirect(commands, count.args.raw().inner.handle, 12 * row) };
            }
        }
        kernel.inner.dispatches.fetch_add(1, Ordering::Relaxed);
        self.end_pass();
    }

    /// Sets the minimum number of bytes that the next pass moves. Required if it cannot follow from the
    /// bindings and the `Elements:` line of the shader's header, because the accessed elements depend on a
    /// count that is not bound.
    pub fn declare_bytes(&mut self, bytes: u64) {
        self.declared_bytes = Some(bytes);
    }

    /// Copies the first `len` elements of `from` to the start of `to`.
    ///
    /// Reported by [`Device::submit`]: one of them is shorter.
    pub fn copy<T: Pod>(&mut self, from: &Buffer<T>, to: &Buffer<T>, len: usize) {
        if len > from.len() || len > to.len() {
            return self.fail(Error::Misuse {
                object: format!("copy from \"{}\" to \"{}\"", from.name(), to.name()),
                problem: format!("{len} elements asked for, they hold {} and {}", from.len(), to.len()),
            });
        }
        if len == 0 {
            return;
        }
        let bytes = (len * size_of::<T>()) as u64;
        let uses = [
            (Resource::Buffer(from.raw()), Use::TransferRead),
            (Resource::Buffer(to.raw()), Use::TransferWrite),
        ];
        self.begin_pass("copy", uses, 2 * bytes);
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: bytes }];
        let (from, destination) = (from.raw().inner.handle, to.raw().inner.handle);
        // SAFETY: the range lies in both buffers, which are different ones or the copy is refused by the
        // layers.
        unsafe { self.shared.raw.cmd_copy_buffer(self.commands(), from, destination, &region) };
        self.end_pass();
        self.note_host_read(to.raw());
    }

    /// Sets every 32-bit word of `buffer` to `word`.
    pub fn fill<T: Pod>(&mut self, buffer: &Buffer<T>, word: u32) {
        let inner = &buffer.raw().inner;
        self.begin_pass("fill", [(Resource::Buffer(buffer.raw()), Use::TransferWrite)], inner.bytes);
        // SAFETY: the whole buffer; its size is a multiple of four for every element type shaders can share.
        unsafe { self.shared.raw.cmd_fill_buffer(self.commands(), inner.handle, 0, vk::WHOLE_SIZE, word) };
        self.end_pass();
    }

    /// Copies an image, row by row, to the start of a buffer of its pixels: packed RGBA8, or the bits of
    /// 32-bit depth.
    ///
    /// Reported by [`Device::submit`]: the buffer is too small.
    pub fn copy_image(&mut self, image: &Image, to: &Buffer<u32>) {
        let (width, height) = image.size();
        if (to.len() as u64) < u64::from(width) * u64::from(height) {
            return self.fail(Error::Misuse {
                object: format!("copy from image \"{}\" to \"{}\"", image.name(), to.name()),
                problem: format!("{width} × {height} pixels do not fit into {} elements", to.len()),
            });
        }
        let uses =
            [(Resource::Image(image), Use::TransferRead), (Resource::Buffer(to.raw()), Use::TransferWrite)];
        self.begin_pass("copy image", uses, 8 * u64::from(width) * u64::from(height));
        let region = [vk::BufferImageCopy::default()
            .image_subresource(image.layers())
            .image_extent(vk::Extent3D { width, height, depth: 1 })];
        let destination = to.raw().inner.handle;
        // SAFETY: the image is in the general layout, as all of ours are, and the buffer is large enough.
        unsafe {
            self.shared.raw.cmd_copy_image_to_buffer(
                self.commands(),
                image.handle(),
                vk::ImageLayout::GENERAL,
                destination,
                &region,
            );
        }
        self.end_pass();
        self.note_host_read(to.raw());
    }

    /// Returns the number of passes so far.
    pub fn pass_count(&self) -> u32 {
        self.passes
    }

    /// Returns the number of barriers found necessary so far.
    pub fn barrier_count(&self) -> u32 {
        self.barriers
    }

    /// Returns the accesses and barriers so far, if the recorder traces; for [`crate::find_hazards`].
    pub fn events(&self) -> &[Event] {
        self.events.as_deref().unwrap_or_default()
    }

    pub(crate) fn commands(&self) -> vk::CommandBuffer {
        self.pool.as_ref().map_or(vk::CommandBuffer::null(), |pool| pool.buffer)
    }

    /// Stores a mistake, to be reported by [`Device::submit`]; only the first one is kept.
    pub fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Returns true if a mistake was recorded, so that submission would fail.
    #[cfg(feature = "window")]
    pub(crate) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    pub(crate) fn keep(&mut self, object: Arc<dyn Any + Send + Sync>) {
        self.objects.push(object);
    }

    fn note_host_read(&mut self, buffer: &RawBuffer) {
        if buffer.inner.is_readback() {
            self.host_reads.push(buffer.clone());
        }
    }

    /// Records the barrier that the pass needs, its label and its first time stamp.
    pub(crate) fn begin_pass<'a>(
        &mut self,
        name: &'static str,
        uses: impl IntoIterator<Item = (Resource<'a>, Use), IntoIter: Clone>,
        bytes: u64,
    ) {
        let bytes = self.declared_bytes.take().unwrap_or(bytes);
        self.place_barrier(uses.into_iter());
        if let Some(debug) = self.shared.debug.as_ref().filter(|_| self.shared.labels) {
            self.label.clear();
            self.label.extend_from_slice(name.as_bytes());
            self.label.push(0);
            let name = CStr::from_bytes_until_nul(&self.label).unwrap_or_default();
            let label = vk::DebugUtilsLabelEXT::default().label_name(name);
            // SAFETY: the command buffer is recording.
            unsafe { debug.cmd_begin_debug_utils_label(self.commands(), &label) };
        }
        let commands = self.commands();
        if let Some(time_stamps) = &mut self.time_stamps
            && !time_stamps.begin(commands, name, bytes)
        {
            self.error.get_or_insert(Error::Misuse {
                object: "a profiling recorder".into(),
                problem: format!("more than {MAX_TIMED_PASSES} passes; submit fewer steps at once"),
            });
        }
        if self.passes == 0 {
            self.first_pass = name;
        }
        self.last_pass = name;
        self.passes += 1;
    }

    pub(crate) fn end_pass(&mut self) {
        if let Some(time_stamps) = &self.time_stamps {
            time_stamps.end(self.commands());
        }
        if let Some(debug) = self.shared.debug.as_ref().filter(|_| self.shared.labels) {
            // SAFETY: a label was begun by begin_pass.
            unsafe { debug.cmd_end_debug_utils_label(self.commands()) };
        }
    }

    /// Returns the index of a resource in `kept`, if this recorder has used it.
    fn index(&self, resource: &Resource<'_>) -> Option<u32> {
        let id = resource.id();
        // Recorder numbers wrap after 2³² recorders, so the id is compared, too.
        let is_right = |index: &u32| self.kept.get(*index as usize).is_some_and(|kept| kept.id == id);
        let known = resource.slot().get(self.generation).filter(is_right);
        known.or_else(|| {
            let index = *self.index_of.get(&id)?;
            resource.slot().set(self.generation, index);
            Some(index)
        })
    }

    /// Returns the accesses of a resource, none yet if it is used for the first time.
    fn kept(&mut self, resource: Resource<'_>) -> &mut Kept {
        let index = self.index(&resource).unwrap_or_else(|| {
            let (index, id) = (self.kept.len() as u32, resource.id());
            let reads = Default::default();
            self.kept.push(Kept { id, write: None, reads, _owner: resource.owner() });
            self.index_of.insert(id, index);
            resource.slot().set(self.generation, index);
            index
        });
        &mut self.kept[index as usize]
    }

    fn place_barrier<'a>(&mut self, uses: impl Iterator<Item = (Resource<'a>, Use)> + Clone) {
        let (mut before, mut after) = (UseSet::default(), UseSet::default());
        for (resource, usage) in uses.clone() {
            let Some(index) = self.index(&resource) else { continue };
            let kept = &self.kept[index as usize];
            let mut need = |earlier: Use, when: u32| {
                if when != 0 && self.ordered[earlier as usize][usage as usize] <= when {
                    before.insert(earlier);
                    after.insert(usage);
                }
            };
            if let Some((earlier, when)) = kept.write {
                need(earlier, when);
            }
            if usage.writes() {
                for earlier in Use::ALL {
                    need(earlier, kept.reads[earlier as usize]);
                }
            }
        }
        if !before.is_empty() {
            self.clock += 1;
            let omitted = self.plan == BarrierPlan::Omit(self.barriers);
            self.barriers += 1;
            self.order(before, after);
            if !omitted {
                self.write_barrier(before, after);
            }
            self.clock += 1;
        }
        for (resource, usage) in uses {
            if let Some(events) = &mut self.events {
                let access = Access { pass: self.passes, resource: resource.id(), usage };
                events.push(Event::Access(access));
            }
            let clock = self.clock;
            let kept = self.kept(resource);
            if usage.writes() {
                kept.write = Some((usage, clock));
                kept.reads = Default::default();
            } else {
                kept.reads[usage as usize] = clock;
            }
        }
    }

    /// Updates the ordering for a barrier recorded now: it orders the uses that it waits for, and earlier
    /// ones whose chain of barriers has reached a stage that it waits for.
    fn order(&mut self, before: UseSet, after: UseSet) {
        for earlier in Use::ALL {
            let reached = &mut self.reached[earlier as usize];
            let since = if earlier.is_awaited_by(before) {
                self.clock
            } else {
                before.iter().map(|b| reached[b.stage() as usize]).max().unwrap_or(0)
            };
            for stage in after.iter().map(Use::stage) {
                reached[stage as usize] = since.max(reached[stage as usize]);
            }
            for later in Use::ALL {
                if earlier.is_safe_behind(after, later) {
                    let ordered = &mut self.ordered[earlier as usize][later as usize];
                    *ordered = since.max(*ordered);
                }
            }
        }
    }

    fn write_barrier(&mut self, before: UseSet, after: UseSet) {
        let mut barrier = vk::MemoryBarrier2::default();
        for usage in before.iter() {
            let (stages, _, writes) = stages_and_accesses(usage);
            barrier.src_stage_mask |= stages;
            barrier.src_access_mask |= writes;
        }
        for usage in after.iter() {
            let (stages, reads, writes) = stages_and_accesses(usage);
            barrier.dst_stage_mask |= stages;
            barrier.dst_access_mask |= reads | writes;
        }
        let barriers = [barrier];
        let info = vk::DependencyInfo::default().memory_barriers(&barriers);
        // SAFETY: the command buffer is recording, outside a render pass.
        unsafe { self.shared.raw.cmd_pipeline_barrier2(self.commands(), &info) };
        if let Some(events) = &mut self.events {
            events.push(Event::Barrier { before, after });
        }
    }

    /// Ends recording and returns the first mistake, if any, as an error.
    pub(crate) fn finish(mut self) -> Result<Finished> {
        let host_reads = std::mem::take(&mut self.host_reads);
        self.place_barrier(host_reads.iter().map(|buffer| (Resource::Buffer(buffer), Use::HostRead)));
        // SAFETY: the buffer is recording.
        let ended = unsafe { self.shared.raw.end_command_buffer(self.commands()) };
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        ended.map_err(Error::call("end", "a command buffer"))?;
        let Some(pool) = self.pool.take() else {
            return Err(Error::Misuse { object: "a recorder".into(), problem: "finished twice".into() });
        };
        Ok(Finished {
            commands: Commands {
                pool,
                first_pass: self.first_pass,
                last_pass: self.last_pass,
                stamp: self.stamp.clone(),
            },
            kept: vec![Box::new(std::mem::take(&mut self.kept)), Box::new(std::mem::take(&mut self.objects))],
            time_stamps: self.time_stamps.take(),
        })
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            self.shared.timeline.return_pool(pool);
        }
    }
}

/// Returns the stages of a use, its read accesses and its write accesses.
fn stages_and_accesses(usage: Use) -> (vk::PipelineStageFlags2, vk::AccessFlags2, vk::AccessFlags2) {
    use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
    match usage {
        Use::IndirectRead => (S::DRAW_INDIRECT, A::INDIRECT_COMMAND_READ, A::NONE),
        Use::ComputeRead => (S::COMPUTE_SHADER, A::SHADER_STORAGE_READ, A::NONE),
        Use::ComputeWrite => (S::COMPUTE_SHADER, A::SHADER_STORAGE_READ, A::SHADER_STORAGE_WRITE),
        Use::GraphicsRead => (S::VERTEX_SHADER | S::FRAGMENT_SHADER, A::SHADER_STORAGE_READ, A::NONE),
        Use::ColorTarget => (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_READ, A::COLOR_ATTACHMENT_WRITE),
        Use::DepthTarget => (
            S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS,
            A::DEPTH_STENCIL_ATTACHMENT_READ,
            A::DEPTH_STENCIL_ATTACHMENT_WRITE,
        ),
        Use::TransferRead => (S::ALL_TRANSFER, A::TRANSFER_READ, A::NONE),
        Use::TransferWrite => (S::ALL_TRANSFER, A::NONE, A::TRANSFER_WRITE),
        Use::HostRead => (S::HOST, A::HOST_READ, A::NONE),
    }
}

/// Returns the count that the host expects in each buffer.
fn expected_counts(buffers: &[&RawBuffer]) -> Vec<u64> {
    buffers.iter().map(|b| b.inner.expected.load(Ordering::Relaxed).into()).collect()
}

/// Finds a buffer that is bound twice with at least one write: threads would race within the pass, which no
/// barrier can order.
fn aliasing(bindings: &[BindingSource], buffers: &[&RawBuffer]) -> Option<String> {
    for (i, a) in buffers.iter().enumerate() {
        for (j, b) in buffers.iter().enumerate().skip(i + 1) {
            if a.inner.id == b.inner.id && (bindings[i].writes || bindings[j].writes) {
                return Some(format!(
                    "buffer \"{}\" is bound as both \"{}\" and \"{}\", and the kernel writes it",
                    a.inner.name, bindings[i].name, bindings[j].name
                ));
            }
        }
    }
    None
}

/// Returns the minimum number of bytes that a dispatch moves: each accessed element once for a read and once
/// for a write. A dispatch accesses as many elements of a buffer as it has threads, or as the `Elements:`
/// line of the shader's header states, but never more than the buffer has.
pub(crate) fn minimum_bytes(bindings: &[BindingSource], buffers: &[&RawBuffer], reach: &Reach<'_>) -> u64 {
    let pairs = bindings.iter().zip(buffers);
    pairs
        .map(|(binding, buffer)| {
            let elements = binding.elements.map_or(reach.threads, |elements| elements(reach));
            let bytes = buffer.inner.bytes.min(elements.saturating_mul(binding.element_bytes.into()));
            bytes * (u64::from(binding.reads) + u64::from(binding.writes))
        })
        .sum()
}

pub(crate) fn push_buffers(
    shared: &Shared,
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    buffers: &[&RawBuffer],
) {
    if buffers.is_empty() {
        return;
    }
    let mut infos = [vk::DescriptorBufferInfo::default(); MAX_BINDINGS];
    for (info, buffer) in infos.iter_mut().zip(buffers) {
        *info = info.buffer(buffer.inner.handle).range(vk::WHOLE_SIZE);
    }
    let mut writes = [vk::WriteDescriptorSet::default(); MAX_BINDINGS];
    for (slot, (write, info)) in writes.iter_mut().zip(infos.chunks_exact(1)).enumerate() {
        *write = write
            .dst_binding(slot as u32)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(info);
    }
    let writes = &writes[..buffers.len()];
    // SAFETY: the layout's set 0 is a push-descriptor set of exactly these storage buffers.
    unsafe { shared.push_descriptor.cmd_push_descriptor_set(commands, bind_point, layout, 0, writes) };
}
