//! Radix sort of u32 and u64 keys, eight bits per pass, with a payload, with each key's original index, or
//! with many columns.

use crate::error::{check_apart, check_capacity, check_len};
use crate::radix_passes::{CountAndScatter, Digit, Onesweep, PassOptions, Payload};
use crate::{Counts, KernelError, Method, Move, Ranking};
use bytemuck::Pod;
use frazil_shaders::primitives::radix::DIGIT_BITS;
use frazil_shaders::primitives::{gather_u32, radix_scatter_look_back, radix_sort_small};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, RecorderOptions, Threads};
use std::marker::PhantomData;
use std::ops::Range;

/// Maximum capacity with look-back: a digit's count shares a word with two bits of flags.
const LOOK_BACK_CAPACITY: u32 = (1 << 30) - 1;

/// Name of the stored result of [`Ranking::fastest`].
const FINDING: &str = "sort-ranking";
/// Number of keys in the trial of the two methods.
const TRIAL_KEYS: u32 = 1 << 20;
const TRIALS: usize = 5;

/// Type of a sort key.
pub trait SortKey: Pod {
    /// 32-bit words per key, the low one first.
    const WORDS: u32;
}

impl SortKey for u32 {
    const WORDS: u32 = 1;
}

impl SortKey for u64 {
    const WORDS: u32 = 2;
}

/// Options of a sort.
#[derive(Clone, Copy, Debug)]
pub struct SortOptions {
    /// The method; `None` for the best that the device allows.
    pub method: Option<Method>,
    /// Method of ranking the keys of a tile; `None` for the faster one on the device.
    pub ranking: Option<Ranking>,
    /// Threads per workgroup, a power of two from 64. With ballots, workgroups of more than 16 subgroups are
    /// made smaller.
    pub workgroup_size: u32,
    /// Keys per thread, a power of two; `None` for 16, or 8 where registers or shared memory are short. A
    /// tile and its counters must fit the shared memory.
    pub items_per_thread: Option<u32>,
    /// True if arrays that fit one workgroup are sorted by it, in a single dispatch.
    pub small_path: bool,
    /// Polls of a tile before the waiting workgroup counts it again.
    pub spins: u32,
    /// For tests of look-back: see [`crate::ScanOptions::withheld`].
    pub withheld: u32,
}

impl Default for SortOptions {
    fn default() -> Self {
        let defaults = radix_scatter_look_back::Specialization::default();
        Self {
            method: None,
            ranking: None,
            workgroup_size: defaults.workgroup_size,
            items_per_thread: None,
            small_path: true,
            spins: defaults.spins,
            withheld: defaults.withheld,
        }
    }
}

/// Stable sort of keys by any range of their bits.
///
/// With look-back (onesweep), one pass counts the digits of all passes, and each pass moves every key once: 4
/// bytes, and 16 per pass, for u32 keys with a payload. Without look-back each pass counts first, 20 bytes.
/// Arrays that fit a workgroup are sorted in one dispatch.
pub struct RadixSort<K = u32> {
    /// Used to compile the kernel that moves columns of a given number of words at its first use.
    device: Device,
    algorithm: Algorithm,
    scratch_keys: Buffer<u32>,
    scratch_payload: Buffer<u32>,
    /// Bound where there is no payload.
    spare: Buffer<u32>,
    capacity: u32,
    key: PhantomData<fn() -> K>,
}

enum Algorithm {
    Small(Kernel<radix_sort_small::Interface>),
    Onesweep(Onesweep),
    ReduceThenScan(CountAndScatter),
}

