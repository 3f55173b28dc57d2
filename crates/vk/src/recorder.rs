//! Command recorder, which places exactly the barriers that the passes require.

use crate::buffer::{Buffer, Location, RawBuffer};
use crate::commands::{Command, CommandList, Groups, Payload, Writer};
use crate::compiled::{BindingSource, MAX_BINDINGS};
use crate::counters::CounterQueries;
use crate::descriptor_sets::DescriptorSets;
use crate::device::{Device, Shared};
use crate::hazard::{Access, Event, Stage, Use, UseSet};
use crate::image::Image;
use crate::kernel::{CountedInterface, Kernel, KernelInterface, LARGEST_TILE_LOG2, Threads};
use crate::marks::Marks;
use crate::replay::{Recorded, Replay};
use crate::resource::{Owner, Resource};
use crate::timeline::{CommandPool, Commands, Stamp};
use crate::timing::{Count, DispatchWork, Elements, PassWork, TimeStamps};
use crate::{Error, Result};
use ash::vk;
use bytemuck::Pod;
use std::any::Any;
use std::collections::HashMap;
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
    /// Measures the counters of the present [`CounterSession`](crate::CounterSession) in each pass with time
    /// stamps; the passes are then slower.
    pub counters: bool,
    /// Keeps the list of accesses and barriers; see [`Recorder::events`].
    pub trace: bool,
    /// Barriers to record.
    pub barriers: BarrierPlan,
    /// Dispatch to measure alone.
    pub isolate: Option<Isolate>,
}

/// A dispatch that a profiling recorder repeats on equal inputs, and the only one that it time-stamps. What
/// the kernel writes is restored before each repetition, so that results are those of a single dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isolate {
    /// Name of the kernel, `area.name`.
    pub kernel: &'static str,
    /// Which of its dispatches in the recorder, from 1.
    pub occurrence: u32,
    /// Number of times it is executed, at least 1.
    pub repetitions: u32,
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
    /// Names of the passes, if the recorder traces.
    names: Vec<&'static str>,
    time_stamps: Option<TimeStamps>,
    counters: Option<CounterQueries>,
    isolate: Option<Isolate>,
    /// Number of dispatches so far of the kernel to isolate.
    occurrences: u32,
    /// True while passes are time-stamped.
    is_stamping: bool,
    /// Present if the device has a watchdog that names passes.
    marks: Option<Marks>,
    writer: Writer,
    /// True as long as nothing was written to the command buffer of `pool`.
    is_blank: bool,
    /// Command buffers before that of `pool`.
    parts: Vec<Part>,
    /// Commands of the present segment, see [`Self::replayed`].
    segment: Option<Segment>,
    segments: u32,
    declared_bytes: Option<u64>,
    first_pass: &'static str,
    last_pass: &'static str,
    host_reads: Vec<RawBuffer>,
    error: Option<Error>,
    pub(crate) stamp: Stamp,
}

/// A part of a recorder's commands.
enum Part {
    Own(CommandPool),
    Replayed(Arc<Recorded>),
}

/// Commands that may be found in a [`Replay`], and the indices of the resources that they use.
struct Segment {
    list: CommandList,
    resources: Vec<u32>,
}

/// A resource that this recorder has used: its last accesses, and the handle that keeps it alive.
struct Kept {
    id: u64,
    write: Option<(Use, u32)>,
    /// Last read by each use since that write.
    reads: [u32; Use::ALL.len()],
    owner: Owner,
    /// Number of the last segment that used it.
    segment: u32,
}

/// A finished recorder.
pub(crate) struct Finished {
    pub commands: Commands,
    pub kept: Vec<Box<dyn Any + Send>>,
    pub time_stamps: Option<TimeStamps>,
    pub counters: Option<CounterQueries>,
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
        let time_stamps = if options.profile { TimeStamps::new(&shared, MAX_TIMED_PASSES)? } else { None };
        let counters = options.counters.then(|| CounterQueries::new(&shared)).transpose()?;
        let marks = shared.timeline.marks(&shared.raw)?;
        let pool = match begin_commands(&shared) {
            Ok(pool) => pool,
            Err(error) => {
                marks.into_iter().for_each(|marks| shared.timeline.return_marks(marks));
                return Err(error);
            }
        };
        let writer = Writer::new(pool.buffer);
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
            names: Vec::new(),
            is_stamping: time_stamps.is_some() && options.isolate.is_none(),
            time_stamps,
            counters,
            isolate: options.isolate,
            occurrences: 0,
            marks,
            writer,
            is_blank: true,
            parts: Vec::new(),
            segment: None,
            segments: 0,
            declared_bytes: None,
            first_pass: "",
            last_pass: "",
            host_reads: Vec::new(),
            error: None,
            stamp: Arc::new(AtomicU64::new(0)),
        })
    }
}

