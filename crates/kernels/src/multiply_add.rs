//! Arithmetic throughput of a device: chains of multiply-adds, and the peak that they reach.

use crate::KernelError;
use crate::count::Counts;
use crate::error::check_len;
use frazil_shaders::primitives::multiply_add::{
    Bindings, CHAINS, Interface, Params, Specialization, UNROLLED,
};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, RecorderOptions};
use std::time::{Duration, Instant};

/// Twelve chains of multiply-adds per element: x ← factor · x + addend.
pub struct MultiplyAdd {
    kernel: Kernel<Interface>,
    rounds: u32,
}

/// Elements of the first measurement of the peak.
const FIRST_ELEMENTS: usize = 1 << 13;
/// Maximum number of elements.
const MAX_ELEMENTS: usize = 1 << 22;
/// Duration in ns from which the start and the end of a dispatch no longer matter.
const LONG_ENOUGH_NS: f64 = 2e6;
/// Dispatches, of which the fastest counts: a peak.
const DISPATCHES: usize = 3;
/// Elements of a dispatch that raises the clocks: a millisecond or two on a large GPU.
const RAISING_ELEMENTS: usize = 1 << 20;
/// Shortest and longest time that raising the clocks takes.
const RAISING: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(2)];
/// Relative difference of two dispatches below which the clocks are steady.
const STEADY: f64 = 0.01;

impl MultiplyAdd {
    /// Compiles the kernel.
    ///
    /// # Errors
    /// The device's limits do not allow the workgroup size.
    pub fn new(device: &Device, workgroup_size: u32, rounds: u32) -> Result<Self, KernelError> {
        Ok(Self { kernel: Kernel::specialized(device, &Specialization { workgroup_size, rounds })?, rounds })
    }

    /// Returns the number of multiply-adds of one chain.
    pub fn operations(&self) -> u32 {
        UNROLLED * self.rounds
    }

    /// Returns the number of floating-point operations per element; a multiply-add counts as two.
    pub fn flop_per_element(&self) -> u64 {
        2 * u64::from(CHAINS) * u64::from(self.operations())
    }

    /// Records the chains of the first `count` elements of `start`, and writes the sum of the twelve numbers
    /// of each to `total`.
    ///
    /// # Errors
    /// A buffer is smaller than the count's capacity.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        start: &Buffer<f32>,
        total: &Buffer<f32>,
        [factor, addend]: [f32; 2],
    ) -> Result<(), KernelError> {
        for buffer in [start, total] {
            check_len("multiply-add", count, buffer)?;
        }
        let bindings = Bindings { count, start, total };
        recorder.dispatch_counted(&self.kernel, bindings, Params { factor, addend });
        Ok(())
    }

    /// Keeps a GPU busy until its clocks have risen: after some seconds without work an NVIDIA H200 runs at
    /// 345 MHz instead of 1980, and what is measured then is three to six times too slow. Does nothing on a
    /// software device. Set-up only: it waits for the device.
    ///
    /// # Errors
    /// Out of memory, or the device was lost.
    pub fn raise_clocks(device: &Device) -> Result<(), KernelError> {
        if device.is_software() {
            return Ok(());
        }
        let Specialization { workgroup_size, rounds } = Specialization::default();
        let chains = Self::new(device, workgroup_size, rounds)?;
        let n = RAISING_ELEMENTS;
        let count = Counts::new(device)?.upload(device, "elements", n as u32, n as u32)?;
        let start = device.buffer_from("start", &vec![1.0; n])?;
        let total = device.buffer::<f32>("total", n)?;
        let [shortest, longest] = RAISING;
        let (begin, mut before_ns) = (Instant::now(), f64::NAN);
        while begin.elapsed() < longest {
            let options = RecorderOptions { profile: true, ..Default::default() };
            let mut recorder = device.recorder_with(options)?;
            for _ in 0..DISPATCHES {
                chains.record(&mut recorder, &count, &start, &total, [1.0; 2])?;
            }
            let times = device.submit(recorder)?.pass_times()?;
            let now_ns = times.last().map_or(f64::NAN, |time| time.duration_ns);
            if begin.elapsed() >= shortest && (now_ns - before_ns).abs() <= STEADY * now_ns {
                break;
            }
            before_ns = now_ns;
        }
        Ok(())
    }

    /// Measures the peak of multiply-adds in f32, in GFLOP/s; none if the device has no time stamps, or the
    /// sums are wrong. Set-up only: it waits for the device.
    ///
    /// # Errors
    /// Out of memory, or the device was lost.
    pub fn peak_gflop_per_s(device: &Device) -> Result<Option<f64>, KernelError> {
        let Specialization { workgroup_size, rounds } = Specialization::default();
        let chains = Self::new(device, workgroup_size, rounds)?;
        let flop_per_element = chains.flop_per_element() as f64;
        let mut n = FIRST_ELEMENTS;
        loop {
            let count = Counts::new(device)?.upload(device, "elements", n as u32, n as u32)?;
            let start = device.buffer_from("start", &vec![1.0; n])?;
            let total = device.buffer_from("total", &vec![0.0; n])?;
            let options = RecorderOptions { profile: true, ..Default::default() };
            let mut recorder = device.recorder_with(options)?;
            for _ in 0..DISPATCHES {
                chains.record(&mut recorder, &count, &start, &total, [1.0; 2])?;
            }
            let times = device.submit(recorder)?.pass_times()?;
            let fastest_ns = times.iter().map(|time| time.duration_ns).fold(f64::INFINITY, f64::min);
            if !(fastest_ns > 0.0 && fastest_ns.is_finite()) {
                return Ok(None);
            }
            // Twelve numbers from 1, each increased by 1 so many times.
            let expected = (CHAINS * (CHAINS + 1) / 2 + CHAINS * chains.operations()) as f32;
            if device.download(&total, n)?.iter().any(|total| *total != expected) {
                return Ok(None);
            }
            if fastest_ns >= LONG_ENOUGH_NS || n >= MAX_ELEMENTS {
                return Ok(Some(flop_per_element * n as f64 / fastest_ns));
            }
            n *= 4;
        }
    }
}
