//! Bonds between pairs of particles: a table of rows that can be built, updated, broken and permuted.

mod table;

use crate::error::check_len;
use crate::kernel_set::kernel_set;
use crate::{KernelError, UniformGrid};
use frazil_shaders::bonds::{
    accept_bonds, check_bonds, claim_bonds, compact_bonds, count_bonds, count_required_slots, invert_order,
    mark_stretched_bonds, propose_bonds, remap_bonds, remove_bonds,
};
use frazil_shaders::types::{BondTable, BondTerms};
use frazil_vk::{Buffer, Device, DeviceCount, DoubleBuffer, Recorder, Threads};
use table::{Extent, Table};

pub use table::INVALID_INDEX;

/// Maximum number of rounds of a build: each has its own counter.
const MAX_ROUNDS: u32 = 256;

/// Maximum number of slots per row. A pass compares rows slot by slot, and software devices silently end a
/// thread's loops after 65 535 iterations in all; longer rows are refused instead.
const MAX_SLOTS: u32 = 240;

/// Maximum number of slots per row that the compare-and-swap builder fills: its passes search rows at both
/// ends of each pair, and a claim that a device ends part-way would leave a bond with one end.
const MAX_CLAIM_SLOTS: u32 = 64;

/// Faults that [`PairBonds::record_check`] counts, in the order of its counts.
pub const BOND_FAULTS: [&str; 8] = [
    "rows with more bonds than their limit",
    "slots whose partner is no particle, or that should be empty",
    "bonds of a particle to itself",
    "duplicate bonds in a row",
    "bonds that the other end does not have",
    "bonds with another rest length at the other end",
    "bonds with other state at the other end",
    "bonds with an end that may have none",
];

/// State word that each bond has besides its partner and rest length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BondColumn {
    /// Name of the column.
    pub name: &'static str,
    /// Unit of the values.
    pub unit: &'static str,
    /// Initial value of a new bond's word, as bits.
    pub initial: u32,
}

impl BondColumn {
    /// Makes a column of floating-point numbers.
    pub fn f32(name: &'static str, unit: &'static str, initial: f32) -> Self {
        Self { name, unit, initial: initial.to_bits() }
    }

    /// Makes a column of counts or flags.
    pub fn u32(name: &'static str, unit: &'static str, initial: u32) -> Self {
        Self { name, unit, initial }
    }
}

/// Size of a table of bonds.
#[derive(Clone, Copy, Debug)]
pub struct BondCapacity {
    /// Number of particles, one row for each.
    pub particles: u32,
    /// Maximum number of bonds per row, until [`PairBonds::grow`] adds slots.
    pub slots: u32,
}

/// Search criteria of a build: it bonds pairs whose ends both have fewer bonds than their limits and are at
/// most the radius apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BondSearch {
    /// Maximum distance in m at which a bond is made.
    pub radius_m: f32,
    /// Maximum number of bonds per particle, whatever its limit. Rows with this many slots never overflow.
    pub max_bonds: u32,
}

/// Algorithm that builds bonds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builder {
    /// Rounds of proposing and accepting, nearest first and ties by id. The result has the same bits on every
    /// run and at any workgroup or subgroup size, and the same pairs of ids in any order of particles.
    ///
    /// A round bonds at least the nearest eligible pair, if there is one. A round that makes no bond
    /// therefore ends the build with no eligible pair left, and the bonds are then those of the sequential
    /// greedy algorithm over all pairs, nearest first. Fewer rounds make a subset of these.
    Reproducible {
        /// Maximum number of rounds, 1 to 256; those after one that made no bond cost almost nothing.
        rounds: u32,
    },
    /// Atomic claims of empty slots at both ends. Order-dependent: where limits apply, the bonded pairs and
    /// their slots differ from run to run.
    ///
    /// A pass that makes no bond ends the build with no eligible pair left. A pass that makes some may leave
    /// such pairs, because a thread can find a slot claimed that is released later. Rows have at most 64
    /// slots.
    CompareAndSwap {
        /// Maximum number of passes, 1 to 256; those after one that made no bond cost almost nothing.
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

/// Particles that are bonded, in the order of a [`UniformGrid`].
#[derive(Clone, Copy, Debug)]
pub struct BondedParticles<'a> {
    /// Number of particles.
    pub count: &'a DeviceCount,
    /// Positions in m.
    pub position: &'a Buffer<[f32; 3]>,
    /// Maximum number of bonds of each particle, decided by the user's rule; a particle with limit 0 is not
    /// eligible.
    pub limit: &'a Buffer<u32>,
    /// Unique ids, which break ties.
    pub id: &'a Buffer<u32>,
}

