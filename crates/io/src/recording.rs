//! Recordings: frames appended to one file, readable while it grows and after a kill at any instant.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::atomic;
use crate::error::{Damage, Error, Problem, Result};
use crate::frame::{Column, ColumnData, ColumnKind, Frame};
use crate::section::{FileKind, PRELUDE_BYTES, Parser, PayloadKind, Section, u32_at, u64_at};

const KIND: FileKind = FileKind { name: "recording", magic: b"FRZLREC\0", version: 1 };
const CHUNK_BYTES: usize = 48;
const META_LENGTH_BYTES: usize = 16;
const FRAME_TAG: [u8; 4] = *b"FRAM";
const END_TAG: [u8; 4] = *b"DONE";

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

/// The fixed block before a frame's columns, or the one that closes the file.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    tag: [u8; 4],
    n_columns: u32,
    /// The frame's number; in the end mark the number of frames.
    index: u64,
    step: u64,
    time_s: f64,
    body_bytes: u64,
}

impl Chunk {
    fn to_bytes(self) -> [u8; CHUNK_BYTES] {
        let mut bytes = [0; CHUNK_BYTES];
        bytes[0..4].copy_from_slice(&self.tag);
        bytes[4..8].copy_from_slice(&self.n_columns.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.index.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.step.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.time_s.to_bits().to_le_bytes());
        bytes[32..40].copy_from_slice(&self.body_bytes.to_le_bytes());
        let hash = xxh3_64(&bytes[..40]);
        bytes[40..48].copy_from_slice(&hash.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; CHUNK_BYTES]) -> Self {
        Self {
            tag: std::array::from_fn(|i| bytes[i]),
            n_columns: u32_at(bytes, 4),
            index: u64_at(bytes, 8),
            step: u64_at(bytes, 16),
            time_s: f64::from_bits(u64_at(bytes, 24)),
            body_bytes: u64_at(bytes, 32),
        }
    }
}

/// Appends frames to a recording.
///
/// Each frame is handed to the operating system before [`append`](Self::append) returns: a kill costs at most the frame being
/// written. Only [`finish`](Self::finish) waits for the disk.
#[derive(Debug)]
pub struct RecordingWriter {
    file: File,
    path: PathBuf,
    n_frames: u64,
    end_bytes: u64,
}

impl RecordingWriter {
    /// Starts a recording, replacing any file at `path`.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path.
    pub fn create(path: &Path, meta: &RecordingMeta) -> Result<Self> {
        let json = serde_json::to_vec(meta).map_err(|cause| Error::Json { path: path.to_owned(), cause })?;
        let section = Section { kind: PayloadKind::Bytes, name: "meta", unit: "", payload: &json };
        let length = section.len_bytes().to_le_bytes();
        let mut head = KIND.prelude().to_vec();
        head.extend(length);
        head.extend(xxh3_64(&length).to_le_bytes());
        section.write(&mut head).map_err(Error::io("write", path))?;

        let mut file = File::create(path).map_err(Error::io("create", path))?;
        file.write_all(&head).map_err(Error::io("write", path))?;
        Ok(Self { file, path: path.to_owned(), n_frames: 0, end_bytes: head.len() as u64 })
    }

    /// Goes on with a recording after a resume: keeps the frames up to and including `last_step`, drops those after it, an end mark
    /// and a damaged tail, and appends from there.
    ///
    /// # Errors
    /// Those of [`Recording::open`], and [`Error::Io`].
    pub fn resume(path: &Path, last_step: u64) -> Result<Self> {
        let mut recording = Recording::open(path)?;
        let kept = recording.chunks.iter().take_while(|entry| entry.chunk.step <= last_step).count();
        if let Some(dropped) = recording.chunks.get(kept) {
            recording.end_bytes = dropped.offset_bytes;
        }
        let file = OpenOptions::new().write(true).open(path).map_err(Error::io("open", path))?;
        let mut writer =
            Self { file, path: path.to_owned(), n_frames: kept as u64, end_bytes: recording.end_bytes };
        writer.cut_tail()?;
        Ok(writer)
    }

    /// Appends a frame. After an error the recording still ends after its last whole frame, and a later append may succeed.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path.
    pub fn append(&mut self, frame: &Frame) -> Result<()> {
        let sections = frame.columns().iter().map(column_section);
        let chunk = Chunk {
            tag: FRAME_TAG,
            n_columns: frame.columns().len() as u32,
            index: self.n_frames,
            step: frame.step(),
            time_s: frame.time_s(),
            body_bytes: sections.clone().map(|section| section.len_bytes()).sum(),
        };
        self.write_chunk(chunk, sections)?;
        self.n_frames += 1;
        Ok(())
    }

    /// The frames written so far, those kept by [`resume`](Self::resume) included.
    pub fn n_frames(&self) -> u64 {
        self.n_frames
    }

