//! Twin of the interlinks: one function a kernel of `glsl/interlinks`, and the checks that links must pass whoever made them.
//!
//! Neighbours are found by comparing all pairs. Distances, limits and verdicts are f32 in the kernels' order of operations, so
//! that links agree bit for bit; rest lengths do where the device rounds its square root exactly.

/// When particles are linked, and when links break. Fields and meaning as the device's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRule {
    /// h in m.
    pub radius_m: f32,
    /// T_link in °C.
    pub link_temperature_c: f32,
    /// How many links a particle may have.
    pub limit: LinkLimit,
    /// How many times its rest length a link may have.
    pub break_ratio: f32,
}

/// How many links a particle no warmer than T_link may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkLimit {
    /// This many.
    Constant(u32),
    /// 000 eq 6.8.
    Dynamic {
        /// T_homo in °C.
        homogeneous_c: f32,
        /// T_freeze in °C.
        freezing_c: f32,
    },
}

impl LinkRule {
    /// `link_limit` of `interlinks/links.glsl`: how many of `n_max` links a particle of this temperature may have.
    pub fn link_limit(&self, n_max: u32, temperature_c: f32) -> u32 {
        // False for NaN.
        let may_link = temperature_c <= self.link_temperature_c;
        if !may_link {
            return 0;
        }
        match self.limit {
            LinkLimit::Constant(links) => links.min(n_max),
            LinkLimit::Dynamic { homogeneous_c, freezing_c } => {
                let span_c = freezing_c - homogeneous_c;
                let cooling_c = (freezing_c - temperature_c).clamp(0.0, span_c);
                ((cooling_c * (n_max as f32 / span_c) + 0.5).floor() as u32).min(n_max)
            }
        }
    }
}

/// The particles, as columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles {
    /// x in m.
    pub position: Vec<[f32; 3]>,
    /// T in °C.
    pub temperature_c: Vec<f32>,
    /// Numbers for life, all different.
    pub id: Vec<u32>,
}

/// One end of a link.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The particle at the other end.
    pub partner: u32,
    /// Their distance in m when it was made.
    pub rest_length_m: f32,
}

impl PartialEq for Link {
    /// Equal in every bit.
    fn eq(&self, other: &Self) -> bool {
        self.partner == other.partner && self.rest_length_m.to_bits() == other.rest_length_m.to_bits()
    }
}

/// The records: for each particle its links, slot 0 first, none of them empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Links {
    /// Slots a record.
    pub n_max: u32,
    /// The occupied slots of each particle.
    pub records: Vec<Vec<Link>>,
}

/// What is wrong with links. Particles are named by their places.
#[derive(Clone, Debug, PartialEq)]
pub enum Violation {
    /// An occupied slot behind an empty one, or a degree that is not the number of occupied slots.
    Unsettled {
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
    /// A particle linked to itself.
    SelfLink {
        /// The particle.
        particle: u32,
    },
    /// Two links of one pair.
    Duplicate {
        /// The particle.
        particle: u32,
        /// Its partner.
        partner: u32,
    },
    /// A link that its partner does not have.
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
        /// The rest length that each has, in m.
        rest_length_m: [f32; 2],
    },
    /// A rest length that is negative, NaN, above the radius, or not the distance when the link was made.
    Length {
        /// The particle.
        particle: u32,
        /// Its partner.
        partner: u32,
        /// The rest length in m.
        rest_length_m: f32,
    },
    /// More links than allowed.
    OverLimit {
        /// The particle.
        particle: u32,
        /// How many it has.
        degree: u32,
        /// How many it may have.
        limit: u32,
    },
    /// A link made although an end is too warm or the ends are too far apart.
    Ineligible {
        /// The particle.
        particle: u32,
        /// Its partner.
        partner: u32,
        /// Their temperatures in °C.
        temperature_c: [f32; 2],
        /// Their distance in m.
        distance_m: f32,
    },
    /// A link that a build lost or altered.
    Lost {
        /// The particle.
        particle: u32,
        /// Its partner.
        partner: u32,
    },
    /// An eligible pair without a link although both ends have room.
    Open {
        /// The pair.
        particles: [u32; 2],
    },
}

/// What an empty slot holds.
pub const INVALID_INDEX: u32 = u32::MAX;

impl Links {
    /// No links between `n` particles.
    pub fn none(n: usize, n_max: u32) -> Self {
        Self { n_max, records: vec![Vec::new(); n] }
    }

