//! Reads particles from VTK's XML files of unstructured grids and of polygons.
//!
//! Arrays may be text, base64 within their elements, or appended to the file as base64 or as bytes;
//! uncompressed, or compressed in blocks by zlib, LZ4 or LZMA. Points of all pieces are read.

use std::io::Read;
use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine};
use flate2::read::ZlibDecoder;
use lzma_rust2::XzReader;
use roxmltree::Node;

use super::columns::{Columns, TEMPERATURE, used_array};
use crate::format::text::number_token;
use crate::load::gzip::uncompressed;
use crate::loaded::{MAX_FILE_BYTES, read_bounded};

/// Reads points, velocities and temperatures.
pub(super) fn read(bytes: &[u8]) -> Result<Columns, String> {
    let mut pieces = Pieces::default();
    pieces.add(bytes)?;
    pieces.finish()
}

/// Reads those of all files that a parallel file (`.pvtu`, `.pvtp`) in `folder` names.
pub(super) fn read_parallel(folder: &Path, bytes: &[u8]) -> Result<Columns, String> {
    let (head, _) = split_appended(bytes)?;
    let document = parse(&head)?;
    let mut pieces = Pieces::default();
    let sources = document.descendants().filter(|node| node.has_tag_name("Piece"));
    for (idx, source) in sources.filter_map(|piece| piece.attribute("Source")).enumerate() {
        let of_piece = |problem| format!("file {} of its pieces: {problem}", idx + 1);
        let bytes = read_bounded(&folder.join(source)).map_err(of_piece)?;
        pieces.add(&uncompressed(&bytes)?).map_err(of_piece)?;
    }
    pieces.finish()
}

fn parse(text: &str) -> Result<roxmltree::Document<'_>, String> {
    let document = roxmltree::Document::parse(text)
        .map_err(|cause| format!("no valid VTU: line {}: expected XML of VTK", cause.pos().row))?;
    if !document.root_element().has_tag_name("VTKFile") {
        return Err("no valid VTU: expected XML of VTK, whose first element is VTKFile".to_owned());
    }
    Ok(document)
}

/// Points of all pieces so far, of one file or of several.
#[derive(Default)]
struct Pieces {
    columns: Columns,
    n: usize,
    has_points: bool,
    /// Number of points that have each of the other columns.
    counts: Vec<(String, usize)>,
}

