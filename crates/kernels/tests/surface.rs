//! Densities at nodes and marching cubes against their twins, and against the analytic properties of spheres
//! and tori.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::{
    BlockCapacity, BlockLayout, KernelError, MarchingCubes, MeshCapacity, RadixSort, RequiredMeshCapacity,
    SparseBlocks, SplatDensity, SplatMass,
};
use frazil_reference::surface::{
    IsoMesh, Nodes, area, euler_characteristics, marching_cubes, splat_density, volume,
};
use frazil_testkit::Random;
use frazil_testkit::primitives::*;
use glam::DVec3;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;
use std::fmt;

/// A power of two, so that the twin's lattice has its nodes where the device's has.
const CELL_M: f32 = 0.125;

/// Values of blocks of a lattice.
#[derive(Clone)]
struct Field {
    layout: BlockLayout,
    number: Vec<u32>,
    value: Vec<f32>,
}

fn layout_of(max_m: [f32; 3], cell_m: f32) -> BlockLayout {
    BlockLayout::new(3, [0.0; 3], max_m, cell_m, 1.0).unwrap()
}

/// Makes a lattice with the given number of blocks along each axis, three or more.
fn lattice_of(blocks: [u32; 3]) -> BlockLayout {
    let layout = layout_of(blocks.map(|n| CELL_M * (4 * n - 9) as f32), CELL_M);
    assert_eq!(layout.lattice().blocks, blocks);
    layout
}

/// Returns the position of a block, by its number.
fn block_place(layout: &BlockLayout, number: u32) -> [i64; 3] {
    let [x, y, _] = layout.lattice().blocks;
    [number % x, number / x % y, number / x / y].map(i64::from)
}

fn node_place(layout: &BlockLayout, number: u32, n: usize) -> [i64; 3] {
    let block = block_place(layout, number);
    let n = n as i64;
    let local = [n % 4, n / 4 % 4, n / 16];
    std::array::from_fn(|axis| 4 * block[axis] + local[axis])
}

fn place_m(layout: &BlockLayout, node: [i64; 3]) -> DVec3 {
    let origin_m = DVec3::from_array(layout.lattice().origin_m.map(f64::from));
    origin_m + DVec3::from_array(node.map(|n| n as f64)) / f64::from(layout.lattice().cells_per_m)
}

/// Prints without the thousands of values; the failure message says which values matter.
impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let some = &self.value[..self.value.len().min(8)];
        f.debug_struct("Field")
            .field("layout", &self.layout)
            .field("number", &self.number)
            .field("begin", &some)
            .finish()
    }
}

impl Field {
    /// Returns the field of the blocks of a lattice in which a function is above 0 somewhere.
    fn of(layout: BlockLayout, value: impl Fn([i64; 3]) -> f32) -> Self {
        let mut field = Self { layout, number: Vec::new(), value: Vec::new() };
        for number in 0..layout.n_blocks() as u32 {
            let values: [f32; 64] = std::array::from_fn(|n| value(node_place(&layout, number, n)));
            if values.iter().any(|v| *v > 0.0) {
                field.number.push(number);
                field.value.extend(values);
            }
        }
        field
    }

    fn nodes(&self) -> Nodes {
        let mut nodes = Nodes::default();
        for (number, values) in self.number.iter().zip(self.value.chunks_exact(64)) {
            nodes.insert(block_place(&self.layout, *number), std::array::from_fn(|n| f64::from(values[n])));
        }
        nodes
    }

    fn twin(&self, iso: f32) -> IsoMesh {
        let cell_m = 1.0 / f64::from(self.layout.lattice().cells_per_m);
        marching_cubes(&self.nodes(), place_m(&self.layout, [0; 3]), cell_m, iso.into())
    }
}

/// All results of the device, as bits.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    required: RequiredMeshCapacity,
    position: Vec<[f32; 3]>,
    normal: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
}

impl Found {
    fn places(&self) -> Vec<DVec3> {
        self.position.iter().map(|x| DVec3::from_array(x.map(f64::from))).collect()
    }

    fn euler_characteristics(&self) -> Vec<i64> {
        euler_characteristics(self.position.len(), &self.triangles).unwrap()
    }
}

