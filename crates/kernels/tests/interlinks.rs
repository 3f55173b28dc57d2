//! Interlinks: what must hold of them in every scene and after every sequence of operations, and both builders against their twin.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::*;
use frazil_kernels::{
    Builder, INVALID_INDEX, Interlinks, KernelError, LINK_FAULTS, LinkLimit, LinkRule, LinkedParticles,
    RadixSort, UniformGrid,
};
use frazil_reference::interlinks as twin;
use frazil_reference::interlinks::Links;
use frazil_vk::{BarrierPlan, Buffer, Device, DeviceCount, DeviceOptions, RecorderOptions, find_hazards};
use proptest::prelude::*;

/// A little less than the side of a cell, so that rounding cannot hide a pair two cells apart.
const RADIUS_M: f32 = 0.1;
const CELL_M: f32 = 0.101;

/// A deterministic stream of numbers.
#[derive(Clone)]
struct Stream(u64);

impl Stream {
    fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32) as u32
    }

    fn unit(&mut self) -> f32 {
        (self.bits() >> 8) as f32 / (1 << 24) as f32
    }

    fn below(&mut self, n: usize) -> usize {
        self.bits() as usize % n.max(1)
    }

    fn shuffled(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Anywhere in some cells, at two densities.
    Cloud { dense: bool },
    /// A cubic lattice: most distances are tied.
    Lattice,
    /// All in one point.
    Point,
    /// One in the middle of all others.
    Star,
    /// Ever smaller gaps, so that each prefers the next one and a round decides one pair.
    Chain,
}

#[derive(Clone, Copy, Debug)]
enum Weather {
    Cold,
    Mixed,
    /// On every temperature that decides something, and the float next to it.
    Thresholds,
    /// The largest numbers there are, infinities and NaN among them.
    Absurd,
    Warm,
}

fn positions(shape: Shape, n: usize, stream: &mut Stream) -> Vec<[f32; 3]> {
    let at = |i: usize, stream: &mut Stream| match shape {
        Shape::Cloud { dense } => [(); 3].map(|()| stream.unit() * if dense { 0.15 } else { 0.5 } - 0.01),
        Shape::Lattice => [i % 7, i / 7 % 7, i / 49].map(|a| a as f32 * 0.0625),
        Shape::Point => [0.25; 3],
        Shape::Star if i == 0 => [0.25; 3],
        Shape::Star => {
            let v = [(); 3].map(|()| stream.unit() - 0.5);
            let length = v.map(|x| x * x).iter().sum::<f32>().sqrt().max(0.01);
            v.map(|x| 0.25 + 0.0999 * x / length)
        }
        Shape::Chain => [(0..i).map(|i| 0.09 - 0.0002 * i as f32).sum::<f32>(), 0.0, 0.0],
    };
    (0..n).map(|i| at(i, stream)).collect()
}

fn temperatures(weather: Weather, n: usize, stream: &mut Stream) -> Vec<f32> {
    let thresholds = [-30.0, -2.0, 0.0, -15.0, (-2.0f32).next_up(), (-2.0f32).next_down()];
    let absurd = [f32::MIN, f32::MAX, f32::NEG_INFINITY, f32::INFINITY, f32::NAN, -0.0, f32::MIN_POSITIVE];
    let at = |stream: &mut Stream| match weather {
        Weather::Cold => -40.0,
        Weather::Mixed => -40.0 + 45.0 * stream.unit(),
        Weather::Thresholds => thresholds[stream.below(thresholds.len())],
        Weather::Absurd => absurd[stream.below(absurd.len())],
        Weather::Warm => 3.0,
    };
    (0..n).map(|_| at(stream)).collect()
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        any::<bool>().prop_map(|dense| Shape::Cloud { dense }),
        Just(Shape::Lattice),
        Just(Shape::Point),
        Just(Shape::Star),
        Just(Shape::Chain),
    ]
}

fn weather() -> impl Strategy<Value = Weather> {
    use Weather::*;
    prop::sample::select(vec![Cold, Cold, Mixed, Mixed, Thresholds, Absurd, Warm])
}

fn n_max() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![1u32, 2, 3, 8, 32])
}

/// Mostly the rule of eq 6.8, with T_link a little below freezing.
fn rule(n_max: u32) -> impl Strategy<Value = LinkRule> {
    let limit = prop_oneof![
        3 => Just(LinkLimit::Dynamic { homogeneous_c: -30.0, freezing_c: 0.0 }),
        2 => (0..=n_max).prop_map(LinkLimit::Constant),
    ];
    (limit, prop::sample::select(vec![1.0f32, 1.1, 1.5])).prop_map(|(limit, break_ratio)| LinkRule {
        radius_m: RADIUS_M,
        link_temperature_c: -2.0,
        limit,
        break_ratio,
    })
}

