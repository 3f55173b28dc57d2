//! Filters of a fluid's surface.

use crate::axis::{Axis, Domain, Point, Value};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_reference::render::{
    DepthFilterParams, NO_SURFACE, smooth_depth_bilateral, smooth_depth_narrow_range, smooth_thickness,
};
use frazil_shaders::render::{
    smooth_depth_bilateral as bilateral, smooth_depth_narrow_range as narrow_range,
    smooth_thickness as thickness,
};
use frazil_vk::{Buffer, Device, Kernel, Recorder, Threads};
use std::f32::consts::TAU;

/// Bench of one pass of a filter along rows and then along columns; elements are pixels.
pub struct SmoothDepth;

const FILTERS: &[&str] = &["bilateral", "narrow_range", "thickness"];
/// Particles per radian of the view, which keeps the filter's reach in pixels in proportion to the picture.
const SPACINGS_ACROSS: f32 = 80.0;
/// Reach of the filter in spacings of 1 m.
const RADIUS_M: f32 = 3.0;
const DISTANCE_M: f32 = 100.0;
/// Tolerance of a distance: few roundings of f32 in each tap.
const TOLERANCE: f32 = 4e-5;
const ASPECT: f32 = 16.0 / 9.0;

#[derive(Clone, Copy, PartialEq)]
enum Filter {
    Bilateral,
    NarrowRange,
    /// Smoothing of thickness, at distances that are all the same.
    Thickness,
}

struct Workload {
    params: DepthFilterParams,
    filter: Filter,
    bilateral: Kernel<bilateral::Interface>,
    narrow_range: Kernel<narrow_range::Interface>,
    thickness: Kernel<thickness::Interface>,
    level: Buffer<f32>,
    distance_m: Buffer<f32>,
    along_rows: Buffer<f32>,
    smoothed: Buffer<f32>,
    expected: Vec<f32>,
}

/// Makes a slope of half a metre per spacing with bumps of particles, a step in front, and a tenth of holes
/// at the top.
fn distances([width, height]: [usize; 2], height_px: f32) -> Vec<f32> {
    let pixel = |i: usize| {
        let [x, y] = [i % width, i / width].map(|at| at as f32 / height_px);
        if y < 0.1 && height > 1 {
            return NO_SURFACE;
        }
        let bump = 0.15 * (TAU * SPACINGS_ACROSS * x).sin() * (TAU * SPACINGS_ACROSS * y).sin();
        let step = if x > 1.0 { 10.0 } else { 0.0 };
        DISTANCE_M - 0.5 * SPACINGS_ACROSS * y - step + bump
    };
    (0..width * height).map(pixel).collect()
}

impl Bench for SmoothDepth {
    fn id(&self) -> &'static str {
        "render.smooth_depth"
    }

    fn about(&self) -> &'static str {
        "one pass of a filter of a fluid's surface, along rows and then along columns"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::names("filter", FILTERS, FILTERS, FILTERS),
            // Pictures of 1280 × 720 and 1920 × 1080.
            Axis::integers("count", Domain::Integers(0, 1 << 24), &[921_600, 2_073_600], &[3_600]),
        ]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let height_px = (n as f32 / ASPECT).sqrt();
        // A picture of exactly that many pixels, as close to the usual shape as their divisors allow.
        let height = (1..=height_px.round() as usize).rev().find(|height| n % height == 0).unwrap_or(1);
        let size = [n / height, height];
        let is = |name: &str| point.get("filter") == Some(&Value::Name(name.to_owned()));
        let filter = match (is("bilateral"), is("thickness")) {
            (true, _) => Filter::Bilateral,
            (_, true) => Filter::Thickness,
            _ => Filter::NarrowRange,
        };
        let params = DepthFilterParams {
            size,
            axis: 0,
            px_per_m: DISTANCE_M / SPACINGS_ACROSS * height_px,
            is_perspective: true,
            radius: RADIUS_M,
            range: if filter == Filter::Bilateral { 1.5 } else { 3.0 },
            step_back: 1.0,
        };
        let distances = distances(size, height_px);
        let level = vec![DISTANCE_M; n];
        let twin = |values: &[f32], params| match filter {
            Filter::Bilateral => smooth_depth_bilateral(values, params),
            Filter::NarrowRange => smooth_depth_narrow_range(values, params),
            Filter::Thickness => smooth_thickness(&level, values, params),
        };
        let along_rows = twin(&distances, params);
        let expected = twin(&along_rows, DepthFilterParams { axis: 1, ..params });
        Ok(Prepared::Device(Box::new(Workload {
            params,
            filter,
            bilateral: Kernel::new(device)?,
            narrow_range: Kernel::new(device)?,
            thickness: Kernel::new(device)?,
            level: device.buffer_from("level distances", &level)?,
            distance_m: device.buffer_from("distances", &distances)?,
            along_rows: device.buffer("distances along rows", distances.len())?,
            smoothed: device.buffer("smoothed distances", distances.len())?,
            expected,
        })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        // Along rows and along columns: distances read, and written.
        let n = self.expected.len() as u64;
        Work { elements: n, bytes_minimum: 16 * n }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.smoothed, u32::MAX);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        let DepthFilterParams { size, px_per_m, radius, range, step_back, .. } = self.params;
        let ([width, height], is_perspective) = (size.map(|n| n as u32), 1);
        let threads = Threads::Fixed(self.expected.len());
        let passes = [(&self.distance_m, &self.along_rows), (&self.along_rows, &self.smoothed)];
        for (axis, (distance_m, smoothed_m)) in (0..).zip(passes) {
            match self.filter {
                Filter::Bilateral => {
                    let bindings = bilateral::Bindings { distance_m, smoothed_m };
                    let params = bilateral::Params {
                        width,
                        height,
                        axis,
                        px_per_m,
                        is_perspective,
                        radius,
                        range,
                        step_back,
                    };
                    recorder.dispatch(&self.bilateral, threads, bindings, params);
                }
                Filter::NarrowRange => {
                    let bindings = narrow_range::Bindings { distance_m, smoothed_m };
                    let params = narrow_range::Params {
                        width,
                        height,
                        axis,
                        px_per_m,
                        is_perspective,
                        radius,
                        range,
                        step_back,
                    };
                    recorder.dispatch(&self.narrow_range, threads, bindings, params);
                }
                Filter::Thickness => {
                    let bindings =
                        thickness::Bindings { distance_m: &self.level, thickness_m: distance_m, smoothed_m };
                    let params = thickness::Params {
                        width,
                        height,
                        axis,
                        px_per_m,
                        is_perspective,
                        radius,
                        range,
                        step_back,
                    };
                    recorder.dispatch(&self.thickness, threads, bindings, params);
                }
            }
        }
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let found = device.download(&self.smoothed, self.expected.len())?;
        // Written so that a NaN exceeds any tolerance.
        let is_off = |i: &usize| {
            let off = (found[*i] - self.expected[*i]).abs();
            off.is_nan() || off > TOLERANCE * self.expected[*i].abs()
        };
        let off = (0..found.len()).find(is_off);
        Ok(off.map(|i| {
            Difference(format!("distance of pixel {i} is {}, expected {}", found[i], self.expected[i]))
        }))
    }
}
