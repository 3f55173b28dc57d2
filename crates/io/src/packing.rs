//! Lossless packing of columns in recordings, by bytes of equal significance.
//!
//! Neighbours in the particle order are near one another, so the high bytes of their values are similar,
//! while the low bytes are incompressible noise. Stored side by side, the high bytes compress to almost
//! nothing.

use std::io::{self, Read};

use crate::section::u64_at;

const LENGTH_BYTES: usize = 8;
const WORD_BYTES: usize = 4;

/// Higher levels gain one or two percent, and take several times as long as the disk.
const LEVEL: i32 = 1;

/// Packs values of `words` 32-bit words each. The length must be a multiple of a value's.
pub(crate) fn pack(values: &[u8], words: usize) -> io::Result<Vec<u8>> {
    let mut packed = (values.len() as u64).to_le_bytes().to_vec();
    packed.extend(zstd::bulk::compress(&to_planes(values, words), LEVEL)?);
    Ok(packed)
}

/// Unpacks what [`pack`] has packed, or returns what is wrong with it.
pub(crate) fn unpack(packed: &[u8], words: usize) -> Result<Vec<u8>, String> {
    let Some(stream) = packed.get(LENGTH_BYTES..) else {
        return Err(format!("expected {LENGTH_BYTES} bytes of length, found {}", packed.len()));
    };
    let expected = u64_at(packed, 0);
    // Read to one byte past the end, so that neither a corrupt length nor a corrupt stream allocates too much
    // memory.
    let mut planes = Vec::new();
    zstd::stream::read::Decoder::new(stream)
        .and_then(|decoder| decoder.take(expected.saturating_add(1)).read_to_end(&mut planes))
        .map_err(|cause| format!("cannot unpack it: {cause}"))?;
    if planes.len() as u64 != expected || planes.len() % (WORD_BYTES * words) != 0 {
        let found = planes.len();
        return Err(format!(
            "expected {expected} byte(s) unpacked, a multiple of {}, found {found}",
            WORD_BYTES * words
        ));
    }
    Ok(from_planes(&planes, words))
}

/// Transposes values component by component and byte by byte: first the lowest bytes of all first components.
fn to_planes(values: &[u8], words: usize) -> Vec<u8> {
    let stride = WORD_BYTES * words;
    let n = values.len() / stride;
    let mut planes = vec![0; values.len()];
    for (i, value) in values.chunks_exact(stride).enumerate() {
        for (byte, &of_value) in value.iter().enumerate() {
            planes[byte * n + i] = of_value;
        }
    }
    planes
}

fn from_planes(planes: &[u8], words: usize) -> Vec<u8> {
    let stride = WORD_BYTES * words;
    let n = planes.len() / stride;
    let mut values = vec![0; planes.len()];
    for (i, value) in values.chunks_exact_mut(stride).enumerate() {
        for (byte, of_value) in value.iter_mut().enumerate() {
            *of_value = planes[byte * n + i];
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_values_round_trip() {
        for words in [1, 3] {
            for n in [0, 1, 2, 1000] {
                let values: Vec<u8> = (0..4 * words * n).map(|i| (i * i % 251) as u8).collect();
                let packed = pack(&values, words).unwrap();
                assert_eq!(unpack(&packed, words).unwrap(), values, "{n} values of {words} word(s)");
            }
        }
    }

    #[test]
    fn a_constant_component_takes_no_bytes() {
        let positions: Vec<[f32; 3]> =
            (0..10_000).map(|i| [(i as f32).sin(), (i as f32).cos(), 0.0]).collect();
        let two: Vec<[f32; 2]> = positions.iter().map(|[x, y, _]| [*x, *y]).collect();
        let [three, two] =
            [(bytemuck::cast_slice(&positions), 3), (bytemuck::cast_slice(&two), 2)].map(|(bytes, words)| {
                let bytes: &[u8] = bytes;
                pack(bytes, words).unwrap().len()
            });
        assert!(three < two + 64, "{three} bytes in space, {two} in the plane");
    }

    #[test]
    fn bytes_that_are_not_packed_values_are_refused() {
        let packed = pack(&[7; 24], 1).unwrap();
        let refuse = |bytes: &[u8], words, said: &str| {
            let error = unpack(bytes, words).unwrap_err();
            assert!(error.contains(said), "{error}");
        };
        refuse(&packed[..4], 1, "8 bytes of length");
        refuse(&packed[..packed.len() - 1], 1, "unpack");
        refuse(&packed, 4, "a multiple of 16");
        let mut longer = packed.clone();
        longer[0] = 20;
        refuse(&longer, 1, "expected 20 byte(s)");
        longer[7] = 0xff;
        refuse(&longer, 1, "found 24");
    }
}