fn twin_rule(rule: &LinkRule) -> twin::LinkRule {
    twin::LinkRule {
        radius_m: rule.radius_m,
        link_temperature_c: rule.link_temperature_c,
        limit: match rule.limit {
            LinkLimit::Constant(links) => twin::LinkLimit::Constant(links),
            LinkLimit::Dynamic { homogeneous_c, freezing_c } => {
                twin::LinkLimit::Dynamic { homogeneous_c, freezing_c }
            }
        },
        break_ratio: rule.break_ratio,
    }
}

/// Particles in the order of the device's cells.
fn sorted(particles: &twin::Particles, grid: &UniformGrid) -> (twin::Particles, Vec<u32>) {
    let n = particles.position.len();
    let (key, order) = (padded(&[], n), padded(&[], n));
    let position = DEVICE.buffer_from("position", &particles.position).unwrap();
    let sort = RadixSort::new(&DEVICE, n as u32).unwrap();
    let count = count(n, n);
    run(|r| {
        grid.record_keys(r, &count, &position, &key);
        sort.record_order(r, &count, &key, &order, grid.key_bits()).unwrap();
    });
    let order = DEVICE.download(&order, n).unwrap();
    (moved(particles, &order), order)
}

fn moved(particles: &twin::Particles, order: &[u32]) -> twin::Particles {
    let pick = |i: &u32| *i as usize;
    twin::Particles {
        position: order.iter().map(|i| particles.position[pick(i)]).collect(),
        temperature_c: order.iter().map(|i| particles.temperature_c[pick(i)]).collect(),
        id: order.iter().map(|i| particles.id[pick(i)]).collect(),
    }
}

fn grid() -> UniformGrid {
    UniformGrid::new(&DEVICE, [0.0; 3], [1.0, 0.5, 0.5], CELL_M).unwrap()
}

fn world(shape: Shape, weather: Weather, n: usize, seed: u64) -> twin::Particles {
    let mut stream = Stream(seed);
    let id = stream.shuffled(n).iter().map(|i| 7 * i + (seed as u32 & 0xffff)).collect();
    twin::Particles {
        position: positions(shape, n, &mut stream),
        temperature_c: temperatures(weather, n, &mut stream),
        id,
    }
}

/// Particles on the device, sorted by cell.
struct Uploaded {
    count: DeviceCount,
    key: Buffer<u32>,
    position: Buffer<[f32; 3]>,
    temperature_c: Buffer<f32>,
    id: Buffer<u32>,
}

impl Uploaded {
    /// Puts particles on the device, which must be in its order of cells, and finds the ranges of the cells.
    fn new(particles: &twin::Particles, grid: &UniformGrid, capacity: usize) -> Self {
        let n = particles.position.len();
        let fill = |values: &[f32]| {
            let mut all = values.to_vec();
            all.resize(capacity, -99.0);
            DEVICE.buffer_from("temperature", &all).unwrap()
        };
        let mut position = particles.position.clone();
        position.resize(capacity, [0.25; 3]);
        let uploaded = Self {
            count: count(n, capacity),
            key: padded(&[], capacity),
            position: DEVICE.buffer_from("position", &position).unwrap(),
            temperature_c: fill(&particles.temperature_c),
            id: padded(&particles.id, capacity),
        };
        run(|r| {
            grid.record_keys(r, &uploaded.count, &uploaded.position, &uploaded.key);
            grid.record_cell_ranges(r, &uploaded.count, &uploaded.key);
        });
        uploaded
    }

    fn particles(&self) -> LinkedParticles<'_> {
        LinkedParticles {
            count: &self.count,
            position: &self.position,
            temperature_c: &self.temperature_c,
            id: &self.id,
        }
    }
}

fn build(links: &Interlinks, grid: &UniformGrid, uploaded: &Uploaded, builder: Builder, rule: &LinkRule) {
    run(|r| links.record_build(r, grid, &uploaded.key, uploaded.particles(), builder, rule).unwrap());
}

fn census(links: &Interlinks, grid: &UniformGrid, uploaded: &Uploaded, rule: &LinkRule) -> Vec<u32> {
    run(|r| links.record_census(r, grid, &uploaded.key, uploaded.particles(), rule).unwrap());
    DEVICE.download(links.census(), 3).unwrap()
}

/// The first `n` records, which must be settled.
fn download(links: &Interlinks, n: usize) -> Links {
    let slots = links.partner().len();
    let partner = DEVICE.download(links.partner(), slots).unwrap();
    let rest = DEVICE.download(links.rest_length_m(), slots).unwrap();
    let degree = DEVICE.download(links.degree(), n).unwrap();
    Links::from_table(links.n_max(), links.capacity() as usize, &partner, &rest, &degree).unwrap()
}

/// Records by ids instead of places, ordered by id: what must not depend on the order of particles.
fn by_id(links: &Links, particles: &twin::Particles) -> Vec<(u32, Vec<(u32, u32)>)> {
    let end = |link: &twin::Link| (particles.id[link.partner as usize], link.rest_length_m.to_bits());
    let record = |(i, record): (usize, &Vec<twin::Link>)| (particles.id[i], record.iter().map(end).collect());
    let mut records: Vec<_> = links.records.iter().enumerate().map(record).collect();
    records.sort_unstable();
    records
}

