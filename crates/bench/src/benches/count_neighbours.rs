//! A search for neighbours that does nothing with them.

use super::lattice::Points;
use crate::axis::{Axis, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_kernels::{Counts, UniformGrid};
use frazil_reference::primitives::cell_starts;
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

/// As far as the cells' side: what the grid is made for.
const RADIUS_M: f32 = 1.0;

pub struct CountNeighbours;

struct Workload {
    count: DeviceCount,
    grid: UniformGrid,
    sorted_keys: Buffer<u32>,
    position: Buffer<[f32; 3]>,
    found: Buffer<[u32; 2]>,
    expected: Vec<Expected>,
}

/// Candidates, and the fewest and the most that may be counted within the radius.
struct Expected {
    candidates: u32,
    hits: [u32; 2],
}

impl Bench for CountNeighbours {
    fn id(&self) -> &'static str {
        "grid.count_neighbours"
    }

    fn about(&self) -> &'static str {
        "candidates and neighbours of each particle, eight particles a cell"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::count()]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let points = Points::new(n);
        let grid = points.grid(device)?;
        let count = Counts::new(device)?.upload(device, "count", n as u32, n as u32)?;
        let sorted_keys = device.buffer_from("sorted keys", &points.sorted_keys)?;
        let mut recorder = device.recorder()?;
        grid.record_cell_ranges(&mut recorder, &count, &sorted_keys);
        device.submit(recorder)?.wait()?;
        Ok(Prepared::Device(Box::new(Workload {
            count,
            grid,
            sorted_keys,
            position: device.buffer_from("position", &points.positions_m)?,
            found: device.buffer("found", n)?,
            expected: expected(&points),
        })))
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
            // The device rounds each of three products and two sums, or fuses them: a pair as close as that to the radius may
            // count or not.
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
        // Positions read, two counts written; keys and cells are the grid's own.
        Work { elements, bytes_minimum: (12 + 8) * elements }
    }

    fn spoil(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.found, 0xdead_beef);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        let (keys, position, found) = (&self.sorted_keys, &self.position, &self.found);
        self.grid.record_neighbour_counts(recorder, &self.count, keys, position, RADIUS_M, found);
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
