//! Reader of recordings.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::chunk::{CHUNK_BYTES, Chunk, END_TAG, Entry, FRAME_TAG, INDEX_NAME, INDEX_TAG, index_from_bytes};
use super::{KIND, META_LENGTH_BYTES, OF_BODIES, RecordingMeta};
use crate::error::{Damage, Error, Problem, Result};
use crate::frame::{Column, ColumnData, Frame};
use crate::packing::unpack;
use crate::section::{PRELUDE_BYTES, Parser, PayloadKind, Section, u64_at};

/// Contents after the last complete frame of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tail {
    /// The end mark: the writer has finished.
    Finished,
    /// Nothing: the writer is still running, or was killed between two frames.
    Open,
    /// An incomplete frame or end: the writer is in the middle of it or was killed there, or the file was
    /// damaged. The text has its name and offset; no frame was found after it.
    Damaged(Damage),
}

/// Reader of the frames of a recording in any order.
#[derive(Debug)]
pub struct Recording {
    file: File,
    path: PathBuf,
    pub(super) version: u32,
    meta: RecordingMeta,
    pub(super) frames: Vec<Entry>,
    /// End of the last frame.
    pub(super) end_bytes: u64,
    /// End of the part before the first frame.
    pub(super) head_bytes: u64,
    gaps: Vec<Damage>,
    tail: Tail,
}

