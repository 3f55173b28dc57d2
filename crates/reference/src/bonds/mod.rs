//! Twin of the bonds between pairs: one function per kernel of `glsl/bonds`, and the checks that every bond
//! table must pass.
//!
//! Rows grow as required. Neighbours are found by comparing all pairs. Distances and comparisons are f32 in
//! the kernels' order of operations, so bonds agree bit for bit; rest lengths do where the device rounds its
//! square root exactly.

mod rules;

pub use rules::{
    FreezeRule, SpringSolve, mark_broken_freeze_bonds, mark_flowed_springs, mark_long_springs, solve_springs,
    update_freeze_bonds, update_plastic_springs,
};

/// An empty slot.
pub const INVALID_INDEX: u32 = u32::MAX;

/// Search for pairs to bond. The fields mean the same as on the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Maximum distance in m at which a bond is made.
    pub radius_m: f32,
    /// Maximum number of bonds of a particle, even if its limit is higher.
    pub max_bonds: u32,
}

/// Columns of the particles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles {
    /// x in m.
    pub position: Vec<[f32; 3]>,
    /// Maximum number of bonds of each particle.
    pub limit: Vec<u32>,
    /// Permanent ids, all different.
    pub id: Vec<u32>,
}

/// One end of a bond.
#[derive(Clone, Debug)]
pub struct Bond {
    /// The particle at the other end.
    pub partner: u32,
    /// Rest length in m.
    pub rest_length_m: f32,
    /// State: one word per state column.
    pub state: Vec<u32>,
}

impl Bond {
    /// A bond without state.
    pub fn new(partner: u32, rest_length_m: f32) -> Self {
        Self { partner, rest_length_m, state: Vec::new() }
    }
}

impl PartialEq for Bond {
    /// Compares all bits.
    fn eq(&self, other: &Self) -> bool {
        self.partner == other.partner
            && self.rest_length_m.to_bits() == other.rest_length_m.to_bits()
            && self.state == other.state
    }
}

/// A row of bonds for each particle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bonds {
    /// The state of a new bond.
    pub initial_state: Vec<u32>,
    /// The bonds of each particle, slot 0 first.
    pub rows: Vec<Vec<Bond>>,
}

/// Bond table downloaded from the device.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// Number of rows.
    pub stride: usize,
    /// Partner in each slot.
    pub partner: &'a [u32],
    /// Rest length in m in each slot.
    pub rest_length_m: &'a [f32],
    /// State columns, one after another.
    pub state: &'a [u32],
    /// Occupied slots of each row.
    pub degree: &'a [u32],
}

/// Fault in a bond table. Particles are given by index.
#[derive(Clone, Debug, PartialEq)]
pub enum Violation {
    /// An occupied slot after an empty one, or a degree that is not the number of occupied slots.
    Gap {
        /// The particle.
        particle: u32,
        /// Its slots.
        slots: Vec<u32>,
        /// Its stored degree.
        degree: u32,
    },
    /// A partner that does not exist.
    NoSuchPartner {
        /// The particle.
        particle: u32,
        /// Its partner.
        partner: u32,
    },
    /// A particle bonded to itself.
    SelfBond {
        /// The particle.
        particle: u32,
    },
    /// Two bonds of one pair.
    Duplicate {
        /// The particle.
        particle: u32,
        /// Its partner.
        partner: u32,
    },
    /// A bond that its partner does not have.
    OneWay {
        /// The particle that has it.
        particle: u32,
        /// Its partner.
        partner: u32,
    },
    /// Two ends that differ in the bits of the rest length.
    UnequalLength {
        /// The particle.
        particle: u32,
        /// Its partner.
        partner: u32,
        /// The rest length at each end, in m.
        rest_length_m: [f32; 2],
    },
    /// Two ends that differ in the bits of their state.
    UnequalState {
        /// The particle.
        particle: u32,
        /// Its partner.
        partner: u32,
    },
    /// A rest length that is negative, NaN, above the maximum, or not the distance at which the bond was
    /// made.
    Length {
        /// The particle.
        particle: u32,
        /// Its partner.
        partner: u32,
        /// The rest length in m.
        rest_length_m: f32,
    },
    /// More bonds than the limit.
    OverLimit {
        /// The particle.
        particle: u32,
        /// Number of its bonds.
        degree: u32,
        /// Its limit.
        limit: u32,
    },
    /// A bond made although the limit of an end is 0 or the ends are too far apart.
    Ineligible {
        /// The particle.
        particle: u32,
        /// Its partner.
        partner: u32,
        /// Their limits.
        limit: [u32; 2],
        /// Their distance in m.
        distance_m: f32,
    },
    /// A bond that a build lost or altered.
    Lost {
        /// The particle.
        particle: u32,
        /// Its partner.
        partner: u32,
    },
    /// An eligible pair without a bond although both ends are below their limits.
    Open {
        /// The pair.
        particles: [u32; 2],
    },
}

