//! Rows of neighbours of each particle: a Verlet list with a skin, made once a step for all passes over
//! neighbours in it.

use super::parameters::Parameters;
use crate::{SolverError, Tunable, Tuning};
use frazil_kernels::UniformGrid;
use frazil_shaders::pbd::neighbour_rows::{
    FIRST_MOVED, MOVED_IN_STEP, ROW_FLAGS, ROW_INDEX_BITS, ROW_TOO_SHORT,
};
use frazil_shaders::pbd::{list_neighbours, mark_moved};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder};

/// Neighbours that the row of a particle holds; 1 stands for no rows, so that every pass searches the cells.
/// Particles with more neighbours search them in any case.
pub static NEIGHBOUR_SLOTS: Tunable = Tunable { name: "neighbour_slots", default: 64, min: 1, max: 512 };

/// Index of no flag.
pub(crate) const NO_FLAG: u32 = u32::MAX;

/// Slots over the expected number of neighbours in fluid at rest density.
const SLACK: f32 = 1.3;

/// Rows of neighbours within a skin around the support radius h, of the particles of one phase, or of two
/// phases in both (`glsl/pbd/neighbour_rows.glsl`). A flag for each time of a step at which passes read them
/// tells whether a particle is then farther from where it was listed than half the skin: these passes search
/// the cells, so that no neighbour is missed and no bit of the result depends on the rows.
pub struct NeighbourRows {
    constants: list_neighbours::Specialization,
    list: Kernel<list_neighbours::Interface>,
    /// Marks flags of two phases; passes that move a phase without another mark them.
    mark: Option<Kernel<mark_moved::Interface>>,
    /// Rows of each phase, and the positions at which they were listed; empty without rows.
    phases: Vec<(Buffer<u32>, Buffer<[f32; 3]>)>,
    inverse_h: f32,
    /// Skin around h, in h.
    skin: f32,
    /// Corners of the domain in m.
    domain_m: [[f32; 3]; 2],
    warning: Option<String>,
    /// Flag that the next pass reads, and whether a particle of two phases may have moved since it was set.
    flag: u32,
    is_moved: bool,
}

/// Particles of a phase at their predicted positions, and their cells.
pub(super) struct PhaseCells<'a> {
    pub count: &'a DeviceCount,
    pub key: &'a Buffer<u32>,
    pub grid: &'a UniformGrid,
    pub predicted: &'a Buffer<[f32; 3]>,
    /// Positions at the start of the step.
    pub position: &'a Buffer<[f32; 3]>,
}

impl NeighbourRows {
    /// Makes the rows of one or two phases, each with capacity for all particles.
    pub(super) fn new(
        device: &Device,
        parameters: &Parameters,
        tuning: Tuning,
        capacity: u32,
        n_phases: usize,
    ) -> Result<Self, SolverError> {
        let has_other = n_phases > 1;
        let skin = skin(parameters, has_other);
        let slots = slots_asked(parameters, tuning, skin);
        let words_asked = slots + 1 + u32::from(has_other);
        let len = u64::from(words_asked) * u64::from(capacity) + u64::from(ROW_FLAGS);
        let limit = device.capabilities().max_storage_range;
        let fits = 4 * len <= limit && capacity < 1 << ROW_INDEX_BITS;
        let warning = (slots > 1 && !fits).then(|| {
            format!(
                "no rows of neighbours: {} bytes for {capacity} particles of a phase, this device can bind \
                 {limit} bytes, and rows can name {} particles; each pass searched the cells around each \
                 particle, which takes two to three times as long",
                4 * len,
                1 << ROW_INDEX_BITS,
            )
        });
        let has_rows = slots > 1 && fits;
        let [len, n_listed] = if has_rows { [len as usize, capacity as usize] } else { [0; 2] };
        let workgroup_size = tuning.workgroup_size();
        let constants = list_neighbours::Specialization {
            workgroup_size,
            row_words: if has_rows { words_asked } else { 0 },
            has_images: (parameters.has_images && !has_other).into(),
            periodic: parameters.periodic,
            has_start: 0,
            has_other: has_other.into(),
        };
        let buffers = |_| -> frazil_vk::Result<_> {
            Ok((device.buffer("rows of neighbours", len)?, device.buffer("listed", n_listed)?))
        };
        Ok(Self {
            list: Kernel::specialized(device, &constants)?,
            constants,
            mark: match has_other {
                true => Some(Kernel::specialized(device, &mark_moved::Specialization { workgroup_size })?),
                false => None,
            },
            phases: (0..n_phases).map(buffers).collect::<frazil_vk::Result<_>>()?,
            inverse_h: 1.0 / parameters.support_m,
            skin,
            domain_m: [parameters.walls.domain_min_m, parameters.walls.domain_max_m],
            warning,
            flag: NO_FLAG,
            is_moved: false,
        })
    }

