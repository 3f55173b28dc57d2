//! Data-parallel primitives on the device.

mod count;

pub use count::Counts;
