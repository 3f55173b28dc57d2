//! Particles to bond, on the host and on the device.

use frazil_kernels::{
    BOND_FAULTS, BondCapacity, BondColumn, BondSearch, BondedParticles, Builder, PairBonds, RadixSort,
    UniformGrid,
};
use frazil_reference::bonds as twin;
use frazil_reference::bonds::Bonds;
use frazil_testkit::primitives::*;
use frazil_vk::{Buffer, DeviceCount};
use proptest::prelude::*;

/// A little less than the side of a cell, so that rounding cannot hide a pair two cells apart.
pub const RADIUS_M: f32 = 0.1;
pub const CELL_M: f32 = 0.101;

/// A deterministic stream of numbers.
#[derive(Clone)]
pub struct Stream(pub u64);

impl Stream {
    pub fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32) as u32
    }

    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 8) as f32 / (1 << 24) as f32
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.bits() as usize % n.max(1)
    }

    pub fn shuffled(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Random positions in some cells, at two densities.
    Cloud { dense: bool },
    /// A cubic lattice: most distances are tied.
    Lattice,
    /// All at one point.
    Point,
    /// One in the middle of all others.
    Star,
    /// Decreasing gaps, so that each particle prefers the next one and a round decides one pair.
    Chain,
}

/// Limits of the number of bonds.
#[derive(Clone, Copy, Debug)]
pub enum Limits {
    All(u32),
    /// From none up to this number.
    UpTo(u32),
    /// Half of the particles have limit 0, the others no limit.
    Unlimited,
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

pub fn limits(limits: Limits, n: usize, stream: &mut Stream) -> Vec<u32> {
    let at = |stream: &mut Stream| match limits {
        Limits::All(limit) => limit,
        Limits::UpTo(limit) => stream.below(limit as usize + 1) as u32,
        Limits::Unlimited => [0, u32::MAX][stream.below(2)],
    };
    (0..n).map(|_| at(stream)).collect()
}

pub fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        any::<bool>().prop_map(|dense| Shape::Cloud { dense }),
        Just(Shape::Lattice),
        Just(Shape::Point),
        Just(Shape::Star),
        Just(Shape::Chain),
    ]
}

/// Generates boundary sizes: none, one, and both neighbours of powers of two and workgroup sizes.
pub fn particles() -> impl Strategy<Value = usize> {
    let around = prop::sample::select(vec![64usize, 128, 256]);
    prop_oneof![0usize..4, (around, 0usize..3).prop_map(|(n, d)| n + d - 1), 60usize..300]
}

/// Rows of one word of keep masks and of several.
pub fn slots() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![1u32, 2, 3, 8, 32, 33, 70])
}

/// Maximum number of slots per row that the compare-and-swap builder fills.
pub const MAX_CLAIM_SLOTS: u32 = 64;

/// Returns a search that fits the given number of slots.
pub fn search(slots: u32) -> BondSearch {
    BondSearch { radius_m: RADIUS_M, max_bonds: slots }
}

pub fn twin_search(search: &BondSearch) -> twin::Search {
    twin::Search { radius_m: search.radius_m, max_bonds: search.max_bonds }
}

/// Returns two columns of state.
pub fn columns() -> [BondColumn; 2] {
    [BondColumn::f32("strain", "m", 0.5), BondColumn::u32("age", "1", 9)]
}

pub fn no_bonds(n: usize) -> Bonds {
    Bonds::with_state(n, &columns().map(|column| column.initial))
}

pub fn new_bonds(particles: usize, slots: u32, workgroup_size: u32) -> PairBonds {
    let capacity = BondCapacity { particles: particles as u32, slots };
    PairBonds::with_workgroup_size(&DEVICE, capacity, &columns(), workgroup_size).unwrap()
}

