//! Interlinks: bonds between solid particles, in records of fixed size (000 §4.1.2, §6.2.4, §7.2.3).

use crate::{KernelError, UniformGrid};
use bytemuck::Pod;
pub use frazil_shaders::common::kernel::INVALID_INDEX;
use frazil_shaders::interlinks::{
    accept_links, check_links, claim_links, count_links, drop_links, invert_order, judge_links, move_links,
    propose_links, settle_links,
};
use frazil_shaders::types::LinkTerms;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// The most slots a record can have: a verdict about a record is one bit a slot.
const MOST_SLOTS: u32 = 32;

/// The most rounds a build can have: each has its own counter.
const MOST_ROUNDS: u32 = 256;

/// What [`Interlinks::record_check`] looks for, in the order of its counts.
pub const LINK_FAULTS: [&str; 7] = [
    "records with more links than their limit",
    "slots whose partner is no particle, or that should be empty",
    "links of a particle to itself",
    "links that stand twice in a record",
    "links that the other end does not have",
    "links with another rest length at the other end",
    "links with an end that is too warm",
];

/// When particles are linked, and when links break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRule {
    /// h in m: the longest distance over which a link is made.
    pub radius_m: f32,
    /// T_link in °C: a particle warmer than this has no links.
    pub link_temperature_c: f32,
    /// How many links a particle may have.
    pub limit: LinkLimit,
    /// A link breaks when it is longer than this times its length when it was made; at least 1.
    pub break_ratio: f32,
}

/// How many links a particle no warmer than T_link may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkLimit {
    /// This many, at any temperature.
    Constant(u32),
    /// round(n_max · (T − T_freeze)/(T_homo − T_freeze)), clamped to 0 … n_max (000 eq 6.8, whose printed form rounds the
    /// quotient before it multiplies and so knows 0 and n_max only).
    Dynamic {
        /// T_homo in °C, below which everything freezes at once: n_max links.
        homogeneous_c: f32,
        /// T_freeze in °C: no links.
        freezing_c: f32,
    },
}

/// How links are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builder {
    /// Rounds of proposing and accepting, nearest first and ties by id. The same bits on every run, at any workgroup or
    /// subgroup size, and the same pairs of ids whatever the order of particles.
    ///
    /// As long as an eligible pair with room at both ends is left, a round links at least one: the nearest. A round that links
    /// none therefore ends the build with none left, and the links are then those that going through all pairs once, nearest
    /// first, would make. Fewer rounds make a part of these.
    Reproducible {
        /// The most rounds, 1 to 256; those after one that linked nothing cost next to nothing.
        rounds: u32,
    },
    /// Atomic claims of free slots at both ends. Order-dependent: which pairs are linked, and in which slots, differs from run
    /// to run where limits bind.
    ///
    /// A pass that links nothing ends the build with no eligible pair left that has room at both ends. A pass that links
    /// something may leave such pairs, because it can meet a slot that is claimed and then given back.
    CompareAndSwap {
        /// The most passes, 1 to 256; those after one that linked nothing cost next to nothing.
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

/// The solid particles that are linked, in the order of a [`UniformGrid`].
#[derive(Clone, Copy, Debug)]
pub struct LinkedParticles<'a> {
    /// How many there are.
    pub count: &'a DeviceCount,
    /// Their positions in m.
    pub position: &'a Buffer<[f32; 3]>,
    /// Their temperatures in °C.
    pub temperature_c: &'a Buffer<f32>,
    /// Their numbers for life, all different: what ties are broken by.
    pub id: &'a Buffer<u32>,
}

/// The records, in two tables: passes that move records write the back and swap.
struct Table {
    partner: Buffer<u32>,
    rest_length_m: Buffer<f32>,
    degree: Buffer<u32>,
}

impl Table {
    fn new(device: &Device, capacity: u32, n_max: u32, side: &str) -> Result<Self, KernelError> {
        let slots = capacity as usize * n_max as usize;
        Ok(Self {
            partner: device.buffer(&format!("link partner{side}"), slots)?,
            rest_length_m: device.buffer(&format!("link rest length{side}"), slots)?,
            degree: device.buffer(&format!("link degree{side}"), capacity as usize)?,
        })
    }
}

