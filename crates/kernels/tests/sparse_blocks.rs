//! Blocks of a sparse lattice against the twin of the material point method.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::{BlockCapacity, BlockLayout, INVALID_INDEX, KernelError, SparseBlocks};
use frazil_reference::mpm::{
    Lattice, Material, Parameters, Particle, Spline, Surface, Transfer, Weights, cell_ranges,
};
use frazil_testkit::Random;
use frazil_testkit::primitives::*;
use glam::DVec3;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// A power of two, like the unit of all positions here: no position in cells is rounded, and keys agree on
/// cell faces, too.
const CELL_M: f32 = 0.125;

/// A lattice and the points in it.
#[derive(Clone, Debug)]
struct Case {
    dimensions: u32,
    spline: Spline,
    min_m: [f32; 3],
    max_m: [f32; 3],
    points: Vec<[f32; 3]>,
}

impl Case {
    fn layout(&self) -> BlockLayout {
        let shift_cells = if self.spline == Spline::Cubic { 1.0 } else { 0.5 };
        BlockLayout::new(self.dimensions, self.min_m, self.max_m, CELL_M, shift_cells).unwrap()
    }

    /// Returns the twin's parameters, of which only the lattice and the spline are used.
    fn parameters(&self) -> Parameters {
        Parameters {
            dimensions: self.dimensions as usize,
            cell_size_m: CELL_M.into(),
            domain_min_m: DVec3::from_array(self.min_m.map(f64::from)),
            domain_max_m: DVec3::from_array(self.max_m.map(f64::from)),
            dt_s: 1e-3,
            gravity_m_s2: DVec3::ZERO,
            material: Material {
                youngs_modulus_pa: 1.0,
                poissons_ratio: 0.2,
                hardening: 0.0,
                critical_compression: 0.0,
                critical_stretch: 0.0,
                least_plastic_volume: 0.0,
                yield_share: 1.0,
                plastic: false,
            },
            transfer: Transfer::Apic,
            spline: self.spline,
            weights: Weights::Factored,
            strain_floor: false,
            has_contact_forces: false,
            colliders: Vec::new(),
            walls: [[Surface { friction: 0.0, sticky: false }; 3]; 2],
            implicit: None,
        }
    }
}

/// Numbers of points around powers of two and workgroup sizes, in arrangements that have revealed errors of
/// grids.
fn case() -> impl Strategy<Value = Case> {
    let n = prop_oneof![
        Just(0usize),
        Just(1),
        (5u32..11, 0usize..3).prop_map(|(log, d)| (1 << log) + d - 1),
        2usize..1500,
    ];
    let spline = prop::sample::select(vec![Spline::Cubic, Spline::Quadratic]);
    let domain = [(-64i32..64, 1i32..160), (-64i32..64, 1i32..160), (-64i32..64, 1i32..160)];
    (2u32..4, spline, domain, n, 0u8..6, any::<u64>()).prop_map(
        |(dimensions, spline, domain, n, kind, seed)| {
            let unit = CELL_M / 8.0;
            // Sides of up to 20 cells, which need not be whole ones.
            let min_m = domain.map(|(low, _)| unit * low as f32);
            let max_m = domain.map(|(low, extent)| unit * (low + extent) as f32);
            let mut random = Random::new(seed | 1);
            let mut below = move |n: i32| random.below(n as u64) as i32;
            let mut coordinate = |i: usize, axis: usize| {
                let (low, extent) = domain[axis];
                let fine = unit / 64.0;
                let within = match kind {
                    // Anywhere; all in one cell; all apart.
                    0 => fine * below(64 * extent + 1) as f32,
                    1 => fine * below(64 * extent.min(8)) as f32,
                    2 => unit * ((37 * i as i32 * [1, 5, 17][axis]) % (extent + 1)) as f32,
                    // On faces of cells; at half cells, where the quadratic spline changes nodes; at the
                    // domain's corners.
                    3 => (CELL_M * below(extent / 8 + 2) as f32).min(unit * extent as f32),
                    4 => (CELL_M * (below(extent / 8 + 1) as f32 + 0.5)).min(unit * extent as f32),
                    _ => unit * (below(2) * extent) as f32,
                };
                unit * low as f32 + within
            };
            let points =
                (0..n)
                    .map(|i| {
                        std::array::from_fn(|axis| {
                            if axis < dimensions as usize { coordinate(i, axis) } else { 0.0 }
                        })
                    })
                    .collect();
            Case { dimensions, spline, min_m, max_m, points }
        },
    )
}

