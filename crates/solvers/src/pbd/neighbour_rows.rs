//! Neighbours of each particle, found once a step and used by all iterations of the density solve.

use super::motion::RowLayout;
use super::parameters::Parameters;
use crate::{SolverError, Tunable, Tuning};
use frazil_kernels::UniformGrid;
use frazil_shaders::pbd::list_neighbours;
use frazil_shaders::pbd::neighbour_rows::{FIRST_MOVED, ROW_INDEX_BITS};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder};

/// Neighbours that the row of a particle holds; 1 stands for no rows, so that every pass searches the cells.
/// Particles with more neighbours search them in any case.
pub static NEIGHBOUR_SLOTS: Tunable = Tunable { name: "neighbour_slots", default: 64, min: 1, max: 512 };

/// Returns the margin of rows around h, in h. Their length grows with its third power, and a particle that
/// moves further than half of it within the density solve of a step costs all a search; more corrections move
/// further.
fn margin(parameters: &Parameters) -> f32 {
    if parameters.iterations == 1 { 0.05 } else { 0.1 }
}

/// Returns the square of the distance in h by which particles may move: half the margin, less rounding.
pub(super) fn max_moved_q2(margin: f32) -> f32 {
    0.249 * margin * margin
}

/// Index of no flag.
pub(crate) const NO_FLAG: u32 = u32::MAX;

/// Slots over the expected number of neighbours in fluid at rest density.
const SLACK: f32 = 1.3;

/// Rows of neighbours within a margin around the support radius (`glsl/pbd/list_neighbours.comp`). A flag for
/// each iteration tells whether a particle has since moved by half the margin; from then on passes search the
/// cells, so that no neighbour is missed and no bit of the result depends on the rows.
pub struct NeighbourRows {
    constants: list_neighbours::Specialization,
    list: Kernel<list_neighbours::Interface>,
    pub(super) neighbour: Buffer<u32>,
    pub(super) row: Buffer<u32>,
    pub(super) listed: Buffer<[f32; 3]>,
    pub(super) has_moved: Buffer<u32>,
    /// Slots of a row; 0 without rows.
    slots: u32,
    stride: u32,
    inverse_h: f32,
    /// Margin around h, in h.
    margin: f32,
    /// Corners of the domain in m.
    domain_m: [[f32; 3]; 2],
    /// Flag that the next pass reads.
    flag: u32,
}

impl NeighbourRows {
    pub(super) fn new(
        device: &Device,
        parameters: &Parameters,
        tuning: Tuning,
        capacity: u32,
    ) -> Result<Self, SolverError> {
        let slots = slots(device, parameters, tuning, capacity);
        let workgroup_size = tuning.workgroup_size();
        let n = if slots > 0 { capacity as usize } else { 0 };
        // That of the step, one before the first correction, and one after each and after the warm start.
        let n_flags = parameters.iterations.max(parameters.max_iterations) as usize + 3;
        let row_slots = slots.max(1);
        let has_images = parameters.has_images.into();
        let periodic = parameters.periodic;
        let constants =
            list_neighbours::Specialization { workgroup_size, row_slots, has_images, periodic, has_start: 0 };
        Ok(Self {
            list: Kernel::specialized(device, &constants)?,
            constants,
            neighbour: device.buffer("neighbours", n * slots as usize)?,
            row: device.buffer("neighbour row", n)?,
            listed: device.buffer("listed", n)?,
            has_moved: device.buffer_from("has moved", &vec![0; n_flags])?,
            slots,
            stride: capacity,
            inverse_h: 1.0 / parameters.support_m,
            margin: margin(parameters),
            domain_m: [parameters.walls.domain_min_m, parameters.walls.domain_max_m],
            flag: NO_FLAG,
        })
    }

    /// Lists from now on the neighbours within h at the start of the step, too.
    pub(super) fn include_start(&mut self, device: &Device) -> frazil_vk::Result<()> {
        self.constants.has_start = 1;
        self.list = Kernel::specialized(device, &self.constants)?;
        Ok(())
    }

    /// Returns true if rows hold the neighbours within h at the start of the step, too.
    pub fn has_start(&self) -> bool {
        self.constants.has_start != 0
    }

    /// Returns the number of slots of a row, 0 without rows.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// Returns the entries in slot 0 of each row, then those in slot 1 …: the index of a particle and, above
    /// 26 bits, the faces of the domain that reflect it (1 the lower, 2 the upper, two bits an axis).
    pub fn neighbour(&self) -> &Buffer<u32> {
        &self.neighbour
    }