impl Pieces {
    /// Adds the pieces of a file.
    fn add(&mut self, bytes: &[u8]) -> Result<(), String> {
        let (head, appended) = split_appended(bytes)?;
        let document = parse(&head)?;
        let layout = Layout::of(document.root_element())?;
        for piece in document.descendants().filter(|node| node.has_tag_name("Piece")) {
            let child = |name: &str| piece.children().find(|node| node.has_tag_name(name));
            let array =
                child("Points").map(|points| points.children().find(|node| node.has_tag_name("DataArray")));
            let Some(Some(array)) = array else {
                // Pieces without points may have no array.
                if piece.attribute("NumberOfPoints") == Some("0") {
                    continue;
                }
                return Err("a piece of a VTU without Points, or Points without a DataArray".to_owned());
            };
            self.has_points = true;
            let numbers = layout.numbers(array, appended.as_ref())?;
            if numbers.len() % 3 != 0 {
                return Err(format!(
                    "column Points: found {} numbers, expected three per point",
                    numbers.len()
                ));
            }
            self.columns.append("position", 3, &numbers);
            let n_piece = numbers.len() / 3;
            self.n += n_piece;
            let arrays = child("PointData").into_iter().flat_map(|data| data.children());
            for array in arrays.filter(|node| node.has_tag_name("DataArray")) {
                let Some(name) = array.attribute("Name").and_then(used_array) else { continue };
                let numbers = layout.numbers(array, appended.as_ref())?;
                let n_components = if name == TEMPERATURE { 1 } else { 3 };
                if numbers.len() != n_piece * n_components {
                    let (found, expected) = (numbers.len(), n_piece * n_components);
                    return Err(format!("column {name}: found {found} numbers, expected {expected}"));
                }
                self.columns.append(&name, n_components, &numbers);
                match self.counts.iter_mut().find(|(other, _)| *other == name) {
                    Some((_, count)) => *count += n_piece,
                    None => self.counts.push((name, n_piece)),
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Columns, String> {
        let Self { columns, n, has_points, counts } = self;
        if !has_points {
            return Err("a VTU without Points".to_owned());
        }
        match counts.into_iter().find(|(_, count)| *count != n) {
            Some((name, count)) => Err(format!("column {name}: found that of {count} points, expected {n}")),
            None => Ok(columns),
        }
    }
}

/// The bytes after the underscore of an `AppendedData` element.
struct Appended<'a> {
    bytes: &'a [u8],
    is_raw: bool,
}

/// Returns the XML of a file without its appended data, and that data: it need not be text.
fn split_appended(bytes: &[u8]) -> Result<(String, Option<Appended<'_>>), String> {
    let find = |from: usize, pattern: &[u8]| {
        bytes[from..].windows(pattern.len()).position(|window| window == pattern).map(|at| from + at)
    };
    let text = |bytes: &[u8]| {
        std::str::from_utf8(bytes)
            .map(str::to_owned)
            .map_err(|error| format!("no valid VTU: byte {} is not UTF-8", error.valid_up_to()))
    };
    let Some(begin) = find(0, b"<AppendedData") else { return Ok((text(bytes)?, None)) };
    let problem = || "no valid VTU: AppendedData that does not begin with an underscore".to_owned();
    let end_of_tag = find(begin, b">").ok_or_else(problem)?;
    let first = find(end_of_tag, b"_").ok_or_else(problem)? + 1;
    let tag = text(&bytes[begin..end_of_tag])?;
    let data = match tag.contains("raw") {
        true => &bytes[first..],
        // The next element's bracket ends the text.
        false => &bytes[first..find(first, b"<").unwrap_or(bytes.len())],
    };
    let head = text(&bytes[..begin])? + "</VTKFile>";
    Ok((head, Some(Appended { bytes: data, is_raw: tag.contains("raw") })))
}

/// Compressor of blocks.
#[derive(Clone, Copy)]
enum Compressor {
    Zlib,
    Lz4,
    /// In the container xz.
    Lzma,
}

/// Maximum memory in KiB that decompressing a block by LZMA takes. VTK's presets take up to 65 MiB.
const MAX_LZMA_KIB: u32 = 128 << 10;

/// Layout of binary arrays, which holds for the whole file.
struct Layout {
    compressor: Option<Compressor>,
    is_big_endian: bool,
    header_bytes: usize,
}

impl Layout {
    fn of(root: Node<'_, '_>) -> Result<Self, String> {
        let compressor = match root.attribute("compressor") {
            None | Some("") => None,
            Some("vtkZLibDataCompressor") => Some(Compressor::Zlib),
            Some("vtkLZ4DataCompressor") => Some(Compressor::Lz4),
            Some("vtkLZMADataCompressor") => Some(Compressor::Lzma),
            Some(_) => {
                return Err(
                    "arrays compressed by another method, expected zlib, LZ4, LZMA or none".to_owned()
                );
            }
        };
        let header_bytes = if root.attribute("header_type") == Some("UInt64") { 8 } else { 4 };
        Ok(Self {
            compressor,
            is_big_endian: root.attribute("byte_order") == Some("BigEndian"),
            header_bytes,
        })
    }

    fn numbers(&self, array: Node<'_, '_>, appended: Option<&Appended<'_>>) -> Result<Vec<f64>, String> {
        let name = array.attribute("Name").unwrap_or("Points");
        let refuse = |problem: String| format!("column {name}: {problem}");
        let text = || array.children().filter_map(|child| child.text()).next().unwrap_or_default();
        let data = match array.attribute("format") {
            Some("ascii") => {
                let number = |word: &str| {
                    let found = || refuse(format!("found {}, expected a number", number_token(word)));
                    word.parse().map_err(|_| found())
                };
                return text().split_whitespace().map(number).collect();
            }
            Some("binary") => self.data(&mut Stream::base64(text().as_bytes())),
            Some("appended") => {
                let appended = appended.ok_or_else(|| refuse("no AppendedData in the file".to_owned()))?;
                let offset = array.attribute("offset").and_then(|offset| offset.parse::<usize>().ok());
                let bytes = offset.and_then(|offset| appended.bytes.get(offset..));
                let bytes = bytes.ok_or_else(|| refuse("an offset beyond the AppendedData".to_owned()))?;
                self.data(&mut if appended.is_raw { Stream::raw(bytes) } else { Stream::base64(bytes) })
            }
            _ => Err("found another format, expected ascii, binary or appended".to_owned()),
        };
        let data = data.map_err(refuse)?;
        match array.attribute("type") {
            Some("Float32") => {
                Ok(words(&data, self.is_big_endian).map(|word| f32::from_le_bytes(word).into()).collect())
            }
            Some("Float64") => Ok(words(&data, self.is_big_endian).map(f64::from_le_bytes).collect()),
            _ => Err(refuse("found another type, expected Float32 or Float64".to_owned())),
        }
    }

    /// Reads the bytes of an array behind their header: their number, or if they are compressed the number of
    /// blocks, the sizes of a block and of the last, if it is another, and the compressed size of each.
    fn data(&self, stream: &mut Stream<'_>) -> Result<Vec<u8>, String> {
        let Some(compressor) = self.compressor else {
            let n = self.size(stream)?;
            return stream.take(n);
        };
        let n_blocks = self.size(stream)?;
        let (block, last) = (self.size(stream)?, self.size(stream)?);
        // Each compressed size takes bytes of the file.
        let sizes = (0..n_blocks).map(|_| self.size(stream)).collect::<Result<Vec<_>, _>>()?;
        let mut data = Vec::new();
        for (idx, size) in sizes.into_iter().enumerate() {
            let expected = if idx + 1 == n_blocks && last > 0 { last } else { block };
            if data.len().saturating_add(expected) as u64 > MAX_FILE_BYTES {
                return Err(format!("more than {MAX_FILE_BYTES} bytes after decompression"));
            }
            let begin = data.len();
            let compressed = stream.take(size)?;
            match compressor {
                Compressor::Zlib => {
                    let found = ZlibDecoder::new(&*compressed).take(expected as u64).read_to_end(&mut data);
                    found.map_err(|_| "damaged zlib data".to_owned())?;
                }
                Compressor::Lzma => {
                    let reader = XzReader::new_mem_limit(&*compressed, false, MAX_LZMA_KIB);
                    let found = reader.take(expected as u64).read_to_end(&mut data);
                    found.map_err(|_| "damaged LZMA data".to_owned())?;
                }
                Compressor::Lz4 => {
                    // The format compresses to a 255th at best.
                    if expected / 256 > size {
                        return Err("damaged LZ4 data".to_owned());
                    }
                    let found = lz4_flex::block::decompress(&compressed, expected);
                    data.extend(found.map_err(|_| "damaged LZ4 data".to_owned())?);
                }
            }
            if data.len() - begin != expected {
                return Err(format!("a block of {} bytes, expected {expected}", data.len() - begin));
            }
        }
        Ok(data)
    }

    /// Reads a number of a header.
    fn size(&self, stream: &mut Stream<'_>) -> Result<usize, String> {
        let bytes = stream.take(self.header_bytes)?;
        let mut word = [0; 8];
        if self.is_big_endian {
            word[8 - bytes.len()..].copy_from_slice(&bytes);
            word.reverse();
        } else {
            word[..bytes.len()].copy_from_slice(&bytes);
        }
        usize::try_from(u64::from_le_bytes(word)).map_err(|_| "an absurd size of data".to_owned())
    }
}

/// Splits bytes into little-endian words.
fn words<const N: usize>(data: &[u8], is_big_endian: bool) -> impl Iterator<Item = [u8; N]> {
    data.as_chunks::<N>().0.iter().map(move |word| {
        let mut word = *word;
        if is_big_endian {
            word.reverse();
        }
        word
    })
}

/// Bytes of an array, as they are or as base64.
///
/// Programs encode header and data together or each by itself; in that case padding ends the first.
struct Stream<'a> {
    bytes: &'a [u8],
    at: usize,
    is_base64: bool,
    /// Decoded bytes of a group that were not taken yet.
    left: Vec<u8>,
}

impl<'a> Stream<'a> {
    fn raw(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, is_base64: false, left: Vec::new() }
    }

    fn base64(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, is_base64: true, left: Vec::new() }
    }

