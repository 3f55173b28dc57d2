//! The queue: a timeline that orders submissions and defers the destruction of dropped objects. It knows
//! only Vulkan handles, not the objects that own them.

use crate::marks::Marks;
use crate::pipeline_layout::PipelineLayout;
use crate::{Error, Result};
use ash::vk;
use gpu_allocator::vulkan::Allocation;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An object without an owner, to be destroyed when the device no longer uses it.
pub(crate) enum Retired {
    Buffer(vk::Buffer, Option<Allocation>),
    Image(vk::Image, vk::ImageView, Option<Allocation>),
    Pipeline { pipeline: vk::Pipeline, layout: PipelineLayout },
    Queries(vk::QueryPool),
    Commands(CommandPool),
}

/// A command pool with its only buffer; recorders borrow them and return them when the device has finished.
pub(crate) struct CommandPool {
    pub pool: vk::CommandPool,
    pub buffer: vk::CommandBuffer,
}

/// Finished command buffers, in order, with the names of their passes.
pub(crate) struct Commands {
    pub buffers: Vec<vk::CommandBuffer>,
    /// Pools of the buffers that are submitted once.
    pub pools: Vec<CommandPool>,
    pub first_pass: &'static str,
    pub last_pass: &'static str,
    pub marks: Option<Marks>,
    pub stamp: Stamp,
}

struct InFlight {
    value: u64,
    commands: Commands,
}

#[derive(Default)]
struct State {
    submitted: u64,
    in_flight: VecDeque<InFlight>,
    free_pools: Vec<CommandPool>,
    free_marks: Vec<Marks>,
    retired: Vec<(u64, Retired)>,
}

/// The queue with its timeline semaphore: submission n sets it to n, and waits on the device for n − 1.
pub(crate) struct Timeline {
    queue: vk::Queue,
    family: u32,
    semaphore: vk::Semaphore,
    state: Mutex<State>,
    waits: AtomicU64,
    watchdog: Limits,
    mode: SubmissionMode,
    /// Number of the last submission that a dry run took for finished.
    assumed: AtomicU64,
    /// True once a wait has ended by the watchdog: the device may use its objects forever.
    is_hung: AtomicBool,
}

/// Limits of the watchdog.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Time that a submission may take; none for any time.
    pub submission: Option<Duration>,
    /// True if passes are marked.
    pub marks: bool,
}

/// Variant of submissions and waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubmissionMode {
    /// True if submissions are made by `vkQueueSubmit`: GPU-assisted validation of version 1.3.239 loses
    /// semaphores of `vkQueueSubmit2`, and then waits for them forever.
    pub is_first_version: bool,
    /// True if a submission is taken for finished once it was waited for, even if nothing was computed.
    pub is_dry_run: bool,
}

/// Time that a dry run waits for a submission.
const DRY_RUN_WAIT: Duration = Duration::from_millis(100);

