//! Exported files hold the frame's data, according to small parsers written from the formats' descriptions.

use std::fs;
use std::path::PathBuf;

use crate::common::{frame, small_frame};
use base64::prelude::{BASE64_STANDARD, Engine};
use frazil_io::{
    BodyKind, Column, ColumnData, Error, Faces, Format, Frame, UnknownFormat, export, export_bodies,
    write_pvd,
};
use proptest::prelude::*;

/// Parser that takes bytes from the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(n);
        self.0 = rest;
        taken
    }

    fn line(&mut self) -> &'a str {
        let end = self.0.iter().position(|byte| *byte == b'\n').expect("a line break");
        let line = std::str::from_utf8(self.take(end)).unwrap();
        self.take(1);
        line
    }

    fn u32_be(&mut self) -> u32 {
        u32::from_be_bytes(self.take(4).try_into().unwrap())
    }

    fn u16_be(&mut self) -> u16 {
        u16::from_be_bytes(self.take(2).try_into().unwrap())
    }

    fn u32_le(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    fn words_be(&mut self, n: usize) -> Vec<u32> {
        (0..n).map(|_| self.u32_be()).collect()
    }
}

/// Returns the values of a column as 32-bit words, vectors flattened.
fn words(data: &ColumnData) -> Vec<u32> {
    data.bytes().chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn components(data: &ColumnData) -> usize {
    if matches!(data, ColumnData::Vec3(_)) { 3 } else { 1 }
}

fn attributes(frame: &Frame) -> impl Iterator<Item = &Column> {
    frame.columns().iter().filter(|column| column.name != "position")
}

fn position_words(frame: &Frame) -> Vec<u32> {
    words(&frame.column("position").unwrap().data)
}

fn exported(frame: &Frame, format: Format) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format.file_name(0));
    export(frame, format, &path).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a temporary file was left");
    fs::read(path).unwrap()
}

fn check_vtk(frame: &Frame) {
    let bytes = exported(frame, Format::Vtk);
    let n = frame.len();
    let mut reader = Reader(&bytes);
    assert_eq!(reader.line(), "# vtk DataFile Version 3.0");
    assert!(reader.line().len() < 256);
    for expected in ["BINARY", "DATASET POLYDATA", "FIELD FieldData 1", "TIME 1 1 double"] {
        assert_eq!(reader.line(), expected);
    }
    assert_eq!(reader.take(8), frame.time_s().to_bits().to_be_bytes());
    assert_eq!(reader.line(), "");
    assert_eq!(reader.line(), format!("POINTS {n} float"));
    assert_eq!(reader.words_be(3 * n), position_words(frame));
    assert_eq!(reader.line(), "");
    if n > 0 {
        assert_eq!(reader.line(), format!("VERTICES {n} {}", 2 * n));
        let vertices = (0..n as u32).flat_map(|i| [1, i]).collect::<Vec<_>>();
        assert_eq!(reader.words_be(2 * n), vertices);
        assert_eq!(reader.line(), "");
    }
    assert_eq!(reader.line(), format!("POINT_DATA {n}"));
    for column in attributes(frame) {
        let name = &column.name;
        let expected = match column.data {
            ColumnData::U32(_) => format!("SCALARS {name} unsigned_int 1"),
            ColumnData::F32(_) => format!("SCALARS {name} float 1"),
            ColumnData::Vec3(_) => format!("VECTORS {name} float"),
        };
        assert_eq!(reader.line(), expected);
        if components(&column.data) == 1 {
            assert_eq!(reader.line(), "LOOKUP_TABLE default");
        }
        assert_eq!(reader.words_be(components(&column.data) * n), words(&column.data));
        assert_eq!(reader.line(), "");
    }
    assert!(reader.0.is_empty());
}

/// Returns the decoded bytes of a data array, with its length checked.
fn vtu_array(text: &str, attributes: &str) -> Vec<u8> {
    let start = text.find(&format!("<DataArray {attributes} format=\"binary\">")).expect(attributes);
    let encoded = text[start..].lines().nth(1).unwrap();
    let decoded = BASE64_STANDARD.decode(encoded).unwrap();
    let (length, data) = decoded.split_at(8);
    assert_eq!(u64::from_le_bytes(length.try_into().unwrap()), data.len() as u64);
    data.to_vec()
}

