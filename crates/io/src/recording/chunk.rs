//! The parts of a recording after its head, and the index of its frames.

use xxhash_rust::xxh3::xxh3_64;

use crate::section::{u32_at, u64_at};

pub(super) const CHUNK_BYTES: usize = 48;
pub(super) const FRAME_TAG: [u8; 4] = *b"FRAM";
pub(super) const INDEX_TAG: [u8; 4] = *b"INDX";
pub(super) const END_TAG: [u8; 4] = *b"DONE";
pub(super) const INDEX_NAME: &str = "index";
const ENTRY_BYTES: usize = 36;

/// Fixed-size block before a frame's columns or the index, or at the end of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk {
    pub tag: [u8; 4],
    pub n_columns: u32,
    /// Index of the frame; in the index and the end mark the number of frames.
    pub index: u64,
    /// In the end mark the offset of the index in bytes; 0 where there is none.
    pub step: u64,
    pub time_s: f64,
    pub body_bytes: u64,
}

/// A frame and the offset of its chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub offset_bytes: u64,
    pub chunk: Chunk,
}

impl Chunk {
    pub fn to_bytes(self) -> [u8; CHUNK_BYTES] {
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

    pub fn from_bytes(bytes: &[u8; CHUNK_BYTES]) -> Self {
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

impl Entry {
    /// Returns the offset of the next chunk.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes + CHUNK_BYTES as u64 + self.chunk.body_bytes
    }
}

/// Returns the payload of the index.
pub(super) fn index_to_bytes(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ENTRY_BYTES * entries.len());
    for Entry { offset_bytes, chunk } in entries {
        for word in [*offset_bytes, chunk.step, chunk.time_s.to_bits(), chunk.body_bytes] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(chunk.n_columns.to_le_bytes());
    }
    bytes
}

/// Returns the frames that an index lists, if they fill the file from `begin_bytes` to `end_bytes` without a
/// gap.
pub(super) fn index_from_bytes(bytes: &[u8], begin_bytes: u64, end_bytes: u64) -> Option<Vec<Entry>> {
    let entry = |(i, bytes): (usize, &[u8])| Entry {
        offset_bytes: u64_at(bytes, 0),
        chunk: Chunk {
            tag: FRAME_TAG,
            n_columns: u32_at(bytes, 32),
            index: i as u64,
            step: u64_at(bytes, 8),
            time_s: f64::from_bits(u64_at(bytes, 16)),
            body_bytes: u64_at(bytes, 24),
        },
    };
    let entries: Vec<Entry> = bytes.chunks_exact(ENTRY_BYTES).enumerate().map(entry).collect();
    let mut at_bytes = begin_bytes;
    for Entry { offset_bytes, chunk } in &entries {
        if *offset_bytes != at_bytes {
            return None;
        }
        at_bytes = at_bytes.checked_add(CHUNK_BYTES as u64)?.checked_add(chunk.body_bytes)?;
    }
    (bytes.len().is_multiple_of(ENTRY_BYTES) && at_bytes == end_bytes).then_some(entries)
}
