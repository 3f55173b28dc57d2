//! Recordings: frames appended to one file, readable while it grows and after a kill at any instant.

mod chunk;
mod reader;
mod writer;

use serde::{Deserialize, Serialize};

use crate::section::FileKind;

pub use reader::{Recording, Tail};
pub use writer::RecordingWriter;

/// There was no version 3: no flipped bit makes one version of another.
const KIND: FileKind = FileKind { name: "recording", magic: b"FRZLREC\0", version: 4, oldest: 1 };
/// From this version on columns are packed, and the end mark says where the index is.
const PACKED: u32 = 2;
/// What names of rigid bodies' columns begin with, from version 4 on; a column of particles cannot have such a name.
const OF_BODIES: &str = "bodies.";
const META_LENGTH_BYTES: usize = 16;

/// The extension of a recording, without its dot.
pub const RECORDING_EXTENSION: &str = "frazil-rec";

/// What a recording says about the run that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingMeta {
    /// The effective scene, overrides applied, as JSON.
    pub scene_json: String,
    /// The run's seed.
    pub seed: u64,
    /// The device's name.
    pub device: String,
}
