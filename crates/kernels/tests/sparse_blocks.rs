//! Blocks of a sparse lattice against the twin of the material point method.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::{
    BlockCapacity, BlockLayout, INVALID_INDEX, KernelError, MAX_TABLE_BLOCKS, SparseBlocks,
};
use frazil_reference::mpm::{
    Lattice, Material, Parameters, Particle, Spline, Transfer, Weights, cell_ranges, keep_order,
};
use frazil_reference::uniform_bodies::Surface;
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
                min_plastic_volume: 0.0,
                yield_share: 1.0,
                plastic: false,
            },
            transfer: Transfer::Apic,
            flip_ratio: 0.0,
            spline: self.spline,
            weights: Weights::Factored,
            strain_floor: false,
            node_mass_cutoff_kg: 0.0,
            has_contact_forces: false,
            bodies: Vec::new(),
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
    found(blocks, n)
}

/// Sorts points and finds their blocks in a table: results, keys and order. Keys are held as given, if any.
fn sort_and_find(
    blocks: &SparseBlocks,
    points: &[[f32; 3]],
    held: Option<&[u32]>,
) -> (Found, Vec<u32>, Vec<u32>) {
    let n = points.len();
    let count = count(n, n);
    let (key, order) = (padded(held.unwrap_or_default(), n + 1), padded(&[], n + 1));
    let position = DEVICE.buffer_from("position", points).unwrap();
    let hold = DEVICE.buffer_from("hold", &[7]).unwrap();
    run(|r| {
        blocks.record_keys(r, &count, &position, &key, held.map(|_| &hold));
        blocks.record_sort_and_find(r, &count, &key, &order).unwrap();
    });
    let [mut key, mut order] = [&key, &order].map(|list| DEVICE.download(list, n + 1).unwrap());
    assert_eq!((key.pop(), order.pop()), (Some(0xdead_beef), Some(0xdead_beef)), "written past the count");
    (found(blocks, n), key, order)
}

/// Returns the indices of ascending keys, equal ones in their order.
fn stable_order(keys: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    order.sort_by_key(|i| keys[*i as usize]);
    order
}

/// Downloads the results for `n` particles.
fn found(blocks: &SparseBlocks, n: usize) -> Found {
    let one = |count: &frazil_vk::DeviceCount| DEVICE.download(&count.count, 1).unwrap()[0] as usize;
    let (n_occupied, n_active) = (one(blocks.occupied_count()), one(blocks.active_count()));
    let reach = blocks.layout().reach() as usize;
    let nodes = blocks.layout().block_nodes() as usize;
    let first_cell = DEVICE.download(blocks.first_cell(), n_occupied).unwrap();
    // Starts of the cells of each block in turn, and the end of the last one.
    let n_starts = first_cell.last().map_or(0, |last| *last as usize + nodes + 1);
    let starts = DEVICE.download(blocks.cell_start(), n_starts).unwrap();
    let of_block = |first: &u32| &starts[*first as usize..*first as usize + nodes];
    let mut cell_start = first_cell.iter().map(of_block).collect::<Vec<_>>().concat();
    cell_start.extend(starts.last());
    Found {
        required: DEVICE.download(blocks.required(), 2).unwrap(),
        occupied: DEVICE.download(blocks.occupied(), n_occupied).unwrap(),
        active: DEVICE.download(blocks.active(), n_active).unwrap(),
        block_of: DEVICE.download(blocks.block_of(), n).unwrap(),
        cell_start,
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
        let wide_keys: Vec<u64> = keys.iter().map(|k| (*k).into()).collect();
        let expected = lattice.active_blocks(&lattice.occupied_blocks(&wide_keys));
        prop_assert_eq!(found.active.len(), expected.len());
        prop_assert_eq!(&find(&blocks, &keys), &found, "the same again");
        let other = if workgroup_size == 64 { 256 } else { 64 };
        let others = SparseBlocks::new(&DEVICE, layout, n as u32, plenty(&layout, n), other).unwrap();
        prop_assert_eq!(&find(&others, &keys), &found, "with other workgroups");
    });
}

#[test]
fn a_table_sorts_and_finds_the_same_blocks() {
    proptest!(config(60), |(case in case(), workgroup_size in workgroup_size())| {
        let (layout, lattice) = (case.layout(), Lattice::new(&case.parameters()));
        let n = case.points.len();
        let sorted =
            SparseBlocks::new(&DEVICE, layout, n as u32, plenty(&layout, n), workgroup_size).unwrap();
        let unsorted_keys = device_keys(&sorted, &case.points);
        let mut keys = unsorted_keys.clone();
        keys.sort_unstable();
        let expected = find(&sorted, &keys);
        let table =
            SparseBlocks::with_table(&DEVICE, layout, n as u32, plenty(&layout, n), workgroup_size).unwrap();
        let (found, key, order) = sort_and_find(&table, &case.points, None);
        check(&lattice, &layout, &keys, &found)?;
        prop_assert_eq!(&found, &expected, "a search among sorted keys gives the same");
        prop_assert_eq!(&key, &keys);
        prop_assert_eq!(&order, &stable_order(&unsorted_keys));

        // Keys that are held, in ascending order: nothing changes, wherever the particles are.
        let mut elsewhere = case.points.clone();
        elsewhere.reverse();
        let (held, key, order) = sort_and_find(&table, &elsewhere, Some(&keys));
        prop_assert_eq!(&held, &expected);
        prop_assert_eq!(&key, &keys);
        prop_assert_eq!(&order, &(0..n as u32).collect::<Vec<_>>());
    });
}