impl Recorder {
    /// Records a dispatch of as many elements as the kernel's binding `count` has.
    pub fn dispatch_counted<K: CountedInterface>(
        &mut self,
        kernel: &Kernel<K>,
        bindings: K::Bindings<'_>,
        params: K::Params,
    ) {
        let count = K::count(&bindings);
        self.dispatch(kernel, Threads::Counted(count), bindings, params);
    }

    /// Runs `kernel` over `threads` elements.
    ///
    /// Reported by [`Device::submit`]: the same buffer bound twice where one of the bindings writes; more
    /// workgroups than the device takes.
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
        let is_isolated = self.isolate.is_some_and(|isolate| {
            self.occurrences += u32::from(isolate.kernel == source.name);
            isolate.kernel == source.name && isolate.occurrence == self.occurrences
        });
        let repetitions = self.isolate.map_or(1, |isolate| isolate.repetitions);
        if !is_isolated || self.time_stamps.is_none() || repetitions == 0 {
            return self.dispatch_once(kernel, threads, buffers, bytemuck::bytes_of(&params));
        }
        let written = source.bindings.iter().zip(buffers).filter(|(binding, _)| binding.writes);
        let written: Vec<Buffer<u32>> = written.map(|(_, buffer)| Buffer::of_words(buffer)).collect();
        let device = Device { shared: self.shared.clone() };
        let backups: Result<Vec<Buffer<u32>>> = written
            .iter()
            .map(|buffer| device.buffer("backup of an isolated kernel", buffer.len()))
            .collect();
        let backups = match backups {
            Ok(backups) => backups,
            Err(error) => return self.fail(error),
        };
        let declared = self.declared_bytes.take();
        for (buffer, backup) in written.iter().zip(&backups) {
            self.copy(buffer, backup, buffer.len());
        }
        for _ in 0..repetitions {
            for (buffer, backup) in written.iter().zip(&backups) {
                self.copy(backup, buffer, buffer.len());
            }
            (self.is_stamping, self.declared_bytes) = (true, declared);
            self.dispatch_once(kernel, threads, buffers, bytemuck::bytes_of(&params));
            self.is_stamping = false;
        }
    }

    fn dispatch_once<K: KernelInterface>(
        &mut self,
        kernel: &Kernel<K>,
        threads: Threads<'_>,
        buffers: &[&RawBuffer],
        params: &[u8],
    ) {
        let source = kernel.inner.source;
        let groups = match threads {
            Threads::Fixed(n) => {
                let n_groups = (n as u64).div_ceil(u64::from(kernel.inner.tile));
                let limits = &self.shared.candidate.capabilities;
                match fold_groups(n_groups, [limits.max_groups_x, limits.max_groups_y]) {
                    Ok([x, y]) => Groups::Direct(x, y),
                    Err(limit) => {
                        return self.fail(Error::BeyondLimit {
                            object: format!("dispatch of {}", source.name),
                            found: n_groups,
                            unit: "workgroups",
                            limit,
                            limit_name: "maxComputeWorkGroupCount",
                        });
                    }
                }
            }
            Threads::Counted(count) | Threads::Tiles(count, _) => {
                // The row lies in the buffer: the tile was checked, or is bounded.
                let row = match threads {
                    Threads::Tiles(_, log2) => u64::from(log2.min(LARGEST_TILE_LOG2)),
                    _ => u64::from(kernel.inner.tile.trailing_zeros()),
                };
                Groups::Indirect(count.args.raw().inner.handle, 12 * row)
            }
        };
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
        // Work is only reported beside times.
        let work = if self.is_stamping {
            self.dispatch_work(kernel, threads, buffers, params)
        } else {
            self.declared_bytes = None;
            PassWork::Bytes(0)
        };
        self.begin_pass_of(source.name, bound.chain(arguments), work);

        let mut handles = [vk::Buffer::null(); MAX_BINDINGS];
        for (handle, buffer) in handles.iter_mut().zip(buffers) {
            *handle = buffer.inner.handle;
        }
        let (pipeline, layout) = (kernel.inner.code().pipeline, kernel.inner.layout);
        let payload = Payload { buffers: &handles[..buffers.len()], params };
        self.issue(Command::Dispatch { pipeline, layout, groups }, payload);
        kernel.inner.dispatches.fetch_add(1, Ordering::Relaxed);
        kernel.inner.groups.fetch_add(threads.groups(kernel.inner.tile), Ordering::Relaxed);
        self.end_pass();
    }

    /// Returns the work of a dispatch, by copies of the counts that it depends on.
    fn dispatch_work<K: KernelInterface>(
        &mut self,
        kernel: &Kernel<K>,
        threads: Threads<'_>,
        buffers: &[&RawBuffer],
        params: &[u8],
    ) -> PassWork {
        let declared = self.declared_bytes.take().map(|bytes| (bytes, threads.expected()));
        let elements = match threads {
            Threads::Fixed(n) => Elements { count: Count::Known(n as u64), tile_log2: None },
            Threads::Counted(count) => {
                Elements { count: self.copied_count(count.count.raw()), tile_log2: None }
            }
            Threads::Tiles(count, log2) => {
                Elements { count: self.copied_count(count.count.raw()), tile_log2: Some(log2) }
            }
        };
        let is_counted = |buffer: &RawBuffer| buffer.inner.expected.load(Ordering::Relaxed) != u32::MAX;
        let depends_on_counts = declared.is_none()
            && kernel.inner.source.bindings.iter().any(|binding| binding.elements.is_some());
        let counts = buffers.iter().map(|buffer| match is_counted(buffer) && depends_on_counts {
            true => self.copied_count(buffer),
            false => Count::Known(u32::MAX.into()),
        });
        PassWork::Dispatch(Box::new(DispatchWork {
            counts: counts.collect(),
            kernel: kernel.inner.clone(),
            elements,
            buffer_bytes: buffers.iter().map(|buffer| buffer.inner.bytes).collect(),
            params: params.to_vec(),
            declared,
        }))
    }

    /// Records a copy of a count to the host, unless there is one of its last write; the expected count if
    /// there is no place for another.
    fn copied_count(&mut self, count: &RawBuffer) -> Count {
        let expected = Count::Known(count.inner.expected.load(Ordering::Relaxed).into());
        let resource = Resource::Buffer(count);
        let kept = self.index(&resource).and_then(|index| self.kept.get(index as usize));
        let written = kept.and_then(|kept| kept.write).map_or(0, |(_, clock)| clock);
        let device = Device { shared: self.shared.clone() };
        let Some(time_stamps) = &mut self.time_stamps else { return expected };
        if let Some(copied) = time_stamps.copy_of(count, written) {
            return copied;
        }
        let create = |len: usize| device.buffer_in("counts of a profile", len, Location::Readback);
        let (copies, index) = match time_stamps.add_copy(count, written, create) {
            Ok(Some(place)) => place,
            Ok(None) => return expected,
            Err(error) => {
                self.fail(error);
                return expected;
            }
        };
        self.place_barrier([(resource, Use::TransferRead)].into_iter());
        let (from, to) = (count.inner.handle, copies.raw().inner.handle);
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 4 * u64::from(index), size: 4 }];
        let commands = self.commands();
        // SAFETY: both ranges lie in their buffers: a count has one word, and the index was checked.
        unsafe { self.shared.raw.cmd_copy_buffer(commands, from, to, &region) };
        // Copies write different words, so that only the host waits for them.
        let clock = self.clock;
        self.kept(Resource::Buffer(copies.raw())).write = Some((Use::TransferWrite, clock));
        if index == 0 {
            self.note_host_read(copies.raw());
        }
        Count::Copied(index)
    }

    /// Sets the minimum number of bytes that the next pass moves. Required if it cannot follow from the
    /// bindings and the `Elements:` line of the shader's header, because the accessed elements depend on a
    /// count that is not bound. Of a dispatch it is the number for the expected count of elements: a profile
    /// scales it to the device's.
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
        let (from, destination) = (from.raw().inner.handle, to.raw().inner.handle);
        self.issue(Command::Copy { from, to: destination, bytes }, Payload::default());
        self.end_pass();
        self.note_host_read(to.raw());
    }

    /// Sets every 32-bit word of `buffer` to `word`.
    pub fn fill<T: Pod>(&mut self, buffer: &Buffer<T>, word: u32) {
        let inner = &buffer.raw().inner;
        self.begin_pass("fill", [(Resource::Buffer(buffer.raw()), Use::TransferWrite)], inner.bytes);
        self.issue(Command::Fill { buffer: inner.handle, word }, Payload::default());
        self.end_pass();
    }

    /// Copies an image, row by row, to the start of a buffer of its pixels: packed RGBA8, or the bits of
    /// 32-bit depth or floats.
    ///
    /// Reported by [`Device::submit`]: the buffer is too small.
    pub fn copy_image(&mut self, image: &Image, to: &Buffer<u32>) {
        let (width, height) = image.size();
        let words = u64::from(image.format().words()) * u64::from(width) * u64::from(height);
        if (to.len() as u64) < words {
            return self.fail(Error::Misuse {
                object: format!("copy from image \"{}\" to \"{}\"", image.name(), to.name()),
                problem: format!("{width} × {height} pixels do not fit into {} words", to.len()),
            });
        }
        let uses =
            [(Resource::Image(image), Use::TransferRead), (Resource::Buffer(to.raw()), Use::TransferWrite)];
        self.begin_pass("copy image", uses, 8 * words);
        let region = [vk::BufferImageCopy::default()
            .image_subresource(image.layers())
            .image_extent(vk::Extent3D { width, height, depth: 1 })];
        let destination = to.raw().inner.handle;
        let commands = self.commands();
        // SAFETY: the image is in the general layout, as all of ours are, and the buffer is large enough.
        unsafe {
            self.shared.raw.cmd_copy_image_to_buffer(
                commands,
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

    /// Returns the name of a resource that was used, by its number in [`Self::events`].
    pub fn resource_name(&self, resource: u64) -> Option<&str> {
        let index = *self.index_of.get(&resource)?;
        self.kept.get(index as usize).map(|kept| kept.owner.name())
    }

    /// Returns the names of the passes so far, if the recorder traces: `area.name` of a kernel.
    pub fn pass_names(&self) -> &[&'static str] {
        &self.names
    }

    /// Records what `record` records, by submitting an earlier command buffer again if `replay` has one with
    /// exactly these commands.
    ///
    /// Steps whose parameters do not change should be recorded this way. Passes that only occur once belong
    /// elsewhere; so do copies to the host, which make the segment an ordinary part of this recorder, as
    /// drawing does. Recorders that profile, or whose passes a [watchdog](crate::Watchdog) marks, record
    /// everything anew.
    pub fn replayed<T>(&mut self, replay: &Replay, record: impl FnOnce(&mut Self) -> T) -> T {
        if self.segment.is_some() || self.time_stamps.is_some() || self.marks.is_some() {
            return record(self);
        }
        let Some(list) = replay.begin() else { return record(self) };
        self.segments += 1;
        self.segment = Some(Segment { list, resources: Vec::new() });
        let result = record(self);
        if let Some(segment) = self.segment.take()
            && let Err(error) = self.end_segment(replay, segment)
        {
            self.fail(error);
        }
        result
    }

    fn end_segment(&mut self, replay: &Replay, Segment { list, resources }: Segment) -> Result<()> {
        let owners = || resources.iter().map(|i| self.kept[*i as usize].owner.clone()).collect();
        let found = replay.find(&self.shared, &list, owners)?;
        let is_new = found.is_none();
        match found {
            Some(recorded) => {
                self.close()?;
                self.parts.push(Part::Replayed(recorded));
            }
            None => self.write_list(&list),
        }
        replay.give_back(list, is_new);
        Ok(())
    }

    /// Ends the command buffer of `pool` if anything was written to it, and begins another.
    fn close(&mut self) -> Result<()> {
        if self.is_blank {
            return Ok(());
        }
        let next = begin_commands(&self.shared)?;
        // SAFETY: the buffer is recording.
        let ended = unsafe { self.shared.raw.end_command_buffer(self.writer.buffer) };
        self.writer = Writer::new(next.buffer);
        self.is_blank = true;
        self.parts.extend(self.pool.replace(next).map(Part::Own));
        ended.map_err(Error::call("end", "a command buffer"))
    }

    fn write_list(&mut self, list: &CommandList) {
        self.is_blank = false;
        list.write(&mut self.writer, &self.shared);
    }

    /// Returns the command buffer for a pass that cannot be replayed; the present segment becomes an ordinary
    /// part of this recorder.
    pub(crate) fn commands(&mut self) -> vk::CommandBuffer {
        if let Some(segment) = self.segment.take() {
            self.write_list(&segment.list);
        }
        self.is_blank = false;
        self.writer.buffer
    }

    fn issue(&mut self, command: Command, payload: Payload<'_>) {
        match &mut self.segment {
            Some(segment) => segment.list.push(command, payload),
            None => {
                self.is_blank = false;
                self.writer.write(&self.shared, command, payload);
            }
        }
    }

    /// Stores a mistake, to be reported by [`Device::submit`]; only the first one is kept.
    pub fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Returns the first mistake that was recorded, which submission would report.
    pub fn mistake(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    pub(crate) fn keep(&mut self, object: Arc<dyn Any + Send + Sync>) {
        self.objects.push(object);
    }

    /// Makes all that buffers hold visible to the host at their [shared addresses](Buffer::shared_address),
    /// once this recorder's work has ended. No other work may write them while the host reads.
    pub fn share_with_host(&mut self) {
        self.commands();
        let (mut before, mut after) = (UseSet::default(), UseSet::default());
        [Use::ComputeWrite, Use::TransferWrite].into_iter().for_each(|usage| before.insert(usage));
        after.insert(Use::HostRead);
        self.write_barrier(before, after);
    }

    fn note_host_read(&mut self, buffer: &RawBuffer) {
        if buffer.inner.is_readback() {
            self.host_reads.push(buffer.clone());
            // Its result is collected once.
            self.commands();
        }
    }

    /// Begins a pass that is no dispatch and moves at least `bytes`.
    pub(crate) fn begin_pass<'a>(
        &mut self,
        name: &'static str,
        uses: impl IntoIterator<Item = (Resource<'a>, Use), IntoIter: Clone>,
        bytes: u64,
    ) {
        let bytes = self.declared_bytes.take().unwrap_or(bytes);
        self.begin_pass_of(name, uses, PassWork::Bytes(bytes));
    }

    /// Records the barrier that the pass needs, its label and its first time stamp.
    fn begin_pass_of<'a>(
        &mut self,
        name: &'static str,
        uses: impl IntoIterator<Item = (Resource<'a>, Use), IntoIter: Clone>,
        work: PassWork,
    ) {
        self.place_barrier(uses.into_iter());
        if self.shared.labels {
            self.issue(Command::BeginLabel(name), Payload::default());
        }
        let commands = self.writer.buffer;
        if self.is_stamping
            && let Some(time_stamps) = &mut self.time_stamps
            && !time_stamps.begin(commands, name, work)
        {
            self.error.get_or_insert(Error::Misuse {
                object: "a profiling recorder".into(),
                problem: format!("more than {MAX_TIMED_PASSES} passes; submit fewer steps at once"),
            });
        }
        if self.is_stamping
            && let Some(counters) = &mut self.counters
        {
            counters.begin(commands);
        }
        if self.passes == 0 {
            self.first_pass = name;
        }
        self.last_pass = name;
        self.passes += 1;
        if self.events.is_some() {
            self.names.push(name);
        }
    }

    pub(crate) fn end_pass(&mut self) {
        if self.is_stamping
            && let Some(counters) = &self.counters
        {
            counters.end(self.writer.buffer);
        }
        if self.is_stamping
            && let Some(time_stamps) = &self.time_stamps
        {
            time_stamps.end(self.writer.buffer);
        }
        if let Some(marks) = &mut self.marks {
            marks.end_pass(&self.shared.raw, self.writer.buffer, self.last_pass);
        }
        if self.shared.labels {
            self.issue(Command::EndLabel, Payload::default());
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
            self.kept.push(Kept { id, write: None, reads, owner: resource.owner(), segment: 0 });
            self.index_of.insert(id, index);
            resource.slot().set(self.generation, index);
            index
        });
        let kept = &mut self.kept[index as usize];
        if let Some(segment) = &mut self.segment
            && kept.segment != self.segments
        {
            kept.segment = self.segments;
            segment.resources.push(index);
        }
        kept
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
        self.issue(Command::Barrier { before, after }, Payload::default());
        if let Some(events) = &mut self.events {
            events.push(Event::Barrier { before, after });
        }
    }

    /// Ends recording and returns the first mistake, if any, as an error.
    pub(crate) fn finish(mut self) -> Result<Finished> {
        let host_reads = std::mem::take(&mut self.host_reads);
        self.place_barrier(host_reads.iter().map(|buffer| (Resource::Buffer(buffer), Use::HostRead)));
        // SAFETY: the buffer is recording.
        let ended = unsafe { self.shared.raw.end_command_buffer(self.writer.buffer) };
        let unbound = self.shared.descriptor_sets.as_ref().and_then(DescriptorSets::take_failure);
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        unbound.map_or(Ok(()), Err).map_err(Error::call("allocate descriptor sets", "a command buffer"))?;
        ended.map_err(Error::call("end", "a command buffer"))?;
        if !self.is_blank {
            self.parts.extend(self.pool.take().map(Part::Own));
        }
        let (mut buffers, mut pools, mut replayed) = (Vec::new(), Vec::new(), Vec::new());
        for part in self.parts.drain(..) {
            match part {
                Part::Own(pool) => {
                    buffers.push(pool.buffer);
                    pools.push(pool);
                }
                Part::Replayed(recorded) => {
                    buffers.push(recorded.buffer);
                    replayed.push(recorded);
                }
            }
        }
        Ok(Finished {
            commands: Commands {
                buffers,
                pools,
                first_pass: self.first_pass,
                last_pass: self.last_pass,
                marks: self.marks.take(),
                stamp: self.stamp.clone(),
            },
            kept: vec![
                Box::new(replayed),
                Box::new(std::mem::take(&mut self.kept)),
                Box::new(std::mem::take(&mut self.objects)),
            ],
            time_stamps: self.time_stamps.take(),
            counters: self.counters.take(),
        })
    }
}

/// Begins a command buffer that is submitted once.
fn begin_commands(shared: &Shared) -> Result<CommandPool> {
    let pool = shared.command_pool()?;
    let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
    // SAFETY: the buffer is fresh or was reset with its pool.
    match unsafe { shared.raw.begin_command_buffer(pool.buffer, &begin) } {
        Ok(()) => Ok(pool),
        Err(result) => {
            shared.timeline.return_pool(pool);
            Err(Error::call("begin", "a command buffer")(result))
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let own = self.parts.drain(..).filter_map(|part| match part {
            Part::Own(pool) => Some(pool),
            Part::Replayed(_) => None,
        });
        for pool in self.pool.take().into_iter().chain(own) {
            self.shared.timeline.return_pool(pool);
        }
        if let Some(marks) = self.marks.take() {
            self.shared.timeline.return_marks(marks);
        }
    }
}

/// Returns the numbers of workgroups along x and y of a dispatch of at least `n` of them, or else the largest
/// number that a device with these limits takes.
fn fold_groups(n: u64, [max_x, max_y]: [u32; 2]) -> Result<[u32; 2], u64> {
    let max_x = max_x.max(1);
    match u32::try_from(n.div_ceil(max_x.into()).max(1)) {
        // The smaller of both fits.
        Ok(y) if y <= max_y.max(1) => Ok([n.min(max_x.into()) as u32, y]),
        _ => Err(u64::from(max_x) * u64::from(max_y)),
    }
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

#[cfg(test)]
mod tests {
    use super::fold_groups;

    #[test]
    fn dispatches_beyond_the_limit_of_x_are_folded_and_beyond_both_refused() {
        let max = [65_535; 2];
        assert_eq!(fold_groups(0, max), Ok([0, 1]));
        assert_eq!(fold_groups(65_535, max), Ok([65_535, 1]));
        assert_eq!(fold_groups(65_536, max), Ok([65_535, 2]));
        assert_eq!(fold_groups(1 << 24, max), Ok([65_535, 257]));
        let most = 65_535 * 65_535;
        assert_eq!((fold_groups(most, max), fold_groups(most + 1, max)), (Ok(max), Err(most)));
        assert_eq!(fold_groups(1 << 31, [u32::MAX, 65_535]), Ok([1 << 31, 1]));
        for n in (0..2_000_000).step_by(997) {
            let [x, y] = fold_groups(n, max).unwrap_or_default().map(u64::from);
            assert!(x * y >= n && (y == 1 || x * (y - 1) < n), "{n}: {x} x {y}");
        }
    }
}
