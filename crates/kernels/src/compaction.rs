//! Stream compaction and partition: flagged elements of columns are moved to the front, in order.

use crate::error::{check_apart, check_capacity};
use crate::scan::look_back_words;
use crate::{Counts, KernelError, Method, Scan, ScanOptions};
use bytemuck::Pod;
use frazil_shaders::primitives::elements::FLAGS;
use frazil_shaders::primitives::{partition_columns, reduce_u32};
use frazil_shaders::types::Length;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder};

/// Maximum number of columns that one pass moves.
const COLUMNS: usize = 5;
/// Value of `words` for a column of element indices.
const INDEX: u32 = u32::MAX;

/// Column to be moved.
#[derive(Clone, Debug)]
pub struct Move {
    /// `None`: the column is each element's index.
    from: Option<Buffer<u32>>,
    words: u32,
    kept: Buffer<u32>,
    dropped: Option<Buffer<u32>>,
}

impl Move {
    /// Moves the column `from` to the front of `kept`. `T` consists of 32-bit words.
    pub fn column<T: Pod>(from: &Buffer<T>, kept: &Buffer<T>) -> Self {
        Self { from: Some(from.cast()), words: (size_of::<T>() / 4) as u32, kept: kept.cast(), dropped: None }
    }

    /// Returns the source of a column, its words per element and its destination; `None` for indices.
    pub(crate) fn as_column(&self) -> Option<(&Buffer<u32>, u32, &Buffer<u32>)> {
        Some((self.from.as_ref()?, self.words, &self.kept))
    }

    /// Writes each kept element's index to the front of `kept`.
    pub fn index(kept: &Buffer<u32>) -> Self {
        Self { from: None, words: 1, kept: kept.clone(), dropped: None }
    }

    /// Sets the column to move also the elements that are not kept to the front of `dropped`.
    #[must_use]
    pub fn dropping_to<T: Pod>(self, dropped: &Buffer<T>) -> Self {
        Self { dropped: Some(dropped.cast()), ..self }
    }
}

/// Stable removal of the elements whose flag is not set.
///
/// The scan of the flags and the move of up to five columns are one pass. It moves 4 bytes per element for
/// the flag with look-back, 8 without, and twice a column's own bytes for each element that moves. Dropped
/// elements take a pass of their own where they are requested.
pub struct Compaction {
    method: Method,
    sum_tiles: Option<(Kernel<reduce_u32::Interface>, Scan, Buffer<u32>)>,
    move_kept: Kernel<partition_columns::Interface>,
    move_dropped: Kernel<partition_columns::Interface>,
    counts: Counts,
    state: Buffer<u32>,
    /// Bound where there is no column: kernels bind all slots, and no two written bindings may be the same
    /// buffer.
    spare: Vec<Buffer<u32>>,
    capacity: u32,
}

