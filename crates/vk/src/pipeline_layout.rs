//! Layouts of pipelines: storage buffers in a push-descriptor set, and push constants.

use crate::{Error, Result};
use ash::vk;

/// Layout of a pipeline with that of its only descriptor set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PipelineLayout {
    pub handle: vk::PipelineLayout,
    pub set: vk::DescriptorSetLayout,
}

/// Kind of the descriptor set of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetKind {
    /// Its descriptors are pushed.
    Pushed,
    /// It is allocated, see [`DescriptorSets`](crate::descriptor_sets::DescriptorSets).
    Allocated,
}

impl PipelineLayout {
    /// Creates the layout for `n_buffers` storage buffers, slot 0 first, and `params_bytes` bytes of push
    /// constants.
    pub fn new(
        device: &ash::Device,
        name: &str,
        n_buffers: usize,
        params_bytes: u32,
        stages: vk::ShaderStageFlags,
        kind: SetKind,
    ) -> Result<Self> {
        let bindings: Vec<_> = (0..n_buffers as u32)
            .map(|slot| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(slot)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .descriptor_count(1)
                    .stage_flags(stages)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default()
            .flags(match kind {
                SetKind::Pushed => vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR,
                SetKind::Allocated => vk::DescriptorSetLayoutCreateFlags::empty(),
            })
            .bindings(&bindings);
        // SAFETY: push descriptors are enabled on every device we open.
        let set = unsafe { device.create_descriptor_set_layout(&info, None) }
            .map_err(Error::call("create set layout", name))?;
        let set_layouts = [set];
        let ranges = [vk::PushConstantRange { stage_flags: stages, offset: 0, size: params_bytes }];
        let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        if params_bytes > 0 {
            info = info.push_constant_ranges(&ranges);
        }
        // SAFETY: the set layout is alive, and the range was checked against the device.
        match unsafe { device.create_pipeline_layout(&info, None) } {
            Ok(handle) => Ok(Self { handle, set }),
            Err(result) => {
                // SAFETY: never used.
                unsafe { device.destroy_descriptor_set_layout(set, None) };
                Err(Error::call("create pipeline layout", name)(result))
            }
        }
    }

    /// Destroys both layouts. Called once, when no submission is left that uses them.
    pub fn destroy(&self, device: &ash::Device) {
        // SAFETY: destroyed once, and no submission is left that uses it.
        unsafe { device.destroy_pipeline_layout(self.handle, None) };
        // SAFETY: as above.
        unsafe { device.destroy_descriptor_set_layout(self.set, None) };
    }
}
