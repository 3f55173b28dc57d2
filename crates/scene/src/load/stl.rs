//! Reads STL files, binary and text.

use std::io::Cursor;

use crate::Vec3;
use crate::format::text::number_token;
use crate::loaded::MAX_FILE_BYTES;

/// Bytes before the triangles of a binary file, and of each.
const HEADER_BYTES: usize = 84;
const TRIANGLE_BYTES: usize = 50;

/// Reads the triangles in `bytes`. A file of the length that its number of triangles needs is binary,
/// whatever its header says: some programs begin it by `solid`, as text files do. The error describes the
/// problem.
pub(super) fn read_stl(bytes: &[u8]) -> Result<Vec<[Vec3; 3]>, String> {
    let n = bytes.get(80..HEADER_BYTES).and_then(|word| word.try_into().ok()).map(u32::from_le_bytes);
    let needed = |n: u32| HEADER_BYTES as u64 + TRIANGLE_BYTES as u64 * u64::from(n);
    let is_text = bytes.trim_ascii_start().starts_with(b"solid");
    match n {
        Some(n) if needed(n) == bytes.len() as u64 => read_binary(bytes),
        _ if is_text => read_text(bytes),
        // Some programs write more behind the triangles.
        Some(n) if needed(n) < bytes.len() as u64 => read_binary(bytes),
        // More than a file may have: a number of something else.
        Some(n) if needed(n) > MAX_FILE_BYTES => Err(format!(
            "no valid STL: {} bytes that are neither a binary file nor a text that begins by solid",
            bytes.len()
        )),
        Some(n) => Err(format!(
            "no valid STL: {} bytes, where {n} triangles need {}, or solid at the beginning",
            bytes.len(),
            needed(n)
        )),
        None => Err(format!("no valid STL: {} bytes without solid at the beginning", bytes.len())),
    }
}

fn read_binary(bytes: &[u8]) -> Result<Vec<[Vec3; 3]>, String> {
    // The library tells the formats apart by the header.
    let mut copy = bytes.to_vec();
    copy[..80].fill(0);
    stl_io::create_stl_reader(&mut Cursor::new(copy))
        .and_then(|triangles| {
            triangles.map(|triangle| triangle.map(|t| t.vertices.map(|v| v.0.map(f64::from)))).collect()
        })
        .map_err(|_| "no valid STL: damaged triangles".to_owned())
}

/// Reads the three lines `vertex x y z` of each triangle.
fn read_text(bytes: &[u8]) -> Result<Vec<[Vec3; 3]>, String> {
    // Names of solids may have any encoding.
    let text = String::from_utf8_lossy(bytes);
    let (mut corners, mut triangles): (Vec<Vec3>, _) = (Vec::new(), Vec::new());
    for (line, number) in text.lines().zip(1..) {
        let refuse = |problem: String| format!("no valid STL: line {number}: {problem}");
        let mut words = line.split_whitespace();
        let keyword = words.next().unwrap_or_default().to_ascii_lowercase();
        match keyword.as_str() {
            "vertex" => {
                let numbers = words.map(|word| match word.parse::<f32>() {
                    Ok(number) => Ok(f64::from(number)),
                    Err(_) => Err(refuse(format!("found {}, expected a coordinate", number_token(word)))),
                });
                let numbers = numbers.collect::<Result<Vec<f64>, _>>()?;
                let found = || refuse(format!("found {} coordinates, expected 3", numbers.len()));
                corners.push(numbers.as_slice().try_into().map_err(|_| found())?);
            }
            "endloop" => match corners[..] {
                [a, b, c] => {
                    triangles.push([a, b, c]);
                    corners.clear();
                }
                _ => {
                    return Err(refuse(format!("found a facet of {} corners, expected 3", corners.len())));
                }
            },
            "" | "solid" | "endsolid" | "facet" | "endfacet" | "outer" => {}
            _ => return Err(refuse("expected facet, outer loop, vertex, endloop or endfacet".to_owned())),
        }
    }
    match corners.len() {
        0 if triangles.is_empty() => Err("no valid STL: a text without facets".to_owned()),
        0 => Ok(triangles),
        n => Err(format!("no valid STL: it ends after {n} corners of a facet, expected 3 and endloop")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [Vec3; 3] = [[0.0, 0.0, 0.0], [1.0, 0.5, 0.0], [0.0, 1.0, -2.0]];

    fn binary(header: &str, n: u32) -> Vec<u8> {
        let mut bytes = header.as_bytes().to_vec();
        bytes.resize(80, b' ');
        bytes.extend(n.to_le_bytes());
        for _ in 0..n {
            bytes.extend([0; 12]);
            bytes.extend(CORNERS.as_flattened().iter().flat_map(|x| (*x as f32).to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn binary_files_are_told_by_their_length() {
        for header in ["binary", "solid part of a program", ""] {
            assert_eq!(read_stl(&binary(header, 2)), Ok(vec![CORNERS; 2]), "{header}");
        }
        let mut longer = binary("binary", 2);
        longer.extend([0; 7]);
        assert_eq!(read_stl(&longer).map(|triangles| triangles.len()), Ok(2));
        let cut = &binary("binary", 2)[..150];
        assert_eq!(
            read_stl(cut).unwrap_err(),
            "no valid STL: 150 bytes, where 2 triangles need 184, or solid at the beginning"
        );
        assert!(read_stl(b"root:x:0:0").unwrap_err().starts_with("no valid STL: 10 bytes without solid"));
    }

    #[test]
    fn text_is_read_and_its_problems_have_a_line() {
        let text = "solid a name\nfacet normal 0 0 1\r\nOUTER LOOP\n vertex 0 0 0\nvertex 1 .5 0\n vertex 0 1 -2e0\n\
                    endloop\nendfacet\nendsolid\n";
        assert_eq!(read_stl(text.as_bytes()), Ok(vec![CORNERS]));
        let problem = |from: &str, to: &str| read_stl(text.replace(from, to).as_bytes()).unwrap_err();
        assert_eq!(
            problem("1 .5 0", "1 secret 0"),
            "no valid STL: line 5: found text, expected a coordinate"
        );
        assert_eq!(problem("1 .5 0", "1 .5"), "no valid STL: line 5: found 2 coordinates, expected 3");
        assert_eq!(
            problem("vertex 1 .5 0\n", ""),
            "no valid STL: line 6: found a facet of 2 corners, expected 3"
        );
        let secret = problem("facet normal", "secret");
        assert!(secret.starts_with("no valid STL: line 2: expected facet"), "{secret}");
    }
}