    /// Reads a table as the device lays it out: slot s of particle i at s · stride + i.
    ///
    /// # Errors
    /// The records with an occupied slot behind an empty one, or with another degree than stored.
    pub fn from_table(
        n_max: u32,
        stride: usize,
        partner: &[u32],
        rest_length_m: &[f32],
        degree: &[u32],
    ) -> Result<Self, Vec<Violation>> {
        let (mut records, mut violations) = (Vec::new(), Vec::new());
        for (i, &degree) in degree.iter().enumerate() {
            let slots: Vec<u32> = (0..n_max as usize).map(|s| partner[s * stride + i]).collect();
            let occupied = slots.iter().take_while(|j| **j != INVALID_INDEX).count();
            if occupied != degree as usize || slots[occupied..].iter().any(|j| *j != INVALID_INDEX) {
                violations.push(Violation::Unsettled { particle: i as u32, slots, degree });
                continue;
            }
            let link = |s: usize| Link { partner: slots[s], rest_length_m: rest_length_m[s * stride + i] };
            records.push((0..occupied).map(link).collect());
        }
        if violations.is_empty() { Ok(Self { n_max, records }) } else { Err(violations) }
    }

    fn degree(&self, i: usize) -> u32 {
        self.records[i].len() as u32
    }

    fn is_linked(&self, i: usize, j: usize) -> bool {
        self.records[i].iter().any(|link| link.partner as usize == j)
    }
}

/// `distance2_m2` of `interlinks/links.glsl`.
fn distance2_m2(a: [f32; 3], b: [f32; 3]) -> f32 {
    let d: [f32; 3] = std::array::from_fn(|axis| a[axis] - b[axis]);
    d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
}

fn within(rule: &LinkRule, d2_m2: f32) -> bool {
    d2_m2 <= rule.radius_m * rule.radius_m
}

/// `rest_length_of` of `interlinks/links.glsl`.
fn rest_length_of(rule: &LinkRule, d2_m2: f32) -> f32 {
    d2_m2.sqrt().min(rule.radius_m)
}

impl Particles {
    fn limit(&self, links: &Links, rule: &LinkRule, i: usize) -> u32 {
        rule.link_limit(links.n_max, self.temperature_c[i])
    }

    fn room(&self, links: &Links, rule: &LinkRule, i: usize) -> u32 {
        self.limit(links, rule, i).saturating_sub(links.degree(i))
    }

    fn distance2_m2(&self, i: usize, j: usize) -> f32 {
        distance2_m2(self.position[i], self.position[j])
    }

    /// The pairs i < j that eq 6.7 allows to be linked.
    fn eligible_pairs(&self, links: &Links, rule: &LinkRule) -> Vec<[usize; 2]> {
        let n = self.position.len();
        let may = |i: usize| self.limit(links, rule, i) > 0;
        let pairs = (0..n).filter(|i| may(*i)).flat_map(|i| (i + 1..n).map(move |j| [i, j]));
        pairs.filter(|[i, j]| may(*j) && within(rule, self.distance2_m2(*i, *j))).collect()
    }
}

/// For each particle the candidates it proposes to, nearest first.
pub fn propose_links(links: &Links, particles: &Particles, rule: &LinkRule) -> Vec<Vec<u32>> {
    let n = particles.position.len();
    let mut candidates: Vec<Vec<(f32, u32, u32)>> = vec![Vec::new(); n];
    for [i, j] in particles.eligible_pairs(links, rule) {
        if particles.room(links, rule, i) == 0 || particles.room(links, rule, j) == 0 || links.is_linked(i, j)
        {
            continue;
        }
        let d2 = particles.distance2_m2(i, j);
        candidates[i].push((d2, particles.id[j], j as u32));
        candidates[j].push((d2, particles.id[i], i as u32));
    }
    let best = |(i, mut candidates): (usize, Vec<(f32, u32, u32)>)| {
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let wanted = particles.room(links, rule, i) as usize;
        candidates.into_iter().take(wanted).map(|(_, _, j)| j).collect()
    };
    candidates.into_iter().enumerate().map(best).collect()
}

/// Links the pairs of which each end proposed to the other; returns how many.
pub fn accept_links(
    links: &mut Links,
    particles: &Particles,
    rule: &LinkRule,
    proposals: &[Vec<u32>],
) -> u32 {
    let mut made = 0;
    for (i, proposed) in proposals.iter().enumerate() {
        for &j in proposed {
            if proposals[j as usize].contains(&(i as u32)) {
                let rest_length_m = rest_length_of(rule, particles.distance2_m2(i, j as usize));
                links.records[i].push(Link { partner: j, rest_length_m });
                made += u32::from((i as u32) < j);
            }
        }
    }
    made
}

/// The reproducible build: `rounds` rounds, or fewer if one links nothing. Returns what each round made.
pub fn build_reproducible(
    links: &mut Links,
    particles: &Particles,
    rule: &LinkRule,
    rounds: u32,
) -> Vec<u32> {
    let mut made = Vec::new();
    while made.len() < rounds as usize && made.last() != Some(&0) {
        let proposals = propose_links(links, particles, rule);
        made.push(accept_links(links, particles, rule, &proposals));
    }
    made
}

