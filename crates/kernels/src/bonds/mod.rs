//! Bonds between pairs of particles: a table of rows that are built, updated, broken and carried along.

mod table;

use crate::error::check_room;
use crate::{KernelError, UniformGrid};
use frazil_shaders::bonds::{
    accept_bonds, check_bonds, claim_bonds, compact_bonds, count_bonds, count_required_slots, invert_order,
    mark_stretched_bonds, propose_bonds, remap_bonds, remove_bonds,
};
use frazil_shaders::types::{BondTable, BondTerms};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};
use table::{Extent, Table};

pub use table::INVALID_INDEX;

/// Rounds that a build can have: each has its own counter.
const MAX_ROUNDS: u32 = 256;

/// Slots that a row can have. A pass compares rows slot by slot, and a software device ends the loops of a thread after 65 535
/// rounds in all, silently: longer rows are refused instead.
const MAX_SLOTS: u32 = 240;

/// Faults that [`PairBonds::record_check`] counts, in the order of its counts.
pub const BOND_FAULTS: [&str; 8] = [
    "rows with more bonds than their limit",
    "slots whose partner is no particle, or that should be empty",
    "bonds of a particle to itself",
    "bonds that stand twice in a row",
    "bonds that the other end does not have",
    "bonds with another rest length at the other end",
    "bonds with other state at the other end",
    "bonds with an end that may have none",
];

/// A word of state that each bond has, beside its partner and its rest length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BondColumn {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The bits of a new bond's word.
    pub initial: u32,
}

impl BondColumn {
    /// A column of numbers.
    pub fn f32(name: &'static str, unit: &'static str, initial: f32) -> Self {
        Self { name, unit, initial: initial.to_bits() }
    }

    /// A column of counts or flags.
    pub fn u32(name: &'static str, unit: &'static str, initial: u32) -> Self {
        Self { name, unit, initial }
    }
}

/// Size of a table of bonds.
#[derive(Clone, Copy, Debug)]
pub struct BondCapacity {
    /// Particles that there are rows for.
    pub particles: u32,
    /// Bonds that a row holds at most, until [`PairBonds::grow`] adds slots.
    pub slots: u32,
}

/// Pairs that a build bonds: both ends with fewer bonds than their limits and at most the radius apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BondSearch {
    /// Longest distance in m at which a bond is made.
    pub radius_m: f32,
    /// Bonds of a particle at most, whatever its limit says. Rows with as many slots never overflow.
    pub max_bonds: u32,
}

/// Algorithm that builds bonds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builder {
    /// Rounds of proposing and accepting, nearest first and ties by id. The same bits on every run, at any workgroup or
    /// subgroup size, and the same pairs of ids whatever the order of particles.
    ///
    /// As long as an eligible pair with both ends below their limits is left, a round bonds at least one: the nearest. A
    /// round that bonds none therefore ends the build with none left, and the bonds are then those that going through all
    /// pairs once, nearest first, would make. Fewer rounds make a part of these.
    Reproducible {
        /// Rounds at most, 1 to 256; those after one that made no bond cost next to nothing.
        rounds: u32,
    },
    /// Atomic claims of empty slots at both ends. Order-dependent: which pairs are bonded, and in which slots, differs
    /// from run to run where limits bind.
    ///
    /// A pass that makes no bond ends the build with no eligible pair left whose ends are below their limits. A pass that
    /// makes some may leave such pairs, because it can meet a slot that is claimed and then given back.
    CompareAndSwap {
        /// Passes at most, 1 to 256; those after one that made no bond cost next to nothing.
        passes: u32,
    },
}

impl Builder {
    fn rounds(self) -> u32 {
        match self {
            Self::Reproducible { rounds } | Self::CompareAndSwap { passes: rounds } => rounds,
        }
    }
}

