//! Shape matching of linked neighbourhoods, where a scene asks for it.

use super::constraints::Constraints;
use super::links::Links;
use super::matter::Matter;
use crate::SolverError;
use frazil_particles::AnyColumn;
use frazil_shaders::snow::{adopt_shape, keep_shape, match_shapes};
use frazil_shaders::types::Fit;
use frazil_vk::{Buffer, Device, Kernel, Recorder};

pub(super) struct Shape {
    adopt: Kernel<adopt_shape::Interface>,
    matching: Kernel<match_shapes::Interface>,
    keep: Kernel<keep_shape::Interface>,
    fits: Buffer<Fit>,
}

impl Shape {
    pub fn new(device: &Device, workgroup_size: u32, capacity: u32) -> Result<Self, SolverError> {
        Ok(Self {
            adopt: Kernel::specialized(device, &adopt_shape::Specialization { workgroup_size })?,
            matching: Kernel::specialized(device, &match_shapes::Specialization { workgroup_size })?,
            keep: Kernel::specialized(device, &keep_shape::Specialization { workgroup_size })?,
            fits: device.buffer("fits", capacity as usize)?,
        })
    }

    /// Snow without a place in a shape gets one in its partner's.
    pub fn adopt(&self, recorder: &mut Recorder, solid: &mut Matter, links: &Links) {
        let records = links.records();
        let bindings = adopt_shape::Bindings {
            count: &solid.phase.count.count,
            id: solid.id(),
            predicted: &solid.predicted,
            rest_position: solid.rest_position.front(),
            partner: records.partner(),
            rest_length_m: records.rest_length_m(),
            degree: records.degree(),
            adopted: solid.rest_position.back(),
        };
        let params = adopt_shape::Params { link_stride: records.capacity() };
        recorder.dispatch(&self.adopt, solid.threads(), bindings, params);
        solid.rest_position.swap();
    }

    /// The fits at the positions that were weighed last.
    pub fn match_shapes(&self, recorder: &mut Recorder, solid: &Matter, links: &Links) {
        let records = links.records();
        let bindings = match_shapes::Bindings {
            count: &solid.phase.count.count,
            constraint: &solid.constraint,
            rest_position: solid.rest_position.front(),
            partner: records.partner(),
            rest_length_m: records.rest_length_m(),
            degree: records.degree(),
            fits: &self.fits,
        };
        let params = match_shapes::Params { link_stride: records.capacity() };
        recorder.dispatch(&self.matching, solid.threads(), bindings, params);
    }

    /// Moves snow towards its fits, on top of the iteration's correction.
    pub fn keep(&self, recorder: &mut Recorder, solid: &Matter, links: &Links, constraints: &Constraints) {
        let records = links.records();
        let bindings = keep_shape::Bindings {
            count: &solid.phase.count.count,
            constraint: &solid.constraint,
            rest_position: solid.rest_position.front(),
            partner: records.partner(),
            rest_length_m: records.rest_length_m(),
            degree: records.degree(),
            fits: &self.fits,
            all_terms: &constraints.terms,
            push_m: &constraints.push_m,
            predicted: &solid.predicted,
        };
        recorder.dispatch(&self.keep, solid.threads(), bindings, ());
    }
}
