//! Recordings: frames appended to one file, readable while it grows and after a kill at any time.

mod chunk;
mod reader;
mod writer;

use serde::{Deserialize, Serialize};

use crate::section::FileKind;

pub use reader::{Recording, Tail};
pub use writer::RecordingWriter;

/// Version 3 is skipped, so that no flipped bit turns one version into another.
const KIND: FileKind = FileKind { name: "recording", magic: b"FRZLREC\0", version: 4, oldest: 1 };
/// First version with packed columns and the offset of the index in the end mark.
const PACKED: u32 = 2;
/// Prefix of the names of rigid bodies' columns, from version 4 on; columns of particles cannot have it.
const OF_BODIES: &str = "bodies.";
const META_LENGTH_BYTES: usize = 16;

/// The extension of a recording, without its dot.
pub const RECORDING_EXTENSION: &str = "frazil-rec";

/// Metadata of a recording about its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingMeta {
    /// The effective scene, overrides applied, as JSON.
    pub scene_json: String,
    /// The run's seed.
    pub seed: u64,
    /// The device's name.
    pub device: String,
}
