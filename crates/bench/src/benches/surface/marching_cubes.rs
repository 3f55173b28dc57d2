//! Marching cubes on a sparse lattice: from values of nodes to a mesh.

use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work, first_difference};
use crate::error::Result;
use frazil_kernels::{BLOCK_SIDE, BlockLayout, Counts, MeshCapacity};
use frazil_reference::surface::{IsoMesh, Nodes, marching_cubes};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};
use glam::DVec3;
use std::f32::consts::TAU;

/// Bench of marching cubes; elements are voxels: nodes that the field is given at.
pub struct MarchingCubes;

const BLOCK_NODES: usize = 64;
/// Level, which the field exceeds in half of space.
const ISO: f32 = 1.0;

/// Tolerance of positions per metre from the origin, and of normals: a few roundings of f32.
const TOLERANCE: f64 = 4e-6;

struct Workload {
    n: usize,
    blocks: DeviceCount,
    block: Buffer<u32>,
    value: Buffer<f32>,
    surface: frazil_kernels::MarchingCubes,
    extent_m: f64,
    expected: IsoMesh,
}

/// Returns the value of a gyroid, a foam-like surface that fills space, with cells of `period` nodes.
fn gyroid(node: [u32; 3], period: f32) -> f32 {
    let [x, y, z] = node.map(|n| n as f32 * TAU / period);
    ISO + x.sin() * y.cos() + y.sin() * z.cos() + z.sin() * x.cos()
}

impl Bench for MarchingCubes {
    fn id(&self) -> &'static str {
        "surface.marching_cubes"
    }

    fn about(&self) -> &'static str {
        "mesh with normals of a gyroid, from values at the nodes of blocks; elements are voxels"
    }

    fn axes(&self) -> Vec<Axis> {
        // With 32 cells about every seventh voxel has surface, with 8 every second.
        let period = Axis::integers("period", Domain::Integers(4, 256), &[8, 32], &[8]);
        vec![Axis::count(), period, Axis::workgroup_size()]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let (n, period) = (point.count()?, point.integer("period")? as f32);
        let n_blocks = n.div_ceil(BLOCK_NODES);
        // A body of blocks, one away from the borders of a lattice with cells of 1 m.
        let side = (n_blocks as f64).cbrt().ceil().max(1.0) as u32;
        let cells = ((side + 2) * BLOCK_SIDE - 9) as f32;
        let layout = BlockLayout::new(3, [0.0; 3], [cells; 3], 1.0, 1.0)?;
        let blocks_a_side = layout.lattice().blocks[0];
        let (mut number, mut value, mut nodes) = (Vec::new(), Vec::new(), Nodes::default());
        for i in 0..n_blocks as u32 {
            let at = [i % side, i / side % side, i / side / side].map(|b| b + 1);
            number.push((at[2] * blocks_a_side + at[1]) * blocks_a_side + at[0]);
            let values: [f32; BLOCK_NODES] = std::array::from_fn(|local| {
                let l = local as u32;
                let within = [l % BLOCK_SIDE, l / BLOCK_SIDE % BLOCK_SIDE, l / (BLOCK_SIDE * BLOCK_SIDE)];
                let node = std::array::from_fn(|axis| at[axis] * BLOCK_SIDE + within[axis]);
                if i as usize * BLOCK_NODES + local < n { gyroid(node, period) } else { 0.0 }
            });
            value.extend(values);
            nodes.insert(at.map(i64::from), values.map(f64::from));
        }
        let origin_m = DVec3::from_array(layout.lattice().origin_m.map(f64::from));
        let expected = marching_cubes(&nodes, origin_m, 1.0, ISO.into());
        let capacity = MeshCapacity {
            cube_blocks: (8 * n_blocks as u32).min((side + 1).pow(3)),
            vertices: expected.position.len() as u32,
            triangles: expected.triangles.len() as u32,
        };
        let surface = frazil_kernels::MarchingCubes::new(device, layout, capacity, point.workgroup_size()?)?;
        surface.cube_block_count().expect(capacity.cube_blocks);
        surface.vertex_count().expect(capacity.vertices);
        surface.triangle_count().expect(capacity.triangles);
        if number.is_empty() {
            number.push(0);
            value.extend([0.0; BLOCK_NODES]);
        }
        let capacity = number.len() as u32;
        Ok(Prepared::Device(Box::new(Workload {
            n,
            blocks: Counts::new(device)?.upload(device, "blocks", n_blocks as u32, capacity)?,
            block: device.buffer_from("block", &number)?,
            value: device.buffer_from("value", &value)?,
            surface,
            extent_m: f64::from(cells),
            expected,
        })))
    }
}

impl Workload {
    /// Returns the first vector that exceeds the tolerance.
    fn first_mismatch(
        name: &str,
        found: &[[f32; 3]],
        expected: &[DVec3],
        tolerance: f64,
    ) -> Option<Difference> {
        let wide = |v: &[f32; 3]| DVec3::from_array(v.map(f64::from));
        // Written so that a NaN exceeds any tolerance.
        let is_off = |i: &usize| {
            let distance = wide(&found[*i]).distance(expected[*i]);
            distance.is_nan() || distance > tolerance
        };
        (0..expected.len()).find(is_off).map(|i| {
            let (found, expected) = (found[i], expected[i]);
            Difference(format!("{name} of vertex {i} is {found:?}, expected {expected} to {tolerance}"))
        })
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let (vertices, triangles) = (self.expected.position.len(), self.expected.triangles.len());
        let bytes_minimum = 4 * self.n + 24 * vertices + 12 * triangles;
        Work { elements: self.n as u64, bytes_minimum: bytes_minimum as u64 }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(self.surface.position(), u32::MAX);
        recorder.fill(self.surface.normal(), u32::MAX);
        recorder.fill(self.surface.triangle(), u32::MAX);
        recorder.fill(&self.surface.vertex_count().count, u32::MAX);
        recorder.fill(&self.surface.triangle_count().count, u32::MAX);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        Ok(self.surface.record(recorder, &self.blocks, &self.block, &self.value, ISO)?)
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let expected = &self.expected;
        let counts = [self.surface.vertex_count(), self.surface.triangle_count()];
        for (count, expected) in counts.into_iter().zip([expected.position.len(), expected.triangles.len()]) {
            let found = device.download(&count.count, 1)?;
            if let Some(difference) = first_difference(count.count.name(), &found, &[expected as u32]) {
                return Ok(Some(difference));
            }
        }
        let found = device.download(self.surface.triangle(), expected.triangles.len())?;
        if let Some(difference) = first_difference("triangles", &found, &expected.triangles) {
            return Ok(Some(difference));
        }
        let n = expected.position.len();
        let found = device.download(self.surface.position(), n)?;
        let tolerance = TOLERANCE * (8.0 + self.extent_m);
        let off = Self::first_mismatch("position", &found, &expected.position, tolerance);
        let found = device.download(self.surface.normal(), n)?;
        let normal = |(outwards, edge): (&DVec3, &DVec3)| {
            if *outwards == DVec3::ZERO { *edge } else { outwards.normalize() }
        };
        let normals: Vec<DVec3> = expected.outwards.iter().zip(&expected.edge_outwards).map(normal).collect();
        Ok(off.or_else(|| Self::first_mismatch("normal", &found, &normals, 16.0 * TOLERANCE)))
    }
}
