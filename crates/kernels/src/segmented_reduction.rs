//! Reduction of each segment of an array.

use crate::error::{check_apart, check_capacity};
use crate::{KernelError, Operation};
use frazil_shaders::primitives::{
    fill_empty_segments, segmented_finish_f32, segmented_finish_u32, segmented_reduce_f32,
    segmented_reduce_u32,
};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

macro_rules! segmented_reduction {
    ($name:ident, $reduce:ident, $finish:ident, $element:ty, $doc:literal, $minimum:expr, $maximum:expr) => {
        #[doc = $doc]
        ///
        /// Segment s consists of the elements from `segment_start[s]` to before `segment_start[s + 1]`;
        /// starts are non-decreasing, and the last is the number of elements. An empty segment gives the
        /// operation's neutral element: 0, the largest value, or the smallest. The cost depends on the
        /// numbers of elements and segments, not on the distribution of the elements over them.
        pub struct $name {
            reduce: Kernel<$reduce::Interface>,
            finish: Kernel<$finish::Interface>,
            fill_empty: Kernel<fill_empty_segments::Interface>,
            head_partial: Buffer<$element>,
            tail_partial: Buffer<$element>,
            neutral: $element,
            elements: u32,
            segments: u32,
        }

        impl $name {
            /// Makes a reduction of up to `elements` elements in up to `segments` segments.
            ///
            /// # Errors
            /// Not enough memory.
            pub fn new(
                device: &Device,
                operation: Operation,
                elements: u32,
                segments: u32,
            ) -> Result<Self, KernelError> {
                let defaults = $reduce::Specialization::default();
                Self::with_workgroup_size(device, operation, elements, segments, defaults.workgroup_size)
            }

            /// Makes a reduction with another workgroup size, a power of two.
            ///
            /// # Errors
            /// The device's limits do not allow it; not enough memory.
            pub fn with_workgroup_size(
                device: &Device,
                operation: Operation,
                elements: u32,
                segments: u32,
                workgroup_size: u32,
            ) -> Result<Self, KernelError> {
                let (operation, neutral) = match operation {
                    Operation::Sum => (0, <$element>::default()),
                    Operation::Minimum => (1, $maximum),
                    Operation::Maximum => (2, $minimum),
                };
                let defaults = $reduce::Specialization::default();
                let reduce = $reduce::Specialization { operation, workgroup_size, ..defaults };
                let reduce: Kernel<$reduce::Interface> = Kernel::specialized(device, &reduce)?;
                let finish = $finish::Specialization { operation, workgroup_size };
                let tiles = elements.div_ceil(reduce.tile()).max(1) as usize;
                Ok(Self {
                    finish: Kernel::specialized(device, &finish)?,
                    fill_empty: Kernel::new(device)?,
                    head_partial: device.buffer("segment heads", tiles)?,
                    tail_partial: device.buffer("segment tails", tiles)?,
                    reduce,
                    neutral,
                    elements,
                    segments,
                })
            }

            /// Records: `reduced[s]` = reduction of segment s of `values`, for s below `segments`.
            ///
            /// # Errors
            /// The count's capacity exceeds the segments that the reduction was made for; `segment_start` is
            /// too small for one more than those, `reduced` for as many, or `values` for the elements; an
            /// input is also an output.
            pub fn record(
                &self,
                recorder: &mut Recorder,
                segments: &DeviceCount,
                segment_start: &Buffer<u32>,
                values: &Buffer<$element>,
                reduced: &Buffer<$element>,
            ) -> Result<(), KernelError> {
                const PRIMITIVE: &str = "segmented reduction";
                let (value_bits, reduced_bits) = (&values.cast::<u32>(), &reduced.cast::<u32>());
                check_capacity(PRIMITIVE, self.segments, segments, &[reduced_bits])?;
                for (buffer, required) in
                    [(segment_start, u64::from(segments.capacity) + 1), (value_bits, self.elements.into())]
                {
                    if (buffer.len() as u64) < required {
                        return Err(KernelError::TooSmall {
                            primitive: PRIMITIVE,
                            object: buffer.name().to_owned(),
                            found: buffer.len() as u64,
                            required,
                        });
                    }
                }
                check_apart(PRIMITIVE, &[segment_start, value_bits, &segments.count], &[reduced_bits])?;
                let elements = Threads::Fixed(self.elements as usize);
                let bindings = $reduce::Bindings {
                    count: &segments.count,
                    segment_start,
                    values,
                    reduced,
                    head_partial: &self.head_partial,
                    tail_partial: &self.tail_partial,
                };
                recorder.dispatch(
                    &self.reduce,
                    elements,
                    bindings,
                    $reduce::Params { neutral: self.neutral },
                );
                let bindings = $finish::Bindings {
                    count: &segments.count,
                    segment_start,
                    head_partial: &self.head_partial,
                    tail_partial: &self.tail_partial,
                    reduced,
                };
                let tiles = self.elements.div_ceil(self.reduce.tile());
                let groups = Threads::Fixed(tiles as usize * self.finish.tile() as usize);
                let params = $finish::Params { neutral: self.neutral, tile_size: self.reduce.tile() };
                recorder.dispatch(&self.finish, groups, bindings, params);
                let bindings =
                    fill_empty_segments::Bindings { count: &segments, segment_start, reduced: reduced_bits };
                let params = fill_empty_segments::Params {
                    neutral_bits: bytemuck::cast::<$element, u32>(self.neutral),
                };
                recorder.dispatch_counted(&self.fill_empty, bindings, params);
                Ok(())
            }
        }
    };
}

segmented_reduction!(
    SegmentedReductionU32,
    segmented_reduce_u32,
    segmented_finish_u32,
    u32,
    "Reduces each segment of an array of u32 to one value; sums wrap.",
    u32::MIN,
    u32::MAX
);
segmented_reduction!(
    SegmentedReductionF32,
    segmented_reduce_f32,
    segmented_finish_f32,
    f32,
    "Reduces each segment of an array of f32 to one value, with the same bits on every run and device.",
    f32::NEG_INFINITY,
    f32::INFINITY
);
