//! Reads tables of particles, as programs and spreadsheets write them.

use super::columns::{Columns, is_used, known_name};
use crate::format::text::{not_utf8, number_token, without_byte_order_mark};

/// Minimum number of columns of numbers at which the names of a table's columns are repeated in messages: any
/// other text is not.
const MIN_NUMBERS: usize = 2;

/// Reads a header row with names, whose units in brackets are ignored, and a row of numbers per particle.
///
/// Columns are separated by commas, or by the semicolons, tabs or blanks of the header; without commas
/// between columns, a decimal comma is a decimal point.
pub(super) fn read(bytes: &[u8]) -> Result<Columns, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16, expected UTF-8 text: save it as UTF-8".to_owned(),
        _ => not_utf8(bytes, error),
    })?;
    let mut lines = without_byte_order_mark(text).lines();
    // NumPy marks its header as a comment.
    let header = lines.next().unwrap_or_default().trim_start_matches(['#', ' ']);
    let separator = Separator::of(header);
    let names: Vec<String> = separator
        .cells(header)
        .iter()
        .map(|name| name.split(['[', '(']).next().unwrap_or_default().trim().to_owned())
        .collect();
    if names.iter().all(|name| separator.number(name).is_some()) {
        return Err("line 1: found numbers, expected the names of the columns, such as x,y,z".to_owned());
    }
    let known: Vec<String> = names.iter().map(|name| known_name(name)).collect();
    let used: Vec<bool> = known.iter().map(|name| is_used(name)).collect();
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    let mut is_table = false;
    for (number, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = number + 2;
        let mut cells = separator.cells(line);
        // Some programs end each row with a separator.
        if cells.len() == names.len() + 1 && cells.last().is_some_and(|cell| cell.is_empty()) {
            cells.pop();
        }
        if cells.len() != names.len() {
            let (found, expected) = (cells.len(), names.len());
            let hint = if separator == Separator::Comma && found == 2 * expected {
                "; decimal commas need semicolons between columns"
            } else {
                ""
            };
            return Err(format!(
                "line {number}: found {found} cells, expected {expected} as in the header{hint}"
            ));
        }
        is_table |= cells.iter().filter(|cell| separator.number(cell).is_some()).count() >= MIN_NUMBERS;
        for (column, cell) in cells.iter().enumerate().filter(|(column, _)| used[*column]) {
            let value = separator.number(cell).ok_or_else(|| {
                let found = number_token(cell);
                format!("line {number}, column {}: found {found}, expected a number", known[column])
            })?;
            columns[column].push(value);
        }
    }
    let mut found = Columns::default();
    for ((name, numbers), used) in names.iter().zip(columns).zip(used) {
        match used {
            true => found.insert(name, numbers),
            false if is_table => found.name(name),
            false => {}
        }
    }
    Ok(found)
}

/// Separator of columns.
#[derive(Clone, Copy, PartialEq)]
enum Separator {
    Comma,
    Character(char),
    Blanks,
}

impl Separator {
    fn of(header: &str) -> Self {
        match header {
            _ if header.contains(';') => Self::Character(';'),
            _ if header.contains('\t') => Self::Character('\t'),
            _ if header.contains(',') || header.split_whitespace().count() < MIN_NUMBERS => Self::Comma,
            _ => Self::Blanks,
        }
    }

    /// Returns the cells of a line without the quotation marks and blanks around them.
    fn cells(self, line: &str) -> Vec<String> {
        let separator = match self {
            Self::Blanks => return line.split_whitespace().map(str::to_owned).collect(),
            Self::Comma => ',',
            Self::Character(separator) => separator,
        };
        let (mut cells, mut is_quoted) = (vec![String::new()], false);
        for character in line.chars() {
            match character {
                '"' => is_quoted = !is_quoted,
                _ if character == separator && !is_quoted => cells.push(String::new()),
                _ => cells.last_mut().into_iter().for_each(|cell| cell.push(character)),
            }
        }
        cells.iter().map(|cell| cell.trim().to_owned()).collect()
    }

    fn number(self, cell: &str) -> Option<f64> {
        match self {
            // A comma within a quoted cell.
            Self::Comma if !cell.contains(',') => cell.parse().ok(),
            _ => cell.replacen(',', ".", 1).parse().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(text: &str) -> Result<Vec<[f64; 3]>, String> {
        read(text.as_bytes())?.cloud(Some(2)).map(|cloud| cloud.positions)
    }

    #[test]
    fn tables_of_programs_are_read() {
        let expected = vec![[0.5, 1.0, -2.0], [1.5, 1e-3, 3.0]];
        for text in [
            "x,y,z\n0.5,1,-2\n1.5,1e-3,3\n",
            "\u{feff}X, Y, Z\r\n0.5, 1, -2\r\n1.5, 1e-3, 3\r\n",
            "x;y;z\n0,5;1,0;-2\n1,5;1e-3;3\n",
            "\"x\";\"y\";\"z\";\r\n0,5;1,0;-2;\r\n1,5;1e-3;3;\r\n",
            "x,y,z\n\"0,5\",\"1,0\",-2\n\"1,5\",1e-3,3\n",
            "X [m]\tY [m]\tZ (m)\n0.5\t1\t-2\n1.5\t1e-3\t3\n",
            "# x y z\n0.5 1 -2\n1.5   1e-3 3\n",
            "\"id\",\"Points:0\",\"Points:1\",\"Points:2\",\"Points_Magnitude\"\n7,0.5,1,-2,9\n8,1.5,1e-3,3,9\n",
            "Points_0,Points_1,Points_2\n0.5,1,-2,\n1.5,1e-3,3,\n",
        ] {
            assert_eq!(positions(text).as_ref(), Ok(&expected), "{text}");
        }
        let velocities = read(b"x,y,z,Velocity:0,Velocity:1,Velocity:2,Temperature\n1,2,3,4,5,6,-7\n")
            .and_then(|columns| columns.cloud(Some(2)))
            .unwrap();
        assert_eq!(velocities.velocities_m_s, Some(vec![[4.0, 5.0, 6.0]]));
        assert_eq!(velocities.temperatures_c, Some(vec![-7.0]));
    }

    #[test]
    fn problems_of_tables_are_named() {
        let problem = |text: &str| positions(text).unwrap_err();
        assert_eq!(problem("east,north,up\n1,2,3\n").rsplit_once("; ").unwrap().1, "found east, north, up");
        assert_eq!(problem("x,y,up\n1,2,3\n"), "no column z; found x, y, up");
        assert_eq!(problem("1,2,3\n4,5,6\n").split_once(": ").unwrap().0, "line 1");
        assert_eq!(
            problem("x,y,z\n0,5,1,0,2,0\n"),
            "line 2: found 6 cells, expected 3 as in the header; decimal commas need semicolons between columns"
        );
        assert!(problem("x,y,z\n1,2,3.4.5\n").contains("column z: found \"3.4.5\", expected a number"));
        let utf16: Vec<u8> = "\u{feff}x,y,z".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(read(&utf16).err().unwrap().contains("save it as UTF-8"));
    }

    #[test]
    fn text_that_is_no_table_is_not_repeated() {
        for text in [
            "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin\n",
            "secret,secret\nsecret,secret\n",
            "x,y,z\n1,2,secret\n",
        ] {
            let problem = positions(text).unwrap_err();
            assert!(!problem.contains("root") && !problem.contains("secret"), "{problem}");
        }
    }
}
