//! Checksums of frazil's own formats (docs/formats.md), corrected after a mutation, so that it reaches what
//! is behind them.

use xxhash_rust::xxh3::xxh3_64;

const SECTION_BYTES: usize = 40;
const CHUNK_BYTES: usize = 48;
/// Bytes of magic and version.
const PRELUDE_BYTES: usize = 12;

/// Corrects the checksums of a recording or checkpoint as far as its structure is still there.
pub fn repair_hashes(bytes: &mut [u8]) {
    // The first block: the length of the metadata of a recording, or the state of a checkpoint.
    let first = match bytes.get(..8) {
        Some(b"FRZLREC\0") => 16,
        Some(b"FRZLCKPT") => 40,
        _ => return,
    };
    repair_block(bytes, PRELUDE_BYTES, first);
    for at in 0..bytes.len() {
        match bytes.get(at..at + 4) {
            Some(b"SECT") => repair_section(bytes, at),
            Some(b"FRAM" | b"INDX" | b"DONE") => repair_block(bytes, at, CHUNK_BYTES),
            _ => {}
        }
    }
    if first == 40
        && let Some(end) = bytes.len().checked_sub(8)
    {
        let hash = xxh3_64(&bytes[..end]);
        bytes[end..].copy_from_slice(&hash.to_le_bytes());
    }
}

/// Writes the checksum at the end of a block of `length` bytes.
fn repair_block(bytes: &mut [u8], at: usize, length: usize) {
    if let Some(block) = bytes.get_mut(at..at + length) {
        let (body, hash) = block.split_at_mut(length - 8);
        hash.copy_from_slice(&xxh3_64(body).to_le_bytes());
    }
}

fn repair_section(bytes: &mut [u8], at: usize) {
    let Some(header) = bytes.get(at..at + SECTION_BYTES) else { return };
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| header[at + i])) as usize;
    let names = word(8).saturating_add(word(12));
    let payload = u64::from_le_bytes(std::array::from_fn(|i| header[16 + i]));
    let payload = usize::try_from(payload).unwrap_or(usize::MAX);
    let begin = (at + SECTION_BYTES).saturating_add(names);
    let end = begin.saturating_add(payload);
    if let Some(payload) = bytes.get(begin..end) {
        let hash = xxh3_64(payload);
        bytes[at + 24..at + 32].copy_from_slice(&hash.to_le_bytes());
    }
    let Some(names) = bytes.get(at + SECTION_BYTES..begin) else { return };
    let hashed = [&bytes[at..at + 32], names].concat();
    bytes[at + 32..at + SECTION_BYTES].copy_from_slice(&xxh3_64(&hashed).to_le_bytes());
}