fn check_vtu(frame: &Frame) {
    let text = String::from_utf8(exported(frame, Format::Vtu)).unwrap();
    let n = frame.len();
    assert!(text.contains(&format!("<Piece NumberOfPoints=\"{n}\" NumberOfCells=\"{n}\">")));
    for column in frame.columns() {
        let kind = if matches!(column.data, ColumnData::U32(_)) { "UInt32" } else { "Float32" };
        let shape = if components(&column.data) == 3 { " NumberOfComponents=\"3\"" } else { "" };
        let attributes = format!("type=\"{kind}\" Name=\"{}\"{shape}", column.name);
        assert_eq!(vtu_array(&text, &attributes), column.data.bytes());
    }
    let i64s = |range: std::ops::Range<i64>| range.flat_map(i64::to_le_bytes).collect::<Vec<_>>();
    assert_eq!(vtu_array(&text, "type=\"Int64\" Name=\"connectivity\""), i64s(0..n as i64));
    assert_eq!(vtu_array(&text, "type=\"Int64\" Name=\"offsets\""), i64s(1..n as i64 + 1));
    assert_eq!(vtu_array(&text, "type=\"UInt8\" Name=\"types\""), vec![1; n]);
    let time = vtu_array(&text, "type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\"");
    assert_eq!(time, frame.time_s().to_le_bytes());

    // Every element closes, in order.
    let mut open = Vec::new();
    for tag in text.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag.starts_with(['?', '!']) || tag.ends_with('/') => {}
            None => open.push(tag.split(' ').next().unwrap()),
        }
    }
    assert!(open.is_empty());
}

fn check_ply(frame: &Frame) {
    let bytes = exported(frame, Format::Ply);
    let mut reader = Reader(&bytes);
    assert_eq!(reader.line(), "ply");
    assert_eq!(reader.line(), "format binary_little_endian 1.0");
    let (mut n_vertices, mut properties) = (None, Vec::new());
    loop {
        match reader.line().split(' ').collect::<Vec<_>>()[..] {
            ["comment", ..] => {}
            ["element", "vertex", n] => n_vertices = Some(n.parse::<usize>().unwrap()),
            ["property", kind, name] => properties.push((kind, name)),
            ["end_header"] => break,
            ref other => panic!("unknown header line {other:?}"),
        }
    }
    assert_eq!(n_vertices, Some(frame.len()));

    let mut expected = vec![("float", "x".to_owned()), ("float", "y".to_owned()), ("float", "z".to_owned())];
    let mut columns = vec![(3, position_words(frame))];
    for Column { name, data, .. } in attributes(frame) {
        match data {
            ColumnData::U32(_) => expected.push(("uint", name.clone())),
            ColumnData::F32(_) => expected.push(("float", name.clone())),
            ColumnData::Vec3(_) => {
                expected.extend(["x", "y", "z"].map(|axis| ("float", format!("{name}_{axis}"))));
            }
        }
        columns.push((components(data), words(data)));
    }
    assert!(properties.iter().copied().eq(expected.iter().map(|(kind, name)| (*kind, name.as_str()))));
    for i in 0..frame.len() {
        for (size, values) in &columns {
            for c in 0..*size {
                assert_eq!(reader.u32_le(), values[i * size + c]);
            }
        }
    }
    assert!(reader.0.is_empty());
}

fn bgeo_attribute(reader: &mut Reader<'_>) -> (String, u16, u32) {
    let length = reader.u16_be();
    let name = String::from_utf8(reader.take(length.into()).to_vec()).unwrap();
    let (size, kind) = (reader.u16_be(), reader.u32_be());
    assert!(reader.words_be(size.into()).iter().all(|default| *default == 0));
    (name, size, kind)
}