/// Table of bonds: for each particle a row of partners, rest lengths and the user's own state, stored at both
/// ends.
///
/// Between any two recorded operations, bonds are symmetric with bit-identical rest length and state at both
/// ends, no particle is bonded to itself or twice to the same partner, and no row is longer than its slots. A
/// build raises no degree above its particle's limit; after a break none is above it.
///
/// Partners are indices into the particle order, so every permutation of the particles must be followed by
/// [`Self::record_remap`], which also handles particles that enter or leave. Rows past the count are
/// undefined.
///
/// # Rules
/// The table knows no physics; the user supplies the rules:
///
/// - the column of limits decides which particles may be bonded;
/// - kernels that include `bonds/mark_broken_bonds.glsl` or `bonds/update_bonds.glsl`, and supply one
///   function, break bonds or change their rest lengths and states. [`Self::record_break_stretched`] is such
///   a rule, and `glsl/bond_rules` has more;
/// - `bonds/xpbd.glsl` applies a bond as a compliant constraint.
///
/// # Capacity
/// Slot `s` of particle `i` is at `s · capacity + i`. The memory is 4 bytes per particle, and for each slot
/// twice 8 bytes and 4 per state column. All rows have equally many slots: threads that iterate over their
/// rows read adjacent words, no pass has to find where a row begins, and growth only appends slots.
///
/// A build that needs more slots makes no bond, and [`Self::required`] reports the required number; so do
/// later builds, until [`Self::grow`] has raised the capacity. Recording the build again then gives the same
/// bits as a table with enough slots from the start. A bond is never dropped for lack of a slot.
pub struct PairBonds {
    kernels: Kernels,
    rows: Table,
    proposal: Buffer<u32>,
    keep_mask: Buffer<u32>,
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

kernel_set! {
    struct Kernels(workgroup_size, slots) {
        propose_bonds { workgroup_size, slots },
        accept_bonds { workgroup_size },
        count_required_slots { workgroup_size },
        claim_bonds { workgroup_size },
        compact_bonds { workgroup_size },
        mark_stretched_bonds { workgroup_size },
        remove_bonds { workgroup_size },
        invert_order { workgroup_size },
        remap_bonds { workgroup_size },
        count_bonds { workgroup_size },
        check_bonds { workgroup_size },
    }
}

/// Particles to search for pairs, with the cells they are in and the search as kernels take it.
#[derive(Clone, Copy)]
struct Pairs<'a> {
    grid: &'a UniformGrid,
    sorted_keys: &'a Buffer<u32>,
    particles: BondedParticles<'a>,
    terms: BondTerms,
}

/// Makes the bindings of a kernel that searches for pairs, and reads or writes their partners.
macro_rules! pair_bindings {
    ($kernel:ident, $bonds:expr, $pairs:expr, { $($field:ident: $buffer:expr),+ $(,)? }) => {
        $kernel::Bindings {
            count: $pairs.particles.count,
            key: $pairs.sorted_keys,
            cell_start: $pairs.grid.cell_start(),
            position: $pairs.particles.position,
            limit: $pairs.particles.limit,
            partner: $bonds.rows.partner.front(),
            $($field: $buffer,)+
        }
    };
}

/// Makes the bindings of a kernel that takes whole rows: the front columns.
macro_rules! row_bindings {
    ($kernel:ident, $bonds:expr, $count:expr, { $($field:ident: $buffer:expr),* $(,)? }) => {
        $kernel::Bindings {
            count: $count,
            partner: $bonds.rows.partner.front(),
            rest_length_m: $bonds.rows.rest_length_m.front(),
            state: $bonds.rows.state.front(),
            degree: $bonds.rows.degree.front(),
            $($field: $buffer,)*
        }
    };
}