impl Bonds {
    /// Bond table without bonds and without state columns for `n` particles.
    pub fn none(n: usize) -> Self {
        Self::with_state(n, &[])
    }

    /// Bond table without bonds for `n` particles; new bonds get this state.
    pub fn with_state(n: usize, initial_state: &[u32]) -> Self {
        Self { initial_state: initial_state.to_vec(), rows: vec![Vec::new(); n] }
    }

    /// Reads a table as the device lays it out: slot s of particle i at s · stride + i.
    ///
    /// # Errors
    /// Returns the rows with an occupied slot after an empty one, or with a degree other than the stored one.
    pub fn from_table(table: Columns<'_>, initial_state: &[u32]) -> Result<Self, Vec<Violation>> {
        let Columns { stride, partner, rest_length_m, state, degree } = table;
        let (column, slots) = (partner.len(), partner.len() / stride.max(1));
        let (mut rows, mut violations) = (Vec::new(), Vec::new());
        for (i, &degree) in degree.iter().enumerate() {
            let slots: Vec<u32> = (0..slots).map(|s| partner[s * stride + i]).collect();
            let occupied = slots.iter().take_while(|j| **j != INVALID_INDEX).count();
            if occupied != degree as usize || slots[occupied..].iter().any(|j| *j != INVALID_INDEX) {
                violations.push(Violation::Gap { particle: i as u32, slots, degree });
                continue;
            }
            let bond = |s: usize| {
                let at = s * stride + i;
                let words = (0..initial_state.len()).map(|word| state[word * column + at]).collect();
                Bond { partner: slots[s], rest_length_m: rest_length_m[at], state: words }
            };
            rows.push((0..occupied).map(bond).collect());
        }
        let initial_state = initial_state.to_vec();
        if violations.is_empty() { Ok(Self { initial_state, rows }) } else { Err(violations) }
    }

    fn degree(&self, i: usize) -> u32 {
        self.rows[i].len() as u32
    }

    fn is_bonded(&self, i: usize, j: usize) -> bool {
        self.rows[i].iter().any(|bond| bond.partner as usize == j)
    }

    fn push(&mut self, i: usize, partner: usize, rest_length_m: f32) {
        let state = self.initial_state.clone();
        self.rows[i].push(Bond { partner: partner as u32, rest_length_m, state });
    }
}

/// Twin of `distance2_m2` of `bonds/bonds.glsl`.
fn distance2_m2(a: [f32; 3], b: [f32; 3]) -> f32 {
    let d: [f32; 3] = std::array::from_fn(|axis| a[axis] - b[axis]);
    d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
}

impl Search {
    fn is_within(&self, d2_m2: f32) -> bool {
        d2_m2 <= self.radius_m * self.radius_m
    }

    /// Twin of `rest_length_of` of `bonds/search.glsl`.
    fn rest_length_m(&self, d2_m2: f32) -> f32 {
        d2_m2.sqrt().min(self.radius_m)
    }
}

impl Particles {
    fn limit(&self, max_bonds: u32, i: usize) -> u32 {
        self.limit[i].min(max_bonds)
    }

    fn remaining(&self, bonds: &Bonds, search: &Search, i: usize) -> u32 {
        self.limit(search.max_bonds, i).saturating_sub(bonds.degree(i))
    }

    fn distance2_m2(&self, i: usize, j: usize) -> f32 {
        distance2_m2(self.position[i], self.position[j])
    }

    /// Returns the eligible pairs i < j.
    fn eligible_pairs(&self, search: &Search) -> Vec<[usize; 2]> {
        let n = self.position.len();
        let may = |i: usize| self.limit[i] > 0;
        let pairs = (0..n).filter(|i| may(*i)).flat_map(|i| (i + 1..n).map(move |j| [i, j]));
        pairs.filter(|[i, j]| may(*j) && search.is_within(self.distance2_m2(*i, *j))).collect()
    }
}

/// Returns the number of slots that a build requires if `slots` do not suffice, else 0.
pub fn count_required_slots(bonds: &Bonds, particles: &Particles, search: &Search, slots: u32) -> u32 {
    let mut needed: Vec<u32> = (0..bonds.rows.len()).map(|i| bonds.degree(i)).collect();
    for [i, j] in particles.eligible_pairs(search) {
        if !bonds.is_bonded(i, j) {
            needed[i] += 1;
            needed[j] += 1;
        }
    }
    let limited =
        needed.iter().enumerate().map(|(i, needed)| (*needed).min(particles.limit(search.max_bonds, i)));
    limited.filter(|needed| *needed > slots).max().unwrap_or(0)
}

