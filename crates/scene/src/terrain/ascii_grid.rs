//! Reads terrains from ESRI ASCII grids.

use super::{Terrain, check_size, turned_over};
use crate::format::text::{number_token, without_byte_order_mark};

/// Words for unknown heights, in lower case.
const NO_DATA_WORDS: [&str; 8] = ["null", "nan", "-nan", "na", "n/a", "none", "nodata", "*"];
/// Tolerated relative difference of the edges of a square cell.
const SQUARE_TOLERANCE: f64 = 1e-6;

/// Value of unknown heights in a grid without `NODATA_value`.
const DEFAULT_NO_DATA: f64 = -9999.0;

/// Contents of an ESRI ASCII grid.
pub(crate) struct AsciiGrid {
    pub(crate) n_columns: usize,
    n_rows: usize,
    /// Rows from the north, each from the west; NaN where unknown.
    pub(crate) values: Vec<f64>,
    head: Head,
}

/// Reads the grid in `text`. The error describes the problem and its line.
///
/// The header has `ncols`, `nrows`, `xllcorner` or `xllcenter`, `yllcorner` or `yllcenter`, `cellsize` (or
/// `dx` and `dy`, which must be equal) and, optionally, `NODATA_value`, one line each, in any order; then the
/// values follow, from north to south and each row from west to east. The position of the grid may be missing
/// until [`AsciiGrid::terrain`] requires it.
pub(crate) fn read_ascii_grid(text: &str) -> Result<AsciiGrid, String> {
    let mut head = Head::default();
    let mut lines =
        without_byte_order_mark(text).lines().enumerate().map(|(idx, line)| (idx + 1, line)).peekable();
    while let Some((number, line)) = lines.next_if(|(_, line)| is_head(line)) {
        head.read(line).map_err(|problem| format!("line {number}: {problem}"))?;
    }
    let missing = |name: &str| format!("no {name} in the head, which an ESRI ASCII grid has");
    let n_columns = head.n_columns.ok_or_else(|| missing("ncols"))?;
    let n_rows = head.n_rows.ok_or_else(|| missing("nrows"))?;
    let no_data = head.no_data.unwrap_or(DEFAULT_NO_DATA);
    check_size(n_columns, n_rows)?;
    let n = n_columns * n_rows;
    // A text cannot hold more heights than it has bytes, whatever its header says.
    let mut values = Vec::with_capacity(n.min(text.len()));
    for (number, line) in lines {
        for word in line.split_whitespace() {
            if values.len() == n {
                return Err(format!(
                    "line {number}: more than the {n} heights of {n_rows} rows of {n_columns}"
                ));
            }
            match word.parse::<f64>() {
                Ok(value) if value == no_data || value.is_nan() => values.push(f64::NAN),
                Ok(value) if value.is_finite() => values.push(value),
                Err(_) if is_no_data_word(word) => values.push(f64::NAN),
                _ if word.contains(',') => {
                    let found = number_token(word);
                    return Err(format!("line {number}: {found} among the heights; decimals need a point"));
                }
                _ => return Err(format!("line {number}: {} among the heights", number_token(word))),
            }
        }
    }
    if values.len() != n {
        return Err(format!("{} heights for {n_rows} rows of {n_columns}", values.len()));
    }
    Ok(AsciiGrid { n_columns, n_rows, values, head })
}

impl AsciiGrid {
    /// Returns the terrain at the position that the header gives.
    pub(crate) fn terrain(self) -> Result<Terrain, String> {
        let Self { n_columns, n_rows, values, head } = self;
        let missing = |name: &str| format!("no {name} in the head, which an ESRI ASCII grid has");
        let cell_m = match (head.cell_m, head.sides_m) {
            (Some(cell_m), [None, None]) => cell_m,
            (None, [Some(dx), Some(dy)]) if (dx - dy).abs() <= SQUARE_TOLERANCE * dx => dx,
            (None, [Some(dx), Some(dy)]) => {
                return Err(format!(
                    "cells of {dx} m by {dy} m (dx, dy), where squares are needed: gdalwarp -tr {dx} {dx} -r \
                     bilinear old.asc new.tif makes them so"
                ));
            }
            (Some(_), _) => return Err("cellsize together with dx or dy in the head".to_owned()),
            (None, [Some(_), None]) => return Err(missing("dy")),
            (None, [None, Some(_)]) => return Err(missing("dx")),
            (None, [None, None]) => return Err(missing("cellsize")),
        };
        let corner = |first: First| match first {
            First::Corner(x) => x,
            First::Centre(x) => x - 0.5 * cell_m,
        };
        let corner_m = [
            corner(head.west.ok_or_else(|| missing("xllcorner"))?),
            corner(head.south.ok_or_else(|| missing("yllcorner"))?),
        ];
        Terrain::new(n_columns, n_rows, cell_m, corner_m, turned_over(&values, n_columns))
    }
}

/// Returns true for a line that begins with a letter, though not that of a word for an unknown height, or
/// that is empty.
fn is_head(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or("#");
    (word == "#" || word.starts_with(|c: char| c.is_ascii_alphabetic())) && !is_no_data_word(word)
}