#[test]
fn a_table_that_overflows_leaves_the_order() {
    proptest!(config(40), |(case in case(), share in (0u32..100, 0u32..100))| {
        let layout = case.layout();
        let n = case.points.len();
        let mut table = SparseBlocks::with_table(&DEVICE, layout, n as u32, plenty(&layout, n), 64).unwrap();
        let (full, keys, order) = sort_and_find(&table, &case.points, None);
        let [occupied, active] = [full.required[0] * share.0 / 100, full.required[1] * share.1 / 100];
        table.resize(&DEVICE, BlockCapacity { occupied, active }).unwrap();
        let mut sorted = SparseBlocks::new(&DEVICE, layout, n as u32, plenty(&layout, n), 64).unwrap();
        sorted.resize(&DEVICE, BlockCapacity { occupied, active }).unwrap();
        let (short, _, kept) = sort_and_find(&table, &case.points, None);
        prop_assert_eq!(&short, &find(&sorted, &keys), "a search among sorted keys gives the same");
        let BlockCapacity { occupied, active } = table.capacity();
        let required = [short.required[0], short.required[1]];
        let mut expected = order.clone();
        keep_order(&mut expected, required, [occupied, active]);
        prop_assert_eq!(&kept, &expected);

        // The same after a search among sorted keys.
        let (count, order) = (count(n, n), padded(&order, n));
        run(|r| sorted.record_keep_order(r, &count, &order));
        prop_assert_eq!(&DEVICE.download(&order, n).unwrap(), &expected);
    });
}

#[test]
fn a_table_has_each_number_of_blocks_up_to_its_maximum() {
    // Around words of bits and the number of cells that the search scans itself; the last is the maximum.
    let rows = [9u32, 31, 32, 33, 1023, 1025, 4096];
    for (dimensions, n_blocks) in
        rows.into_iter().map(|n| (2, [n, 8])).chain([(2, [181, 181]), (3, [31, 33])])
    {
        let cells = n_blocks.map(|n| (n - 3) * 4 + 3);
        let max_m = [cells[0] as f32 * CELL_M, cells[1] as f32 * CELL_M, 4.0 * CELL_M];
        let mut random = Random::new(u64::from(n_blocks[0]));
        let points: Vec<[f32; 3]> = (0..700)
            .map(|_| {
                std::array::from_fn(|axis| {
                    if axis < dimensions as usize {
                        max_m[axis] * random.below(1001) as f32 / 1000.0
                    } else {
                        0.0
                    }
                })
            })
            .collect();
        let case = Case { dimensions, spline: Spline::Cubic, min_m: [0.0; 3], max_m, points };
        let (layout, n) = (case.layout(), case.points.len());
        assert!(layout.n_blocks() <= u64::from(MAX_TABLE_BLOCKS), "{n_blocks:?}");
        let sorted = SparseBlocks::new(&DEVICE, layout, n as u32, plenty(&layout, n), 64).unwrap();
        let mut keys = device_keys(&sorted, &case.points);
        let order = stable_order(&keys);
        keys.sort_unstable();
        let table = SparseBlocks::with_table(&DEVICE, layout, n as u32, plenty(&layout, n), 64).unwrap();
        assert_eq!(
            sort_and_find(&table, &case.points, None),
            (find(&sorted, &keys), keys, order),
            "{n_blocks:?}"
        );
    }

    // A particle in each block of the largest table: the most work for its workgroup.
    let side_m = 4.0 * CELL_M;
    let max_m = [29.0, 29.0, 29.0].map(|n: f32| n * side_m);
    let points = (0..29 * 29 * 29).map(|i| [i % 29, i / 29 % 29, i / 841].map(|k| (k as f32 + 0.5) * side_m));
    let case =
        Case { dimensions: 3, spline: Spline::Cubic, min_m: [0.0; 3], max_m, points: points.collect() };
    let (layout, n) = (case.layout(), case.points.len());
    assert!((32_000..=u64::from(MAX_TABLE_BLOCKS)).contains(&layout.n_blocks()), "{}", layout.n_blocks());
    let sorted = SparseBlocks::new(&DEVICE, layout, n as u32, plenty(&layout, n), 64).unwrap();
    let mut keys = device_keys(&sorted, &case.points);
    keys.sort_unstable();
    let table = SparseBlocks::with_table(&DEVICE, layout, n as u32, plenty(&layout, n), 64).unwrap();
    assert_eq!(sort_and_find(&table, &case.points, None).0, find(&sorted, &keys));

    let beyond = BlockLayout::new(2, [0.0; 3], [100.0; 3], CELL_M, 1.0).unwrap();
    assert!(beyond.n_blocks() > u64::from(MAX_TABLE_BLOCKS));
    let refused = SparseBlocks::with_table(&DEVICE, beyond, 1, plenty(&beyond, 1), 64);
    assert!(matches!(refused, Err(KernelError::Grid { .. })), "{:?}", refused.err());
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
                prop_assert!(
                    *target == INVALID_INDEX || !is_left_out && (*target as usize) < short.active.len()
                );
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
