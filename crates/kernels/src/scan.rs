//! Scan of an array: reduce-then-scan over a hierarchy of tiles, or decoupled look-back in a single pass.

use crate::error::{check_apart, check_capacity};
use crate::length::{COUNTED, length_of, reduced};
use crate::{KernelError, Method, Ranking};
use frazil_shaders::primitives::elements::NUMBERS;
use frazil_shaders::primitives::{reduce_u32, scan_look_back, scan_subgroups_look_back, scan_tiles};
use frazil_shaders::types::Length;
use frazil_vk::{Buffer, Device, DeviceCount, DeviceKind, Kernel, Recorder, Threads};

/// Options of a scan.
#[derive(Clone, Copy, Debug)]
pub struct ScanOptions {
    /// True if `scanned[i]` includes `values[i]`.
    pub inclusive: bool,
    /// The method; `None` for the best that the device allows.
    pub method: Option<Method>,
    /// Threads per workgroup, a power of two.
    pub workgroup_size: u32,
    /// Elements of each thread; results are the same with any.
    pub items_per_thread: u32,
    /// True if elements pass through shared memory, so that reads and writes are coalesced; results are the
    /// same.
    pub is_staged: bool,
    /// True if look-back sums over a workgroup by subgroup operations, which devices with ballots allow for
    /// workgroups of whole subgroups, up to a maximum number; `None` where they do and are likely to be
    /// faster. Results are the same.
    pub subgroup_sums: Option<bool>,
    /// Polls of a tile before the waiting workgroup sums it again.
    pub spins: u32,
    /// For tests of look-back: the last of every so many tiles never publishes its sum, as if its workgroup
    /// had not been scheduled. 0: none.
    pub withheld: u32,
}

impl Default for ScanOptions {
    fn default() -> Self {
        let defaults = scan_look_back::Specialization::default();
        Self {
            inclusive: false,
            method: None,
            workgroup_size: defaults.workgroup_size,
            items_per_thread: defaults.items_per_thread,
            is_staged: true,
            subgroup_sums: None,
            spins: defaults.spins,
            withheld: defaults.withheld,
        }
    }
}

/// Least number of threads of a workgroup on a CPU: no subgroup there has more.
const CPU_WORKGROUP_SIZE: u32 = 32;

impl ScanOptions {
    /// Returns the options for a workgroup size on a device. On a CPU a barrier costs each thread as much as
    /// several elements, and coalescing has no effect: there, tiles of the same size have down to an eighth
    /// of the threads, which read their elements where they are.
    pub fn for_device(device: &Device, workgroup_size: u32) -> Self {
        let defaults = Self { workgroup_size, ..Self::default() };
        let is_cpu = device.info().kind == DeviceKind::Software;
        // Never fewer threads than a subgroup has.
        let share = if is_cpu { (workgroup_size / CPU_WORKGROUP_SIZE).clamp(1, 8) } else { 1 };
        Self {
            workgroup_size: workgroup_size / share,
            items_per_thread: defaults.items_per_thread * share,
            is_staged: !is_cpu,
            ..defaults
        }
    }

    /// Returns true if look-back shall sum by subgroup operations.
    fn sums_by_subgroups(&self, device: &Device) -> Result<bool, KernelError> {
        if self.subgroup_sums == Some(true) {
            Ranking::Ballots.check(device)?;
        }
        let capabilities = device.capabilities();
        let fits = self.workgroup_size.is_multiple_of(capabilities.subgroup_size)
            && self.workgroup_size / capabilities.subgroup_size <= capabilities.max_subgroups;
        Ok(self.subgroup_sums.unwrap_or_else(|| fits && Ranking::is_worth_a_trial(device)))
    }
}

/// Scan of arrays of u32: `scanned[i] = values[0] + … + values[i − 1]`, wrapping; inclusive scans add
/// `values[i]`.
///
/// Look-back reads and writes each element once: the minimum of 8 bytes per element of any scan.
/// Reduce-then-scan reads each twice, 12 bytes, and needs no progress guarantee between workgroups, which
/// Vulkan does not give.
pub struct Scan {
    steps: Steps,
    /// Receives totals that are not requested.
    spare_total: Buffer<u32>,
    capacity: u32,
}

