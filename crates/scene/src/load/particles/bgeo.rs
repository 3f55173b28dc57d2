//! Reads particles from Houdini's classic binary geometry.

use super::columns::{Columns, used_array};

/// Reads points of Houdini's classic binary geometry, version 5, with attributes of numbers.
pub(super) fn read(bytes: &[u8]) -> Result<Columns, String> {
    let mut words = Words { bytes, at: 0 };
    if bytes.get(1..5) == Some(b"NSJb") || bytes.trim_ascii_start().starts_with(b"[") {
        return Err("BGEO of Houdini 12 or later, expected the classic format: save it as .bhclassic and \
                    rename it"
            .to_owned());
    }
    if words.take(5)? != b"BgeoV" {
        return Err("no classic BGEO: it does not begin with BgeoV".to_owned());
    }
    let version = words.u32()?;
    if version != 5 {
        return Err(format!("found version {version} of BGEO, expected 5"));
    }
    let n_points = words.u32()? as usize;
    // Primitives, groups of points, groups of primitives.
    words.take(12)?;
    let n_attributes = words.u32()? as usize;
    // Attributes of vertices, of primitives, of the whole.
    words.take(12)?;
    let mut attributes = Vec::new();
    for _ in 0..n_attributes {
        let name_bytes = usize::from(words.u16()?);
        let name = String::from_utf8_lossy(words.take(name_bytes)?).into_owned();
        let (size, kind) = (usize::from(words.u16()?), words.u32()?);
        // Floats, integers and vectors; an index refers to a list of strings.
        if ![0, 1, 5].contains(&kind) {
            return Err(format!("column {name}: found type {kind}, expected numbers (0, 1 or 5)"));
        }
        words.take(4 * size)?;
        attributes.push((name, size, kind == 1));
    }
    let record_words = 4 + attributes.iter().map(|(_, size, _)| size).sum::<usize>();
    let expected_bytes = n_points.checked_mul(4 * record_words).ok_or("absurdly many points")?;
    let records = words.take(expected_bytes)?;
    let numbers = |first: usize, size: usize, is_integer: bool| -> Vec<f64> {
        let mut found = Vec::with_capacity(n_points * size);
        for record in records.chunks_exact(4 * record_words) {
            for word in record[4 * first..4 * (first + size)].as_chunks::<4>().0 {
                found.push(match is_integer {
                    true => f64::from(i32::from_be_bytes(*word)),
                    false => f64::from(f32::from_be_bytes(*word)),
                });
            }
        }
        found
    };
    let mut columns = Columns::default();
    columns.append("position", 3, &numbers(0, 3, false));
    let mut first = 4;
    for (name, size, is_integer) in attributes {
        if let Some(name) = used_array(&name).filter(|name| name != "position") {
            columns.append(&name, size, &numbers(first, size, is_integer));
        }
        first += size;
    }
    Ok(columns)
}

/// Big-endian words of a file.
struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(n).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| format!("truncated at byte {}", self.bytes.len()))?;
        let found = &self.bytes[self.at..end];
        self.at = end;
        Ok(found)
    }

    fn u32(&mut self) -> Result<u32, String> {
        Ok(u32::from_be_bytes(self.take(4)?.try_into().map_err(|_| "truncated")?))
    }

    fn u16(&mut self) -> Result<u16, String> {
        Ok(u16::from_be_bytes(self.take(2)?.try_into().map_err(|_| "truncated")?))
    }
}
