//! Houdini's classic binary geometry, version 5: big-endian, one record per point, position as four floats.
//! Columns that Houdini knows have its names.

use std::io::{self, Write};

use super::cells::attributes;
use crate::frame::{ColumnData, ColumnKind, Frame};

const FLOAT: u32 = 0;
const INT: u32 = 1;
const VECTOR: u32 = 5;

/// Checks the limits of the format: integers are signed and have 32 bits, names have at most 65 535 bytes.
pub(super) fn limit(frame: &Frame) -> Result<(), String> {
    let max = i32::MAX as u32;
    if frame.len() > max as usize {
        return Err(format!("{} particles; the format holds at most {max}", frame.len()));
    }
    for column in attributes(frame) {
        if column.name.len() > usize::from(u16::MAX) {
            return Err(format!(
                "a column name of {} bytes; the format holds at most 65535",
                column.name.len()
            ));
        }
        if let ColumnData::U32(values) = &column.data
            && let Some(i) = values.iter().position(|value| *value > max)
        {
            let (name, value) = (&column.name, values[i]);
            return Err(format!("{name} of particle {i} is {value}; the format's integers end at {max}"));
        }
    }
    Ok(())
}

pub(super) fn write(frame: &Frame, out: &mut impl Write) -> io::Result<()> {
    let n_attributes = attributes(frame).count() as u32;
    out.write_all(b"BgeoV")?;
    // Version, points, primitives, point groups, primitive groups; attributes of points, vertices,
    // primitives, the whole.
    write_words(&[5, frame.len() as u32, 0, 0, 0, n_attributes, 0, 0, 1], out)?;

    for column in attributes(frame) {
        let (size, kind) = match column.data.kind() {
            ColumnKind::U32 => (1, INT),
            ColumnKind::F32 => (1, FLOAT),
            ColumnKind::Vec3 => (3, VECTOR),
        };
        write_attribute(out, houdini_name(frame, &column.name), size, kind)?;
    }
    for (i, &[x, y, z]) in frame.positions().iter().enumerate() {
        write_words(&[x, y, z, 1.0].map(f32::to_bits), out)?;
        for column in attributes(frame) {
            match &column.data {
                ColumnData::U32(values) => write_words(&[values[i]], out)?,
                ColumnData::F32(values) => write_words(&[values[i].to_bits()], out)?,
                ColumnData::Vec3(values) => write_words(&values[i].map(f32::to_bits), out)?,
            }
        }
    }

    write_attribute(out, "time", 1, FLOAT)?;
    write_words(&[(frame.time_s() as f32).to_bits()], out)?;
    out.write_all(&[0x00, 0xff])
}

/// Returns Houdini's name of a column: `v` of a velocity, by which points move between frames, and `pscale`
/// of a radius, by which they are drawn. A column keeps its name if the frame has one of Houdini's name, too.
fn houdini_name<'a>(frame: &Frame, name: &'a str) -> &'a str {
    let houdini = match name {
        "velocity" => "v",
        "radius" => "pscale",
        _ => return name,
    };
    if frame.column(houdini).is_some() { name } else { houdini }
}

/// Writes name, number of 32-bit words, type and a default of zero.
fn write_attribute(out: &mut impl Write, name: &str, size: u16, kind: u32) -> io::Result<()> {
    out.write_all(&(name.len() as u16).to_be_bytes())?;
    out.write_all(name.as_bytes())?;
    out.write_all(&size.to_be_bytes())?;
    write_words(&[kind], out)?;
    (0..size).try_for_each(|_| write_words(&[0], out))
}

fn write_words(values: &[u32], out: &mut impl Write) -> io::Result<()> {
    values.iter().try_for_each(|value| out.write_all(&value.to_be_bytes()))
}
