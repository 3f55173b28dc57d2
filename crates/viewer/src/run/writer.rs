//! The thread that encodes and writes what a run produces, so that the loop which feeds the device never waits for a disk.

use super::outputs::Outputs;
use super::parcel::Parcel;
use crate::failure::Failure;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

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
