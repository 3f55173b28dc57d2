//! Thin layer over Vulkan, used by the rest of frazil.
//!
//! It has device selection and limits, typed buffers and images, compute kernels and raster pipelines, the
//! recorder that places barriers, submission on one timeline, read-back, time stamps, hardware counters, and
//! (feature `window`) the swapchain.
//! This is the only crate with `unsafe` and the only one that names `ash`; so it also has the two calls of
//! the operating system that programs need (`host`).
//!
//! Nothing here knows what a particle is. The host waits for the device only in functions called `wait` or
//! documented as set-up: [`Device::upload`], [`Device::download`] and [`Pending::wait`]; and, with a window,
//! in `Swapchain::present`, which is synchronized with the display.
//!
//! Invariant: all GPU work goes through one queue, and each submission waits on the device for the one
//! before it. Barriers are therefore needed only inside a submission, and the [`Recorder`] places exactly
//! those.

mod buffer;
mod capabilities;
mod commands;
mod compiled;
mod compute_units;
mod counters;
mod descriptor_sets;
mod device;
mod double_buffer;
mod error;
mod executable;
mod findings;
mod hazard;
mod hoist;
mod host;
mod image;
mod instance;
mod kernel;
mod kernel_facts;
mod layout;
mod marks;
mod memory;
mod occupancy;
mod offline_compiler;
mod opening;
#[cfg(feature = "window")]
mod overlay;
mod performance_queries;
mod pipeline_cache;
mod pipeline_layout;
mod raster;
mod readback;
mod recorder;
mod reload;
mod replacement;
mod replay;
mod resource;
mod shared_memory;
mod slot;
mod submission;
#[cfg(feature = "window")]
mod swapchain;
mod tick_clock;
mod timeline;
mod timing;
mod validation;

pub use buffer::{Buffer, Location, RawBuffer};
pub use capabilities::{Capabilities, DeviceInfo, DeviceKind};
pub use compiled::{BindingSource, KernelSource, Reach, SpecializationSource, WorkSource};
pub use compute_units::{ComputeUnits, UnitKind};
pub use counters::{Counter, CounterSession};
pub use device::{Device, DeviceOptions, DeviceSelector, Statistics, Watchdog};
pub use double_buffer::DoubleBuffer;
pub use error::Error;
pub use executable::{Executable, InternalRepresentation, Occupancy, Statistic, StatisticValue};
pub use hazard::{Access, Event, Hazard, Use, UseSet, find_hazards};
pub use hoist::hoist_constants;
pub use host::{HostAllocator, ignore_file_size_signal};
pub use image::{Image, ImageFormat};
pub use kernel::{CountedInterface, DeviceCount, Kernel, KernelInterface, LARGEST_TILE_LOG2, Threads};
pub use kernel_facts::KernelFacts;
pub use memory::MemoryUse;
pub use occupancy::Utilization;
pub use offline_compiler::OfflineCompiler;
#[cfg(feature = "window")]
pub use overlay::{Overlay, OverlayFrame};
pub use raster::{Blend, DepthUse, Draw, Raster, RasterInterface, RasterOptions, RasterSource};
pub use readback::{Pending, ReadbackRing};
pub use recorder::{BarrierPlan, Isolate, Recorder, RecorderOptions};
pub use replay::{Replay, ReplayCounts};
pub use submission::Submission;
#[cfg(feature = "window")]
pub use swapchain::{Presented, Swapchain, surface_extensions};
pub use timing::PassTime;
pub use validation::{Message, Severity, ValidationLog};

/// Result of device operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;
