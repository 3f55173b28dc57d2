//! Grains on the device: the stages of a step, and the state between steps.

use super::contacts::{Rows, capacity_for};
use super::fault::{DemFaultCheck, FaultRecord};
use super::grains::Grains;
use super::metrics::{DemMeasurePass, PendingDemMetrics};
use super::parameters::DemParameters;
use super::particles::Particles;
use super::slabs::{Around, ShownPieces, Slabs};
use crate::bodies::nowhere;
use crate::grab::GrabPass;
use crate::{Grab, Saved, SolverError, StateColumn, Surroundings, Tuning};
use frazil_kernels::{CellSort, CellSortMethod, UniformGrid};
use frazil_particles::{ColumnView, Material, ParticleSet};
use frazil_scene::Scene;
use frazil_shaders::dem::{collide, find_cells, find_contacts, move_grains};
use frazil_shaders::types::{Body, DemTerms};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, ReadbackRing, Recorder, Threads};

/// Contacts per grain in a flow, for estimates.
const CONTACTS: u64 = 6;

/// A stage of a step; [`Dem::STAGES`] lists them in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Computes the cell of each grain.
    FindCells,
    /// Sorts the grains by cell.
    SortByCell,
    /// Permutes the columns, once per step.
    Reorder,
    /// Sorts slab pieces by cell.
    SortPieces,
    /// Finds the neighbours of each grain.
    FindContacts,
    /// Computes contact forces and moves the grains.
    Collide,
    /// Computes the forces of pieces on surfaces and one another.
    TouchPoints,
    /// Computes link forces.
    PullLinks,
    /// Moves pieces, and sums the loads on bodies.
    MovePieces,
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
    heights: Buffer<f32>,
    particles: Particles,
    slabs: Slabs,
    key: Buffer<u32>,
    order: Buffer<u32>,
    /// Cells as a line, which is all that the sort needs.
    line: UniformGrid,
    sort: CellSort,
    find_cells: Kernel<find_cells::Interface>,
    collide: Kernel<collide::Interface>,
    move_grains: Kernel<move_grains::Interface>,
    workgroup_size: u32,
    fault: FaultRecord,
    gauge: DemMeasurePass,
    grab: GrabPass,
    ring: ReadbackRing,
    step: u64,
}

/// Uploads bodies and heights.
fn upload_bodies(
    device: &Device,
    surroundings: &Surroundings,
) -> frazil_vk::Result<(Buffer<Body>, Buffer<f32>)> {
    // Empty buffers have one element that no kernel reads.
    let nothing = nowhere();
    let bodies = if surroundings.bodies.is_empty() { &[nothing][..] } else { &surroundings.bodies };
    let heights = if surroundings.heights_m.is_empty() { &[0.0][..] } else { &surroundings.heights_m };
    Ok((device.buffer_from("bodies", bodies)?, device.buffer_from("heights", heights)?))
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
        has_motion: surroundings.has_motion().into(),
    };
    let collide::Specialization { has_bodies, has_named_bodies, body_kinds, has_motion, .. } = specialization;
    let motion =
        move_grains::Specialization { workgroup_size, has_bodies, has_named_bodies, body_kinds, has_motion };
    Ok((Kernel::specialized(device, &specialization)?, Kernel::specialized(device, &motion)?))
}

impl Dem {
    /// Stages of one step, in order.
    pub const STAGES: [Stage; 9] = [
        Stage::FindCells,
        Stage::SortByCell,
        Stage::Reorder,
        Stage::SortPieces,
        Stage::FindContacts,
        Stage::Collide,
        Stage::TouchPoints,
        Stage::PullLinks,
        Stage::MovePieces,
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
        Self::with_ids(device, parameters, grains, None, (rows, capacity), tuning)
    }