/// Returns for each particle the candidates that it proposes to, nearest first.
pub fn propose_bonds(bonds: &Bonds, particles: &Particles, search: &Search) -> Vec<Vec<u32>> {
    let n = particles.position.len();
    let mut candidates: Vec<Vec<(f32, u32, u32)>> = vec![Vec::new(); n];
    for [i, j] in particles.eligible_pairs(search) {
        let remaining = |i| particles.remaining(bonds, search, i);
        if remaining(i) == 0 || remaining(j) == 0 || bonds.is_bonded(i, j) {
            continue;
        }
        let d2 = particles.distance2_m2(i, j);
        candidates[i].push((d2, particles.id[j], j as u32));
        candidates[j].push((d2, particles.id[i], i as u32));
    }
    let best = |(i, mut candidates): (usize, Vec<(f32, u32, u32)>)| {
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let remaining = particles.remaining(bonds, search, i) as usize;
        candidates.into_iter().take(remaining).map(|(_, _, j)| j).collect()
    };
    candidates.into_iter().enumerate().map(best).collect()
}

/// Bonds the pairs in which each end proposed to the other; returns their number.
pub fn accept_bonds(
    bonds: &mut Bonds,
    particles: &Particles,
    search: &Search,
    proposals: &[Vec<u32>],
) -> u32 {
    let mut made = 0;
    for (i, proposed) in proposals.iter().enumerate() {
        for &j in proposed {
            if proposals[j as usize].contains(&(i as u32)) {
                let rest_length_m = search.rest_length_m(particles.distance2_m2(i, j as usize));
                bonds.push(i, j as usize, rest_length_m);
                made += u32::from((i as u32) < j);
            }
        }
    }
    made
}

/// Runs the reproducible build: `rounds` rounds, or fewer if one makes no bond. Returns the number of bonds
/// of each round.
pub fn build_reproducible(
    bonds: &mut Bonds,
    particles: &Particles,
    search: &Search,
    rounds: u32,
) -> Vec<u32> {
    let mut made = Vec::new();
    while made.len() < rounds as usize && made.last() != Some(&0) {
        let proposals = propose_bonds(bonds, particles, search);
        made.push(accept_bonds(bonds, particles, search, &proposals));
    }
    made
}

/// Builds the result of the reproducible build for sufficient rounds, without rounds: visits all eligible
/// pairs in the order of (distance, lower id, higher id) and bonds each if both ends are below their limits.
pub fn build_nearest_first(bonds: &mut Bonds, particles: &Particles, search: &Search) {
    let key = |[i, j]: [usize; 2]| {
        let (a, b) = (particles.id[i], particles.id[j]);
        (particles.distance2_m2(i, j), a.min(b), a.max(b))
    };
    let mut pairs = particles.eligible_pairs(search);
    pairs.sort_by(|p, q| {
        let (p, q) = (key(*p), key(*q));
        p.0.total_cmp(&q.0).then((p.1, p.2).cmp(&(q.1, q.2)))
    });
    for pair in pairs {
        bond_if_open(bonds, particles, search, pair);
    }
}

/// Runs one pass of the build by compare-and-swap with the particles in sequence: one of the many outcomes
/// that the device may have. Returns the number of bonds made.
pub fn claim_bonds(bonds: &mut Bonds, particles: &Particles, search: &Search) -> u32 {
    let pairs = particles.eligible_pairs(search);
    pairs.into_iter().map(|pair| u32::from(bond_if_open(bonds, particles, search, pair))).sum()
}

fn bond_if_open(bonds: &mut Bonds, particles: &Particles, search: &Search, [i, j]: [usize; 2]) -> bool {
    let is_open = |i| particles.remaining(bonds, search, i) > 0;
    if bonds.is_bonded(i, j) || !is_open(i) || !is_open(j) {
        return false;
    }
    let rest_length_m = search.rest_length_m(particles.distance2_m2(i, j));
    bonds.push(i, j, rest_length_m);
    bonds.push(j, i, rest_length_m);
    true
}

/// Closes the holes that withdrawn claims leave in a row of slots.
pub fn compact_bonds(slots: Vec<Option<Bond>>) -> Vec<Bond> {
    slots.into_iter().flatten().collect()
}

