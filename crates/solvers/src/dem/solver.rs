//! Grains on the device: the stages of a step, and the state between steps.

mod interface;
mod work;

use super::contacts::{Contacts, Rows, capacity_for};
use super::fault::{DemFaultCheck, FaultReport, ReportedGrains};
use super::flow_map::{FlowMap, PendingFlowCells};
use super::grains::Grains;
use super::lists::{ContactLists, skin_radii};
use super::metrics::{DemMeasurePass, PendingDemMetrics};
use super::parameters::DemParameters;
use super::particles::Particles;
use super::slabs::{ShownPieces, Slabs, StepContext};
use super::sources::GrainSources;
use crate::clock::{Clock, StepPlace};
use crate::grab::GrabPass;
use crate::sources::Sources;
use crate::{Pair, Saved, SolverError, StateColumn, Tuning};
use frazil_shaders::dem::{collide, move_grains};
use frazil_shaders::types::{Body, DemLists, DemTerms};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, ReadbackRing, Recorder};

/// Contacts per grain in a flow, for estimates.
const CONTACTS: u64 = 6;

/// A stage of a step; [`Dem::STAGES`] lists them in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Decides whether this step builds contact lists; if not, those of grains below have no threads.
    CheckLists,
    /// Stores grains and contacts in the order of ids.
    StoreGrains,
    /// Computes the cell of each grain.
    FindCells,
    /// Sorts the grains by cell.
    SortByCell,
    /// Packs the grains in that order.
    Reorder,
    /// Sorts slab pieces by cell, in every step.
    SortPieces,
    /// Lists the neighbours of each grain.
    FindContacts,
    /// Computes contact forces and moves the grains.
    Collide,
    /// Computes the forces of pieces on surfaces and one another.
    TouchPoints,
    /// Computes link forces.
    PullLinks,
    /// Moves pieces, and sums the loads on bodies.
    MovePieces,
    /// Raises the peaks on the map of the flow.
    MapFlow,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, f)
    }
}

/// Discrete element method on the device.
pub struct Dem {
    device: Device,
    parameters: DemParameters,
    terms: Buffer<DemTerms>,
    bodies: Buffer<Body>,
    body_data: Buffer<f32>,
    particles: Particles,
    contacts: Contacts,
    lists: ContactLists,
    sources: Option<GrainSources>,
    /// True if the packed grains and the contact lists hold the state, false if the columns do.
    is_listed: bool,
    /// True if the next step builds lists whether something has moved or not.
    is_forced: bool,
    tuning: Tuning,
    slabs: Slabs,
    /// Map of the flow, if the parameters have its grid and the device can bind it.
    map: Option<FlowMap>,
    collide: Kernel<collide::Interface>,
    move_grains: Kernel<move_grains::Interface>,
    clock: Clock,
    fault: FaultReport,
    metrics_pass: DemMeasurePass,
    grab: GrabPass,
    ring: ReadbackRing,
}

/// Makes the kernels in which grains touch bodies.
fn body_kernels(
    device: &Device,
    parameters: &DemParameters,
    workgroup_size: u32,
) -> frazil_vk::Result<(Kernel<collide::Interface>, Kernel<move_grains::Interface>)> {
    let surroundings = &parameters.surroundings;
    let specialization = collide::Specialization {
        workgroup_size,
        has_rolling: parameters.has_rolling().into(),
        has_bodies: (!surroundings.bodies.is_empty()).into(),
        has_named_bodies: (!surroundings.names.is_empty()).into(),
        body_kinds: surroundings.kinds(),
    };
    let collide::Specialization { has_bodies, has_named_bodies, body_kinds, .. } = specialization;
    let has_emitters = parameters.sources.has_emitters().into();
    let motion = move_grains::Specialization {
        workgroup_size,
        has_bodies,
        has_named_bodies,
        body_kinds,
        has_emitters,
    };
    Ok((Kernel::specialized(device, &specialization)?, Kernel::specialized(device, &motion)?))
}

impl Dem {
    /// Stages of one step, in order.
    pub const STAGES: [Stage; 12] = [
        Stage::CheckLists,
        Stage::StoreGrains,
        Stage::FindCells,
        Stage::SortByCell,
        Stage::Reorder,
        Stage::SortPieces,
        Stage::FindContacts,
        Stage::Collide,
        Stage::TouchPoints,
        Stage::PullLinks,
        Stage::MovePieces,
        Stage::MapFlow,
    ];