    /// Lists from now on the neighbours within h at the start of the step, too.
    pub(super) fn include_start(&mut self, device: &Device) -> frazil_vk::Result<()> {
        self.constants.has_start = 1;
        self.list = Kernel::specialized(device, &self.constants)?;
        Ok(())
    }

    /// Adopts the parameters of a scene.
    pub(super) fn set_parameters(&mut self, parameters: &Parameters) {
        self.inverse_h = 1.0 / parameters.support_m;
        self.skin = skin(parameters, self.mark.is_some());
    }

    /// Returns the number of words of a row, 0 without rows.
    pub fn words(&self) -> u32 {
        self.constants.row_words
    }

    /// Returns the number of slots of a row, 0 without rows.
    pub fn slots(&self) -> u32 {
        self.words().saturating_sub(1 + self.constants.has_other)
    }

    /// Returns flags and rows of a phase: 0, or of snow and water 0 and 1.
    pub fn buffer(&self, phase: usize) -> &Buffer<u32> {
        &self.phases[phase].0
    }

    /// Returns the positions in m at which the neighbours of a phase were listed.
    pub fn listed(&self, phase: usize) -> &Buffer<[f32; 3]> {
        &self.phases[phase].1
    }

    /// Reads flags and rows of a phase back. Waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn download(&self, device: &Device, phase: usize) -> frazil_vk::Result<DownloadedRows> {
        let words = device.download(self.buffer(phase), self.buffer(phase).len())?;
        Ok(DownloadedRows { words, row_words: self.words() as usize })
    }

    /// Returns the skin around the support radius h, in h.
    pub fn skin(&self) -> f32 {
        self.skin
    }

    /// Returns the square of the distance in h by which particles may move: half the skin, less rounding.
    pub fn max_moved_q2(&self) -> f32 {
        0.249 * self.skin * self.skin
    }

    /// Returns the reciprocal of the support radius, in 1/m.
    pub fn inverse_h(&self) -> f32 {
        self.inverse_h
    }

    /// Returns a warning if the device cannot bind the rows.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Records the search for the neighbours of the predicted positions of each phase.
    pub(super) fn record(&mut self, recorder: &mut Recorder, phases: &[PhaseCells<'_>]) {
        if self.slots() == 0 {
            return;
        }
        for (number, (own, other)) in phases.iter().zip(phases.iter().rev()).enumerate() {
            let bindings = list_neighbours::Bindings {
                count: own.count,
                key: own.key,
                cell_start: own.grid.cell_start(),
                predicted: own.predicted,
                position: own.position,
                // Without another phase, this one stands in for it.
                other_cell_start: other.grid.cell_start(),
                other_predicted: other.predicted,
                rows: self.buffer(number),
                listed: self.listed(number),
            };
            let params = list_neighbours::Params {
                grid: own.grid.grid(),
                domain_min_m: self.domain_m[0],
                domain_max_m: self.domain_m[1],
                inverse_h: self.inverse_h,
                reach_q2: (1.0 + self.skin) * (1.0 + self.skin),
            };
            recorder.dispatch_counted(&self.list, bindings, params);
        }
        (self.flag, self.is_moved) = (FIRST_MOVED, false);
    }

    /// Returns the flag for the next pass over neighbours, [`NO_FLAG`] where there are no rows.
    pub(super) fn flag(&self) -> u32 {
        self.flag
    }

    /// Selects the flag of the next time.
    pub(super) fn advance(&mut self) {
        self.flag = self.next_flag();
    }

    fn next_flag(&self) -> u32 {
        // A pass that moves particles sets the flag after its own.
        assert!(self.flag == NO_FLAG || self.flag + 2 < ROW_FLAGS, "a step has at most 1000 iterations");
        self.flag.saturating_add(1)
    }

    /// Notes that particles of two phases may have moved.
    pub(super) fn note_moved(&mut self) {
        self.is_moved = true;
    }

    /// Selects the flag of the present time for the passes that follow, and records its computation if
    /// particles of two phases have moved.
    pub(super) fn update(&mut self, recorder: &mut Recorder, phases: &[PhaseCells<'_>]) {
        self.update_as(recorder, phases, self.next_flag());
    }

    /// The same after the last correction of a step.
    ///
    /// # Panics
    /// There are rows, and none have been recorded in this step.
    pub(super) fn update_at_end(&mut self, recorder: &mut Recorder, phases: &[PhaseCells<'_>]) {
        assert!(self.is_current(), "neighbours are listed before velocities are smoothed");
        self.is_moved = true;
        self.update_as(recorder, phases, MOVED_IN_STEP);
    }

    fn update_as(&mut self, recorder: &mut Recorder, phases: &[PhaseCells<'_>], flag: u32) {
        let Some(mark) = self.mark.as_ref().filter(|_| self.flag != NO_FLAG && self.is_moved) else { return };
        for (number, phase) in phases.iter().enumerate() {
            let bindings = mark_moved::Bindings {
                count: phase.count,
                predicted: phase.predicted,
                listed: self.listed(number),
                rows: self.buffer(number),
                other_rows: self.buffer(1 - number),
            };
            let max_moved_q2 = self.max_moved_q2();
            let params = mark_moved::Params { inverse_h: self.inverse_h, max_moved_q2, flag };
            recorder.dispatch_counted(mark, bindings, params);
        }
        (self.flag, self.is_moved) = (flag, false);
    }

    /// Returns true unless there are rows and none have been recorded in this step.
    pub(super) fn is_current(&self) -> bool {
        self.slots() == 0 || self.flag != NO_FLAG
    }

    /// Discards the rows: until the next search passes search the cells.
    pub(super) fn discard(&mut self) {
        self.flag = NO_FLAG;
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
}

/// Flags and rows of one phase on the host.
#[derive(Debug)]
pub struct DownloadedRows {
    words: Vec<u32>,
    row_words: usize,
}

impl DownloadedRows {
    /// Returns the flags, by time of the step: 1 if a particle was then beyond half the skin. The first is
    /// that of the time after the last correction, or of all times.
    pub fn flags(&self) -> &[u32] {
        &self.words[..ROW_FLAGS as usize]
    }

    fn word(&self, i: usize, word: usize) -> u32 {
        let stride = (self.words.len() - ROW_FLAGS as usize) / self.row_words;
        self.words[ROW_FLAGS as usize + word * stride + i]
    }

    /// Returns the entries of the row of particle `i`: neighbours of its phase, and those of another phase or
    /// images; none if there are more than slots. An entry is the index of a particle and, above 26 bits,
    /// the faces of the domain that reflect it (1 the lower, 2 the upper, two bits an axis).
    pub fn row(&self, i: usize) -> Option<[Vec<u32>; 2]> {
        let lengths = self.word(i, 0);
        let (n_own, n_all) = ((lengths & 0xffff) as usize, (lengths >> 16) as usize);
        let entries = |slots: std::ops::Range<usize>| slots.map(|slot| self.word(i, 1 + slot)).collect();
        (lengths != ROW_TOO_SHORT).then(|| [entries(0..n_own), entries(n_own..n_all)])
    }

    /// Returns the cell of particle `i` of two phases.
    pub fn cell(&self, i: usize) -> u32 {
        self.word(i, self.row_words - 1)
    }
}

/// Returns the skin of rows around h, in h. Their length grows with its third power, and a particle that
/// moves further than half of it within a step costs all a search; more corrections move further. Those of
/// snow are small: `melting` takes 4 % less time than with twice as much. A projection moves none; what
/// kernels round differently is far within its skin.
fn skin(parameters: &Parameters, has_other: bool) -> f32 {
    if parameters.is_projection {
        return 0.001;
    }
    if has_other || parameters.iterations == 1 { 0.05 } else { 0.1 }
}

/// Returns the number of slots of a row that the tuning asks for, 1 for no rows: by default enough for fluid
/// at any ratio of support radius and spacing.
fn slots_asked(parameters: &Parameters, tuning: Tuning, skin: f32) -> u32 {
    let tuned = tuning.get(&NEIGHBOUR_SLOTS);
    let sphere = 4.0 / 3.0 * std::f32::consts::PI * (1.0 + skin).powi(3);
    let expected = (SLACK * sphere / parameters.volume_h3).min(256.0) as u32;
    if tuned == NEIGHBOUR_SLOTS.default { tuned.max(expected.next_power_of_two()) } else { tuned }
}