impl Compaction {
    /// Makes a compaction of up to `capacity` elements.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn new(device: &Device, capacity: u32) -> Result<Self, KernelError> {
        Self::with_options(device, capacity, ScanOptions::default())
    }

    /// Makes a compaction with options; `inclusive` has no meaning here.
    ///
    /// # Errors
    /// The device's limits do not allow the group size; look-back was requested and is not allowed; not
    /// enough memory.
    pub fn with_options(device: &Device, capacity: u32, options: ScanOptions) -> Result<Self, KernelError> {
        let ScanOptions { workgroup_size, items_per_thread, spins, withheld, .. } = options;
        let method = Method::choose(device, options.method)?;
        let kernel = |moves_dropped| {
            let look_back = (method == Method::LookBack).into();
            let specialization = partition_columns::Specialization {
                workgroup_size,
                items_per_thread,
                look_back,
                moves_dropped,
                spins,
                withheld,
            };
            Kernel::specialized(device, &specialization)
        };
        let move_kept: Kernel<partition_columns::Interface> = kernel(0)?;
        let tiles = capacity.div_ceil(move_kept.tile()).max(1);
        let sum_tiles = match method {
            Method::LookBack => None,
            Method::ReduceThenScan => {
                let defaults = reduce_u32::Specialization::default();
                let reduce = reduce_u32::Specialization {
                    workgroup_size,
                    items_per_thread,
                    elements: FLAGS,
                    ..defaults
                };
                let options = ScanOptions { inclusive: false, ..options };
                Some((
                    Kernel::specialized(device, &reduce)?,
                    Scan::with_options(device, tiles, options)?,
                    device.buffer("kept in tiles", tiles as usize)?,
                ))
            }
        };
        Ok(Self {
            method,
            sum_tiles,
            move_dropped: kernel(1)?,
            counts: Counts::new(device)?,
            state: device.buffer("compaction tiles", look_back_words(capacity, move_kept.tile()))?,
            spare: (0..=COLUMNS).map(|_| device.buffer("spare column", 1)).collect::<Result<_, _>>()?,
            move_kept,
            capacity,
        })
    }

    /// Returns the method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// Records: `kept[0], kept[1] …` are the indices below `count` whose flag is not 0, in order, and
    /// `kept_count` is their number.
    ///
    /// # Errors
    /// Like [`Self::record_columns`].
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        flags: &Buffer<u32>,
        kept: &Buffer<u32>,
        kept_count: &DeviceCount,
    ) -> Result<(), KernelError> {
        self.record_columns(recorder, count, flags, &[Move::index(kept)], kept_count, None)
    }

    /// Records the move of every column: elements below `count` whose flag is not 0 to the front of its
    /// `kept`, the others to the front of its `dropped`, both in order. `kept_count` and `dropped_count` hold
    /// their numbers, ready for indirect dispatch.
    ///
    /// # Errors
    /// The count's capacity exceeds the compaction's; a buffer is smaller than it; a buffer is given twice
    /// and written; one column has a destination for dropped elements and another has none.
    pub fn record_columns(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        flags: &Buffer<u32>,
        columns: &[Move],
        kept_count: &DeviceCount,
        dropped_count: Option<&DeviceCount>,
    ) -> Result<(), KernelError> {
        let partition = columns.iter().any(|column| column.dropped.is_some());
        self.check(count, flags, columns, partition, kept_count, dropped_count)?;
        recorder.fill(&kept_count.count, 0);
        if let Some(dropped_count) = dropped_count {
            recorder.fill(&dropped_count.count, 0);
        }
        if let Some((reduce, scan, sums)) = &self.sum_tiles {
            let extent = Length { divisor: 1, multiplier: 1, shrink: 1 };
            let bindings = reduce_u32::Bindings { count, values: flags, reduced: sums };
            let params = reduce_u32::Params { extent, neutral: 0 };
            recorder.dispatch_counted(reduce, bindings, params);
            let tiles = Length { shrink: self.move_kept.tile(), ..extent };
            scan.record_derived(recorder, count, tiles, [sums, &self.state], None);
        }
        // Without columns the elements are still counted.
        let passes = columns.chunks(COLUMNS).chain(columns.is_empty().then_some(columns));
        for columns in passes {
            self.move_columns(recorder, count, flags, columns, (kept_count, dropped_count), false);
            if partition {
                self.move_columns(recorder, count, flags, columns, (kept_count, dropped_count), true);
            }
        }
        self.counts.prepare(recorder, kept_count);
        if let Some(dropped_count) = dropped_count {
            self.counts.prepare(recorder, dropped_count);
        }
        Ok(())
    }

    fn check(
        &self,
        count: &DeviceCount,
        flags: &Buffer<u32>,
        columns: &[Move],
        partition: bool,
        kept_count: &DeviceCount,
        dropped_count: Option<&DeviceCount>,
    ) -> Result<(), KernelError> {
        check_capacity("compaction", self.capacity, count, &[flags])?;
        let (mut inputs, mut outputs) = (vec![flags, &count.count], vec![&kept_count.count]);
        outputs.extend(dropped_count.map(|dropped| &dropped.count));
        for column in columns {
            if column.dropped.is_some() != partition {
                return Err(KernelError::NoPlaceForDropped { object: column.kept.name().to_owned() });
            }
            inputs.extend(&column.from);
            outputs.extend([&column.kept].into_iter().chain(&column.dropped));
            for buffer in [&column.from, &Some(column.kept.clone()), &column.dropped].into_iter().flatten() {
                let (found, required) =
                    (buffer.len() as u64, u64::from(count.capacity) * u64::from(column.words));
                if found < required {
                    let (primitive, object) = ("compaction", buffer.name().to_owned());
                    return Err(KernelError::TooSmall { primitive, object, found, required });
                }
            }
        }
        check_apart("compaction", &inputs, &outputs)
    }

    fn move_columns(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        flags: &Buffer<u32>,
        columns: &[Move],
        (kept_count, dropped_count): (&DeviceCount, Option<&DeviceCount>),
        dropped: bool,
    ) {
        if self.method == Method::LookBack {
            recorder.fill(&self.state, 0);
        }
        let column = |k: usize| columns.get(k);
        let from = |k: usize| column(k).and_then(|c| c.from.as_ref()).unwrap_or(flags);
        let target = |c: &'_ Move| if dropped { c.dropped.clone() } else { Some(c.kept.clone()) };
        let moved: Vec<Buffer<u32>> = (0..COLUMNS)
            .map(|k| column(k).and_then(target).unwrap_or_else(|| self.spare[k].clone()))
            .collect();
        let bindings = partition_columns::Bindings {
            count,
            flags,
            look_back: &self.state,
            kept_count: &kept_count.count,
            dropped_count: dropped_count.map_or(&self.spare[COLUMNS], |dropped| &dropped.count),
            column0: from(0),
            column1: from(1),
            column2: from(2),
            column3: from(3),
            column4: from(4),
            moved0: &moved[0],
            moved1: &moved[1],
            moved2: &moved[2],
            moved3: &moved[3],
            moved4: &moved[4],
        };
        let words = std::array::from_fn(|k| match column(k) {
            None => 0,
            Some(Move { from: None, .. }) => INDEX,
            Some(column) => column.words,
        });
        // The number of moved elements is unknown here; all elements are the maximum.
        let words_moved: u64 =
            columns.iter().map(|c| u64::from(c.words) * (1 + u64::from(c.from.is_some()))).sum();
        recorder.declare_bytes(4 * (1 + words_moved) * u64::from(count.expected()));
        let kernel = if dropped { &self.move_dropped } else { &self.move_kept };
        recorder.dispatch_counted(kernel, bindings, partition_columns::Params { words });
    }
}