impl<K: SortKey> RadixSort<K> {
    /// Makes a sort of up to `capacity` keys.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn new(device: &Device, capacity: u32) -> Result<Self, KernelError> {
        Self::with_options(device, capacity, SortOptions::default())
    }

    /// Makes a sort with another workgroup size, a power of two from 64.
    ///
    /// # Errors
    /// Like [`Self::with_options`].
    pub fn with_workgroup_size(
        device: &Device,
        capacity: u32,
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        Self::with_options(device, capacity, SortOptions { workgroup_size, ..Default::default() })
    }

    /// Makes a sort with options.
    ///
    /// # Errors
    /// The device's limits do not allow the group size, or it is below 64; look-back was requested and is not
    /// allowed, or ballots were; not enough memory.
    pub fn with_options(device: &Device, capacity: u32, options: SortOptions) -> Result<Self, KernelError> {
        if options.workgroup_size < 64 {
            return Err(KernelError::WorkgroupSize {
                primitive: "radix sort",
                found: options.workgroup_size,
                minimum: 64,
            });
        }
        let mut method = Method::choose(device, options.method)?;
        if capacity > LOOK_BACK_CAPACITY {
            method = Method::ReduceThenScan;
        }
        let defaults = radix_sort_small::Specialization::default();
        let small: Kernel<radix_sort_small::Interface> = Kernel::specialized(
            device,
            &radix_sort_small::Specialization { key_words: K::WORDS, ..defaults },
        )?;
        if let Some(ranking) = options.ranking {
            ranking.check(device)?;
        }
        let algorithm = if options.small_path && capacity <= small.tile() {
            Algorithm::Small(small)
        } else {
            let SortOptions { workgroup_size, items_per_thread, spins, withheld, .. } = options;
            let ranking = options.ranking.map_or_else(|| Ranking::fastest(device), Ok)?;
            let passes = PassOptions {
                ranking,
                workgroup_size,
                items_per_thread,
                key_words: K::WORDS,
                spins,
                withheld,
            };
            match method {
                Method::LookBack => Algorithm::Onesweep(Onesweep::new(device, capacity, passes)?),
                Method::ReduceThenScan => {
                    Algorithm::ReduceThenScan(CountAndScatter::new(device, capacity, passes)?)
                }
            }
        };
        Ok(Self {
            device: device.clone(),
            algorithm,
            scratch_keys: device.buffer("sort keys (scratch)", capacity as usize * K::WORDS as usize)?,
            scratch_payload: device.buffer("sort payload (scratch)", capacity as usize)?,
            spare: device.buffer("spare payload", 1)?,
            capacity,
            key: PhantomData,
        })
    }

    /// Returns the method, or `None` if a single workgroup sorts.
    pub fn method(&self) -> Option<Method> {
        match self.algorithm {
            Algorithm::Small(_) => None,
            Algorithm::Onesweep(_) => Some(Method::LookBack),
            Algorithm::ReduceThenScan(_) => Some(Method::ReduceThenScan),
        }
    }

    /// Records the in-place sort of `keys` by the key bits `bits`.
    ///
    /// # Errors
    /// The bit range is reversed or goes past the key; the count's capacity exceeds the sort's; a buffer is
    /// smaller than that, or given twice.
    pub fn record_keys(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        keys: &Buffer<K>,
        bits: Range<u32>,
    ) -> Result<(), KernelError> {
        self.record_passes(recorder, count, keys, None, bits, Payload::None)
    }

    /// Records the in-place sort of `keys` and `payload` by the key bits `bits`.
    ///
    /// # Errors
    /// Like [`Self::record_keys`].
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        keys: &Buffer<K>,
        payload: &Buffer<u32>,
        bits: Range<u32>,
    ) -> Result<(), KernelError> {
        self.record_passes(recorder, count, keys, Some(payload), bits, Payload::Given)
    }

    /// Records the in-place sort of `keys`, and writes the original index of each key to `order`: `sorted[i]
    /// = keys[order[i]]`.
    ///
    /// # Errors
    /// Like [`Self::record_keys`].
    pub fn record_order(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        keys: &Buffer<K>,
        order: &Buffer<u32>,
        bits: Range<u32>,
    ) -> Result<(), KernelError> {
        self.record_passes(recorder, count, keys, Some(order), bits, Payload::Index)
    }

    /// Records the in-place sort of `keys`, and permutes every column likewise; `order` is written as in
    /// [`Self::record_order`].
    ///
    /// Columns are moved once, after the last pass, 4 + 8 · words bytes per element, however many passes the
    /// keys take.
    ///
    /// # Errors
    /// Like [`Self::record_keys`], also for the columns.
    pub fn record_columns(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        keys: &Buffer<K>,
        order: &Buffer<u32>,
        columns: &[Move],
        bits: Range<u32>,
    ) -> Result<(), KernelError> {
        let mut outputs = vec![order];
        for (from, words, to) in columns.iter().filter_map(Move::as_column) {
            for buffer in [from, to] {
                let (found, required) = (buffer.len() as u64, u64::from(count.capacity) * u64::from(words));
                if found < required {
                    let (primitive, object) = ("radix sort", buffer.name().to_owned());
                    return Err(KernelError::TooSmall { primitive, object, found, required });
                }
            }
            outputs.push(to);
        }
        let inputs: Vec<_> = columns.iter().filter_map(|c| Some(c.as_column()?.0)).collect();
        check_apart("radix sort", &inputs, &outputs)?;
        self.record_order(recorder, count, keys, order, bits)?;
        for (from, words, to) in columns.iter().filter_map(Move::as_column) {
            let defaults = gather_u32::Specialization::default();
            let gather: Kernel<gather_u32::Interface> =
                Kernel::specialized(&self.device, &gather_u32::Specialization { words, ..defaults })?;
            let bindings = gather_u32::Bindings { count, order, column: from, moved: to };
            recorder.dispatch_counted(&gather, bindings, ());
        }
        Ok(())
    }

    fn record_passes(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        keys: &Buffer<K>,
        payload: Option<&Buffer<u32>>,
        bits: Range<u32>,
        kind: Payload,
    ) -> Result<(), KernelError> {
        let key_bits = u32::BITS * K::WORDS;
        if bits.start > bits.end || bits.end > key_bits {
            return Err(KernelError::BitRange { begin: bits.start, end: bits.end, key_bits });
        }
        check_capacity("radix sort", self.capacity, count, payload.as_slice())?;
        check_len("radix sort", count, keys)?;
        let keys = &keys.cast::<u32>();
        let payload = payload.unwrap_or(&self.spare);
        check_apart("radix sort", &[&count.count], &[keys, payload])?;

        if let Algorithm::Small(kernel) = &self.algorithm {
            let bindings = radix_sort_small::Bindings { count, keys, payload };
            let params = radix_sort_small::Params {
                begin_bit: bits.start,
                end_bit: bits.end,
                payload_kind: kind as u32,
            };
            recorder.dispatch(kernel, Threads::Fixed(1), bindings, params);
            return Ok(());
        }
        // Keys without bits to sort by still need their order written: one pass over no bits does that.
        let passes = (bits.end - bits.start).div_ceil(DIGIT_BITS).max(u32::from(kind == Payload::Index));
        if let Algorithm::Onesweep(onesweep) = &self.algorithm {
            onesweep.record_histogram(recorder, count, keys, &bits, passes);
        }
        let (mut from, mut to) = ((keys, payload), (&self.scratch_keys, &self.scratch_payload));
        if kind == Payload::None {
            to.1 = &self.spare;
        }
        for pass in 0..passes {
            let shift = bits.start + pass * DIGIT_BITS;
            let width = bits.end.saturating_sub(shift).min(DIGIT_BITS);
            // A shift past the key is undefined even where no bit of it is used.
            let digit = Digit { shift: shift.min(key_bits - 1), mask: (1 << width) - 1 };
            let kind = if kind == Payload::Index && pass > 0 { Payload::Given } else { kind };
            // Unused in a pass that makes its own payload; any buffer that the pass does not write will do.
            let read = if kind == Payload::Given { from.1 } else { from.0 };
            let buffers = [from.0, read, to.0, to.1];
            match &self.algorithm {
                Algorithm::Onesweep(onesweep) => {
                    onesweep.record_pass(recorder, count, pass, digit, kind, buffers)
                }
                Algorithm::ReduceThenScan(passes) => {
                    passes.record_pass(recorder, count, digit, kind, buffers)
                }
                Algorithm::Small(_) => {}
            }
            std::mem::swap(&mut from, &mut to);
        }
        if passes % 2 == 1 {
            // A copy moves fewer bytes than another pass would.
            recorder.copy(from.0, to.0, count.capacity as usize * K::WORDS as usize);
            if kind != Payload::None {
                recorder.copy(from.1, to.1, count.capacity as usize);
            }
        }
        Ok(())
    }
}

