//! The search for neighbours: by cells in either order.

use super::lattice::Points;
use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_kernels::{CellOrder, CellSort, Counts, UniformGrid};
use frazil_reference::primitives::{cell_starts, gather};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

/// Search radius, equal to the side of the cells.
const RADIUS_M: f32 = 1.0;

pub struct CountNeighbours;

const VARIANTS: &[&str] = &["linear", "z_order"];

struct Workload {
    count: DeviceCount,
    grid: UniformGrid,
    sorted_keys: Buffer<u32>,
    position: Buffer<[f32; 3]>,
    found: Buffer<[u32; 2]>,
    expected: Vec<Expected>,
}

/// Number of candidates, and the minimum and maximum count within the radius.
#[derive(Clone, Copy)]
struct Expected {
    candidates: u32,
    hits: [u32; 2],
}

impl Bench for CountNeighbours {
    fn id(&self) -> &'static str {
        "grid.count_neighbours"
    }

    fn about(&self) -> &'static str {
        "candidates and neighbours of each particle counted; eight particles a cell"
    }

    fn axes(&self) -> Vec<Axis> {
        let counts = &[1_000, 100_003, 500_009];
        let count = Axis::integers("count", Domain::Integers(0, 1 << 28), counts, &[1_000, 65_537]);
        vec![count, Axis::variant(VARIANTS)]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let points = Points::new(n);
        let variant = point.name("variant")?;
        let order = match variant {
            "linear" => CellOrder::Linear,
            "z_order" => CellOrder::ZOrder,
            _ => return Err(point.unknown("variant", VARIANTS)),
        };
        let grid = points.grid_in(device, order)?;
        let count = Counts::new(device)?.upload(device, "count", n as u32, n as u32)?;
        let position = device.buffer_from("position", &points.positions_m)?;
        let (sorted_keys, origin) = (device.buffer("sorted keys", n)?, device.buffer("origin", n)?);
        let mut recorder = device.recorder()?;
        grid.record_keys(&mut recorder, &count, &position, &sorted_keys);
        CellSort::new(device, n as u32, &grid)?.record(
            &mut recorder,
            &count,
            &grid,
            &sorted_keys,
            &origin,
        )?;
        device.submit(recorder)?.wait()?;
        let origin = device.download(&origin, n)?;
        let position = device.buffer_from("position", &gather(&points.positions_m, &origin))?;
        let found = device.buffer("found", n)?;
        let expected = gather(&expected(&points), &origin);
        Ok(Prepared::Device(Box::new(Workload { count, grid, sorted_keys, position, found, expected })))
    }
}

fn expected(points: &Points) -> Vec<Expected> {
    let cell_start = cell_starts(&points.sorted_keys, points.twin.n_cells());
    let search = |i: usize| {
        let runs =
            points.twin.neighbour_runs(points.twin.cell_from_index(points.sorted_keys[i]), &cell_start);
        let mut expected = Expected { candidates: 0, hits: [0; 2] };
        for j in runs.into_iter().flatten() {
            let squares = (0..3).map(|axis| {
                let d = f64::from(points.positions_m[i][axis]) - f64::from(points.positions_m[j][axis]);
                d * d
            });
            expected.candidates += 1;
            // The device rounds each of three products and two sums, or fuses them: a pair within this margin
            // of the radius may or may not count.
            let margin = squares.sum::<f64>() / f64::from(RADIUS_M * RADIUS_M) - 1.0;
            for (hits, rounding) in expected.hits.iter_mut().zip([-1e-6, 1e-6]) {
                *hits += u32::from(j != i && margin < rounding);
            }
        }
        expected
    };
    (0..points.positions_m.len()).map(search).collect()
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.expected.len() as u64;
        // Positions read, two numbers written; keys and cells are the grid's own.
        Work { elements, bytes_minimum: (12 + 8) * elements }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.found, 0xdead_beef);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        let Self { grid, count, sorted_keys, position, found, .. } = self;
        grid.record_neighbour_counts(recorder, count, sorted_keys, position, RADIUS_M, found);
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let found = device.download(&self.found, self.expected.len())?;
        let wrong = found.iter().zip(&self.expected).position(|([candidates, hits], expected)| {
            *candidates != expected.candidates || !(expected.hits[0]..=expected.hits[1]).contains(hits)
        });
        Ok(wrong.map(|i| {
            let ([candidates, hits], expected) = (found[i], &self.expected[i]);
            Difference(format!(
                "found[{i}] is {hits} of {candidates} candidates, expected {} to {} of {}",
                expected.hits[0], expected.hits[1], expected.candidates
            ))
        }))
    }
}