fn surface(layout: BlockLayout, capacity: MeshCapacity, workgroup_size: u32) -> MarchingCubes {
    MarchingCubes::new(&DEVICE, layout, capacity, workgroup_size).unwrap()
}

fn find(surface: &MarchingCubes, field: &Field, iso: f32) -> Found {
    let n = field.number.len();
    // Garbage after the count: invalid blocks, with values that would be inside.
    let number = padded(&field.number, n + 1);
    let value = DEVICE.buffer_from("value", &[&field.value[..], &[1e30; 64]].concat()).unwrap();
    let count = count(n, n + 1);
    run(|r| surface.record(r, &count, &number, &value, iso).unwrap());
    let length = |count: &frazil_vk::DeviceCount| DEVICE.download(&count.count, 1).unwrap()[0] as usize;
    let (vertices, triangles) = (length(surface.vertex_count()), length(surface.triangle_count()));
    Found {
        required: DEVICE.download(&surface.required().cast::<RequiredMeshCapacity>(), 1).unwrap()[0],
        position: DEVICE.download(surface.position(), vertices).unwrap(),
        normal: DEVICE.download(surface.normal(), vertices).unwrap(),
        triangles: DEVICE.download(surface.triangle(), triangles).unwrap(),
    }
}

/// Returns a capacity that suffices for any field in the given number of blocks.
fn plenty(blocks: usize) -> MeshCapacity {
    let n = blocks as u32;
    MeshCapacity { cube_blocks: 8 * n, vertices: 8 * 192 * n, triangles: 8 * 320 * n }
}

/// Finds the surface with exactly the capacity that a first attempt requires.
fn found_in(field: &Field, iso: f32) -> Found {
    let n = field.number.len() as u32;
    let tight = MeshCapacity { cube_blocks: 8 * n, vertices: 1, triangles: 1 };
    let mut mesh = surface(field.layout, tight, 64);
    let RequiredMeshCapacity { cube_blocks, vertices, triangles } = find(&mesh, field, iso).required;
    mesh.resize(&DEVICE, MeshCapacity { cube_blocks, vertices, triangles }).unwrap();
    let found = find(&mesh, field, iso);
    assert!(found.required.fits(mesh.capacity()));
    found
}

/// Compares vertex by vertex and triangle by triangle: the twin lists both in the device's order.
fn check(field: &Field, found: &Found, twin: &IsoMesh) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.position.len(), twin.position.len());
    let cell_m = 1.0 / f64::from(field.layout.lattice().cells_per_m);
    let largest = field.value.iter().filter(|v| v.is_finite()).fold(0.0f64, |m, v| m.max(v.abs().into()));
    let is_finite = field.value.iter().all(|v| v.is_finite());
    for (i, place) in found.places().iter().enumerate() {
        let off = place.distance(twin.position[i]);
        // A share of an edge, and a coordinate of less than 64 cells, in f32.
        prop_assert!(off <= 1e-5 * cell_m, "vertex {} at {}, expected {}", i, place, twin.position[i]);
        let normal = DVec3::from_array(found.normal[i].map(f64::from));
        prop_assert!((normal.length() - 1.0).abs() < 1e-6, "normal {} of length {}", i, normal.length());
        let outwards = twin.outwards[i];
        if twin.is_flat[i] {
            prop_assert_eq!(normal, twin.edge_outwards[i]);
        } else if is_finite && outwards.length() > 1e-3 * largest {
            // Differences of values are rounded by 2⁻²⁴ of the largest.
            let off = normal.distance(outwards.normalize());
            prop_assert!(off < 1e-5 + 1e-6 * largest / outwards.length(), "normal {} off by {}", i, off);
        }
    }
    prop_assert_eq!(&found.triangles, &twin.triangles);
    let closed = euler_characteristics(found.position.len(), &found.triangles);
    prop_assert!(closed.is_ok(), "{:?}", closed);
    let triangles = &found.triangles;
    prop_assert!(triangles.is_empty() || !is_finite || volume(&found.places(), triangles) > 0.0);
    Ok(())
}

