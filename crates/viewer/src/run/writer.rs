//! The thread that encodes and writes what a run produces, so that the loop which feeds the device never waits for a disk.

use super::outputs::Outputs;
use crate::failure::Failure;
use frazil_io::{Checkpoint, Frame};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// What leaves a run at one step, in the order in which it is written: the checkpoint last, so that a resume finds all of
/// what was due up to it.
#[derive(Default)]
pub struct Parcel {
    pub timing: Option<StepTime>,
    pub metrics: Option<Vec<f64>>,
    pub picture: Option<Picture>,
    pub frame: Option<Frame>,
    pub checkpoint: Option<Checkpoint>,
}

/// What a step took, over the steps of one submission.
#[derive(Clone, Copy, Debug)]
pub struct StepTime {
    /// The submission's last step.
    pub step: u64,
    /// Wall time in ms of one of its steps, with what left the device behind them.
    pub ms_per_step: f64,
}

/// A picture as the device made it.
pub struct Picture {
    pub index: u64,
    pub width: u32,
    pub height: u32,
    /// Packed RGBA8, row by row from the top.
    pub pixels: Vec<u32>,
}

/// Parcels that may wait; more make the loop wait, so that a slow disk costs time and not memory.
const CAPACITY: usize = 4;

/// The writing thread.
pub struct Writer {
    sender: SyncSender<Parcel>,
    thread: JoinHandle<Result<(), Failure>>,
}

impl Writer {
    pub fn start(outputs: Outputs) -> Result<Self, Failure> {
        let (sender, receiver) = sync_channel(CAPACITY);
        let thread =
            std::thread::Builder::new().name("writer".into()).spawn(move || write_all(outputs, &receiver));
        Ok(Self {
            sender,
            thread: thread.map_err(|e| Failure::other(format!("cannot start the writing thread: {e}")))?,
        })
    }

    /// Hands over a parcel. Fails where the thread has stopped; [`Self::finish`] says why it did.
    pub fn send(&self, parcel: Parcel) -> Result<(), Failure> {
        self.sender.send(parcel).map_err(|_| Failure::other("the writing thread has stopped"))
    }

    /// Waits until all is written.
    pub fn finish(self) -> Result<(), Failure> {
        drop(self.sender);
        self.thread
            .join()
            .unwrap_or_else(|_| Err(Failure::other("the writing thread stopped for a reason of its own")))
    }
}

fn write_all(mut outputs: Outputs, parcels: &Receiver<Parcel>) -> Result<(), Failure> {
    for parcel in parcels {
        outputs.write(parcel)?;
    }
    outputs.finish()
}
