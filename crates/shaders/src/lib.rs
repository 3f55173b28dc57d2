//! The engine's shaders, compiled when this crate is built, with typed Rust bindings for each.
//!
//! `glsl/AREA/NAME.comp` becomes the module `AREA::NAME` with
//! - `Bindings`: the shader's buffers by name, each a [`frazil_vk::Buffer`] of the element type the shader
//!   declares; the one named `count` is a [`frazil_vk::DeviceCount`], by which `dispatch_counted` dispatches,
//! - `Params`: its push constants, byte for byte (sizes and offsets are asserted at compile time),
//! - `Specialization`: its tunables with their defaults,
//! - `Interface`: the type parameter of [`frazil_vk::Kernel`] that ties the three together.
//!
//! A `.vert` and a `.frag` of the same name become one module for [`frazil_vk::Raster`]. A shader is thus
//! declared once, in GLSL, and the Rust side cannot drift from it: a buffer of another element type, a
//! missing parameter or a wrong name does not compile.
//!
//! ```compile_fail
//! use frazil_shaders::common::advance_clock::Bindings;
//! fn bind(wrong: &frazil_vk::Buffer<f32>) -> Bindings<'_> {
//!     Bindings { clock: wrong } // the shader declares `StepClock clock[]`
//! }
//! ```
//! ```
//! use frazil_shaders::common::advance_clock::Bindings;
//! use frazil_shaders::types::StepClock;
//! fn bind(clock: &frazil_vk::Buffer<StepClock>) -> Bindings<'_> {
//!     Bindings { clock }
//! }
//! ```
//!
//! This crate holds no hand-written kernel code, and nothing that calls a kernel.

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
