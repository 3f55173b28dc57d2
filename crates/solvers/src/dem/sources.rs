//! Emitters of grains.

use super::parameters::DemParameters;
use crate::SolverError;
use crate::sources::Sources;
use frazil_particles::ParticleTable;
use frazil_shaders::dem::{count_emitted, emit, mark_emission};
use frazil_vk::{Device, Kernel};
use std::ops::Deref;

/// Emitters on the device, and the kernels that add their grains to the columns in the order of ids; it
/// dereferences to those of any solver.
pub struct GrainSources {
    own: Sources,
    /// [`DemParameters::emitted_radius`].
    pub(super) radius: [f32; 3],
    pub(super) mark: Kernel<mark_emission::Interface>,
    pub(super) emit: Kernel<emit::Interface>,
    pub(super) count: Kernel<count_emitted::Interface>,
}

impl GrainSources {
    /// Makes the emitters of a scene that has any, and registers their counts as part of the state. Set-up
    /// only: waits for the device.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(
        device: &Device,
        parameters: &DemParameters,
        workgroup_size: u32,
        (n, table): (u32, &mut ParticleTable),
    ) -> Result<Option<Self>, SolverError> {
        let own = Sources::new(device, workgroup_size, &parameters.sources, (n, table), &[], false)?;
        let Some(own) = own else { return Ok(None) };
        Ok(Some(Self {
            own,
            radius: parameters.emitted_radius(),
            mark: Kernel::new(device)?,
            emit: Kernel::specialized(device, &emit::Specialization { workgroup_size })?,
            count: Kernel::new(device)?,
        }))
    }
}

impl Deref for GrainSources {
    type Target = Sources;

    fn deref(&self) -> &Sources {
        &self.own
    }
}
