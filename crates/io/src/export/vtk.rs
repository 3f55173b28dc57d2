//! Legacy VTK: a text header, then big-endian arrays.

use std::io::{self, Write};

use super::attributes;
use crate::frame::{ColumnData, Frame};

/// Cell arrays are 32-bit integers, two a vertex.
pub(super) fn limit(frame: &Frame) -> Result<(), String> {
    let max = i32::MAX as usize / 2;
    if frame.len() <= max {
        return Ok(());
    }
    Err(format!("{} particles; the format holds at most {max}", frame.len()))
}

pub(super) fn write(frame: &Frame, out: &mut impl Write) -> io::Result<()> {
    let n = frame.len();
    writeln!(out, "# vtk DataFile Version 3.0")?;
    writeln!(out, "frazil particles, step {}, time {:?} s", frame.step(), frame.time_s())?;
    writeln!(out, "BINARY\nDATASET POLYDATA")?;
    // ParaView takes the time from the field of this name.
    writeln!(out, "FIELD FieldData 1\nTIME 1 1 double")?;
    out.write_all(&frame.time_s().to_be_bytes())?;

    writeln!(out, "\nPOINTS {n} float")?;
    write_vectors(frame.positions(), out)?;
    // VTK's reader takes an empty list of vertices for a broken one.
    if n > 0 {
        writeln!(out, "\nVERTICES {n} {}", 2 * n)?;
        for i in 0..n as u32 {
            out.write_all(&1_u32.to_be_bytes())?;
            out.write_all(&i.to_be_bytes())?;
        }
    }
    writeln!(out, "\nPOINT_DATA {n}")?;
    for column in attributes(frame) {
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