impl Recording {
    /// Opens a recording and finds its complete frames, by its index or, if there is none, by walking from
    /// chunk to chunk.
    ///
    /// A damaged or incomplete tail is not an error: see [`tail`](Self::tail). The checksums of a frame's
    /// columns are verified when it is read; those of the last frame also here, because a crash of the
    /// machine damages that one.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::WrongKind`], [`Error::Version`], and [`Error::Damaged`] or [`Error::Json`] if
    /// the part before the first frame is invalid.
    pub fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path).map_err(Error::io("open", path))?;
        let head = read_at(&mut file, 0, (PRELUDE_BYTES + META_LENGTH_BYTES) as u64)
            .map_err(Error::io("read", path))?;
        let version = KIND.check_prelude(path, &head)?;
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
        let (path, frames) = (path.to_owned(), Vec::new());
        let (head_bytes, gaps, tail) = (end_bytes, Vec::new(), Tail::Open);
        let mut recording = Self { file, path, version, meta, frames, end_bytes, head_bytes, gaps, tail };
        recording.refresh()?;
        Ok(recording)
    }

    /// Searches for frames appended since the recording was opened, and returns the current number of frames.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path.
    pub fn refresh(&mut self) -> Result<usize> {
        if self.tail != Tail::Finished {
            let known = self.frames.len();
            self.tail = self.find_frames().map_err(Error::io("read", &self.path))?;
            while self.frames.len() > known {
                let last = self.frames.len() - 1;
                match self.frame(last) {
                    Ok(_) => break,
                    Err(Error::Damaged { damage, .. }) => {
                        self.end_bytes = self.frames[last].offset_bytes;
                        self.frames.truncate(last);
                        self.tail = Tail::Damaged(damage);
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(self.frames.len())
    }

    fn find_frames(&mut self) -> io::Result<Tail> {
        if self.frames.is_empty()
            && let Some(frames) = self.read_index()?
        {
            self.end_bytes = frames.last().map_or(self.end_bytes, Entry::end_bytes);
            self.frames = frames;
            return Ok(Tail::Finished);
        }
        self.scan()
    }

    /// Returns the frames according to the index at the end mark; `None` if either is absent or damaged.
    fn read_index(&mut self) -> io::Result<Option<Vec<Entry>>> {
        let file_bytes = self.file.metadata()?.len();
        let Some(end_offset) = file_bytes.checked_sub(CHUNK_BYTES as u64) else { return Ok(None) };
        let Some(end) = self.chunk_at(end_offset)? else { return Ok(None) };
        if end.tag != END_TAG || !(self.end_bytes..end_offset).contains(&end.step) {
            return Ok(None);
        }
        let bytes = read_at(&mut self.file, end.step, end_offset - end.step)?;
        Ok(index(&bytes, end.step).ok().and_then(|(chunk, section)| {
            let frames = index_from_bytes(section.payload, self.end_bytes, end.step)?;
            let n_frames = frames.len() as u64;
            (chunk.index == n_frames && end.index == n_frames).then_some(frames)
        }))
    }

    fn chunk_at(&mut self, offset_bytes: u64) -> io::Result<Option<Chunk>> {
        let bytes = read_at(&mut self.file, offset_bytes, CHUNK_BYTES as u64)?;
        Ok(Parser::new(&bytes, offset_bytes).checked("chunk").ok().map(Chunk::from_bytes))
    }

    /// Returns the offset of the first header of a frame with a correct checksum from `offset_bytes` on, of a
    /// later frame than those known.
    fn next_frame(&mut self, mut offset_bytes: u64) -> io::Result<Option<u64>> {
        const BLOCK_BYTES: u64 = 1 << 20;
        loop {
            let bytes = read_at(&mut self.file, offset_bytes, BLOCK_BYTES)?;
            let is_next = |header: &[u8]| {
                let parsed = Parser::new(header, 0).checked::<CHUNK_BYTES>("chunk").map(Chunk::from_bytes);
                parsed.is_ok_and(|chunk| chunk.tag == FRAME_TAG && chunk.index >= self.next_number())
            };
            let mut headers = bytes.windows(CHUNK_BYTES);
            if let Some(at) = headers.position(|header| header[..4] == FRAME_TAG && is_next(header)) {
                return Ok(Some(offset_bytes + at as u64));
            }
            if (bytes.len() as u64) < BLOCK_BYTES {
                return Ok(None);
            }
            // A header may begin at the end of this block.
            offset_bytes += BLOCK_BYTES - CHUNK_BYTES as u64 + 1;
        }
    }

    /// Returns the number of the frame after the last known one, which may have any number behind a gap.
    fn next_number(&self) -> u64 {
        self.frames.last().map_or(0, |entry| entry.chunk.index.saturating_add(1))
    }

    /// Walks from chunk to chunk, from the end of the last known frame; where one is damaged, to the next
    /// header of a frame.
    fn scan(&mut self) -> io::Result<Tail> {
        let file_bytes = self.file.metadata()?.len();
        loop {
            let offset_bytes = self.end_bytes;
            if offset_bytes >= file_bytes {
                return Ok(Tail::Open);
            }
            let number = self.next_number();
            let place = format!("frame {number}");
            let bytes = read_at(&mut self.file, offset_bytes, CHUNK_BYTES as u64)?;
            let chunk = match Parser::new(&bytes, offset_bytes).checked(&place) {
                Ok(bytes) => Chunk::from_bytes(bytes),
                Err(damage) => {
                    let Some(next) = self.next_frame(offset_bytes + 1)? else {
                        return Ok(Tail::Damaged(damage));
                    };
                    self.gaps.push(damage);
                    self.end_bytes = next;
                    continue;
                }
            };
            let damaged = |problem| Ok(Tail::Damaged(Damage { place, offset_bytes, problem }));
            // After a gap, whose damage is known, a frame has a higher number.
            let is_after_gap = chunk.tag == FRAME_TAG && chunk.index > number && !self.gaps.is_empty();
            if chunk.index != number && !is_after_gap {
                return damaged(Problem::Invalid(format!("it is numbered {}", chunk.index)));
            }
            let found_bytes = file_bytes - offset_bytes - CHUNK_BYTES as u64;
            match chunk.tag {
                FRAME_TAG if chunk.body_bytes <= found_bytes => {
                    self.frames.push(Entry { offset_bytes, chunk });
                    self.end_bytes += CHUNK_BYTES as u64 + chunk.body_bytes;
                }
                FRAME_TAG => {
                    return damaged(Problem::Truncated { expected_bytes: chunk.body_bytes, found_bytes });
                }
                INDEX_TAG => return self.check_close(offset_bytes, file_bytes),
                END_TAG if found_bytes == 0 => return Ok(Tail::Finished),
                END_TAG => {
                    return damaged(Problem::Invalid(format!("{found_bytes} byte(s) follow the end mark")));
                }
                tag => {
                    return damaged(Problem::Invalid(format!(
                        "expected a frame, the index or the end mark, found {tag:?}"
                    )));
                }
            }
        }
    }

    /// Returns true if the index, which begins at `offset_bytes`, and the end mark are complete, and nothing
    /// follows.
    fn check_close(&mut self, offset_bytes: u64, file_bytes: u64) -> io::Result<Tail> {
        let bytes = read_at(&mut self.file, offset_bytes, file_bytes - offset_bytes)?;
        let damaged = |place: &str, offset_bytes, problem| {
            Ok(Tail::Damaged(Damage { place: place.to_owned(), offset_bytes, problem }))
        };
        let (chunk, section) = match index(&bytes, offset_bytes) {
            Ok(index) => index,
            Err(damage) => return Ok(Tail::Damaged(damage)),
        };
        let n_frames = self.frames.len() as u64;
        let listed = section.payload.len();
        if index_from_bytes(section.payload, self.head_bytes, offset_bytes).is_none() {
            let problem = Problem::Invalid(format!("its {listed} bytes do not list the {n_frames} frame(s)"));
            return damaged("the index", offset_bytes, problem);
        }
        let end_offset = offset_bytes + CHUNK_BYTES as u64 + chunk.body_bytes;
        let mut parser = Parser::new(&bytes[(end_offset - offset_bytes) as usize..], end_offset);
        let end = match parser.checked("the end mark") {
            Ok(bytes) => Chunk::from_bytes(bytes),
            Err(damage) => return Ok(Tail::Damaged(damage)),
        };
        if (end.tag, end.index, end.step) != (END_TAG, n_frames, offset_bytes) || parser.remaining() > 0 {
            let found = (end.tag.escape_ascii(), end.index, end.step, parser.remaining());
            let problem = Problem::Invalid(format!(
                "expected the mark \"DONE\" of {n_frames} frame(s) with the index at byte {offset_bytes} and \
                 nothing behind it, found \"{}\" of {} with {}, and {} byte(s)",
                found.0, found.1, found.2, found.3
            ));
            return damaged("the end mark", end_offset, problem);
        }
        Ok(Tail::Finished)
    }

    /// Returns the number of complete frames.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Returns true if there is no complete frame.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns the path that it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the metadata of the recording about its run.
    pub fn meta(&self) -> &RecordingMeta {
        &self.meta
    }

    /// Returns the contents after the last complete frame.
    pub fn tail(&self) -> &Tail {
        &self.tail
    }

    /// Returns the damaged parts that were skipped: frames are missing there. A frame whose columns are
    /// damaged is not among them, but an error of [`frame`](Self::frame).
    pub fn gaps(&self) -> &[Damage] {
        &self.gaps
    }

    /// Returns the number of a frame in the recording, which is higher than its index after a gap.
    pub fn number(&self, index: usize) -> Option<u64> {
        self.frames.get(index).map(|entry| entry.chunk.index)
    }

    /// Returns step and time in seconds of each frame, without reading their columns.
    pub fn times(&self) -> impl ExactSizeIterator<Item = (u64, f64)> + DoubleEndedIterator + '_ {
        self.frames.iter().map(|entry| (entry.chunk.step, entry.chunk.time_s))
    }

    /// Reads frame `index`, counted from 0, and verifies its checksums.
    ///
    /// # Errors
    /// [`Error::NoSuchFrame`], [`Error::Io`], or [`Error::Damaged`] with frame, column and offset.
    pub fn frame(&mut self, index: usize) -> Result<Frame> {
        let Some(&Entry { offset_bytes, chunk }) = self.frames.get(index) else {
            return Err(Error::NoSuchFrame { path: self.path.clone(), index, len: self.frames.len() });
        };
        let bytes = read_at(&mut self.file, offset_bytes, CHUNK_BYTES as u64 + chunk.body_bytes)
            .map_err(Error::io("read", &self.path))?;
        let damaged = |damage| Error::Damaged { path: self.path.clone(), damage };
        let place = format!("frame {}", chunk.index);
        let invalid = |problem: String| {
            damaged(Damage { place: place.clone(), offset_bytes, problem: Problem::Invalid(problem) })
        };

        let mut parser = Parser::new(&bytes, offset_bytes);
        // A frame found by the index alone has not been checked before.
        if parser.checked(&place).map_err(damaged)? != &chunk.to_bytes() {
            return Err(invalid("it is not the frame that the index lists".to_owned()));
        }
        let (mut columns, mut bodies) = (Vec::new(), Vec::new());
        for _ in 0..chunk.n_columns {
            let section = parser.section(&format!("{place}, column")).map_err(damaged)?;
            let column = column(&section).map_err(invalid)?;
            match column.name.strip_prefix(OF_BODIES) {
                Some(name) => bodies.push(Column { name: name.to_owned(), ..column }),
                None => columns.push(column),
            }
        }
        if parser.remaining() > 0 {
            return Err(invalid(format!("{} byte(s) follow its last column", parser.remaining())));
        }
        Frame::new(chunk.step, chunk.time_s, columns)
            .and_then(|frame| frame.with_bodies(bodies))
            .map_err(|error| invalid(error.to_string()))
    }
}

/// Parses the index at the beginning of `bytes`, the first of which is at `offset_bytes` in the file.
fn index(bytes: &[u8], offset_bytes: u64) -> std::result::Result<(Chunk, Section<'_>), Damage> {
    const PLACE: &str = "the index";
    let mut parser = Parser::new(bytes, offset_bytes);
    let chunk = Chunk::from_bytes(parser.checked(PLACE)?);
    let section = parser.section(PLACE)?;
    let invalid =
        |problem| Damage { place: PLACE.to_owned(), offset_bytes, problem: Problem::Invalid(problem) };
    if chunk.tag != INDEX_TAG || section.name != INDEX_NAME || chunk.body_bytes != section.len_bytes() {
        let (tag, name) = (chunk.tag.escape_ascii(), section.name);
        let (expected, found) = (chunk.body_bytes, section.len_bytes());
        return Err(invalid(format!(
            "expected INDX with a section \"index\" of {expected} bytes, found {tag} with {name:?} of {found}"
        )));
    }
    Ok((chunk, section))
}

fn column(section: &Section<'_>) -> std::result::Result<Column, String> {
    let of_column = |problem| format!("column {:?}: {problem}", section.name);
    let unpacked = |words| unpack(section.payload, words).map(Cow::Owned).map_err(of_column);
    let payload: Cow<'_, [u8]> = match section.kind {
        PayloadKind::PackedU32 | PayloadKind::PackedF32 => unpacked(1)?,
        PayloadKind::PackedVec3 => unpacked(3)?,
        _ => Cow::Borrowed(section.payload),
    };
    let payload: &[u8] = &payload;
    let (data, value_bytes) = match section.kind {
        PayloadKind::U32 | PayloadKind::PackedU32 => {
            (ColumnData::U32(bytemuck::allocation::pod_collect_to_vec(payload)), 4)
        }
        PayloadKind::F32 | PayloadKind::PackedF32 => {
            (ColumnData::F32(bytemuck::allocation::pod_collect_to_vec(payload)), 4)
        }
        PayloadKind::Vec3 | PayloadKind::PackedVec3 => {
            (ColumnData::Vec3(bytemuck::allocation::pod_collect_to_vec(payload)), 12)
        }
        PayloadKind::Bytes => return Err(format!("column {:?} holds raw bytes", section.name)),
    };
    if !payload.len().is_multiple_of(value_bytes) {
        let (name, n) = (section.name, payload.len());
        return Err(format!("column {name:?} has {n} bytes, expected a multiple of {value_bytes}"));
    }
    Ok(Column::new(section.name, section.unit, data))
}

/// Reads up to `n_bytes` from `offset_bytes` on; fewer at the end of the file. A corrupt length allocates no
/// more than the file's size.
fn read_at(file: &mut File, offset_bytes: u64, n_bytes: u64) -> io::Result<Vec<u8>> {
    let left = file.metadata()?.len().saturating_sub(offset_bytes);
    let mut bytes = Vec::with_capacity(n_bytes.min(left) as usize);
    file.seek(SeekFrom::Start(offset_bytes))?;
    file.take(n_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}
