//! What a bench is, and what it prepares for a point.

use crate::axis::{Axis, Point};
pub use crate::difference::{Difference, first_difference};
use crate::error::Result;
use frazil_vk::{Device, Recorder};

/// Something worth measuring.
pub trait Bench: Sync {
    /// `area.name`; for a single kernel or primitive the name of its pass.
    fn id(&self) -> &'static str;

    /// What it measures, in a line.
    fn about(&self) -> &'static str;

    /// Its axes.
    fn axes(&self) -> Vec<Axis>;

    /// Axes that mean nothing at this point (a workgroup size on the CPU, say); they are left out of it.
    fn meaningless_axes(&self, point: &Point) -> &'static [&'static str] {
        let _ = point;
        &[]
    }

    /// Makes buffers and kernels for a point, and the result that the twin gives. Set-up: it may wait for the device.
    ///
    /// # Errors
    /// The point lacks an axis; the device refuses.
    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared>;
}

/// How much work a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Elements, particles: what costs are given for.
    pub elements: u64,
    /// Bytes that any algorithm must move: each input read once, each output written once.
    pub bytes_minimum: u64,
}

/// A workload, ready to run.
pub enum Prepared {
    /// On the device, timed by its time stamps.
    Device(Box<dyn DeviceWorkload>),
    /// On the CPU, timed by the host's clock: what the device is compared with.
    Host(Box<dyn HostWorkload>),
}

/// Passes on the device, with the buffers they work on.
pub trait DeviceWorkload {
    /// How much it does.
    fn work(&self) -> Work;

    /// Records rubbish into the outputs, so that a result which was not computed is not taken for one.
    fn spoil(&mut self, recorder: &mut Recorder);

    /// Records what restores the inputs; not timed. Nothing for kernels that leave their inputs alone.
    fn reset(&mut self, recorder: &mut Recorder) {
        let _ = recorder;
    }

    /// Records what is timed.
    ///
    /// # Errors
    /// The primitive refuses.
    fn record(&mut self, recorder: &mut Recorder) -> Result<()>;

    /// Compares the outputs of the last run, which has ended, with the twin's.
    ///
    /// # Errors
    /// The device is lost; no memory.
    fn verify(&self, device: &Device) -> Result<Option<Difference>>;
}

/// A computation on the CPU.
pub trait HostWorkload {
    /// How much it does.
    fn work(&self) -> Work;

    /// Restores the inputs; not timed.
    fn reset(&mut self);

    /// What is timed.
    fn run(&mut self);

    /// Compares the output of the last run with the twin's.
    fn verify(&self) -> Option<Difference>;
}
