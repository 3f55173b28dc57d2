//! [`Mpm`] as a [`Solver`].

use super::{Kernels, Mpm, upload_constants};
use crate::bodies::{with_load_metrics, with_load_values};
use crate::fault::grown_capacity;
use crate::mpm::capacity::CapacityControl;
use crate::mpm::fault::FaultCheck;
use crate::mpm::metrics::{MpmMetrics, PendingMpmMetrics};
use crate::mpm::nodes::Transfer;
use crate::mpm::parameters::MpmParameters;
use crate::pending::forwarded;
use crate::solver::stage_named;
use crate::sources::{self, EMISSION_METRICS, with_emission_values};
use crate::{
    ActiveBlocks, BodyLoads, DynamicBodies, Grab, MetricInfo, PendingFault, PendingMeasurement, Regrown,
    Solver, SolverError, SparseGrid, WorkCounter,
};
use frazil_kernels::BLOCK_SIDE;
use frazil_particles::{Material, ParticleSet, ParticleTable};
use frazil_scene::Scene;
use frazil_shaders::mpm::measure_density;
use frazil_vk::{Device, DeviceCount, Recorder};

impl Solver for Mpm {
    fn stages(&self) -> Vec<String> {
        self.stages().map(|stage| stage.to_string()).collect()
    }

    fn record_stage(&mut self, recorder: &mut Recorder, stage: &str) -> Result<(), SolverError> {
        let stage = stage_named(self.stages(), stage)?;
        self.record_stage(recorder, stage)
    }

    fn record_step(&mut self, recorder: &mut Recorder) {
        if let Err(error) = self.try_record_step(recorder) {
            recorder.fail(error.during("a step of snow"));
        }
    }

    fn set_scene(&mut self, device: &Device, scene: &Scene) -> Result<(), SolverError> {
        let mut parameters = MpmParameters::of(scene)?;
        // The quanta follow from the masses, which stay.
        let old = &self.parameters.terms;
        parameters.heaviest_kg = self.parameters.heaviest_kg;
        parameters.terms.mass_quantum = old.mass_quantum;
        parameters.terms.momentum_quantum = old.momentum_quantum;
        parameters.terms.quanta_per_n_s = old.quanta_per_n_s;
        // All that can fail comes before all that changes.
        let constants = upload_constants(device, &parameters)?;
        // Kernels have no code for motions that no body has.
        if self.parameters.surroundings.kinds() != parameters.surroundings.kinds() {
            let workgroup_size = self.tuning.workgroup_size();
            let transfer = Transfer::new(device, &parameters, self.tuning)?;
            let kernels = Kernels::new(device, &parameters, workgroup_size)?;
            if let Some(implicit) = &mut self.implicit {
                implicit.adopt(device, &parameters, workgroup_size)?;
            }
            (self.transfer, self.kernels) = (transfer, kernels);
        }
        self.loads.record.set_surroundings(&parameters.surroundings);
        self.clock.divide(parameters.division);
        (self.constants, self.parameters) = (constants, parameters);
        Ok(())
    }

    fn regrow(&mut self, device: &Device) -> Result<Option<Regrown>, SolverError> {
        let Some((place, _)) = self.clock.fault(device)? else { return Ok(None) };
        if !self.fault.is_overflow(device)? {
            return Ok(None);
        }
        if let Some([n_held, n_required]) = sources::held(device, self.sources())? {
            let state = sources::download_state(device, &self.particles.table, n_held)?;
            let from = self.count().capacity;
            let to = grown_capacity(from, n_required, u32::MAX);
            let parameters = self.parameters.clone();
            *self = Self::restore_with(device, parameters, &state, place.step, (self.tuning, to))?;
            return Ok(Some(Regrown { place, object: "particles", from, to }));
        }
        let from = self.blocks.capacity();
        let required = device.download(self.blocks.required(), 2)?;
        let to = CapacityControl::beyond(from, [required[0], required[1]]);
        let (object, numbers) = match required[1] > from.active {
            true => ("active blocks of nodes", [from.active, to.active]),
            false => ("occupied blocks of nodes", [from.occupied, to.occupied]),
        };
        self.resize(to)?;
        self.capacity_control = CapacityControl::default();
        self.clock.start(device, place)?;
        self.fault.clear(device)?;
        Ok(Some(Regrown { place, object, from: numbers[0], to: numbers[1] }))
    }