/// Returns true for a word that programs write for an unknown height.
fn is_no_data_word(word: &str) -> bool {
    NO_DATA_WORDS.contains(&&*word.to_ascii_lowercase())
}

/// Names of the head, in lower case.
const HEAD: [&str; 10] = [
    "ncols",
    "nrows",
    "xllcorner",
    "xllcenter",
    "yllcorner",
    "yllcenter",
    "cellsize",
    "dx",
    "dy",
    "nodata_value",
];

/// Position of the first cell along one axis: its outer corner or its centre.
#[derive(Clone, Copy)]
enum First {
    Corner(f64),
    Centre(f64),
}

#[derive(Default)]
struct Head {
    n_columns: Option<usize>,
    n_rows: Option<usize>,
    west: Option<First>,
    south: Option<First>,
    cell_m: Option<f64>,
    /// Sides of a cell, `dx` and `dy`.
    sides_m: [Option<f64>; 2],
    no_data: Option<f64>,
}

impl Head {
    fn read(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let known = words.first().map(|word| word.to_ascii_lowercase());
        let Some(name) = known else { return Ok(()) };
        if !HEAD.contains(&name.as_str()) {
            return Err(
                "found another word in the head, expected ncols, nrows, xllcorner, yllcorner, cellsize or \
                        NODATA_value of an ESRI ASCII grid"
                    .to_owned(),
            );
        }
        let value = match words[..] {
            [_, value] => value,
            [_] => return Err(format!("{name} without a value")),
            _ => return Err(format!("{} values of {name}, expected one", words.len() - 1)),
        };
        let found = || format!("{name} of {}", number_token(value));
        let whole = || value.parse::<usize>().map_err(|_| format!("{}, expected a whole number", found()));
        let real = || match value.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ if value.contains(',') => Err(format!("{}, expected a number with a decimal point", found())),
            _ => Err(format!("{}, expected a number", found())),
        };
        let positive = || match real()? {
            x if x > 0.0 => Ok(x),
            _ => Err(format!("{}, expected a positive number", found())),
        };
        let is_again = match name.as_str() {
            "ncols" => self.n_columns.replace(whole()?).is_some(),
            "nrows" => self.n_rows.replace(whole()?).is_some(),
            "xllcorner" => self.west.replace(First::Corner(real()?)).is_some(),
            "xllcenter" => self.west.replace(First::Centre(real()?)).is_some(),
            "yllcorner" => self.south.replace(First::Corner(real()?)).is_some(),
            "yllcenter" => self.south.replace(First::Centre(real()?)).is_some(),
            "cellsize" => self.cell_m.replace(positive()?).is_some(),
            "dx" => self.sides_m[0].replace(positive()?).is_some(),
            "dy" => self.sides_m[1].replace(positive()?).is_some(),
            _ => match value.parse::<f64>() {
                Ok(x) => self.no_data.replace(x).is_some(),
                // Such words are unknown heights in any case.
                Err(_) if is_no_data_word(value) => self.no_data.replace(f64::NAN).is_some(),
                Err(_) => return Err(format!("{}, expected a number", found())),
            },
        };
        if is_again { Err(format!("{name} for the second time")) } else { Ok(()) }
    }
}

