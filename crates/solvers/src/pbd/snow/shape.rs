//! Shape matching of linked neighbourhoods, where a scene asks for it.

use super::constraints::Constraints;
use super::links::Links;
use super::phase_particles::PhaseParticles;
use crate::SolverError;
use frazil_shaders::snow::{apply_shape_matching, attach_to_shape, match_shapes};
use frazil_shaders::types::Fit;
use frazil_vk::{Buffer, Device, Kernel, Recorder};

pub(super) struct Shape {
    attach: Kernel<attach_to_shape::Interface>,
    matching: Kernel<match_shapes::Interface>,
    keep: Kernel<apply_shape_matching::Interface>,
    fits: Buffer<Fit>,
}

impl Shape {
    pub fn new(
        device: &Device,
        workgroup_size: u32,
        is_expanded: bool,
        capacity: u32,
    ) -> Result<Self, SolverError> {
        let keep = apply_shape_matching::Specialization { workgroup_size, is_expanded: is_expanded.into() };
        Ok(Self {
            attach: Kernel::specialized(device, &attach_to_shape::Specialization { workgroup_size })?,
            matching: Kernel::specialized(device, &match_shapes::Specialization { workgroup_size })?,
            keep: Kernel::specialized(device, &keep)?,
            fits: device.buffer("fits", capacity as usize)?,
        })
    }

    /// Records the assignment of rest positions: a snow particle without one gets it from its link partner's
    /// shape.
    pub fn attach(&self, recorder: &mut Recorder, solid: &mut PhaseParticles, links: &Links) {
        let bonds = links.bonds();
        let bindings = attach_to_shape::Bindings {
            count: &solid.phase.count,
            id: solid.id(),
            predicted: solid.predicted(),
            rest_position: solid.rest_position.front(),
            partner: bonds.partner(),
            rest_length_m: bonds.rest_length_m(),
            degree: bonds.degree(),
            next_rest: solid.rest_position.back(),
        };
        let params = attach_to_shape::Params { link_stride: bonds.capacity() };
        recorder.dispatch_counted(&self.attach, bindings, params);
        solid.rest_position.swap();
    }

    /// Records the fits at the positions of the last density pass.
    pub fn match_shapes(&self, recorder: &mut Recorder, solid: &PhaseParticles, links: &Links) {
        let bonds = links.bonds();
        let bindings = match_shapes::Bindings {
            count: &solid.phase.count,
            constraint: &solid.constraint,
            rest_position: solid.rest_position.front(),
            partner: bonds.partner(),
            rest_length_m: bonds.rest_length_m(),
            degree: bonds.degree(),
            fits: &self.fits,
        };
        let params = match_shapes::Params { link_stride: bonds.capacity() };
        recorder.dispatch_counted(&self.matching, bindings, params);
    }

    /// Records the correction of snow towards its fits, in addition to the iteration's correction.
    pub fn keep(
        &self,
        recorder: &mut Recorder,
        solid: &PhaseParticles,
        links: &Links,
        constraints: &Constraints,
    ) {
        let bonds = links.bonds();
        let bindings = apply_shape_matching::Bindings {
            count: &solid.phase.count,
            constraint: &solid.constraint,
            rest_position: solid.rest_position.front(),
            partner: bonds.partner(),
            rest_length_m: bonds.rest_length_m(),
            degree: bonds.degree(),
            fits: &self.fits,
            all_terms: &constraints.terms,
            push_m: &constraints.push_m,
            predicted: solid.predicted(),
            residual_m: solid.residual.back(),
            contact: &solid.contact,
        };
        recorder.dispatch_counted(&self.keep, bindings, ());
    }
}
