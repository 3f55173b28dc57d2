//! Feed: particles beyond the mouth of a nozzle move at its velocity.

use super::parameters::FeedParameters;
use super::stress::Stress;
use crate::SolverError;
use crate::pbd::Fluid;
use frazil_shaders::viscoelastic::hold_feed;
use frazil_vk::{Buffer, Device, Kernel, Recorder};

/// Kernel of the feed.
pub(super) struct Feed {
    hold: Kernel<hold_feed::Interface>,
}

impl Feed {
    pub fn new(device: &Device, workgroup_size: u32) -> Result<Self, SolverError> {
        Ok(Self { hold: Kernel::specialized(device, &hold_feed::Specialization { workgroup_size })? })
    }

    /// Records x* and velocities of the fed particles.
    pub fn hold(
        &self,
        recorder: &mut Recorder,
        fluid: &Fluid,
        stress: &Stress,
        (feed, velocity): (&FeedParameters, &Buffer<[f32; 3]>),
    ) {
        let phase = &fluid.phase;
        let bindings = hold_feed::Bindings {
            count: &phase.count,
            terms: &stress.terms,
            position: phase.position.front(),
            predicted: fluid.predicted(),
            updated: velocity,
            residual_m: fluid.residual.front(),
        };
        let params = hold_feed::Params { velocity_m_s: feed.velocity_m_s };
        recorder.dispatch_counted(&self.hold, bindings, params);
    }
}
