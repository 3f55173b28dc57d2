//! Checkpoints: everything a run needs to continue bit-exactly.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::atomic::{self, Durability};
use crate::error::{Damage, Error, Problem, Result};
use crate::extent::{Extent, ExtentWriter, RunningExtent};
use crate::frame::list;
use crate::section::{FileKind, PRELUDE_BYTES, Parser, PayloadKind, Section, u64_at};

const KIND: FileKind = FileKind { name: "checkpoint", magic: b"FRZLCKPT", version: 2, oldest: 1 };
const STATE_BYTES: usize = 40;
/// First version with a checksum of the whole file and the outputs written before it.
const WHOLE: u32 = 2;
/// Name of the section of the outputs; sections of the state cannot have it.
const OUTPUTS: &str = "outputs";

/// Complete state of a run at one step.
///
/// The sections are opaque here: the owner of the state (a solver, a phase array) names and fills them.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The effective scene, overrides applied, as JSON.
    pub scene_json: String,
    /// Steps taken.
    pub step: u64,
    /// Simulated time in seconds.
    pub time_s: f64,
    /// Seed of the run.
    pub seed: u64,
    /// Sections of the state by name.
    pub sections: BTreeMap<String, Vec<u8>>,
    /// Outputs written before the checkpoint; none in files of version 1.
    pub outputs: Option<WrittenOutputs>,
}

/// Files of a run that were on disk before a checkpoint was written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenOutputs {
    /// The recording, if the run records.
    pub recording: Option<Extent>,
    /// The table of metrics, if the run measures.
    pub metrics: Option<Extent>,
    /// Numbers of the pictures, if the run draws any.
    pub pictures: Option<Range<u64>>,
}

impl Checkpoint {
    /// Writes the checkpoint so that at any time, even after kills and power cuts, `path` holds either the
    /// previous checkpoint or this one.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path.
    pub fn write(&self, path: &Path) -> Result<()> {
        atomic::write(path, Durability::Machine, |out| {
            let mut state = [0_u8; STATE_BYTES];
            let outputs = self.outputs.as_ref().map(serde_json::to_vec).transpose()?;
            let n_sections = (self.sections.len() + usize::from(outputs.is_some())) as u64;
            let mut out = ExtentWriter { out, running: RunningExtent::new() };
            for (slot, value) in
                [self.step, self.time_s.to_bits(), self.seed, n_sections].into_iter().enumerate()
            {
                state[slot * 8..][..8].copy_from_slice(&value.to_le_bytes());
            }
            let hash = xxh3_64(&state[..STATE_BYTES - 8]);
            state[STATE_BYTES - 8..].copy_from_slice(&hash.to_le_bytes());
            out.write_all(&KIND.prelude())?;
            out.write_all(&state)?;
            bytes_section("scene", self.scene_json.as_bytes()).write(&mut out)?;
            for (name, payload) in &self.sections {
                bytes_section(name, payload).write(&mut out)?;
            }
            if let Some(outputs) = &outputs {
                bytes_section(OUTPUTS, outputs).write(&mut out)?;
            }
            let whole = out.running.extent().xxh3;
            out.write_all(&whole.to_le_bytes())
        })
    }

    /// Reads a checkpoint and verifies every byte of it.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::WrongKind`], [`Error::Version`], or [`Error::Damaged`] with the section, its
    /// offset, and the found and expected values.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(Error::io("read", path))?;
        let version = KIND.check_prelude(path, &bytes)?;
        Self::parse(&bytes, version).map_err(|damage| Error::Damaged { path: path.to_owned(), damage })
    }

    fn parse(bytes: &[u8], version: u32) -> std::result::Result<Self, Damage> {
        let mut parser = Parser::new(&bytes[PRELUDE_BYTES..], PRELUDE_BYTES as u64);
        let state: &[u8; STATE_BYTES] = parser.checked("step, time and seed")?;
        let [step, time_bits, seed, n_sections] = std::array::from_fn(|slot| u64_at(state, slot * 8));

        let invalid = |place: &str, offset_bytes, problem| Damage {
            place: place.to_owned(),
            offset_bytes,
            problem: Problem::Invalid(problem),
        };
        let scene_offset = parser.offset_bytes();
        let scene = parser.section("scene section")?;
        let scene_json = String::from_utf8(scene.payload.to_vec())
            .map_err(|error| invalid("scene section", scene_offset, format!("expected UTF-8: {error}")))?;

        let mut sections = BTreeMap::new();
        for i in 0..n_sections {
            let offset = parser.offset_bytes();
            let place = format!("section {} of {n_sections}", i + 1);
            let section = parser.section(&place)?;
            if sections.insert(section.name.to_owned(), section.payload.to_vec()).is_some() {
                return Err(invalid(&place, offset, format!("the name {:?} occurs twice", section.name)));
            }
        }
        if version >= WHOLE {
            // Sections of different checkpoints have correct checksums of their own.
            let length = parser.offset_bytes() as usize;
            parser.hash_of("checksum of the whole file", &bytes[..length])?;
        }
        let outputs = sections.remove(OUTPUTS).map(|json| serde_json::from_slice(&json)).transpose();
        let outputs = outputs.map_err(|error| invalid("section \"outputs\"", 0, error.to_string()))?;
        match parser.remaining() {
            0 => Ok(Self { scene_json, step, time_s: f64::from_bits(time_bits), seed, sections, outputs }),
            extra => Err(invalid("end of file", parser.offset_bytes(), format!("{extra} byte(s) too many"))),
        }
    }

    /// Returns the section of that name.
    ///
    /// # Errors
    /// [`Error::NoSuchSection`], listing the available ones.
    pub fn section(&self, name: &str) -> Result<&[u8]> {
        self.sections.get(name).map(Vec::as_slice).ok_or_else(|| Error::NoSuchSection {
            step: self.step,
            name: name.to_owned(),
            available: list(self.sections.keys().map(String::as_str)),
        })
    }
}

fn bytes_section<'a>(name: &'a str, payload: &'a [u8]) -> Section<'a> {
    Section { kind: PayloadKind::Bytes, name, unit: "", payload }
}
