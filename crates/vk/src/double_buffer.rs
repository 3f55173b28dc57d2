//! Two buffers of which one holds the state.

use crate::{Buffer, Device, Result};
use bytemuck::Pod;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A front buffer, which holds the state, and a back buffer, which a pass over all elements writes before the
/// two are swapped. Clones are the same two buffers: a swap of one swaps all.
#[derive(Debug)]
pub struct DoubleBuffer<T> {
    buffers: [Buffer<T>; 2],
    /// True if the second buffer is the front.
    is_swapped: Arc<AtomicBool>,
}

impl<T: Pod> DoubleBuffer<T> {
    /// Makes two buffers of `len` elements of undefined contents.
    ///
    /// # Errors
    /// Out of memory, or a size beyond what the device can bind.
    pub fn new(device: &Device, name: &str, len: usize) -> Result<Self> {
        let buffers = [device.buffer(name, len)?, device.buffer(&format!("{name} (back)"), len)?];
        Ok(Self { buffers, is_swapped: Arc::default() })
    }

    /// Makes a front without a back, for which it stands: no pass may read one and write the other.
    pub fn single(front: Buffer<T>) -> Self {
        Self { buffers: [front.clone(), front], is_swapped: Arc::default() }
    }

    /// Returns the front buffer, which holds the state.
    pub fn front(&self) -> &Buffer<T> {
        &self.buffers[usize::from(self.is_swapped.load(Ordering::Relaxed))]
    }

    /// Returns the back buffer: target of the next pass over all elements, scratch memory in between.
    pub fn back(&self) -> &Buffer<T> {
        &self.buffers[usize::from(!self.is_swapped.load(Ordering::Relaxed))]
    }

    /// Makes the back buffer the front. No data moves.
    pub fn swap(&self) {
        self.is_swapped.fetch_xor(true, Ordering::Relaxed);
    }

    /// Returns the same buffers with elements of another type.
    pub fn cast<U: Pod>(&self) -> DoubleBuffer<U> {
        let [first, second] = &self.buffers;
        DoubleBuffer { buffers: [first.cast(), second.cast()], is_swapped: self.is_swapped.clone() }
    }
}

impl<T> Clone for DoubleBuffer<T> {
    fn clone(&self) -> Self {
        Self { buffers: self.buffers.clone(), is_swapped: self.is_swapped.clone() }
    }
}