/// Everything a test of a build draws.
fn case() -> impl Strategy<Value = (twin::Particles, LinkRule, u32, u32)> {
    let scene = (shape(), weather(), prop_oneof![0usize..4, 60usize..300], any::<u64>());
    (scene, n_max(), 6u32..10).prop_flat_map(|((shape, weather, n, seed), n_max, log_group)| {
        let particles = world(shape, weather, n, seed);
        rule(n_max).prop_map(move |rule| (particles.clone(), rule, n_max, 1 << log_group))
    })
}

#[test]
fn reproducible_links_equal_their_twin() {
    let grid = grid();
    proptest!(config(1000), |((particles, rule, n_max, group) in case(), rounds in 1u32..6, spare in 0usize..100)| {
        let (particles, _) = sorted(&particles, &grid);
        let n = particles.position.len();
        let uploaded = Uploaded::new(&particles, &grid, n + spare);
        let mut expected = Links::none(n, n_max);
        let made = twin::build_reproducible(&mut expected, &particles, &twin_rule(&rule), rounds);
        for _ in 0..2 {
            let links = Interlinks::with_workgroup_size(&DEVICE, (n + spare) as u32, n_max, group).unwrap();
            build(&links, &grid, &uploaded, Builder::Reproducible { rounds }, &rule);
            let found = download(&links, n);
            let violations = twin::check_build(&Links::none(n, n_max), &found, &particles, &twin_rule(&rule));
            prop_assert_eq!(violations, vec![]);
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(&DEVICE.download(links.progress(), made.len()).unwrap(), &made);
            let counts = twin::count_links(&expected, &particles, &twin_rule(&rule));
            prop_assert_eq!(census(&links, &grid, &uploaded, &rule), counts);
        }
    });
}

#[test]
fn reproducible_links_do_not_depend_on_the_order_of_particles() {
    let grid = grid();
    proptest!(config(1000), |((particles, rule, n_max, _) in case(), rounds in 1u32..5, seed in any::<u64>())| {
        let n = particles.position.len();
        let shuffle = Stream(seed).shuffled(n);
        let found: Vec<_> = [particles.clone(), moved(&particles, &shuffle)].iter().map(|particles| {
            let (particles, _) = sorted(particles, &grid);
            let uploaded = Uploaded::new(&particles, &grid, n);
            let links = Interlinks::new(&DEVICE, n as u32, n_max).unwrap();
            build(&links, &grid, &uploaded, Builder::Reproducible { rounds }, &rule);
            by_id(&download(&links, n), &particles)
        }).collect();
        prop_assert_eq!(&found[0], &found[1]);
    });
}

#[test]
fn enough_rounds_link_all_pairs_nearest_first() {
    let grid = grid();
    proptest!(config(100), |((particles, rule, n_max, group) in case())| {
        let (particles, _) = sorted(&particles, &grid);
        let n = particles.position.len();
        let uploaded = Uploaded::new(&particles, &grid, n);
        let mut links = Interlinks::with_workgroup_size(&DEVICE, n as u32, n_max, group).unwrap();
        let mut expected = Links::none(n, n_max);
        twin::build_nearest_first(&mut expected, &particles, &twin_rule(&rule));
        build(&links, &grid, &uploaded, Builder::Reproducible { rounds: 256 }, &rule);
        prop_assert!(DEVICE.download(links.progress(), 256).unwrap().contains(&0));
        // Slots are in the order of rounds, the twin's in that of distance.
        let sorted_by_partner = |mut links: Links| {
            links.records.iter_mut().for_each(|record| record.sort_by_key(|link| link.partner));
            links
        };
        let found = download(&links, n);
        prop_assert_eq!(sorted_by_partner(found.clone()), sorted_by_partner(expected));
        prop_assert_eq!(twin::check_maximal(&found, &particles, &twin_rule(&rule)), vec![]);
        prop_assert_eq!(census(&links, &grid, &uploaded, &rule)[2], 0);
        // Nothing to make and nothing to break is left.
        build(&links, &grid, &uploaded, Builder::Reproducible { rounds: 1 }, &rule);
        prop_assert_eq!(&download(&links, n), &found);
        run(|r| links.record_break(r, uploaded.particles(), &rule).unwrap());
        prop_assert_eq!(&download(&links, n), &found);
        prop_assert_eq!(DEVICE.download(links.broken(), 1).unwrap(), vec![0]);
    });
}