    /// Marks the recording as complete and waits until it is on disk.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path.
    pub fn finish(mut self) -> Result<()> {
        let end =
            Chunk { tag: END_TAG, n_columns: 0, index: self.n_frames, step: 0, time_s: 0.0, body_bytes: 0 };
        self.write_chunk(end, std::iter::empty())?;
        self.file.sync_all().map_err(Error::io("sync", &self.path))?;
        atomic::sync_directory_of(&self.path)
    }

    fn write_chunk<'a>(&mut self, chunk: Chunk, mut body: impl Iterator<Item = Section<'a>>) -> Result<()> {
        let mut out = BufWriter::with_capacity(1 << 20, &mut self.file);
        let written = out
            .write_all(&chunk.to_bytes())
            .and_then(|()| body.try_for_each(|section| section.write(&mut out)))
            .and_then(|()| out.flush());
        // Dropping a BufWriter flushes what is left, which after a failure must not land in the file.
        drop(out.into_parts());
        match written {
            Ok(()) => {
                self.end_bytes += CHUNK_BYTES as u64 + chunk.body_bytes;
                Ok(())
            }
            Err(cause) => {
                // The first error is the one to report. If cutting fails too, readers stop at the torn frame.
                let _ = self.cut_tail();
                Err(Error::Io { operation: "append to", path: self.path.clone(), cause })
            }
        }
    }

    fn cut_tail(&mut self) -> Result<()> {
        self.file
            .set_len(self.end_bytes)
            .and_then(|()| self.file.seek(SeekFrom::Start(self.end_bytes)))
            .map(drop)
            .map_err(Error::io("truncate", &self.path))
    }
}

fn column_section(column: &Column) -> Section<'_> {
    let kind = match column.data.kind() {
        ColumnKind::U32 => PayloadKind::U32,
        ColumnKind::F32 => PayloadKind::F32,
        ColumnKind::Vec3 => PayloadKind::Vec3,
    };
    Section { kind, name: &column.name, unit: &column.unit, payload: column.data.bytes() }
}

/// What follows the last whole frame of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tail {
    /// The end mark: the writer finished.
    Finished,
    /// Nothing: the writer is still at work, or was killed between two frames.
    Open,
    /// A frame that is not whole: the writer is in the midst of it, was killed in it, or the file was damaged. Its number and
    /// offset are in the text; frames after it cannot be found.
    Damaged(Damage),
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    offset_bytes: u64,
    chunk: Chunk,
}

/// Reads a recording, frame by frame in any order.
#[derive(Debug)]
pub struct Recording {
    file: File,
    path: PathBuf,
    meta: RecordingMeta,
    chunks: Vec<Entry>,
    end_bytes: u64,
    tail: Tail,
}

