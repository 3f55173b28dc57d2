//! Reduction of an array to one value, tile by tile.

use crate::KernelError;
use crate::error::check_capacity;
use crate::length::{COUNTED, length_of, reduced};
use frazil_shaders::primitives::{reduce_f32, reduce_u32};
use frazil_shaders::types::Length;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, LARGEST_TILE_LOG2, Recorder, Threads};

/// Operation of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Sum; wrapping for integers, in a fixed order for floats.
    Sum,
    /// Smallest element.
    Minimum,
    /// Largest element.
    Maximum,
}

macro_rules! reduction {
    ($name:ident, $module:ident, $element:ty, $doc:literal, $minimum:expr, $maximum:expr) => {
        #[doc = $doc]
        ///
        /// An empty array gives the operation's neutral element: 0, the largest value, or the smallest.
        pub struct $name {
            kernel: Kernel<$module::Interface>,
            /// Partial results, level by level; the last has one element.
            levels: Vec<Buffer<$element>>,
            neutral: $element,
            capacity: u32,
        }

        impl $name {
            /// Makes a reduction of up to `capacity` elements.
            ///
            /// # Errors
            /// Not enough memory.
            pub fn new(device: &Device, operation: Operation, capacity: u32) -> Result<Self, KernelError> {
                let defaults = $module::Specialization::default();
                Self::with_workgroup_size(device, operation, capacity, defaults.workgroup_size)
            }

            /// Makes a reduction with another workgroup size, a power of two.
            ///
            /// # Errors
            /// The device's limits do not allow it; not enough memory.
            pub fn with_workgroup_size(
                device: &Device,
                operation: Operation,
                capacity: u32,
                workgroup_size: u32,
            ) -> Result<Self, KernelError> {
                let (operation, neutral) = match operation {
                    Operation::Sum => (0, <$element>::default()),
                    Operation::Minimum => (1, $maximum),
                    Operation::Maximum => (2, $minimum),
                };
                let defaults = $module::Specialization::default();
                let specialization = $module::Specialization { operation, workgroup_size, ..defaults };
                let kernel = Kernel::specialized(device, &specialization)?;
                let mut levels = Vec::new();
                let mut length = COUNTED;
                loop {
                    length = reduced(length, kernel.tile());
                    let n = length_of(length, capacity).max(1);
                    levels.push(device.buffer("reduction level", n as usize)?);
                    if n == 1 {
                        return Ok(Self { kernel, levels, neutral, capacity });
                    }
                }
            }

            /// Records the reduction of the first `count` elements of `values`; returns the buffer of the
            /// result.
            ///
            /// # Errors
            /// The count's capacity exceeds the reduction's, or the buffer is smaller.
            pub fn record(
                &self,
                recorder: &mut Recorder,
                count: &DeviceCount,
                values: &Buffer<$element>,
            ) -> Result<&Buffer<$element>, KernelError> {
                self.record_levels(recorder, count, values, |extent| {
                    // At least one workgroup: an empty array has a result, too.
                    Threads::Fixed(length_of(extent, self.capacity).max(1) as usize)
                })
            }

            /// Records the reduction like [`Self::record`], but of no elements there is no result: the buffer
            /// keeps its value, and no workgroup runs.
            ///
            /// # Errors
            /// Like [`Self::record`].
            pub fn record_if_any(
                &self,
                recorder: &mut Recorder,
                count: &DeviceCount,
                values: &Buffer<$element>,
            ) -> Result<&Buffer<$element>, KernelError> {
                let tile = self.kernel.tile();
                self.record_levels(recorder, count, values, |extent| {
                    let log2 = extent.shrink.saturating_mul(tile).ilog2();
                    Threads::Tiles(count, log2.min(LARGEST_TILE_LOG2))
                })
            }

            fn record_levels<'a>(
                &self,
                recorder: &mut Recorder,
                count: &DeviceCount,
                values: &Buffer<$element>,
                threads: impl Fn(Length) -> Threads<'a>,
            ) -> Result<&Buffer<$element>, KernelError> {
                check_capacity("reduction", self.capacity, count, &[&values.cast()])?;
                let mut source = values;
                let mut extent = COUNTED;
                for level in &self.levels {
                    let bindings = $module::Bindings { count, values: source, reduced: level };
                    let params = $module::Params { extent, neutral: self.neutral };
                    recorder.dispatch(&self.kernel, threads(extent), bindings, params);
                    extent = reduced(extent, self.kernel.tile());
                    source = level;
                }
                Ok(self.result())
            }

            /// Returns the buffer of the result of the last reduction.
            pub fn result(&self) -> &Buffer<$element> {
                // `new` makes at least one level.
                &self.levels[self.levels.len() - 1]
            }
        }
    };
}

reduction!(ReductionU32, reduce_u32, u32, "Reduces an array of u32 to one.", u32::MIN, u32::MAX);
reduction!(
    ReductionF32,
    reduce_f32,
    f32,
    "Reduces an array of f32 to one, with the same bits on every run and device.",
    f32::NEG_INFINITY,
    f32::INFINITY
);