#[test]
fn claimed_links_are_whole_and_in_the_end_maximal() {
    let grid = grid();
    proptest!(config(1000), |((particles, rule, n_max, group) in case())| {
        let (particles, _) = sorted(&particles, &grid);
        let n = particles.position.len();
        let uploaded = Uploaded::new(&particles, &grid, n);
        let links = Interlinks::with_workgroup_size(&DEVICE, n as u32, n_max, group).unwrap();
        let mut before = Links::none(n, n_max);
        for passes in [1, 1, 40] {
            build(&links, &grid, &uploaded, Builder::CompareAndSwap { passes }, &rule);
            let found = download(&links, n);
            prop_assert_eq!(twin::check_build(&before, &found, &particles, &twin_rule(&rule)), vec![]);
            let made: u32 = DEVICE.download(links.progress(), 256).unwrap().iter().sum();
            let ends = |links: &Links| links.records.iter().map(Vec::len).sum::<usize>();
            prop_assert_eq!(2 * made as usize, ends(&found) - ends(&before));
            before = found;
        }
        let progress = DEVICE.download(links.progress(), 40).unwrap();
        prop_assert!(progress.contains(&0), "{:?}", progress);
        prop_assert_eq!(twin::check_maximal(&before, &particles, &twin_rule(&rule)), vec![]);
        let counts = twin::count_links(&before, &particles, &twin_rule(&rule));
        prop_assert_eq!(census(&links, &grid, &uploaded, &rule), counts);
    });
}

/// What a step of a simulation may do between builds.
#[derive(Clone, Copy, Debug)]
struct Step {
    builder: Builder,
    /// How far particles move at most, in m.
    moved_m: f32,
    warming_c: f32,
    /// One particle in so many leaves; 0 for none.
    leaving: usize,
    coming: usize,
}

fn step() -> impl Strategy<Value = Step> {
    let builder = prop_oneof![
        (1u32..4).prop_map(|rounds| Builder::Reproducible { rounds }),
        (1u32..3).prop_map(|passes| Builder::CompareAndSwap { passes }),
    ];
    let moved_m = prop::sample::select(vec![0.0f32, 0.004, 0.05]);
    let warming_c = prop::sample::select(vec![0.0f32, 6.0, -6.0, 30.0]);
    (
        builder,
        moved_m,
        warming_c,
        prop::sample::select(vec![0usize, 0, 2, 9]),
        prop::sample::select(vec![0usize, 40]),
    )
        .prop_map(|(builder, moved_m, warming_c, leaving, coming)| Step {
            builder,
            moved_m,
            warming_c,
            leaving,
            coming,
        })
}

#[test]
fn links_survive_every_sequence_of_operations() {
    let grid = grid();
    let scene =
        (shape(), prop::sample::select(vec![Weather::Cold, Weather::Mixed]), 20usize..200, any::<u64>());
    let case =
        (scene, n_max(), prop::collection::vec(step(), 1..5)).prop_flat_map(|(scene, n_max, steps)| {
            rule(n_max).prop_map(move |rule| (scene, n_max, steps.clone(), rule))
        });
    proptest!(config(1000), |(((shape, weather, n, seed), n_max, steps, rule) in case, log_group in 6u32..10)| {
        let capacity = n + 40 * steps.len();
        let twin_rule = twin_rule(&rule);
        let mut stream = Stream(seed ^ 1);
        let mut next_id = 1_000_000;
        let mut particles = world(shape, weather, n, seed);
        let mut links = Interlinks::with_workgroup_size(&DEVICE, capacity as u32, n_max, 1 << log_group).unwrap();
        let mut expected = Links::none(n, n_max);
        for step in steps {
            // Some leave, some come, and all are sorted by cell: the order of the step.
            let mut order: Vec<u32> = (0..particles.position.len() as u32).collect();
            if step.leaving > 0 {
                order.retain(|_| stream.below(step.leaving) != 0);
            }
            let mut next = moved(&particles, &order);
            for _ in 0..step.coming {
                order.push(INVALID_INDEX);
                next.position.push([(); 3].map(|()| 0.4 * stream.unit()));
                next.temperature_c.push(-25.0);
                next.id.push(next_id);
                next_id -= 1;
            }
            let (next, sorting) = sorted(&next, &grid);
            particles = next;
            let order: Vec<u32> = sorting.iter().map(|i| order[*i as usize]).collect();
            let n = order.len();

            let uploaded = Uploaded::new(&particles, &grid, capacity);
            let order_buffer = padded(&order, capacity);
            run(|r| links.record_remap(r, &uploaded.count, &order_buffer).unwrap());
            expected = twin::move_links(&expected, &order);
            prop_assert_eq!(&download(&links, n), &expected, "moved");

            build(&links, &grid, &uploaded, step.builder, &rule);
            let found = download(&links, n);
            prop_assert_eq!(twin::check_build(&expected, &found, &particles, &twin_rule), vec![]);
            if let Builder::Reproducible { rounds } = step.builder {
                twin::build_reproducible(&mut expected, &particles, &twin_rule, rounds);
                prop_assert_eq!(&found, &expected, "built");
            }
            expected = found;

            // Particles move and warm, each by its own share; then links break.
            for x in &mut particles.position {
                *x = x.map(|x| x + step.moved_m * (stream.unit() - 0.5));
            }
            for temperature_c in &mut particles.temperature_c {
                *temperature_c += step.warming_c * stream.unit();
            }
            let uploaded = Uploaded::new(&particles, &grid, capacity);
            run(|r| links.record_break(r, uploaded.particles(), &rule).unwrap());
            let broken = twin::break_links(&mut expected, &particles, &twin_rule);
            prop_assert_eq!(&download(&links, n), &expected, "broken");
            prop_assert_eq!(DEVICE.download(links.broken(), 1).unwrap(), vec![broken]);
            let limit: Vec<u32> =
                particles.temperature_c.iter().map(|t| twin_rule.link_limit(n_max, *t)).collect();
            prop_assert_eq!(twin::check_links(&expected, &twin_rule, &limit), vec![]);
        }
    });
}

