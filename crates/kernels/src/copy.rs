//! Copy of words by a kernel, and the copy bandwidth of a device.

use crate::KernelError;
use frazil_shaders::primitives::copy_words::{Bindings, Interface, Params, Specialization};
use frazil_vk::{Buffer, Device, Kernel, Recorder, RecorderOptions, Threads};

/// Copies 32-bit words between two buffers.
pub struct CopyWords {
    kernel: Kernel<Interface>,
    words_per_thread: usize,
}

/// Rates of copies between two buffers.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyRates {
    /// Rate of the largest copy, in GB/s.
    pub large_gb_per_s: f64,
    /// Time of a dispatch that copies one word, in ns.
    pub launch_ns: Option<f64>,
    /// Bytes read plus bytes written of each size, ascending, and their rate in GB/s.
    pub sized: Vec<(u64, f64)>,
}

/// Words of the smallest copy whose rate is measured.
const SMALL_COPY_WORDS: usize = 4096;
/// Bytes of each of the two buffers that the copy bandwidth is measured with: several times the caches of
/// most devices (H200: 60 MB), yet quick to copy.
const COPY_BYTES: u64 = 256 << 20;
/// Copies of each kind, of which the median counts.
const COPIES: usize = 11;
/// The same on a software device: twice the last-level cache that cores share, and few copies, each of which
/// takes the time of a GPU's hundred.
const SOFTWARE_COPY_BYTES: u64 = 64 << 20;
const SOFTWARE_COPIES: usize = 5;

impl CopyWords {
    /// Compiles the kernel.
    ///
    /// # Errors
    /// The device's limits do not allow the workgroup size.
    pub fn new(device: &Device, workgroup_size: u32) -> Result<Self, KernelError> {
        let words = Specialization { workgroup_size, ..Default::default() };
        let words_per_thread = words.words_per_thread as usize;
        Ok(Self { kernel: Kernel::specialized(device, &words)?, words_per_thread })
    }

    /// Records a copy of the first `n_words` words.
    ///
    /// # Errors
    /// A buffer has fewer words.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        from: &Buffer<u32>,
        to: &Buffer<u32>,
        n_words: usize,
    ) -> Result<(), KernelError> {
        if let Some(buffer) = [from, to].into_iter().find(|buffer| buffer.len() < n_words) {
            return Err(KernelError::TooSmall {
                primitive: "copy",
                object: buffer.name().to_owned(),
                found: buffer.len() as u64,
                required: n_words as u64,
            });
        }
        let threads = Threads::Fixed(n_words.div_ceil(self.words_per_thread));
        recorder.dispatch(&self.kernel, threads, Bindings { from, to }, Params { n_words: n_words as u32 });
        Ok(())
    }

    /// Measures the copy bandwidth: bytes read plus bytes written per second between two large buffers, in
    /// GB/s, by this kernel or by the driver's own copy, whichever is faster. None without time stamps.
    /// Set-up only: it waits for the device.
    ///
    /// # Errors
    /// Out of memory, or the device was lost.
    pub fn gb_per_s(device: &Device) -> Result<Option<f64>, KernelError> {
        Ok(Self::rates(device)?.map(|rates| rates.large_gb_per_s))
    }

    /// Measures copies of several sizes, each by this kernel and by the driver: small ones stay in caches,
    /// and are faster than a large one. None without time stamps. Set-up only: it waits for the device.
    ///
    /// # Errors
    /// Out of memory, or the device was lost.
    pub fn rates(device: &Device) -> Result<Option<CopyRates>, KernelError> {
        if device.capabilities().timestamp_period_ns == 0.0 {
            return Ok(None);
        }
        let copy = Self::new(device, Specialization::default().workgroup_size)?;
        let (copy_bytes, copies) = match device.is_software() {
            true => (SOFTWARE_COPY_BYTES, SOFTWARE_COPIES),
            false => (COPY_BYTES, COPIES),
        };
        let n_words = (copy_bytes.min(device.capabilities().max_storage_range) / 4) as usize;
        let from: Buffer<u32> = device.buffer("copy source", n_words)?;
        let to: Buffer<u32> = device.buffer("copy target", n_words)?;
        // One word for the time of a launch, each size the fourfold of the one before, and the large one:
        // sizes in between would take as long as it does.
        let sizes = std::iter::successors(Some(SMALL_COPY_WORDS), |words| Some(4 * words));
        let sizes = sizes.take_while(|words| 16 * *words <= n_words);
        let sizes: Vec<usize> = [1].into_iter().chain(sizes).chain([n_words]).collect();
        let mut recorder = device.recorder_with(RecorderOptions { profile: true, ..Default::default() })?;
        // Memory that was never written may not be allocated yet.
        recorder.fill(&from, 1);
        recorder.fill(&to, 2);
        for words in &sizes {
            for _ in 0..copies {
                recorder.copy(&from, &to, *words);
                copy.record(&mut recorder, &from, &to, *words)?;
            }
        }
        let times = device.submit(recorder)?.pass_times()?;
        let median_ns = |size: usize, is_kernel: usize| {
            let of_size = times[2..].chunks(2 * copies).nth(size).unwrap_or_default();
            let mut ns: Vec<f64> =
                of_size.iter().skip(is_kernel).step_by(2).map(|time| time.duration_ns).collect();
            ns.sort_by(f64::total_cmp);
            ns.get(ns.len() / 2).copied().filter(|ns| *ns > 0.0)
        };
        let rate = |(i, words): (usize, &usize)| {
            let ns = [median_ns(i, 0), median_ns(i, 1)].into_iter().flatten().reduce(f64::min)?;
            let bytes = 8 * *words as u64;
            Some((bytes, bytes as f64 / ns))
        };
        let sized: Vec<(u64, f64)> = sizes.iter().enumerate().filter_map(rate).collect();
        let Some(&(_, large_gb_per_s)) = sized.last() else { return Ok(None) };
        Ok(Some(CopyRates { large_gb_per_s, launch_ns: median_ns(0, 1), sized }))
    }
}