/// A record of `n_max` slots for each particle. Slot `s` of particle `i` stands at `s · capacity + i`; occupied slots come first,
/// the others hold [`INVALID_INDEX`].
///
/// Between any two of the recorded operations, links are symmetric with the same bits of rest length at both ends, no particle is
/// linked to itself or to another one twice, and no degree is above n_max. After a build no degree has been raised above its
/// particle's limit; after a break none is above it.
///
/// Partners are places in the particle order, so that every permutation of the particles must be followed by
/// [`Self::record_remap`]; it is also how particles enter and leave. The records of places past the count are undefined.
pub struct Interlinks {
    propose: Kernel<propose_links::Interface>,
    accept: Kernel<accept_links::Interface>,
    claim: Kernel<claim_links::Interface>,
    settle: Kernel<settle_links::Interface>,
    judge: Kernel<judge_links::Interface>,
    drop: Kernel<drop_links::Interface>,
    invert: Kernel<invert_order::Interface>,
    shift: Kernel<move_links::Interface>,
    tally: Kernel<count_links::Interface>,
    check: Kernel<check_links::Interface>,
    front: Table,
    back: Table,
    proposal: Buffer<u32>,
    verdict: Buffer<u32>,
    new_place: Buffer<u32>,
    progress: Buffer<u32>,
    broken: Buffer<u32>,
    census: Buffer<u32>,
    faults: Buffer<u32>,
    capacity: u32,
    n_max: u32,
}

impl Interlinks {
    /// Makes empty records of `n_max` slots for up to `capacity` particles. Set-up: it waits for the device.
    ///
    /// # Errors
    /// `n_max` is not 1 to 32; no memory, or more than the device can bind.
    pub fn new(device: &Device, capacity: u32, n_max: u32) -> Result<Self, KernelError> {
        let workgroup_size = propose_links::Specialization::default().workgroup_size;
        Self::with_workgroup_size(device, capacity, n_max, workgroup_size)
    }

    /// As [`Self::new`], with another workgroup size, a power of two.
    ///
    /// # Errors
    /// As [`Self::new`]; the device's limits do not allow the size.
    pub fn with_workgroup_size(
        device: &Device,
        capacity: u32,
        n_max: u32,
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        if n_max == 0 || n_max > MOST_SLOTS {
            return Err(problem(format!("{n_max} slots a particle, expected 1 to {MOST_SLOTS}")));
        }
        // One macro for nine kernels whose specialisations are nine types with the same fields.
        macro_rules! kernel {
            ($module:ident) => {
                Kernel::specialized(device, &$module::Specialization { workgroup_size, n_max })?
            };
        }
        let interlinks = Self {
            propose: kernel!(propose_links),
            accept: kernel!(accept_links),
            claim: kernel!(claim_links),
            settle: kernel!(settle_links),
            judge: kernel!(judge_links),
            drop: kernel!(drop_links),
            invert: Kernel::specialized(device, &invert_order::Specialization { workgroup_size })?,
            shift: kernel!(move_links),
            tally: kernel!(count_links),
            check: kernel!(check_links),
            front: Table::new(device, capacity, n_max, "")?,
            back: Table::new(device, capacity, n_max, " (back)")?,
            proposal: device.buffer("link proposals", capacity as usize * n_max as usize)?,
            verdict: device.buffer("link verdicts", capacity as usize)?,
            new_place: device.buffer("new place", capacity as usize)?,
            progress: device.buffer_from("links made by round", &[0; MOST_ROUNDS as usize])?,
            broken: device.buffer_from("links broken", &[0])?,
            census: device.buffer_from("link census", &[0; 3])?,
            faults: device.buffer_from("link faults", &[0; LINK_FAULTS.len()])?,
            capacity,
            n_max,
        };
        let mut recorder = device.recorder()?;
        interlinks.record_clear(&mut recorder);
        device.submit(recorder)?.wait()?;
        Ok(interlinks)
    }

    /// How many particles there are records for.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Slots a record.
    pub fn n_max(&self) -> u32 {
        self.n_max
    }

    /// The partner in each slot. Another buffer after [`Self::record_break`] and [`Self::record_remap`], as the two below.
    pub fn partner(&self) -> &Buffer<u32> {
        &self.front.partner
    }

    /// The distance in m at which the link in each slot was made; undefined where the slot is empty.
    pub fn rest_length_m(&self) -> &Buffer<f32> {
        &self.front.rest_length_m
    }

    /// How many slots of each record are occupied.
    pub fn degree(&self) -> &Buffer<u32> {
        &self.front.degree
    }

