//! Checksummed section of which recordings and checkpoints consist. `docs/formats.md` gives the layout.

use std::io::{self, Write};
use std::path::Path;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{Damage, Error, Problem};

const TAG: [u8; 4] = *b"SECT";
const HEADER_BYTES: usize = 40;

/// Type of a section's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum PayloadKind {
    Bytes = 0,
    U32 = 1,
    F32 = 2,
    Vec3 = 3,
    PackedU32 = 5,
    PackedF32 = 6,
    PackedVec3 = 7,
}

impl PayloadKind {
    const ALL: [Self; 7] =
        [Self::Bytes, Self::U32, Self::F32, Self::Vec3, Self::PackedU32, Self::PackedF32, Self::PackedVec3];

    fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u32 == code)
    }
}

/// Section as stored in a file; borrows from the bytes it was parsed from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Section<'a> {
    pub kind: PayloadKind,
    pub name: &'a str,
    pub unit: &'a str,
    pub payload: &'a [u8],
}

impl Section<'_> {
    /// Returns the number of bytes that [`Section::write`] writes.
    pub fn len_bytes(&self) -> u64 {
        (HEADER_BYTES + self.name.len() + self.unit.len() + self.payload.len()) as u64
    }

    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut header = [0_u8; HEADER_BYTES];
        header[0..4].copy_from_slice(&TAG);
        header[4..8].copy_from_slice(&(self.kind as u32).to_le_bytes());
        header[8..12].copy_from_slice(&length_u32(self.name)?.to_le_bytes());
        header[12..16].copy_from_slice(&length_u32(self.unit)?.to_le_bytes());
        header[16..24].copy_from_slice(&(self.payload.len() as u64).to_le_bytes());
        header[24..32].copy_from_slice(&xxh3_64(self.payload).to_le_bytes());
        let hash = header_hash(&header[..32], self.name.as_bytes(), self.unit.as_bytes());
        header[32..40].copy_from_slice(&hash.to_le_bytes());
        out.write_all(&header)?;
        out.write_all(self.name.as_bytes())?;
        out.write_all(self.unit.as_bytes())?;
        out.write_all(self.payload)
    }
}

fn length_u32(text: &str) -> io::Result<u32> {
    u32::try_from(text.len())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a section name longer than 4 GiB"))
}

fn header_hash(fixed: &[u8], name: &[u8], unit: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    for part in [fixed, name, unit] {
        hasher.update(part);
    }
    hasher.digest()
}

/// Parser of the bytes of a file, or of a part of it, that tracks the offset in the file.
pub(crate) struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    base_bytes: u64,
}

impl<'a> Parser<'a> {
    /// Makes a parser of `bytes`, the first of which is at `base_bytes` in the file.
    pub fn new(bytes: &'a [u8], base_bytes: u64) -> Self {
        Self { bytes, at: 0, base_bytes }
    }

    /// Returns the offset of the next byte in the file.
    pub fn offset_bytes(&self) -> u64 {
        self.base_bytes + self.at as u64
    }