    fn with_ids(
        device: &Device,
        parameters: DemParameters,
        grains: &Grains,
        ids: Option<&[u32]>,
        rows: (&Rows, usize),
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let workgroup_size = tuning.workgroup_size();
        let n = grains.positions_m.len();
        let line = UniformGrid::new(device, [0.0; 3], [parameters.n_cells() as f32, 1.0, 1.0], 1.0)?;
        let method = tuning.cell_sort.map_or_else(|| CellSortMethod::fastest(device), Ok)?;
        let surroundings = &parameters.surroundings;
        let (bodies, heights) = upload_bodies(device, surroundings)?;
        let (collide, move_grains) = body_kernels(device, &parameters, workgroup_size)?;
        let particles = Particles::upload(device, &parameters, grains, ids, rows, workgroup_size)?;
        Ok(Self {
            terms: device.buffer_from("terms", &[parameters.terms])?,
            bodies,
            heights,
            grab: GrabPass::new(device, workgroup_size)?,
            slabs: Slabs::new(device, &parameters, tuning)?,
            key: device.buffer("key", n)?,
            order: device.buffer("order", n)?,
            sort: CellSort::with_options(device, n as u32, &line, method, workgroup_size)?,
            line,
            find_cells: Kernel::specialized(device, &find_cells::Specialization { workgroup_size })?,
            collide,
            move_grains,
            workgroup_size,
            fault: FaultRecord::new(device, particles.contacts.n_rows())?,
            gauge: DemMeasurePass::new(device, &parameters, n as u32)?,
            particles,
            ring: ReadbackRing::new(device),
            device: device.clone(),
            parameters,
            step: 0,
        })
    }

    /// Records one step.
    pub fn record_step(&mut self, recorder: &mut Recorder) {
        for stage in Self::STAGES {
            if let Err(error) = self.record_stage(recorder, stage) {
                recorder.fail(error.during(stage));
            }
        }
    }

    /// Records one stage, so that tests can run the stages before or after it elsewhere, such as on the CPU.
    ///
    /// # Errors
    /// A primitive returns an error.
    pub fn record_stage(&mut self, recorder: &mut Recorder, stage: Stage) -> Result<(), SolverError> {
        let count = &self.particles.phase.count;
        match stage {
            Stage::FindCells => {
                let bindings = find_cells::Bindings {
                    count: &count.count,
                    terms: &self.terms,
                    position: self.particles.phase.position.front(),
                    key: &self.key,
                };
                recorder.dispatch(&self.find_cells, Threads::Counted(count), bindings, ());
            }
            Stage::SortByCell => {
                self.sort.record(recorder, count, &self.line, &self.key, &self.order)?;
            }
            Stage::Reorder => self.particles.sort(recorder, &self.order),
            Stage::SortPieces => self.slabs.sort_pieces(recorder, &self.terms)?,
            Stage::FindContacts => self.find_contacts(recorder)?,
            Stage::Collide => self.collide(recorder),
            Stage::TouchPoints => self.slabs.touch_points(recorder, &self.around_pieces()),
            Stage::PullLinks => self.slabs.pull_links(recorder, &self.around_pieces()),
            Stage::MovePieces => {
                self.slabs.move_pieces(recorder, &self.around_pieces());
                self.step += 1;
            }
        }
        Ok(())
    }

