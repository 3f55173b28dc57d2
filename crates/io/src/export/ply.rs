//! Stanford PLY: a text header, then one little-endian record per particle.

use std::io::{self, Write};

use super::cells::attributes;
use crate::frame::{Column, ColumnData, ColumnKind, Frame};

pub(super) fn write(frame: &Frame, of: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "ply\nformat binary_little_endian 1.0")?;
    writeln!(out, "comment frazil {of}, step {}, time {:?} s", frame.step(), frame.time_s())?;
    for column in frame.columns().iter().filter(|column| !column.unit.is_empty()) {
        writeln!(out, "comment {}", column.label())?;
    }
    writeln!(out, "element vertex {}", frame.len())?;
    writeln!(out, "property float x\nproperty float y\nproperty float z")?;
    for Column { name, data, .. } in attributes(frame) {
        match data.kind() {
            ColumnKind::U32 => writeln!(out, "property uint {name}")?,
            ColumnKind::F32 => writeln!(out, "property float {name}")?,
            ColumnKind::Vec3 => {
                writeln!(out, "property float {name}_x\nproperty float {name}_y\nproperty float {name}_z")?;
            }
        }
    }
    writeln!(out, "end_header")?;

    for (i, position) in frame.positions().iter().enumerate() {
        out.write_all(bytemuck::bytes_of(position))?;
        for column in attributes(frame) {
            match &column.data {
                ColumnData::U32(values) => out.write_all(&values[i].to_le_bytes())?,
                ColumnData::F32(values) => out.write_all(&values[i].to_le_bytes())?,
                ColumnData::Vec3(values) => out.write_all(bytemuck::bytes_of(&values[i]))?,
            }
        }
    }
    Ok(())
}
