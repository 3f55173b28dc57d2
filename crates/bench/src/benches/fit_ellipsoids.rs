//! Ellipsoids of a fluid's particles.

use super::lattice::Points;
use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_kernels::Counts;
use frazil_reference::ellipsoids::EllipsoidFit;
use frazil_render::{EllipsoidOptions, Ellipsoids};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

/// Bench of the sort of particles and the fit of ellipsoids to them; 33 neighbours a particle.
pub struct FitEllipsoids;

const FIT: EllipsoidFit = EllipsoidFit { reach_m: 1.0, radius_m: 0.4, max_ratio: 4.0, center_share: 0.5 };

/// Particles that are compared with the twin, whose search is quadratic.
const N_COMPARED: usize = 200;

/// Maximum error of the entries of G in 1/m: those of the covariance, through the ratio of semi-axes.
const TOLERANCE_1_M: f64 = 2e-2;

struct Workload {
    fit: Ellipsoids,
    count: DeviceCount,
    position: Buffer<[f32; 3]>,
    n: usize,
}

impl Bench for FitEllipsoids {
    fn id(&self) -> &'static str {
        "render.fit_ellipsoids"
    }

    fn about(&self) -> &'static str {
        "particles sorted by cell, and an ellipsoid fitted to the neighbourhood of each"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::integers("count", Domain::Integers(0, 1 << 26), &[10_007, 100_003], &[1_000])]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let Points { side_m, positions_m, .. } = Points::new(n);
        let options = EllipsoidOptions {
            min_m: [0.0; 3],
            max_m: [side_m; 3],
            reach_m: FIT.reach_m as f32,
            radius_m: FIT.radius_m as f32,
            max_ratio: FIT.max_ratio as f32,
            center_share: FIT.center_share as f32,
        };
        Ok(Prepared::Device(Box::new(Workload {
            fit: Ellipsoids::new(device, n as u32, options)?,
            count: Counts::new(device)?.upload(device, "count", n as u32, n as u32)?,
            position: device.buffer_from("position", &positions_m)?,
            n,
        })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.n as u64;
        Work { elements, bytes_minimum: (12 + 40) * elements }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.fit.ellipsoids().cast::<u32>(), u32::MAX);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        self.fit.record(recorder, &self.count, &self.position)?;
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let position = device.download(self.fit.positions(), self.n)?;
        let found = device.download(self.fit.ellipsoids(), self.n)?;
        for i in (0..self.n).step_by((self.n / N_COMPARED).max(1)) {
            let expected = FIT.fit(&position, i).shape_1_m;
            for (k, (of_device, row)) in found[i].diagonal.into_iter().zip(&expected).enumerate() {
                // Written so that a NaN exceeds any tolerance.
                let is_close = (f64::from(of_device) - row[k]).abs() <= TOLERANCE_1_M;
                if !is_close {
                    return Ok(Some(Difference(format!(
                        "G of ellipsoid {i} has {of_device}/m on its diagonal, expected {}/m",
                        row[k]
                    ))));
                }
            }
        }
        Ok(None)
    }
}
