//! Exclusive scan: reduce-then-scan over a hierarchy of tiles.

use crate::KernelError;
use crate::error::check_capacity;
use crate::length::{COUNTED, length_of, reduced};
use frazil_shaders::primitives::{reduce_u32, scan_tiles};
use frazil_shaders::types::Length;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// Scans arrays of u32: `scanned[i] = values[0] + … + values[i − 1]`, wrapping.
///
/// Reads each element twice and writes it once: 12 bytes an element, against the 8 that any scan must move. It needs no
/// progress guarantee between workgroups, which Vulkan does not give.
pub struct ExclusiveScan {
    reduce: Kernel<reduce_u32::Interface>,
    scan: Kernel<scan_tiles::Interface>,
    reduce_flags: Kernel<reduce_u32::Interface>,
    scan_flags: Kernel<scan_tiles::Interface>,
    /// Sums of tiles of the level below, and their scan.
    levels: Vec<Level>,
    /// What the top level adds: nothing.
    zero: Buffer<u32>,
    /// Where totals go that nobody asked for.
    spare_total: Buffer<u32>,
    capacity: u32,
}

struct Level {
    sums: Buffer<u32>,
    scanned: Buffer<u32>,
}

/// Whether elements are numbers, or flags of which every one that is not 0 counts as 1.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elements {
    Numbers,
    Flags,
}

impl ExclusiveScan {
    /// Makes a scan of up to `capacity` elements.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Device, capacity: u32) -> Result<Self, KernelError> {
        Self::with_workgroup_size(device, capacity, scan_tiles::Specialization::default().workgroup_size)
    }

    /// Makes a scan with another workgroup size, a power of two.
    ///
    /// # Errors
    /// The device's limits do not allow it; no memory.
    pub fn with_workgroup_size(
        device: &Device,
        capacity: u32,
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        let reduce = |as_flags| {
            let defaults = reduce_u32::Specialization::default();
            Kernel::specialized(device, &reduce_u32::Specialization { workgroup_size, as_flags, ..defaults })
        };
        let scan = |as_flags| {
            let defaults = scan_tiles::Specialization::default();
            Kernel::specialized(device, &scan_tiles::Specialization { workgroup_size, as_flags, ..defaults })
        };
        let (reduce, reduce_flags, scan, scan_flags) = (reduce(0)?, reduce(1)?, scan(0)?, scan(1)?);
        let mut levels = Vec::new();
        let mut n = capacity;
        while n > scan.tile() {
            n = n.div_ceil(scan.tile());
            levels.push(Level {
                sums: device.buffer("scan sums", n as usize)?,
                scanned: device.buffer("scanned sums", n as usize)?,
            });
        }
        let zero = device.buffer_from("zero", &[0])?;
        let spare_total = device.buffer("spare total", 1)?;
        Ok(Self { reduce, scan, reduce_flags, scan_flags, levels, zero, spare_total, capacity })
    }

    /// Records the scan of the first `count` elements; `total`, if given, receives their sum.
    ///
    /// # Errors
    /// The count's capacity exceeds the scan's, or a buffer is smaller than it.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        values: &Buffer<u32>,
        scanned: &Buffer<u32>,
        total: Option<&Buffer<u32>>,
    ) -> Result<(), KernelError> {
        check_capacity("scan", self.capacity, count, &[values, scanned])?;
        self.record_array(recorder, count, COUNTED, Elements::Numbers, values, scanned, total);
        Ok(())
    }

    /// As [`Self::record`], counting every element that is not 0 as 1.
    ///
    /// # Errors
    /// As [`Self::record`].
    pub fn record_flags(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        flags: &Buffer<u32>,
        scanned: &Buffer<u32>,
        total: &Buffer<u32>,
    ) -> Result<(), KernelError> {
        check_capacity("scan", self.capacity, count, &[flags, scanned])?;
        self.record_array(recorder, count, COUNTED, Elements::Flags, flags, scanned, Some(total));
        Ok(())
    }

    /// Records the scan of an array whose length follows from `count`.
    pub(crate) fn record_derived(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        length: Length,
        values: &Buffer<u32>,
        scanned: &Buffer<u32>,
    ) {
        self.record_array(recorder, count, length, Elements::Numbers, values, scanned, None);
    }

    #[allow(clippy::too_many_arguments, reason = "private; the public functions are its named forms")]
    fn record_array(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        length: Length,
        elements: Elements,
        values: &Buffer<u32>,
        scanned: &Buffer<u32>,
        total: Option<&Buffer<u32>>,
    ) {
        let tile = self.scan.tile();
        // Up: sums of tiles, as many levels as an array of this capacity needs.
        let mut lengths = vec![length];
        let mut source = values;
        for level in &self.levels {
            let extent = lengths[lengths.len() - 1];
            if length_of(extent, count.capacity) <= tile {
                break;
            }
            let kernel = if elements == Elements::Flags && lengths.len() == 1 {
                &self.reduce_flags
            } else {
                &self.reduce
            };
            let bindings = reduce_u32::Bindings { count: &count.count, values: source, reduced: &level.sums };
            let threads = Threads::Fixed(length_of(extent, count.capacity) as usize);
            recorder.dispatch(kernel, threads, bindings, reduce_u32::Params { extent, neutral: 0 });
            lengths.push(reduced(extent, tile));
            source = &level.sums;
        }
        // Down: from the top, which is a single tile, each level's scan is the base of the one below.
        for depth in (0..lengths.len()).rev() {
            let extent = lengths[depth];
            let bottom = depth == 0;
            let kernel = if elements == Elements::Flags && bottom { &self.scan_flags } else { &self.scan };
            let bindings = scan_tiles::Bindings {
                count: &count.count,
                values: if bottom { values } else { &self.levels[depth - 1].sums },
                base: if depth + 1 == lengths.len() { &self.zero } else { &self.levels[depth].scanned },
                scanned: if bottom { scanned } else { &self.levels[depth - 1].scanned },
                total: total.filter(|_| bottom).unwrap_or(&self.spare_total),
            };
            let threads = Threads::Fixed(length_of(extent, count.capacity).max(1) as usize);
            recorder.dispatch(kernel, threads, bindings, scan_tiles::Params { extent });
        }
    }
}