impl Scan {
    /// Makes an exclusive scan of up to `capacity` elements.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn new(device: &Device, capacity: u32) -> Result<Self, KernelError> {
        Self::with_options(device, capacity, ScanOptions::default())
    }

    /// Makes a scan with options.
    ///
    /// # Errors
    /// The device's limits do not allow the group size; look-back was requested and is not allowed; not
    /// enough memory.
    pub fn with_options(device: &Device, capacity: u32, options: ScanOptions) -> Result<Self, KernelError> {
        let ScanOptions { workgroup_size, items_per_thread, spins, withheld, .. } = options;
        let inclusive = options.inclusive.into();
        let steps = match Method::choose(device, options.method)? {
            Method::LookBack => {
                let staged = options.is_staged.into();
                let subgroup_size = device.capabilities().subgroup_size;
                let scan = if options.sums_by_subgroups(device)? {
                    LookBackScan::Subgroups(Kernel::specialized(
                        device,
                        &scan_subgroups_look_back::Specialization {
                            workgroup_size,
                            items_per_thread,
                            subgroup_size,
                            staged,
                            inclusive,
                            elements: NUMBERS,
                            spins,
                            withheld,
                        },
                    )?)
                } else {
                    LookBackScan::Plain(Kernel::specialized(
                        device,
                        &scan_look_back::Specialization {
                            workgroup_size,
                            items_per_thread,
                            staged,
                            inclusive,
                            elements: NUMBERS,
                            spins,
                            withheld,
                        },
                    )?)
                };
                let words = look_back_words(capacity, workgroup_size * items_per_thread);
                let state = device.buffer("look-back state", words)?;
                Steps::LookBack { scan, state }
            }
            Method::ReduceThenScan => Steps::ReduceThenScan(Box::new(Hierarchy::new(
                device,
                capacity,
                ([workgroup_size, items_per_thread], options.is_staged),
                inclusive,
            )?)),
        };
        let spare_total = device.buffer("spare total", 1)?;
        Ok(Self { steps, spare_total, capacity })
    }

    /// Returns the method.
    pub fn method(&self) -> Method {
        match self.steps {
            Steps::LookBack { .. } => Method::LookBack,
            Steps::ReduceThenScan(_) => Method::ReduceThenScan,
        }
    }

    /// Records the scan of the first `count` elements; `total`, if given, receives their sum.
    ///
    /// # Errors
    /// The count's capacity exceeds the scan's; a buffer is smaller than it; an input is also an output.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        values: &Buffer<u32>,
        scanned: &Buffer<u32>,
        total: Option<&Buffer<u32>>,
    ) -> Result<(), KernelError> {
        check_capacity("scan", self.capacity, count, &[values, scanned])?;
        check_apart("scan", &[values], &[&[scanned], total.as_slice()].concat())?;
        self.record_derived(recorder, count, COUNTED, [values, scanned], total);
        Ok(())
    }

    /// Records a scan like [`Self::record`] that has no threads while `count`, whose dispatch arguments must
    /// be prepared, is 0: for passes that few steps need. Levels above the first tiles have some, which do
    /// nothing.
    ///
    /// # Errors
    /// Like [`Self::record`].
    pub fn record_if_any(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        values: &Buffer<u32>,
        scanned: &Buffer<u32>,
    ) -> Result<(), KernelError> {
        check_capacity("scan", self.capacity, count, &[values, scanned])?;
        check_apart("scan", &[values], &[scanned])?;
        self.record_on(recorder, count, Threads::Counted(count), COUNTED, [values, scanned], None);
        Ok(())
    }

    /// Records the scan of an array whose length is derived from `count`; `total`, if given, receives its
    /// sum.
    pub(crate) fn record_derived(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        length: Length,
        [values, scanned]: [&Buffer<u32>; 2],
        total: Option<&Buffer<u32>>,
    ) {
        // At least one workgroup: an empty array has a total, too.
        let threads = Threads::Fixed(length_of(length, count.capacity).max(1) as usize);
        self.record_on(recorder, count, threads, length, [values, scanned], total);
    }

    fn record_on(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        threads: Threads<'_>,
        extent: Length,
        [values, scanned]: [&Buffer<u32>; 2],
        total: Option<&Buffer<u32>>,
    ) {
        match &self.steps {
            Steps::LookBack { scan, state } => {
                recorder.fill(state, 0);
                let look_back = state;
                let total = total.unwrap_or(&self.spare_total);
                match scan {
                    LookBackScan::Plain(scan) => {
                        let bindings = scan_look_back::Bindings { count, values, look_back, scanned, total };
                        recorder.dispatch(scan, threads, bindings, scan_look_back::Params { extent });
                    }
                    LookBackScan::Subgroups(scan) => {
                        let bindings =
                            scan_subgroups_look_back::Bindings { count, values, look_back, scanned, total };
                        let params = scan_subgroups_look_back::Params { extent };
                        recorder.dispatch(scan, threads, bindings, params);
                    }
                }
            }
            Steps::ReduceThenScan(hierarchy) => {
                let total = total.unwrap_or(&self.spare_total);
                hierarchy.record(
                    recorder,
                    (count, threads),
                    extent,
                    [values, scanned, total, &self.spare_total],
                );
            }
        }
    }
}

