//! Legacy VTK: a text header, then big-endian arrays.

use std::io::{self, Write};

use super::cells::Cells;
use crate::frame::ColumnData;

/// Checks the limits of the format: cell arrays have 32-bit integers, for each cell its number of points and
/// their indices.
pub(super) fn limit(cells: &Cells<'_>) -> Result<(), String> {
    let max = i32::MAX as usize;
    let n_words = cells.ends.len() + cells.corners.len();
    if n_words <= max {
        return Ok(());
    }
    Err(format!("{n_words} numbers of cells of {}; the format holds at most {max}", cells.of))
}

pub(super) fn write(cells: &Cells<'_>, out: &mut impl Write) -> io::Result<()> {
    let n = cells.ends.len();
    writeln!(out, "# vtk DataFile Version 3.0")?;
    writeln!(out, "frazil {}, step {}, time {:?} s", cells.of, cells.frame.step(), cells.frame.time_s())?;
    writeln!(out, "BINARY\nDATASET POLYDATA")?;
    // ParaView takes the time from the field of this name.
    writeln!(out, "FIELD FieldData 1\nTIME 1 1 double")?;
    out.write_all(&cells.frame.time_s().to_be_bytes())?;

    writeln!(out, "\nPOINTS {} float", cells.position.len())?;
    write_vectors(cells.position, out)?;
    let (cell_kind, data_kind) =
        if cells.are_faces { ("POLYGONS", "CELL_DATA") } else { ("VERTICES", "POINT_DATA") };
    // VTK's reader rejects an empty list of cells.
    if n > 0 {
        writeln!(out, "\n{cell_kind} {n} {}", n + cells.corners.len())?;
        for corners in cells.each() {
            out.write_all(&(corners.len() as u32).to_be_bytes())?;
            corners.iter().try_for_each(|corner| out.write_all(&corner.to_be_bytes()))?;
        }
    }
    writeln!(out, "\n{data_kind} {n}")?;
    for column in &cells.columns {
        let name = &column.name;
        match &column.data {
            ColumnData::U32(values) => {
                writeln!(out, "SCALARS {name} unsigned_int 1\nLOOKUP_TABLE default")?;
                values.iter().try_for_each(|value| out.write_all(&value.to_be_bytes()))?;
            }
            ColumnData::F32(values) => {
                writeln!(out, "SCALARS {name} float 1\nLOOKUP_TABLE default")?;
                values.iter().try_for_each(|value| out.write_all(&value.to_be_bytes()))?;
            }
            ColumnData::Vec3(values) => {
                writeln!(out, "VECTORS {name} float")?;
                write_vectors(values, out)?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_vectors(values: &[[f32; 3]], out: &mut impl Write) -> io::Result<()> {
    values.iter().flatten().try_for_each(|value| out.write_all(&value.to_be_bytes()))
}