/// Particles in the order of the device's cells.
pub fn sorted(particles: &twin::Particles, grid: &UniformGrid) -> (twin::Particles, Vec<u32>) {
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

pub fn moved(particles: &twin::Particles, order: &[u32]) -> twin::Particles {
    let pick = |i: &u32| *i as usize;
    twin::Particles {
        position: order.iter().map(|i| particles.position[pick(i)]).collect(),
        limit: order.iter().map(|i| particles.limit[pick(i)]).collect(),
        id: order.iter().map(|i| particles.id[pick(i)]).collect(),
    }
}

pub fn grid() -> UniformGrid {
    UniformGrid::new(&DEVICE, [0.0; 3], [1.0, 0.5, 0.5], CELL_M).unwrap()
}

pub fn world(shape: Shape, limit: Limits, n: usize, seed: u64) -> twin::Particles {
    let mut stream = Stream(seed);
    let id = stream.shuffled(n).iter().map(|i| 7 * i + (seed as u32 & 0xffff)).collect();
    let position = positions(shape, n, &mut stream);
    twin::Particles { position, limit: limits(limit, n, &mut stream), id }
}

/// Particles on the device, sorted by cell.
pub struct Uploaded {
    pub count: DeviceCount,
    pub key: Buffer<u32>,
    pub position: Buffer<[f32; 3]>,
    pub limit: Buffer<u32>,
    pub id: Buffer<u32>,
}

impl Uploaded {
    /// Puts particles on the device, which must be in its order of cells, and finds the ranges of the cells.
    pub fn new(particles: &twin::Particles, grid: &UniformGrid, capacity: usize) -> Self {
        let n = particles.position.len();
        let mut position = particles.position.clone();
        position.resize(capacity, [0.25; 3]);
        let uploaded = Self {
            count: count(n, capacity),
            key: padded(&[], capacity),
            position: DEVICE.buffer_from("position", &position).unwrap(),
            limit: padded(&particles.limit, capacity),
            id: padded(&particles.id, capacity),
        };
        run(|r| {
            grid.record_keys(r, &uploaded.count, &uploaded.position, &uploaded.key);
            grid.record_cell_ranges(r, &uploaded.count, &uploaded.key);
        });
        uploaded
    }

    pub fn particles(&self) -> BondedParticles<'_> {
        BondedParticles { count: &self.count, position: &self.position, limit: &self.limit, id: &self.id }
    }
}

pub fn build(
    bonds: &PairBonds,
    grid: &UniformGrid,
    uploaded: &Uploaded,
    builder: Builder,
    search: &BondSearch,
) {
    run(|r| {
        bonds.record_build(r, grid, &uploaded.key, uploaded.particles(), builder, search).unwrap();
    });
}

pub fn counts(bonds: &PairBonds, grid: &UniformGrid, uploaded: &Uploaded, search: &BondSearch) -> [u32; 3] {
    run(|r| bonds.record_count(r, grid, &uploaded.key, uploaded.particles(), search).unwrap());
    DEVICE.download(bonds.counts(), 3).unwrap().try_into().unwrap()
}

pub fn faults(bonds: &PairBonds, uploaded: &Uploaded, max_bonds: u32, max_rest_length_m: f32) -> Vec<u32> {
    run(|r| {
        bonds.record_check(r, &uploaded.count, &uploaded.limit, max_bonds, max_rest_length_m).unwrap();
    });
    DEVICE.download(bonds.faults(), BOND_FAULTS.len()).unwrap()
}

/// Returns the first `n` rows, which must be without gaps.
pub fn download(bonds: &PairBonds, n: usize) -> Bonds {
    frazil_testkit::twins::bonds::download(&DEVICE, bonds, n).unwrap().unwrap()
}

/// Generates inputs of a build test: particles, enough slots, and a workgroup size.
pub fn case() -> impl Strategy<Value = (twin::Particles, u32, u32)> {
    let limit = |slots| {
        prop_oneof![
            2 => Just(Limits::All(slots)),
            3 => Just(Limits::UpTo(slots + 1)),
            1 => Just(Limits::Unlimited),
            1 => Just(Limits::All(0)),
        ]
    };
    (shape(), particles(), any::<u64>(), slots(), workgroup_size()).prop_flat_map(
        move |(shape, n, seed, slots, group)| {
            limit(slots).prop_map(move |limit| (world(shape, limit, n, seed), slots, group))
        },
    )
}
