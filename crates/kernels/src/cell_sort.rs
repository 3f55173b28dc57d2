//! Sorting particles by cell, by radix sort or by counting with atomics. Both methods give the same bits.

use crate::error::{check_apart, check_capacity};
use crate::radix_sort::SortOptions;
use crate::scan::ScanOptions;
use crate::{Counts, KernelError, RadixSort, Scan, UniformGrid};
use frazil_shaders::grid::{count_cells, place_in_cells, rank_in_cells};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, RecorderOptions, Threads};
use std::fmt;
use std::str::FromStr;

const FINDING: &str = "cell-sort";
/// Number of particles in the trial of the two methods.
const TRIAL_PARTICLES: u32 = 1 << 16;
const TRIAL_CELLS_PER_SIDE: u32 = 20;
const TRIALS: usize = 5;

/// Method of sorting particles by cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellSortMethod {
    /// A stable radix sort of the cell numbers, then a search for the start of each cell. Its cost does not
    /// depend on the number of particles per cell.
    Radix,
    /// Cells are counted by atomics and scanned, particles are placed from their cell's start on, and sorted
    /// within the cell. Its cost grows with the square of the number of particles per cell.
    Counting,
}

impl CellSortMethod {
    /// Returns the faster method in a trial on this device; the result is stored with the pipeline cache.
    ///
    /// # Errors
    /// The device fails.
    pub fn fastest(device: &Device) -> Result<Self, KernelError> {
        if let Some(found) = device.stored_finding(FINDING).and_then(|text| text.parse().ok()) {
            return Ok(found);
        }
        let [radix_ns, counting_ns] = Self::time_both(device)?;
        // Without time stamps both are 0.
        let found = if counting_ns < radix_ns { Self::Counting } else { Self::Radix };
        device.store_finding(FINDING, &found.to_string());
        Ok(found)
    }

    /// Returns the nanoseconds that radix and counting take to sort 65 536 particles in 8 000 cells, medians
    /// of five runs. For set-up: it waits for the device.
    ///
    /// # Errors
    /// The device fails.
    pub fn time_both(device: &Device) -> Result<[f64; 2], KernelError> {
        let side = TRIAL_CELLS_PER_SIDE as f32;
        let n = TRIAL_PARTICLES as usize;
        // Particles that have moved a little since they were last sorted.
        let cells = TRIAL_CELLS_PER_SIDE.pow(3);
        let keys: Vec<u32> = (0..TRIAL_PARTICLES)
            .map(|i| {
                let home = (u64::from(i) * u64::from(cells) / n as u64) as u32;
                (home + (i.wrapping_mul(2_654_435_761) >> 30) * TRIAL_CELLS_PER_SIDE) % cells
            })
            .collect();
        let unsorted = device.buffer_from("trial keys", &keys)?;
        let (key, order) = (device.buffer("trial key", n)?, device.buffer("trial order", n)?);
        let count = Counts::new(device)?.upload(device, "trial count", TRIAL_PARTICLES, TRIAL_PARTICLES)?;
        let grid = UniformGrid::new(device, [0.0; 3], [side; 3], 1.0)?;
        let mut medians = [0.0; 2];
        for (median, method) in medians.iter_mut().zip([Self::Radix, Self::Counting]) {
            let sort = CellSort::with_method(device, TRIAL_PARTICLES, &grid, method)?;
            let mut times = [0.0; TRIALS];
            for time in &mut times {
                let mut recorder =
                    device.recorder_with(RecorderOptions { profile: true, ..Default::default() })?;
                recorder.copy(&unsorted, &key, n);
                sort.record(&mut recorder, &count, &grid, &key, &order)?;
                let passes = device.submit(recorder)?.pass_times()?;
                *time = passes.iter().skip(1).map(|pass| pass.duration_ns).sum();
            }
            times.sort_by(f64::total_cmp);
            *median = times[TRIALS / 2];
        }
        Ok(medians)
    }
}

impl fmt::Display for CellSortMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Radix => "radix",
            Self::Counting => "counting",
        })
    }
}

impl FromStr for CellSortMethod {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Radix, Self::Counting].into_iter().find(|method| method.to_string() == text).ok_or(())
    }
}

/// Stable sort of particles by cell that also finds the start of each cell.
pub struct CellSort {
    algorithm: Algorithm,
    capacity: u32,
    cells: u32,
}

enum Algorithm {
    Radix(RadixSort),
    Counting(Box<Counting>),
}

struct Counting {
    count_cells: Kernel<count_cells::Interface>,
    place: Kernel<place_in_cells::Interface>,
    rank: Kernel<rank_in_cells::Interface>,
    scan: Scan,
    /// Cells of the grid plus one.
    starts: DeviceCount,
    cell_count: Buffer<u32>,
    arrival: Buffer<u32>,
    placed: Buffer<[u32; 2]>,
}

impl CellSort {
    /// Makes a sort of up to `capacity` particles by the cells of `grid`, with the fastest method on this
    /// device.
    ///
    /// # Errors
    /// Not enough memory; the device fails during the trial.
    pub fn new(device: &Device, capacity: u32, grid: &UniformGrid) -> Result<Self, KernelError> {
        Self::with_method(device, capacity, grid, CellSortMethod::fastest(device)?)
    }

