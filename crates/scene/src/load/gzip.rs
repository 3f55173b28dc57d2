//! Decompresses files that programs compress by gzip without saying so in their names.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::loaded::MAX_FILE_BYTES;

/// First bytes of a gzip file.
const SIGNATURE: &[u8] = &[0x1f, 0x8b];

/// Returns the decompressed contents of a gzip file, and those of any other file as they are. The error
/// describes the problem.
pub(crate) fn uncompressed(bytes: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    if !bytes.starts_with(SIGNATURE) {
        return Ok(bytes.into());
    }
    let mut found = Vec::new();
    MultiGzDecoder::new(bytes)
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut found)
        .map_err(|_| "damaged gzip data, or a part of a gzip file".to_owned())?;
    if found.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("more than {MAX_FILE_BYTES} bytes after decompression"));
    }
    Ok(found.into())
}