/// All results of the device.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    required: Vec<u32>,
    occupied: Vec<u32>,
    active: Vec<u32>,
    block_of: Vec<u32>,
    cell_start: Vec<u32>,
    target: Vec<u32>,
    source: Vec<u32>,
}

/// Returns a capacity that suffices for blocks that are all separate.
fn plenty(layout: &BlockLayout, n: usize) -> BlockCapacity {
    let occupied = n.max(1) as u32;
    BlockCapacity { occupied, active: occupied * layout.reach() }
}

fn device_keys(blocks: &SparseBlocks, points: &[[f32; 3]]) -> Vec<u32> {
    let n = points.len();
    let (count, key) = (count(n, n), padded(&[], n + 1));
    let position = DEVICE.buffer_from("position", points).unwrap();
    run(|r| blocks.record_keys(r, &count, &position, &key, None));
    let keys = DEVICE.download(&key, n + 1).unwrap();
    assert_eq!(keys[n], 0xdead_beef, "nothing is written past the count");
    keys[..n].to_vec()
}

fn find(blocks: &SparseBlocks, keys: &[u32]) -> Found {
    let n = keys.len();
    let (count, key) = (count(n, n), padded(keys, n));
    run(|r| blocks.record_find(r, &count, &key).unwrap());
    let one = |count: &frazil_vk::DeviceCount| DEVICE.download(&count.count, 1).unwrap()[0] as usize;
    let (n_occupied, n_active) = (one(blocks.occupied_count()), one(blocks.active_count()));
    let reach = blocks.layout().reach() as usize;
    let cells = n_occupied * blocks.layout().block_nodes() as usize;
    Found {
        required: DEVICE.download(blocks.required(), 2).unwrap(),
        occupied: DEVICE.download(blocks.occupied(), n_occupied).unwrap(),
        active: DEVICE.download(blocks.active(), n_active).unwrap(),
        block_of: DEVICE.download(blocks.block_of(), n).unwrap(),
        // Without blocks there is no end of a block either.
        cell_start: DEVICE.download(blocks.cell_start(), if cells > 0 { cells + 1 } else { 0 }).unwrap(),
        target: DEVICE.download(blocks.target(), n_occupied * reach).unwrap(),
        source: DEVICE.download(blocks.source(), n_active * reach).unwrap(),
    }
}

/// Returns the block a step of a reach above another, if the lattice has it.
fn above(lattice: &Lattice, block: u64, s: usize) -> Option<u64> {
    let at = lattice.position(block);
    let next: [i64; 3] = std::array::from_fn(|axis| at[axis] + (s as i64 >> axis & 1));
    (0..3).all(|axis| next[axis] < lattice.blocks[axis]).then(|| lattice.block(next))
}