/// Fields of every kind, in some blocks of a small lattice, in any order.
fn field() -> impl Strategy<Value = Field> {
    ([3u32..6, 3u32..5, 3u32..5], 0u8..8, 0u32..101, any::<u64>()).prop_map(
        |(blocks, kind, percent, seed)| {
            let layout = lattice_of(blocks);
            let mut random = Random::new(seed | 1);
            let mut random = move || random.bits();
            let mut number: Vec<u32> =
                (0..layout.n_blocks() as u32).filter(|_| random() % 100 < percent).collect();
            for i in (1..number.len()).rev() {
                number.swap(i, random() as usize % (i + 1));
            }
            let mut value = Vec::new();
            for n in number.iter().flat_map(|number| (0..64).map(move |n| (*number, n))) {
                let share = random() as f32 / (1 << 24) as f32;
                let [x, y, z] = node_place(&layout, n.0, n.1).map(|n| n as f32);
                value.push(match kind {
                    0 => 2.0 * share,
                    // Either sign; only just inside or outside; far above and below.
                    1 => 4.0 * share - 2.0,
                    2 => 1.0 + (share - 0.5) * 1e-6,
                    3 => [1e30, -1e30, 1.0 + 1e-6, 0.0][random() as usize % 4],
                    // At the level itself, above and below it.
                    4 => [0.0, 1.0, 2.0][random() as usize % 3],
                    5 => [1.0, 0.0][random() as usize % 2],
                    // Smooth, with ambiguous faces now and then.
                    6 => 1.0 + (0.9 * x).sin() * (0.8 * y).cos() + (0.7 * z).sin() * (0.9 * x).cos(),
                    _ => [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3.0 * share][random() as usize % 4],
                });
            }
            Field { layout, number, value }
        },
    )
}

#[test]
fn meshes_agree_with_the_twin_and_are_closed_for_any_field() {
    proptest!(config(60), |(field in field(), workgroup_size in workgroup_size())| {
        let capacity = plenty(field.number.len());
        let mesh = surface(field.layout, capacity, workgroup_size);
        let found = find(&mesh, &field, 1.0);
        check(&field, &found, &field.twin(1.0))?;
        prop_assert!(found.required.fits(mesh.capacity()));
        prop_assert_eq!(found.required.vertices as usize, found.position.len());
        prop_assert_eq!(found.required.triangles as usize, found.triangles.len());
        let bits = |normals: &[[f32; 3]]| normals.iter().map(|n| n.map(f32::to_bits)).collect::<Vec<_>>();
        // Earlier results leave nothing behind: other blocks, then these again, give the same bits.
        let kept = field.number.len() / 2;
        let half = Field {
            number: field.number[..kept].to_vec(),
            value: field.value[..64 * kept].to_vec(),
            ..field
        };
        check(&half, &find(&mesh, &half, 1.0), &half.twin(1.0))?;
        prop_assert!(find(&mesh, &field, 1.0) == found);
        // With other workgroups, and blocks in another order.
        let other = surface(field.layout, capacity, if workgroup_size == 64 { 256 } else { 64 });
        let mut turned = field.clone();
        turned.number.reverse();
        turned.value = field.value.chunks_exact(64).rev().flatten().copied().collect();
        let again = find(&other, &turned, 1.0);
        prop_assert!(again.position == found.position && again.triangles == found.triangles);
        prop_assert_eq!(bits(&again.normal), bits(&found.normal));
    });
}

/// Makes a field of each of the 256 cases, separate from one another, with its lowest corner `first` nodes
/// above that of every `spacing`th block.
fn all_cases(spacing: i64, first: i64, at_level: bool) -> Field {
    let layout = lattice_of([spacing as u32 * 8, spacing as u32 * 8, spacing as u32 * 4]);
    let inside = if at_level { 1.0 } else { 1.75 };
    Field::of(layout, |node| {
        let period = 4 * spacing;
        let [x, y, z] = node.map(|n| n / period);
        let [i, j, k] = node.map(|n| n % period - first);
        let is_corner = [i, j, k].iter().all(|n| (0..2).contains(n));
        let case = x + 8 * (y + 8 * z);
        if is_corner && case >> (i + 2 * j + 4 * k) & 1 == 1 { inside } else { 0.0 }
    })
}