    fn record_grab(&mut self, recorder: &mut Recorder, grab: &Grab) -> bool {
        let phase = &self.particles.phase;
        let columns = [phase.position.front(), phase.velocity.front()];
        let pull = (grab, self.parameters.terms.dt_s);
        self.grab.record_on(recorder, &phase.count, columns, pull, Some(&self.clock.hold()));
        true
    }

    fn record_output(&self, recorder: &mut Recorder) {
        let particles = &self.particles;
        let bindings = measure_density::Bindings {
            count: particles.count(),
            mass: particles.mass.front(),
            volume: particles.volume.front(),
            plastic_volume: particles.plastic_volume.front(),
            elastic: particles.elastic.front(),
            density: &particles.density,
        };
        recorder.dispatch_counted(&self.kernels.measure_density, bindings, ());
        self.loads.record.record_places(recorder, self.shared(), false);
    }

    fn dynamic_bodies(&self) -> Option<&DynamicBodies> {
        self.body_loads().and_then(BodyLoads::dynamic)
    }

    fn particle_sets(&self) -> Vec<ParticleSet<'_>> {
        let (count, columns) = (self.count(), self.columns());
        vec![ParticleSet { name: "snow", material: Material::Snow, count, columns }]
    }

    fn table(&self) -> &ParticleTable {
        &self.particles.table
    }

    fn varying_count(&self) -> Option<&DeviceCount> {
        self.sources().map(|_| self.count())
    }

    fn sparse_grid(&self) -> Option<&dyn SparseGrid> {
        Some(self)
    }

    fn metrics(&self) -> Vec<MetricInfo> {
        let of_sources = if self.sources().is_some() { &EMISSION_METRICS[..] } else { &[] };
        let names = MpmMetrics::names().into_iter().chain(of_sources.iter().copied());
        with_load_metrics(MetricInfo::list(names), self.body_loads())
    }

    fn record_metrics(&self, recorder: &mut Recorder) -> Result<PendingMeasurement, SolverError> {
        let own = self.record_metrics(recorder)?;
        let own = forwarded(own, PendingMpmMetrics::is_ready, |own| Ok(own.wait()?.into()));
        let own = with_emission_values(own, self.sources(), recorder)?;
        Ok(with_load_values(own, self.body_loads(), recorder)?)
    }

    fn work_counters(&self, device: &Device) -> Result<Vec<WorkCounter>, SolverError> {
        // Each particle exchanges with all nodes in reach of its spline, none of which is left out.
        let n = u64::from(device.download(&self.count().count, 1)?[0]);
        let of_particle = u64::from(self.parameters().stencil).pow(self.parameters().dimensions);
        let kernels =
            &["mpm.rasterize_tiles", "mpm.rasterize_fixed", "mpm.rasterize_float", "mpm.update_particles"];
        Ok(vec![WorkCounter { item: "particle_node", kernels, count: n * of_particle }])
    }

    fn record_fault_check(&self, recorder: &mut Recorder) -> Result<Option<PendingFault>, SolverError> {
        let own = self.record_fault_check(recorder)?;
        Ok(Some(forwarded(own, FaultCheck::is_ready, |own| Ok(own.wait()?.map(Into::into)))))
    }
}

impl SparseGrid for Mpm {
    fn active_blocks(&self) -> ActiveBlocks {
        let (blocks, layout) = (self.blocks(), self.blocks().layout());
        let lattice = layout.lattice();
        let block_m = BLOCK_SIDE as f32 / lattice.cells_per_m;
        let has_nodes = |axis: usize| axis < layout.dimensions() as usize;
        ActiveBlocks {
            count: blocks.active_count().count.clone(),
            numbers: blocks.active().clone(),
            lattice_blocks: lattice.blocks,
            origin_m: lattice.origin_m,
            block_m: std::array::from_fn(|axis| if has_nodes(axis) { block_m } else { 0.0 }),
        }
    }
}
