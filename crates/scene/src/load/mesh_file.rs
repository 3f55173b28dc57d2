//! Reads triangles from OBJ, STL and PLY files.

use std::io::Cursor;
use std::path::Path;

use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{DefaultElement, Property};

use crate::Vec3;
use crate::format::text::not_utf8;

/// Reads the triangles in `bytes`, the contents of `path`, whose extension gives the format. The error
/// describes the problem.
pub(crate) fn read_triangles(path: &Path, bytes: &[u8]) -> Result<Vec<[Vec3; 3]>, String> {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    match ending.as_deref() {
        Some("obj") => read_obj(bytes),
        Some("stl") => read_stl(bytes),
        Some("ply") => read_ply(bytes),
        _ => Err("a name that does not end in .obj, .stl or .ply".to_owned()),
    }
}

fn read_obj(bytes: &[u8]) -> Result<Vec<[Vec3; 3]>, String> {
    // The reader says of such a byte only that it cannot read.
    std::str::from_utf8(bytes).map_err(|error| format!("no valid OBJ: {}", not_utf8(bytes, error)))?;
    let options = tobj::LoadOptions {
        triangulate: true,
        ignore_points: true,
        ignore_lines: true,
        ..Default::default()
    };
    // Materials are ignored.
    let no_materials = |_: &Path| Ok(Default::default());
    let text = of_positions(&String::from_utf8_lossy(bytes))?;
    let (models, _) = tobj::load_obj_buf(&mut Cursor::new(text), &options, no_materials)
        .map_err(|cause| format!("no valid OBJ: {cause}"))?;
    let mut triangles = Vec::new();
    for mesh in models.iter().map(|model| &model.mesh) {
        let at = |&vertex: &u32| -> Vec3 {
            std::array::from_fn(|i| f64::from(mesh.positions[3 * vertex as usize + i]))
        };
        triangles.extend(mesh.indices.chunks_exact(3).map(|t| [at(&t[0]), at(&t[1]), at(&t[2])]));
    }
    Ok(triangles)
}

/// Returns the vertices and faces of an OBJ file without normals and texture coordinates, each vertex of a
/// face by its number from 1: tobj computes offsets of them before it checks them, which may overflow.
fn of_positions(text: &str) -> Result<String, String> {
    fn first(line: &str) -> Option<&str> {
        line.split_whitespace().next()
    }
    let n_vertices = text.lines().filter(|line| first(line) == Some("v")).count() as i64;
    let (mut found, mut n_before) = (String::with_capacity(text.len()), 0_i64);
    for (line, number) in text.lines().zip(1..) {
        match first(line) {
            Some("vn" | "vt") => {}
            Some("f") => {
                found.push('f');
                for word in line.split_whitespace().skip(1) {
                    let vertex = word.split('/').next().unwrap_or_default();
                    let problem =
                        || format!("no valid OBJ: line {number}: vertex {vertex:?} of {n_vertices}");
                    let vertex: i64 = vertex.parse().map_err(|_| problem())?;
                    // Negative numbers count back from the last vertex so far.
                    let vertex = if vertex < 0 { vertex.saturating_add(n_before + 1) } else { vertex };
                    if !(1..=n_vertices).contains(&vertex) {
                        return Err(problem());
                    }
                    found.push_str(&format!(" {vertex}"));
                }
                found.push('\n');
            }
            word => {
                n_before += i64::from(word == Some("v"));
                found.push_str(line);
                found.push('\n');
            }
        }
    }
    Ok(found)
}

fn read_stl(bytes: &[u8]) -> Result<Vec<[Vec3; 3]>, String> {
    let invalid = |cause: std::io::Error| format!("no valid STL: {cause}");
    let mut cursor = Cursor::new(bytes);
    stl_io::create_stl_reader(&mut cursor)
        .map_err(invalid)?
        .map(|triangle| triangle.map(|t| t.vertices.map(|v| v.0.map(f64::from))).map_err(invalid))
        .collect()
}

fn read_ply(bytes: &[u8]) -> Result<Vec<[Vec3; 3]>, String> {
    let ply = Parser::<DefaultElement>::new()
        .read_ply(&mut Cursor::new(bytes))
        .map_err(|cause| format!("no valid PLY: {cause}"))?;
    let element = |name: &str| ply.payload.get(name).ok_or(format!("a PLY without the element {name}"));
    let vertices = element("vertex")?
        .iter()
        .map(|vertex| Some([number(vertex.get("x")?)?, number(vertex.get("y")?)?, number(vertex.get("z")?)?]))
        .collect::<Option<Vec<Vec3>>>()
        .ok_or("vertices without x, y and z")?;
    let mut triangles = Vec::new();
    for face in element("face")? {
        let list = face.get("vertex_indices").or(face.get("vertex_index")).and_then(indices);
        let corners = list.ok_or("faces without vertex_indices")?;
        let corners = corners
            .into_iter()
            .map(|idx| vertices.get(idx).copied().ok_or(format!("vertex {idx} of {}", vertices.len())))
            .collect::<Result<Vec<Vec3>, _>>()?;
        // Faces with more than three corners are triangulated as fans.
        triangles.extend(corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]]));
    }
    Ok(triangles)
}

fn number(property: &Property) -> Option<f64> {
    match property {
        Property::Float(x) => Some(f64::from(*x)),
        Property::Double(x) => Some(*x),
        Property::Int(x) => Some(f64::from(*x)),
        Property::Short(x) => Some(f64::from(*x)),
        _ => None,
    }
}

/// Returns the vertex indices of a face; `None` if one is negative.
fn indices(property: &Property) -> Option<Vec<usize>> {
    fn all<T: Copy + TryInto<usize>>(list: &[T]) -> Vec<usize> {
        list.iter().map(|&idx| idx.try_into().unwrap_or(usize::MAX)).collect()
    }
    match property {
        Property::ListChar(list) => Some(all(list)),
        Property::ListUChar(list) => Some(all(list)),
        Property::ListShort(list) => Some(all(list)),
        Property::ListUShort(list) => Some(all(list)),
        Property::ListInt(list) => {
            Some(list.iter().map(|&idx| usize::try_from(idx).unwrap_or(usize::MAX)).collect())
        }
        Property::ListUInt(list) => Some(list.iter().map(|&idx| idx as usize).collect()),
        _ => None,
    }
}