impl Timeline {
    /// Creates the timeline.
    pub fn new(device: &ash::Device, family: u32, watchdog: Limits, mode: SubmissionMode) -> Result<Self> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(0);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: timeline semaphores are enabled on every device we open.
        let semaphore = unsafe { device.create_semaphore(&info, None) }
            .map_err(Error::call("create timeline semaphore", "the queue"))?;
        // SAFETY: the device was created with one queue of this family.
        let queue = unsafe { device.get_device_queue(family, 0) };
        Ok(Self {
            queue,
            family,
            semaphore,
            state: Mutex::default(),
            waits: AtomicU64::new(0),
            watchdog,
            mode,
            assumed: AtomicU64::new(0),
            is_hung: AtomicBool::new(false),
        })
    }

    /// Gives exclusive access to the queue to work outside the timeline (the window system).
    #[cfg(feature = "window")]
    pub fn with_queue<T>(&self, use_queue: impl FnOnce(vk::Queue) -> T) -> T {
        let _exclusive = self.state();
        use_queue(self.queue)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the counts of submissions and waits so far.
    pub fn counts(&self) -> (u64, u64) {
        (self.state().submitted, self.waits.load(Ordering::Relaxed))
    }

    /// Returns a command pool that the device is not using.
    pub fn command_pool(&self, device: &ash::Device) -> Result<CommandPool> {
        let free = self.state().free_pools.pop();
        if let Some(pool) = free {
            // SAFETY: pools in the free list have finished executing.
            let reset = unsafe { device.reset_command_pool(pool.pool, vk::CommandPoolResetFlags::empty()) };
            if let Err(result) = reset {
                self.return_pool(pool);
                return Err(Error::call("reset command pool", "a recorder")(result));
            }
            return Ok(pool);
        }
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(self.family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the family is the one the device was created with.
        let pool = unsafe { device.create_command_pool(&info, None) }
            .map_err(Error::call("create command pool", "a recorder"))?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool was just created.
        match unsafe { device.allocate_command_buffers(&info) } {
            Ok(buffers) => Ok(CommandPool { pool, buffer: buffers[0] }),
            Err(result) => {
                // SAFETY: the pool is ours and unused.
                unsafe { device.destroy_command_pool(pool, None) };
                Err(Error::Call { operation: "allocate command buffer", object: "a recorder".into(), result })
            }
        }
    }

    /// Returns a pool that was never submitted to the free list.
    pub fn return_pool(&self, pool: CommandPool) {
        self.state().free_pools.push(pool);
    }

    /// Returns marks for the passes of a recorder, if the watchdog names passes.
    pub fn marks(&self, device: &ash::Device) -> Result<Option<Marks>> {
        if !self.watchdog.marks {
            return Ok(None);
        }
        let free = self.state().free_marks.pop();
        match free {
            Some(mut marks) => {
                marks.clear(device);
                Ok(Some(marks))
            }
            None => Marks::new(device).map(Some),
        }
    }

    /// Returns marks that were never submitted to the free list.
    pub fn return_marks(&self, marks: Marks) {
        self.state().free_marks.push(marks);
    }

    /// Destroys `object` once all submissions so far have finished.
    pub fn retire(&self, object: Retired) {
        let mut state = self.state();
        let after = state.submitted;
        state.retired.push((after, object));
    }

    /// Returns the number of the last finished submission.
    pub fn completed(&self, device: &ash::Device) -> Result<u64> {
        // A driver without its hardware may return anything.
        if self.mode.is_dry_run {
            return Ok(self.assumed.load(Ordering::Relaxed));
        }
        // SAFETY: the semaphore is alive.
        unsafe { device.get_semaphore_counter_value(self.semaphore) }
            .map_err(|result| self.lost_or(device, result, "query the timeline"))
    }

    fn lost_or(&self, device: &ash::Device, result: vk::Result, operation: &'static str) -> Error {
        if result == vk::Result::ERROR_DEVICE_LOST {
            let state = self.state();
            if let Some(InFlight { value, commands }) = state.in_flight.front() {
                return Error::DeviceLost {
                    submission: *value,
                    reached: commands.marks.as_ref().and_then(|marks| marks.reached(device)),
                    first_pass: commands.first_pass.to_owned(),
                    last_pass: commands.last_pass.to_owned(),
                };
            }
        }
        Error::Call { operation, object: "the queue".into(), result }
    }

    /// Returns the error of a device that hangs in the first submission after `completed`.
    fn hung(&self, device: &ash::Device, completed: u64, limit: Duration) -> Error {
        self.is_hung.store(true, Ordering::Relaxed);
        let state = self.state();
        let stuck = state.in_flight.iter().find(|submission| submission.value > completed);
        let commands = stuck.map(|submission| &submission.commands);
        Error::Hung {
            submission: completed + 1,
            limit_s: limit.as_secs_f64(),
            reached: commands.and_then(|commands| commands.marks.as_ref()?.reached(device)),
            first_pass: commands.map_or("", |commands| commands.first_pass).to_owned(),
            last_pass: commands.map_or("", |commands| commands.last_pass).to_owned(),
        }
    }

    /// Returns true if a wait has ended by the watchdog.
    pub fn is_hung(&self) -> bool {
        self.is_hung.load(Ordering::Relaxed)
    }

    /// Removes finished submissions from the list and destroys the objects retired with them; `free` receives
    /// their memory.
    pub fn collect(&self, device: &ash::Device, mut free: impl FnMut(Allocation)) -> Result<()> {
        let completed = self.completed(device)?;
        let mut done = Vec::new();
        {
            let mut state = self.state();
            while state.in_flight.front().is_some_and(|s| s.value <= completed) {
                if let Some(finished) = state.in_flight.pop_front() {
                    state.free_pools.extend(finished.commands.pools);
                    state.free_marks.extend(finished.commands.marks);
                }
            }
            let mut i = 0;
            while i < state.retired.len() {
                if state.retired[i].0 <= completed {
                    done.push(state.retired.swap_remove(i).1)
                } else {
                    i += 1
                }
            }
        }
        for object in done {
            destroy_retired(device, object, &mut free);
        }
        Ok(())
    }

    /// Submits commands after all earlier submissions, also waiting for and signalling binary semaphores of
    /// the window system, and returns the submission's number. The number is stored in `stamp` before another
    /// submission can follow. Without commands and semaphores, the last submission stands for this one.
    pub fn submit(
        &self,
        device: &ash::Device,
        commands: Commands,
        wait: &[vk::Semaphore],
        signal: &[vk::Semaphore],
    ) -> Result<u64> {
        let mut state = self.state();
        if commands.buffers.is_empty() && wait.is_empty() && signal.is_empty() {
            state.free_pools.extend(commands.pools);
            state.free_marks.extend(commands.marks);
            commands.stamp.store(state.submitted, Ordering::Release);
            return Ok(state.submitted);
        }
        let value = state.submitted + 1;
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let binary = |s: &vk::Semaphore| vk::SemaphoreSubmitInfo::default().semaphore(*s).stage_mask(all);
        let on_timeline =
            |value| vk::SemaphoreSubmitInfo::default().semaphore(self.semaphore).value(value).stage_mask(all);
        let waits: Vec<_> = wait.iter().map(binary).chain([on_timeline(value - 1)]).collect();
        let signals: Vec<_> = signal.iter().map(binary).chain([on_timeline(value)]).collect();
        let buffer =
            |buffer: &vk::CommandBuffer| vk::CommandBufferSubmitInfo::default().command_buffer(*buffer);
        let buffers: Vec<_> = commands.buffers.iter().map(buffer).collect();
        let info = [vk::SubmitInfo2::default()
            .wait_semaphore_infos(&waits)
            .command_buffer_infos(&buffers)
            .signal_semaphore_infos(&signals)];
        let submitted = if self.mode.is_first_version {
            self.submit_first_version(device, &commands.buffers, value, wait, signal)
        } else {
            // SAFETY: the command buffers are finished, the caller keeps everything that they use alive until
            // `value` is reached, and the queue is used under the state's lock only.
            unsafe { device.queue_submit2(self.queue, &info, vk::Fence::null()) }
        };
        if let Err(result) = submitted {
            state.free_pools.extend(commands.pools);
            state.free_marks.extend(commands.marks);
            drop(state);
            return Err(self.lost_or(device, result, "submit"));
        }
        state.submitted = value;
        commands.stamp.store(value, Ordering::Release);
        state.in_flight.push_back(InFlight { value, commands });
        Ok(value)
    }

    /// Submits like [`Self::submit`], by `vkQueueSubmit`. The state's lock is held.
    fn submit_first_version(
        &self,
        device: &ash::Device,
        buffers: &[vk::CommandBuffer],
        value: u64,
        wait: &[vk::Semaphore],
        signal: &[vk::Semaphore],
    ) -> std::result::Result<(), vk::Result> {
        let with_timeline =
            |binary: &[vk::Semaphore]| binary.iter().copied().chain([self.semaphore]).collect::<Vec<_>>();
        let (waits, signals) = (with_timeline(wait), with_timeline(signal));
        // Values of binary semaphores are ignored.
        let (wait_values, signal_values) = (vec![value - 1; waits.len()], vec![value; signals.len()]);
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waits.len()];
        let mut values = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&wait_values)
            .signal_semaphore_values(&signal_values);
        let info = [vk::SubmitInfo::default()
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages)
            .command_buffers(buffers)
            .signal_semaphores(&signals)
            .push_next(&mut values)];
        // SAFETY: as for `queue_submit2`.
        unsafe { device.queue_submit(self.queue, &info, vk::Fence::null()) }
    }

    /// Waits until submission `value` has finished, or for the watchdog's limit without any submission that
    /// finishes.
    pub fn wait_for(&self, device: &ash::Device, value: u64) -> Result<()> {
        self.waits.fetch_add(1, Ordering::Relaxed);
        let limit = self.watchdog.submission;
        let mut finished = if limit.is_some() { self.completed(device)? } else { 0 };
        let mut since = Instant::now();
        let (semaphores, values) = ([self.semaphore], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        if self.mode.is_dry_run {
            // SAFETY: the semaphore is alive. Whether it is ever signalled does not matter.
            let _ = unsafe { device.wait_semaphores(&info, DRY_RUN_WAIT.as_nanos() as u64) };
            self.assumed.fetch_max(value, Ordering::Relaxed);
            return Ok(());
        }
        loop {
            // Once it hangs, nothing waits for it again.
            let left = if self.is_hung() {
                Some(Duration::ZERO)
            } else {
                limit.map(|limit| limit.saturating_sub(since.elapsed()))
            };
            let left_ns = left.map_or(u64::MAX, |left| left.as_nanos().try_into().unwrap_or(u64::MAX));
            // SAFETY: the semaphore is alive.
            match unsafe { device.wait_semaphores(&info, left_ns) } {
                Ok(()) => return Ok(()),
                Err(vk::Result::TIMEOUT) => {
                    let completed = self.completed(device)?;
                    if completed > finished {
                        (finished, since) = (completed, Instant::now());
                    } else if let Some(limit) = limit
                        && (since.elapsed() >= limit || self.is_hung())
                    {
                        return Err(self.hung(device, completed, limit));
                    }
                }
                Err(result) => return Err(self.lost_or(device, result, "wait for the device")),
            }
        }
    }

    /// Returns the number of submissions not yet known to have finished.
    pub fn in_flight(&self) -> usize {
        self.state().in_flight.len()
    }

    /// Destroys all objects. Called when the device is dropped, after it became idle.
    pub fn destroy(&self, device: &ash::Device, mut free: impl FnMut(Allocation)) {
        let mut state = self.state();
        let State { in_flight, free_marks, .. } = &mut *state;
        free_marks.extend(in_flight.iter_mut().filter_map(|s| s.commands.marks.take()));
        free_marks.drain(..).for_each(|marks| marks.destroy(device));
        let pools: Vec<_> = state.in_flight.drain(..).flat_map(|s| s.commands.pools).collect();
        for pool in pools.into_iter().chain(state.free_pools.drain(..)) {
            // SAFETY: the device is idle.
            unsafe { device.destroy_command_pool(pool.pool, None) };
        }
        for (_, object) in state.retired.drain(..) {
            destroy_retired(device, object, &mut free);
        }
        // SAFETY: the device is idle.
        unsafe { device.destroy_semaphore(self.semaphore, None) };
    }
}

fn destroy_retired(device: &ash::Device, object: Retired, mut free: impl FnMut(Allocation)) {
    match object {
        Retired::Buffer(buffer, allocation) => {
            // SAFETY: every submission that could use it has run, and its owner is gone.
            unsafe { device.destroy_buffer(buffer, None) };
            allocation.into_iter().for_each(free);
        }
        Retired::Image(image, view, allocation) => {
            // SAFETY: as above; the view goes before its image.
            unsafe { device.destroy_image_view(view, None) };
            // SAFETY: as above.
            unsafe { device.destroy_image(image, None) };
            allocation.into_iter().for_each(&mut free);
        }
        Retired::Pipeline { pipeline, layout } => {
            // SAFETY: as above.
            unsafe { device.destroy_pipeline(pipeline, None) };
            layout.destroy(device);
        }
        Retired::Queries(pool) => {
            // SAFETY: as above.
            unsafe { device.destroy_query_pool(pool, None) };
        }
        Retired::Commands(pool) => {
            // SAFETY: as above.
            unsafe { device.destroy_command_pool(pool.pool, None) };
        }
    }
}

/// Submission number of a recorder, set when it is submitted; 0 until then.
pub(crate) type Stamp = Arc<AtomicU64>;