    /// Links that each round or pass of the last build made. A 0 says that the build was finished before its rounds were.
    pub fn progress(&self) -> &Buffer<u32> {
        &self.progress
    }

    /// How many links the last break broke.
    pub fn broken(&self) -> &Buffer<u32> {
        &self.broken
    }

    /// What the last [`Self::record_census`] counted: links; eligible pairs without one of which an end has no room; eligible
    /// pairs without one that have room at both ends.
    pub fn census(&self) -> &Buffer<u32> {
        &self.census
    }

    /// Records: no particle has a link.
    pub fn record_clear(&self, recorder: &mut Recorder) {
        recorder.fill(&self.front.partner, INVALID_INDEX);
        recorder.fill(&self.front.degree, 0);
    }

    /// Records the making of links between eligible pairs that have none: both ends no warmer than T_link and at most h apart
    /// (000 eq 6.7), with room at both. Existing links stay and count towards the limits.
    ///
    /// `sorted_keys` are the cells of the particles, and `grid` knows their ranges.
    ///
    /// # Errors
    /// The rule cannot be; the grid's cells are smaller than h; the rounds are not 1 to 256; more particles than there are records
    /// for, or a column shorter than the count's capacity.
    pub fn record_build(
        &self,
        recorder: &mut Recorder,
        grid: &UniformGrid,
        sorted_keys: &Buffer<u32>,
        particles: LinkedParticles<'_>,
        builder: Builder,
        rule: &LinkRule,
    ) -> Result<(), KernelError> {
        let terms = self.terms(rule)?;
        self.check_grid(grid, rule)?;
        self.check_particles(&particles)?;
        check_room(sorted_keys, particles.count)?;
        let rounds = builder.rounds();
        if rounds == 0 || rounds > MOST_ROUNDS {
            return Err(problem(format!("{rounds} rounds, expected 1 to {MOST_ROUNDS}")));
        }
        recorder.fill(&self.progress, 0);
        for round in 0..rounds {
            match builder {
                Builder::Reproducible { .. } => {
                    self.record_round(recorder, grid, sorted_keys, particles, terms, round);
                }
                Builder::CompareAndSwap { .. } => {
                    let bindings = claim_links::Bindings {
                        count: &particles.count.count,
                        key: sorted_keys,
                        cell_start: grid.cell_start(),
                        position: particles.position,
                        temperature: particles.temperature_c,
                        partner: &self.front.partner,
                        rest_length_m: &self.front.rest_length_m,
                        progress: &self.progress,
                    };
                    let params = claim_links::Params { grid: grid.grid(), terms, round };
                    recorder.dispatch(&self.claim, Threads::Counted(particles.count), bindings, params);
                }
            }
        }
        if let Builder::CompareAndSwap { .. } = builder {
            let bindings = settle_links::Bindings {
                count: &particles.count.count,
                partner: &self.front.partner,
                rest_length_m: &self.front.rest_length_m,
                degree: &self.front.degree,
            };
            let params = settle_links::Params { terms };
            recorder.dispatch(&self.settle, Threads::Counted(particles.count), bindings, params);
        }
        Ok(())
    }

    fn record_round(
        &self,
        recorder: &mut Recorder,
        grid: &UniformGrid,
        sorted_keys: &Buffer<u32>,
        particles: LinkedParticles<'_>,
        terms: LinkTerms,
        round: u32,
    ) {
        let bindings = propose_links::Bindings {
            count: &particles.count.count,
            key: sorted_keys,
            cell_start: grid.cell_start(),
            position: particles.position,
            temperature: particles.temperature_c,
            id: particles.id,
            partner: &self.front.partner,
            degree: &self.front.degree,
            progress: &self.progress,
            proposal: &self.proposal,
        };
        let params = propose_links::Params { grid: grid.grid(), terms, round };
        recorder.dispatch(&self.propose, Threads::Counted(particles.count), bindings, params);
        let bindings = accept_links::Bindings {
            count: &particles.count.count,
            position: particles.position,
            proposal: &self.proposal,
            partner: &self.front.partner,
            rest_length_m: &self.front.rest_length_m,
            degree: &self.front.degree,
            progress: &self.progress,
        };
        let params = accept_links::Params { terms, round };
        recorder.dispatch(&self.accept, Threads::Counted(particles.count), bindings, params);
    }