    /// Makes a sort with the given method.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn with_method(
        device: &Device,
        capacity: u32,
        grid: &UniformGrid,
        method: CellSortMethod,
    ) -> Result<Self, KernelError> {
        let workgroup_size = SortOptions::default().workgroup_size;
        Self::with_options(device, capacity, grid, method, workgroup_size)
    }

    /// Makes a sort with the given method and another workgroup size, a power of two from 64.
    ///
    /// # Errors
    /// The device's limits do not allow the group size, or it is below 64; not enough memory.
    pub fn with_options(
        device: &Device,
        capacity: u32,
        grid: &UniformGrid,
        method: CellSortMethod,
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        let algorithm = match method {
            CellSortMethod::Radix => {
                Algorithm::Radix(RadixSort::with_workgroup_size(device, capacity, workgroup_size)?)
            }
            CellSortMethod::Counting => {
                Algorithm::Counting(Box::new(Counting::new(device, capacity, grid.cells(), workgroup_size)?))
            }
        };
        Ok(Self { algorithm, capacity, cells: grid.cells() })
    }

    /// Returns the method.
    pub fn method(&self) -> CellSortMethod {
        match self.algorithm {
            Algorithm::Radix(_) => CellSortMethod::Radix,
            Algorithm::Counting(_) => CellSortMethod::Counting,
        }
    }

    /// Records the sort of `key`, each particle's cell, in place; writes the original index of each particle
    /// to `order`, and the start of each cell to the grid's `cell_start`.
    ///
    /// # Errors
    /// The count's capacity exceeds the sort's; a buffer is smaller than that, or given twice; the grid has
    /// more cells than the one that the sort was made for.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        grid: &UniformGrid,
        key: &Buffer<u32>,
        order: &Buffer<u32>,
    ) -> Result<(), KernelError> {
        self.record_on(recorder, count, None, grid, key, order)
    }

    /// Records a sort like [`Self::record`], most of whose passes have no threads while `count` and
    /// `starts` are 0; else `starts` counts the cells and one.
    ///
    /// # Errors
    /// Like [`Self::record`].
    pub fn record_if_any(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        starts: &DeviceCount,
        grid: &UniformGrid,
        key: &Buffer<u32>,
        order: &Buffer<u32>,
    ) -> Result<(), KernelError> {
        self.record_on(recorder, count, Some(starts), grid, key, order)
    }

    fn record_on(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        starts: Option<&DeviceCount>,
        grid: &UniformGrid,
        key: &Buffer<u32>,
        order: &Buffer<u32>,
    ) -> Result<(), KernelError> {
        check_capacity("cell sort", self.capacity, count, &[key, order])?;
        check_apart("cell sort", &[&count.count], &[key, order, grid.cell_start()])?;
        if grid.cells() != self.cells {
            let problem = format!("{} cells, the sort was made for {}", grid.cells(), self.cells);
            return Err(KernelError::Grid { problem });
        }
        match &self.algorithm {
            Algorithm::Radix(sort) => {
                sort.record_order(recorder, count, key, order, grid.key_bits())?;
                let all = Threads::Fixed(grid.cells() as usize + 1);
                grid.record_cell_ranges_on(recorder, count, starts.map_or(all, Threads::Counted), key);
                Ok(())
            }
            Algorithm::Counting(counting) => counting.record(recorder, count, starts, grid, key, order),
        }
    }
}

impl Counting {
    fn new(device: &Device, capacity: u32, cells: u32, workgroup_size: u32) -> Result<Self, KernelError> {
        let starts = cells + 1;
        let scan = ScanOptions::for_device(device, workgroup_size);
        Ok(Self {
            count_cells: Kernel::specialized(device, &count_cells::Specialization { workgroup_size })?,
            place: Kernel::specialized(device, &place_in_cells::Specialization { workgroup_size })?,
            rank: Kernel::specialized(device, &rank_in_cells::Specialization { workgroup_size })?,
            scan: Scan::with_options(device, starts, scan)?,
            starts: Counts::new(device)?.upload(device, "cell starts", starts, starts)?,
            cell_count: device.buffer("cell count", starts as usize)?,
            arrival: device.buffer("arrival in cell", capacity as usize)?,
            placed: device.buffer("placed by cell", capacity as usize)?,
        })
    }

    fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        starts: Option<&DeviceCount>,
        grid: &UniformGrid,
        key: &Buffer<u32>,
        order: &Buffer<u32>,
    ) -> Result<(), KernelError> {
        let threads = Threads::Counted(count);
        recorder.fill(&self.cell_count, 0);
        let bindings =
            count_cells::Bindings { count, key, cell_count: &self.cell_count, arrival: &self.arrival };
        recorder.dispatch(&self.count_cells, threads, bindings, ());
        match starts {
            Some(starts) => {
                self.scan.record_if_any(recorder, starts, &self.cell_count, grid.cell_start())?;
            }
            None => self.scan.record(recorder, &self.starts, &self.cell_count, grid.cell_start(), None)?,
        }
        let bindings = place_in_cells::Bindings {
            count,
            key,
            cell_start: grid.cell_start(),
            arrival: &self.arrival,
            placed: &self.placed,
        };
        recorder.dispatch(&self.place, threads, bindings, ());
        let bindings = rank_in_cells::Bindings {
            count,
            placed: &self.placed,
            cell_start: grid.cell_start(),
            order,
            sorted_key: key,
        };
        recorder.dispatch(&self.rank, threads, bindings, ());
        Ok(())
    }
}