/// Returns for each slot of each row true if its particle keeps the bond; `should_break` is asked about each.
pub fn mark_broken_bonds(
    bonds: &Bonds,
    particles: &Particles,
    max_bonds: u32,
    should_break: impl Fn(usize, &Bond) -> bool,
) -> Vec<Vec<bool>> {
    let mark = |(i, row): (usize, &Vec<Bond>)| {
        let limit = particles.limit(max_bonds, i);
        let may = |bond: &Bond| limit > 0 && particles.limit[bond.partner as usize] > 0;
        let is_whole = |bond: &Bond| may(bond) && !should_break(i, bond);
        let mut order: Vec<usize> = (0..row.len()).filter(|s| is_whole(&row[*s])).collect();
        order.sort_by(|a, b| {
            let id = |slot: usize| particles.id[row[slot].partner as usize];
            row[*a].rest_length_m.total_cmp(&row[*b].rest_length_m).then(id(*a).cmp(&id(*b)))
        });
        order.truncate(limit as usize);
        (0..row.len()).map(|slot| order.contains(&slot)).collect()
    };
    bonds.rows.iter().enumerate().map(mark).collect()
}

/// Tolerance for the rounding of square roots, 2.5 ulp on some devices: a bond that has not moved is intact
/// at a break ratio of 1.
const ROUNDING: f32 = 1.0 + 1.0 / (1 << 20) as f32;

/// Returns the keep masks of brittle bonds.
pub fn mark_stretched_bonds(
    bonds: &Bonds,
    particles: &Particles,
    max_bonds: u32,
    break_ratio: f32,
) -> Vec<Vec<bool>> {
    mark_broken_bonds(bonds, particles, max_bonds, |i, bond| {
        let max_m = bond.rest_length_m * break_ratio;
        let is_whole = particles.distance2_m2(i, bond.partner as usize) <= max_m * max_m * ROUNDING;
        !is_whole
    })
}

/// Keeps the bonds that both ends keep; returns the number of removed bonds.
pub fn remove_bonds(bonds: &mut Bonds, keep_mask: &[Vec<bool>]) -> u32 {
    let before = bonds.clone();
    let keeps = |i: usize, j: usize| {
        let slot = before.rows[i].iter().position(|bond| bond.partner as usize == j);
        slot.is_some_and(|slot| keep_mask[i][slot])
    };
    let mut lost = 0;
    for (i, row) in bonds.rows.iter_mut().enumerate() {
        row.retain(|bond| {
            let j = bond.partner as usize;
            let kept = keeps(i, j) && keeps(j, i);
            lost += u32::from(!kept && i < j);
            kept
        });
    }
    lost
}

/// Marks stretched bonds and removes them; returns the number of removed bonds.
pub fn break_stretched(bonds: &mut Bonds, particles: &Particles, max_bonds: u32, break_ratio: f32) -> u32 {
    let keep_mask = mark_stretched_bonds(bonds, particles, max_bonds, break_ratio);
    remove_bonds(bonds, &keep_mask)
}

/// Calls `update` for each end of each bond, with its particle.
pub fn update_bonds(bonds: &mut Bonds, mut update: impl FnMut(usize, &mut Bond)) {
    for (i, row) in bonds.rows.iter_mut().enumerate() {
        row.iter_mut().for_each(|bond| update(i, bond));
    }
}

/// Returns the new index of each of `n` old indices, [`INVALID_INDEX`] for those that have none.
pub fn invert_order(order: &[u32], n: usize) -> Vec<u32> {
    let mut new_place = vec![INVALID_INDEX; n];
    for (i, &from) in order.iter().enumerate() {
        if let Some(place) = new_place.get_mut(from as usize) {
            *place = i as u32;
        }
    }
    new_place
}

/// Returns the rows in the new order, with partners renumbered, bonds to removed particles dropped, and empty
/// rows for new particles.
pub fn remap_bonds(bonds: &Bonds, order: &[u32]) -> Bonds {
    let new_place = invert_order(order, bonds.rows.len());
    let moved = |from: &u32| {
        let row = bonds.rows.get(*from as usize).map_or(&[][..], Vec::as_slice);
        let renamed =
            row.iter().map(|bond| Bond { partner: new_place[bond.partner as usize], ..bond.clone() });
        renamed.filter(|bond| bond.partner != INVALID_INDEX).collect()
    };
    Bonds { initial_state: bonds.initial_state.clone(), rows: order.iter().map(moved).collect() }
}

