//! What leaves a run and what brings it back: recordings, checkpoints, exports to other programs' formats, metrics, reports, plots.
//!
//! Pure data: this crate never names Vulkan, owns no particle on a device and knows no solver. Whoever has columns makes a [`Frame`]
//! of them; everything here works on frames, tables and plain structs. Reading a scene or a mesh never lives here.
//!
//! Files are whole or absent: they are written under a temporary name and renamed, except recordings and metrics, which are
//! appended to and can be cut at any byte. Every error names the file and says what was found and what was expected.
//!
//! The layouts of frazil's own files: [`formats`].

mod atomic;
mod checkpoint;
mod error;
mod frame;
mod recording;
mod section;

pub use checkpoint::Checkpoint;
pub use error::{Damage, Error, Problem, Result};
pub use frame::{Column, ColumnData, ColumnKind, Frame, FrameError};
pub use recording::{RECORDING_EXTENSION, Recording, RecordingMeta, RecordingWriter, Tail};

#[doc = include_str!("../../../docs/formats.md")]
pub mod formats {}