impl PairBonds {
    /// Makes empty rows. For set-up: it waits for the device.
    ///
    /// # Errors
    /// The slots are not 1 to 240; not enough memory, or more than the device can bind.
    pub fn new(device: &Device, capacity: BondCapacity, columns: &[BondColumn]) -> Result<Self, KernelError> {
        let workgroup_size = propose_bonds::Specialization::default().workgroup_size;
        Self::with_workgroup_size(device, capacity, columns, workgroup_size)
    }

    /// Makes empty rows like [`Self::new`], with another workgroup size, a power of two.
    ///
    /// # Errors
    /// Like [`Self::new`]; the device's limits do not allow the size.
    pub fn with_workgroup_size(
        device: &Device,
        BondCapacity { particles, slots }: BondCapacity,
        columns: &[BondColumn],
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        check_slots(slots)?;
        let extent = Extent { capacity: particles, slots, state_columns: columns.len() as u32 };
        let initial: Vec<u32> = columns.iter().map(|column| column.initial).collect();
        let bonds = Self {
            kernels: Kernels::new(device, workgroup_size, slots)?,
            rows: Table::new(device, extent)?,
            proposal: device.buffer("bond proposals", extent.column())?,
            keep_mask: device.buffer("bond keep masks", keep_mask_words(extent))?,
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

    /// Returns the number of rows, one per particle.
    pub fn capacity(&self) -> u32 {
        self.extent.capacity
    }

    /// Returns the number of slots per row.
    pub fn slots(&self) -> u32 {
        self.extent.slots
    }

    /// Returns the state columns of each bond.
    pub fn columns(&self) -> &[BondColumn] {
        &self.columns
    }

    /// Returns the words of the rows that a checkpoint holds, each with the name of the column. State words
    /// exist with state columns only.
    pub fn saved_columns(&self) -> Vec<(&'static str, DoubleBuffer<u32>)> {
        let Table { partner, rest_length_m, state, degree } = &self.rows;
        let all = [
            ("degree", degree.clone()),
            ("partner", partner.clone()),
            ("rest length", rest_length_m.cast()),
            ("state", state.clone()),
        ];
        all.into_iter().filter(|(_, words)| !words.front().is_empty()).collect()
    }

    /// Returns the table's size as kernels take it.
    pub fn table(&self) -> BondTable {
        let Extent { capacity, slots, state_columns } = self.extent;
        BondTable { stride: capacity, slots, state_columns }
    }

    /// Returns the partner in each slot. A break and [`Self::record_remap`] replace this buffer and the three
    /// below.
    pub fn partner(&self) -> &Buffer<u32> {
        self.rows.partner.front()
    }

    /// Returns the rest length in m of the bond in each slot, initially the distance at which it was made.
    /// Where the slot is empty, it is 0 after a remap or a removal.
    pub fn rest_length_m(&self) -> &Buffer<f32> {
        self.rows.rest_length_m.front()
    }

    /// Returns the state words, one column after another, each as long as [`Self::partner`].
    pub fn state(&self) -> &Buffer<u32> {
        self.rows.state.front()
    }

    /// Returns the number of occupied slots in each row.
    pub fn degree(&self) -> &Buffer<u32> {
        self.rows.degree.front()
    }

    /// Returns a bit per bond that is set if the particle keeps it, written by a user's rule: see
    /// [`Self::record_remove`].
    pub fn keep_mask(&self) -> &Buffer<u32> {
        &self.keep_mask
    }

    /// Returns one word: the number of slots that a build required, if it exceeded the capacity, else 0. A
    /// [`frazil_vk::ReadbackRing`] reads it without a wait. It keeps the maximum until [`Self::grow`].
    pub fn required(&self) -> &Buffer<u32> {
        &self.required
    }

    /// Returns the number of bonds that each round or pass of the last build made. A 0 means that the build
    /// was complete before its last round.
    pub fn progress(&self) -> &Buffer<u32> {
        &self.progress
    }

    /// Returns the number of bonds that the last break removed.
    pub fn broken(&self) -> &Buffer<u32> {
        &self.broken
    }

    /// Returns the results of the last [`Self::record_count`]: bonds; unbonded eligible pairs of which an end
    /// is at its limit; unbonded eligible pairs whose ends are below their limits.
    pub fn counts(&self) -> &Buffer<u32> {
        &self.counts
    }

    /// Returns the number of faults of each kind of [`BOND_FAULTS`] that the last [`Self::record_check`]
    /// found.
    pub fn faults(&self) -> &Buffer<u32> {
        &self.faults
    }

    /// Returns an error if a build has overflowed since the slots last grew. It waits for the device.
    ///
    /// # Errors
    /// [`KernelError::BondOverflow`] with the required slots; the device fails.
    pub fn check_capacity(&self, device: &Device) -> Result<(), KernelError> {
        match device.download(&self.required, 1)?[0] {
            0 => Ok(()),
            required => Err(KernelError::BondOverflow { required, slots: self.slots() }),
        }
    }

    /// Raises the number of slots per row to `slots`, if it is lower, and keeps the bonds. For set-up: it
    /// waits for the device.
    ///
    /// # Errors
    /// More than 240 slots; not enough memory, or more than the device can bind.
    pub fn grow(&mut self, device: &Device, slots: u32) -> Result<(), KernelError> {
        if slots > self.slots() {
            check_slots(slots)?;
            self.add_slots(device, slots)?;
        }
        Ok(device.upload(&self.required, &[0])?)
    }

    fn add_slots(&mut self, device: &Device, slots: u32) -> Result<(), KernelError> {
        let extent = Extent { slots, ..self.extent };
        self.kernels = Kernels::new(device, self.workgroup_size, slots)?;
        self.rows = self.rows.grown(device, self.extent, extent)?;
        self.proposal = device.buffer("bond proposals", extent.column())?;
        self.keep_mask = device.buffer("bond keep masks", keep_mask_words(extent))?;
        self.extent = extent;
        Ok(())
    }

    /// Builds bonds, and on overflow grows the rows and builds again. For set-up: it waits for the device.
    ///
    /// # Errors
    /// Like [`Self::record_build`] and [`Self::grow`].
    pub fn build(
        &mut self,
        device: &Device,
        grid: &UniformGrid,
        sorted_keys: &Buffer<u32>,
        particles: BondedParticles<'_>,
        builder: Builder,
        search: &BondSearch,
    ) -> Result<(), KernelError> {
        loop {
            let mut recorder = device.recorder()?;
            self.record_build(&mut recorder, grid, sorted_keys, particles, builder, search)?;
            device.submit(recorder)?.wait()?;
            match self.check_capacity(device) {
                Err(KernelError::BondOverflow { required, .. }) => self.grow(device, required)?,
                checked => return checked,
            }
        }
    }

    /// Records the removal of all bonds.
    pub fn record_clear(&self, recorder: &mut Recorder) {
        recorder.fill(self.rows.partner.front(), INVALID_INDEX);
        recorder.fill(self.rows.rest_length_m.front(), 0);
        recorder.fill(self.rows.state.front(), 0);
        recorder.fill(self.rows.degree.front(), 0);
    }

    /// Records the bonding of eligible pairs that have no bond yet. Existing bonds stay and count towards the
    /// limits.
    ///
    /// `sorted_keys` are the cells of the particles, and `grid` knows their ranges. A build that overflows
    /// makes no bond.
    ///
    /// # Errors
    /// The search is invalid; the grid's cells are smaller than the radius; the rounds are not 1 to 256; rows
    /// of more than 64 slots with [`Builder::CompareAndSwap`]; more particles than rows, or a column shorter
    /// than the count's capacity.
    pub fn record_build(
        &self,
        recorder: &mut Recorder,
        grid: &UniformGrid,
        sorted_keys: &Buffer<u32>,
        particles: BondedParticles<'_>,
        builder: Builder,
        search: &BondSearch,
    ) -> Result<(), KernelError> {
        let terms = self.terms(grid, search)?;
        self.check_particles(&particles)?;
        check_len(PRIMITIVE, particles.count, sorted_keys)?;
        let rounds = builder.rounds();
        if rounds == 0 || rounds > MAX_ROUNDS {
            return Err(problem(format!("{rounds} rounds, expected 1 to {MAX_ROUNDS}")));
        }
        let slots = self.slots();
        if matches!(builder, Builder::CompareAndSwap { .. }) && slots > MAX_CLAIM_SLOTS {
            return Err(problem(format!(
                "rows of {slots} slots, expected at most {MAX_CLAIM_SLOTS} with compare-and-swap; the \
                 reproducible builder takes longer ones"
            )));
        }
        let pairs = Pairs { grid, sorted_keys, particles, terms };
        if search.max_bonds > slots {
            self.record_required(recorder, pairs);
        }
        recorder.fill(&self.progress, 0);
        for round in 0..rounds {
            match builder {
                Builder::Reproducible { .. } => self.record_round(recorder, pairs, round),
                Builder::CompareAndSwap { .. } => self.record_pass(recorder, pairs, round),
            }
        }
        if let Builder::CompareAndSwap { .. } = builder {
            let bindings = row_bindings!(compact_bonds, self, particles.count, {});
            let params = compact_bonds::Params { table: terms.table };
            recorder.dispatch(
                &self.kernels.compact_bonds,
                Threads::Counted(particles.count),
                bindings,
                params,
            );
        }
        Ok(())
    }

    fn record_required(&self, recorder: &mut Recorder, pairs: Pairs<'_>) {
        let bindings = pair_bindings!(count_required_slots, self, pairs, {
            degree: self.rows.degree.front(),
            required: &self.required,
        });
        let params = count_required_slots::Params { grid: pairs.grid.grid(), terms: pairs.terms };
        let particles = Threads::Counted(pairs.particles.count);
        recorder.dispatch(&self.kernels.count_required_slots, particles, bindings, params);
    }

    fn record_round(&self, recorder: &mut Recorder, pairs: Pairs<'_>, round: u32) {
        let Pairs { grid, particles, terms, .. } = pairs;
        let bindings = pair_bindings!(propose_bonds, self, pairs, {
            id: particles.id,
            required: &self.required,
            degree: self.rows.degree.front(),
            progress: &self.progress,
            proposal: &self.proposal,
        });
        let params = propose_bonds::Params { grid: grid.grid(), terms, round };
        let threads = Threads::Counted(particles.count);
        recorder.dispatch(&self.kernels.propose_bonds, threads, bindings, params);
        let bindings = row_bindings!(accept_bonds, self, particles.count, {
            position: particles.position,
            proposal: &self.proposal,
            initial_state: &self.initial_state,
            required: &self.required,
            progress: &self.progress,
        });
        let params = accept_bonds::Params { terms, round };
        recorder.dispatch(&self.kernels.accept_bonds, threads, bindings, params);
    }

    fn record_pass(&self, recorder: &mut Recorder, pairs: Pairs<'_>, round: u32) {
        let bindings = pair_bindings!(claim_bonds, self, pairs, {
            initial_state: &self.initial_state,
            required: &self.required,
            rest_length_m: self.rows.rest_length_m.front(),
            state: self.rows.state.front(),
            progress: &self.progress,
        });
        let params = claim_bonds::Params { grid: pairs.grid.grid(), terms: pairs.terms, round };
        let particles = Threads::Counted(pairs.particles.count);
        recorder.dispatch(&self.kernels.claim_bonds, particles, bindings, params);
    }

    /// Records the breaking of bonds that are longer than `break_ratio` (at least 1) times their rest length,
    /// of bonds with an end whose limit is 0, and, where a particle has more bonds than its limit or
    /// `max_bonds`, of the excess bonds of either end, longest rest length first.
    ///
    /// A particle that loses bonds to its limit does not regain one whose other end loses another; the next
    /// build may add one.
    ///
    /// # Errors
    /// The ratio is not a number of at least 1; more particles than rows, or a column shorter than the
    /// count's capacity.
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
            count: particles.count,
            limit: particles.limit,
            id: particles.id,
            partner: self.rows.partner.front(),
            rest_length_m: self.rows.rest_length_m.front(),
            degree: self.rows.degree.front(),
            keep_mask: &self.keep_mask,
            position: particles.position,
        };
        let params = mark_stretched_bonds::Params { table: self.table(), max_bonds, break_ratio };
        recorder.dispatch(
            &self.kernels.mark_stretched_bonds,
            Threads::Counted(particles.count),
            bindings,
            params,
        );
        self.record_remove(recorder, particles.count)
    }