/// The particles that are bonded, in the order of a [`UniformGrid`].
#[derive(Clone, Copy, Debug)]
pub struct BondedParticles<'a> {
    /// How many there are.
    pub count: &'a DeviceCount,
    /// Their positions in m.
    pub position: &'a Buffer<[f32; 3]>,
    /// How many bonds each may have; 0: none, so that it is not eligible. The user's rule decides.
    pub limit: &'a Buffer<u32>,
    /// Their numbers for life, all different: what ties are broken by.
    pub id: &'a Buffer<u32>,
}

/// A row of bonds for each particle: partner, rest length and the user's own state, kept at both ends.
///
/// Between any two of the recorded operations, bonds are symmetric with the same bits of rest length and state at both
/// ends, no particle is bonded to itself or to another one twice, and no row is longer than its slots. After a build no
/// degree has been raised above its particle's limit; after a break none is above it.
///
/// Partners are places in the particle order, so that every permutation of the particles must be followed by
/// [`Self::record_remap`]; it is also how particles enter and leave. The rows of places past the count are undefined.
///
/// # Rules
/// The table knows no physics. Who may be bonded is the user's column of limits. What breaks bonds and what changes their
/// rest lengths and state are kernels of the user's own, which include `bonds/mark_broken_bonds.glsl` or
/// `bonds/update_bonds.glsl` and supply one function; [`Self::record_break_stretched`] is such a rule, ready made.
/// `glsl/bond_rules` has others, and `bonds/xpbd.glsl` what a bond does as a compliant constraint.
///
/// # Capacity
/// Slot `s` of particle `i` stands at `s · capacity + i`: 4 bytes a particle, and 8 and 4 a state column for each of its
/// slots, twice. All rows have as many slots: threads that walk their rows read neighbouring words, no pass has to find
/// out where a row begins, and growth only adds slots at the end of each column. Should a build need more, it makes no
/// bond at all and [`Self::required`] says how many; so do builds after it, until [`Self::grow`] has made room. The build
/// recorded again then makes the bits that enough slots from the start would have made. A bond is never dropped for want
/// of a slot.
pub struct PairBonds {
    propose: Kernel<propose_bonds::Interface>,
    accept: Kernel<accept_bonds::Interface>,
    require: Kernel<count_required_slots::Interface>,
    claim: Kernel<claim_bonds::Interface>,
    compact: Kernel<compact_bonds::Interface>,
    mark_stretched: Kernel<mark_stretched_bonds::Interface>,
    remove: Kernel<remove_bonds::Interface>,
    invert: Kernel<invert_order::Interface>,
    remap: Kernel<remap_bonds::Interface>,
    count: Kernel<count_bonds::Interface>,
    check: Kernel<check_bonds::Interface>,
    front: Table,
    back: Table,
    proposal: Buffer<u32>,
    verdict: Buffer<u32>,
    new_place: Buffer<u32>,
    initial_state: Buffer<u32>,
    required: Buffer<u32>,
    progress: Buffer<u32>,
    broken: Buffer<u32>,
    counts: Buffer<u32>,
    faults: Buffer<u32>,
    columns: Vec<BondColumn>,
    extent: Extent,
    workgroup_size: u32,
}

impl PairBonds {
    /// Makes empty rows. Set-up: it waits for the device.
    ///
    /// # Errors
    /// The slots are not 1 to 240; no memory, or more than the device can bind.
    pub fn new(device: &Device, capacity: BondCapacity, columns: &[BondColumn]) -> Result<Self, KernelError> {
        let workgroup_size = propose_bonds::Specialization::default().workgroup_size;
        Self::with_workgroup_size(device, capacity, columns, workgroup_size)
    }