    fn take(&mut self, n: usize) -> Result<Vec<u8>, String> {
        let ends = || "the data ends before all numbers are read".to_owned();
        if !self.is_base64 {
            let end = self.at.checked_add(n).filter(|end| *end <= self.bytes.len()).ok_or_else(ends)?;
            let found = self.bytes[self.at..end].to_vec();
            self.at = end;
            return Ok(found);
        }
        let mut found = std::mem::take(&mut self.left);
        while found.len() < n {
            let mut group = [0; 4];
            let mut n_group = 0;
            while n_group < 4 {
                let byte = *self.bytes.get(self.at).ok_or_else(ends)?;
                self.at += 1;
                if !byte.is_ascii_whitespace() {
                    group[n_group] = byte;
                    n_group += 1;
                }
            }
            let mut decoded = [0; 3];
            let n_decoded = BASE64_STANDARD
                .decode_slice(group, &mut decoded)
                .map_err(|_| format!("no valid base64 at character {}", self.at - 4))?;
            found.extend(&decoded[..n_decoded]);
        }
        self.left = found.split_off(n);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use lzma_rust2::{XzOptions, XzWriter};

    use super::*;

    /// Points and temperatures of a test's file.
    const POINTS: [f32; 12] = [0.5, 1.0, -2.0, 1.5, 1e-3, 3.0, 7.0, 8.0, 9.0, 1.0, 2.0, 4.0];
    const TEMPERATURES: [f32; 4] = [-1.0, -2.5, -3.0, -4.0];

    /// Ways in which programs write arrays.
    #[derive(Clone, Copy, Debug)]
    struct Way {
        compressor: &'static str,
        header_type: &'static str,
        is_big_endian: bool,
        is_split: bool,
        /// `inline`, `base64` or `raw`.
        place: &'static str,
    }

    impl Way {
        fn word(&self, x: usize) -> Vec<u8> {
            let mut word = match self.header_type {
                "UInt64" => (x as u64).to_le_bytes().to_vec(),
                _ => (x as u32).to_le_bytes().to_vec(),
            };
            if self.is_big_endian {
                word.reverse();
            }
            word
        }

        /// Returns the encoded array. Blocks have 20 bytes.
        fn array(&self, numbers: &[f32]) -> Vec<u8> {
            let data: Vec<u8> = numbers
                .iter()
                .flat_map(|x| if self.is_big_endian { x.to_be_bytes() } else { x.to_le_bytes() })
                .collect();
            let (header, data) = if self.compressor.is_empty() {
                (self.word(data.len()), data)
            } else {
                let blocks: Vec<Vec<u8>> = data
                    .chunks(20)
                    .map(|block| match self.compressor {
                        "vtkLZ4DataCompressor" => lz4_flex::block::compress(block),
                        "vtkLZMADataCompressor" => {
                            let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(6)).unwrap();
                            writer.write_all(block).unwrap();
                            writer.finish().unwrap()
                        }
                        _ => {
                            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                            encoder.write_all(block).unwrap();
                            encoder.finish().unwrap()
                        }
                    })
                    .collect();
                let sizes = [blocks.len(), 20, data.len() % 20];
                let header = sizes.into_iter().chain(blocks.iter().map(Vec::len));
                (header.flat_map(|x| self.word(x)).collect(), blocks.concat())
            };
            match (self.place, self.is_split) {
                ("raw", _) => [header, data].concat(),
                (_, true) => (BASE64_STANDARD.encode(header) + &BASE64_STANDARD.encode(data)).into_bytes(),
                _ => BASE64_STANDARD.encode([header, data].concat()).into_bytes(),
            }
        }

        fn file(&self) -> Vec<u8> {
            let (mut text, mut appended) = (Vec::new(), Vec::new());
            let endian = if self.is_big_endian { "BigEndian" } else { "LittleEndian" };
            let compressor = match self.compressor {
                "" => String::new(),
                name => format!(" compressor=\"{name}\""),
            };
            write!(
                text,
                "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" byte_order=\"{endian}\" \
                 header_type=\"{}\"{compressor}><UnstructuredGrid>",
                self.header_type
            )
            .unwrap();
            let mut array = |text: &mut Vec<u8>, name: &str, numbers: &[f32]| {
                let data = self.array(numbers);
                write!(text, "<DataArray type=\"Float32\" Name=\"{name}\" ").unwrap();
                if self.place == "inline" {
                    text.extend(b"format=\"binary\">\n  ");
                    text.extend(data);
                    text.extend(b"\n</DataArray>");
                } else {
                    write!(text, "format=\"appended\" offset=\"{}\"/>", appended.len()).unwrap();
                    appended.extend(data);
                }
            };
            for piece in [0, 2] {
                text.extend(b"<Piece NumberOfPoints=\"2\"><PointData>");
                array(&mut text, "Temperature", &TEMPERATURES[piece..piece + 2]);
                text.extend(b"</PointData><Points>");
                array(&mut text, "Points", &POINTS[3 * piece..3 * piece + 6]);
                text.extend(b"</Points></Piece>");
            }
            text.extend(b"<Piece NumberOfPoints=\"0\"><Points/></Piece></UnstructuredGrid>");
            if self.place != "inline" {
                write!(text, "<AppendedData encoding=\"{}\">\n _", self.place).unwrap();
                text.extend(appended);
                text.extend(b"\n</AppendedData>");
            }
            text.extend(b"</VTKFile>");
            text
        }
    }