enum Steps {
    LookBack { scan: LookBackScan, state: Buffer<u32> },
    ReduceThenScan(Box<Hierarchy>),
}

enum LookBackScan {
    Plain(Kernel<scan_look_back::Interface>),
    Subgroups(Kernel<scan_subgroups_look_back::Interface>),
}

/// Levels of tiles for reduce-then-scan.
struct Hierarchy {
    reduce: Kernel<reduce_u32::Interface>,
    scan: Kernel<scan_tiles::Interface>,
    /// For the levels above the first, whose scans are exclusive.
    scan_sums: Kernel<scan_tiles::Interface>,
    /// Sums of tiles of the level below, and their scan.
    levels: Vec<Level>,
    /// Base of the top level: zero.
    zero: Buffer<u32>,
}

struct Level {
    sums: Buffer<u32>,
    scanned: Buffer<u32>,
}

/// Returns the words of look-back state for arrays of up to `capacity` elements: a ticket, and two words per
/// tile.
pub(crate) fn look_back_words(capacity: u32, tile: u32) -> usize {
    1 + 2 * capacity.div_ceil(tile) as usize
}

impl Hierarchy {
    fn new(
        device: &Device,
        capacity: u32,
        ([workgroup_size, items_per_thread], is_staged): ([u32; 2], bool),
        inclusive: u32,
    ) -> Result<Self, KernelError> {
        let defaults = reduce_u32::Specialization::default();
        let reduce = reduce_u32::Specialization { workgroup_size, items_per_thread, ..defaults };
        let scan = |inclusive| {
            let staged = is_staged.into();
            let elements = NUMBERS;
            let constants =
                scan_tiles::Specialization { workgroup_size, items_per_thread, staged, inclusive, elements };
            Kernel::specialized(device, &constants)
        };
        let (bottom, sums) = (scan(inclusive)?, scan(0)?);
        let mut levels = Vec::new();
        let mut n = capacity;
        while n > bottom.tile() {
            n = n.div_ceil(bottom.tile());
            levels.push(Level {
                sums: device.buffer("scan sums", n as usize)?,
                scanned: device.buffer("scanned sums", n as usize)?,
            });
        }
        let zero = device.buffer_from("zero", &[0])?;
        Ok(Self {
            reduce: Kernel::specialized(device, &reduce)?,
            scan: bottom,
            scan_sums: sums,
            levels,
            zero,
        })
    }

    fn record(
        &self,
        recorder: &mut Recorder,
        (count, threads): (&DeviceCount, Threads<'_>),
        length: Length,
        [values, scanned, total, spare_total]: [&Buffer<u32>; 4],
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
            let bindings = reduce_u32::Bindings { count, values: source, reduced: &level.sums };
            let upper = Threads::Fixed(length_of(extent, count.capacity) as usize);
            let threads = if lengths.len() == 1 { threads } else { upper };
            recorder.dispatch(&self.reduce, threads, bindings, reduce_u32::Params { extent, neutral: 0 });
            lengths.push(reduced(extent, tile));
            source = &level.sums;
        }
        // Down: from the top, which is a single tile, each level's scan is the base of the one below.
        for depth in (0..lengths.len()).rev() {
            let extent = lengths[depth];
            let bottom = depth == 0;
            let bindings = scan_tiles::Bindings {
                count,
                values: if bottom { values } else { &self.levels[depth - 1].sums },
                base: if depth + 1 == lengths.len() { &self.zero } else { &self.levels[depth].scanned },
                scanned: if bottom { scanned } else { &self.levels[depth - 1].scanned },
                total: if bottom { total } else { spare_total },
            };
            let kernel = if bottom { &self.scan } else { &self.scan_sums };
            let upper = Threads::Fixed(length_of(extent, count.capacity).max(1) as usize);
            recorder.dispatch(
                kernel,
                if bottom { threads } else { upper },
                bindings,
                scan_tiles::Params { extent },
            );
        }
    }
}