impl Terrain {
    /// Reads a terrain from the text of an ESRI ASCII grid. The error describes the problem and its line.
    /// Holes of the map are kept.
    pub fn from_ascii_grid(text: &str) -> Result<Self, String> {
        read_ascii_grid(text)?.terrain()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Terrain, String> {
        read_ascii_grid(text)?.terrain()
    }

    const HEAD: &str = "ncols 3\nNROWS 2\nxllcorner 100.5\nyllcorner 200\ncellsize 50\nNODATA_value -1\n";

    #[test]
    fn rows_go_from_north_to_south() {
        let terrain = read(&format!("{HEAD}4 5 6.5\n1 2 3\n")).unwrap();
        assert_eq!(terrain.map_heights_m(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.5]);
        assert_eq!((terrain.n_columns(), terrain.n_rows(), terrain.cell_m()), (3, 2, 50.0));
        assert_eq!((terrain.west_m(), terrain.south_m(), terrain.base_m()), (125.5, 225.0, 1.0));
    }

    #[test]
    fn the_first_cell_is_given_by_its_corner_or_its_centre() {
        let centre =
            HEAD.replace("xllcorner 100.5", "xllcenter 125.5").replace("yllcorner 200", "yllcenter 225");
        let terrain = read(&format!("{centre}\n4 5 6\n1 2 3")).unwrap();
        assert_eq!(terrain.corner_m(), [100.5, 200.0]);
    }

    #[test]
    fn unknown_heights_are_marked() {
        let terrain = read(&format!("{HEAD}-1.0 5 6\n1 2 3")).unwrap();
        assert_eq!(terrain.height_at(0, 1), None);
        let nan = HEAD.replace("NODATA_value -1", "NODATA_value nan");
        let terrain = read(&format!("{nan}NaN 5 6\n1 -1 3")).unwrap();
        assert_eq!((terrain.height_at(0, 1), terrain.height_at(1, 0)), (None, Some(0.0)));
        let none = HEAD.replace("NODATA_value -1\n", "");
        let terrain = read(&format!("{none}-9999 5 6\n1 -1 3")).unwrap();
        assert_eq!((terrain.height_at(0, 1), terrain.height_at(1, 0)), (None, Some(0.0)));
    }

    #[test]
    fn grids_of_programs_are_read() {
        let expected = read(&format!("{HEAD}4 5 -1\n1 2 3\n")).unwrap();
        let sides = HEAD.replace("cellsize 50", "dx 50.0\ndy 50");
        let null = HEAD.replace("NODATA_value -1", "nodata_value NULL");
        for text in [
            format!("\u{feff}{HEAD}4 5 -1\n1 2 3\n"),
            format!("{HEAD}4 5 -1\n1 2 3\n").replace('\n', "\r\n"),
            format!("{sides}4 5 -1\n1 2 3\n"),
            format!("{null}4 5 null\n1 2 3\n"),
            format!("{HEAD}4 5 *\n1 2 3\n"),
        ] {
            let terrain = read(&text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
            assert_eq!(terrain.checksum(), expected.checksum(), "{text}");
        }
        let first = read(&format!("{null}null 5 4\n1 2 3")).unwrap();
        assert_eq!(first.height_at(0, 1), None);
    }

    #[test]
    fn cells_that_are_no_squares_and_decimal_commas_are_refused() {
        let sides =
            |sides: &str| read(&format!("{}4 5 6\n1 2 3\n", HEAD.replace("cellsize 50", sides))).unwrap_err();
        assert!(
            sides("dx 50\ndy 60").starts_with("cells of 50 m by 60 m (dx, dy), where squares are needed")
        );
        assert_eq!(sides("dx 50"), "no dy in the head, which an ESRI ASCII grid has");
        assert_eq!(sides("cellsize 50\ndx 50"), "cellsize together with dx or dy in the head");
        assert_eq!(
            sides("cellsize 50,0"),
            "line 5: cellsize of \"50,0\", expected a number with a decimal point"
        );
        let heights = read(&format!("{HEAD}4 5 6,5\n1 2 3\n")).unwrap_err();
        assert_eq!(heights, "line 7: \"6,5\" among the heights; decimals need a point");
    }

    #[test]
    fn text_that_is_no_grid_is_not_repeated() {
        for text in ["root:x:0:0:root:/root", "secret 1", "ncols secret", "1 secret"] {
            let problem = read(text).unwrap_err();
            assert!(!problem.contains("root") && !problem.contains("secret"), "{problem}");
        }
    }

    #[test]
    fn errors_name_the_problem_and_its_location() {
        let edited = |from: &str, to: &str| {
            assert!(HEAD.contains(from), "{from}");
            read(&format!("{}1 2 3\n4 5 6\n", HEAD.replace(from, to))).unwrap_err()
        };
        assert_eq!(edited("ncols 3", "ncols three"), "line 1: ncols of text, expected a whole number");
        assert_eq!(
            edited("ncols 3", "columns 3"),
            "line 1: found another word in the head, expected ncols, nrows, xllcorner, yllcorner, cellsize or \
             NODATA_value of an ESRI ASCII grid"
        );
        assert_eq!(edited("ncols 3\n", ""), "no ncols in the head, which an ESRI ASCII grid has");
        assert_eq!(edited("cellsize 50\n", ""), "no cellsize in the head, which an ESRI ASCII grid has");
        assert_eq!(edited("xllcorner 100.5\n", ""), "no xllcorner in the head, which an ESRI ASCII grid has");
        assert_eq!(edited("xllcorner 100.5", "xllcorner"), "line 3: xllcorner without a value");
        assert_eq!(edited("xllcorner 100.5", "xllcorner 1 2"), "line 3: 2 values of xllcorner, expected one");
        assert_eq!(
            edited("yllcorner 200", "yllcorner inf"),
            "line 4: yllcorner of \"inf\", expected a number"
        );
        assert_eq!(edited("yllcorner 200", "xllcenter 200"), "line 4: xllcenter for the second time");
        assert_eq!(
            edited("cellsize 50", "cellsize 0"),
            "line 5: cellsize of \"0\", expected a positive number"
        );
        assert_eq!(edited("NROWS 2", "NROWS 3"), "6 heights for 3 rows of 3");
        assert_eq!(edited("NROWS 2", "NROWS 1"), "line 8: more than the 3 heights of 1 rows of 3");
        assert!(edited("ncols 3", "ncols 9999999999").contains("are the most"));
        let heights = |text: &str| read(&format!("{HEAD}{text}")).unwrap_err();
        assert_eq!(heights("1 2 3\n4 x 6"), "line 8: text among the heights");
        assert_eq!(heights("1 2 3\n4 inf 6"), "line 8: \"inf\" among the heights");
        assert_eq!(heights("1 2 3"), "3 heights for 2 rows of 3");
        assert_eq!(read("1 2 3").unwrap_err(), "no ncols in the head, which an ESRI ASCII grid has");
    }
}