impl Recording {
    /// Opens a recording and finds its whole frames.
    ///
    /// A damaged or torn tail is no error: see [`tail`](Self::tail). The checksums of a frame's columns are verified when it is
    /// read; those of the last frame also here, because that is where a crash of the machine leaves its mark.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NotA`], [`Error::Version`], and [`Error::Damaged`] or [`Error::Json`] if the part before the
    /// first frame is bad.
    pub fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path).map_err(Error::io("open", path))?;
        let head = read_at(&mut file, 0, (PRELUDE_BYTES + META_LENGTH_BYTES) as u64)
            .map_err(Error::io("read", path))?;
        KIND.check_prelude(path, &head)?;
        let damaged = |damage| Error::Damaged { path: path.to_owned(), damage };
        let length: &[u8; META_LENGTH_BYTES] = Parser::new(&head[PRELUDE_BYTES..], PRELUDE_BYTES as u64)
            .checked("length of the meta section")
            .map_err(damaged)?;
        let meta_bytes =
            read_at(&mut file, head.len() as u64, u64_at(length, 0)).map_err(Error::io("read", path))?;
        let section = Parser::new(&meta_bytes, head.len() as u64).section("section").map_err(damaged)?;
        let meta = serde_json::from_slice(section.payload)
            .map_err(|cause| Error::Json { path: path.to_owned(), cause })?;
        let end_bytes = (head.len() + meta_bytes.len()) as u64;
        let mut recording =
            Self { file, path: path.to_owned(), meta, chunks: Vec::new(), end_bytes, tail: Tail::Open };
        recording.refresh()?;
        Ok(recording)
    }

    /// Looks for frames appended since the recording was opened, and returns how many frames there are now.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path.
    pub fn refresh(&mut self) -> Result<usize> {
        if self.tail != Tail::Finished {
            let known = self.chunks.len();
            self.tail = self.scan().map_err(Error::io("read", &self.path))?;
            while self.chunks.len() > known {
                let last = self.chunks.len() - 1;
                match self.frame(last) {
                    Ok(_) => break,
                    Err(Error::Damaged { damage, .. }) => {
                        self.end_bytes = self.chunks[last].offset_bytes;
                        self.chunks.truncate(last);
                        self.tail = Tail::Damaged(damage);
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(self.chunks.len())
    }

    /// Hops from chunk to chunk, from the end of the last known frame.
    fn scan(&mut self) -> std::io::Result<Tail> {
        let file_bytes = self.file.metadata()?.len();
        loop {
            let offset_bytes = self.end_bytes;
            if offset_bytes >= file_bytes {
                return Ok(Tail::Open);
            }
            let place = format!("frame {}", self.chunks.len());
            let bytes = read_at(&mut self.file, offset_bytes, CHUNK_BYTES as u64)?;
            let chunk = match Parser::new(&bytes, offset_bytes).checked(&place) {
                Ok(bytes) => Chunk::from_bytes(bytes),
                Err(damage) => return Ok(Tail::Damaged(damage)),
            };
            let damaged = |problem| Ok(Tail::Damaged(Damage { place, offset_bytes, problem }));
            if chunk.index != self.chunks.len() as u64 {
                return damaged(Problem::Invalid(format!("it is numbered {}", chunk.index)));
            }
            let found_bytes = file_bytes - offset_bytes - CHUNK_BYTES as u64;
            match chunk.tag {
                FRAME_TAG if chunk.body_bytes <= found_bytes => {
                    self.chunks.push(Entry { offset_bytes, chunk });
                    self.end_bytes += CHUNK_BYTES as u64 + chunk.body_bytes;
                }
                FRAME_TAG => {
                    return damaged(Problem::Truncated { expected_bytes: chunk.body_bytes, found_bytes });
                }
                END_TAG if found_bytes == 0 => return Ok(Tail::Finished),
                END_TAG => {
                    return damaged(Problem::Invalid(format!("{found_bytes} byte(s) follow the end mark")));
                }
                tag => {
                    return damaged(Problem::Invalid(format!(
                        "expected a frame or the end mark, found {tag:?}"
                    )));
                }
            }
        }
    }

    /// The number of whole frames.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Whether there is no whole frame.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// What the recording says about its run.
    pub fn meta(&self) -> &RecordingMeta {
        &self.meta
    }

    /// What follows the last whole frame.
    pub fn tail(&self) -> &Tail {
        &self.tail
    }

    /// Step and time in seconds of each frame, without reading their columns.
    pub fn times(&self) -> impl ExactSizeIterator<Item = (u64, f64)> + '_ {
        self.chunks.iter().map(|entry| (entry.chunk.step, entry.chunk.time_s))
    }

    /// Reads frame `index`, counted from 0, and verifies its checksums.
    ///
    /// # Errors
    /// [`Error::NoSuchFrame`], [`Error::Io`], or [`Error::Damaged`] with frame, column and offset.
    pub fn frame(&mut self, index: usize) -> Result<Frame> {
        let Some(&Entry { offset_bytes, chunk }) = self.chunks.get(index) else {
            return Err(Error::NoSuchFrame { path: self.path.clone(), index, len: self.chunks.len() });
        };
        let body_offset = offset_bytes + CHUNK_BYTES as u64;
        let body =
            read_at(&mut self.file, body_offset, chunk.body_bytes).map_err(Error::io("read", &self.path))?;
        let damaged = |damage| Error::Damaged { path: self.path.clone(), damage };
        let invalid = |problem: String| {
            damaged(Damage {
                place: format!("frame {index}"),
                offset_bytes,
                problem: Problem::Invalid(problem),
            })
        };

        let mut parser = Parser::new(&body, body_offset);
        let mut columns = Vec::new();
        for _ in 0..chunk.n_columns {
            let section = parser.section(&format!("frame {index}, column")).map_err(damaged)?;
            columns.push(column(&section).map_err(invalid)?);
        }
        if parser.remaining() > 0 {
            return Err(invalid(format!("{} byte(s) follow its last column", parser.remaining())));
        }
        Frame::new(chunk.step, chunk.time_s, columns).map_err(|error| invalid(error.to_string()))
    }
}

fn column(section: &Section<'_>) -> std::result::Result<Column, String> {
    let payload = section.payload;
    let (data, value_bytes) = match section.kind {
        PayloadKind::U32 => (ColumnData::U32(bytemuck::allocation::pod_collect_to_vec(payload)), 4),
        PayloadKind::F32 => (ColumnData::F32(bytemuck::allocation::pod_collect_to_vec(payload)), 4),
        PayloadKind::Vec3 => (ColumnData::Vec3(bytemuck::allocation::pod_collect_to_vec(payload)), 12),
        PayloadKind::Bytes => return Err(format!("column {:?} holds raw bytes", section.name)),
    };
    if !payload.len().is_multiple_of(value_bytes) {
        let (name, n) = (section.name, payload.len());
        return Err(format!("column {name:?} has {n} bytes, expected a multiple of {value_bytes}"));
    }
    Ok(Column::new(section.name, section.unit, data))
}

/// Up to `n_bytes` from `offset_bytes` on; fewer at the end of the file. A wild length allocates no more than the file holds.
fn read_at(file: &mut File, offset_bytes: u64, n_bytes: u64) -> std::io::Result<Vec<u8>> {
    let left = file.metadata()?.len().saturating_sub(offset_bytes);
    let mut bytes = Vec::with_capacity(n_bytes.min(left) as usize);
    file.seek(SeekFrom::Start(offset_bytes))?;
    file.take(n_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}
