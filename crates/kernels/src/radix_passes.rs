//! Passes of the radix sort over a digit: with look-back, or with a pass that counts before.

use crate::length::per_tile;
use crate::ranking::{Ranking, TileShape};
use crate::scan::ScanOptions;
use crate::{KernelError, Method, Scan};
use frazil_shaders::primitives::radix::{DIGITS, PAYLOAD_GIVEN, PAYLOAD_INDEX, PAYLOAD_NONE};
use frazil_shaders::primitives::{
    radix_bases, radix_count, radix_histogram, radix_scatter, radix_scatter_ballot,
    radix_scatter_ballot_look_back, radix_scatter_look_back,
};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};
use std::ops::Range;

/// Options of the passes of a sort.
#[derive(Clone, Copy)]
pub(crate) struct PassOptions {
    pub ranking: Ranking,
    /// Requested threads per workgroup; ballots may have fewer.
    pub workgroup_size: u32,
    /// Keys per thread; `None` for the method's own number.
    pub items_per_thread: Option<u32>,
    pub key_words: u32,
    pub spins: u32,
    pub withheld: u32,
}

/// Passes that look back within the scatter.
pub(crate) struct Onesweep {
    count_digits: Kernel<radix_histogram::Interface>,
    scan_digits: Kernel<radix_bases::Interface>,
    scatter: LookBackScatter,
    histogram: Buffer<u32>,
    bases: Buffer<u32>,
    look_back: Buffer<u32>,
    /// Words of `look_back` per pass.
    words_a_pass: u32,
}

enum LookBackScatter {
    Nibbles(Kernel<radix_scatter_look_back::Interface>),
    Ballots(Kernel<radix_scatter_ballot_look_back::Interface>),
}

/// Passes that count digits, scan the counts and then scatter.
pub(crate) struct CountAndScatter {
    count_digits: Kernel<radix_count::Interface>,
    scatter: Scatter,
    scan: Scan,
    digit_counts: Buffer<u32>,
    digit_places: Buffer<u32>,
}

enum Scatter {
    Nibbles(Kernel<radix_scatter::Interface>),
    Ballots(Kernel<radix_scatter_ballot::Interface>),
}

/// Payload of the keys; see `primitives/radix.glsl`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Payload {
    None = PAYLOAD_NONE,
    /// The contents of the payload buffer.
    Given = PAYLOAD_GIVEN,
    /// Each key's index; the payload buffer is only written.
    Index = PAYLOAD_INDEX,
}

/// Digit of one pass.
#[derive(Clone, Copy)]
pub(crate) struct Digit {
    pub shift: u32,
    pub mask: u32,
}

