//! [`Dem`] as a [`Solver`].

use super::{Dem, body_kernels};
use crate::bodies::{with_motion_metrics, with_motion_values};
use crate::dem::fault::DemFaultCheck;
use crate::dem::flow_map::PendingFlowCells;
use crate::dem::grains::MAX_GRAINS;
use crate::dem::lists::skin_radii;
use crate::dem::metrics::{DemMetrics, PendingDemMetrics};
use crate::dem::parameters::DemParameters;
use crate::dem::particles::Particles;
use crate::dem::slabs::ShownPieces;
use crate::fault::grown_capacity;
use crate::pending::forwarded;
use crate::solver::stage_named;
use crate::sources::{self, EMISSION_METRICS, with_emission_values};
use crate::{
    BodyPoses, DynamicBodies, FlowCells, FlowMapping, Grab, MetricInfo, Pair, PairInspection, PendingFault,
    PendingFlow, PendingMeasurement, Regrown, RigidBodies, Solver, SolverError, WorkCounter,
};
use frazil_particles::{ColumnView, Material, ParticleSet, ParticleTable};
use frazil_scene::Scene;
use frazil_vk::{Device, DeviceCount, Recorder};

impl Solver for Dem {
    fn stages(&self) -> Vec<String> {
        Self::STAGES.iter().map(ToString::to_string).collect()
    }

    fn record_stage(&mut self, recorder: &mut Recorder, stage: &str) -> Result<(), SolverError> {
        let stage = stage_named(Self::STAGES, stage)?;
        self.record_stage(recorder, stage)
    }

    fn record_step(&mut self, recorder: &mut Recorder) {
        for stage in Self::STAGES {
            if let Err(error) = self.record_stage(recorder, stage) {
                recorder.fail(error.during(stage));
            }
        }
    }

    fn set_scene(&mut self, device: &Device, scene: &Scene) -> Result<(), SolverError> {
        let parameters = DemParameters::of(scene, self.particles.count.capacity)?;
        let parameters = parameters.with_skin(skin_radii(self.tuning));
        let [old, new] = [&self.parameters, &parameters].map(|p| {
            let t = &p.terms;
            [p.has_rolling(), t.cohesion_n > 0.0, t.adhesion_n > 0.0]
        });
        let keys = ["dem.rolling_friction", "dem.cohesion_n", "dem.terrain_adhesion_n"];
        if let Some(i) = (0..keys.len()).find(|i| old[*i] != new[*i]) {
            return Err(SolverError::Fixed {
                key: keys[i].to_owned(),
                problem: "expected 0 if it was 0, else a number above 0".to_owned(),
            });
        }
        // All that can fail comes before all that changes.
        let terms = device.buffer_from("terms", &[parameters.terms])?;
        let (bodies, body_data) = parameters.surroundings.upload(device)?;
        // Kernels have no code for motions that no body has.
        if self.parameters.surroundings.kinds() != parameters.surroundings.kinds() {
            let workgroup_size = self.tuning.workgroup_size();
            let kernels = body_kernels(device, &parameters, workgroup_size)?;
            let lists = self.lists.body_kernels(device, &parameters)?;
            let slabs = self.slabs.body_kernel(device, &parameters, workgroup_size)?;
            (self.collide, self.move_grains) = kernels;
            self.lists.set_body_kernels(lists);
            self.slabs.set_body_kernel(slabs);
        }
        (self.bodies, self.body_data) = (bodies, body_data);
        self.slabs.loads.set_surroundings(&parameters.surroundings);
        (self.terms, self.parameters) = (terms, parameters);
        // Lists for other ranges and bodies are not valid.
        self.is_forced = true;
        Ok(())
    }

    fn regrow(&mut self, device: &Device) -> Result<Option<Regrown>, SolverError> {
        let Some((place, _)) = self.clock.fault(device)? else { return Ok(None) };
        let step = place.step;
        if let Some([n_held, n_required]) = sources::held(device, self.sources())? {
            // The step had stored the state in the columns.
            let state = sources::download_state(device, &self.particles.table, n_held)?;
            let from = self.particles.count.capacity;
            let to = grown_capacity(from, n_required, MAX_GRAINS as u32);
            let parameters = self.parameters.clone().for_grains(to);
            *self = Self::restore(device, parameters, &state, step, self.tuning)?;
            return Ok(Some(Regrown { place, object: "grains", from, to }));
        }
        let Some(required) = self.fault.overflow(device)? else { return Ok(None) };
        let n_now = device.download(&self.particles.count.count, 1)?[0];
        let from = self.contacts.n_rows();
        let limit = device.capabilities().max_storage_range / size_of::<[f32; 4]>() as u64;
        let to = grown_capacity(from, required, limit.try_into().unwrap_or(u32::MAX));
        let (contact, shear) = self.contacts.grown(device, to)?;
        self.lists.grow(device, &self.parameters, (n_now, to))?;
        self.clock.start(device, place)?;
        self.fault.clear(device)?;
        (self.contacts.contact, self.contacts.shear) = (contact, shear);
        self.contacts.register_rows(&mut self.particles.table);
        // The columns hold the state: the step had stored it before its lists turned out not to fit.
        self.adopt_columns();
        Ok(Some(Regrown { place, object: "rows of contacts", from, to }))
    }