#[test]
fn each_of_the_256_cases_is_closed_and_agrees_with_the_twin() {
    // Within a block; across the borders of eight; with corners exactly at the level.
    for (spacing, first, at_level) in [(1, 1, false), (2, 3, false), (1, 1, true)] {
        let field = all_cases(spacing, first, at_level);
        let found = found_in(&field, 1.0);
        let twin = field.twin(1.0);
        check(&field, &found, &twin).unwrap();
        let of_cases: BTreeSet<[i64; 3]> = found
            .places()
            .iter()
            .map(|x| ((*x - place_m(&field.layout, [0; 3])) / f64::from(CELL_M)).to_array())
            .map(|cells| cells.map(|n| n.floor() as i64 / (4 * spacing)))
            .collect();
        assert_eq!(of_cases.len(), 255, "all cases have a surface but the empty one");
        // Corners across a diagonal stay separate: there are as many surfaces as runs of corners that are
        // joined by edges.
        let pieces = |case: u32| {
            let mut left: BTreeSet<u32> = (0..8).filter(|c| case >> c & 1 == 1).collect();
            let mut n = 0;
            while let Some(first) = left.pop_first() {
                n += 1;
                let mut open = vec![first];
                while let Some(c) = open.pop() {
                    open.extend([1, 2, 4].map(|bit| c ^ bit).into_iter().filter(|c| left.remove(c)));
                }
            }
            n
        };
        let expected: i64 = (0..256).map(pieces).sum();
        let found = found.euler_characteristics();
        assert_eq!((found.len() as i64, found.iter().sum::<i64>()), (expected, 2 * expected));
    }
}

/// Returns a field around the middle of a domain, which is not a node, with the given number of cells per
/// metre.
fn smooth(cells_per_m: i32, half_m: [f32; 3], value: impl Fn(DVec3) -> f64) -> Field {
    let cell_m = 1.0 / cells_per_m as f32;
    let layout = layout_of(half_m.map(|x| 2.0 * x), cell_m);
    let middle = DVec3::from_array(half_m.map(f64::from)) + DVec3::new(0.0123, 0.0311, -0.0217);
    Field::of(layout, |node| value(place_m(&layout, node) - middle).max(0.0) as f32)
}

/// Returns the field of a ball of radius 1 m around the middle: 1 on its surface, with a gradient of 2/m.
fn ball(x: DVec3) -> f64 {
    2.0 - x.length_squared()
}

/// Returns the field of a ring of radius 1 m around z, 0.4 m thick.
fn ring(x: DVec3) -> f64 {
    let across = x.truncate().length() - 1.0;
    2.0 - (across * across + x.z * x.z) / 0.16
}

/// Returns log₂ of the ratio of each error to the next.
fn orders(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect()
}