    /// Records the breaking of links: those longer than their rest length times the break ratio, those with an end warmer than
    /// T_link, and, where a particle has more than its limit, those of the longest rest length that either end has too many.
    ///
    /// A particle that gives up links for its limit does not take back one whose other end gives up another; the next build may.
    ///
    /// # Errors
    /// As [`Self::record_build`], but for grid and rounds.
    pub fn record_break(
        &mut self,
        recorder: &mut Recorder,
        particles: LinkedParticles<'_>,
        rule: &LinkRule,
    ) -> Result<(), KernelError> {
        let terms = self.terms(rule)?;
        self.check_particles(&particles)?;
        recorder.fill(&self.broken, 0);
        let bindings = judge_links::Bindings {
            count: &particles.count.count,
            position: particles.position,
            temperature: particles.temperature_c,
            id: particles.id,
            partner: &self.front.partner,
            rest_length_m: &self.front.rest_length_m,
            degree: &self.front.degree,
            verdict: &self.verdict,
        };
        let threads = Threads::Counted(particles.count);
        recorder.dispatch(&self.judge, threads, bindings, judge_links::Params { terms });
        let bindings = drop_links::Bindings {
            count: &particles.count.count,
            verdict: &self.verdict,
            partner: &self.front.partner,
            rest_length_m: &self.front.rest_length_m,
            degree: &self.front.degree,
            kept_partner: &self.back.partner,
            kept_rest_length_m: &self.back.rest_length_m,
            kept_degree: &self.back.degree,
            broken: &self.broken,
        };
        recorder.dispatch(&self.drop, threads, bindings, drop_links::Params { terms });
        std::mem::swap(&mut self.front, &mut self.back);
        Ok(())
    }

    /// Records the move of records after particles were put in a new order: the particle at place `i` below `count` came from
    /// `order[i]`, or was not here before if that is [`INVALID_INDEX`]. Particles that no place came from have left, and their
    /// links with them.
    ///
    /// # Errors
    /// More particles than there are records for, or an order shorter than the count's capacity.
    pub fn record_remap(
        &mut self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        order: &Buffer<u32>,
    ) -> Result<(), KernelError> {
        self.check_count(count)?;
        check_room(order, count)?;
        recorder.fill(&self.new_place, INVALID_INDEX);
        let bindings = invert_order::Bindings { count: &count.count, order, new_place: &self.new_place };
        recorder.dispatch(&self.invert, Threads::Counted(count), bindings, ());
        let bindings = move_links::Bindings {
            count: &count.count,
            order,
            new_place: &self.new_place,
            partner: &self.front.partner,
            rest_length_m: &self.front.rest_length_m,
            degree: &self.front.degree,
            moved_partner: &self.back.partner,
            moved_rest_length_m: &self.back.rest_length_m,
            moved_degree: &self.back.degree,
        };
        let terms = LinkTerms { stride: self.capacity, ..bytemuck::Zeroable::zeroed() };
        recorder.dispatch(&self.shift, Threads::Counted(count), bindings, move_links::Params { terms });
        std::mem::swap(&mut self.front, &mut self.back);
        Ok(())
    }

    /// Records the counting of links and of eligible pairs without one, into [`Self::census`]. It costs a search of neighbours.
    ///
    /// # Errors
    /// As [`Self::record_build`], but for rounds.
    pub fn record_census(
        &self,
        recorder: &mut Recorder,
        grid: &UniformGrid,
        sorted_keys: &Buffer<u32>,
        particles: LinkedParticles<'_>,
        rule: &LinkRule,
    ) -> Result<(), KernelError> {
        let terms = self.terms(rule)?;
        self.check_grid(grid, rule)?;
        self.check_particles(&particles)?;
        check_room(sorted_keys, particles.count)?;
        recorder.fill(&self.census, 0);
        let bindings = count_links::Bindings {
            count: &particles.count.count,
            key: sorted_keys,
            cell_start: grid.cell_start(),
            position: particles.position,
            temperature: particles.temperature_c,
            partner: &self.front.partner,
            degree: &self.front.degree,
            census: &self.census,
        };
        let params = count_links::Params { grid: grid.grid(), terms };
        recorder.dispatch(&self.tally, Threads::Counted(particles.count), bindings, params);
        Ok(())
    }

