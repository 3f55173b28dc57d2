//! Fixtures that tests and benches share: devices with validation on, reproducible random inputs, and the
//! conversion of the device's parameters and columns to those of the CPU twins.
//!
//! - [`device`], [`own_device`]: devices of tests.
//! - [`primitives`]: buffers, counts and checked submissions of the tests of kernels.
//! - [`noise`], [`Random`], [`Distribution`]: random inputs, the same on every platform.
//! - [`mean_flip`]: perceived differences between images.
//! - [`VirtualScreen`]: a screen for the tests of windows.
//! - [`bond_rules`]: the rules of bonds that benches measure and tests compare with their twins.
//! - [`twins`]: parameters, states and columns of the twins.
//!
//! A fixture belongs here if two packages use it. Scenes, simulations and bounds of one subject stay in its
//! tests, and measurements in `frazil-bench`.

pub mod bond_rules;
#[cfg(feature = "proptest")]
mod cases;
mod columns;
mod device;
mod distribution;
mod flip;
#[cfg(feature = "input")]
mod input;
#[cfg(feature = "proptest")]
pub mod primitives;
mod random;
mod screen;
pub mod twins;

#[cfg(feature = "proptest")]
pub use cases::config;
pub use columns::{download_columns, saved_state};
pub use device::{assert_no_validation_messages, device, is_full_run, is_gpu_assisted, own_device};
pub use distribution::Distribution;
pub use flip::{FlipImage, mean_flip};
#[cfg(feature = "input")]
pub use input::{Input, keys};
pub use random::{Random, noise, unit_noise};
pub use screen::VirtualScreen;

/// Maximum relative rounding error of one operation in single precision, 2⁻²⁴.
pub const ROUNDING: f64 = 1.0 / (1 << 24) as f64;
