//! VTK's XML unstructured grid, and the `.pvd` index of the times of its files.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine};

use super::cells::Cells;
use crate::atomic::{self, Durability};
use crate::error::Result;
use crate::frame::{Column, ColumnKind};

const VTK_VERTEX: u8 = 1;
const VTK_POLYGON: u8 = 7;

pub(super) fn write(cells: &Cells<'_>, out: &mut impl Write) -> io::Result<()> {
    let Cells { frame, position, corners, ends, .. } = cells;
    let (n_points, n) = (position.len(), ends.len());
    writeln!(out, "<?xml version=\"1.0\"?>")?;
    writeln!(
        out,
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\">"
    )?;
    writeln!(out, "<!-- frazil {}, step {} -->", cells.of, frame.step())?;
    writeln!(out, "<UnstructuredGrid>\n<FieldData>")?;
    let time = "Name=\"TimeValue\" NumberOfTuples=\"1\"";
    write_array(out, "Float64", time, "", &frame.time_s().to_le_bytes())?;
    writeln!(out, "</FieldData>\n<Piece NumberOfPoints=\"{n_points}\" NumberOfCells=\"{n}\">")?;

    let (kind, data_kind) =
        if cells.are_faces { (VTK_POLYGON, "CellData") } else { (VTK_VERTEX, "PointData") };
    writeln!(out, "<{data_kind}>")?;
    for column in &cells.columns {
        write_column(out, column)?;
    }
    writeln!(out, "</{data_kind}>\n<Points>")?;
    let vector = "Name=\"position\" NumberOfComponents=\"3\"";
    write_array(out, "Float32", vector, "m", bytemuck::cast_slice(position))?;
    writeln!(out, "</Points>\n<Cells>")?;
    write_array(out, "Int64", "Name=\"connectivity\"", "", &le_bytes(corners))?;
    write_array(out, "Int64", "Name=\"offsets\"", "", &le_bytes(ends))?;
    write_array(out, "UInt8", "Name=\"types\"", "", &vec![kind; n])?;
    writeln!(out, "</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>")
}

fn le_bytes(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| i64::from(*value).to_le_bytes()).collect()
}

fn write_column(out: &mut impl Write, column: &Column) -> io::Result<()> {
    let (kind, components) = match column.data.kind() {
        ColumnKind::U32 => ("UInt32", ""),
        ColumnKind::F32 => ("Float32", ""),
        ColumnKind::Vec3 => ("Float32", " NumberOfComponents=\"3\""),
    };
    let attributes = format!("Name=\"{}\"{components}", column.name);
    write_array(out, kind, &attributes, &column.unit, column.data.bytes())
}

fn write_array(
    out: &mut impl Write,
    kind: &str,
    attributes: &str,
    unit: &str,
    little_endian: &[u8],
) -> io::Result<()> {
    writeln!(out, "<DataArray type=\"{kind}\" {attributes} format=\"binary\">")?;
    // The length and the data are one base64 stream.
    let mut bytes = (little_endian.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(little_endian);
    writeln!(out, "{}", BASE64_STANDARD.encode(bytes))?;
    // After the data, because some readers take the text before an element's first child as the text of the
    // element.
    if !unit.is_empty() {
        let unit = escape(unit);
        writeln!(
            out,
            "<InformationKey name=\"UNITS_LABEL\" location=\"vtkDataArray\">{unit}</InformationKey>"
        )?;
    }
    writeln!(out, "</DataArray>")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Writes the index with which ParaView plays a series of `.vtu` files against simulated time.
///
/// `files` holds the time in seconds and the name of each file, relative to the index. The index may be
/// rewritten after each frame: it appears complete or not at all.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io), naming the path.
pub fn write_pvd(path: &Path, files: &[(f64, String)]) -> Result<()> {
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" \
         byte_order=\"LittleEndian\">\n<Collection>\n",
    );
    for (time_s, file) in files {
        let file = escape(file);
        writeln!(text, "<DataSet timestep=\"{time_s:?}\" group=\"\" part=\"0\" file=\"{file}\"/>")
            .expect("writing to a String cannot fail");
    }
    text.push_str("</Collection>\n</VTKFile>\n");
    atomic::write(path, Durability::Process, |out| out.write_all(text.as_bytes()))
}