#[test]
fn a_hub_and_a_heap_stay_within_their_limits() {
    let grid = grid();
    for shape in [Shape::Star, Shape::Point] {
        for n_max in [1, 8, 32] {
            for limit in [0, 1, n_max] {
                let (particles, _) = sorted(&world(shape, Weather::Cold, 101, 5), &grid);
                let uploaded = Uploaded::new(&particles, &grid, 101);
                let rule = LinkRule {
                    radius_m: RADIUS_M,
                    link_temperature_c: -2.0,
                    limit: LinkLimit::Constant(limit),
                    break_ratio: 1.1,
                };
                for builder in [Builder::Reproducible { rounds: 256 }, Builder::CompareAndSwap { passes: 40 }]
                {
                    let links = Interlinks::new(&DEVICE, 101, n_max).unwrap();
                    build(&links, &grid, &uploaded, builder, &rule);
                    let found = download(&links, 101);
                    let none = Links::none(101, n_max);
                    assert_eq!(twin::check_build(&none, &found, &particles, &twin_rule(&rule)), vec![]);
                    assert_eq!(twin::check_maximal(&found, &particles, &twin_rule(&rule)), vec![]);
                    let full = found.records.iter().filter(|record| record.len() == limit as usize).count();
                    // In a heap everyone may link with everyone: those not full are all linked with one another.
                    if let Shape::Point = shape {
                        assert!(101 - full <= limit as usize, "{full} of 101 full at {limit}");
                    }
                    let [linked, refused, open]: [u32; 3] =
                        census(&links, &grid, &uploaded, &rule).try_into().unwrap();
                    assert_eq!(linked as usize, found.records.iter().map(Vec::len).sum::<usize>() / 2);
                    assert!(open == 0 && (refused > 0) == (limit > 0), "{refused} refused, {open} open");
                }
            }
        }
    }
}

#[test]
fn a_crowd_that_claims_at_once_stays_whole() {
    let grid = grid();
    let n = 12_000;
    for (seed, n_max) in [(1, 32), (2, 32), (3, 8), (4, 3)] {
        let mut particles = world(Shape::Cloud { dense: false }, Weather::Cold, n, seed);
        // Some 40 neighbours each, all in a few workgroups' reach.
        particles.position.iter_mut().for_each(|x| x[2] *= 0.9);
        let (particles, _) = sorted(&particles, &grid);
        let uploaded = Uploaded::new(&particles, &grid, n);
        let rule = LinkRule { radius_m: 0.05, limit: LinkLimit::Constant(n_max), ..a_rule() };
        let links = Interlinks::with_workgroup_size(&DEVICE, n as u32, n_max, 64).unwrap();
        build(&links, &grid, &uploaded, Builder::CompareAndSwap { passes: 8 }, &rule);
        let violations =
            twin::check_build(&Links::none(n, n_max), &download(&links, n), &particles, &twin_rule(&rule));
        assert_eq!(violations, vec![]);
        let [linked, refused, open]: [u32; 3] = census(&links, &grid, &uploaded, &rule).try_into().unwrap();
        assert!(
            linked > 10_000 && refused > 0 && open == 0,
            "{linked} links, {refused} refused, {open} open"
        );
    }
}

/// One particle a cell in a row: threads in step look at their next one together, and each then holds the slot that the one before
/// it wants.
#[test]
fn threads_in_step_link_a_row_to_its_end() {
    let n = 256;
    let grid = UniformGrid::new(&DEVICE, [0.0; 3], [CELL_M * n as f32, CELL_M, CELL_M], CELL_M).unwrap();
    let mut particles = world(Shape::Point, Weather::Cold, n, 1);
    for (i, x) in particles.position.iter_mut().enumerate() {
        *x = [0.5 * CELL_M + 0.1009 * i as f32, 0.0, 0.0];
    }
    let uploaded = Uploaded::new(&particles, &grid, n);
    let keys: Vec<u32> = (0..n as u32).collect();
    assert_eq!(DEVICE.download(&uploaded.key, n).unwrap(), keys);
    let rule = LinkRule { radius_m: CELL_M, limit: LinkLimit::Constant(1), ..a_rule() };
    let links = Interlinks::new(&DEVICE, n as u32, 1).unwrap();
    build(&links, &grid, &uploaded, Builder::CompareAndSwap { passes: 40 }, &rule);
    let found = download(&links, n);
    assert_eq!(twin::check_build(&Links::none(n, 1), &found, &particles, &twin_rule(&rule)), vec![]);
    assert_eq!(twin::check_maximal(&found, &particles, &twin_rule(&rule)), vec![]);
    let progress = DEVICE.download(links.progress(), 40).unwrap();
    assert!(progress[..8].contains(&0), "{progress:?}");
}