    /// Records the counting of faults in the records into [`Self::faults`]: what [`LINK_FAULTS`] names, which none of the other
    /// operations leaves behind.
    ///
    /// # Errors
    /// As [`Self::record_build`], but for grid and rounds.
    pub fn record_check(
        &self,
        recorder: &mut Recorder,
        particles: LinkedParticles<'_>,
        rule: &LinkRule,
    ) -> Result<(), KernelError> {
        let terms = self.terms(rule)?;
        self.check_particles(&particles)?;
        recorder.fill(&self.faults, 0);
        let bindings = check_links::Bindings {
            count: &particles.count.count,
            temperature: particles.temperature_c,
            partner: &self.front.partner,
            rest_length_m: &self.front.rest_length_m,
            degree: &self.front.degree,
            faults: &self.faults,
        };
        recorder.dispatch(
            &self.check,
            Threads::Counted(particles.count),
            bindings,
            check_links::Params { terms },
        );
        Ok(())
    }

    /// How many faults of each kind of [`LINK_FAULTS`] the last [`Self::record_check`] found.
    pub fn faults(&self) -> &Buffer<u32> {
        &self.faults
    }

    /// The rule as kernels take it, checked.
    fn terms(&self, rule: &LinkRule) -> Result<LinkTerms, KernelError> {
        if !(rule.radius_m.is_finite() && rule.radius_m > 0.0) {
            return Err(problem(format!("radius {} m, expected a positive number", rule.radius_m)));
        }
        if rule.link_temperature_c.is_nan() {
            return Err(problem("linking temperature NaN °C, expected a number".to_owned()));
        }
        if !(rule.break_ratio.is_finite() && rule.break_ratio >= 1.0) {
            return Err(problem(format!(
                "break ratio {}, expected a number of at least 1",
                rule.break_ratio
            )));
        }
        let (freeze_temperature_c, freeze_span_c, links_per_c, links_at_freezing) = match rule.limit {
            LinkLimit::Constant(links) if links > self.n_max => {
                return Err(problem(format!("{links} links a particle, records hold {}", self.n_max)));
            }
            LinkLimit::Constant(links) => (0.0, 0.0, 0.0, links),
            LinkLimit::Dynamic { homogeneous_c, freezing_c } => {
                let span_c = freezing_c - homogeneous_c;
                if !(span_c.is_finite() && span_c > 0.0) {
                    return Err(problem(format!(
                        "homogeneous freezing at {homogeneous_c} °C and freezing at {freezing_c} °C, expected finite \
                         temperatures and the first below the second"
                    )));
                }
                (freezing_c, span_c, self.n_max as f32 / span_c, 0)
            }
        };
        Ok(LinkTerms {
            radius_m: rule.radius_m,
            link_temperature_c: rule.link_temperature_c,
            freeze_temperature_c,
            freeze_span_c,
            links_per_c,
            links_at_freezing,
            break_ratio: rule.break_ratio,
            stride: self.capacity,
        })
    }

    fn check_grid(&self, grid: &UniformGrid, rule: &LinkRule) -> Result<(), KernelError> {
        let cell_m = grid.grid().cell_size_m;
        if cell_m < rule.radius_m {
            return Err(problem(format!(
                "cells of {cell_m} m, expected at least the radius of {} m",
                rule.radius_m
            )));
        }
        Ok(())
    }

    fn check_count(&self, count: &DeviceCount) -> Result<(), KernelError> {
        if count.capacity > self.capacity {
            return Err(KernelError::Capacity {
                primitive: PRIMITIVE,
                object: count.count.name().to_owned(),
                found: count.capacity.into(),
                capacity: self.capacity.into(),
            });
        }
        Ok(())
    }

    fn check_particles(&self, particles: &LinkedParticles<'_>) -> Result<(), KernelError> {
        self.check_count(particles.count)?;
        check_room(particles.position, particles.count)?;
        check_room(particles.temperature_c, particles.count)?;
        check_room(particles.id, particles.count)
    }
}

const PRIMITIVE: &str = "interlinks";

fn problem(problem: String) -> KernelError {
    KernelError::Interlinks { problem }
}

/// Checks that a column has room for as many elements as the count may reach.
fn check_room<T: Pod>(column: &Buffer<T>, count: &DeviceCount) -> Result<(), KernelError> {
    if column.len() < count.capacity as usize {
        return Err(KernelError::TooSmall {
            primitive: PRIMITIVE,
            object: column.name().to_owned(),
            found: column.len() as u64,
            needed: count.capacity.into(),
        });
    }
    Ok(())
}