    /// As [`Self::new`], with another workgroup size, a power of two.
    ///
    /// # Errors
    /// As [`Self::new`]; the device's limits do not allow the size.
    pub fn with_workgroup_size(
        device: &Device,
        BondCapacity { particles, slots }: BondCapacity,
        columns: &[BondColumn],
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        check_slots(slots)?;
        let extent = Extent { capacity: particles, slots, state_columns: columns.len() as u32 };
        let initial: Vec<u32> = columns.iter().map(|column| column.initial).collect();
        // One macro for kernels whose specialisations are types of their own with one field.
        macro_rules! kernel {
            ($module:ident) => {
                Kernel::specialized(device, &$module::Specialization { workgroup_size })?
            };
        }
        let bonds = Self {
            propose: Kernel::specialized(device, &propose_bonds::Specialization { workgroup_size, slots })?,
            accept: kernel!(accept_bonds),
            require: kernel!(count_required_slots),
            claim: kernel!(claim_bonds),
            compact: kernel!(compact_bonds),
            mark_stretched: kernel!(mark_stretched_bonds),
            remove: kernel!(remove_bonds),
            invert: kernel!(invert_order),
            remap: kernel!(remap_bonds),
            count: kernel!(count_bonds),
            check: kernel!(check_bonds),
            front: Table::new(device, extent, "")?,
            back: Table::new(device, extent, " (back)")?,
            proposal: device.buffer("bond proposals", extent.column())?,
            verdict: device.buffer("bond verdicts", verdict_words(extent))?,
            new_place: device.buffer("new place", particles as usize)?,
            initial_state: device.buffer_from("initial bond state", &initial)?,
            required: device.buffer_from("required bond slots", &[0])?,
            progress: device.buffer_from("bonds made by round", &[0; MAX_ROUNDS as usize])?,
            broken: device.buffer_from("bonds broken", &[0])?,
            counts: device.buffer_from("bond counts", &[0; 3])?,
            faults: device.buffer_from("bond faults", &[0; BOND_FAULTS.len()])?,
            columns: columns.to_vec(),
            extent,
            workgroup_size,
        };
        let mut recorder = device.recorder()?;
        bonds.record_clear(&mut recorder);
        device.submit(recorder)?.wait()?;
        Ok(bonds)
    }

    /// Particles that there are rows for.
    pub fn capacity(&self) -> u32 {
        self.extent.capacity
    }

    /// Bonds that a row holds at most.
    pub fn slots(&self) -> u32 {
        self.extent.slots
    }

    /// The state that each bond has.
    pub fn columns(&self) -> &[BondColumn] {
        &self.columns
    }

    /// The table's size as kernels take it.
    pub fn table(&self) -> BondTable {
        let Extent { capacity, slots, state_columns } = self.extent;
        BondTable { stride: capacity, slots, state_columns }
    }

    /// The partner in each slot. Another buffer after a break and [`Self::record_remap`], as the three below.
    pub fn partner(&self) -> &Buffer<u32> {
        &self.front.partner
    }

    /// The rest length in m of the bond in each slot, at first the distance at which it was made; undefined where the slot
    /// is empty.
    pub fn rest_length_m(&self) -> &Buffer<f32> {
        &self.front.rest_length_m
    }

    /// The words of state, one column behind the other, each as long as [`Self::partner`].
    pub fn state(&self) -> &Buffer<u32> {
        &self.front.state
    }

    /// How many slots of each row are occupied.
    pub fn degree(&self) -> &Buffer<u32> {
        &self.front.degree
    }

    /// Which of its bonds each particle keeps, for a rule of the user's own to write: see [`Self::record_remove`].
    pub fn verdict(&self) -> &Buffer<u32> {
        &self.verdict
    }

    /// One word: the slots that a build needed, if more than there were, else 0; for a [`frazil_vk::ReadbackRing`] to tell
    /// without a wait. It keeps the largest until [`Self::grow`].
    pub fn required(&self) -> &Buffer<u32> {
        &self.required
    }

    /// Bonds that each round or pass of the last build made. A 0 says that the build was finished before its rounds were.
    pub fn progress(&self) -> &Buffer<u32> {
        &self.progress
    }

    /// How many bonds the last break removed.
    pub fn broken(&self) -> &Buffer<u32> {
        &self.broken
    }

    /// What the last [`Self::record_count`] counted: bonds; eligible pairs without one of which an end is at its limit;
    /// eligible pairs without one whose ends are below their limits.
    pub fn counts(&self) -> &Buffer<u32> {
        &self.counts
    }

