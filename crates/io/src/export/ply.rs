//! Stanford PLY: a text header, then one little-endian record per particle.

use std::io::{self, Write};

use super::cells::attributes;
use crate::frame::{Column, ColumnData, ColumnKind, Frame};

pub(super) fn write(frame: &Frame, of: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "ply\nformat binary_little_endian 1.0")?;
    writeln!(out, "comment frazil {of}, step {}, time {:?} s", frame.step(), frame.time_s())?;
    write_units(frame.columns(), out)?;
    writeln!(out, "element vertex {}", frame.len())?;
    writeln!(out, "property float x\nproperty float y\nproperty float z")?;
    write_properties(attributes(frame), out)?;
    writeln!(out, "end_header")?;

    for (i, position) in frame.positions().iter().enumerate() {
        out.write_all(bytemuck::bytes_of(position))?;
        write_values(attributes(frame), i, out)?;
    }
    Ok(())
}

/// Writes the units of columns as comments.
pub(crate) fn write_units(columns: &[Column], out: &mut impl Write) -> io::Result<()> {
    let mut with_unit = columns.iter().filter(|column| !column.unit.is_empty());
    with_unit.try_for_each(|column| writeln!(out, "comment {}", ascii(&column.label())))
}

/// Spells units in ASCII, as kg/m^3 and degC, because readers such as plyfile refuse a header with anything
/// else.
fn ascii(label: &str) -> String {
    let mut spelled = String::with_capacity(label.len());
    for letter in label.chars() {
        match letter {
            '°' => spelled.push_str("deg"),
            '·' => spelled.push('*'),
            'µ' | 'μ' => spelled.push('u'),
            '²' => spelled.push_str("^2"),
            '³' => spelled.push_str("^3"),
            letter if letter.is_ascii() => spelled.push(letter),
            _ => spelled.push('?'),
        }
    }
    spelled
}

/// Declares the properties of columns.
pub(crate) fn write_properties<'a>(
    columns: impl Iterator<Item = &'a Column>,
    out: &mut impl Write,
) -> io::Result<()> {
    for Column { name, data, .. } in columns {
        match data.kind() {
            ColumnKind::U32 => writeln!(out, "property uint {name}")?,
            ColumnKind::F32 => writeln!(out, "property float {name}")?,
            ColumnKind::Vec3 => {
                writeln!(out, "property float {name}_x\nproperty float {name}_y\nproperty float {name}_z")?;
            }
        }
    }
    Ok(())
}

/// Writes the values of element `i`.
pub(crate) fn write_values<'a>(
    columns: impl Iterator<Item = &'a Column>,
    i: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    for column in columns {
        match &column.data {
            ColumnData::U32(values) => out.write_all(&values[i].to_le_bytes())?,
            ColumnData::F32(values) => out.write_all(&values[i].to_le_bytes())?,
            ColumnData::Vec3(values) => out.write_all(bytemuck::bytes_of(&values[i]))?,
        }
    }
    Ok(())
}
