//! Descriptor sets in place of push descriptors, for GPU-assisted validation: version 1.3.239 of the layers
//! takes all pushed descriptors for uninitialized, reports them and skips the access.

use crate::pipeline_layout::PipelineLayout;
use ash::vk;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of sets of a pool.
const SETS: u32 = 256;

/// Number of descriptors of a pool.
const DESCRIPTORS: u32 = 16 * SETS;

/// Sets of each command buffer, which live until it is recorded anew.
#[derive(Default)]
pub(crate) struct DescriptorSets(Mutex<State>);

#[derive(Default)]
struct State {
    pools: HashMap<vk::CommandBuffer, Pools>,
    failure: Option<vk::Result>,
}

#[derive(Default)]
struct Pools {
    pools: Vec<vk::DescriptorPool>,
    /// Number of pools that are full.
    n_full: usize,
}

impl DescriptorSets {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees the sets of a command buffer, which begins to be recorded.
    pub fn restart(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        let mut state = self.state();
        let Some(pools) = state.pools.get_mut(&commands) else { return };
        pools.n_full = 0;
        for pool in &pools.pools {
            // SAFETY: the command buffer that used its sets has finished. The call cannot fail.
            let _ = unsafe { device.reset_descriptor_pool(*pool, vk::DescriptorPoolResetFlags::empty()) };
        }
    }

    /// Binds a new set with these descriptors. A failure is stored for [`Self::take_failure`].
    pub fn bind(
        &self,
        device: &ash::Device,
        commands: vk::CommandBuffer,
        bind_point: vk::PipelineBindPoint,
        layout: PipelineLayout,
        writes: &mut [vk::WriteDescriptorSet<'_>],
    ) {
        let mut state = self.state();
        let set = match allocate(device, state.pools.entry(commands).or_default(), layout) {
            Ok(set) => set,
            Err(result) => {
                state.failure.get_or_insert(result);
                return;
            }
        };
        writes.iter_mut().for_each(|write| write.dst_set = set);
        // SAFETY: the set is new, and the buffers are alive.
        unsafe { device.update_descriptor_sets(writes, &[]) };
        // SAFETY: the set has the layout of set 0, and the command buffer is recording.
        unsafe { device.cmd_bind_descriptor_sets(commands, bind_point, layout.handle, 0, &[set], &[]) };
    }

    /// Returns the first failure since the last call.
    pub fn take_failure(&self) -> Option<vk::Result> {
        self.state().failure.take()
    }

    /// Destroys all pools. Called once, when the device is idle.
    pub fn destroy(&self, device: &ash::Device) {
        for pool in self.state().pools.drain().flat_map(|(_, pools)| pools.pools) {
            // SAFETY: the device is idle.
            unsafe { device.destroy_descriptor_pool(pool, None) };
        }
    }
}

fn allocate(
    device: &ash::Device,
    pools: &mut Pools,
    layout: PipelineLayout,
) -> Result<vk::DescriptorSet, vk::Result> {
    let set_layouts = [layout.set];
    loop {
        let is_new = pools.n_full == pools.pools.len();
        if is_new {
            let sizes = [vk::DescriptorPoolSize::default()
                .ty(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(DESCRIPTORS)];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(SETS).pool_sizes(&sizes);
            // SAFETY: the sizes are not zero.
            pools.pools.push(unsafe { device.create_descriptor_pool(&info, None) }?);
        }
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pools.pools[pools.n_full])
            .set_layouts(&set_layouts);
        // SAFETY: pool and layout are alive, and the state's lock is held.
        match unsafe { device.allocate_descriptor_sets(&info) } {
            Ok(sets) => return Ok(sets[0]),
            Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY | vk::Result::ERROR_FRAGMENTED_POOL) if !is_new => {
                pools.n_full += 1;
            }
            Err(result) => return Err(result),
        }
    }
}