/// What the reproducible build ends in when its rounds suffice, said without rounds: all eligible pairs in the order of
/// (distance, lower id, higher id), each linked if both ends have room.
pub fn build_nearest_first(links: &mut Links, particles: &Particles, rule: &LinkRule) {
    let key = |[i, j]: [usize; 2]| {
        let (a, b) = (particles.id[i], particles.id[j]);
        (particles.distance2_m2(i, j), a.min(b), a.max(b))
    };
    let mut pairs = particles.eligible_pairs(links, rule);
    pairs.sort_by(|p, q| {
        let (p, q) = (key(*p), key(*q));
        p.0.total_cmp(&q.0).then((p.1, p.2).cmp(&(q.1, q.2)))
    });
    for pair in pairs {
        link_if_room(links, particles, rule, pair);
    }
}

/// One pass of linking by compare-and-swap, as it goes when particles take their turns one after another: one of the many
/// outcomes that the device may have. Returns how many links it made.
pub fn claim_links(links: &mut Links, particles: &Particles, rule: &LinkRule) -> u32 {
    let pairs = particles.eligible_pairs(links, rule);
    pairs.into_iter().map(|pair| u32::from(link_if_room(links, particles, rule, pair))).sum()
}

fn link_if_room(links: &mut Links, particles: &Particles, rule: &LinkRule, [i, j]: [usize; 2]) -> bool {
    let room = |i| particles.room(links, rule, i) > 0;
    if links.is_linked(i, j) || !room(i) || !room(j) {
        return false;
    }
    let rest_length_m = rest_length_of(rule, particles.distance2_m2(i, j));
    links.records[i].push(Link { partner: j as u32, rest_length_m });
    links.records[j].push(Link { partner: i as u32, rest_length_m });
    true
}

/// What a square root may round by, 2.5 ulp on some devices: a link that has not moved is whole at a break ratio of 1.
const ROUNDING: f32 = 1.0 + 1.0 / (1 << 20) as f32;

/// For each slot of each record whether its particle would keep the link.
pub fn judge_links(links: &Links, particles: &Particles, rule: &LinkRule) -> Vec<Vec<bool>> {
    let judge = |(i, record): (usize, &Vec<Link>)| {
        let limit = particles.limit(links, rule, i);
        let whole = |link: &Link| {
            let j = link.partner as usize;
            let limit_m = link.rest_length_m * rule.break_ratio;
            limit > 0
                && particles.limit(links, rule, j) > 0
                && particles.distance2_m2(i, j) <= limit_m * limit_m * ROUNDING
        };
        let mut order: Vec<usize> = (0..record.len()).filter(|s| whole(&record[*s])).collect();
        order.sort_by(|a, b| {
            let id = |slot: usize| particles.id[record[slot].partner as usize];
            record[*a].rest_length_m.total_cmp(&record[*b].rest_length_m).then(id(*a).cmp(&id(*b)))
        });
        order.truncate(limit as usize);
        (0..record.len()).map(|slot| order.contains(&slot)).collect()
    };
    links.records.iter().enumerate().map(judge).collect()
}

/// Keeps the links that both ends would keep; returns how many went.
pub fn drop_links(links: &mut Links, verdict: &[Vec<bool>]) -> u32 {
    let before = links.clone();
    let would_keep = |i: usize, j: usize| {
        let slot = before.records[i].iter().position(|link| link.partner as usize == j);
        slot.is_some_and(|slot| verdict[i][slot])
    };
    let mut lost = 0;
    for (i, record) in links.records.iter_mut().enumerate() {
        record.retain(|link| {
            let j = link.partner as usize;
            let kept = would_keep(i, j) && would_keep(j, i);
            lost += u32::from(!kept && i < j);
            kept
        });
    }
    lost
}

/// Judges and drops; returns how many links went.
pub fn break_links(links: &mut Links, particles: &Particles, rule: &LinkRule) -> u32 {
    let verdict = judge_links(links, particles, rule);
    drop_links(links, &verdict)
}

/// The new place of each of `n` old ones, [`INVALID_INDEX`] for those that no new one came from.
pub fn invert_order(order: &[u32], n: usize) -> Vec<u32> {
    let mut new_place = vec![INVALID_INDEX; n];
    for (i, &from) in order.iter().enumerate() {
        if let Some(place) = new_place.get_mut(from as usize) {
            *place = i as u32;
        }
    }
    new_place
}