    #[test]
    fn all_points_are_read_however_they_are_written() {
        for compressor in ["", "vtkZLibDataCompressor", "vtkLZ4DataCompressor", "vtkLZMADataCompressor"] {
            for (header_type, is_big_endian) in [("UInt32", false), ("UInt64", false), ("UInt32", true)] {
                for (place, is_split) in
                    [("inline", false), ("inline", true), ("base64", false), ("base64", true), ("raw", false)]
                {
                    let way = Way { compressor, header_type, is_big_endian, is_split, place };
                    let cloud = read(&way.file()).and_then(|columns| columns.cloud(None));
                    let cloud = cloud.unwrap_or_else(|problem| panic!("{way:?}: {problem}"));
                    let positions: Vec<f64> = cloud.positions.concat();
                    assert_eq!(positions, POINTS.map(f64::from), "{way:?}");
                    assert_eq!(cloud.temperatures_c, Some(TEMPERATURES.map(f64::from).to_vec()), "{way:?}");
                }
            }
        }
    }

    #[test]
    fn files_of_a_parallel_file_are_read_in_turn() {
        let folder = tempfile::tempdir().unwrap();
        let way = Way {
            compressor: "",
            header_type: "UInt64",
            is_big_endian: false,
            is_split: false,
            place: "inline",
        };
        std::fs::write(folder.path().join("a_0.vtu"), way.file()).unwrap();
        let list = |second: &str| {
            format!(
                "<VTKFile type=\"PUnstructuredGrid\"><PUnstructuredGrid><PPoints/><Piece \
                 Source=\"a_0.vtu\"/><Piece Source=\"{second}\"/></PUnstructuredGrid></VTKFile>"
            )
        };
        let both = read_parallel(folder.path(), list("a_0.vtu").as_bytes()).unwrap().cloud(None).unwrap();
        assert_eq!(
            both.positions.concat(),
            [POINTS, POINTS].concat().iter().map(|x| f64::from(*x)).collect::<Vec<_>>()
        );
        let problem = read_parallel(folder.path(), list("secret.vtu").as_bytes()).err().unwrap();
        assert!(problem.starts_with("file 2 of its pieces: ") && !problem.contains("secret"), "{problem}");
        // A list within a list is no file of points.
        std::fs::write(folder.path().join("b.pvtu"), list("b.pvtu")).unwrap();
        assert!(read_parallel(folder.path(), list("b.pvtu").as_bytes()).is_err());
    }