    /// Returns the inputs of the piece kernels for the current step (after [`Self::step`] steps).
    fn around_pieces(&self) -> Around<'_> {
        Around {
            terms: &self.terms,
            bodies: &self.bodies,
            heights: &self.heights,
            fault: &self.fault,
            time_s: (self.step as f64 * f64::from(self.parameters.terms.dt_s)) as f32,
            step: self.step as u32 + 1,
        }
    }

    fn find_contacts(&self, recorder: &mut Recorder) -> Result<(), SolverError> {
        let Around { time_s, step, .. } = self.around_pieces();
        let (particles, contacts, slabs) = (&self.particles, &self.particles.contacts, &self.slabs);
        let bindings = find_contacts::Bindings {
            count: &particles.count().count,
            terms: &self.terms,
            cell_start: self.line.cell_start(),
            sphere: &particles.sphere,
            motion: &particles.motion,
            bodies: &self.bodies,
            heights: &self.heights,
            piece_motions: &slabs.motions,
            shapes: &slabs.shapes,
            faces: &slabs.faces,
            piece_order: &slabs.order,
            piece_cell_start: slabs.line.cell_start(),
            near: &contacts.near,
            near_count: &contacts.near_count,
            fault: self.fault.buffer(),
        };
        recorder.declare_bytes((16 + 4 * CONTACTS + 4) * u64::from(particles.count().expected()));
        let params = find_contacts::Params { step, time_s };
        recorder.dispatch(&contacts.find, Threads::Counted(particles.count()), bindings, params);
        contacts.record_rows(recorder)
    }

    fn collide(&mut self, recorder: &mut Recorder) {
        let around = self.around_pieces();
        let Around { time_s, step, .. } = around;
        let (particles, contacts) = (&self.particles, &self.particles.contacts);
        let n_grains = u64::from(particles.count().expected());
        let contact = if self.parameters.has_rolling() { 32 } else { 20 };
        let bindings = collide::Bindings {
            count: &particles.count().count,
            terms: &self.terms,
            near: &contacts.near,
            sphere: &particles.sphere,
            motion: &particles.motion,
            bodies: &self.bodies,
            heights: &self.heights,
            old_contact: &contacts.contact.front().cast(),
            old_shear: &contacts.shear.front().cast(),
            first_row: contacts.first_row.back(),
            new_contact: &contacts.contact.back().cast(),
            new_shear: &contacts.shear.back().cast(),
            load: &particles.load,
            fault: self.fault.buffer(),
            sums: &self.slabs.sums,
        };
        recorder.declare_bytes((56 + 32 + (4 + 2 * contact) * CONTACTS) * n_grains);
        let params = collide::Params { step, time_s };
        recorder.dispatch(&self.collide, Threads::Counted(particles.count()), bindings, params);
        self.slabs.collide_grains(recorder, &around, particles);
        let bindings = move_grains::Bindings {
            count: &particles.count().count,
            terms: &self.terms,
            sphere: &particles.sphere,
            motion: &particles.motion,
            load: &particles.load,
            bodies: &self.bodies,
            heights: &self.heights,
            new_position: particles.phase.position.back(),
            new_velocity: particles.phase.velocity.back(),
            new_spin: particles.spin.back(),
            fault: self.fault.buffer(),
            sums: &self.slabs.sums,
        };
        let params = move_grains::Params { step, time_s };
        recorder.dispatch(&self.move_grains, Threads::Counted(particles.count()), bindings, params);
        self.particles.swap_moved();
    }

    /// Adopts the parameters of a scene, see [`Solver::set_scene`](crate::Solver::set_scene).
    ///
    /// # Errors
    /// Rolling friction or an attraction would change between 0 and above 0, on which the contact history and
    /// the grid depend; out of memory.
    pub fn set_scene(&mut self, device: &Device, scene: &Scene) -> Result<(), SolverError> {
        let parameters = DemParameters::of(scene, self.particles.count().capacity)?;
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
        // Kernels of bodies at rest have no code for motions.
        if self.parameters.surroundings.has_motion() != parameters.surroundings.has_motion() {
            let (collide, move_grains) = body_kernels(device, &parameters, self.workgroup_size)?;
            self.particles.contacts.set_bodies(device, &parameters, self.workgroup_size)?;
            self.slabs.set_bodies(device, &parameters, self.workgroup_size)?;
            (self.collide, self.move_grains) = (collide, move_grains);
        }
        let terms = device.buffer_from("terms", &[parameters.terms])?;
        (self.bodies, self.heights) = upload_bodies(device, &parameters.surroundings)?;
        (self.terms, self.parameters) = (terms, parameters);
        Ok(())
    }

    /// Records a pull on the grains, before a step.
    pub fn record_grab(&self, recorder: &mut Recorder, grab: &Grab) {
        self.grab.record(recorder, &self.particles.phase, grab, self.parameters.terms.dt_s);
    }

    /// Returns the parameters that the kernels use.
    pub fn parameters(&self) -> &DemParameters {
        &self.parameters
    }

    /// Returns the positions in m.
    pub fn position(&self) -> &Buffer<[f32; 3]> {
        self.particles.phase.position.front()
    }

    /// Returns the number of grains, on the device.
    pub fn count(&self) -> &DeviceCount {
        self.particles.count()
    }

    /// Returns the permutation of the last sort: the previous index of each grain.
    pub fn order(&self) -> &Buffer<u32> {
        &self.order
    }

    /// Returns the number of steps recorded so far.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Returns the columns to show, record and export: position, velocity, id, radius, spin, number of
    /// contacts.
    pub fn columns(&self) -> Vec<ColumnView> {
        self.particles.columns()
    }

    /// Returns the set of grains.
    pub fn particle_sets(&self) -> Vec<ParticleSet<'_>> {
        let (count, columns) = (self.count(), self.columns());
        vec![ParticleSet { name: "grains", material: Material::Grains, count, columns }]
    }

    /// Returns the columns that a checkpoint must hold: those shown, and all others that the next step
    /// depends on.
    pub fn state_columns(&self) -> Vec<ColumnView> {
        let mut columns = self.particles.columns();
        columns.extend(self.particles.contacts.state_columns());
        columns.extend(self.slabs.state_columns());
        columns
    }

    /// Records the update of [`Self::state_columns`] to the state at this point of the recorder.
    pub fn record_output(&self, recorder: &mut Recorder) {
        self.particles.contacts.tidy(recorder, self.particles.count());
        self.slabs.show(recorder);
    }

    /// Records the update of [`Self::pieces`] to the state at this point of the recorder.
    pub fn record_pieces(&self, recorder: &mut Recorder) {
        self.slabs.show(recorder);
    }

    /// Returns the poses of slab pieces, if there are any.
    pub fn pieces(&self) -> Option<&ShownPieces> {
        self.slabs.shown()
    }

    /// Returns the recorded columns of slab pieces, as of [`Self::record_output`]: centre, rotation and
    /// velocity.
    pub fn body_columns(&self) -> Vec<ColumnView> {
        self.slabs.shown_columns()
    }

    /// Returns the number of rows of the last step: neighbours of grains that the contact law was evaluated
    /// for, from both ends. For profiles only: it waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn n_contact_rows(&self, device: &Device) -> frazil_vk::Result<u64> {
        let first_row = self.particles.contacts.first_row.front();
        Ok(device.download(first_row, first_row.len())?.last().map_or(0, |end| u64::from(*end)))
    }

    /// Records a measurement of the state; the result arrives after the submission has completed.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_metrics(&self, recorder: &mut Recorder) -> frazil_vk::Result<PendingDemMetrics> {
        self.gauge.record(recorder, &self.ring, &self.terms, &self.parameters, &self.particles, &self.slabs)
    }

    /// Records the read-back of the first fault of the previous steps, if there was one.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_fault_check(&self, recorder: &mut Recorder) -> frazil_vk::Result<DemFaultCheck> {
        self.fault.check(recorder, &self.ring)
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
    ) -> Result<Self, SolverError> {
        let saved = Saved::new(state)?;
        let grains = Grains {
            positions_m: saved.vectors("position")?,
            velocities_m_s: saved.vectors("velocity")?,
            spins_1_s: saved.vectors("spin")?,
            radii_m: saved.numbers("radius")?,
        };
        let rows = Rows::of(&saved, parameters.has_rolling())?;
        let capacity = rows.len().max(parameters.n_rows(saved.ids.len()));
        let (ids, tuning) = (Some(saved.ids), Tuning::default());
        let mut dem = Self::with_ids(device, parameters, &grains, ids, (&rows, capacity), tuning)?;
        dem.slabs.restore(device, &saved)?;
        dem.step = step;
        Ok(dem)
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.device
    }
}
