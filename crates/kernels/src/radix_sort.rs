//! Radix sort of u32 and u64 keys, eight bits per pass, with a payload, with each key's original index, or
//! with many columns.

use crate::error::{check_apart, check_capacity, check_len};
use crate::length::per_tile;
use crate::scan::ScanOptions;
use crate::{KernelError, Method, Move, Scan};
use bytemuck::Pod;
use frazil_shaders::primitives::radix::{DIGIT_BITS, DIGITS, PAYLOAD_GIVEN, PAYLOAD_INDEX, PAYLOAD_NONE};
use frazil_shaders::primitives::{
    gather_u32, radix_bases, radix_count, radix_histogram, radix_scatter, radix_scatter_look_back,
    radix_sort_small,
};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};
use std::marker::PhantomData;
use std::ops::Range;

/// Maximum number of keys per tile: its words and counters must fit 32 KiB of shared memory.
const MAX_TILE: u32 = 4096;
/// Maximum capacity with look-back: a digit's count shares a word with two bits of flags.
const LOOK_BACK_CAPACITY: u32 = (1 << 30) - 1;

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
    /// Threads per workgroup, a power of two from 64.
    pub workgroup_size: u32,
    /// True if arrays that fit one workgroup are sorted by it, in a single dispatch.
    pub small_path: bool,
    /// Polls of a tile before the waiting workgroup counts it again.
    pub spins: u32,
    /// For tests of look-back: see [`ScanOptions::withheld`].
    pub withheld: u32,
}

