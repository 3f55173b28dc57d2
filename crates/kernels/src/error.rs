//! Why a primitive refuses.

/// A primitive that cannot be made, or cannot do what is asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The device refused something.
    #[error(transparent)]
    Device(#[from] frazil_vk::Error),
    /// An array or count is larger than the primitive was made for.
    #[error("{primitive}: \"{object}\" holds {found} elements, the primitive was made for {capacity}")]
    Capacity {
        /// The primitive.
        primitive: &'static str,
        /// The buffer or count.
        object: String,
        /// Its size.
        found: u64,
        /// The primitive's capacity.
        capacity: u64,
    },
    /// A buffer is too small for what is written to it.
    #[error("{primitive}: \"{object}\" has room for {found} elements, {needed} are needed")]
    TooSmall {
        /// The primitive.
        primitive: &'static str,
        /// The buffer.
        object: String,
        /// Its size.
        found: u64,
        /// The size needed.
        needed: u64,
    },
    /// A range of key bits that is reversed or goes past the key.
    #[error("radix sort: bits {begin}..{end} of a 32-bit key; expected begin ≤ end ≤ 32")]
    BitRange {
        /// First bit.
        begin: u32,
        /// Bit after the last.
        end: u32,
    },
    /// A grid that cannot be.
    #[error("uniform grid: {problem}")]
    Grid {
        /// What was found and what is expected.
        problem: String,
    },
    /// Interlinks that cannot be, or cannot be made as asked.
    #[error("interlinks: {problem}")]
    Interlinks {
        /// What was found and what is expected.
        problem: String,
    },
}

/// Checks that a count's capacity fits a primitive, and that buffers have room for as many elements.
pub(crate) fn check_capacity(
    primitive: &'static str,
    capacity: u32,
    count: &frazil_vk::DeviceCount,
    buffers: &[&frazil_vk::Buffer<u32>],
) -> Result<(), KernelError> {
    if count.capacity > capacity {
        return Err(KernelError::Capacity {
            primitive,
            object: count.count.name().to_owned(),
            found: count.capacity.into(),
            capacity: capacity.into(),
        });
    }
    for buffer in buffers {
        if buffer.len() < count.capacity as usize {
            return Err(KernelError::TooSmall {
                primitive,
                object: buffer.name().to_owned(),
                found: buffer.len() as u64,
                needed: count.capacity.into(),
            });
        }
    }
    Ok(())
}