    /// Makes grains without contacts. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory, or a buffer larger than the device can bind; columns of different lengths.
    pub fn new(
        device: &Device,
        parameters: DemParameters,
        grains: &Grains,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        Self::with_rows(device, parameters, grains, &Rows::none(grains.positions_m.len()), tuning)
    }

    /// Makes grains with initial contacts.
    pub(super) fn with_rows(
        device: &Device,
        parameters: DemParameters,
        grains: &Grains,
        rows: &Rows,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let capacity = capacity_for(&parameters, grains);
        let dem = Self::with_capacity(device, parameters, grains, rows, capacity, tuning)?;
        // The initial state is part of the flow.
        let mut recorder = device.recorder()?;
        dem.map_flow(&mut recorder);
        dem.slabs.loads.record_start(&mut recorder, dem.step_context().shared());
        device.submit(recorder)?;
        Ok(dem)
    }

    fn with_capacity(
        device: &Device,
        parameters: DemParameters,
        grains: &Grains,
        rows: &Rows,
        capacity: usize,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let parameters = parameters.with_skin(skin_radii(tuning));
        let workgroup_size = tuning.workgroup_size();
        let n_start = grains.positions_m.len();
        let n = parameters.capacity(n_start);
        let surroundings = &parameters.surroundings;
        let (bodies, body_data) = surroundings.upload(device)?;
        let (collide, move_grains) = body_kernels(device, &parameters, workgroup_size)?;
        let mut particles = Particles::upload(device, grains, workgroup_size, n)?;
        let table = &mut particles.table;
        let contacts = Contacts::new(device, &parameters, rows, capacity, workgroup_size, table)?;
        let start = (n_start as u32, &mut *table);
        let sources = GrainSources::new(device, &parameters, workgroup_size, start)?;
        let slabs = Slabs::new(device, &parameters, tuning)?;
        slabs.register(table);
        let map =
            parameters.map.map(|grid| FlowMap::new(device, grid, workgroup_size)).transpose()?.flatten();
        if let Some(map) = &map {
            map.register(table);
        }
        Ok(Self {
            terms: device.buffer_from("terms", &[parameters.terms])?,
            bodies,
            body_data,
            grab: GrabPass::new(device, workgroup_size)?,
            slabs,
            map,
            lists: ContactLists::new(device, &parameters, (n_start, n), contacts.n_rows(), tuning)?,
            sources,
            is_listed: false,
            is_forced: true,
            tuning,
            collide,
            move_grains,
            clock: Clock::new(device, parameters.division, 0)?,
            fault: FaultReport::new(device)?,
            metrics_pass: DemMeasurePass::new(device, &parameters, n as u32)?,
            particles,
            contacts,
            ring: ReadbackRing::new(device),
            device: device.clone(),
            parameters,
        })
    }

    /// Records one stage, so that tests can run the stages before or after it elsewhere, such as on the CPU.
    ///
    /// # Errors
    /// A primitive returns an error.
    pub fn record_stage(&mut self, recorder: &mut Recorder, stage: Stage) -> Result<(), SolverError> {
        let n_substeps = if stage == Stage::CheckLists { self.clock.note_advance() } else { 0 };
        let context = self.step_context();
        match stage {
            Stage::CheckLists => {
                if let Some(sources) = &self.sources {
                    self.lists.mark_emission(recorder, &self.clock, sources);
                }
                let is_forced = self.is_forced || self.parameters.skin_m == 0.0;
                let how = (is_forced, n_substeps);
                self.lists.check(recorder, &context, &self.particles.count, how);
                self.slabs.loads.record_places(recorder, context.shared(), true);
                self.is_forced = false;
            }
            Stage::StoreGrains => {
                if self.is_listed {
                    self.lists.store(recorder, &self.particles, &self.contacts, false)?;
                }
                if let Some(sources) = &self.sources {
                    self.lists.emit(recorder, &context, &self.particles, &self.contacts, sources);
                }
            }
            Stage::FindCells => self.lists.find_cells(recorder, &context, &self.particles),
            Stage::SortByCell => self.lists.sort(recorder)?,
            Stage::Reorder => self.lists.reorder(recorder, &self.particles),
            Stage::SortPieces => self.slabs.sort_pieces(recorder, &self.terms, &self.lists.listing)?,
            Stage::FindContacts => {
                self.lists.build(recorder, &context, &self.particles, &self.contacts, &self.slabs)?;
                self.is_listed = true;
            }
            Stage::Collide => self.collide(recorder),
            Stage::TouchPoints => self.slabs.touch_points(recorder, &context),
            Stage::PullLinks => self.slabs.pull_links(recorder, &context),
            Stage::MovePieces => self.slabs.move_pieces(recorder, &context, &self.lists.state),
            Stage::MapFlow => self.map_flow(recorder),
        }
        Ok(())
    }

