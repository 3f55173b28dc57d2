//! Neighbours of each particle in both phases, found once a step and used by all its passes over neighbours.

use super::phase_particles::PhaseParticles;
use crate::pbd::motion::RowLayout;
use crate::pbd::neighbour_rows::{NO_FLAG, max_moved_q2, slots_asked};
use crate::pbd::parameters::Parameters;
use crate::{SolverError, Tuning};
use frazil_shaders::pbd::neighbour_rows::{FIRST_MOVED, JOINT_FLAGS, MOVED_IN_STEP};
use frazil_shaders::snow::{list_neighbours, mark_moved};
use frazil_vk::{Buffer, Device, Kernel, Recorder};

/// Margin of rows around the support radius h, in h: corrections within a step of snow are small, and
/// `melting` takes 4 % less time than with twice as much.
const MARGIN: f32 = 0.05;

/// Rows of neighbours within a margin around the support radius (`glsl/snow/rows.glsl`). A flag for each time
/// of a step at which passes read them tells whether a particle is then farther from where it was listed than
/// half the margin: these passes search the cells, so that no neighbour is missed and no bit of the result
/// depends on the rows.
pub struct SnowRows {
    list: Kernel<list_neighbours::Interface>,
    mark: Kernel<mark_moved::Interface>,
    /// Rows of the solid and of the fluid particles; empty without rows.
    rows: [Buffer<u32>; 2],
    listed: [Buffer<[f32; 3]>; 2],
    slots: u32,
    stride: u32,
    inverse_h: f32,
    /// Bytes of the rows of one phase that the device cannot bind.
    refused_bytes: Option<u64>,
    /// Flag of the present time, and whether a particle may have moved since it was set.
    flag: u32,
    is_moved: bool,
}

impl SnowRows {
    pub(super) fn new(
        device: &Device,
        parameters: &Parameters,
        tuning: Tuning,
        capacity: u32,
    ) -> Result<Self, SolverError> {
        let workgroup_size = tuning.workgroup_size();
        let asked = slots_asked(parameters, tuning);
        let words = |slots: u32| u64::from(capacity) * (u64::from(slots) + 2) + u64::from(JOINT_FLAGS);
        let fits = 4 * words(asked) <= device.capabilities().max_storage_range;
        let slots = if asked > 1 && fits { asked } else { 0 };
        let [n_words, n_listed] = if slots > 0 { [words(slots) as usize, capacity as usize] } else { [0; 2] };
        let rows = || device.buffer("rows of neighbours", n_words);
        let listed = || device.buffer("listed", n_listed);
        let list = list_neighbours::Specialization { workgroup_size, row_slots: slots };
        let mark = mark_moved::Specialization { workgroup_size, row_slots: slots };
        Ok(Self {
            list: Kernel::specialized(device, &list)?,
            mark: Kernel::specialized(device, &mark)?,
            rows: [rows()?, rows()?],
            listed: [listed()?, listed()?],
            slots,
            stride: capacity,
            inverse_h: 1.0 / parameters.support_m,
            refused_bytes: (asked > 1 && !fits).then(|| 4 * words(asked)),
            flag: NO_FLAG,
            is_moved: false,
        })
    }

    /// Returns the number of slots of a row, 0 without rows.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// Returns the distance between the slots of a row.
    pub fn stride(&self) -> u32 {
        self.stride
    }

    /// Returns the rows of the solid and of the fluid particles.
    pub fn buffers(&self) -> [&Buffer<u32>; 2] {
        let [solid, fluid] = &self.rows;
        [solid, fluid]
    }

    /// Returns the positions of snow and of water at which neighbours were listed, in m.
    pub fn listed(&self) -> [&Buffer<[f32; 3]>; 2] {
        let [solid, fluid] = &self.listed;
        [solid, fluid]
    }

    /// Returns the inverse of the support radius in 1/m.
    pub fn inverse_h(&self) -> f32 {
        self.inverse_h
    }

    pub(super) fn layout(&self) -> RowLayout {
        RowLayout { slots: self.slots, is_joint: true }
    }

    /// Returns the margin around the support radius h, in h.
    pub fn margin(&self) -> f32 {
        MARGIN
    }

    /// Returns the square of the distance in h by which particles may move.
    pub fn max_moved_q2(&self) -> f32 {
        max_moved_q2(MARGIN)
    }