    #[test]
    fn damaged_files_are_refused() {
        let way = Way {
            compressor: "vtkZLibDataCompressor",
            header_type: "UInt32",
            is_big_endian: false,
            is_split: false,
            place: "raw",
        };
        let file = way.file();
        for n in 0..file.len() {
            // Reading truncated bytes returns a result and does not panic.
            let _ = read(&file[..n]);
        }
        let other = String::from_utf8_lossy(&file).replace("vtkZLib", "vtkOther");
        let problem = read(other.as_bytes()).err().unwrap();
        assert!(problem.contains("by another method, expected zlib, LZ4, LZMA or none"), "{problem}");
        let zlib = file.windows(7).position(|bytes| bytes == b"vtkZLib").unwrap();
        let lzma = [&file[..zlib], b"vtkLZMA", &file[zlib + 7..]].concat();
        assert_eq!(read(&lzma).err().unwrap(), "column Points: damaged LZMA data");
        let other = "<VTKFile type=\"UnstructuredGrid\"><Piece NumberOfPoints=\"1\"><Points><DataArray \
                     format=\"ascii\">0 0 secret</DataArray></Points></Piece></VTKFile>";
        let problem = read(other.as_bytes()).err().unwrap();
        assert_eq!(problem, "column Points: found text, expected a number");
        let problem = read(b"root:x:0:0:root").err().unwrap();
        assert!(problem.starts_with("no valid VTU: line 1") && !problem.contains("root"), "{problem}");
    }

    #[test]
    fn a_column_of_some_pieces_only_is_refused() {
        let piece = |more: &str, x: u32| {
            format!(
                "<Piece NumberOfPoints=\"1\"><Points><DataArray format=\"ascii\">{x} 0 0</DataArray>\
                 </Points><PointData>{more}</PointData></Piece>"
            )
        };
        let more = "<DataArray Name=\"temperature\" format=\"ascii\">1</DataArray>";
        let file = format!("<VTKFile>{}{}</VTKFile>", piece(more, 0), piece("", 1));
        let problem = read(file.as_bytes()).err().unwrap();
        assert_eq!(problem, "column temperature: found that of 1 points, expected 2");
    }
}