/// Records in the new order, partners renamed, links to those that left dropped, empty records for those that came.
pub fn move_links(links: &Links, order: &[u32]) -> Links {
    let new_place = invert_order(order, links.records.len());
    let moved = |from: &u32| {
        let record = links.records.get(*from as usize).map_or(&[][..], Vec::as_slice);
        let renamed = record.iter().map(|link| Link { partner: new_place[link.partner as usize], ..*link });
        renamed.filter(|link| link.partner != INVALID_INDEX).collect()
    };
    Links { n_max: links.n_max, records: order.iter().map(moved).collect() }
}

/// Links; eligible pairs without one of which an end has no room; eligible pairs without one that have room at both ends.
pub fn count_links(links: &Links, particles: &Particles, rule: &LinkRule) -> [u32; 3] {
    let ends: usize = links.records.iter().map(Vec::len).sum();
    let mut census = [ends as u32 / 2, 0, 0];
    for [i, j] in particles.eligible_pairs(links, rule) {
        if !links.is_linked(i, j) {
            let open = particles.room(links, rule, i) > 0 && particles.room(links, rule, j) > 0;
            census[1 + usize::from(open)] += 1;
        }
    }
    census
}

/// What is wrong with links at any time: ends that do not match, links to itself or twice, lengths that no build makes, and
/// more links than `limit` allows, which is indexed by particle.
pub fn check_links(links: &Links, rule: &LinkRule, limit: &[u32]) -> Vec<Violation> {
    let n = links.records.len();
    let mut violations = Vec::new();
    for (i, record) in links.records.iter().enumerate() {
        let particle = i as u32;
        if links.degree(i) > limit[i] {
            violations.push(Violation::OverLimit { particle, degree: links.degree(i), limit: limit[i] });
        }
        for (slot, &Link { partner, rest_length_m }) in record.iter().enumerate() {
            if partner as usize >= n {
                violations.push(Violation::NoSuchPartner { particle, partner });
                continue;
            }
            if partner == particle {
                violations.push(Violation::SelfLink { particle });
                continue;
            }
            if record[..slot].iter().any(|link| link.partner == partner) {
                violations.push(Violation::Duplicate { particle, partner });
            }
            if !(0.0..=rule.radius_m).contains(&rest_length_m) {
                violations.push(Violation::Length { particle, partner, rest_length_m });
            }
            match links.records[partner as usize].iter().find(|link| link.partner == particle) {
                None => violations.push(Violation::OneWay { particle, partner }),
                Some(other) if other.rest_length_m.to_bits() != rest_length_m.to_bits() => {
                    let rest_length_m = [rest_length_m, other.rest_length_m];
                    violations.push(Violation::UnequalLength { particle, partner, rest_length_m });
                }
                Some(_) => {}
            }
        }
    }
    violations
}

/// What is wrong with a build that found `before` and left `after`: anything that [`check_links`] objects to, a particle brought
/// above its limit, a link made that eq 6.7 forbids or with another rest length than the distance, a link lost.
pub fn check_build(before: &Links, after: &Links, particles: &Particles, rule: &LinkRule) -> Vec<Violation> {
    let limit: Vec<u32> =
        (0..after.records.len()).map(|i| particles.limit(after, rule, i).max(before.degree(i))).collect();
    let mut violations = check_links(after, rule, &limit);
    for (i, record) in after.records.iter().enumerate() {
        let particle = i as u32;
        for link in &before.records[i] {
            if !record.contains(link) {
                violations.push(Violation::Lost { particle, partner: link.partner });
            }
        }
        for link in record {
            let j = link.partner as usize;
            if j >= after.records.len() || before.is_linked(i, j) {
                continue;
            }
            let made_m = particles.distance2_m2(i, j).sqrt();
            let is_distance = (link.rest_length_m - made_m).abs() <= 4.0 * f32::EPSILON * made_m;
            if !is_distance {
                let (partner, rest_length_m) = (link.partner, link.rest_length_m);
                violations.push(Violation::Length { particle, partner, rest_length_m });
            }
            let may = |i| particles.limit(after, rule, i) > 0;
            if !may(i) || !may(j) || !within(rule, particles.distance2_m2(i, j)) {
                violations.push(Violation::Ineligible {
                    particle,
                    partner: link.partner,
                    temperature_c: [i, j].map(|i| particles.temperature_c[i]),
                    distance_m: particles.distance2_m2(i, j).sqrt(),
                });
            }
        }
    }
    violations
}

/// The eligible pairs that a maximal build would not leave.
pub fn check_maximal(links: &Links, particles: &Particles, rule: &LinkRule) -> Vec<Violation> {
    let room = |i| particles.room(links, rule, i) > 0;
    let open = |[i, j]: &[usize; 2]| !links.is_linked(*i, *j) && room(*i) && room(*j);
    let pairs = particles.eligible_pairs(links, rule).into_iter().filter(open);
    pairs.map(|pair| Violation::Open { particles: pair.map(|i| i as u32) }).collect()
}