fn check_bgeo(frame: &Frame) {
    let bytes = exported(frame, Format::Bgeo);
    let mut reader = Reader(&bytes);
    assert_eq!(reader.take(5), b"BgeoV");
    let n_attributes = attributes(frame).count() as u32;
    assert_eq!(reader.words_be(9), [5, frame.len() as u32, 0, 0, 0, n_attributes, 0, 0, 1]);
    let mut columns = Vec::new();
    for Column { name, data, .. } in attributes(frame) {
        let (size, kind) = match data {
            ColumnData::F32(_) => (1, 0),
            ColumnData::U32(_) => (1, 1),
            ColumnData::Vec3(_) => (3, 5),
        };
        // Houdini's names.
        let name = match name.as_str() {
            "velocity" if frame.column("v").is_none() => "v",
            "radius" if frame.column("pscale").is_none() => "pscale",
            name => name,
        };
        assert_eq!(bgeo_attribute(&mut reader), (name.to_owned(), size, kind));
        columns.push((usize::from(size), words(data)));
    }
    let positions = position_words(frame);
    for i in 0..frame.len() {
        assert_eq!(reader.words_be(3), positions[3 * i..3 * i + 3]);
        assert_eq!(reader.u32_be(), 1.0_f32.to_bits());
        for (size, values) in &columns {
            assert_eq!(reader.words_be(*size), values[i * size..(i + 1) * size]);
        }
    }
    assert_eq!(bgeo_attribute(&mut reader), ("time".to_owned(), 1, 0));
    let time = f32::from_bits(reader.u32_be());
    assert!(time == frame.time_s() as f32 || frame.time_s().is_nan());
    assert_eq!(reader.0, [0x00, 0xff]);
}

fn check_csv(frame: &Frame) {
    let text = String::from_utf8(exported(frame, Format::Csv)).unwrap();
    let mut lines = text.lines();
    let mut labels: Vec<String> = frame
        .columns()
        .iter()
        .flat_map(|Column { name, unit, data }| {
            let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
            let axes: &[&str] = if components(data) == 3 { &["_x", "_y", "_z"] } else { &[""] };
            axes.iter().map(move |axis| format!("{name}{axis}{unit}")).collect::<Vec<_>>()
        })
        .collect();
    let has_time = frame.column("time").is_some();
    labels.extend((!has_time).then(|| "time [s]".to_owned()));
    assert_eq!(lines.next().unwrap(), labels.join(","));
    for i in 0..frame.len() {
        let mut cells = lines.next().unwrap().split(',');
        for column in frame.columns() {
            let size = components(&column.data);
            for expected in &words(&column.data)[i * size..(i + 1) * size] {
                let cell = cells.next().unwrap();
                if matches!(column.data, ColumnData::U32(_)) {
                    assert_eq!(cell.parse::<u32>().unwrap(), *expected);
                } else {
                    let (found, expected) = (cell.parse::<f32>().unwrap(), f32::from_bits(*expected));
                    assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan());
                }
            }
        }
        if !has_time {
            let found: f64 = cells.next().unwrap().parse().unwrap();
            assert!(found == frame.time_s() || found.is_nan() && frame.time_s().is_nan());
        }
        assert_eq!(cells.next(), None);
    }
    assert_eq!(lines.next(), None);
}

/// Returns the same frame with integers that fit signed types.
fn with_signed_integers(frame: Frame) -> Frame {
    let (step, time_s) = (frame.step(), frame.time_s());
    let mut columns = frame.into_columns();
    for column in &mut columns {
        if let ColumnData::U32(values) = &mut column.data {
            values.iter_mut().for_each(|value| *value >>= 1);
        }
    }
    Frame::new(step, time_s, columns).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_format_holds_the_frame(frame in frame()) {
        check_vtk(&frame);
        check_vtu(&frame);
        check_ply(&frame);
        check_csv(&frame);
        check_bgeo(&with_signed_integers(frame));
    }
}

#[test]
fn the_header_of_a_ply_is_ascii() {
    let columns = vec![
        Column::vec3("position", "m", vec![]),
        Column::u32("id", "", vec![]),
        Column::f32("density", "kg/m³", vec![]),
        Column::f32("temperature", "°C", vec![]),
        Column::f32("flux", "µW/m²·Å", vec![]),
    ];
    let bytes = exported(&Frame::new(0, 0.0, columns).unwrap(), Format::Ply);
    let header = String::from_utf8(bytes).unwrap();
    assert!(header.is_ascii(), "{header}");
    for expected in ["density [kg/m^3]", "temperature [degC]", "flux [uW/m^2*?]"] {
        assert!(header.contains(&format!("\ncomment {expected}\n")), "{header}");
    }
}

