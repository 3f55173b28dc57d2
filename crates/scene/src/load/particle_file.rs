//! Reads particles from PLY, VTU, BGEO and CSV files: positions, and if there are any velocities and
//! temperatures. Problems name the line of a text, else the particle, and the column.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine};
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{DefaultElement, Property};

use crate::shapes::point_cloud::PointCloud;

/// Columns of numbers by name, as the formats name them.
#[derive(Default)]
struct Columns {
    numbers: BTreeMap<String, Vec<f64>>,
}

/// Names of a scalar column, or of the components of a vector, in the order in which they are looked for.
const POSITION: &[[&str; 3]] = &[["position_x", "position_y", "position_z"], ["x", "y", "z"]];
const VELOCITY: &[[&str; 3]] =
    &[["velocity_x", "velocity_y", "velocity_z"], ["vx", "vy", "vz"], ["v_x", "v_y", "v_z"]];
const TEMPERATURE: &str = "temperature";
const AXES: [&str; 3] = ["x", "y", "z"];

/// Reads the particles in `bytes`, the contents of `path`, whose extension gives the format. The error
/// describes the problem.
pub(crate) fn read_particles(path: &Path, bytes: &[u8]) -> Result<PointCloud, String> {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    let columns = match ending.as_deref() {
        Some("ply") => read_ply(bytes),
        Some("vtu") => read_vtu(bytes),
        Some("bgeo") => read_bgeo(bytes),
        Some("csv") => read_csv(bytes),
        _ => Err("a name that does not end in .ply, .vtu, .bgeo or .csv".to_owned()),
    }?;
    let first_row = if ending.as_deref() == Some("csv") { Some(2) } else { None };
    let cloud = columns.cloud(first_row)?;
    match cloud.coincident() {
        Some([a, b]) => {
            Err(format!("{} and {} are at the same position", row(a, first_row), row(b, first_row)))
        }
        None => Ok(cloud),
    }
}

/// Names a particle: by its line, if lines are known.
fn row(i: usize, first_row: Option<usize>) -> String {
    first_row.map_or_else(|| format!("particle {i}"), |first| format!("line {}", first + i))
}

impl Columns {
    fn cloud(mut self, first_row: Option<usize>) -> Result<PointCloud, String> {
        let names = || self.numbers.keys().cloned().collect::<Vec<_>>().join(", ");
        let known = names();
        let positions = self.vectors(POSITION, first_row)?;
        let positions = positions.ok_or_else(|| {
            format!("no columns position_x, position_y and position_z, or x, y and z; found {known}")
        })?;
        if positions.is_empty() {
            return Err("no particles".to_owned());
        }
        let velocities_m_s = self.vectors(VELOCITY, first_row)?;
        let temperatures_c = self.numbers.remove(TEMPERATURE);
        if let Some(values) = &temperatures_c {
            check_finite(TEMPERATURE, values, first_row)?;
        }
        Ok(PointCloud { positions, velocities_m_s, temperatures_c })
    }

    /// Returns the vectors of the first of the names that are there; it is an error if a component is
    /// missing.
    fn vectors(
        &mut self,
        names: &[[&str; 3]],
        first_row: Option<usize>,
    ) -> Result<Option<Vec<[f64; 3]>>, String> {
        for components in names {
            let found = components.map(|name| self.numbers.remove(name));
            let missing = components.iter().zip(&found).find(|(_, column)| column.is_none());
            match (found.iter().flatten().count(), missing) {
                (0, _) => {}
                (_, Some((name, _))) => return Err(format!("no column {name}")),
                _ => {
                    let [x, y, z] = found.map(Option::unwrap_or_default);
                    for (name, column) in components.iter().zip([&x, &y, &z]) {
                        check_finite(name, column, first_row)?;
                    }
                    return Ok(Some((0..x.len()).map(|i| [x[i], y[i], z[i]]).collect()));
                }
            }
        }
        Ok(None)
    }

    /// Adds an array with one or three numbers per particle; others are ignored.
    fn add(&mut self, name: &str, n_components: usize, numbers: &[f64]) {
        let component = |k: usize| numbers.iter().skip(k).step_by(n_components).copied().collect();
        match n_components {
            1 => drop(self.numbers.insert(name.to_owned(), component(0))),
            3 => AXES.iter().enumerate().for_each(|(k, axis)| {
                self.numbers.insert(format!("{name}_{axis}"), component(k));
            }),
            _ => {}
        }
    }
}

fn check_finite(name: &str, numbers: &[f64], first_row: Option<usize>) -> Result<(), String> {
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(format!(
            "{}, column {name}: found {}, expected a finite number",
            row(i, first_row),
            numbers[i]
        )),
        None => Ok(()),
    }
}

/// Reads a header row with names, whose units in brackets are ignored, and a row of numbers per particle.
fn read_csv(bytes: &[u8]) -> Result<Columns, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| format!("byte {} is not UTF-8", e.valid_up_to()))?;
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let names: Vec<&str> = header
        .split(',')
        .map(|name| name.split('[').next().unwrap_or_default().trim().trim_matches('"'))
        .collect();
    let is_used = |name: &&str| {
        *name == TEMPERATURE || POSITION.iter().chain(VELOCITY).flatten().any(|known| known == name)
    };
    let used: Vec<bool> = names.iter().map(is_used).collect();
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    for (number, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = number + 2;
        let cells: Vec<&str> = line.split(',').collect();
        if cells.len() != names.len() {
            let (found, expected) = (cells.len(), names.len());
            return Err(format!("line {number}: found {found} cells, expected {expected} as in the header"));
        }
        for (column, cell) in cells.iter().enumerate().filter(|(column, _)| used[*column]) {
            let value = cell.trim().parse().map_err(|_| {
                format!(
                    "line {number}, column {}: found \"{}\", expected a number",
                    names[column],
                    cell.trim()
                )
            })?;
            columns[column].push(value);
        }
    }
    // Columns that are not used are empty; messages list them.
    Ok(Columns { numbers: names.into_iter().map(str::to_owned).zip(columns).collect() })
}

