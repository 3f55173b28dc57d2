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
    #[error("{primitive}: workgroups of {found} threads, expected {least} or more")]
    WorkgroupSize {
        /// The primitive.
        primitive: &'static str,
        /// What was asked for.
        found: u32,
        /// The smallest.
        least: u32,
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
    /// A partition in which one column has no place for what is dropped.
    #[error("partition: \"{object}\" has no place for dropped elements, other columns have")]
    NoPlaceForDropped {
        /// Where the column's kept elements go.
        object: String,
    },
    /// Look-back on a device that does not allow it.
    #[error("look-back is not allowed on {device}, its litmus test {litmus}; use reduce-then-scan")]
    LookBack {
        /// The device.
        device: String,
        /// How it failed.
        litmus: crate::litmus::Litmus,
    },
    /// Fixed point with too many digits behind the point.
    #[error("fixed point with {found} fraction bits, expected 0 to 30")]
    FractionBits {
        /// What was asked for.
        found: u32,
    },
    /// Neighbour lists that did not fit; none was written.
    #[error("neighbour lists: {needed} neighbours, room for {room}; grow the lists and build them again")]
    ListOverflow {
        /// Room that all lists take.
        needed: u32,
        /// Room that there is.
        room: u32,
    },
    /// A grid that cannot be.
    #[error("uniform grid: {problem}")]
    Grid {
        /// What was found and what is expected.
        problem: String,
    },
    /// A surface that cannot be, or cannot be found as asked.
    #[error("surface: {problem}")]
    Surface {
        /// What was found and what is expected.
        problem: String,
    },
    /// Rows of bonds that are too short for a build, which has made none.
    #[error("bonds: {required} slots a row are required, there are {slots}; grow the rows and build again")]
    BondOverflow {
        /// Slots that the longest row needs.
        required: u32,
        /// Slots that rows have.
        slots: u32,
    },
    /// Bonds that cannot be, or cannot be made as asked.
    #[error("bonds: {problem}")]
    Bonds {
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
    buffers.iter().try_for_each(|buffer| check_room(primitive, count, buffer))
}

/// Checks that a buffer has room for as many elements as a count may become.
pub(crate) fn check_room<T: bytemuck::Pod>(
    primitive: &'static str,
    count: &frazil_vk::DeviceCount,
    buffer: &frazil_vk::Buffer<T>,
) -> Result<(), KernelError> {
    if buffer.len() < count.capacity as usize {
        return Err(KernelError::TooSmall {
            primitive,
            object: buffer.name().to_owned(),
            found: buffer.len() as u64,
            needed: count.capacity.into(),
        });
    }
    Ok(())
}

/// Checks that nothing that is written is read as well, or written twice.
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