/// A table with a hole in a record, as a claim that was given back leaves it.
#[test]
fn holes_that_claims_leave_are_closed() {
    let grid = grid();
    let (particles, _) = sorted(&world(Shape::Point, Weather::Warm, 3, 1), &grid);
    let uploaded = Uploaded::new(&particles, &grid, 3);
    let links = Interlinks::new(&DEVICE, 3, 3).unwrap();
    const NONE: u32 = INVALID_INDEX;
    DEVICE.upload(links.partner(), &[NONE, 0, NONE, 1, NONE, NONE, 2, NONE, 0]).unwrap();
    DEVICE.upload(links.rest_length_m(), &[9.0, 0.01, 9.0, 0.01, 9.0, 9.0, 0.02, 9.0, 0.02]).unwrap();
    build(&links, &grid, &uploaded, Builder::CompareAndSwap { passes: 1 }, &a_rule());
    let link = |partner, rest_length_m| twin::Link { partner, rest_length_m };
    let records = vec![vec![link(1, 0.01), link(2, 0.02)], vec![link(0, 0.01)], vec![link(0, 0.02)]];
    assert_eq!(download(&links, 3), Links { n_max: 3, records });
}

#[test]
fn every_barrier_of_a_build_is_needed() {
    // Without validation, whose layer would object to the planted mistakes too. Nothing is submitted.
    let device = Device::open(&DeviceOptions::default()).unwrap();
    let grid = UniformGrid::new(&device, [0.0; 3], [1.0; 3], CELL_M).unwrap();
    let count = DeviceCount::new(&device, "count", 100).unwrap();
    let [key, id, order] = ["key", "id", "order"].map(|name| device.buffer(name, 100).unwrap());
    let (position, temperature_c) =
        (device.buffer("position", 100).unwrap(), device.buffer("temperature", 100).unwrap());
    let particles =
        LinkedParticles { count: &count, position: &position, temperature_c: &temperature_c, id: &id };
    let record = |builder, barriers| {
        let mut links = Interlinks::new(&device, 100, 8).unwrap();
        let options = RecorderOptions { trace: true, barriers, ..Default::default() };
        let mut r = device.recorder_with(options).unwrap();
        links.record_build(&mut r, &grid, &key, particles, builder, &a_rule()).unwrap();
        links.record_break(&mut r, particles, &a_rule()).unwrap();
        links.record_remap(&mut r, &count, &order).unwrap();
        links.record_census(&mut r, &grid, &key, particles, &a_rule()).unwrap();
        r
    };
    for builder in [Builder::Reproducible { rounds: 2 }, Builder::CompareAndSwap { passes: 2 }] {
        let all = record(builder, BarrierPlan::All).barrier_count();
        assert!(all >= 7, "{all} barriers for a build, a break, a move and a census");
        for omitted in 0..all {
            let recorder = record(builder, BarrierPlan::Omit(omitted));
            assert_ne!(find_hazards(recorder.events()), vec![], "{builder:?}: barrier {omitted}");
        }
    }
}

fn a_rule() -> LinkRule {
    let limit = LinkLimit::Dynamic { homogeneous_c: -30.0, freezing_c: 0.0 };
    LinkRule { radius_m: RADIUS_M, link_temperature_c: -2.0, limit, break_ratio: 1.1 }
}