fn read_ply(bytes: &[u8]) -> Result<Columns, String> {
    let ply = Parser::<DefaultElement>::new()
        .read_ply(&mut Cursor::new(bytes))
        // Its further lines repeat the first.
        .map_err(|cause| format!("no valid PLY: {}", cause.to_string().lines().next().unwrap_or_default()))?;
    let vertices = ply.payload.get("vertex").ok_or("a PLY without the element vertex")?;
    let mut columns = Columns::default();
    let Some(first) = vertices.first() else { return Err("no particles".to_owned()) };
    let names: Vec<String> =
        first.iter().filter(|(_, value)| scalar(value).is_some()).map(|(name, _)| name.to_string()).collect();
    for name in names {
        let values =
            vertices.iter().map(|vertex| vertex.get(name.as_str()).and_then(scalar).unwrap_or(f64::NAN));
        columns.add(&name, 1, &values.collect::<Vec<_>>());
    }
    Ok(columns)
}

fn scalar(property: &Property) -> Option<f64> {
    match property {
        Property::Float(x) => Some(f64::from(*x)),
        Property::Double(x) => Some(*x),
        Property::Int(x) => Some(f64::from(*x)),
        Property::UInt(x) => Some(f64::from(*x)),
        Property::Short(x) => Some(f64::from(*x)),
        _ => None,
    }
}

/// Reads points and point data whose arrays are inline, as base64 or as text.
fn read_vtu(bytes: &[u8]) -> Result<Columns, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "no valid VTU: raw appended data".to_owned())?;
    let document = roxmltree::Document::parse(text).map_err(|cause| format!("no valid VTU: {cause}"))?;
    let root = document.root_element();
    if root.attribute("compressor").is_some() {
        return Err("compressed arrays, expected uncompressed ones".to_owned());
    }
    if root.attribute("byte_order") == Some("BigEndian") {
        return Err("big-endian arrays, expected little-endian ones".to_owned());
    }
    let header_bytes = if root.attribute("header_type") == Some("UInt64") { 8 } else { 4 };
    let find = |name: &str| document.descendants().find(|node| node.has_tag_name(name));
    let mut columns = Columns::default();
    let points = find("Points").ok_or("a VTU without Points")?;
    let points = points.children().find(|node| node.has_tag_name("DataArray"));
    let numbers = vtu_numbers(points.ok_or("Points without a DataArray")?, header_bytes)?;
    columns.add("position", 3, &numbers);
    let n = numbers.len() / 3;
    let arrays = find("PointData").into_iter().flat_map(|data| data.children());
    for array in arrays.filter(|node| node.has_tag_name("DataArray")) {
        let name = array.attribute("Name").unwrap_or_default();
        if !["velocity", "v", TEMPERATURE].contains(&name) {
            continue;
        }
        let numbers = vtu_numbers(array, header_bytes)?;
        let n_components = if name == TEMPERATURE { 1 } else { 3 };
        if numbers.len() != n * n_components {
            let expected = n * n_components;
            return Err(format!("column {name}: found {} numbers, expected {expected}", numbers.len()));
        }
        columns.add(name, n_components, &numbers);
    }
    Ok(columns)
}

fn vtu_numbers(array: roxmltree::Node<'_, '_>, header_bytes: usize) -> Result<Vec<f64>, String> {
    let name = array.attribute("Name").unwrap_or("Points");
    let refuse = |problem: String| format!("column {name}: {problem}");
    let text: String =
        array.children().filter_map(|child| child.text()).next().unwrap_or_default().to_owned();
    match array.attribute("format") {
        Some("ascii") => text
            .split_whitespace()
            .map(|word| word.parse().map_err(|_| refuse(format!("found \"{word}\", expected a number"))))
            .collect(),
        Some("binary") => {
            let bytes = BASE64_STANDARD
                .decode(text.trim())
                .map_err(|cause| refuse(format!("no valid base64: {cause}")))?;
            let data = bytes.get(header_bytes..).ok_or_else(|| refuse("found no data".to_owned()))?;
            match array.attribute("type") {
                Some("Float32") => {
                    Ok(data.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b).into()).collect())
                }
                Some("Float64") => {
                    Ok(data.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
                }
                other => {
                    let other = other.unwrap_or("no type");
                    Err(refuse(format!("found {other}, expected Float32 or Float64")))
                }
            }
        }
        other => {
            let other = other.unwrap_or("no format");
            Err(refuse(format!("found the format {other}, expected binary or ascii, inline")))
        }
    }
}

/// Reads points of Houdini's classic binary geometry, version 5, with attributes of numbers.
fn read_bgeo(bytes: &[u8]) -> Result<Columns, String> {
    let mut words = Words { bytes, at: 0 };
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
    columns.add("position", 3, &numbers(0, 3, false));
    let mut first = 4;
    for (name, size, is_integer) in attributes {
        if ["velocity", "v", TEMPERATURE].contains(&name.as_str()) {
            columns.add(&name, size, &numbers(first, size, is_integer));
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
