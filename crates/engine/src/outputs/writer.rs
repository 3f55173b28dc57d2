//! Thread that encodes and writes the results of a run, so that the loop that feeds the device never waits
//! for a disk.

use super::batch::OutputBatch;
use super::files::Outputs;
use crate::failure::Failure;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Maximum number of queued batches; the loop waits beyond that, so that a slow disk costs time and not
/// memory.
const CAPACITY: usize = 4;

/// Handle of the writer thread.
pub struct Writer {
    sender: SyncSender<OutputBatch>,
    thread: JoinHandle<Result<(), Failure>>,
}

impl Writer {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn start(outputs: Outputs) -> Result<Self, Failure> {
        let (sender, receiver) = sync_channel(CAPACITY);
        let thread =
            std::thread::Builder::new().name("writer".into()).spawn(move || write_all(outputs, &receiver));
        Ok(Self {
            sender,
            thread: thread.map_err(|e| Failure::other(format!("cannot start the writing thread: {e}")))?,
        })
    }

    /// Queues a batch. It fails if the thread has stopped; [`Self::finish`] returns the cause.
    ///
    /// # Errors
    /// The thread has stopped.
    pub fn send(&self, batch: OutputBatch) -> Result<(), Failure> {
        self.sender.send(batch).map_err(|_| Failure::other("the writing thread has stopped"))
    }

    /// Waits until all batches are written.
    pub fn finish(self) -> Result<(), Failure> {
        drop(self.sender);
        self.thread
            .join()
            .unwrap_or_else(|_| Err(Failure::other("the writing thread stopped for a reason of its own")))
    }
}

fn write_all(mut outputs: Outputs, batches: &Receiver<OutputBatch>) -> Result<(), Failure> {
    for batch in batches {
        outputs.write(batch)?;
    }
    outputs.finish()
}