#[test]
fn rules_that_cannot_be_are_refused() {
    for n_max in [0, 33] {
        let error = Interlinks::new(&DEVICE, 10, n_max).err();
        assert!(matches!(error, Some(KernelError::Interlinks { .. })), "{n_max}: {error:?}");
    }
    let grid = grid();
    let particles = world(Shape::Lattice, Weather::Cold, 10, 1);
    let uploaded = Uploaded::new(&particles, &grid, 10);
    let mut links = Interlinks::new(&DEVICE, 10, 8).unwrap();
    let mut recorder = DEVICE.recorder().unwrap();
    let dynamic = |homogeneous_c, freezing_c| LinkLimit::Dynamic { homogeneous_c, freezing_c };
    for rule in [
        LinkRule { radius_m: 0.0, ..a_rule() },
        LinkRule { radius_m: f32::NAN, ..a_rule() },
        LinkRule { radius_m: 2.0 * CELL_M, ..a_rule() },
        LinkRule { link_temperature_c: f32::NAN, ..a_rule() },
        LinkRule { break_ratio: 0.9, ..a_rule() },
        LinkRule { break_ratio: f32::INFINITY, ..a_rule() },
        LinkRule { limit: LinkLimit::Constant(9), ..a_rule() },
        LinkRule { limit: dynamic(0.0, -30.0), ..a_rule() },
        LinkRule { limit: dynamic(f32::NEG_INFINITY, 0.0), ..a_rule() },
        LinkRule { limit: dynamic(f32::NAN, 0.0), ..a_rule() },
    ] {
        let builder = Builder::Reproducible { rounds: 1 };
        let error = links
            .record_build(&mut recorder, &grid, &uploaded.key, uploaded.particles(), builder, &rule)
            .err();
        assert!(matches!(error, Some(KernelError::Interlinks { .. })), "{rule:?}: {error:?}");
    }
    for builder in [Builder::Reproducible { rounds: 0 }, Builder::CompareAndSwap { passes: 257 }] {
        let error = links
            .record_build(&mut recorder, &grid, &uploaded.key, uploaded.particles(), builder, &a_rule())
            .err();
        assert!(matches!(error, Some(KernelError::Interlinks { .. })), "{builder:?}: {error:?}");
    }
    let short = DEVICE.buffer("short", 9).unwrap();
    let error = links.record_remap(&mut recorder, &uploaded.count, &short).err();
    assert!(matches!(error, Some(KernelError::TooSmall { found: 9, needed: 10, .. })), "{error:?}");
    let error =
        links.record_break(&mut recorder, LinkedParticles { id: &short, ..uploaded.particles() }, &a_rule());
    assert!(matches!(error, Err(KernelError::TooSmall { .. })), "{error:?}");
    let many = count(10, 11);
    let error = links.record_remap(&mut recorder, &many, &padded(&[], 11)).err();
    assert!(matches!(error, Some(KernelError::Capacity { found: 11, capacity: 10, .. })), "{error:?}");
}

/// Faults that the device counts in these records, of places below the count: (partner, rest length) a slot.
fn faults(records: [&[(u32, f32)]; 4], degree: [u32; 4], temperature_c: [f32; 4]) -> Vec<u32> {
    let (n, capacity, n_max) = (4, 6, 3);
    let mut particles = world(Shape::Point, Weather::Cold, n, 1);
    particles.temperature_c = temperature_c.to_vec();
    let grid = grid();
    let uploaded = Uploaded::new(&particles, &grid, capacity);
    let links = Interlinks::new(&DEVICE, capacity as u32, n_max).unwrap();
    // Rubbish stands past the count, and behind empty slots in the lengths.
    let mut partner = vec![0xdead_beef; capacity * n_max as usize];
    let mut rest_length_m = vec![f32::NAN; capacity * n_max as usize];
    for (i, record) in records.into_iter().enumerate() {
        for slot in 0..n_max as usize {
            let at = slot * capacity + i;
            partner[at] = record.get(slot).map_or(INVALID_INDEX, |(partner, _)| *partner);
            rest_length_m[at] = record.get(slot).map_or(f32::NAN, |(_, rest_length_m)| *rest_length_m);
        }
    }
    DEVICE.upload(links.partner(), &partner).unwrap();
    DEVICE.upload(links.rest_length_m(), &rest_length_m).unwrap();
    DEVICE.upload(links.degree(), &degree).unwrap();
    run(|r| links.record_check(r, uploaded.particles(), &checked_rule()).unwrap());
    DEVICE.download(links.faults(), LINK_FAULTS.len()).unwrap()
}

/// Two links a particle at most, below −2 °C.
fn checked_rule() -> LinkRule {
    LinkRule { limit: LinkLimit::Constant(2), ..a_rule() }
}