    /// Returns the number of bytes not parsed yet.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Returns the next `N` bytes, the last eight of which are the xxh3-64 of those before them.
    pub fn checked<const N: usize>(&mut self, place: &str) -> Result<&'a [u8; N], Damage> {
        let offset_bytes = self.offset_bytes();
        let damaged = |problem| Damage { place: place.to_owned(), offset_bytes, problem };
        let block = self.take(N as u64).map_err(damaged)?;
        check_hash(u64_at(block, N - 8), xxh3_64(&block[..N - 8])).map_err(damaged)?;
        Ok(block.try_into().expect("take returned N bytes"))
    }

    /// Parses the next eight bytes, the xxh3-64 of `bytes`.
    pub fn hash_of(&mut self, place: &str, bytes: &[u8]) -> Result<(), Damage> {
        let offset_bytes = self.offset_bytes();
        let checked = self.take(8).and_then(|block| check_hash(u64_at(block, 0), xxh3_64(bytes)));
        checked.map_err(|problem| Damage { place: place.to_owned(), offset_bytes, problem })
    }

    /// Parses the next section. `place` is its name in an error, extended by the section's name once that is
    /// verified.
    pub fn section(&mut self, place: &str) -> Result<Section<'a>, Damage> {
        let offset_bytes = self.offset_bytes();
        let mut place = place.to_owned();
        self.section_parts(&mut place).map_err(|problem| Damage { place, offset_bytes, problem })
    }

    fn section_parts(&mut self, place: &mut String) -> Result<Section<'a>, Problem> {
        let header = self.take(HEADER_BYTES as u64)?;
        let name = self.take(u32_at(header, 8).into())?;
        let unit = self.take(u32_at(header, 12).into())?;
        check_hash(u64_at(header, 32), header_hash(&header[..32], name, unit))?;
        let name = text(name)?;
        place.push_str(&format!(" {name:?}"));
        if header[..4] != TAG {
            return Err(Problem::Invalid(format!("expected the tag \"SECT\", found {:?}", &header[..4])));
        }
        let kind = PayloadKind::from_code(u32_at(header, 4)).ok_or_else(|| {
            Problem::Invalid(format!(
                "expected a payload kind from 0 to 3 or 5 to 7, found {}",
                u32_at(header, 4)
            ))
        })?;
        let payload = self.take(u64_at(header, 16))?;
        check_hash(u64_at(header, 24), xxh3_64(payload))?;
        Ok(Section { kind, name, unit: text(unit)?, payload })
    }

    fn take(&mut self, n_bytes: u64) -> Result<&'a [u8], Problem> {
        let found_bytes = self.remaining() as u64;
        if n_bytes > found_bytes {
            return Err(Problem::Truncated { expected_bytes: n_bytes, found_bytes });
        }
        let start = self.at;
        self.at += n_bytes as usize;
        Ok(&self.bytes[start..self.at])
    }
}

fn check_hash(expected: u64, found: u64) -> Result<(), Problem> {
    if expected == found { Ok(()) } else { Err(Problem::Checksum { expected, found }) }
}

fn text(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes)
        .map_err(|error| Problem::Invalid(format!("name or unit is not UTF-8: {error}")))
}

/// Returns the little-endian `u32` at byte `at` of a block that is long enough.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

/// Returns the little-endian `u64` at byte `at` of a block that is long enough.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

/// Bytes of the magic and the version at the start of every frazil file.
pub(crate) const PRELUDE_BYTES: usize = 12;

/// Kind of file: its name, its first bytes, the version this build writes and the oldest that it reads.
pub(crate) struct FileKind {
    pub name: &'static str,
    pub magic: &'static [u8; 8],
    pub version: u32,
    pub oldest: u32,
}

impl FileKind {
    pub fn prelude(&self) -> [u8; PRELUDE_BYTES] {
        let mut prelude = [0; PRELUDE_BYTES];
        prelude[..8].copy_from_slice(self.magic);
        prelude[8..].copy_from_slice(&self.version.to_le_bytes());
        prelude
    }

    /// Checks the first bytes of a file, of which there may be fewer than [`PRELUDE_BYTES`], and returns its
    /// version.
    pub fn check_prelude(&self, path: &Path, bytes: &[u8]) -> Result<u32, Error> {
        let found = &bytes[..bytes.len().min(8)];
        if found != &self.magic[..found.len()] {
            return Err(Error::WrongKind {
                kind: self.name,
                path: path.to_owned(),
                expected: self.magic.escape_ascii().to_string(),
                found: found.escape_ascii().to_string(),
            });
        }
        if bytes.len() < PRELUDE_BYTES {
            let (expected_bytes, found_bytes) = (PRELUDE_BYTES as u64, bytes.len() as u64);
            let problem = Problem::Truncated { expected_bytes, found_bytes };
            let damage = Damage { place: "magic and version".to_owned(), offset_bytes: 0, problem };
            return Err(Error::Damaged { path: path.to_owned(), damage });
        }
        match u32_at(bytes, 8) {
            found if (self.oldest..=self.version).contains(&found) => Ok(found),
            found => {
                let (kind, path) = (self.name, path.to_owned());
                Err(Error::Version { kind, path, oldest: self.oldest, expected: self.version, found })
            }
        }
    }
}