#[test]
fn area_and_volume_of_a_sphere_and_a_torus_converge_with_the_square_of_the_cells() {
    type Case = (&'static str, fn(DVec3) -> f64, [f32; 3], i64, f64, f64, [i32; 4]);
    let ring_area = 4.0 * PI * PI * 0.4;
    let cases: [Case; 2] = [
        ("sphere", ball, [1.5; 3], 2, 4.0 * PI, 4.0 / 3.0 * PI, [4, 8, 16, 32]),
        ("torus", ring, [1.7, 1.7, 0.7], 0, ring_area, ring_area * 0.2, [8, 16, 32, 48]),
    ];
    for (name, value, half_m, euler, area_m2, volume_m3, cells) in cases {
        let mut errors = [Vec::new(), Vec::new()];
        for n in cells {
            let found = found_in(&smooth(n, half_m, value), 1.0);
            assert_eq!(found.euler_characteristics(), [euler], "{name}, {n} cells a metre");
            let places = found.places();
            errors[0].push((area(&places, &found.triangles) - area_m2).abs() / area_m2);
            errors[1].push((volume(&places, &found.triangles) - volume_m3).abs() / volume_m3);
        }
        let finest = (f64::from(cells[3]) / f64::from(cells[2])).log2();
        for (what, errors) in ["area", "volume"].iter().zip(&errors) {
            let mut measured = orders(errors);
            measured[2] /= finest;
            println!("{what} of a {name}: relative errors {errors:.6?}, orders {measured:.2?}");
            // From the second on; the coarsest cells are a third of the body.
            assert!(measured[1..].iter().all(|order| (1.8..2.2).contains(order)), "{name}: {measured:?}");
            assert!(errors[3] < 1e-3, "{name}: {errors:?}");
        }
    }
}

#[test]
fn normals_of_a_sphere_point_out_along_its_radius() {
    let field = smooth(8, [1.5; 3], ball);
    let found = found_in(&field, 1.0);
    let middle = DVec3::splat(1.5) + DVec3::new(0.0123, 0.0311, -0.0217);
    for (place, normal) in found.places().iter().zip(&found.normal) {
        // Differences of a parabola are its gradient, except for the rounding of values.
        let off = DVec3::from_array(normal.map(f64::from)).distance((*place - middle).normalize());
        assert!(off < 1e-5, "{off} at {place}");
    }
}

#[test]
fn two_blobs_are_two_spheres_until_they_touch() {
    for (apart_m, expected) in [(2.5, vec![2, 2]), (1.9, vec![2]), (1.0, vec![2])] {
        let field = smooth(8, [2.8, 1.5, 1.5], |x| {
            let side = DVec3::X * (apart_m / 2.0);
            ball(x - side).max(0.0) + ball(x + side).max(0.0)
        });
        let found = found_in(&field, 1.0);
        assert_eq!(found.euler_characteristics(), expected, "{apart_m} m apart");
    }
    // A ball with a ball-shaped hole: two spheres, the inner one seen from within.
    let field = smooth(8, [1.5; 3], |x| {
        if x.length() < 0.9 { 2.0 - 4.0 * (0.75 - x.length()).max(0.0) } else { ball(x) }
    });
    let found = found_in(&field, 1.0);
    assert_eq!(found.euler_characteristics(), [2, 2]);
    let places = found.places();
    let expected = 4.0 / 3.0 * PI * (1.0 - 0.5f64.powi(3));
    let volume = volume(&places, &found.triangles);
    assert!((volume / expected - 1.0).abs() < 0.02, "{volume}");
}

#[test]
fn mesh_overflow_reports_the_required_capacity_and_leaves_no_dangling_index() {
    let field = smooth(4, [1.5; 3], ball);
    let full = found_in(&field, 1.0);
    let [blocks, vertices, triangles] =
        [full.required.cube_blocks, full.required.vertices, full.required.triangles];
    for (b, v, t) in [(4, 1, 4), (4, 4, 1), (4, 3, 3), (1, 4, 4), (2, 2, 4), (0, 0, 0)] {
        let capacity = MeshCapacity {
            cube_blocks: blocks * b / 4,
            vertices: vertices * v / 4,
            triangles: triangles * t / 4,
        };
        let mesh = surface(field.layout, capacity, 64);
        let capacity = mesh.capacity();
        let found = find(&mesh, &field, 1.0);
        assert!(!found.required.fits(capacity));
        assert_eq!(found.required.cube_blocks, blocks);
        assert!(found.position.len() <= capacity.vertices as usize);
        assert!(found.triangles.len() <= capacity.triangles as usize);
        for (i, triangle) in found.triangles.iter().enumerate() {
            assert!(triangle.iter().all(|v| (*v as usize) < found.position.len()), "{triangle:?}");
            if b == 4 {
                let expected = full.triangles[i];
                let is_whole = expected.iter().all(|v| *v < capacity.vertices);
                assert_eq!(*triangle, if is_whole { expected } else { [0; 3] });
            }
        }
        if b == 4 {
            let kept = found.position.len();
            assert_eq!(found.position[..], full.position[..kept]);
            assert_eq!([found.required.vertices, found.required.triangles], [vertices, triangles]);
        }
        // With the required capacity, after one or two attempts, everything is found.
        let mut mesh = mesh;
        let mut found = found;
        for _ in 0..2 {
            let RequiredMeshCapacity { cube_blocks, vertices, triangles } = found.required;
            mesh.resize(&DEVICE, MeshCapacity { cube_blocks, vertices, triangles }).unwrap();
            found = find(&mesh, &field, 1.0);
        }
        assert!(found == full);
    }
}

#[test]
fn no_blocks_have_no_surface() {
    let layout = lattice_of([3; 3]);
    let found = find(&surface(layout, plenty(0), 64), &Field { layout, number: vec![], value: vec![] }, 1.0);
    assert_eq!((found.position.len(), found.triangles.len()), (0, 0));
    assert_eq!(found.required, RequiredMeshCapacity { cube_blocks: 0, vertices: 0, triangles: 0 });
    // A block number outside the lattice has no block.
    let field = Field { layout, number: vec![27, u32::MAX], value: vec![2.0; 128] };
    assert_eq!(find(&surface(layout, plenty(2), 64), &field, 1.0).position.len(), 0);
}

/// Particles sorted by key, and their blocks.
struct Sorted {
    blocks: SparseBlocks,
    position: Vec<[f32; 3]>,
    mass: Vec<f32>,
}

fn sorted(layout: BlockLayout, position: &[[f32; 3]], mass: &[f32], workgroup_size: u32) -> Sorted {
    let n = position.len();
    let capacity = BlockCapacity { occupied: n as u32, active: 8 * n as u32 };
    let blocks = SparseBlocks::new(&DEVICE, layout, n as u32, capacity, workgroup_size).unwrap();
    let sort = RadixSort::new(&DEVICE, n as u32).unwrap();
    let count = count(n, n);
    let (key, order) = (padded(&[], n), padded(&[], n));
    let unsorted = DEVICE.buffer_from("position", position).unwrap();
    run(|r| {
        blocks.record_keys(r, &count, &unsorted, &key, None);
        sort.record_order(r, &count, &key, &order, layout.key_bits()).unwrap();
        blocks.record_find(r, &count, &key).unwrap();
    });
    let order = DEVICE.download(&order, n).unwrap();
    Sorted {
        blocks,
        position: order.iter().map(|i| position[*i as usize]).collect(),
        mass: order.iter().map(|i| mass[*i as usize]).collect(),
    }
}

impl Sorted {
    /// Returns the densities of nodes, by position, and the buffer.
    fn densities(&self, splat: &SplatDensity, same_kg: Option<f32>) -> BTreeMap<[i64; 3], f32> {
        let value = self.splat(splat, same_kg);
        let n = DEVICE.download(&self.blocks.active_count().count, 1).unwrap()[0] as usize;
        let active = DEVICE.download(self.blocks.active(), n).unwrap();
        let values = DEVICE.download(&value, 64 * n).unwrap();
        let place = |i: usize| node_place(self.blocks.layout(), active[i / 64], i % 64);
        values.iter().enumerate().map(|(i, value)| (place(i), *value)).collect()
    }

    fn splat(&self, splat: &SplatDensity, same_kg: Option<f32>) -> frazil_vk::Buffer<f32> {
        let n_nodes = 64 * self.blocks.capacity().active as usize;
        let value = DEVICE.buffer_from("density", &vec![f32::NAN; n_nodes]).unwrap();
        let position = DEVICE.buffer_from("position", &self.position).unwrap();
        let mass = DEVICE.buffer_from("mass", &self.mass).unwrap();
        let mass = same_kg.map_or(SplatMass::Each(&mass), SplatMass::Same);
        run(|r| splat.record(r, &self.blocks, &position, mass, &value).unwrap());
        value
    }
}

/// Particles around a lattice of three blocks per side, in numbers around powers of two and workgroup sizes.
fn particles() -> impl Strategy<Value = (Vec<[f32; 3]>, Vec<f32>)> {
    let n = prop_oneof![
        Just(0usize),
        Just(1),
        (1u32..10, 0usize..3).prop_map(|(log, d)| (1 << log) + d - 1),
        2usize..700,
    ];
    (n, 0u8..5, any::<u64>()).prop_map(|(n, kind, seed)| {
        let mut random = Random::new(seed | 1);
        let mut below = move |n: u64| random.below(n);
        let side = 12.0 * CELL_M;
        let mut coordinate = || match kind {
            // Anywhere; on nodes; at the middles of cells; all in a cell; at the domain's corners.
            0 => side * below(1 << 20) as f32 / (1 << 20) as f32,
            1 => CELL_M * below(13) as f32,
            2 => CELL_M * (below(12) as f32 + 0.5),
            3 => CELL_M * (5.0 + below(1 << 20) as f32 / (1 << 20) as f32),
            _ => side * below(2) as f32,
        };
        let position = (0..n).map(|_| std::array::from_fn(|_| coordinate())).collect();
        let mass = (0..n).map(|i| 0.5 + (i % 7) as f32).collect();
        (position, mass)
    })
}

#[test]
fn densities_agree_with_the_twin_at_every_node_that_particles_reach() {
    let radii = prop_oneof![Just((2.0f32, 1.0f32)), Just((1.5, 0.5)), Just((1.0, 1.0)), Just((0.7, 1.0))];
    proptest!(config(40), |((position, mass) in particles(), (radius, shift) in radii,
        same in any::<bool>(), workgroup_size in workgroup_size())| {
        let layout = BlockLayout::new(3, [0.0; 3], [12.0 * CELL_M; 3], CELL_M, shift).unwrap();
        let splat = SplatDensity::new(&DEVICE, radius, workgroup_size).unwrap();
        let sorted = sorted(layout, &position, &mass, workgroup_size);
        let same_kg = same.then_some(0.75);
        let found = sorted.densities(&splat, same_kg);
        let particles: Vec<(DVec3, f64)> = position
            .iter()
            .zip(&mass)
            .map(|(x, m)| (DVec3::from_array(x.map(f64::from)), f64::from(same_kg.unwrap_or(*m))))
            .collect();
        let radius_m = f64::from(radius * CELL_M);
        let scale = 16.0 / PI / radius_m.powi(3);
        let weight: f64 = particles.iter().map(|(_, m)| m).sum();
        let [x, y, z] = layout.lattice().blocks.map(|n| 4 * i64::from(n));
        for node in (0..x * y * z).map(|i| [i % x, i / x % y, i / x / y]) {
            let expected = splat_density(place_m(&layout, node), &particles, radius_m);
            match found.get(&node) {
                // Sums of shapes up to a quarter, each rounded.
                Some(value) => {
                    let off = (f64::from(*value) - expected).abs();
                    let tolerance = 3e-6 * expected + 1e-6 * scale * weight.min(8.0);
                    prop_assert!(off <= tolerance, "{} at {:?}, expected {}", value, node, expected);
                }
                // At the rim of a splat, its value is only rounding error.
                None => prop_assert!(expected < 1e-12 * scale, "{} at {:?}, found none", expected, node),
            }
        }
        prop_assert_eq!(&sorted.densities(&splat, same_kg), &found, "the same again");
        let other = SplatDensity::new(&DEVICE, radius, if workgroup_size == 64 { 256 } else { 64 }).unwrap();
        prop_assert_eq!(&sorted.densities(&other, same_kg), &found, "with other workgroups");
    });
}

/// A body of particles from end to end: its surface is where the density is half of the interior value.
#[test]
fn a_ball_of_particles_has_a_closed_surface_about_its_volume() {
    let (spacing_m, radius_m) = (f64::from(CELL_M), 1.0);
    let middle = DVec3::splat(1.5);
    let along = |i: i32| spacing_m * (f64::from(i) + 0.37);
    let all = (0..24 * 24 * 24).map(|i| DVec3::new(along(i % 24), along(i / 24 % 24), along(i / 576)));
    let position: Vec<[f32; 3]> =
        all.filter(|x| x.distance(middle) < radius_m).map(|x| x.to_array().map(|x| x as f32)).collect();
    let mass_kg = 300.0 * CELL_M.powi(3);
    let layout = layout_of([3.0; 3], CELL_M);
    let sorted = sorted(layout, &position, &vec![mass_kg; position.len()], 128);
    let splat = SplatDensity::new(&DEVICE, 2.0, 128).unwrap();
    assert_eq!(splat.radius_cells(), 2.0);
    let densities = sorted.densities(&splat, None);
    // Sums of the spline over a cubic lattice are 1.0000 of the density at its points, and within 0.002 of it
    // between them.
    let within = densities[&[16, 16, 16]];
    assert!((within / 300.0 - 1.0).abs() < 2e-3, "{within} kg/m³");
    let total: f64 = densities.values().map(|v| f64::from(*v) * spacing_m.powi(3)).sum();
    let expected = f64::from(mass_kg) * position.len() as f64;
    assert!((total / expected - 1.0).abs() < 2e-3, "nodes weigh {total} kg, particles {expected} kg");

    let n = position.len();
    let mesh = surface(layout, plenty(n), 128);
    let value = sorted.splat(&splat, Some(mass_kg));
    run(|r| mesh.record(r, sorted.blocks.active_count(), sorted.blocks.active(), &value, 150.0).unwrap());
    let required = DEVICE.download(&mesh.required().cast::<RequiredMeshCapacity>(), 1).unwrap()[0];
    assert!(required.fits(mesh.capacity()));
    let position = DEVICE.download(mesh.position(), required.vertices as usize).unwrap();
    let places: Vec<DVec3> = position.iter().map(|x| DVec3::from_array(x.map(f64::from))).collect();
    let triangles = DEVICE.download(mesh.triangle(), required.triangles as usize).unwrap();
    assert_eq!(euler_characteristics(places.len(), &triangles), Ok(vec![2]));
    let found = volume(&places, &triangles);
    let expected = n as f64 * spacing_m.powi(3);
    assert!((found / expected - 1.0).abs() < 0.05, "{found} m³, particles have {expected} m³");
}

#[test]
fn invalid_settings_are_refused() {
    let layout = lattice_of([3; 3]);
    let flat = BlockLayout::new(2, [0.0; 3], [1.0; 3], CELL_M, 1.0).unwrap();
    let capacity = plenty(2);
    let problem = |error: KernelError| error.to_string();
    let refused = MarchingCubes::new(&DEVICE, flat, capacity, 64).err().unwrap();
    assert_eq!(problem(refused), "surface: blocks in 2 dimensions, expected 3");
    let refused = MarchingCubes::new(&DEVICE, layout, capacity, 32).err().unwrap();
    assert!(matches!(refused, KernelError::WorkgroupSize { found: 32, minimum: 64, .. }), "{refused:?}");

    let mesh = surface(layout, capacity, 64);
    let (two, block) = (count(2, 2), padded(&[0, 1], 2));
    let value = DEVICE.buffer_from("value", &[0.0f32; 128]).unwrap();
    let short = DEVICE.buffer_from("short", &[0.0f32; 127]).unwrap();
    let mut recorder = DEVICE.recorder().unwrap();
    for iso in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let refused = mesh.record(&mut recorder, &two, &block, &value, iso).err().unwrap();
        assert_eq!(
            problem(refused),
            format!("surface: a surface at the level {iso}, expected a finite level above 0")
        );
    }
    let refused = mesh.record(&mut recorder, &two, &block, &short, 1.0).err().unwrap();
    assert!(problem(refused).contains("\"short\" holds 127 elements, 128 are required"));
    let refused = mesh.record(&mut recorder, &two, &padded(&[0], 1), &value, 1.0).err().unwrap();
    assert!(matches!(refused, KernelError::TooSmall { found: 1, required: 2, .. }), "{refused:?}");

    for radius in [0.0, -1.0, 2.001, f32::NAN] {
        let refused = SplatDensity::new(&DEVICE, radius, 64).err().unwrap();
        assert!(
            problem(refused).contains(&format!("radius of {radius} cells, expected above 0 and at most 2"))
        );
    }
    let splat = SplatDensity::new(&DEVICE, 2.0, 64).unwrap();
    let capacity = BlockCapacity { occupied: 1, active: 2 };
    let position = DEVICE.buffer_from("position", &[[0.0f32; 3]; 2]).unwrap();
    let mut record = |layout: BlockLayout, mass: SplatMass<'_>, value: &frazil_vk::Buffer<f32>| {
        let blocks = SparseBlocks::new(&DEVICE, layout, 2, capacity, 64).unwrap();
        splat.record(&mut recorder, &blocks, &position, mass, value).err().unwrap()
    };
    let near = BlockLayout::new(3, [0.0; 3], [1.0; 3], CELL_M, 0.5).unwrap();
    let one = SplatMass::Same(1.0);
    let refused = problem(record(near, one, &value));
    assert!(refused.contains("from 0.5 cells below, expected 1 to 1 for a radius of 2 cells"), "{refused}");
    assert!(problem(record(flat, one, &value)).contains("2 dimensions"));
    assert!(problem(record(layout, SplatMass::Same(f32::NAN), &value)).contains("particles of NaN kg"));
    assert!(problem(record(layout, one, &short)).contains("128 are required"));
    let light = DEVICE.buffer_from("light", &[1.0f32]).unwrap();
    assert!(problem(record(layout, SplatMass::Each(&light), &value)).contains("\"light\" holds 1"));
}
