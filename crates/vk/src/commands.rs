//! Commands of passes as values: written to a command buffer at once, or listed, compared and written later.

use crate::compiled::MAX_BINDINGS;
use crate::device::Shared;
use crate::hazard::{Use, UseSet};
use crate::pipeline_layout::PipelineLayout;
use ash::vk;
use std::ffi::CStr;

/// A command of a compute or transfer pass. The buffers and push constants of a dispatch follow it, see
/// [`Payload`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Barrier { before: UseSet, after: UseSet },
    BeginLabel(&'static str),
    EndLabel,
    Dispatch { pipeline: vk::Pipeline, layout: PipelineLayout, groups: Groups },
    Copy { from: vk::Buffer, to: vk::Buffer, bytes: u64 },
    Fill { buffer: vk::Buffer, word: u32 },
}

/// Number of workgroups of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Groups {
    /// Given by the host, along x and y, within the device's limits.
    Direct(u32, u32),
    /// Read from a buffer at this offset in bytes.
    Indirect(vk::Buffer, u64),
}

/// Buffers by slot, and push constants.
#[derive(Clone, Copy, Default)]
pub(crate) struct Payload<'a> {
    pub buffers: &'a [vk::Buffer],
    pub params: &'a [u8],
}

/// A list of commands. Two lists are equal if and only if they record the same command buffer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CommandList {
    /// Compared first: push constants of steps differ most often.
    params: Vec<u8>,
    buffers: Vec<vk::Buffer>,
    /// Each command with the numbers of its buffers and bytes of push constants.
    commands: Vec<(Command, u32, u32)>,
}

impl CommandList {
    pub fn push(&mut self, command: Command, payload: Payload<'_>) {
        self.commands.push((command, payload.buffers.len() as u32, payload.params.len() as u32));
        self.buffers.extend_from_slice(payload.buffers);
        self.params.extend_from_slice(payload.params);
    }

    pub fn clear(&mut self) {
        self.commands.clear();
        self.buffers.clear();
        self.params.clear();
    }

    /// Writes all commands to a command buffer.
    pub fn write(&self, writer: &mut Writer, shared: &Shared) {
        let (mut buffers, mut params) = (&self.buffers[..], &self.params[..]);
        for (command, n_buffers, n_params) in &self.commands {
            let (own_buffers, other_buffers) = buffers.split_at(*n_buffers as usize);
            let (own_params, other_params) = params.split_at(*n_params as usize);
            writer.write(shared, *command, Payload { buffers: own_buffers, params: own_params });
            (buffers, params) = (other_buffers, other_params);
        }
    }
}

/// A command buffer that is being recorded, with the pipeline bound last.
#[derive(Clone, Copy)]
pub(crate) struct Writer {
    pub buffer: vk::CommandBuffer,
    bound: vk::Pipeline,
}

impl Writer {
    pub fn new(buffer: vk::CommandBuffer) -> Self {
        Self { buffer, bound: vk::Pipeline::null() }
    }

    pub fn write(&mut self, shared: &Shared, command: Command, payload: Payload<'_>) {
        let raw = &shared.raw;
        match command {
            Command::Barrier { before, after } => self.barrier(shared, before, after),
            Command::BeginLabel(name) => {
                let Some(debug) = &shared.debug else { return };
                let mut text = [0; 64];
                // Longer names are cut: the last byte stays zero.
                let len = name.len().min(text.len() - 1);
                text[..len].copy_from_slice(&name.as_bytes()[..len]);
                let name = CStr::from_bytes_until_nul(&text).unwrap_or_default();
                let label = vk::DebugUtilsLabelEXT::default().label_name(name);
                // SAFETY: the command buffer is recording.
                unsafe { debug.cmd_begin_debug_utils_label(self.buffer, &label) };
            }
            Command::EndLabel => {
                let Some(debug) = &shared.debug else { return };
                // SAFETY: a label was begun before.
                unsafe { debug.cmd_end_debug_utils_label(self.buffer) };
            }
            Command::Dispatch { pipeline, layout, groups } => {
                if self.bound != pipeline {
                    self.bound = pipeline;
                    let point = vk::PipelineBindPoint::COMPUTE;
                    // SAFETY: the pipeline lives as long as the device.
                    unsafe { raw.cmd_bind_pipeline(self.buffer, point, pipeline) };
                }
                push_buffers(shared, self.buffer, vk::PipelineBindPoint::COMPUTE, layout, payload.buffers);
                if !payload.params.is_empty() {
                    let stages = vk::ShaderStageFlags::COMPUTE;
                    // SAFETY: the layout's range has the size of the params, as the generated code asserts.
                    unsafe { raw.cmd_push_constants(self.buffer, layout.handle, stages, 0, payload.params) };
                }
                match groups {
                    // SAFETY: both dimensions are within the device's limits.
                    Groups::Direct(x, y) => unsafe { raw.cmd_dispatch(self.buffer, x, y, 1) },
                    Groups::Indirect(buffer, offset) => {
                        // SAFETY: the offset lies in the buffer, and the arguments are made by
                        // prepare_dispatch within the device's limits.
                        unsafe { raw.cmd_dispatch_indirect(self.buffer, buffer, offset) };
                    }
                }
            }
            Command::Copy { from, to, bytes } => {
                let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: bytes }];
                // SAFETY: the range lies in both buffers, which are different ones or the copy is refused by
                // the layers.
                unsafe { raw.cmd_copy_buffer(self.buffer, from, to, &region) };
            }
            Command::Fill { buffer, word } => {
                // SAFETY: the whole buffer; its size is a multiple of four for every element type shaders can
                // share.
                unsafe { raw.cmd_fill_buffer(self.buffer, buffer, 0, vk::WHOLE_SIZE, word) };
            }
        }
    }

    fn barrier(&self, shared: &Shared, before: UseSet, after: UseSet) {
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
        unsafe { shared.raw.cmd_pipeline_barrier2(self.buffer, &info) };
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

/// Binds storage buffers, slot 0 first.
pub(crate) fn push_buffers(
    shared: &Shared,
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: PipelineLayout,
    buffers: &[vk::Buffer],
) {
    if buffers.is_empty() {
        return;
    }
    let mut infos = [vk::DescriptorBufferInfo::default(); MAX_BINDINGS];
    for (info, buffer) in infos.iter_mut().zip(buffers) {
        *info = info.buffer(*buffer).range(vk::WHOLE_SIZE);
    }
    let mut writes = [vk::WriteDescriptorSet::default(); MAX_BINDINGS];
    for (slot, (write, info)) in writes.iter_mut().zip(infos.chunks_exact(1)).enumerate() {
        *write = write
            .dst_binding(slot as u32)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(info);
    }
    let writes = &mut writes[..buffers.len()];
    if let Some(sets) = &shared.descriptor_sets {
        return sets.bind(&shared.raw, commands, bind_point, layout, writes);
    }
    let (push, layout) = (&shared.push_descriptor, layout.handle);
    // SAFETY: the layout's set 0 is a push-descriptor set of exactly these storage buffers.
    unsafe { push.cmd_push_descriptor_set(commands, bind_point, layout, 0, writes) };
}