#[test]
fn bgeo_has_the_names_of_houdini() {
    let columns = |extra: Vec<Column>| {
        let mut columns = vec![
            Column::vec3("position", "m", vec![[1.0, 2.0, 3.0]]),
            Column::u32("id", "", vec![0]),
            Column::vec3("velocity", "m/s", vec![[4.0, 5.0, 6.0]]),
            Column::f32("radius", "m", vec![0.5]),
        ];
        columns.extend(extra);
        columns
    };
    let names = |columns: Vec<Column>| {
        let bytes = exported(&Frame::new(0, 0.0, columns).unwrap(), Format::Bgeo);
        let mut reader = Reader(&bytes[5..]);
        let n_attributes = reader.words_be(9)[5];
        (0..n_attributes).map(|_| bgeo_attribute(&mut reader).0).collect::<Vec<_>>()
    };
    assert_eq!(names(columns(vec![])), ["id", "v", "pscale"]);
    // Names stay distinct.
    let v = Column::f32("v", "", vec![7.0]);
    assert_eq!(names(columns(vec![v])), ["id", "velocity", "pscale", "v"]);
}

/// Makes two bodies, the second of which has two faces.
fn bodies() -> (Frame, Faces) {
    let columns = vec![
        Column::vec3("position", "m", vec![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        Column::u32("id", "", vec![7, 9]),
        Column::vec3("velocity", "m/s", vec![[0.5; 3], [-1.0, 0.0, 2.0]]),
        Column::f32("spin", "1/s", vec![0.25, -8.0]),
    ];
    let faces = Faces {
        position: vec![[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        corners: vec![0, 1, 2, 3, 4, 1, 0, 0, 3, 4],
        ends: vec![4, 7, 10],
        body: vec![1, 0, 1],
    };
    (Frame::new(3, 0.5, columns).unwrap(), faces)
}

fn exported_bodies(format: Format) -> Vec<u8> {
    let (frame, faces) = bodies();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format.bodies_file_name(BodyKind::Pieces, 0));
    export_bodies(BodyKind::Pieces, &frame, &faces, format, &path).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a temporary file was left");
    fs::read(path).unwrap()
}

#[test]
fn vtk_holds_faces_of_bodies_with_the_columns_of_each_ones_body() {
    let bytes = exported_bodies(Format::Vtk);
    let mut reader = Reader(&bytes);
    assert_eq!(reader.line(), "# vtk DataFile Version 3.0");
    assert_eq!(reader.line(), "frazil pieces of slabs, step 3, time 0.5 s");
    for expected in ["BINARY", "DATASET POLYDATA", "FIELD FieldData 1", "TIME 1 1 double"] {
        assert_eq!(reader.line(), expected);
    }
    assert_eq!(reader.take(8), 0.5_f64.to_be_bytes());
    assert_eq!([reader.line(), reader.line()], ["", "POINTS 5 float"]);
    let words = |values: &[[f32; 3]]| values.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(reader.words_be(15), words(&bodies().1.position));
    assert_eq!([reader.line(), reader.line()], ["", "POLYGONS 3 13"]);
    assert_eq!(reader.words_be(13), [4, 0, 1, 2, 3, 3, 4, 1, 0, 3, 0, 3, 4]);
    assert_eq!([reader.line(), reader.line()], ["", "CELL_DATA 3"]);
    assert_eq!([reader.line(), reader.line()], ["SCALARS id unsigned_int 1", "LOOKUP_TABLE default"]);
    assert_eq!(reader.words_be(3), [9, 7, 9]);
    assert_eq!([reader.line(), reader.line()], ["", "VECTORS velocity float"]);
    assert_eq!(reader.words_be(9), words(&[[-1.0, 0.0, 2.0], [0.5; 3], [-1.0, 0.0, 2.0]]));
    assert_eq!([reader.line(), reader.line()], ["", "SCALARS spin float 1"]);
    assert_eq!(reader.line(), "LOOKUP_TABLE default");
    assert_eq!(reader.words_be(3), [-8.0_f32, 0.25, -8.0].map(f32::to_bits));
    assert_eq!(reader.0, b"\n");
}

#[test]
fn vtu_holds_faces_of_bodies_with_the_columns_of_each_ones_body() {
    let text = String::from_utf8(exported_bodies(Format::Vtu)).unwrap();
    assert!(text.contains("<Piece NumberOfPoints=\"5\" NumberOfCells=\"3\">"), "{text}");
    roxmltree::Document::parse(&text).unwrap();
    let i64s = |values: &[i64]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>();
    let corners = [0, 1, 2, 3, 4, 1, 0, 0, 3, 4];
    assert_eq!(vtu_array(&text, "type=\"Int64\" Name=\"connectivity\""), i64s(&corners));
    assert_eq!(vtu_array(&text, "type=\"Int64\" Name=\"offsets\""), i64s(&[4, 7, 10]));
    assert_eq!(vtu_array(&text, "type=\"UInt8\" Name=\"types\""), [7; 3]);
    let cells = text.split("<CellData>").nth(1).unwrap().split("</CellData>").next().unwrap();
    let ids = [9_u32, 7, 9].iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<_>>();
    assert_eq!(vtu_array(cells, "type=\"UInt32\" Name=\"id\""), ids);
    let points = text.split("<Points>").nth(1).unwrap();
    let positions = vtu_array(points, "type=\"Float32\" Name=\"position\" NumberOfComponents=\"3\"");
    let expected = bodies().1.position.iter().flatten().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>();
    assert_eq!(positions, expected);
}

#[test]
fn other_formats_hold_a_row_a_body() {
    let text = String::from_utf8(exported_bodies(Format::Csv)).unwrap();
    assert_eq!(text.lines().nth(2), Some("4.0,5.0,6.0,9,-1.0,0.0,2.0,-8.0,0.5"));
    assert_eq!(text.lines().count(), 3);
    for format in Format::ALL {
        let what = if format.holds_faces() { "slabs" } else { "pieces" };
        assert_eq!(format.bodies_file_name(BodyKind::Pieces, 12), format!("{what}_000012.{format}"));
        assert_eq!(format.bodies_file_name(BodyKind::Dynamic, 12), format!("bodies_000012.{format}"));
    }
}

#[test]
fn an_integer_too_great_for_the_format_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("particles.bgeo");
    let columns =
        vec![Column::vec3("position", "m", vec![[0.0; 3]; 2]), Column::u32("id", "", vec![1, 1 << 31])];
    let error = export(&Frame::new(0, 0.0, columns).unwrap(), Format::Bgeo, &path).unwrap_err();
    assert!(matches!(error, Error::Unrepresentable { .. }));
    let error = error.to_string();
    assert!(error.contains("particles.bgeo as bgeo: id of particle 1 is 2147483648"), "{error}");
    assert!(!path.exists());
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for format in Format::ALL {
        let path: PathBuf = dir.path().join("nosuch").join(format.file_name(3));
        let error = export(&small_frame(0), format, &path).unwrap_err().to_string();
        assert!(error.contains(&format!("particles_000003.{format}")), "{error}");
    }
}

#[test]
fn names_of_formats_and_files_are_stable() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    let unknown = "obj".parse::<Format>().unwrap_err();
    assert_eq!(unknown, UnknownFormat { found: "obj".to_owned() });
    for format in Format::ALL {
        assert!(unknown.to_string().contains(format.extension()), "{unknown}");
    }
    let names: Vec<_> = [0, 9, 10, 99_999, 100_000].map(|i| Format::Vtu.file_name(i)).to_vec();
    assert_eq!(names[1], "particles_000009.vtu");
    assert!(names.is_sorted());
}

#[test]
fn the_time_index_names_every_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("particles.pvd");
    write_pvd(&path, &[(0.0, "a&b.vtu".to_owned()), (0.0125, "particles_000001.vtu".to_owned())]).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let entries: Vec<_> = text.lines().filter(|line| line.starts_with("<DataSet ")).collect();
    assert_eq!(
        entries,
        [
            "<DataSet timestep=\"0.0\" group=\"\" part=\"0\" file=\"a&amp;b.vtu\"/>",
            "<DataSet timestep=\"0.0125\" group=\"\" part=\"0\" file=\"particles_000001.vtu\"/>"
        ]
    );
}