impl Ranking {
    /// Returns the faster method in a trial on this device; the result is stored with the pipeline cache.
    /// Software devices, and those with subgroups of fewer than 16, take nibbles without one.
    ///
    /// # Errors
    /// The device fails.
    pub fn fastest(device: &Device) -> Result<Self, KernelError> {
        if !Self::is_worth_a_trial(device) {
            return Ok(Self::Nibbles);
        }
        if let Some(found) = device.stored_finding(FINDING).and_then(|text| text.parse().ok()) {
            return Ok(found);
        }
        let [nibbles_ns, ballots_ns] = Self::time_both(device)?;
        // Without time stamps both are 0.
        let found = if nibbles_ns < ballots_ns { Self::Nibbles } else { Self::Ballots };
        device.store_finding(FINDING, &found.to_string());
        Ok(found)
    }

    /// Returns the nanoseconds that a sort of 2^20 keys of 16 bits with their order takes with nibbles and
    /// with ballots, medians of five runs. For set-up: it waits for the device.
    ///
    /// # Errors
    /// The device does not allow ballots, or fails.
    pub fn time_both(device: &Device) -> Result<[f64; 2], KernelError> {
        let n = TRIAL_KEYS as usize;
        let keys: Vec<u32> = (0..TRIAL_KEYS).map(|i| i.wrapping_mul(2_654_435_761) >> 16).collect();
        let unsorted = device.buffer_from("trial keys", &keys)?;
        let (key, order) = (device.buffer("trial key", n)?, device.buffer("trial order", n)?);
        let count = Counts::new(device)?.upload(device, "trial count", TRIAL_KEYS, TRIAL_KEYS)?;
        let mut medians = [0.0; 2];
        for (median, ranking) in medians.iter_mut().zip([Self::Nibbles, Self::Ballots]) {
            let options = SortOptions { ranking: Some(ranking), ..Default::default() };
            let sort = RadixSort::<u32>::with_options(device, TRIAL_KEYS, options)?;
            let mut times = [0.0; TRIALS];
            for time in &mut times {
                let mut recorder =
                    device.recorder_with(RecorderOptions { profile: true, ..Default::default() })?;
                recorder.copy(&unsorted, &key, n);
                sort.record_order(&mut recorder, &count, &key, &order, 0..16)?;
                let passes = device.submit(recorder)?.pass_times()?;
                *time = passes.iter().skip(1).map(|pass| pass.duration_ns).sum();
            }
            times.sort_by(f64::total_cmp);
            *median = times[TRIALS / 2];
        }
        Ok(medians)
    }
}