impl Default for SortOptions {
    fn default() -> Self {
        let defaults = radix_scatter_look_back::Specialization::default();
        Self {
            method: None,
            workgroup_size: defaults.workgroup_size,
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

struct Onesweep {
    count_digits: Kernel<radix_histogram::Interface>,
    scan_digits: Kernel<radix_bases::Interface>,
    scatter: Kernel<radix_scatter_look_back::Interface>,
    histogram: Buffer<u32>,
    bases: Buffer<u32>,
    look_back: Buffer<u32>,
    /// Words of `look_back` per pass.
    words_a_pass: u32,
}

struct CountAndScatter {
    count_digits: Kernel<radix_count::Interface>,
    scatter: Kernel<radix_scatter::Interface>,
    scan: Scan,
    digit_counts: Buffer<u32>,
    digit_places: Buffer<u32>,
}

/// Payload of the keys; see `primitives/radix.glsl`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Payload {
    None = PAYLOAD_NONE,
    /// The contents of the payload buffer.
    Given = PAYLOAD_GIVEN,
    /// Each key's index; the payload buffer is only written.
    Index = PAYLOAD_INDEX,
}

/// Digit of one pass.
#[derive(Clone, Copy)]
struct Digit {
    shift: u32,
    mask: u32,
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
    /// allowed; not enough memory.
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
        let algorithm = if options.small_path && capacity <= small.tile() {
            Algorithm::Small(small)
        } else if method == Method::LookBack {
            Algorithm::Onesweep(Onesweep::new(device, capacity, options, K::WORDS)?)
        } else {
            Algorithm::ReduceThenScan(CountAndScatter::new(device, capacity, options, K::WORDS)?)
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
            let bindings = gather_u32::Bindings { count: &count.count, order, column: from, moved: to };
            recorder.dispatch(&gather, Threads::Counted(count), bindings, ());
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
            let bindings = radix_sort_small::Bindings { count: &count.count, keys, payload };
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

/// Returns the number of keys per thread: 16 if the tile then fits shared memory.
fn items_per_thread(workgroup_size: u32) -> u32 {
    (MAX_TILE / workgroup_size).clamp(8, 16)
}

impl Onesweep {
    fn new(
        device: &Device,
        capacity: u32,
        options: SortOptions,
        key_words: u32,
    ) -> Result<Self, KernelError> {
        let SortOptions { workgroup_size, spins, withheld, .. } = options;
        let specialization = radix_scatter_look_back::Specialization {
            workgroup_size,
            items_per_thread: items_per_thread(workgroup_size),
            key_words,
            spins,
            withheld,
        };
        let scatter = Kernel::specialized(device, &specialization)?;
        let defaults = radix_histogram::Specialization::default();
        let count_digits = Kernel::specialized(
            device,
            &radix_histogram::Specialization { workgroup_size, key_words, ..defaults },
        )?;
        let tiles = capacity.div_ceil(scatter.tile()).max(1);
        let passes = 4 * key_words;
        let words_a_pass = 1 + tiles * DIGITS;
        Ok(Self {
            count_digits,
            scan_digits: Kernel::new(device)?,
            scatter,
            histogram: device.buffer("digit histogram", (passes * DIGITS) as usize)?,
            bases: device.buffer("digit bases", (passes * DIGITS) as usize)?,
            look_back: device.buffer("sort look-back", (passes * words_a_pass) as usize)?,
            words_a_pass,
        })
    }

    fn record_histogram(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        keys: &Buffer<u32>,
        bits: &Range<u32>,
        passes: u32,
    ) {
        recorder.fill(&self.look_back, 0);
        recorder.fill(&self.histogram, 0);
        let bindings = radix_histogram::Bindings { count: &count.count, keys, histogram: &self.histogram };
        // A pass over no bits has one digit, 0, and needs no counts.
        let params = radix_histogram::Params { begin_bit: bits.start, end_bit: bits.end };
        recorder.dispatch(&self.count_digits, Threads::Counted(count), bindings, params);
        let bindings = radix_bases::Bindings { histogram: &self.histogram, bases: &self.bases };
        recorder.dispatch(&self.scan_digits, Threads::Fixed((passes * DIGITS) as usize), bindings, ());
    }

    #[allow(clippy::too_many_arguments, reason = "private; the public functions are its named forms")]
    fn record_pass(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        pass: u32,
        digit: Digit,
        kind: Payload,
        [keys, payload, sorted_keys, sorted_payload]: [&Buffer<u32>; 4],
    ) {
        let bindings = radix_scatter_look_back::Bindings {
            count: &count.count,
            keys,
            payload,
            bases: &self.bases,
            look_back: &self.look_back,
            sorted_keys,
            sorted_payload,
        };
        let params = radix_scatter_look_back::Params {
            shift: digit.shift,
            mask: digit.mask,
            payload_kind: kind as u32,
            first_base: pass * DIGITS,
            first_word: pass * self.words_a_pass,
        };
        recorder.dispatch(&self.scatter, Threads::Counted(count), bindings, params);
    }
}

impl CountAndScatter {
    fn new(
        device: &Device,
        capacity: u32,
        options: SortOptions,
        key_words: u32,
    ) -> Result<Self, KernelError> {
        let workgroup_size = options.workgroup_size;
        let items_per_thread = items_per_thread(workgroup_size);
        let count_digits = Kernel::specialized(
            device,
            &radix_count::Specialization { workgroup_size, items_per_thread, key_words },
        )?;
        let specialization = radix_scatter::Specialization { workgroup_size, items_per_thread, key_words };
        let scatter = Kernel::specialized(device, &specialization)?;
        let counters = DIGITS * capacity.div_ceil(count_digits.tile()).max(1);
        let scan = ScanOptions {
            method: Some(Method::ReduceThenScan),
            ..ScanOptions::for_device(device, workgroup_size)
        };
        Ok(Self {
            count_digits,
            scatter,
            scan: Scan::with_options(device, counters, scan)?,
            digit_counts: device.buffer("digit counts", counters as usize)?,
            digit_places: device.buffer("digit places", counters as usize)?,
        })
    }

    fn record_pass(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        digit: Digit,
        kind: Payload,
        [keys, payload, sorted_keys, sorted_payload]: [&Buffer<u32>; 4],
    ) {
        let Digit { shift, mask } = digit;
        let bindings = radix_count::Bindings { count: &count.count, keys, digit_counts: &self.digit_counts };
        let params = radix_count::Params { shift, mask };
        recorder.dispatch(&self.count_digits, Threads::Counted(count), bindings, params);

        let length = per_tile(self.count_digits.tile(), DIGITS);
        self.scan.record_derived(recorder, count, length, [&self.digit_counts, &self.digit_places], None);

        let bindings = radix_scatter::Bindings {
            count: &count.count,
            keys,
            payload,
            digit_places: &self.digit_places,
            sorted_keys,
            sorted_payload,
        };
        let params = radix_scatter::Params { shift, mask, payload_kind: kind as u32 };
        recorder.dispatch(&self.scatter, Threads::Counted(count), bindings, params);
    }
}