    /// How many faults of each kind of [`BOND_FAULTS`] the last [`Self::record_check`] found.
    pub fn faults(&self) -> &Buffer<u32> {
        &self.faults
    }

    /// Returns an error if a build did not fit since the slots last grew. It waits for the device.
    ///
    /// # Errors
    /// [`KernelError::BondOverflow`] with the slots required; the device fails.
    pub fn check_capacity(&self, device: &Device) -> Result<(), KernelError> {
        match device.download(&self.required, 1)?[0] {
            0 => Ok(()),
            required => Err(KernelError::BondOverflow { required, slots: self.slots() }),
        }
    }

    /// Gives each row `slots` slots, if it has fewer, and keeps what rows hold. Set-up: it waits for the device.
    ///
    /// # Errors
    /// More than 240 slots; no memory, or more than the device can bind.
    pub fn grow(&mut self, device: &Device, slots: u32) -> Result<(), KernelError> {
        if slots > self.slots() {
            check_slots(slots)?;
            self.add_slots(device, slots)?;
        }
        Ok(device.upload(&self.required, &[0])?)
    }

    fn add_slots(&mut self, device: &Device, slots: u32) -> Result<(), KernelError> {
        let extent = Extent { slots, ..self.extent };
        let workgroup_size = self.workgroup_size;
        self.propose = Kernel::specialized(device, &propose_bonds::Specialization { workgroup_size, slots })?;
        self.front = self.front.grown(device, self.extent, extent)?;
        self.back = Table::new(device, extent, " (back)")?;
        self.proposal = device.buffer("bond proposals", extent.column())?;
        self.verdict = device.buffer("bond verdicts", verdict_words(extent))?;
        self.extent = extent;
        Ok(())
    }

    /// Builds, and should rows be too short, grows them and builds again. Set-up: it waits for the device.
    ///
    /// # Errors
    /// As [`Self::record_build`] and [`Self::grow`].
    pub fn build(
        &mut self,
        device: &Device,
        (grid, sorted_keys): (&UniformGrid, &Buffer<u32>),
        particles: BondedParticles<'_>,
        builder: Builder,
        search: &BondSearch,
    ) -> Result<(), KernelError> {
        loop {
            let mut recorder = device.recorder()?;
            self.record_build(&mut recorder, (grid, sorted_keys), particles, builder, search)?;
            device.submit(recorder)?.wait()?;
            match self.check_capacity(device) {
                Err(KernelError::BondOverflow { required, .. }) => self.grow(device, required)?,
                checked => return checked,
            }
        }
    }

    /// Records: no particle has a bond.
    pub fn record_clear(&self, recorder: &mut Recorder) {
        recorder.fill(&self.front.partner, INVALID_INDEX);
        recorder.fill(&self.front.degree, 0);
    }

    /// Records the making of bonds between eligible pairs that have none. Existing bonds stay and count towards the limits.
    ///
    /// `sorted_keys` are the cells of the particles, and `grid` knows their ranges. A build that does not fit makes none.
    ///
    /// # Errors
    /// The search cannot be; the grid's cells are smaller than the radius; the rounds are not 1 to 256; more particles than
    /// there are rows for, or a column shorter than the count's capacity.
    pub fn record_build(
        &self,
        recorder: &mut Recorder,
        (grid, sorted_keys): (&UniformGrid, &Buffer<u32>),
        particles: BondedParticles<'_>,
        builder: Builder,
        search: &BondSearch,
    ) -> Result<(), KernelError> {
        let terms = self.terms(grid, search)?;
        self.check_particles(&particles)?;
        check_room(PRIMITIVE, particles.count, sorted_keys)?;
        let rounds = builder.rounds();
        if rounds == 0 || rounds > MAX_ROUNDS {
            return Err(problem(format!("{rounds} rounds, expected 1 to {MAX_ROUNDS}")));
        }
        let cells = (grid, sorted_keys);
        if search.max_bonds > self.slots() {
            self.record_required(recorder, cells, particles, terms);
        }
        recorder.fill(&self.progress, 0);
        for round in 0..rounds {
            match builder {
                Builder::Reproducible { .. } => self.record_round(recorder, cells, particles, terms, round),
                Builder::CompareAndSwap { .. } => self.record_pass(recorder, cells, particles, terms, round),
            }
        }
        if let Builder::CompareAndSwap { .. } = builder {
            let bindings = compact_bonds::Bindings {
                count: &particles.count.count,
                partner: &self.front.partner,
                rest_length_m: &self.front.rest_length_m,
                state: &self.front.state,
                degree: &self.front.degree,
            };
            let params = compact_bonds::Params { table: terms.table };
            recorder.dispatch(&self.compact, Threads::Counted(particles.count), bindings, params);
        }
        Ok(())
    }

