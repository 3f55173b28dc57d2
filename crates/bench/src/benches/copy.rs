//! A copy between two buffers, by the driver or by a kernel: the memory bandwidth at this size, caches
//! included.

use crate::axis::{Axis, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work, first_difference};
use crate::error::Result;
use frazil_kernels::CopyWords;
use frazil_shaders::primitives::copy_words::Specialization;
use frazil_testkit::Distribution;
use frazil_vk::{Buffer, Device, Recorder};

/// A copy by the driver or by a kernel.
pub enum Copy {
    Driver,
    Kernel,
}

struct Workload {
    values: Vec<u32>,
    from: Buffer<u32>,
    to: Buffer<u32>,
    /// None for the driver's own copy.
    kernel: Option<CopyWords>,
}

impl Bench for Copy {
    fn id(&self) -> &'static str {
        match self {
            Self::Driver => "device.copy",
            Self::Kernel => "device.bandwidth",
        }
    }

    fn about(&self) -> &'static str {
        match self {
            Self::Driver => "copy of 32-bit words between two buffers, by the driver",
            Self::Kernel => "the same copy by a kernel",
        }
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::count()]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let values = Distribution::Uniform.keys(point.count()?);
        let from = device.buffer_from("copied", &values)?;
        let to = device.buffer("copy", values.len())?;
        let kernel = match self {
            Self::Driver => None,
            Self::Kernel => Some(CopyWords::new(device, Specialization::default().workgroup_size)?),
        };
        Ok(Prepared::Device(Box::new(Workload { values, from, to, kernel })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.values.len() as u64;
        Work { elements, bytes_minimum: 8 * elements }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.to, 0xdead_beef);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        match &self.kernel {
            Some(kernel) => kernel.record(recorder, &self.from, &self.to, self.values.len())?,
            None => recorder.copy(&self.from, &self.to, self.values.len()),
        }
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let found = device.download(&self.to, self.values.len())?;
        Ok(first_difference("copy", &found, &self.values))
    }
}