    /// Records the removal of bonds that an end rejects by [`Self::keep_mask`], which a kernel
    /// that includes `bonds/mark_broken_bonds.glsl` has written for all of `count`.
    ///
    /// # Errors
    /// More particles than rows.
    pub fn record_remove(&mut self, recorder: &mut Recorder, count: &DeviceCount) -> Result<(), KernelError> {
        self.check_count(count)?;
        recorder.fill(&self.broken, 0);
        let bindings = row_bindings!(remove_bonds, self, count, {
            keep_mask: &self.keep_mask,
            kept_partner: self.rows.partner.back(),
            kept_rest_length_m: self.rows.rest_length_m.back(),
            kept_state: self.rows.state.back(),
            kept_degree: self.rows.degree.back(),
            broken: &self.broken,
        });
        let params = remove_bonds::Params { table: self.table() };
        recorder.dispatch_counted(&self.kernels.remove_bonds, bindings, params);
        self.rows.swap();
        Ok(())
    }

    /// Records the permutation of rows after the particles were reordered: the particle at index `i` below
    /// `count` came from `order[i]`, or is new if that is [`INVALID_INDEX`] or any other index past the
    /// capacity. Particles that no entry refers to have left, and their bonds with them.
    ///
    /// # Errors
    /// More particles than rows, or an order shorter than the count's capacity.
    pub fn record_remap(
        &mut self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        order: &Buffer<u32>,
    ) -> Result<(), KernelError> {
        self.check_count(count)?;
        check_len(PRIMITIVE, count, order)?;
        recorder.fill(&self.new_place, INVALID_INDEX);
        let bindings = invert_order::Bindings { count, order, new_place: &self.new_place };
        recorder.dispatch_counted(&self.kernels.invert_order, bindings, ());
        let bindings = row_bindings!(remap_bonds, self, count, {
            order: order,
            new_place: &self.new_place,
            moved_partner: self.rows.partner.back(),
            moved_rest_length_m: self.rows.rest_length_m.back(),
            moved_state: self.rows.state.back(),
            moved_degree: self.rows.degree.back(),
        });
        let params = remap_bonds::Params { table: self.table() };
        recorder.dispatch_counted(&self.kernels.remap_bonds, bindings, params);
        self.rows.swap();
        Ok(())
    }