    fn record_required(
        &self,
        recorder: &mut Recorder,
        (grid, sorted_keys): (&UniformGrid, &Buffer<u32>),
        particles: BondedParticles<'_>,
        terms: BondTerms,
    ) {
        let bindings = count_required_slots::Bindings {
            count: &particles.count.count,
            key: sorted_keys,
            cell_start: grid.cell_start(),
            position: particles.position,
            limit: particles.limit,
            partner: &self.front.partner,
            degree: &self.front.degree,
            required: &self.required,
        };
        let params = count_required_slots::Params { grid: grid.grid(), terms };
        recorder.dispatch(&self.require, Threads::Counted(particles.count), bindings, params);
    }

    fn record_round(
        &self,
        recorder: &mut Recorder,
        (grid, sorted_keys): (&UniformGrid, &Buffer<u32>),
        particles: BondedParticles<'_>,
        terms: BondTerms,
        round: u32,
    ) {
        let bindings = propose_bonds::Bindings {
            count: &particles.count.count,
            key: sorted_keys,
            cell_start: grid.cell_start(),
            position: particles.position,
            limit: particles.limit,
            id: particles.id,
            required: &self.required,
            partner: &self.front.partner,
            degree: &self.front.degree,
            progress: &self.progress,
            proposal: &self.proposal,
        };
        let params = propose_bonds::Params { grid: grid.grid(), terms, round };
        recorder.dispatch(&self.propose, Threads::Counted(particles.count), bindings, params);
        let bindings = accept_bonds::Bindings {
            count: &particles.count.count,
            position: particles.position,
            proposal: &self.proposal,
            initial_state: &self.initial_state,
            required: &self.required,
            partner: &self.front.partner,
            rest_length_m: &self.front.rest_length_m,
            state: &self.front.state,
            degree: &self.front.degree,
            progress: &self.progress,
        };
        let params = accept_bonds::Params { terms, round };
        recorder.dispatch(&self.accept, Threads::Counted(particles.count), bindings, params);
    }

    fn record_pass(
        &self,
        recorder: &mut Recorder,
        (grid, sorted_keys): (&UniformGrid, &Buffer<u32>),
        particles: BondedParticles<'_>,
        terms: BondTerms,
        round: u32,
    ) {
        let bindings = claim_bonds::Bindings {
            count: &particles.count.count,
            key: sorted_keys,
            cell_start: grid.cell_start(),
            position: particles.position,
            limit: particles.limit,
            initial_state: &self.initial_state,
            required: &self.required,
            partner: &self.front.partner,
            rest_length_m: &self.front.rest_length_m,
            state: &self.front.state,
            progress: &self.progress,
        };
        let params = claim_bonds::Params { grid: grid.grid(), terms, round };
        recorder.dispatch(&self.claim, Threads::Counted(particles.count), bindings, params);
    }

