//! Reduction to a sum.

use crate::axis::{Axis, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work, first_difference};
use crate::error::Result;
use frazil_kernels::{Counts, Operation, ReductionF32, ReductionU32};
use frazil_reference::primitives::{ReduceShape, reduce, reduce_sum_f32};
use frazil_shaders::primitives::{reduce_f32, reduce_u32};
use frazil_testkit::Distribution;
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

pub struct Reduction;

const ELEMENTS: &[&str] = &["u32", "f32"];

/// A reduction of either type, with its sums as bits.
enum Primitive {
    U32(ReductionU32, Buffer<u32>),
    F32(ReductionF32, Buffer<f32>),
}

struct Workload {
    n: usize,
    count: DeviceCount,
    primitive: Primitive,
    /// Buffer of the primitive's result.
    sum: Buffer<u32>,
    expected: u32,
}

impl Bench for Reduction {
    fn id(&self) -> &'static str {
        "primitives.reduction"
    }

    fn about(&self) -> &'static str {
        "sum of an array, the same bits on every run"
    }

    fn axes(&self) -> Vec<Axis> {
        let element = Axis::names("element", ELEMENTS, ELEMENTS, ELEMENTS);
        vec![Axis::count(), element, Axis::distribution(&[Distribution::Uniform]), Axis::workgroup_size()]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let (keys, group) = (point.distribution()?.keys(point.count()?), point.workgroup_size()?);
        let n = keys.len();
        let shape = |items_per_thread: u32| ReduceShape {
            workgroup_size: group as usize,
            items_per_thread: items_per_thread as usize,
        };
        let (primitive, expected) = match point.name("element")? {
            "u32" => {
                let reduction = ReductionU32::with_workgroup_size(device, Operation::Sum, n as u32, group)?;
                let shape = shape(reduce_u32::Specialization::default().items_per_thread);
                let expected = reduce(&keys, 0, shape, u32::wrapping_add);
                (Primitive::U32(reduction, device.buffer_from("values", &keys)?), expected)
            }
            "f32" => {
                let values: Vec<f32> = keys.iter().map(|key| *key as f32).collect();
                let reduction = ReductionF32::with_workgroup_size(device, Operation::Sum, n as u32, group)?;
                let shape = shape(reduce_f32::Specialization::default().items_per_thread);
                let expected = reduce_sum_f32(&values, shape).to_bits();
                (Primitive::F32(reduction, device.buffer_from("values", &values)?), expected)
            }
            _ => return Err(point.unknown("element", ELEMENTS)),
        };
        let count = Counts::new(device)?.upload(device, "count", n as u32, n as u32)?;
        // Recorded once and discarded: only a recording returns the buffer of the result.
        let sum = primitive.record(&mut device.recorder()?, &count)?;
        Ok(Prepared::Device(Box::new(Workload { n, count, primitive, sum, expected })))
    }
}

impl Primitive {
    fn record(&self, recorder: &mut Recorder, count: &DeviceCount) -> Result<Buffer<u32>> {
        Ok(match self {
            Self::U32(reduction, values) => reduction.record(recorder, count, values)?.clone(),
            Self::F32(reduction, values) => reduction.record(recorder, count, values)?.cast(),
        })
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.n as u64;
        Work { elements, bytes_minimum: 4 * elements + 4 }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.sum, 0xdead_beef);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        self.sum = self.primitive.record(recorder, &self.count)?;
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let found = device.download(&self.sum, 1)?;
        match self.primitive {
            Primitive::U32(..) => Ok(first_difference("sum", &found, &[self.expected])),
            // Compared as bits, shown as numbers.
            Primitive::F32(..) => Ok((found != [self.expected]).then(|| {
                let [found, expected] = [found[0], self.expected].map(f32::from_bits);
                Difference(format!("sum[0] is {found:?}, expected {expected:?}"))
            })),
        }
    }
}
