//! Ellipsoids fitted to the particles of a fluid.

use crate::Result;
use frazil_kernels::{CellSort, CellSortMethod, Counts, KernelError, UniformGrid};
use frazil_shaders::primitives::gather_u32;
use frazil_shaders::render::fit_ellipsoids;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder};

pub use frazil_shaders::types::Ellipsoid;

/// Parameters of the ellipsoids of a fluid's particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EllipsoidOptions {
    /// Lower corner in m of the box that contains the particles.
    pub min_m: [f32; 3],
    /// Upper corner in m.
    pub max_m: [f32; 3],
    /// Distance in m of the neighbours to which an ellipsoid is fitted: two spacings.
    pub reach_m: f32,
    /// Radius in m of the sphere with the volume of each ellipsoid.
    pub radius_m: f32,
    /// Bound on the ratio of the longest and any other semi-axis, at least 1; 4 in Yu2013.
    pub max_ratio: f32,
    /// Share of the way to the weighted mean of its neighbours by which a particle's centre moves; 0.9 in
    /// Yu2013.
    pub center_share: f32,
}

/// Fit of ellipsoids to the neighbourhoods of particles (Yu2013): flat beside a flat surface, so that few of
/// the particles show in a picture.
pub struct Ellipsoids {
    options: EllipsoidOptions,
    counts: Counts,
    grid: UniformGrid,
    sort: CellSort,
    gather: Kernel<gather_u32::Interface>,
    fit: Kernel<fit_ellipsoids::Interface>,
    key: Buffer<u32>,
    order: Buffer<u32>,
    position: Buffer<[f32; 3]>,
    ellipsoids: Buffer<Ellipsoid>,
    capacity: u32,
}

impl Ellipsoids {
    /// Creates a fit of up to `capacity` particles. Set-up: it waits for the device.
    ///
    /// # Errors
    /// A box or a reach that is not positive, or with more cells than the device can bind; out of memory.
    pub fn new(device: &Device, capacity: u32, options: EllipsoidOptions) -> Result<Self> {
        let EllipsoidOptions { min_m, max_m, reach_m, .. } = options;
        let capacity = capacity.max(1);
        let n = capacity as usize;
        let grid = UniformGrid::new(device, min_m, max_m, reach_m)?;
        Ok(Self {
            options,
            counts: Counts::new(device)?,
            sort: CellSort::with_method(device, capacity, &grid, CellSortMethod::Radix)?,
            grid,
            gather: Kernel::specialized(
                device,
                &gather_u32::Specialization { words: 3, ..Default::default() },
            )?,
            fit: Kernel::new(device)?,
            key: device.buffer("ellipsoid key", n)?,
            order: device.buffer("ellipsoid order", n)?,
            position: device.buffer("ellipsoid position", n)?,
            ellipsoids: device.buffer("ellipsoids", n)?,
            capacity,
        })
    }

    /// Returns the maximum number of particles.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Records the fit to `count` particles at `position`, in m.
    ///
    /// # Errors
    /// More particles than the capacity.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        position: &Buffer<[f32; 3]>,
    ) -> Result<()> {
        if count.capacity > self.capacity {
            let (found, required) = (u64::from(self.capacity), u64::from(count.capacity));
            let (primitive, object) = ("ellipsoids", position.name().to_owned());
            return Err(KernelError::TooSmall { primitive, object, found, required }.into());
        }
        // The count's writer may not have derived dispatch sizes from it.
        self.counts.prepare(recorder, count);
        self.grid.record_keys(recorder, count, position, &self.key);
        self.sort.record(recorder, count, &self.grid, &self.key, &self.order)?;
        let bindings = gather_u32::Bindings {
            count,
            order: &self.order,
            column: &position.cast(),
            moved: &self.position.cast(),
        };
        recorder.dispatch_counted(&self.gather, bindings, ());
        let bindings = fit_ellipsoids::Bindings {
            count,
            key: &self.key,
            cell_start: self.grid.cell_start(),
            position: &self.position,
            ellipsoid: &self.ellipsoids,
        };
        let EllipsoidOptions { reach_m, radius_m, max_ratio, center_share, .. } = self.options;
        let params =
            fit_ellipsoids::Params { grid: self.grid.grid(), reach_m, radius_m, max_ratio, center_share };
        recorder.dispatch_counted(&self.fit, bindings, params);
        Ok(())
    }

    /// Returns the positions in m of the particles, sorted by cell, in the order of the ellipsoids.
    pub fn positions(&self) -> &Buffer<[f32; 3]> {
        &self.position
    }

    /// Returns the ellipsoids that were fitted last.
    pub fn ellipsoids(&self) -> &Buffer<Ellipsoid> {
        &self.ellipsoids
    }
}