    /// Records the breaking of bonds that are longer than `break_ratio` (at least 1) times their rest length, of those with
    /// an end whose limit is 0, and, where a particle has more than its limit or `max_bonds`, of those of the longest rest
    /// length that either end has too many.
    ///
    /// A particle that gives up bonds for its limit does not take back one whose other end gives up another; the next build
    /// may.
    ///
    /// # Errors
    /// The ratio is no number of at least 1; more particles than there are rows for, or a column shorter than the count's
    /// capacity.
    pub fn record_break_stretched(
        &mut self,
        recorder: &mut Recorder,
        particles: BondedParticles<'_>,
        max_bonds: u32,
        break_ratio: f32,
    ) -> Result<(), KernelError> {
        if !(break_ratio.is_finite() && break_ratio >= 1.0) {
            return Err(problem(format!("break ratio {break_ratio}, expected a number of at least 1")));
        }
        self.check_particles(&particles)?;
        let bindings = mark_stretched_bonds::Bindings {
            count: &particles.count.count,
            limit: particles.limit,
            id: particles.id,
            partner: &self.front.partner,
            rest_length_m: &self.front.rest_length_m,
            degree: &self.front.degree,
            verdict: &self.verdict,
            position: particles.position,
        };
        let params = mark_stretched_bonds::Params { table: self.table(), max_bonds, break_ratio };
        recorder.dispatch(&self.mark_stretched, Threads::Counted(particles.count), bindings, params);
        self.record_remove(recorder, particles.count)
    }

    /// Records the removal of bonds that an end does not keep, as [`Self::verdict`] has it: a kernel that includes
    /// `bonds/mark_broken_bonds.glsl` has written that for all of `count`.
    ///
    /// # Errors
    /// More particles than there are rows for.
    pub fn record_remove(&mut self, recorder: &mut Recorder, count: &DeviceCount) -> Result<(), KernelError> {
        self.check_count(count)?;
        recorder.fill(&self.broken, 0);
        let bindings = remove_bonds::Bindings {
            count: &count.count,
            verdict: &self.verdict,
            partner: &self.front.partner,
            rest_length_m: &self.front.rest_length_m,
            state: &self.front.state,
            degree: &self.front.degree,
            kept_partner: &self.back.partner,
            kept_rest_length_m: &self.back.rest_length_m,
            kept_state: &self.back.state,
            kept_degree: &self.back.degree,
            broken: &self.broken,
        };
        let params = remove_bonds::Params { table: self.table() };
        recorder.dispatch(&self.remove, Threads::Counted(count), bindings, params);
        std::mem::swap(&mut self.front, &mut self.back);
        Ok(())
    }

    /// Records the move of rows after particles were put in a new order: the particle at place `i` below `count` came from
    /// `order[i]`, or was not here before if that is [`INVALID_INDEX`] or any other place past the capacity. Particles that
    /// no place came from have left, and their bonds with them.
    ///
    /// # Errors
    /// More particles than there are rows for, or an order shorter than the count's capacity.
    pub fn record_remap(
        &mut self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        order: &Buffer<u32>,
    ) -> Result<(), KernelError> {
        self.check_count(count)?;
        check_room(PRIMITIVE, count, order)?;
        recorder.fill(&self.new_place, INVALID_INDEX);
        let bindings = invert_order::Bindings { count: &count.count, order, new_place: &self.new_place };
        recorder.dispatch(&self.invert, Threads::Counted(count), bindings, ());
        let bindings = remap_bonds::Bindings {
            count: &count.count,
            order,
            new_place: &self.new_place,
            partner: &self.front.partner,
            rest_length_m: &self.front.rest_length_m,
            state: &self.front.state,
            degree: &self.front.degree,
            moved_partner: &self.back.partner,
            moved_rest_length_m: &self.back.rest_length_m,
            moved_state: &self.back.state,
            moved_degree: &self.back.degree,
        };
        let params = remap_bonds::Params { table: self.table() };
        recorder.dispatch(&self.remap, Threads::Counted(count), bindings, params);
        std::mem::swap(&mut self.front, &mut self.back);
        Ok(())
    }