impl Onesweep {
    pub fn new(device: &Device, capacity: u32, options: PassOptions) -> Result<Self, KernelError> {
        let PassOptions { ranking, key_words, spins, withheld, .. } = options;
        let TileShape { workgroup_size, items_per_thread, subgroup_size } =
            ranking.tile_shape(device, options.workgroup_size, options.items_per_thread);
        let scatter = match ranking {
            Ranking::Nibbles => {
                let specialization = radix_scatter_look_back::Specialization {
                    workgroup_size,
                    items_per_thread,
                    key_words,
                    spins,
                    withheld,
                };
                LookBackScatter::Nibbles(Kernel::specialized(device, &specialization)?)
            }
            Ranking::Ballots => {
                let specialization = radix_scatter_ballot_look_back::Specialization {
                    workgroup_size,
                    items_per_thread,
                    subgroup_size,
                    key_words,
                    spins,
                    withheld,
                };
                LookBackScatter::Ballots(Kernel::specialized(device, &specialization)?)
            }
        };
        let defaults = radix_histogram::Specialization::default();
        let count_digits = Kernel::specialized(
            device,
            &radix_histogram::Specialization {
                workgroup_size: options.workgroup_size,
                key_words,
                ..defaults
            },
        )?;
        let tiles = capacity.div_ceil(workgroup_size * items_per_thread).max(1);
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

    /// Records the counts of all digits of all passes.
    pub fn record_histogram(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        keys: &Buffer<u32>,
        bits: &Range<u32>,
        passes: u32,
    ) {
        recorder.fill(&self.look_back, 0);
        recorder.fill(&self.histogram, 0);
        let bindings = radix_histogram::Bindings { count, keys, histogram: &self.histogram };
        // A pass over no bits has one digit, 0, and needs no counts.
        let params = radix_histogram::Params { begin_bit: bits.start, end_bit: bits.end };
        recorder.dispatch_counted(&self.count_digits, bindings, params);
        let bindings = radix_bases::Bindings { histogram: &self.histogram, bases: &self.bases };
        recorder.dispatch(&self.scan_digits, Threads::Fixed((passes * DIGITS) as usize), bindings, ());
    }

    #[allow(clippy::too_many_arguments, reason = "the public functions of the sort are its named forms")]
    pub fn record_pass(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        pass: u32,
        digit: Digit,
        kind: Payload,
        [keys, payload, sorted_keys, sorted_payload]: [&Buffer<u32>; 4],
    ) {
        let (bases, look_back) = (&self.bases, &self.look_back);
        let Digit { shift, mask } = digit;
        let (first_base, first_word) = (pass * DIGITS, pass * self.words_a_pass);
        let payload_kind = kind as u32;
        match &self.scatter {
            LookBackScatter::Nibbles(kernel) => {
                let bindings = radix_scatter_look_back::Bindings {
                    count,
                    keys,
                    payload,
                    bases,
                    look_back,
                    sorted_keys,
                    sorted_payload,
                };
                let params =
                    radix_scatter_look_back::Params { shift, mask, payload_kind, first_base, first_word };
                recorder.dispatch_counted(kernel, bindings, params);
            }
            LookBackScatter::Ballots(kernel) => {
                let bindings = radix_scatter_ballot_look_back::Bindings {
                    count,
                    keys,
                    payload,
                    bases,
                    look_back,
                    sorted_keys,
                    sorted_payload,
                };
                let params = radix_scatter_ballot_look_back::Params {
                    shift,
                    mask,
                    payload_kind,
                    first_base,
                    first_word,
                };
                recorder.dispatch_counted(kernel, bindings, params);
            }
        }
    }
}

impl CountAndScatter {
    pub fn new(device: &Device, capacity: u32, options: PassOptions) -> Result<Self, KernelError> {
        let key_words = options.key_words;
        let TileShape { workgroup_size, items_per_thread, subgroup_size } =
            options.ranking.tile_shape(device, options.workgroup_size, options.items_per_thread);
        let count_digits = Kernel::specialized(
            device,
            &radix_count::Specialization { workgroup_size, items_per_thread, key_words },
        )?;
        let scatter = match options.ranking {
            Ranking::Nibbles => {
                let specialization =
                    radix_scatter::Specialization { workgroup_size, items_per_thread, key_words };
                Scatter::Nibbles(Kernel::specialized(device, &specialization)?)
            }
            Ranking::Ballots => {
                let specialization = radix_scatter_ballot::Specialization {
                    workgroup_size,
                    items_per_thread,
                    subgroup_size,
                    key_words,
                };
                Scatter::Ballots(Kernel::specialized(device, &specialization)?)
            }
        };
        let counters = DIGITS * capacity.div_ceil(count_digits.tile()).max(1);
        let scan = ScanOptions {
            method: Some(Method::ReduceThenScan),
            ..ScanOptions::for_device(device, options.workgroup_size)
        };
        Ok(Self {
            count_digits,
            scatter,
            scan: Scan::with_options(device, counters, scan)?,
            digit_counts: device.buffer("digit counts", counters as usize)?,
            digit_places: device.buffer("digit places", counters as usize)?,
        })
    }

    pub fn record_pass(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        digit: Digit,
        kind: Payload,
        [keys, payload, sorted_keys, sorted_payload]: [&Buffer<u32>; 4],
    ) {
        let Digit { shift, mask } = digit;
        let bindings = radix_count::Bindings { count, keys, digit_counts: &self.digit_counts };
        let params = radix_count::Params { shift, mask };
        recorder.dispatch_counted(&self.count_digits, bindings, params);

        let length = per_tile(self.count_digits.tile(), DIGITS);
        self.scan.record_derived(recorder, count, length, [&self.digit_counts, &self.digit_places], None);

        let (digit_places, payload_kind) = (&self.digit_places, kind as u32);
        match &self.scatter {
            Scatter::Nibbles(kernel) => {
                let bindings = radix_scatter::Bindings {
                    count,
                    keys,
                    payload,
                    digit_places,
                    sorted_keys,
                    sorted_payload,
                };
                let params = radix_scatter::Params { shift, mask, payload_kind };
                recorder.dispatch_counted(kernel, bindings, params);
            }
            Scatter::Ballots(kernel) => {
                let bindings = radix_scatter_ballot::Bindings {
                    count,
                    keys,
                    payload,
                    digit_places,
                    sorted_keys,
                    sorted_payload,
                };
                let params = radix_scatter_ballot::Params { shift, mask, payload_kind };
                recorder.dispatch_counted(kernel, bindings, params);
            }
        }
    }
}
