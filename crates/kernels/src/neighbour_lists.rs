//! Compact neighbour lists, found once and used by many passes.

use crate::error::{check_apart, check_capacity, check_len};
use crate::{KernelError, Scan, UniformGrid};
use frazil_shaders::grid::list_neighbours;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// Extra capacity when lists are regrown, as a share of the required capacity: the number of neighbours
/// varies from step to step.
const SLACK: f64 = 0.25;

/// Lists of the other particles within a radius of each particle, one list after another.
///
/// The neighbours of particle i are `neighbour[start[i] .. start[i] + len[i]]`. Lists are never truncated: on
/// overflow the whole build writes none, and [`Self::check`] reports the required capacity; [`Self::grow`]
/// provides it, and the build is recorded again.
pub struct NeighbourLists {
    count_neighbours: Kernel<list_neighbours::Interface>,
    write_neighbours: Kernel<list_neighbours::Interface>,
    scan: Scan,
    len: Buffer<u32>,
    start: Buffer<u32>,
    required: Buffer<u32>,
    neighbour: Buffer<u32>,
    capacity: u32,
}

impl NeighbourLists {
    /// Makes lists for up to `capacity` particles with `neighbour_capacity` neighbours in all.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn new(device: &Device, capacity: u32, neighbour_capacity: u32) -> Result<Self, KernelError> {
        let workgroup_size = list_neighbours::Specialization::default().workgroup_size;
        Self::with_workgroup_size(device, capacity, neighbour_capacity, workgroup_size)
    }

    /// Makes lists with another workgroup size, a power of two.
    ///
    /// # Errors
    /// The device's limits do not allow the size; not enough memory.
    pub fn with_workgroup_size(
        device: &Device,
        capacity: u32,
        neighbour_capacity: u32,
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        let kernel =
            |write| Kernel::specialized(device, &list_neighbours::Specialization { workgroup_size, write });
        Ok(Self {
            count_neighbours: kernel(0)?,
            write_neighbours: kernel(1)?,
            scan: Scan::new(device, capacity)?,
            len: device.buffer("neighbour list length", capacity as usize)?,
            start: device.buffer("neighbour list start", capacity as usize)?,
            required: device.buffer_from("neighbours required", &[0])?,
            neighbour: device.buffer("neighbours", neighbour_capacity as usize)?,
            capacity,
        })
    }

    /// Records the build of the lists of all neighbours within `radius_m`, which must not exceed the grid's
    /// cell size, for particles sorted by cell.
    ///
    /// # Errors
    /// The radius is above the cell size, or not a positive number; the count's capacity exceeds the lists';
    /// a buffer is smaller.
    pub fn record_build(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        grid: &UniformGrid,
        sorted_keys: &Buffer<u32>,
        position: &Buffer<[f32; 3]>,
        radius_m: f32,
    ) -> Result<(), KernelError> {
        let cell_size_m = grid.grid().cell_size_m;
        if !(radius_m > 0.0 && radius_m <= cell_size_m) {
            return Err(KernelError::Grid {
                problem: format!(
                    "neighbours within {radius_m} m, expected a positive radius up to the cell size, {cell_size_m} m"
                ),
            });
        }
        check_capacity("neighbour lists", self.capacity, count, &[sorted_keys])?;
        check_len("neighbour lists", count, position)?;
        check_apart("neighbour lists", &[sorted_keys], &[&self.len, &self.start, &self.neighbour])?;
        let params =
            list_neighbours::Params { grid: grid.grid(), radius_m, capacity: self.neighbour.len() as u32 };
        let bindings = || list_neighbours::Bindings {
            count: &count.count,
            key: sorted_keys,
            cell_start: grid.cell_start(),
            position,
            list_start: &self.start,
            required: &self.required,
            list_count: &self.len,
            neighbour: &self.neighbour,
        };
        recorder.dispatch(&self.count_neighbours, Threads::Counted(count), bindings(), params);
        self.scan.record(recorder, count, &self.len, &self.start, Some(&self.required))?;
        recorder.dispatch(&self.write_neighbours, Threads::Counted(count), bindings(), params);
        Ok(())
    }

    /// Returns the number of neighbours of each particle.
    pub fn len(&self) -> &Buffer<u32> {
        &self.len
    }

    /// Returns the start of each particle's list.
    pub fn start(&self) -> &Buffer<u32> {
        &self.start
    }

    /// Returns the neighbours of all particles.
    pub fn neighbour(&self) -> &Buffer<u32> {
        &self.neighbour
    }

    /// Returns one word: the capacity that the last build required, which a [`frazil_vk::ReadbackRing`] reads
    /// without a wait.
    pub fn required(&self) -> &Buffer<u32> {
        &self.required
    }

    /// Returns the capacity in neighbours.
    pub fn neighbour_capacity(&self) -> u32 {
        self.neighbour.len() as u32
    }

    /// Returns true if the lists of the last build are valid. It waits for the device.
    ///
    /// # Errors
    /// [`KernelError::ListOverflow`] with the required capacity, on overflow; the device fails.
    pub fn check(&self, device: &Device) -> Result<(), KernelError> {
        let required = device.download(&self.required, 1)?[0];
        if required > self.neighbour_capacity() {
            return Err(KernelError::ListOverflow { required, capacity: self.neighbour_capacity() });
        }
        Ok(())
    }

    /// Raises the capacity to `required` neighbours and a quarter more; the contents of the lists are lost.
    ///
    /// # Errors
    /// Not enough memory; more than the device can bind.
    pub fn grow(&mut self, device: &Device, required: u32) -> Result<(), KernelError> {
        let neighbour_capacity = (f64::from(required) * (1.0 + SLACK)) as u32;
        self.neighbour = device.buffer("neighbours", neighbour_capacity as usize)?;
        Ok(())
    }

    /// Builds the lists, and as long as they overflow regrows them and builds again. For set-up: it waits for
    /// the device.
    ///
    /// # Errors
    /// Like [`Self::record_build`] and [`Self::grow`].
    pub fn build(
        &mut self,
        device: &Device,
        count: &DeviceCount,
        grid: &UniformGrid,
        sorted_keys: &Buffer<u32>,
        position: &Buffer<[f32; 3]>,
        radius_m: f32,
    ) -> Result<(), KernelError> {
        loop {
            let mut recorder = device.recorder()?;
            self.record_build(&mut recorder, count, grid, sorted_keys, position, radius_m)?;
            device.submit(recorder)?.wait()?;
            match self.check(device) {
                Err(KernelError::ListOverflow { required, .. }) => self.grow(device, required)?,
                checked => return checked,
            }
        }
    }
}
