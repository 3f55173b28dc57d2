//! Errors of the primitives.

/// Error of a primitive that cannot be made, or cannot do what is requested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// Error of the device.
    #[error(transparent)]
    Device(#[from] frazil_vk::Error),
    /// An array or count that is larger than the primitive was made for.
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
    /// A buffer that is too small for what is written to it.
    #[error("{primitive}: \"{object}\" holds {found} elements, {required} are required")]
    TooSmall {
        /// The primitive.
        primitive: &'static str,
        /// The buffer.
        object: String,
        /// Its size.
        found: u64,
        /// The required size.
        required: u64,
    },
    /// A range of key bits that is reversed or goes past the key.
    #[error("radix sort: bits {begin}..{end} of a {key_bits}-bit key; expected begin ≤ end ≤ {key_bits}")]
    BitRange {
        /// First bit.
        begin: u32,
        /// Bit after the last.
        end: u32,
        /// Bits of a key.
        key_bits: u32,
    },
    /// A workgroup that is too small for the primitive.
    #[error("{primitive}: workgroups of {found} threads, expected {minimum} or more")]
    WorkgroupSize {
        /// The primitive.
        primitive: &'static str,
        /// The requested size.
        found: u32,
        /// The minimum.
        minimum: u32,
    },
    /// A buffer that is both read and written, or written twice.
    #[error(
        "{primitive}: \"{object}\" is given as two buffers, one of which is written; expected buffers apart"
    )]
    Overlap {
        /// The primitive.
        primitive: &'static str,
        /// The buffer.
        object: String,
    },
    /// A partition in which one column has no destination for dropped elements.
    #[error("partition: \"{object}\" has no place for dropped elements, other columns have")]
    NoPlaceForDropped {
        /// Destination of the column's kept elements.
        object: String,
    },
    /// Look-back on a device that does not allow it.
    #[error("look-back is not allowed on {device}, its litmus test {litmus}; use reduce-then-scan")]
    LookBack {
        /// The device.
        device: String,
        /// Result of the litmus test.
        litmus: crate::litmus::Litmus,
    },
    /// Ballots on a device that does not allow them.
    #[error(
        "{device} cannot require subgroups of {subgroup_size} or lacks their operations; expected 4 to 64; \
         rank by nibbles"
    )]
    Ballots {
        /// The device.
        device: String,
        /// Its subgroup size.
        subgroup_size: u32,
    },
    /// An invalid grid.
    #[error("uniform grid: {problem}")]
    Grid {
        /// The problem, with the found and expected values.
        problem: String,
    },
    /// An invalid surface, or one that cannot be found as requested.
    #[error("surface: {problem}")]
    Surface {
        /// The problem, with the found and expected values.
        problem: String,
    },
    /// Overflow of the rows of bonds in a build, which has made none.
    #[error("bonds: {required} slots a row are required, there are {slots}; grow the rows and build again")]
    BondOverflow {
        /// Required slots of the longest row.
        required: u32,
        /// Slots per row.
        slots: u32,
    },
    /// Invalid bonds, or bonds that cannot be made as requested.
    #[error("bonds: {problem}")]
    Bonds {
        /// The problem, with the found and expected values.
        problem: String,
    },
}

/// Checks that a count's capacity fits a primitive, and that buffers are large enough for it.
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
    buffers.iter().try_for_each(|buffer| check_len(primitive, count, buffer))
}

/// Checks that a buffer is large enough for the capacity of a count.
pub(crate) fn check_len<T: bytemuck::Pod>(
    primitive: &'static str,
    count: &frazil_vk::DeviceCount,
    buffer: &frazil_vk::Buffer<T>,
) -> Result<(), KernelError> {
    if buffer.len() < count.capacity as usize {
        return Err(KernelError::TooSmall {
            primitive,
            object: buffer.name().to_owned(),
            found: buffer.len() as u64,
            required: count.capacity.into(),
        });
    }
    Ok(())
}

/// Checks that no written buffer is also read, or written twice.
pub(crate) fn check_apart(
    primitive: &'static str,
    inputs: &[&frazil_vk::Buffer<u32>],
    outputs: &[&frazil_vk::Buffer<u32>],
) -> Result<(), KernelError> {
    for (i, output) in outputs.iter().enumerate() {
        if inputs.iter().chain(&outputs[..i]).any(|other| other.overlaps(output)) {
            return Err(KernelError::Overlap { primitive, object: output.name().to_owned() });
        }
    }
    Ok(())
}
