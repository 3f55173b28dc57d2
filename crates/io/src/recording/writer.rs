//! Writer of recordings.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::chunk::{CHUNK_BYTES, Chunk, END_TAG, Entry, FRAME_TAG, INDEX_NAME, INDEX_TAG, index_to_bytes};
use super::{KIND, OF_BODIES, PACKED, Recording, RecordingMeta};
use crate::atomic;
use crate::error::{Error, Result};
use crate::extent::{Extent, ExtentWriter, RunningExtent};
use crate::frame::{Column, ColumnKind, Frame};
use crate::packing::pack;
use crate::section::{PayloadKind, Section};

/// Writer that appends frames to a recording.
///
/// Each frame is passed to the operating system before [`append`](Self::append) returns: a kill loses at most
/// the frame being written. Only [`finish`](Self::finish) waits for the disk.
#[derive(Debug)]
pub struct RecordingWriter {
    file: File,
    path: PathBuf,
    version: u32,
    frames: Vec<Entry>,
    end_bytes: u64,
    running: RunningExtent,
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
        let (frames, end_bytes) = (Vec::new(), head.len() as u64);
        let mut running = RunningExtent::new();
        running.write_all(&head).map_err(Error::io("write", path))?;
        Ok(Self { file, path: path.to_owned(), version: KIND.version, frames, end_bytes, running })
    }

    /// Continues a recording after a resume: keeps the frames up to and including `last_step` or the first
    /// damaged part, drops what follows, also index and end mark, and appends from there. The file keeps its
    /// version.
    ///
    /// # Errors
    /// The errors of [`Recording::open`], and [`Error::Io`].
    pub fn resume(path: &Path, last_step: u64) -> Result<Self> {
        let Recording { version, mut frames, head_bytes, .. } = Recording::open(path)?;
        let is_kept =
            |(number, entry): &(u64, &Entry)| entry.chunk.step <= last_step && entry.chunk.index == *number;
        let kept = (0..).zip(&frames).take_while(is_kept).count();
        frames.truncate(kept);
        let end_bytes = frames.last().map_or(head_bytes, Entry::end_bytes);
        let file = OpenOptions::new().write(true).open(path).map_err(Error::io("open", path))?;
        let running = RunningExtent::of_file(path, end_bytes)?;
        let mut writer = Self { file, path: path.to_owned(), version, frames, end_bytes, running };
        writer.cut_tail()?;
        Ok(writer)
    }

    /// Appends a frame. After an error the recording still ends after its last complete frame, and a later
    /// append may succeed.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path.
    pub fn append(&mut self, frame: &Frame) -> Result<()> {
        let names = frame.columns().iter().map(|column| column.name.clone());
        let bodies = frame.bodies().iter().map(|column| format!("{OF_BODIES}{}", column.name));
        let names: Vec<String> = names.chain(bodies).collect();
        let columns: Vec<&Column> = frame.columns().iter().chain(frame.bodies()).collect();
        let payloads: Vec<(PayloadKind, Cow<'_, [u8]>)> = (columns.iter())
            .map(|column| stored(column, self.version >= PACKED))
            .collect::<io::Result<_>>()
            .map_err(Error::io("append to", &self.path))?;
        let sections: Vec<Section<'_>> = (columns.iter().zip(&names).zip(&payloads))
            .map(|((column, name), (kind, payload))| Section {
                kind: *kind,
                name,
                unit: &column.unit,
                payload,
            })
            .collect();
        let chunk = Chunk {
            tag: FRAME_TAG,
            n_columns: sections.len() as u32,
            index: self.n_frames(),
            step: frame.step(),
            time_s: frame.time_s(),
            body_bytes: sections.iter().map(Section::len_bytes).sum(),
        };
        let offset_bytes = self.end_bytes;
        self.write_chunk(chunk, &sections)?;
        self.frames.push(Entry { offset_bytes, chunk });
        Ok(())
    }

    /// Returns the number of frames written so far, including those kept by [`resume`](Self::resume).
    pub fn n_frames(&self) -> u64 {
        self.frames.len() as u64
    }

    /// Returns length and checksum of the file so far.
    pub fn extent(&self) -> Extent {
        self.running.extent()
    }

    /// Waits until all frames so far are on disk.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(Error::io("sync", &self.path))?;
        atomic::sync_directory_of(&self.path)
    }

    /// Writes the index, marks the recording as complete and waits until it is on disk.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path.
    pub fn finish(mut self) -> Result<()> {
        let mark = |tag| Chunk {
            tag,
            n_columns: 0,
            index: self.frames.len() as u64,
            step: 0,
            time_s: 0.0,
            body_bytes: 0,
        };
        let (mut index, mut end) = (mark(INDEX_TAG), mark(END_TAG));
        if self.version >= PACKED {
            let payload = index_to_bytes(&self.frames);
            let kind = PayloadKind::Bytes;
            let section = Section { kind, name: INDEX_NAME, unit: "", payload: &payload };
            index.body_bytes = section.len_bytes();
            end.step = self.end_bytes;
            self.write_chunk(index, &[section])?;
        }
        self.write_chunk(end, &[])?;
        self.sync()
    }

    fn write_chunk(&mut self, chunk: Chunk, body: &[Section<'_>]) -> Result<()> {
        let buffer = BufWriter::with_capacity(1 << 20, &mut self.file);
        match write_all(chunk, body, ExtentWriter { out: buffer, running: self.running.clone() }) {
            Ok(running) => {
                self.running = running;
                self.end_bytes += CHUNK_BYTES as u64 + chunk.body_bytes;
                Ok(())
            }
            Err(cause) => {
                // The first error is the one to report. If truncating fails too, readers stop at the
                // incomplete frame.
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

/// Writes a chunk with its sections; returns the extent of the file with them.
fn write_all(
    chunk: Chunk,
    body: &[Section<'_>],
    mut out: ExtentWriter<BufWriter<&mut File>>,
) -> io::Result<RunningExtent> {
    let written = out
        .write_all(&chunk.to_bytes())
        .and_then(|()| body.iter().try_for_each(|section| section.write(&mut out)))
        .and_then(|()| out.flush());
    // Dropping a BufWriter flushes the rest, which after a failure must not reach the file.
    drop(out.out.into_parts());
    written.map(|()| out.running)
}

/// Returns a column's values as stored in the file.
fn stored(column: &Column, packed: bool) -> io::Result<(PayloadKind, Cow<'_, [u8]>)> {
    let (plain, packed_kind, words) = match column.data.kind() {
        ColumnKind::U32 => (PayloadKind::U32, PayloadKind::PackedU32, 1),
        ColumnKind::F32 => (PayloadKind::F32, PayloadKind::PackedF32, 1),
        ColumnKind::Vec3 => (PayloadKind::Vec3, PayloadKind::PackedVec3, 3),
    };
    let values = column.data.bytes();
    Ok(if packed { (packed_kind, Cow::Owned(pack(values, words)?)) } else { (plain, Cow::Borrowed(values)) })
}