    /// Returns of each row the number of neighbours, above 16 bits that with their images; all bits are set
    /// if there are more than slots.
    pub fn row(&self) -> &Buffer<u32> {
        &self.row
    }

    /// Returns the positions at which neighbours were searched.
    pub fn listed(&self) -> &Buffer<[f32; 3]> {
        &self.listed
    }

    /// Returns flags of the last step that are 1 if a particle moved by half the margin: in the whole step,
    /// and before each iteration, which then searched the cells.
    pub fn has_moved(&self) -> &Buffer<u32> {
        &self.has_moved
    }

    /// Records the search for the neighbours of predicted positions.
    pub(super) fn record(
        &mut self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        grid: &UniformGrid,
        key: &Buffer<u32>,
        [predicted, position]: [&Buffer<[f32; 3]>; 2],
    ) {
        if self.slots == 0 {
            return;
        }
        let bindings = list_neighbours::Bindings {
            count,
            key,
            cell_start: grid.cell_start(),
            predicted,
            neighbour: &self.neighbour,
            row: &self.row,
            listed: &self.listed,
            has_moved: &self.has_moved,
            position,
        };
        let params = list_neighbours::Params {
            grid: grid.grid(),
            domain_min_m: self.domain_m[0],
            domain_max_m: self.domain_m[1],
            inverse_h: self.inverse_h,
            reach_q2: (1.0 + self.margin) * (1.0 + self.margin),
            row_stride: self.stride,
        };
        recorder.dispatch_counted(&self.list, bindings, params);
        self.flag = FIRST_MOVED;
    }

    /// Returns the stride of a slot, and the flag for the next pass over neighbours.
    pub(super) fn stride_and_flag(&self) -> (u32, u32) {
        (self.stride, if self.slots == 0 { NO_FLAG } else { self.flag })
    }

    /// Returns entries, lengths and flags, unless there are no rows.
    pub(super) fn buffers(&self) -> Option<[&Buffer<u32>; 3]> {
        (self.slots > 0).then_some([&self.neighbour, &self.row, &self.has_moved])
    }

    /// Returns the layout of these buffers.
    pub(super) fn layout(&self) -> RowLayout {
        RowLayout { slots: self.slots, is_joint: false }
    }

    /// Returns the square of the distance in h by which particles may move: half the margin, less rounding.
    pub fn max_moved_q2(&self) -> f32 {
        max_moved_q2(self.margin)
    }

    /// Returns the reciprocal of the support radius, in 1/m.
    pub(super) fn inverse_h(&self) -> f32 {
        self.inverse_h
    }

    /// Returns where a particle is, as one behind faces of the domain sees it: `sides` are those of an entry.
    pub(super) fn image(&self, x: [f32; 3], sides: u32, periodic: u32) -> [f32; 3] {
        let [lower, upper] = self.domain_m;
        std::array::from_fn(|axis| {
            let [face, opposite] = match sides >> (2 * axis) & 3 {
                1 => [lower[axis], upper[axis]],
                2 => [upper[axis], lower[axis]],
                _ => return x[axis],
            };
            if periodic >> axis & 1 == 1 { face + (x[axis] - opposite) } else { face - (x[axis] - face) }
        })
    }

    /// Selects the flag of the next iteration.
    pub(super) fn advance(&mut self) {
        self.flag = self.flag.saturating_add(1);
    }

    /// Discards the rows: until the next search passes search the cells.
    pub(super) fn discard(&mut self) {
        self.flag = NO_FLAG;
    }
}

/// Returns the number of slots of a row: by default enough for fluid at any ratio of support radius and
/// spacing; 0 if rows are off, or do not fit the device's bindings.
fn slots(device: &Device, parameters: &Parameters, tuning: Tuning, capacity: u32) -> u32 {
    let slots = slots_asked(parameters, tuning);
    let bytes = 4 * u64::from(slots) * u64::from(capacity);
    let fits = bytes <= device.capabilities().max_storage_range && capacity < 1 << ROW_INDEX_BITS;
    if slots == 1 || !fits { 0 } else { slots }
}

/// Returns the number of slots of a row that the tuning asks for, 1 for no rows.
pub(super) fn slots_asked(parameters: &Parameters, tuning: Tuning) -> u32 {
    let tuned = tuning.get(&NEIGHBOUR_SLOTS);
    let sphere = 4.0 / 3.0 * std::f32::consts::PI * (1.0 + margin(parameters)).powi(3);
    let expected = (SLACK * sphere / parameters.volume_h3).min(256.0) as u32;
    if tuned == NEIGHBOUR_SLOTS.default { tuned.max(expected.next_power_of_two()) } else { tuned }
}