    /// Records the counting of bonds and of unbonded eligible pairs into [`Self::counts`]. It costs a
    /// neighbour search.
    ///
    /// # Errors
    /// Like [`Self::record_build`], except for rounds.
    pub fn record_count(
        &self,
        recorder: &mut Recorder,
        grid: &UniformGrid,
        sorted_keys: &Buffer<u32>,
        particles: BondedParticles<'_>,
        search: &BondSearch,
    ) -> Result<(), KernelError> {
        let terms = self.terms(grid, search)?;
        self.check_particles(&particles)?;
        check_len(PRIMITIVE, particles.count, sorted_keys)?;
        recorder.fill(&self.counts, 0);
        let pairs = Pairs { grid, sorted_keys, particles, terms };
        let bindings = pair_bindings!(count_bonds, self, pairs, {
            degree: self.rows.degree.front(),
            counts: &self.counts,
        });
        let params = count_bonds::Params { grid: grid.grid(), terms };
        recorder.dispatch_counted(&self.kernels.count_bonds, bindings, params);
        Ok(())
    }

    /// Records the counting of faults in rows into [`Self::faults`]: the kinds that [`BOND_FAULTS`] names,
    /// which no other operation leaves behind. A rest length above `max_rest_length_m` is one, too.
    ///
    /// # Errors
    /// Like [`Self::record_remap`].
    pub fn record_check(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        limit: &Buffer<u32>,
        max_bonds: u32,
        max_rest_length_m: f32,
    ) -> Result<(), KernelError> {
        self.check_count(count)?;
        check_len(PRIMITIVE, count, limit)?;
        recorder.fill(&self.faults, 0);
        let bindings = row_bindings!(check_bonds, self, count, { limit: limit, faults: &self.faults });
        let params = check_bonds::Params { table: self.table(), max_bonds, max_rest_length_m };
        recorder.dispatch(&self.kernels.check_bonds, Threads::Fixed(self.extent.column()), bindings, params);
        Ok(())
    }

    /// Checks a search and returns it as kernels take it.
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
        check_len(PRIMITIVE, particles.count, particles.position)?;
        check_len(PRIMITIVE, particles.count, particles.limit)?;
        check_len(PRIMITIVE, particles.count, particles.id)
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

/// Returns the number of 32-bit words of the keep masks: one bit per slot, no word shared by two rows.
fn keep_mask_words(extent: Extent) -> usize {
    extent.capacity as usize * extent.slots.div_ceil(32) as usize
}