/// Compares the results for these ascending keys with the twin.
fn check(lattice: &Lattice, layout: &BlockLayout, keys: &[u32], found: &Found) -> Result<(), TestCaseError> {
    let (reach, nodes) = (layout.reach() as usize, layout.block_nodes() as usize);
    let keys: Vec<u64> = keys.iter().map(|key| u64::from(*key)).collect();
    let wide = |list: &[u32]| list.iter().map(|block| u64::from(*block)).collect::<Vec<_>>();
    let (occupied, active) = (wide(&found.occupied), wide(&found.active));
    prop_assert_eq!(&occupied, &lattice.occupied_blocks(&keys));
    prop_assert_eq!(&found.required, &vec![occupied.len() as u32, active.len() as u32]);
    for (key, place) in keys.iter().zip(&found.block_of) {
        prop_assert_eq!(occupied[*place as usize], key / nodes as u64);
    }

    let ranges: BTreeMap<u64, Range<usize>> = cell_ranges(&keys).into_iter().collect();
    for (o, block) in occupied.iter().enumerate() {
        for c in 0..nodes {
            let [begin, end] = [c, c + 1].map(|c| found.cell_start[o * nodes + c] as usize);
            match ranges.get(&(block * nodes as u64 + c as u64)) {
                Some(range) => prop_assert_eq!(&(begin..end), range, "cell {} of block {}", c, block),
                None => prop_assert_eq!(begin, end, "cell {} of block {}", c, block),
            }
        }
    }

    // Blocks outside the lattice, which particles outside the domain would reach, are not listed.
    let mut expected: Vec<u64> =
        occupied.iter().flat_map(|b| (0..reach).filter_map(|s| above(lattice, *b, s))).collect();
    expected.sort_unstable();
    expected.dedup();
    let mut ascending = active.clone();
    ascending.sort_unstable();
    prop_assert_eq!(&ascending, &expected);
    for (slot, target) in found.target.iter().enumerate() {
        let (o, s) = (slot / reach, slot % reach);
        match above(lattice, occupied[o], s) {
            Some(block) => prop_assert_eq!(active[*target as usize], block),
            None => prop_assert_eq!(*target, INVALID_INDEX),
        }
    }
    for (slot, source) in found.source.iter().enumerate() {
        let (a, s) = (slot / reach, slot % reach);
        let below = occupied.iter().position(|b| above(lattice, *b, s) == Some(active[a]));
        prop_assert_eq!(*source, below.map_or(INVALID_INDEX, |o| o as u32));
        if *source != INVALID_INDEX {
            prop_assert_eq!(found.target[*source as usize * reach + s], a as u32);
        }
    }
    Ok(())
}

#[test]
fn blocks_and_cells_agree_with_the_twin() {
    proptest!(config(60), |(case in case(), workgroup_size in workgroup_size())| {
        let (layout, p) = (case.layout(), case.parameters());
        let lattice = Lattice::new(&p);
        prop_assert_eq!(layout.lattice().blocks.map(i64::from), lattice.blocks);
        let n = case.points.len();
        let blocks =
            SparseBlocks::new(&DEVICE, layout, n as u32, plenty(&layout, n), workgroup_size).unwrap();
        let mut keys = device_keys(&blocks, &case.points);
        for (key, point) in keys.iter().zip(&case.points) {
            let position = DVec3::from_array(point.map(f64::from));
            let particle = Particle::new(position, 0, 1.0, 1.0);
            prop_assert_eq!(u64::from(*key), lattice.particle_key(&p, &particle), "at {:?}", point);
            prop_assert!(u64::from(*key) >> layout.key_bits().end == 0);
        }
        keys.sort_unstable();
        let found = find(&blocks, &keys);
        check(&lattice, &layout, &keys, &found)?;
        let expected = lattice.active_blocks(&lattice.occupied_blocks(&keys.iter().map(|k| (*k).into()).collect::<Vec<_>>()));
        prop_assert_eq!(found.active.len(), expected.len());
        prop_assert_eq!(&find(&blocks, &keys), &found, "the same again");
        let other = if workgroup_size == 64 { 256 } else { 64 };
        let others = SparseBlocks::new(&DEVICE, layout, n as u32, plenty(&layout, n), other).unwrap();
        prop_assert_eq!(&find(&others, &keys), &found, "with other workgroups");
    });
}

