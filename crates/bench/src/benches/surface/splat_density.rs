//! Densities of particles at nodes.

use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_kernels::{BLOCK_SIDE, BlockCapacity, BlockLayout, Counts, RadixSort, SparseBlocks, SplatMass};
use frazil_reference::surface::splat_densities;
use frazil_vk::{Buffer, Device, Recorder};
use glam::DVec3;

pub struct SplatDensity;

/// Support of the splat, in cells.
const RADIUS_CELLS: f32 = 2.0;
/// Mass of each particle.
const MASS_KG: f32 = 0.5;
/// Unit of positions, as a share of a cell of 1 m: no position is rounded, and both sides find the same
/// cells.
const UNIT: f32 = 1.0 / 256.0;
/// Tolerance of a sum, relative to itself and to the kernel's scale: a few roundings of f32.
const TOLERANCE: f64 = 4e-6;

struct Workload {
    n: usize,
    splat: frazil_kernels::SplatDensity,
    blocks: SparseBlocks,
    position: Buffer<[f32; 3]>,
    density: Buffer<f32>,
    /// Expected densities of the active blocks, in their order.
    expected: Vec<f64>,
}

/// Makes particles in a cube of cells, `per_cell` in each, at random positions.
fn places(n: usize, per_cell: usize) -> (u32, Vec<[f32; 3]>) {
    let side = (n.div_ceil(per_cell) as f64).cbrt().ceil().max(1.0) as u32;
    let place = |i: usize| {
        let cell = (i / per_cell) as u32;
        let at = [cell % side, cell / side % side, cell / side / side];
        let mut bits = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits ^= bits >> 31;
        std::array::from_fn(|axis| at[axis] as f32 + UNIT * (bits >> (8 * axis) & 0xff) as f32)
    };
    (side, (0..n).map(place).collect())
}

impl Bench for SplatDensity {
    fn id(&self) -> &'static str {
        "surface.splat_density"
    }

    fn about(&self) -> &'static str {
        "density at the nodes of blocks, of particles sorted by cell"
    }

    fn axes(&self) -> Vec<Axis> {
        let per_cell = Axis::integers("per_cell", Domain::Integers(1, 256), &[1, 8], &[8]);
        vec![Axis::count(), per_cell, Axis::workgroup_size()]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let workgroup_size = point.workgroup_size()?;
        let (side, places) = places(n, point.integer("per_cell")? as usize);
        let layout = BlockLayout::new(3, [0.0; 3], [side as f32; 3], 1.0, 1.0)?;
        // The blocks of the body, and one more on each side.
        let n_blocks = (side.div_ceil(BLOCK_SIDE) + 2).pow(3);
        let capacity = BlockCapacity { occupied: n_blocks, active: n_blocks };
        let blocks = SparseBlocks::new(device, layout, n as u32, capacity, workgroup_size)?;
        let count = Counts::new(device)?.upload(device, "count", n as u32, n as u32)?;
        let unsorted = device.buffer_from("position", &places)?;
        let (key, order) = (device.buffer("key", n)?, device.buffer("order", n)?);
        let mut recorder = device.recorder()?;
        blocks.record_keys(&mut recorder, &count, &unsorted, &key, None);
        let sort = RadixSort::new(device, n as u32)?;
        sort.record_order(&mut recorder, &count, &key, &order, layout.key_bits())?;
        blocks.record_find(&mut recorder, &count, &key)?;
        device.submit(recorder)?.wait()?;
        let order = device.download(&order, n)?;
        let sorted: Vec<[f32; 3]> = order.iter().map(|i| places[*i as usize]).collect();
        let n_active = device.download(&blocks.active_count().count, 1)?[0];
        blocks.active_count().expect(n_active);

        let wide = |x: &[f32; 3]| (DVec3::from_array(x.map(f64::from)), f64::from(MASS_KG));
        let particles: Vec<_> = places.iter().map(wide).collect();
        let lattice = layout.lattice();
        let origin_m = DVec3::from_array(lattice.origin_m.map(f64::from));
        let nodes = splat_densities(origin_m, 1.0, &particles, RADIUS_CELLS.into());
        let [blocks_x, blocks_y, _] = lattice.blocks;
        let of_block = |number: u32| {
            let block = [number % blocks_x, number / blocks_x % blocks_y, number / blocks_x / blocks_y];
            let nodes = &nodes;
            (0..layout.block_nodes()).map(move |node| {
                let within = [node % BLOCK_SIDE, node / BLOCK_SIDE % BLOCK_SIDE, node / BLOCK_SIDE.pow(2)];
                nodes.value(std::array::from_fn(|axis| i64::from(BLOCK_SIDE * block[axis] + within[axis])))
            })
        };
        let active = device.download(blocks.active(), n_active as usize)?;
        let expected = active.into_iter().flat_map(of_block).collect();
        Ok(Prepared::Device(Box::new(Workload {
            n,
            splat: frazil_kernels::SplatDensity::new(device, RADIUS_CELLS, workgroup_size)?,
            position: device.buffer_from("sorted position", &sorted)?,
            density: device.buffer("density", (layout.block_nodes() * blocks.capacity().active) as usize)?,
            blocks,
            expected,
        })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        // Positions read, densities written; all masses are the same.
        let bytes_minimum = 12 * self.n as u64 + 4 * self.expected.len() as u64;
        Work { elements: self.n as u64, bytes_minimum }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.density, u32::MAX);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        let mass = SplatMass::Same(MASS_KG);
        Ok(self.splat.record(recorder, &self.blocks, &self.position, mass, &self.density)?)
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let found = device.download(&self.density, self.expected.len())?;
        // Written so that a NaN exceeds any tolerance.
        let is_off = |i: &usize| {
            let (found, expected) = (f64::from(found[*i]), self.expected[*i]);
            let off = (found - expected).abs();
            off.is_nan() || off > TOLERANCE * (expected + f64::from(MASS_KG))
        };
        let off = (0..found.len()).find(is_off);
        Ok(off.map(|i| {
            Difference(format!("density of node {i} is {}, expected {}", found[i], self.expected[i]))
        }))
    }
}
