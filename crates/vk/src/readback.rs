//! Asynchronous read-back: copies into a ring of staging buffers, collected when they are finished.

use crate::buffer::{Buffer, Location};
use crate::device::Device;
use crate::recorder::Recorder;
use crate::timeline::Stamp;
use crate::{Error, Result};
use bytemuck::Pod;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

/// Ring of staging buffers, which are reused once their contents were collected. Cloning shares the ring.
#[derive(Clone, Debug)]
pub struct ReadbackRing {
    device: Device,
    free: Arc<Mutex<Vec<Buffer<u32>>>>,
}

/// A pending copy to the host.
#[derive(Debug)]
pub struct Pending<T> {
    device: Device,
    staging: Option<Buffer<u32>>,
    free: Arc<Mutex<Vec<Buffer<u32>>>>,
    len: usize,
    stamp: Stamp,
    element: PhantomData<fn() -> T>,
}

impl ReadbackRing {
    /// Creates an empty ring; it grows to the maximum number of simultaneously pending buffers.
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone(), free: Arc::default() }
    }

    /// Records a copy of the first `len` elements of `buffer`.
    ///
    /// # Errors
    /// No memory for another staging buffer.
    pub fn read<T: Pod>(
        &self,
        recorder: &mut Recorder,
        buffer: &Buffer<T>,
        len: usize,
    ) -> Result<Pending<T>> {
        let words = (len * size_of::<T>()).div_ceil(4);
        let staging = self.staging(words)?;
        recorder.copy(&buffer.cast::<u32>(), &staging, words);
        Ok(self.pending(recorder, staging, len))
    }

    /// Records a copy of a colour image, as packed RGBA8 pixels, row by row from the top.
    ///
    /// # Errors
    /// Like [`Self::read`].
    pub fn read_image(&self, recorder: &mut Recorder, image: &crate::Image) -> Result<Pending<u32>> {
        let (width, height) = image.size();
        let pixels = image.format().words() as usize * width as usize * height as usize;
        let staging = self.staging(pixels)?;
        recorder.copy_image(image, &staging);
        Ok(self.pending(recorder, staging, pixels))
    }

    fn pending<T>(&self, recorder: &Recorder, staging: Buffer<u32>, len: usize) -> Pending<T> {
        Pending {
            device: self.device.clone(),
            staging: Some(staging),
            free: self.free.clone(),
            len,
            stamp: recorder.stamp.clone(),
            element: PhantomData,
        }
    }

    fn staging(&self, words: usize) -> Result<Buffer<u32>> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        // Best fit, so that small reads do not take the buffers that large ones need.
        let fit = (0..free.len()).filter(|i| free[*i].len() >= words).min_by_key(|i| free[*i].len());
        match fit {
            Some(i) => Ok(free.swap_remove(i)),
            None => self.device.buffer_in("read-back staging", words.next_power_of_two(), Location::Readback),
        }
    }
}

impl<T: Pod> Pending<T> {
    /// Returns the device that computes the data.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns true if the data have arrived.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> Result<bool> {
        let value = self.stamp.load(std::sync::atomic::Ordering::Acquire);
        Ok(value != 0 && self.device.has_completed(value)?)
    }

    /// Waits for the data.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    pub fn wait(mut self) -> Result<Vec<T>> {
        let value = self.stamp.load(std::sync::atomic::Ordering::Acquire);
        if value == 0 {
            return Err(Error::Misuse {
                object: "a read-back".into(),
                problem: "its recorder was not submitted, so it would never be ready".into(),
            });
        }
        if !self.device.has_completed(value)? {
            self.device.wait_for(value)?;
        }
        let Some(staging) = self.staging.take() else { return Ok(Vec::new()) };
        // Elements may be wider than words: read words, then reinterpret.
        let words = staging.read((self.len * size_of::<T>()).div_ceil(4))?;
        let bytes = &bytemuck::cast_slice::<u32, u8>(&words)[..self.len * size_of::<T>()];
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(staging);
        Ok(bytemuck::pod_collect_to_vec(bytes))
    }
}