    fn record_grab(&mut self, recorder: &mut Recorder, grab: &Grab) -> bool {
        self.record_output(recorder);
        let Particles { count, position, velocity, .. } = &self.particles;
        let pull = (grab, self.parameters.terms.dt_s);
        self.grab.record_on(recorder, count, [position, velocity], pull, Some(&self.clock.hold()));
        self.adopt_columns();
        true
    }

    fn record_output(&self, recorder: &mut Recorder) {
        self.record_storage(recorder);
        self.contacts.tidy(recorder, &self.particles.count);
        self.slabs.show(recorder);
        self.slabs.loads.record_places(recorder, self.step_context().shared(), false);
    }

    fn dynamic_bodies(&self) -> Option<&DynamicBodies> {
        self.slabs.loads.dynamic()
    }

    fn particle_sets(&self) -> Vec<ParticleSet<'_>> {
        let (count, columns) = (self.count(), self.columns());
        vec![ParticleSet { name: "grains", material: Material::Grains, count, columns }]
    }

    fn table(&self) -> &ParticleTable {
        &self.particles.table
    }

    fn varying_count(&self) -> Option<&DeviceCount> {
        self.sources().map(|_| self.count())
    }

    fn rigid_bodies(&self) -> Option<&dyn RigidBodies> {
        self.pieces().map(|_| self as &dyn RigidBodies)
    }

    fn flow_mapping(&self) -> Option<&dyn FlowMapping> {
        self.map.as_ref().map(|_| self as &dyn FlowMapping)
    }

    fn pair_inspection(&self) -> Option<&dyn PairInspection> {
        Some(self)
    }

    fn metrics(&self) -> Vec<MetricInfo> {
        let own = MetricInfo::list(DemMetrics::names(self.parameters()));
        let own = match self.sources() {
            Some(_) => own.into_iter().chain(MetricInfo::list(EMISSION_METRICS)).collect(),
            None => own,
        };
        with_motion_metrics(own, Some(&self.slabs.loads))
    }

    fn record_metrics(&self, recorder: &mut Recorder) -> Result<PendingMeasurement, SolverError> {
        let own = self.record_metrics(recorder)?;
        let own = forwarded(own, PendingDemMetrics::is_ready, |own| Ok(own.wait()?.into()));
        let own = with_emission_values(own, self.sources(), recorder)?;
        Ok(with_motion_values(own, Some(&self.slabs.loads), recorder)?)
    }

    fn final_warnings(&self, _device: &Device) -> Result<Vec<String>, SolverError> {
        let warning = "the terrain has too many cells for a map of the flow on this device: there are no \
                       rasters of thickness, speed, pressure and arrival";
        Ok(self.lacks_map().then(|| warning.to_owned()).into_iter().collect())
    }

    fn work_counters(&self, device: &Device) -> Result<Vec<WorkCounter>, SolverError> {
        Ok(self.work_counters(device)?)
    }

    fn record_fault_check(&self, recorder: &mut Recorder) -> Result<Option<PendingFault>, SolverError> {
        let own = self.record_fault_check(recorder)?;
        Ok(Some(forwarded(own, DemFaultCheck::is_ready, |own| Ok(own.wait()?.map(Into::into)))))
    }
}

impl RigidBodies for Dem {
    fn poses(&self) -> BodyPoses {
        let ShownPieces { centre_m, rotation, .. } = self.slabs.pieces();
        BodyPoses { centre_m: centre_m.clone(), rotation: rotation.clone() }
    }

    fn record_poses(&self, recorder: &mut Recorder) {
        self.slabs.show(recorder);
    }

    fn body_columns(&self) -> Vec<ColumnView> {
        self.slabs.shown_columns()
    }
}

impl FlowMapping for Dem {
    fn record_flow(&self, recorder: &mut Recorder) -> Result<PendingFlow, SolverError> {
        let read = |own| forwarded(own, PendingFlowCells::is_ready, PendingFlowCells::wait);
        let nothing = || forwarded((), |()| Ok(true), |()| Ok(FlowCells::default()));
        Ok(self.record_flow_cells(recorder)?.map_or_else(nothing, read))
    }
}

impl PairInspection for Dem {
    fn pairs_of(&self, device: &Device, id: u32) -> Result<Vec<Pair>, SolverError> {
        self.contacts.pairs_of(device, id)
    }
}