/// Counts bonds; eligible unbonded pairs with an end at its limit; eligible unbonded pairs with both ends
/// below their limits.
pub fn count_bonds(bonds: &Bonds, particles: &Particles, search: &Search) -> [u32; 3] {
    let ends: usize = bonds.rows.iter().map(Vec::len).sum();
    let mut counts = [ends as u32 / 2, 0, 0];
    for [i, j] in particles.eligible_pairs(search) {
        if !bonds.is_bonded(i, j) {
            let is_open = |i| particles.remaining(bonds, search, i) > 0;
            counts[1 + usize::from(is_open(i) && is_open(j))] += 1;
        }
    }
    counts
}

/// Returns the faults of a bond table: ends that do not match, bonds of a particle to itself, duplicates,
/// invalid rest lengths or ones above `max_rest_length_m`, and more bonds than `limit`, which is indexed by
/// particle.
pub fn check_bonds(bonds: &Bonds, max_rest_length_m: f32, limit: &[u32]) -> Vec<Violation> {
    let n = bonds.rows.len();
    let mut violations = Vec::new();
    for (i, row) in bonds.rows.iter().enumerate() {
        let particle = i as u32;
        if bonds.degree(i) > limit[i] {
            violations.push(Violation::OverLimit { particle, degree: bonds.degree(i), limit: limit[i] });
        }
        for (slot, bond) in row.iter().enumerate() {
            let (partner, rest_length_m) = (bond.partner, bond.rest_length_m);
            if partner as usize >= n {
                violations.push(Violation::NoSuchPartner { particle, partner });
                continue;
            }
            if partner == particle {
                violations.push(Violation::SelfBond { particle });
                continue;
            }
            if row[..slot].iter().any(|bond| bond.partner == partner) {
                violations.push(Violation::Duplicate { particle, partner });
            }
            if !(0.0..=max_rest_length_m).contains(&rest_length_m) {
                violations.push(Violation::Length { particle, partner, rest_length_m });
            }
            match bonds.rows[partner as usize].iter().find(|bond| bond.partner == particle) {
                None => violations.push(Violation::OneWay { particle, partner }),
                Some(other) if other.rest_length_m.to_bits() != rest_length_m.to_bits() => {
                    let rest_length_m = [rest_length_m, other.rest_length_m];
                    violations.push(Violation::UnequalLength { particle, partner, rest_length_m });
                }
                Some(other) if other.state != bond.state => {
                    violations.push(Violation::UnequalState { particle, partner });
                }
                Some(_) => {}
            }
        }
    }
    violations
}

/// Returns the faults of a build from `before` to `after`: every fault that [`check_bonds`] finds, a particle
/// brought above its limit, an ineligible new bond, a new bond whose rest length is not the distance or whose
/// state is not the initial one, and a lost bond. Earlier rest lengths may be up to `max_rest_length_m`.
pub fn check_build(
    before: &Bonds,
    after: &Bonds,
    particles: &Particles,
    search: &Search,
    max_rest_length_m: f32,
) -> Vec<Violation> {
    let limit: Vec<u32> =
        (0..after.rows.len()).map(|i| particles.limit(search.max_bonds, i).max(before.degree(i))).collect();
    let mut violations = check_bonds(after, max_rest_length_m, &limit);
    for (i, row) in after.rows.iter().enumerate() {
        let particle = i as u32;
        for bond in &before.rows[i] {
            if !row.contains(bond) {
                violations.push(Violation::Lost { particle, partner: bond.partner });
            }
        }
        for bond in row {
            let (j, partner, rest_length_m) = (bond.partner as usize, bond.partner, bond.rest_length_m);
            if j >= after.rows.len() || before.is_bonded(i, j) {
                continue;
            }
            let made_m = particles.distance2_m2(i, j).sqrt();
            let is_distance = (rest_length_m - made_m).abs() <= 4.0 * f32::EPSILON * made_m;
            if !is_distance {
                violations.push(Violation::Length { particle, partner, rest_length_m });
            }
            if bond.state != after.initial_state {
                violations.push(Violation::UnequalState { particle, partner });
            }
            let limit = [i, j].map(|i| particles.limit[i]);
            if limit.contains(&0) || !search.is_within(particles.distance2_m2(i, j)) {
                violations.push(Violation::Ineligible { particle, partner, limit, distance_m: made_m });
            }
        }
    }
    violations
}

/// Returns the eligible unbonded pairs that a maximal build would have bonded.
pub fn check_maximal(bonds: &Bonds, particles: &Particles, search: &Search) -> Vec<Violation> {
    let is_open = |i| particles.remaining(bonds, search, i) > 0;
    let left = |[i, j]: &[usize; 2]| !bonds.is_bonded(*i, *j) && is_open(*i) && is_open(*j);
    let pairs = particles.eligible_pairs(search).into_iter().filter(left);
    pairs.map(|pair| Violation::Open { particles: pair.map(|i| i as u32) }).collect()
}
