//! Singular values and polar factors of small matrices.

use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_kernels::{Counts, Matrix2, Matrix3, Polar2, Polar3, PolarMethod, Svd2, Svd3};
use frazil_reference::linalg::{N_KINDS, polar_violation, sample, svd_violation};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

pub struct Decomposition;

const VARIANTS: &[&str] = &["svd2", "polar2_svd", "polar2_direct", "svd3", "polar3_svd", "polar3_direct"];
const KINDS: &[&str] = &["random", "near_identity", "mixed"];

enum Factors<const N: usize, S, P> {
    Svd { svd: S, sigma: Buffer<[f32; N]> },
    Polar { polar: P },
}

/// A decomposition of N × N matrices into `first` and `second`: U and V, or R and S.
struct Workload<const N: usize, S, P> {
    count: DeviceCount,
    input: Vec<[[f32; N]; N]>,
    matrices: Buffer<[[f32; N]; N]>,
    first: Buffer<[[f32; N]; N]>,
    second: Buffer<[[f32; N]; N]>,
    factors: Factors<N, S, P>,
}

impl Bench for Decomposition {
    fn id(&self) -> &'static str {
        "linalg.decomposition"
    }

    fn about(&self) -> &'static str {
        "singular values or polar factors of 2×2 and 3×3 matrices, checked against the contract"
    }

    fn axes(&self) -> Vec<Axis> {
        // Each result is checked in f64 on the CPU, which would take a minute for a million.
        let count = Axis::integers("count", Domain::Integers(0, 1 << 28), &[1_000, 100_003], &[1_000]);
        let kind = Axis::names("kind", KINDS, &["mixed", "near_identity"], &["mixed"]);
        vec![count, kind, Axis::variant(VARIANTS)]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let (n, kind) = (point.count()?, point.name("kind")?);
        let kind_of = |i: usize| match kind {
            "random" => 0,
            "near_identity" => 8,
            _ => i as u32 % N_KINDS,
        };
        let method = |variant: &str| {
            if variant.ends_with("_svd") { PolarMethod::Svd } else { PolarMethod::Direct }
        };
        macro_rules! workload {
            ($matrix:ty, $n:literal, $factors:expr) => {{
                let input: Vec<$matrix> = (0..n).map(|i| sample::<$n>(kind_of(i), i as u64)).collect();
                Prepared::Device(Box::new(Workload {
                    count: Counts::new(device)?.upload(device, "count", n as u32, n as u32)?,
                    matrices: device.buffer_from("matrices", &input)?,
                    first: device.buffer("first factors", n)?,
                    second: device.buffer("second factors", n)?,
                    factors: $factors,
                    input,
                }))
            }};
        }
        Ok(match point.name("variant")? {
            "svd2" => {
                let factors = Factors::Svd { svd: Svd2::new(device)?, sigma: device.buffer("sigma", n)? };
                workload!(Matrix2, 2, factors as Factors<2, Svd2, Polar2>)
            }
            "svd3" => {
                let factors = Factors::Svd { svd: Svd3::new(device)?, sigma: device.buffer("sigma", n)? };
                workload!(Matrix3, 3, factors as Factors<3, Svd3, Polar3>)
            }
            variant @ ("polar2_svd" | "polar2_direct") => {
                let factors = Factors::Polar { polar: Polar2::new(device, method(variant))? };
                workload!(Matrix2, 2, factors as Factors<2, Svd2, Polar2>)
            }
            variant @ ("polar3_svd" | "polar3_direct") => {
                let factors = Factors::Polar { polar: Polar3::new(device, method(variant))? };
                workload!(Matrix3, 3, factors as Factors<3, Svd3, Polar3>)
            }
            _ => return Err(point.unknown("variant", VARIANTS)),
        })
    }
}

macro_rules! workload {
    ($n:literal, $svd:ty, $polar:ty) => {
        impl DeviceWorkload for Workload<$n, $svd, $polar> {
            fn work(&self) -> Work {
                // The matrix read, two factors written, and the singular values.
                let words = 3 * $n * $n + if matches!(self.factors, Factors::Svd { .. }) { $n } else { 0 };
                let elements = self.input.len() as u64;
                Work { elements, bytes_minimum: 4 * words * elements }
            }

            fn poison(&mut self, recorder: &mut Recorder) {
                recorder.fill(&self.first, 0xdead_beef);
                recorder.fill(&self.second, 0xdead_beef);
            }

            fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
                let (count, matrices) = (&self.count, &self.matrices);
                match &self.factors {
                    Factors::Svd { svd, sigma } => {
                        svd.record(recorder, count, matrices, &self.first, sigma, &self.second)?
                    }
                    Factors::Polar { polar } => {
                        polar.record(recorder, count, matrices, &self.first, &self.second)?
                    }
                }
                Ok(())
            }

            fn verify(&self, device: &Device) -> Result<Option<Difference>> {
                let n = self.input.len();
                let (first, second) = (device.download(&self.first, n)?, device.download(&self.second, n)?);
                let sigma = match &self.factors {
                    Factors::Svd { sigma, .. } => Some(device.download(sigma, n)?),
                    Factors::Polar { .. } => None,
                };
                let violation = |i: usize| match &sigma {
                    Some(sigma) => svd_violation(self.input[i], first[i], sigma[i], second[i]),
                    None => polar_violation(self.input[i], first[i], second[i]),
                };
                Ok((0..n).find_map(|i| Some(Difference(format!("matrix {i}: {}", violation(i)?)))))
            }
        }
    };
}

workload!(2, Svd2, Polar2);
workload!(3, Svd3, Polar3);
