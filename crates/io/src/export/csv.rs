//! Comma separated values: a header row with units, then one row per particle, which ends with the time of
//! the frame. Numbers read back bit-exactly, except NaN payloads.

use std::io::{self, Write};

use crate::frame::{Column, ColumnData, Frame, label};

/// Name of the column of the simulated time.
const TIME: &str = "time";

pub(super) fn write(frame: &Frame, out: &mut impl Write) -> io::Result<()> {
    let mut header: Vec<_> = frame.columns().iter().flat_map(labels).collect();
    // A column of the solver may have that name.
    let time = frame.column(TIME).is_none().then(|| format!(",{:?}", frame.time_s()));
    header.extend(time.is_some().then(|| label(TIME, "s")));
    let time = time.unwrap_or_default();
    writeln!(out, "{}", header.join(","))?;
    for i in 0..frame.len() {
        for (c, column) in frame.columns().iter().enumerate() {
            if c > 0 {
                out.write_all(b",")?;
            }
            match &column.data {
                ColumnData::U32(values) => write!(out, "{}", values[i])?,
                ColumnData::F32(values) => write!(out, "{:?}", values[i])?,
                ColumnData::Vec3(values) => {
                    let [x, y, z] = values[i];
                    write!(out, "{x:?},{y:?},{z:?}")?;
                }
            }
        }
        writeln!(out, "{time}")?;
    }
    Ok(())
}

fn labels(column: &Column) -> Vec<String> {
    match column.data {
        ColumnData::Vec3(_) => {
            ["x", "y", "z"].map(|axis| label(&format!("{}_{axis}", column.name), &column.unit)).to_vec()
        }
        ColumnData::U32(_) | ColumnData::F32(_) => vec![column.label()],
    }
}
