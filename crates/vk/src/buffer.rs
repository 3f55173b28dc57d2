//! Typed, named buffers, kept alive as long as the device uses them.

use crate::device::{Device, Shared};
use crate::slot::Slot;
use crate::timeline::Retired;
use crate::{Error, Result};
use ash::vk;
use bytemuck::Pod;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};

/// Memory location of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// Device memory, accessed by kernels only.
    Device,
    /// Written by the host, read by the device.
    Upload,
    /// Written by the device, read by the host.
    Readback,
}

/// A buffer of `len` elements of `T`. Cloning makes another handle to the same memory.
///
/// A buffer never has zero bytes: a buffer of zero elements has capacity for one, so that it can always be
/// bound.
pub struct Buffer<T> {
    raw: RawBuffer,
    len: usize,
    element: PhantomData<fn() -> T>,
}

/// Untyped view of a buffer. Cloning makes another handle to the same memory.
#[derive(Clone)]
pub struct RawBuffer {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    shared: Arc<Shared>,
    pub handle: vk::Buffer,
    pub id: u64,
    pub bytes: u64,
    pub name: String,
    /// Count that the host expects in the first element, for estimates only; `u32::MAX` for a buffer that
    /// holds no count.
    pub expected: AtomicU32,
    /// Place in the recorder that used it last.
    pub slot: Slot,
    location: Location,
    allocation: Mutex<Option<Allocation>>,
}

impl Device {
    /// Creates a buffer of `len` elements in device memory. Its contents are undefined.
    ///
    /// # Errors
    /// [`Error::BeyondLimit`] if it is too large for a kernel to bind, [`Error::OutOfMemory`] if memory is
    /// exhausted.
    pub fn buffer<T: Pod>(&self, name: &str, len: usize) -> Result<Buffer<T>> {
        self.buffer_in(name, len, Location::Device)
    }

    /// Creates a buffer of `len` elements at `location`.
    ///
    /// # Errors
    /// Like [`Self::buffer`].
    pub fn buffer_in<T: Pod>(&self, name: &str, len: usize, location: Location) -> Result<Buffer<T>> {
        let shared = &self.shared;
        let bytes = len.max(1) as u64 * size_of::<T>() as u64;
        let limit = shared.candidate.capabilities.max_storage_range;
        if location == Location::Device && bytes > limit {
            return Err(Error::BeyondLimit {
                object: format!("buffer \"{name}\" of {len} elements"),
                found: bytes,
                unit: "bytes",
                limit,
                limit_name: "maxStorageBufferRange",
            });
        }
        shared.count_creation(&format!("buffer \"{name}\""), bytes)?;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(bytes).usage(usage);
        // SAFETY: the size is not zero.
        let handle =
            unsafe { shared.raw.create_buffer(&info, None) }.map_err(Error::call("create buffer", name))?;
        // SAFETY: the buffer was just created.
        let requirements = unsafe { shared.raw.get_buffer_memory_requirements(handle) };
        let allocated = shared.allocator().allocate(&AllocationCreateDesc {
            name,
            requirements,
            location: match location {
                Location::Device => MemoryLocation::GpuOnly,
                Location::Upload => MemoryLocation::CpuToGpu,
                Location::Readback => MemoryLocation::GpuToCpu,
            },
            linear: true,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        });
        let allocation = match allocated {
            Ok(allocation) => allocation,
            Err(e) => {
                // SAFETY: never used.
                unsafe { shared.raw.destroy_buffer(handle, None) };
                return Err(Error::OutOfMemory {
                    object: format!("buffer \"{name}\""),
                    bytes,
                    cause: e.to_string(),
                });
            }
        };
        // SAFETY: the allocation's memory is alive and belongs to it.
        let memory = unsafe { allocation.memory() };
        // SAFETY: memory and buffer are fresh, and the allocation meets the buffer's requirements.
        let bound = unsafe { shared.raw.bind_buffer_memory(handle, memory, allocation.offset()) };
        shared.memory().add(name, bytes);
        let inner = Inner {
            shared: shared.clone(),
            handle,
            id: shared.next_resource_id(),
            bytes,
            name: name.to_owned(),
            expected: AtomicU32::new(u32::MAX),
            slot: Slot::default(),
            location,
            allocation: Mutex::new(Some(allocation)),
        };
        bound.map_err(Error::call("bind memory", name))?;
        shared.set_name(handle, name);
        Ok(Buffer { raw: RawBuffer { inner: Arc::new(inner) }, len, element: PhantomData })
    }

    /// Creates a device buffer that holds `data`. Set-up only: it waits for the copy.
    ///
    /// # Errors
    /// Like [`Self::buffer`].
    pub fn buffer_from<T: Pod>(&self, name: &str, data: &[T]) -> Result<Buffer<T>> {
        let buffer = self.buffer(name, data.len())?;
        self.upload(&buffer, data)?;
        Ok(buffer)
    }

    /// Copies `data` to the start of `buffer`. Set-up only: it waits for the copy.
    ///
    /// # Errors
    /// [`Error::Misuse`] if `data` is longer than the buffer.
    pub fn upload<T: Pod>(&self, buffer: &Buffer<T>, data: &[T]) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        let staging = self.buffer_in::<T>("upload staging", data.len(), Location::Upload)?;
        staging.write(data)?;
        let mut recorder = self.recorder()?;
        recorder.copy(&staging, buffer, data.len());
        self.submit(recorder)?.wait()
    }

    /// Reads the first `len` elements of `buffer`. For tests and set-up: it waits for the device.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the buffer holds fewer.
    pub fn download<T: Pod>(&self, buffer: &Buffer<T>, len: usize) -> Result<Vec<T>> {
        if len == 0 {
            return Ok(Vec::new());
        }
        let staging = self.buffer_in::<T>("download staging", len, Location::Readback)?;
        let mut recorder = self.recorder()?;
        recorder.copy(buffer, &staging, len);
        self.submit(recorder)?.wait()?;
        staging.read(len)
    }
}