    /// Returns a warning if the device cannot bind the rows.
    pub fn warning(&self, device: &Device) -> Option<String> {
        let limit = device.capabilities().max_storage_range;
        self.refused_bytes.map(|bytes| {
            format!(
                "no rows of neighbours: {bytes} bytes for each phase, this device can bind {limit}; each \
                 pass searched the cells around each particle, which takes two to three times as long"
            )
        })
    }

    /// Records the search for the neighbours of predicted positions.
    pub(super) fn record(&mut self, recorder: &mut Recorder, solid: &PhaseParticles, fluid: &PhaseParticles) {
        if self.slots == 0 {
            return;
        }
        for (number, (own, other)) in [(solid, fluid), (fluid, solid)].into_iter().enumerate() {
            let bindings = list_neighbours::Bindings {
                count: &own.phase.count,
                key: own.key(),
                cell_start: own.grid.cell_start(),
                predicted: own.predicted(),
                other_cell_start: other.grid.cell_start(),
                other_predicted: other.predicted(),
                rows: &self.rows[number],
                listed: &self.listed[number],
            };
            let params = list_neighbours::Params {
                grid: own.grid.grid(),
                inverse_h: self.inverse_h,
                reach_q2: (1.0 + MARGIN) * (1.0 + MARGIN),
            };
            recorder.dispatch_counted(&self.list, bindings, params);
        }
        (self.flag, self.is_moved) = (FIRST_MOVED, false);
    }

    /// Notes that particles may have moved.
    pub(super) fn note_moved(&mut self) {
        self.is_moved = true;
    }

    /// Selects the flag of the present time for the passes that follow, and records its computation if
    /// particles have moved.
    pub(super) fn update(&mut self, recorder: &mut Recorder, solid: &PhaseParticles, fluid: &PhaseParticles) {
        // More corrections than flags share the last one: a flag that is set too often costs only time.
        let next = self.flag.saturating_add(1).min(JOINT_FLAGS - 1);
        self.update_as(recorder, solid, fluid, next);
    }

    /// The same after the last correction of a step.
    pub(super) fn update_at_end(
        &mut self,
        recorder: &mut Recorder,
        solid: &PhaseParticles,
        fluid: &PhaseParticles,
    ) {
        self.is_moved = true;
        self.update_as(recorder, solid, fluid, MOVED_IN_STEP);
    }

    fn update_as(
        &mut self,
        recorder: &mut Recorder,
        solid: &PhaseParticles,
        fluid: &PhaseParticles,
        flag: u32,
    ) {
        if self.flag == NO_FLAG || !self.is_moved {
            return;
        }
        for (number, phase_particles) in [solid, fluid].into_iter().enumerate() {
            let bindings = mark_moved::Bindings {
                count: &phase_particles.phase.count,
                predicted: phase_particles.predicted(),
                listed: &self.listed[number],
                rows: &self.rows[number],
                other_rows: &self.rows[1 - number],
            };
            let max_moved_q2 = self.max_moved_q2();
            let params = mark_moved::Params { inverse_h: self.inverse_h, max_moved_q2, flag };
            recorder.dispatch_counted(&self.mark, bindings, params);
        }
        (self.flag, self.is_moved) = (flag, false);
    }

    /// Returns the flag of the present time.
    pub(super) fn flag(&self) -> u32 {
        self.flag
    }

    /// Returns the buffer from which solve_solid reads the rows and the cells of snow: without rows, that of
    /// the cells.
    ///
    /// # Panics
    /// There are rows, and none have been recorded in this step.
    pub(super) fn rows_and_cells<'a>(&'a self, solid: &'a PhaseParticles) -> &'a Buffer<u32> {
        assert!(self.slots == 0 || self.flag != NO_FLAG, "snow is corrected after neighbours are listed");
        if self.slots == 0 { solid.key() } else { &self.rows[0] }
    }

    /// Returns the rows of the solid and of the fluid particles that smoothing reads, if there are rows.
    ///
    /// # Panics
    /// There are rows, and none have been recorded in this step.
    pub(super) fn buffers_at_end(&self) -> [Option<&Buffer<u32>>; 2] {
        assert!(
            self.slots == 0 || self.flag == MOVED_IN_STEP,
            "neighbours are listed before velocities smoothed"
        );
        self.buffers().map(|rows| (self.slots > 0).then_some(rows))
    }

    /// Adopts the parameters of a scene.
    pub(super) fn set_parameters(&mut self, parameters: &Parameters) {
        self.inverse_h = 1.0 / parameters.support_m;
    }

    /// Discards the rows: until the next search passes search the cells.
    pub(super) fn discard(&mut self) {
        self.flag = NO_FLAG;
    }
}