    fn map_flow(&self, recorder: &mut Recorder) {
        if let Some(map) = &self.map {
            map.record(recorder, &self.particles, &self.clock);
        }
    }

    /// Returns the inputs of the piece kernels for the current step.
    fn step_context(&self) -> StepContext<'_> {
        StepContext {
            terms: &self.terms,
            bodies: &self.bodies,
            body_data: &self.body_data,
            clock: &self.clock,
            fault: &self.fault,
        }
    }

    fn collide(&self, recorder: &mut Recorder) {
        let context = self.step_context();
        let (particles, lists) = (&self.particles, &self.lists);
        let rows = &lists.rows;
        let n_grains = u64::from(particles.count.expected());
        let contact = if self.parameters.has_rolling() { 28 } else { 16 };
        let bindings = collide::Bindings {
            count: &particles.count,
            terms: &self.terms,
            first_row: &rows.first_row,
            near: &rows.near,
            list_shear: &rows.shear,
            list_rolling: &rows.rolling,
            sphere: &particles.sphere,
            motion: &particles.motion,
            bodies: &self.bodies,
            body_data: &self.body_data,
            load: &particles.load,
            clock: self.clock.buffer(),
            fault: self.fault.buffer(),
            sums: &self.slabs.sums,
        };
        recorder.declare_bytes((52 + 28 + (4 + 2 * contact) * CONTACTS) * n_grains);
        recorder.dispatch_counted(&self.collide, bindings, ());
        self.slabs.collide_grains(recorder, &context, particles, rows);
        let emitters = self.sources.as_ref().and_then(|sources| sources.emitters().cloned());
        // Bound where there are none, and not read.
        let emitters = emitters.unwrap_or_else(|| self.terms.cast());
        let bindings = move_grains::Bindings {
            count: &particles.count,
            terms: &self.terms,
            sphere: &particles.sphere,
            motion: &particles.motion,
            load: &particles.load,
            bodies: &self.bodies,
            body_data: &self.body_data,
            first_row: &rows.first_row,
            near: &rows.near,
            listed_at: &lists.listed_at,
            lists: &lists.state,
            clock: self.clock.buffer(),
            fault: self.fault.buffer(),
            sums: &self.slabs.sums,
            emitters: &emitters,
        };
        recorder.dispatch_counted(&self.move_grains, bindings, ());
    }

    /// Makes the columns the state: the next step begins with what was copied into
    /// [`Solver::state_columns`](crate::Solver::state_columns).
    pub fn adopt_columns(&mut self) {
        self.is_listed = false;
        self.is_forced = true;
    }

    /// Returns the emitters, if the scene has any.
    pub fn sources(&self) -> Option<&Sources> {
        self.sources.as_deref()
    }

    /// Returns the parameters that the kernels use.
    pub fn parameters(&self) -> &DemParameters {
        &self.parameters
    }

    /// Returns the number of grains, on the device.
    pub fn count(&self) -> &DeviceCount {
        &self.particles.count
    }

    /// Returns the state of the contact lists as a whole: their skin, and how often they were built.
    pub fn lists(&self) -> &Buffer<DemLists> {
        &self.lists.state
    }

    /// Returns the number of steps recorded so far.
    pub fn step(&self) -> u64 {
        self.place().step
    }

    /// Returns the place of what has been recorded.
    pub fn place(&self) -> StepPlace {
        self.clock.recorded()
    }

    /// Returns the contacts of the grain with this id, as of the last
    /// [`Solver::record_output`](crate::Solver::record_output). It waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn pairs_of(&self, device: &Device, id: u32) -> Result<Vec<Pair>, SolverError> {
        self.contacts.pairs_of(device, id)
    }

    /// Records the update of the columns of grains and contacts, in the order of ids.
    fn record_storage(&self, recorder: &mut Recorder) {
        if !self.is_listed {
            return;
        }
        if let Err(error) = self.lists.store(recorder, &self.particles, &self.contacts, true) {
            recorder.fail(error.during(Stage::StoreGrains));
        }
    }

    /// Records the update of [`Self::pieces`] to the state at this point of the recorder.
    pub fn record_pieces(&self, recorder: &mut Recorder) {
        self.slabs.show(recorder);
    }

    /// Returns the poses of slab pieces, if there are any.
    pub fn pieces(&self) -> Option<&ShownPieces> {
        self.slabs.shown()
    }

    /// Records a measurement of the state; the result arrives after the submission has completed.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_metrics(&self, recorder: &mut Recorder) -> frazil_vk::Result<PendingDemMetrics> {
        // In the order of ids, the sums do not depend on when grains were sorted.
        self.record_storage(recorder);
        let grains = (&self.particles, &self.contacts);
        self.metrics_pass.record(recorder, &self.ring, &self.terms, &self.parameters, grains, &self.slabs)
    }

    /// Records the read-back of the map of the flow, if there is one. All steps are in it, and the state at
    /// this point of the recorder.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_flow_cells(&self, recorder: &mut Recorder) -> frazil_vk::Result<Option<PendingFlowCells>> {
        let read = |map: &FlowMap| map.read(recorder, &self.ring, &self.particles, &self.clock);
        self.map.as_ref().map(read).transpose()
    }

    /// Returns true if the parameters have the grid of a map that is too large for the device.
    pub fn lacks_map(&self) -> bool {
        self.parameters.map.is_some() && self.map.is_none()
    }

    /// Records the read-back of the first fault of the previous steps, if there was one.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_fault_check(&self, recorder: &mut Recorder) -> frazil_vk::Result<DemFaultCheck> {
        let grains = ReportedGrains {
            place: self.lists.place(),
            sphere: &self.particles.sphere,
            motion: &self.particles.motion,
        };
        self.fault.check(recorder, &self.ring, &self.clock, &grains, &self.parameters, self.contacts.n_rows())
    }

    /// Restores grains as they were before step `step` + 1, bit for bit. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Like [`Self::new`]; also a column that is missing or has another length.
    pub fn restore(
        device: &Device,
        parameters: DemParameters,
        state: &[StateColumn],
        step: u64,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let saved = Saved::new(state)?;
        let order = order_of(saved.ids)?;
        let by_id = |column: Vec<[f32; 3]>| order.iter().map(|&i| column[i]).collect();
        let radii_m = saved.numbers("radius")?;
        let grains = Grains {
            positions_m: by_id(saved.vectors("position")?),
            velocities_m_s: by_id(saved.vectors("velocity")?),
            spins_1_s: by_id(saved.vectors("spin")?),
            radii_m: order.iter().map(|&i| radii_m[i]).collect(),
            residuals_m: by_id(saved.vectors("position_residual")?),
        };
        let rows = Rows::of(&saved, &order, parameters.has_rolling())?;
        let n_rows = parameters.n_rows(parameters.capacity(saved.ids.len()));
        let capacity = Rows::capacity_of(&saved)?.max(n_rows);
        let mut dem = Self::with_capacity(device, parameters, &grains, &rows, capacity, tuning)?;
        dem.particles.table.restore_arrays(&saved)?;
        dem.clock.start(device, StepPlace::after(step))?;
        Ok(dem)
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

/// Returns the places of the grains in the order of their ids, which must be all numbers from 0.
fn order_of(ids: &[u32]) -> Result<Vec<usize>, SolverError> {
    let mut order = vec![usize::MAX; ids.len()];
    for (i, &id) in ids.iter().enumerate() {
        match order.get_mut(id as usize) {
            Some(place) if *place == usize::MAX => *place = i,
            _ => {
                let problem = format!("has id {id}, expected each below {} once", ids.len());
                return Err(SolverError::State { column: "id".into(), problem });
            }
        }
    }
    Ok(order)
}