impl Buffer<u32> {
    /// Returns the whole words of a buffer.
    pub(crate) fn of_words(raw: &RawBuffer) -> Self {
        Self { raw: raw.clone(), len: (raw.inner.bytes / 4) as usize, element: PhantomData }
    }
}

impl<T: Pod> Buffer<T> {
    /// Returns the capacity in elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the capacity is zero.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the name given at creation.
    pub fn name(&self) -> &str {
        &self.raw.inner.name
    }

    /// Returns an untyped handle to the buffer.
    pub fn raw(&self) -> &RawBuffer {
        &self.raw
    }

    /// Reinterprets the memory as elements of `U`; a tail shorter than a `U` cannot be accessed.
    pub fn cast<U: Pod>(&self) -> Buffer<U> {
        let len = self.len * size_of::<T>() / size_of::<U>().max(1);
        Buffer { raw: self.raw.clone(), len, element: PhantomData }
    }

    /// Returns true if both handles refer to the same memory, whatever their element types.
    pub fn overlaps<U: Pod>(&self, other: &Buffer<U>) -> bool {
        self.raw.inner.id == other.raw.inner.id
    }

    /// Returns the address at which the host sees the elements, if it shares the memory without a copy, as
    /// with integrated and software devices. It is valid as long as a handle to the buffer is alive; what is
    /// there is defined from the end of a submission of [`share_with_host`](crate::Recorder::share_with_host)
    /// to the next work of the device on the buffer.
    pub fn shared_address(&self) -> Option<usize> {
        let allocation = self.raw.inner.allocation.lock().unwrap_or_else(PoisonError::into_inner);
        let allocation = allocation.as_ref()?;
        shared_address(allocation.memory_properties(), allocation.mapped_ptr())
    }

    /// Writes `data` to the start of a host-visible buffer.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the buffer is not host-visible or too small.
    pub fn write(&self, data: &[T]) -> Result<()> {
        let bytes = bytemuck::cast_slice::<T, u8>(data);
        let mut allocation = self.raw.inner.allocation.lock().unwrap_or_else(PoisonError::into_inner);
        let mapped = allocation.as_mut().and_then(|a| a.mapped_slice_mut());
        match mapped.and_then(|slice| slice.get_mut(..bytes.len())) {
            Some(slice) => {
                slice.copy_from_slice(bytes);
                Ok(())
            }
            None => Err(self.raw.inner.not_reachable("write", bytes.len())),
        }
    }

    /// Reads `len` elements from the start of a host-visible buffer; the caller must have waited for the work
    /// that writes it.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the buffer is not host-visible or too small.
    pub fn read(&self, len: usize) -> Result<Vec<T>> {
        let bytes = len * size_of::<T>();
        let allocation = self.raw.inner.allocation.lock().unwrap_or_else(PoisonError::into_inner);
        let mapped = allocation.as_ref().and_then(|a| a.mapped_slice());
        match mapped.and_then(|slice| slice.get(..bytes)) {
            // Nothing was computed: the memory holds anything.
            Some(_) if self.raw.inner.shared.is_dry_run => Ok(vec![T::zeroed(); len]),
            Some(slice) => Ok(bytemuck::pod_collect_to_vec(slice)),
            None => Err(self.raw.inner.not_reachable("read", bytes)),
        }
    }
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self { raw: self.raw.clone(), len: self.len, element: PhantomData }
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer<{}>(\"{}\", {})", std::any::type_name::<T>(), self.raw.inner.name, self.len)
    }
}

impl Inner {
    pub fn is_readback(&self) -> bool {
        self.location == Location::Readback
    }

    fn not_reachable(&self, operation: &str, bytes: usize) -> Error {
        Error::Misuse {
            object: format!("buffer \"{}\"", self.name),
            problem: format!(
                "cannot {operation} {bytes} bytes from the host: it has {} in {:?} memory",
                self.bytes, self.location
            ),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let allocation = self.allocation.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        self.shared.memory().remove(&self.name, self.bytes);
        self.shared.timeline.retire(Retired::Buffer(self.handle, allocation));
    }
}

/// Returns the address of mapped memory if the host sees there what the device has written without copying or
/// invalidating it.
fn shared_address(properties: vk::MemoryPropertyFlags, mapped: Option<NonNull<c_void>>) -> Option<usize> {
    let is_coherent = properties.contains(vk::MemoryPropertyFlags::HOST_COHERENT);
    mapped.filter(|_| is_coherent).map(|start| start.as_ptr().expose_provenance())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory types of a graphics card, of an integrated device, and of one whose host caches must be
    /// invalidated.
    #[test]
    fn only_mapped_memory_that_is_coherent_is_shared() {
        use vk::MemoryPropertyFlags as Flags;
        let mapped = Some(NonNull::dangling());
        let visible = Flags::DEVICE_LOCAL | Flags::HOST_VISIBLE;
        assert_eq!(shared_address(Flags::DEVICE_LOCAL, None), None);
        assert_eq!(shared_address(visible | Flags::HOST_COHERENT, None), None);
        assert_eq!(shared_address(visible, mapped), None);
        assert!(shared_address(visible | Flags::HOST_COHERENT, mapped).is_some());
    }
}
