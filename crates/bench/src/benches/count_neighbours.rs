//! The search for neighbours: by cells in either order, and writing them to lists.

use super::lattice::Points;
use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_kernels::{CellOrder, CellSort, Counts, NeighbourLists, UniformGrid};
use frazil_reference::primitives::{cell_starts, gather};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

/// Search radius, equal to the side of the cells.
const RADIUS_M: f32 = 1.0;

pub struct CountNeighbours;

const VARIANTS: &[&str] = &["linear", "z_order", "lists"];

struct Workload {
    count: DeviceCount,
    grid: UniformGrid,
    sorted_keys: Buffer<u32>,
    position: Buffer<[f32; 3]>,
    search: Search,
    expected: Vec<Expected>,
}

enum Search {
    Count(Buffer<[u32; 2]>),
    Lists(NeighbourLists),
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
        "candidates and neighbours of each particle counted, or neighbours listed; eight particles a cell"
    }

    fn axes(&self) -> Vec<Axis> {
        // The lists of a million would be longer than small devices can bind.
        let counts = &[1_000, 100_003, 500_009];
        let count = Axis::integers("count", Domain::Integers(0, 1 << 28), counts, &[1_000, 65_537]);
        vec![count, Axis::variant(VARIANTS)]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let points = Points::new(n);
        let variant = point.name("variant")?;
        let order = match variant {
            "linear" | "lists" => CellOrder::Linear,
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
        let search = if variant == "lists" {
            let mut lists = NeighbourLists::new(device, n as u32, 0)?;
            lists.build(device, &count, &grid, &sorted_keys, &position, RADIUS_M)?;
            Search::Lists(lists)
        } else {
            Search::Count(device.buffer("found", n)?)
        };
        let expected = gather(&expected(&points), &origin);
        Ok(Prepared::Device(Box::new(Workload { count, grid, sorted_keys, position, search, expected })))
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
        // Positions read, two numbers written; keys and cells are the grid's own. Lists: the neighbours, too.
        let listed: u64 = match &self.search {
            Search::Count(_) => 0,
            Search::Lists(_) => self.expected.iter().map(|e| u64::from(e.hits[0])).sum(),
        };
        Work { elements, bytes_minimum: (12 + 8) * elements + 4 * listed }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        match &self.search {
            Search::Count(found) => recorder.fill(found, 0xdead_beef),
            Search::Lists(lists) => {
                for buffer in [lists.len(), lists.start(), lists.neighbour()] {
                    recorder.fill(buffer, 0xdead_beef);
                }
            }
        }
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        let (count, keys, position) = (&self.count, &self.sorted_keys, &self.position);
        match &self.search {
            Search::Count(found) => {
                self.grid.record_neighbour_counts(recorder, count, keys, position, RADIUS_M, found);
            }
            Search::Lists(lists) => {
                lists.record_build(recorder, count, &self.grid, keys, position, RADIUS_M)?;
            }
        }
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let n = self.expected.len();
        let found = match &self.search {
            Search::Count(found) => device.download(found, n)?,
            Search::Lists(lists) => {
                let (len, start) = (device.download(lists.len(), n)?, device.download(lists.start(), n)?);
                let total = len.iter().map(|len| u64::from(*len)).sum::<u64>();
                if total > u64::from(lists.neighbour_capacity()) {
                    let capacity = lists.neighbour_capacity();
                    return Ok(Some(Difference(format!("{total} neighbours, capacity {capacity}"))));
                }
                let neighbour = device.download(lists.neighbour(), total as usize)?;
                let position = device.download(&self.position, n)?;
                if let Some(wrong) = wrong_neighbour(&start, &len, &neighbour, &position) {
                    return Ok(Some(wrong));
                }
                // Lists do not store candidates.
                len.iter().zip(&self.expected).map(|(len, e)| [e.candidates, *len]).collect()
            }
        };
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

/// Returns the first entry of the lists that is out of range, beyond the radius, or duplicate. As their
/// lengths are right, no neighbour is missing.
fn wrong_neighbour(
    start: &[u32],
    len: &[u32],
    neighbour: &[u32],
    position: &[[f32; 3]],
) -> Option<Difference> {
    for (i, (start, len)) in start.iter().zip(len).enumerate() {
        let list = neighbour.get(*start as usize..*start as usize + *len as usize);
        let Some(mut list) = list.map(<[u32]>::to_vec) else {
            return Some(Difference(format!("list {i} begins at {start} with {len}, past the end")));
        };
        list.sort_unstable();
        let near = |j: &u32| {
            let other = position.get(*j as usize);
            other.is_some_and(|other| {
                let squares = (0..3).map(|a| (f64::from(position[i][a]) - f64::from(other[a])).powi(2));
                *j as usize != i && squares.sum::<f64>() < f64::from(RADIUS_M * RADIUS_M) * (1.0 + 1e-6)
            })
        };
        if !list.iter().all(near) || list.windows(2).any(|pair| pair[0] == pair[1]) {
            return Some(Difference(format!(
                "list {i} is {list:?}, with one that is not a neighbour or a duplicate"
            )));
        }
    }
    None
}
