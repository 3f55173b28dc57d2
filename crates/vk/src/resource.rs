//! Resources of passes: buffers and images.

use crate::buffer::RawBuffer;
use crate::image::Image;
use crate::slot::Slot;

/// Handle that keeps a resource alive.
#[derive(Clone)]
pub(crate) enum Owner {
    Buffer(RawBuffer),
    Image(Image),
}

impl Owner {
    /// Returns the name that the resource was created with.
    pub fn name(&self) -> &str {
        match self {
            Self::Buffer(buffer) => &buffer.inner.name,
            Self::Image(image) => image.name(),
        }
    }
}

/// A resource that a pass uses.
#[derive(Clone, Copy)]
pub(crate) enum Resource<'a> {
    Buffer(&'a RawBuffer),
    Image(&'a Image),
}

impl Resource<'_> {
    /// Returns the number of the resource, unique on its device.
    pub fn id(self) -> u64 {
        match self {
            Self::Buffer(buffer) => buffer.inner.id,
            Self::Image(image) => image.id(),
        }
    }

    pub fn slot(&self) -> &Slot {
        match self {
            Self::Buffer(buffer) => &buffer.inner.slot,
            Self::Image(image) => image.slot(),
        }
    }

    pub fn owner(self) -> Owner {
        match self {
            Self::Buffer(buffer) => Owner::Buffer(buffer.clone()),
            Self::Image(image) => Owner::Image(image.clone()),
        }
    }
}
