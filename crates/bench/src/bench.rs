//! Interface of benches and of the workloads they prepare for a point.

use crate::axis::{Axis, Point};
pub use crate::difference::{Difference, first_difference};
use crate::error::Result;
use frazil_vk::{Device, Recorder};

/// A benchmark.
pub trait Bench: Sync {
    /// Returns the id, `area.name`; for a single kernel or primitive the name of its pass.
    fn id(&self) -> &'static str;

    /// Returns a one-line description.
    fn about(&self) -> &'static str;

    /// Returns the axes.
    fn axes(&self) -> Vec<Axis>;

    /// Returns the axes that have no meaning at this point (such as a workgroup size on the CPU); they are
    /// left out of it.
    fn meaningless_axes(&self, point: &Point) -> &'static [&'static str] {
        let _ = point;
        &[]
    }

    /// Makes buffers and kernels for a point, and computes the twin's result. For set-up: it may wait for the
    /// device.
    ///
    /// # Errors
    /// The point lacks an axis; the device refuses.
    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared>;
}

/// Amount of work of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Number of elements, such as particles, that costs are divided by.
    pub elements: u64,
    /// Minimum of bytes that any algorithm must move: each input read once, each output written once.
    pub bytes_minimum: u64,
}

/// A workload, ready to run.
pub enum Prepared {
    /// Runs on the device, timed by its time stamps.
    Device(Box<dyn DeviceWorkload>),
    /// Runs on the CPU, timed by the host's clock, for comparison with the device.
    Host(Box<dyn HostWorkload>),
}

/// Passes on the device, with the buffers they work on.
pub trait DeviceWorkload {
    /// Returns the amount of work.
    fn work(&self) -> Work;

    /// Records garbage into the outputs, so that a result that was not computed is detected.
    fn poison(&mut self, recorder: &mut Recorder);

    /// Records the restoration of the inputs; not timed. Empty for kernels that do not change their inputs.
    fn reset(&mut self, recorder: &mut Recorder) {
        let _ = recorder;
    }

    /// Records the timed passes.
    ///
    /// # Errors
    /// The primitive refuses.
    fn record(&mut self, recorder: &mut Recorder) -> Result<()>;

    /// Compares the outputs of the last run, which has ended, with the twin's.
    ///
    /// # Errors
    /// The device is lost; not enough memory.
    fn verify(&self, device: &Device) -> Result<Option<Difference>>;
}

/// A computation on the CPU.
pub trait HostWorkload {
    /// Returns the amount of work.
    fn work(&self) -> Work;

    /// Restores the inputs; not timed.
    fn reset(&mut self);

    /// Runs the timed computation.
    fn run(&mut self);

    /// Compares the output of the last run with the twin's.
    fn verify(&self) -> Option<Difference>;
}
