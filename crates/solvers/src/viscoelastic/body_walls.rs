//! Bodies in the neighbourhoods of an implicit solve of viscosity.

use crate::Surroundings;
use crate::pbd::Fluid;
use frazil_shaders::types::ViscoelasticTerms;
use frazil_shaders::viscoelastic::terms::BODY_WALL_VECTORS;
use frazil_shaders::viscoelastic::{load_bodies, sum_body_walls};
use frazil_vk::{Buffer, Device, Kernel, Recorder, Result};

/// Additions of bodies to the neighbourhood of each particle. Empty without bodies, and where their drag acts
/// after the stress: with an explicit viscosity, or elasticity.
pub(super) struct BodyWalls {
    sums: Buffer<[f32; 4]>,
    workgroup_size: u32,
    kernels: Option<BodyKernels>,
}

/// Kernels for the kinds and motions of the bodies of a scene.
struct BodyKernels {
    sum: Kernel<sum_body_walls::Interface>,
    load: Kernel<load_bodies::Interface>,
}

impl BodyKernels {
    fn new(device: &Device, workgroup_size: u32, surroundings: &Surroundings) -> Result<Self> {
        let body_kinds = surroundings.kinds();
        let sum = sum_body_walls::Specialization { workgroup_size, body_kinds };
        let load = load_bodies::Specialization { workgroup_size, body_kinds };
        Ok(Self { sum: Kernel::specialized(device, &sum)?, load: Kernel::specialized(device, &load)? })
    }
}

impl BodyWalls {
    pub fn new(device: &Device, workgroup_size: u32, is_wanted: bool, fluid: &Fluid) -> Result<Self> {
        if !is_wanted || fluid.body_buffers().is_none() {
            let sums = device.buffer("no walls of bodies", 0)?;
            return Ok(Self { sums, workgroup_size, kernels: None });
        }
        let n = BODY_WALL_VECTORS as usize * fluid.count().capacity as usize;
        Ok(Self {
            sums: device.buffer("walls of bodies", n)?,
            workgroup_size,
            kernels: Some(BodyKernels::new(device, workgroup_size, &fluid.parameters().surroundings)?),
        })
    }

    /// Creates these for other motions of the same bodies.
    pub fn with_motions(&self, device: &Device, surroundings: &Surroundings) -> Result<Self> {
        let kernels = match &self.kernels {
            Some(_) => Some(BodyKernels::new(device, self.workgroup_size, surroundings)?),
            None => None,
        };
        Ok(Self { sums: self.sums.clone(), workgroup_size: self.workgroup_size, kernels })
    }

    pub fn sums(&self) -> &Buffer<[f32; 4]> {
        &self.sums
    }

    pub fn is_empty(&self) -> bool {
        self.kernels.is_none()
    }

    /// Records the sums at the positions at the start of the step.
    pub fn record(&self, recorder: &mut Recorder, fluid: &Fluid, terms: &Buffer<ViscoelasticTerms>) {
        let (Some(kernels), Some(bodies)) = (&self.kernels, fluid.body_buffers()) else { return };
        let bindings = sum_body_walls::Bindings {
            count: &fluid.phase.count,
            terms,
            of_bodies: bodies.terms,
            clock: bodies.clock,
            bodies: bodies.bodies,
            body_data: bodies.body_data,
            position: fluid.phase.position.front(),
            body_walls: &self.sums,
        };
        recorder.dispatch_counted(&kernels.sum, bindings, ());
    }

    /// Records the loads on the bodies of the velocities after the solve, with their couplings and the
    /// neighbourhoods (`shape`).
    pub fn record_loads(
        &self,
        recorder: &mut Recorder,
        fluid: &Fluid,
        terms: &Buffer<ViscoelasticTerms>,
        [shape, coupling]: [&Buffer<[f32; 4]>; 2],
    ) {
        let (Some(kernels), Some(bodies)) = (&self.kernels, fluid.body_buffers()) else { return };
        let bindings = load_bodies::Bindings {
            count: &fluid.phase.count,
            terms,
            of_bodies: bodies.terms,
            clock: bodies.clock,
            bodies: bodies.bodies,
            body_data: bodies.body_data,
            position: fluid.phase.position.front(),
            velocity: fluid.phase.velocity.front(),
            shape,
            coupling,
            sums: bodies.sums,
        };
        recorder.dispatch_counted(&kernels.load, bindings, ());
    }
}
