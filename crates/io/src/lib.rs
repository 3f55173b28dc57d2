//! Input and output of runs: recordings, checkpoints, exports to other programs' formats, metrics, rasters
//! and traces. Statistics, plots and pages are in `frazil-report`.
//!
//! The crate works on plain data: it uses no Vulkan, no device memory and no solver. Callers make a [`Frame`]
//! of their columns; everything here works on frames, tables and plain structs. Scenes and meshes are read
//! elsewhere.
//!
//! Files are complete or absent: they are written under a temporary name and renamed, except recordings and
//! metrics, which are appended to and may end at any byte. Every error names the file and gives the found and
//! expected values.
//!
//! The layouts of frazil's own files: [`formats`].

pub mod atomic;
pub mod calendar;
mod checkpoint;
pub mod csv;
mod error;
mod export;
mod extent;
mod flow_rasters;
mod frame;
pub mod json;
pub mod json_lines;
mod mesh;
mod metrics;
mod packing;
mod raster;
mod recording;
mod run_info;
mod section;
mod state_hash;
mod sweep_info;
mod trace;
mod y4m;

pub use checkpoint::{Checkpoint, WrittenOutputs};
pub use error::{Damage, Error, Problem, Result};
pub use export::{BodyKind, Faces, Format, UnknownFormat, export, export_bodies, write_pvd};
pub use extent::Extent;
pub use flow_rasters::{FlowHistory, FlowRasters, affected_area_overlap, flow_raster_files, slope_area_m2};
pub use frame::{Column, ColumnData, ColumnKind, Frame, FrameError};
pub use mesh::{Mesh, MeshFormat, UnknownMeshFormat, export_mesh};
pub use metrics::{Metric, MetricsTable, MetricsWriter};
pub use raster::{read_geotiff, write_ascii_grid, write_geotiff};
pub use recording::{RECORDING_EXTENSION, Recording, RecordingMeta, RecordingWriter, Tail};
pub use run_info::{ParameterChange, RunInfo};
pub use state_hash::StateHasher;
pub use sweep_info::{SweepAxis, SweepCase, SweepInfo, SweepStatus};
pub use trace::{Arrow, Span, Track, write_trace};
pub use y4m::Y4mWriter;

#[doc = include_str!("../../../docs/formats.md")]
pub mod formats {}
