//! Sorting keys together with their original indices, on the device and with sorts on the CPU.

use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, HostWorkload, Prepared, Work, first_difference};
use crate::error::Result;
use frazil_kernels::{Counts, Method, Ranking, SortOptions};
use frazil_reference::primitives::radix_sort_pairs;
use frazil_testkit::Distribution;
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};
use rayon::slice::ParallelSliceMut;
use rdst::{RadixKey, RadixSort as _};
use std::ops::Range;

pub struct RadixSort;

const VARIANTS: &[&str] = &[
    "onesweep",
    "onesweep_ballots",
    "reduce_then_scan",
    "reduce_then_scan_ballots",
    "cpu_sort_unstable",
    "cpu_rayon",
    "cpu_rdst",
];

/// Returns method and ranking of a variant on the device.
fn on_device(variant: &str) -> Option<(Method, Ranking)> {
    Some(match variant {
        "onesweep" => (Method::LookBack, Ranking::Nibbles),
        "onesweep_ballots" => (Method::LookBack, Ranking::Ballots),
        "reduce_then_scan" => (Method::ReduceThenScan, Ranking::Nibbles),
        "reduce_then_scan_ballots" => (Method::ReduceThenScan, Ranking::Ballots),
        _ => return None,
    })
}

/// Keys to be sorted, and the twin's result.
struct Sorted {
    keys: Vec<u32>,
    order: Vec<u32>,
}

struct Workload {
    count: DeviceCount,
    sort: frazil_kernels::RadixSort,
    bits: Range<u32>,
    unsorted: Buffer<u32>,
    keys: Buffer<u32>,
    order: Buffer<u32>,
    expected: Sorted,
}

/// A key and its index, sorted by the low `BYTES` bytes of the key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pair<const BYTES: usize> {
    key: u32,
    index: u32,
}

impl<const BYTES: usize> RadixKey for Pair<BYTES> {
    const LEVELS: usize = BYTES;

    fn get_level(&self, level: usize) -> u8 {
        (self.key >> (8 * level)) as u8
    }
}

/// A sort on the CPU. Keys have no bits other than those to sort by, so that whole keys can be compared.
struct OnCpu<const BYTES: usize> {
    unsorted: Vec<Pair<BYTES>>,
    sorted: Vec<Pair<BYTES>>,
    sort: fn(&mut [Pair<BYTES>]),
    expected: Sorted,
}

impl Bench for RadixSort {
    fn id(&self) -> &'static str {
        "primitives.radix_sort"
    }

    fn about(&self) -> &'static str {
        "sort of u32 keys with their original indices, stable except for rdst's"
    }

    fn axes(&self) -> Vec<Axis> {
        let key_bits = Axis::integers("key_bits", Domain::Integers(1, 32), &[16, 32], &[16, 32]);
        let distribution = Axis::distribution(&[Distribution::Uniform, Distribution::Equal]);
        let variant = Axis::variant(VARIANTS);
        vec![Axis::count(), distribution, key_bits, variant, Axis::workgroup_size(), Axis::spins()]
    }

    fn meaningless_axes(&self, point: &Point) -> &'static [&'static str] {
        match point.name("variant").map(on_device) {
            Ok(Some((Method::LookBack, _))) | Err(_) => &[],
            Ok(Some((Method::ReduceThenScan, _))) => &["spins"],
            Ok(None) => &["workgroup_size", "spins"],
        }
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let mut keys = point.distribution()?.keys(point.count()?);
        let bits = point.integer("key_bits")?.clamp(1, 32) as u32;
        let n = keys.len();
        let variant = point.name("variant")?;
        match on_device(variant) {
            Some((method, ranking)) => {
                let options = SortOptions {
                    method: Some(method),
                    ranking: Some(ranking),
                    workgroup_size: point.workgroup_size()?,
                    spins: point.spins()?,
                    ..Default::default()
                };
                let unsorted = device.buffer_from("keys to sort", &keys)?;
                let mut order: Vec<u32> = (0..n as u32).collect();
                radix_sort_pairs(&mut keys, &mut order, 0..bits);
                Ok(Prepared::Device(Box::new(Workload {
                    count: Counts::new(device)?.upload(device, "count", n as u32, n as u32)?,
                    sort: frazil_kernels::RadixSort::with_options(device, n as u32, options)?,
                    bits: 0..bits,
                    unsorted,
                    keys: device.buffer("keys", n)?,
                    order: device.buffer("order", n)?,
                    expected: Sorted { keys, order },
                })))
            }
            None if VARIANTS.contains(&variant) => Ok(match bits.div_ceil(8) {
                1 => on_cpu::<1>(variant, keys, bits),
                2 => on_cpu::<2>(variant, keys, bits),
                3 => on_cpu::<3>(variant, keys, bits),
                _ => on_cpu::<4>(variant, keys, bits),
            }),
            None => Err(point.unknown("variant", VARIANTS)),
        }
    }
}

fn on_cpu<const BYTES: usize>(variant: &str, mut keys: Vec<u32>, bits: u32) -> Prepared {
    keys.iter_mut().for_each(|key| *key &= u32::MAX >> (32 - bits));
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    let unsorted: Vec<_> = keys.iter().zip(&order).map(|(&key, &index)| Pair { key, index }).collect();
    radix_sort_pairs(&mut keys, &mut order, 0..bits);
    let sort: fn(&mut [Pair<BYTES>]) = match variant {
        "cpu_rayon" => |pairs| pairs.par_sort_unstable(),
        "cpu_rdst" => |pairs| pairs.radix_sort_unstable(),
        _ => |pairs| pairs.sort_unstable(),
    };
    let sorted = unsorted.clone();
    Prepared::Host(Box::new(OnCpu { unsorted, sorted, sort, expected: Sorted { keys, order } }))
}

fn work(n: usize) -> Work {
    Work { elements: n as u64, bytes_minimum: 12 * n as u64 }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        work(self.expected.keys.len())
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.order, 0xdead_beef);
    }

    fn reset(&mut self, recorder: &mut Recorder) {
        recorder.copy(&self.unsorted, &self.keys, self.expected.keys.len());
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        Ok(self.sort.record_order(recorder, &self.count, &self.keys, &self.order, self.bits.clone())?)
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let n = self.expected.keys.len();
        let (keys, order) = (device.download(&self.keys, n)?, device.download(&self.order, n)?);
        Ok(first_difference("keys", &keys, &self.expected.keys)
            .or_else(|| first_difference("order", &order, &self.expected.order)))
    }
}

impl<const BYTES: usize> HostWorkload for OnCpu<BYTES> {
    fn work(&self) -> Work {
        work(self.expected.keys.len())
    }

    fn reset(&mut self) {
        self.sorted.clone_from(&self.unsorted);
    }

    fn run(&mut self) {
        (self.sort)(&mut self.sorted);
        std::hint::black_box(self.sorted.as_slice());
    }

    /// Compares with equal keys brought into order first: rdst, which is not stable, may put them in any
    /// order.
    fn verify(&self) -> Option<Difference> {
        let mut sorted = self.sorted.clone();
        for run in sorted.chunk_by_mut(|a, b| a.key == b.key) {
            run.sort_unstable();
        }
        let (keys, order): (Vec<u32>, Vec<u32>) = sorted.iter().map(|pair| (pair.key, pair.index)).unzip();
        first_difference("keys", &keys, &self.expected.keys)
            .or_else(|| first_difference("order", &order, &self.expected.order))
    }
}
