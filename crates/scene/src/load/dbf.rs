//! Reads one number per row of a dBase table, the attributes of a shapefile.
//!
//! Only names of columns and digits are read, which are ASCII in every code page; other columns may have any
//! type. Rows that are marked as deleted are kept as such, because their shapes are still in the file.

use crate::format::text::number_token;

/// Lengths of the table's header, without its columns, and of the description of a column.
const HEADER_BYTES: usize = 32;
const COLUMN_BYTES: usize = 32;
const END_OF_COLUMNS: u8 = 0x0d;
const DELETED: u8 = b'*';

/// A row of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) is_deleted: bool,
    /// The number in the first of the columns that has one.
    pub(super) number: Option<f64>,
}

/// Place of a column within a row.
struct Column {
    name: String,
    kind: u8,
    begin: usize,
    end: usize,
}

/// Reads the rows of a table with the number in the first of the columns `names` that has one. Names are
/// compared without regard to case. The error describes the problem.
pub(super) fn read_rows(bytes: &[u8], names: &[&str]) -> Result<Vec<Row>, String> {
    let cut = || format!("it ends at byte {}, before its header does", bytes.len());
    let header = bytes.get(..HEADER_BYTES).ok_or_else(cut)?;
    let n_rows = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
    let first_row = usize::from(u16::from_le_bytes([header[8], header[9]]));
    let mut columns = Vec::new();
    // A row begins with the mark of deleted ones.
    let (mut at, mut row_bytes) = (HEADER_BYTES, 1);
    while at + COLUMN_BYTES <= first_row && bytes.get(at).is_some_and(|byte| *byte != END_OF_COLUMNS) {
        let column = bytes.get(at..at + COLUMN_BYTES).ok_or_else(cut)?;
        let name = column[..11].split(|byte| *byte == 0).next().unwrap_or_default();
        let kind = column[11];
        // Texts may be longer than a byte can count.
        let more = if kind == b'C' { 256 * usize::from(column[17]) } else { 0 };
        let begin = row_bytes;
        row_bytes += usize::from(column[16]) + more;
        columns.push(Column {
            name: String::from_utf8_lossy(name).trim().to_owned(),
            kind,
            begin,
            end: row_bytes,
        });
        at += COLUMN_BYTES;
    }
    let used: Vec<&Column> = names
        .iter()
        .filter_map(|name| columns.iter().find(|column| column.name.eq_ignore_ascii_case(name)))
        .collect();
    // No more rows than the file has bytes are allocated.
    let mut rows = Vec::with_capacity(n_rows.min(bytes.len() / row_bytes));
    for idx in 0..n_rows {
        let begin = first_row + idx * row_bytes;
        let Some(row) = bytes.get(begin..begin + row_bytes) else {
            return Err(format!("it ends at byte {}, before the last of its {n_rows} rows", bytes.len()));
        };
        let mut number = None;
        for column in &used {
            if number.is_none() {
                number = column.number(row).map_err(|problem| format!("row {}, {problem}", idx + 1))?;
            }
        }
        rows.push(Row { is_deleted: row[0] == DELETED, number });
    }
    Ok(rows)
}

impl Column {
    /// Returns the number in this column of a row; `None` if there is none.
    fn number(&self, row: &[u8]) -> Result<Option<f64>, String> {
        let bytes = &row[self.begin..self.end];
        match (self.kind, bytes.len()) {
            (b'N' | b'F' | b'C', _) => {}
            (b'I', 4) => return Ok(bytes.try_into().ok().map(|word| f64::from(i32::from_le_bytes(word)))),
            (b'B' | b'O', 8) => return Ok(bytes.try_into().ok().map(f64::from_le_bytes)),
            _ => return Ok(None),
        }
        let text = String::from_utf8_lossy(bytes);
        let word = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        // Stars stand for a number that is too long for its column.
        let is_empty = word.is_empty() || word.chars().all(|c| c == '*');
        match word.replacen(',', ".", 1).parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) if is_empty || self.kind == b'C' => Ok(None),
            Err(_) => Err(format!("column {}: found {}, expected a number", self.name, number_token(word))),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Writes a table: columns with name, type and length, and rows with the mark of deletion and their
    /// bytes.
    pub(in crate::load) fn table(code_page: u8, columns: &[(&str, u8, u8)], rows: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        let row_bytes = 1 + columns.iter().map(|(_, _, n)| u16::from(*n)).sum::<u16>();
        bytes[0] = 3;
        bytes[4..8].copy_from_slice(&(rows.len() as u32).to_le_bytes());
        bytes[8..10].copy_from_slice(&(33 + 32 * columns.len() as u16).to_le_bytes());
        bytes[10..12].copy_from_slice(&row_bytes.to_le_bytes());
        bytes[29] = code_page;
        for (name, kind, length) in columns {
            let mut column = vec![0; COLUMN_BYTES];
            column[..name.len()].copy_from_slice(name.as_bytes());
            (column[11], column[16]) = (*kind, *length);
            bytes.extend(column);
        }
        bytes.push(END_OF_COLUMNS);
        for (mark, row) in rows {
            bytes.push(*mark);
            bytes.extend(*row);
        }
        bytes.push(0x1a);
        bytes
    }

    fn row(number: Option<f64>) -> Row {
        Row { is_deleted: false, number }
    }

    #[test]
    fn numbers_are_read_beside_text_of_any_code_page() {
        let columns = [("NAME", b'C', 4), ("when", b'D', 8), ("D0", b'C', 4), ("Thickness", b'N', 5)];
        // Code page 1252 of ArcGIS: an umlaut is no UTF-8.
        let bytes = table(
            0x03,
            &columns,
            &[
                (b' ', b"H\xfct 202601010.7  1.50"),
                (DELETED, b"H\xfct 00000000     2.50"),
                (b' ', b"x   ????????1,25     "),
                (b' ', b"x           none*****"),
            ],
        );
        let rows = read_rows(&bytes, &["thickness", "d0"]).unwrap();
        let deleted = Row { is_deleted: true, number: Some(2.5) };
        assert_eq!(rows, [row(Some(1.5)), deleted, row(Some(1.25)), row(None)]);
        let binary = table(0, &[("d0", b'O', 8)], &[(b' ', &0.75_f64.to_le_bytes())]);
        assert_eq!(read_rows(&binary, &["thickness", "d0"]).unwrap(), [row(Some(0.75))]);
        let integer = table(0, &[("thickness", b'I', 4)], &[(b' ', &(-3_i32).to_le_bytes())]);
        assert_eq!(read_rows(&integer, &["thickness"]).unwrap(), [row(Some(-3.0))]);
    }

    #[test]
    fn damaged_tables_are_refused() {
        let bytes = table(0, &[("thickness", b'N', 6)], &[(b' ', b"   1.5"), (b' ', b"secret")]);
        assert_eq!(
            read_rows(&bytes, &["thickness"]).unwrap_err(),
            "row 2, column thickness: found text, expected a number"
        );
        for n in 0..bytes.len() - 1 {
            assert!(read_rows(&bytes[..n], &["thickness"]).is_err(), "{n}");
        }
    }
}
