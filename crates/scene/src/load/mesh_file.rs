//! Reads triangles from OBJ, STL and PLY files.

use std::io::Cursor;
use std::path::Path;

use ply_rs_bw::ply::Property;

use super::stl::read_stl;
use super::triangulate::triangulate;
use crate::Vec3;
use crate::format::text::{not_utf8, number_token, without_byte_order_mark};
use crate::load::ply;

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
    let options = tobj::LoadOptions { ignore_points: true, ignore_lines: true, ..Default::default() };
    // Materials are ignored.
    let no_materials = |_: &Path| Ok(Default::default());
    let text = of_positions(without_byte_order_mark(&String::from_utf8_lossy(bytes)))?;
    let (models, _) = tobj::load_obj_buf(&mut Cursor::new(text), &options, no_materials)
        .map_err(|cause| format!("no valid OBJ: {cause}"))?;
    let mut triangles = Vec::new();
    for mesh in models.iter().map(|model| &model.mesh) {
        let at = |vertex: u32| -> Vec3 {
            std::array::from_fn(|i| f64::from(mesh.positions[3 * vertex as usize + i]))
        };
        // Without a list of them, all faces have three corners.
        let n_faces =
            if mesh.face_arities.is_empty() { mesh.indices.len() / 3 } else { mesh.face_arities.len() };
        let mut begin = 0;
        for face in 0..n_faces {
            let end = begin + mesh.face_arities.get(face).map_or(3, |n| *n as usize);
            let corners: Vec<Vec3> = mesh.indices[begin..end].iter().map(|vertex| at(*vertex)).collect();
            let cut = triangulate(&corners);
            triangles.extend(cut.map_err(|problem| format!("face {}: {problem}", face + 1))?);
            begin = end;
        }
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
    // The rest of a line that is continued on the next.
    let mut begun = String::new();
    for (line, number) in text.lines().zip(1..) {
        if let Some(part) = line.trim_end().strip_suffix('\\') {
            begun = begun + part + " ";
            continue;
        }
        let line = std::mem::take(&mut begun) + line;
        let refuse = |problem: String| format!("no valid OBJ: line {number}: {problem}");
        let words = || line.split_whitespace().skip(1);
        match first(&line) {
            Some("f") => {
                found.push('f');
                for word in words().take_while(|word| !word.starts_with('#')) {
                    let vertex = word.split('/').next().unwrap_or_default();
                    let problem = || refuse(format!("vertex {} of {n_vertices}", number_token(vertex)));
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
            Some("v") => {
                n_before += 1;
                // A weight or a colour may follow.
                let numbers: Vec<&str> = words().take(3).collect();
                if let Some(word) = numbers.iter().find(|word| word.parse::<f32>().is_err()) {
                    return Err(refuse(format!("found {}, expected a coordinate", number_token(word))));
                }
                if numbers.len() < 3 {
                    return Err(refuse(format!("found {} coordinates, expected 3", numbers.len())));
                }
                found.push_str(&format!("v {}\n", numbers.join(" ")));
            }
            // Groups, materials, normals and texture coordinates are not needed.
            _ => {}
        }
    }
    Ok(found)
}

fn read_ply(bytes: &[u8]) -> Result<Vec<[Vec3; 3]>, String> {
    let ply = ply::read_ply(bytes)?;
    let element = |name: &str| ply.payload.get(name).ok_or(format!("a PLY without the element {name}"));
    let vertices = element("vertex")?
        .iter()
        .map(|vertex| Some([number(vertex.get("x")?)?, number(vertex.get("y")?)?, number(vertex.get("z")?)?]))
        .collect::<Option<Vec<Vec3>>>()
        .ok_or("vertices without x, y and z")?;
    let mut triangles = Vec::new();
    for (face, number) in element("face")?.iter().zip(1..) {
        let list = face.get("vertex_indices").or(face.get("vertex_index")).and_then(indices);
        let corners = list.ok_or("faces without vertex_indices")?;
        let corners = corners
            .into_iter()
            .map(|idx| vertices.get(idx).copied().ok_or(format!("vertex {idx} of {}", vertices.len())))
            .collect::<Result<Vec<Vec3>, _>>()?;
        triangles.extend(triangulate(&corners).map_err(|problem| format!("face {number}: {problem}"))?);
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
