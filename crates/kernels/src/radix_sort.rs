//! Radix sort of u32 keys with a u32 payload, four bits a pass.

use crate::error::check_capacity;
use crate::length::per_tile;
use crate::{KernelError, Scan};
use frazil_shaders::primitives::{radix_count, radix_scatter};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};
use std::ops::Range;

/// Bits that a pass sorts by.
const DIGIT_BITS: u32 = 4;
/// Values of a digit.
const DIGITS: u32 = 1 << DIGIT_BITS;

/// Sorts keys and payloads by any range of key bits; stable.
///
/// A pass counts digits (4 bytes a key), scans the counts, and scatters (16 bytes a key).
pub struct RadixSort {
    count_digits: Kernel<radix_count::Interface>,
    scatter: Kernel<radix_scatter::Interface>,
    scatter_indices: Kernel<radix_scatter::Interface>,
    scan: Scan,
    digit_counts: Buffer<u32>,
    digit_places: Buffer<u32>,
    scratch_keys: Buffer<u32>,
    scratch_payload: Buffer<u32>,
    capacity: u32,
}

/// What travels with the keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Payload {
    /// What the payload buffer holds.
    Given,
    /// Each key's index; the payload buffer is only written.
    Index,
}

impl RadixSort {
    /// Makes a sort of up to `capacity` keys.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Device, capacity: u32) -> Result<Self, KernelError> {
        Self::with_workgroup_size(device, capacity, radix_scatter::Specialization::default().workgroup_size)
    }

    /// Makes a sort with another workgroup size, a power of two from 16.
    ///
    /// # Errors
    /// The device's limits do not allow it; no memory.
    pub fn with_workgroup_size(
        device: &Device,
        capacity: u32,
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        let counting = radix_count::Specialization { workgroup_size, ..Default::default() };
        let scattering = radix_scatter::Specialization { workgroup_size, ..Default::default() };
        let count_digits = Kernel::specialized(device, &counting)?;
        let tiles = capacity.div_ceil(count_digits.tile());
        let counters = DIGITS * tiles;
        Ok(Self {
            count_digits,
            scatter: Kernel::specialized(device, &scattering)?,
            scatter_indices: Kernel::specialized(
                device,
                &radix_scatter::Specialization { index_as_payload: 1, ..scattering },
            )?,
            scan: Scan::with_options(
                device,
                counters,
                crate::ScanOptions { workgroup_size, ..Default::default() },
            )?,
            digit_counts: device.buffer("digit counts", counters as usize)?,
            digit_places: device.buffer("digit places", counters as usize)?,
            scratch_keys: device.buffer("sort keys (scratch)", capacity as usize)?,
            scratch_payload: device.buffer("sort payload (scratch)", capacity as usize)?,
            capacity,
        })
    }

    /// Records the sort of `keys` and `payload`, in place, by the key bits `bits`.
    ///
    /// # Errors
    /// The bit range is reversed or goes past bit 32; the count's capacity exceeds the sort's, or a buffer is smaller.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        keys: &Buffer<u32>,
        payload: &Buffer<u32>,
        bits: Range<u32>,
    ) -> Result<(), KernelError> {
        self.record_passes(recorder, count, keys, payload, bits, Payload::Given)
    }

    /// Records the sort of `keys`, in place, and writes to `order` where each came from: `sorted[i] = keys[order[i]]`.
    ///
    /// # Errors
    /// As [`Self::record`].
    pub fn record_order(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        keys: &Buffer<u32>,
        order: &Buffer<u32>,
        bits: Range<u32>,
    ) -> Result<(), KernelError> {
        // Even keys without bits to sort by need their order written: one pass over no bits does that.
        self.record_passes(recorder, count, keys, order, bits, Payload::Index)
    }

    fn record_passes(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        keys: &Buffer<u32>,
        payload: &Buffer<u32>,
        bits: Range<u32>,
        first: Payload,
    ) -> Result<(), KernelError> {
        if bits.start > bits.end || bits.end > u32::BITS {
            return Err(KernelError::BitRange { begin: bits.start, end: bits.end });
        }
        check_capacity("radix sort", self.capacity, count, &[keys, payload])?;
        let passes = (bits.end - bits.start).div_ceil(DIGIT_BITS).max(u32::from(first == Payload::Index));
        let (mut from, mut to) = ((keys, payload), (&self.scratch_keys, &self.scratch_payload));
        for pass in 0..passes {
            let begin = (bits.start + pass * DIGIT_BITS).min(31);
            let width = (bits.end - bits.start).saturating_sub(pass * DIGIT_BITS).min(DIGIT_BITS);
            let (shift, mask) = (begin, (1 << width) - 1);

            let bindings =
                radix_count::Bindings { count: &count.count, keys: from.0, digit_counts: &self.digit_counts };
            let params = radix_count::Params { shift, mask };
            recorder.dispatch(&self.count_digits, Threads::Counted(count), bindings, params);

            let length = per_tile(self.count_digits.tile(), DIGITS);
            self.scan.record_derived(recorder, count, length, &self.digit_counts, &self.digit_places);

            let own_index = first == Payload::Index && pass == 0;
            let kernel = if own_index { &self.scatter_indices } else { &self.scatter };
            let bindings = radix_scatter::Bindings {
                count: &count.count,
                keys: from.0,
                // Not read in the pass that makes its own; any buffer that the pass does not write will do.
                payload: if own_index { from.0 } else { from.1 },
                place: &self.digit_places,
                sorted_keys: to.0,
                sorted_payload: to.1,
            };
            recorder.dispatch(
                kernel,
                Threads::Counted(count),
                bindings,
                radix_scatter::Params { shift, mask },
            );
            std::mem::swap(&mut from, &mut to);
        }
        if passes % 2 == 1 {
            // A copy moves less than another pass would.
            recorder.copy(from.0, to.0, count.capacity as usize);
            recorder.copy(from.1, to.1, count.capacity as usize);
        }
        Ok(())
    }
}