#[test]
fn each_kind_of_fault_in_the_records_is_counted() {
    const NONE: u32 = INVALID_INDEX;
    const L: f32 = 0.01;
    let cold = [-5.0f32; 4];
    // A chain 0 – 1 – 2, and 3 alone.
    let chain: [&[(u32, f32)]; 4] = [&[(1, L)], &[(0, L), (2, L)], &[(1, L)], &[]];
    let degree = [1, 2, 1, 0];
    assert_eq!(faults(chain, degree, cold), [0; 7], "sound records");

    type Planted<'a> = (&'a str, [&'a [(u32, f32)]; 4], [u32; 4], [f32; 4], [u32; 7]);
    let planted: [Planted<'_>; 16] = [
        (
            "three links where two may be",
            [&[(1, L), (2, L), (3, L)], &[(0, L)], &[(0, L)], &[(0, L)]],
            [3, 1, 1, 1],
            cold,
            [1, 0, 0, 0, 0, 0, 0],
        ),
        // What is past the record is not read; what is in it has no other end.
        (
            "a degree past the record",
            [&[(1, L), (2, L), (3, L)], &[], &[], &[]],
            [9, 0, 0, 0],
            cold,
            [1, 0, 0, 0, 3, 0, 0],
        ),
        ("an empty slot below the degree", [&[], &[], &[], &[]], [1, 0, 0, 0], cold, [0, 1, 0, 0, 0, 0, 0]),
        ("a partner past the count", [&[(4, L)], &[], &[], &[]], [1, 0, 0, 0], cold, [0, 1, 0, 0, 0, 0, 0]),
        ("a partner past the room", [&[(77, L)], &[], &[], &[]], [1, 0, 0, 0], cold, [0, 1, 0, 0, 0, 0, 0]),
        (
            "an occupied slot past the degree",
            [&[(1, L), (3, L)], chain[1], chain[2], &[]],
            degree,
            cold,
            [0, 1, 0, 0, 0, 0, 0],
        ),
        (
            "a hole",
            [&[(NONE, L), (1, L)], chain[1], chain[2], &[]],
            [2, 2, 1, 0],
            cold,
            [0, 1, 0, 0, 0, 0, 0],
        ),
        (
            "a link to itself",
            [chain[0], chain[1], chain[2], &[(3, L)]],
            [1, 2, 1, 1],
            cold,
            [0, 0, 1, 0, 0, 0, 0],
        ),
        // Both are found at the other end.
        (
            "a link twice",
            [&[(1, L), (1, L)], chain[1], chain[2], &[]],
            [2, 2, 1, 0],
            cold,
            [0, 0, 0, 1, 0, 0, 0],
        ),
        (
            "a link of one end",
            [&[(1, L), (3, L)], chain[1], chain[2], &[]],
            [2, 2, 1, 0],
            cold,
            [0, 0, 0, 0, 1, 0, 0],
        ),
        (
            "ends a bit apart in length",
            [&[(1, L.next_up())], chain[1], chain[2], &[]],
            degree,
            cold,
            [0, 0, 0, 0, 0, 2, 0],
        ),
        ("a negative length", [&[(1, -L)], &[(0, -L)], &[], &[]], [1, 1, 0, 0], cold, [0, 0, 0, 0, 0, 2, 0]),
        (
            "no length",
            [&[(1, f32::NAN)], &[(0, f32::NAN)], &[], &[]],
            [1, 1, 0, 0],
            cold,
            [0, 0, 0, 0, 0, 2, 0],
        ),
        (
            "longer than the radius",
            [&[(1, RADIUS_M.next_up())], &[(0, RADIUS_M.next_up())], &[], &[]],
            [1, 1, 0, 0],
            cold,
            [0, 0, 0, 0, 0, 2, 0],
        ),
        // Who is too warm may have no link, so that one is over its limit, too.
        ("an end too warm", chain, degree, [-1.0, -5.0, -5.0, -5.0], [1, 0, 0, 0, 0, 0, 2]),
        ("the middle no temperature", chain, degree, [-5.0, f32::NAN, -5.0, -5.0], [1, 0, 0, 0, 0, 0, 4]),
    ];
    let mut met = [false; LINK_FAULTS.len()];
    for (what, records, degree, temperature_c, expected) in planted {
        assert_eq!(faults(records, degree, temperature_c), expected, "{what}");
        met.iter_mut().zip(expected).for_each(|(met, n)| *met |= n > 0);
    }
    assert_eq!(met, [true; LINK_FAULTS.len()]);
}

#[test]
fn built_links_have_no_faults_and_each_planted_one_is_counted() {
    let grid = grid();
    proptest!(config(100), |((particles, rule, n_max, group) in case(), seed in any::<u64>())| {
        let (particles, _) = sorted(&particles, &grid);
        let n = particles.position.len();
        let uploaded = Uploaded::new(&particles, &grid, n);
        let links = Interlinks::with_workgroup_size(&DEVICE, n as u32, n_max, group).unwrap();
        build(&links, &grid, &uploaded, Builder::Reproducible { rounds: 3 }, &rule);
        let check = || {
            run(|r| links.record_check(r, uploaded.particles(), &rule).unwrap());
            DEVICE.download(links.faults(), LINK_FAULTS.len()).unwrap()
        };
        prop_assert_eq!(check(), [0; 7]);
        // One slot in three gets another length, at one end only.
        let found = download(&links, n);
        let mut rest = DEVICE.download(links.rest_length_m(), links.rest_length_m().len()).unwrap();
        let mut stream = Stream(seed);
        let mut changed = std::collections::HashSet::new();
        for (i, record) in found.records.iter().enumerate() {
            for (slot, link) in record.iter().enumerate() {
                if (i as u32) < link.partner && stream.below(3) == 0 {
                    rest[slot * n + i] = if rest[slot * n + i] == 0.0 { 0.001 } else { 0.5 * rest[slot * n + i] };
                    changed.insert((i, link.partner));
                }
            }
        }
        DEVICE.upload(links.rest_length_m(), &rest).unwrap();
        prop_assert_eq!(check(), [0, 0, 0, 0, 0, 2 * changed.len() as u32, 0]);
    });
}