    /// Records the counting of bonds and of eligible pairs without one, into [`Self::counts`]. It costs a search of
    /// neighbours.
    ///
    /// # Errors
    /// As [`Self::record_build`], but for rounds.
    pub fn record_count(
        &self,
        recorder: &mut Recorder,
        (grid, sorted_keys): (&UniformGrid, &Buffer<u32>),
        particles: BondedParticles<'_>,
        search: &BondSearch,
    ) -> Result<(), KernelError> {
        let terms = self.terms(grid, search)?;
        self.check_particles(&particles)?;
        check_room(PRIMITIVE, particles.count, sorted_keys)?;
        recorder.fill(&self.counts, 0);
        let bindings = count_bonds::Bindings {
            count: &particles.count.count,
            key: sorted_keys,
            cell_start: grid.cell_start(),
            position: particles.position,
            limit: particles.limit,
            partner: &self.front.partner,
            degree: &self.front.degree,
            counts: &self.counts,
        };
        let params = count_bonds::Params { grid: grid.grid(), terms };
        recorder.dispatch(&self.count, Threads::Counted(particles.count), bindings, params);
        Ok(())
    }

    /// Records the counting of faults in rows into [`Self::faults`]: what [`BOND_FAULTS`] names, which none of the other
    /// operations leaves behind. A rest length above `max_rest_length_m` is one, too.
    ///
    /// # Errors
    /// As [`Self::record_remap`].
    pub fn record_check(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        limit: &Buffer<u32>,
        max_bonds: u32,
        max_rest_length_m: f32,
    ) -> Result<(), KernelError> {
        self.check_count(count)?;
        check_room(PRIMITIVE, count, limit)?;
        recorder.fill(&self.faults, 0);
        let bindings = check_bonds::Bindings {
            count: &count.count,
            limit,
            partner: &self.front.partner,
            rest_length_m: &self.front.rest_length_m,
            state: &self.front.state,
            degree: &self.front.degree,
            faults: &self.faults,
        };
        let params = check_bonds::Params { table: self.table(), max_bonds, max_rest_length_m };
        recorder.dispatch(&self.check, Threads::Fixed(self.extent.column()), bindings, params);
        Ok(())
    }

    /// A search as kernels take it, checked.
    fn terms(&self, grid: &UniformGrid, search: &BondSearch) -> Result<BondTerms, KernelError> {
        let BondSearch { radius_m, max_bonds } = *search;
        if !(radius_m.is_finite() && radius_m > 0.0) {
            return Err(problem(format!("radius {radius_m} m, expected a positive number")));
        }
        let cell_m = grid.grid().cell_size_m;
        if cell_m < radius_m {
            return Err(problem(format!(
                "cells of {cell_m} m, expected at least the radius of {radius_m} m"
            )));
        }
        Ok(BondTerms { table: self.table(), radius_m, max_bonds })
    }

    fn check_count(&self, count: &DeviceCount) -> Result<(), KernelError> {
        if count.capacity > self.capacity() {
            return Err(KernelError::Capacity {
                primitive: PRIMITIVE,
                object: count.count.name().to_owned(),
                found: count.capacity.into(),
                capacity: self.capacity().into(),
            });
        }
        Ok(())
    }

    fn check_particles(&self, particles: &BondedParticles<'_>) -> Result<(), KernelError> {
        self.check_count(particles.count)?;
        check_room(PRIMITIVE, particles.count, particles.position)?;
        check_room(PRIMITIVE, particles.count, particles.limit)?;
        check_room(PRIMITIVE, particles.count, particles.id)
    }
}

const PRIMITIVE: &str = "bonds";

fn problem(problem: String) -> KernelError {
    KernelError::Bonds { problem }
}

fn check_slots(slots: u32) -> Result<(), KernelError> {
    if slots == 0 || slots > MAX_SLOTS {
        return Err(problem(format!("{slots} slots a row, expected 1 to {MAX_SLOTS}")));
    }
    Ok(())
}

/// One bit a slot, in 32-bit words of which no row shares one.
fn verdict_words(extent: Extent) -> usize {
    extent.capacity as usize * extent.slots.div_ceil(32) as usize
}