#[test]
fn lists_that_are_too_short_say_so_and_lead_nowhere() {
    proptest!(config(40), |(case in case(), share in (0u32..100, 0u32..100))| {
        let (layout, lattice) = (case.layout(), Lattice::new(&case.parameters()));
        let n = case.points.len();
        let mut blocks = SparseBlocks::new(&DEVICE, layout, n as u32, plenty(&layout, n), 64).unwrap();
        let mut keys = device_keys(&blocks, &case.points);
        keys.sort_unstable();
        let full = find(&blocks, &keys);
        let [occupied, active] = [full.required[0] * share.0 / 100, full.required[1] * share.1 / 100];
        blocks.resize(&DEVICE, BlockCapacity { occupied, active }).unwrap();
        let capacity = blocks.capacity();
        let short = find(&blocks, &keys);
        prop_assert_eq!(short.required[0], full.required[0]);
        if capacity.occupied >= full.required[0] {
            prop_assert_eq!(short.required[1], full.required[1]);
        }
        prop_assert_eq!(&short.occupied[..], &full.occupied[..short.occupied.len()]);
        prop_assert!(short.occupied.len() as u32 <= capacity.occupied);
        prop_assert!(short.active.len() as u32 <= capacity.active);
        // Cells agree with the full result, up to the last block within the capacity.
        prop_assert_eq!(&short.cell_start[..], &full.cell_start[..short.cell_start.len()]);
        // Any reference to a block refers to one within the capacity.
        let reach = layout.reach() as usize;
        let targets = DEVICE.download(blocks.target(), (short.occupied.len() + 1) * reach).unwrap();
        for place in &short.block_of {
            prop_assert!(*place as usize <= short.occupied.len());
        }
        for (slot, target) in targets.iter().enumerate() {
            let is_left_out = slot / reach == short.occupied.len();
            if !keys.is_empty() {
                prop_assert!(*target == INVALID_INDEX || !is_left_out && (*target as usize) < short.active.len());
            }
        }
        for source in &short.source {
            prop_assert!(*source == INVALID_INDEX || (*source as usize) < short.occupied.len());
        }
        // With the required capacity, all blocks are found.
        let [occupied, active] = [full.required[0], full.required[1]];
        blocks.resize(&DEVICE, BlockCapacity { occupied, active }).unwrap();
        let found = find(&blocks, &keys);
        check(&lattice, &layout, &keys, &found)?;
        prop_assert_eq!(found, full);
    });
}

#[test]
fn positions_that_are_not_finite_or_far_away_stay_inside_the_lattice() {
    for dimensions in [2, 3] {
        for spline in [Spline::Cubic, Spline::Quadratic] {
            let odd = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 0.5];
            let points = (0..7 * 7 * 7).map(|i| [odd[i % 7], odd[i / 7 % 7], odd[i / 49]]).collect();
            let case = Case { dimensions, spline, min_m: [0.0; 3], max_m: [1.0; 3], points };
            let (layout, lattice) = (case.layout(), Lattice::new(&case.parameters()));
            let n = case.points.len();
            let blocks = SparseBlocks::new(&DEVICE, layout, n as u32, plenty(&layout, n), 64).unwrap();
            let mut keys = device_keys(&blocks, &case.points);
            for (key, point) in keys.iter().zip(&case.points) {
                let last = layout.n_blocks() * u64::from(layout.block_nodes()) - 1;
                assert!(u64::from(*key) <= last, "{key} of {point:?}");
            }
            keys.sort_unstable();
            check(&lattice, &layout, &keys, &find(&blocks, &keys)).unwrap();
        }
    }
}

#[test]
fn more_particles_or_blocks_than_can_be_numbered_are_refused() {
    let case = Case {
        dimensions: 3,
        spline: Spline::Cubic,
        min_m: [0.0; 3],
        max_m: [1.0; 3],
        points: vec![[0.5; 3]; 2],
    };
    let layout = case.layout();
    let blocks = SparseBlocks::new(&DEVICE, layout, 1, plenty(&layout, 1), 64).unwrap();
    let mut recorder = DEVICE.recorder().unwrap();
    let refused = blocks.record_find(&mut recorder, &count(2, 2), &padded(&[0, 0], 2));
    assert!(matches!(refused, Err(KernelError::Capacity { capacity: 1, .. })), "{refused:?}");
    let refused = BlockLayout::new(3, [0.0; 3], [1e6; 3], CELL_M, 1.0);
    assert!(matches!(refused, Err(KernelError::Grid { .. })), "{refused:?}");
    let refused = BlockLayout::new(2, [0.0; 3], [f32::NAN; 3], CELL_M, 1.0);
    assert!(matches!(refused, Err(KernelError::Grid { .. })), "{refused:?}");
}
