//! Conversion of the device's parameters and columns to those of the CPU twins, one module per subject.

pub mod bodies;
pub mod bonds;
pub mod dem;
pub mod mpm;
pub mod pbd;
pub mod slabs;
pub mod snow;
pub mod viscoelastic;
