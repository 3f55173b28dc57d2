//! Reads terrains from ESRI ASCII grids.

use super::{Terrain, check_size, turned_over};

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
/// The header has `ncols`, `nrows`, `xllcorner` or `xllcenter`, `yllcorner` or `yllcenter`, `cellsize` and,
/// optionally, `NODATA_value`, one line each, in any order; then the values follow, from north to south and
/// each row from west to east. The position of the grid may be missing until [`AsciiGrid::terrain`] requires
/// it.
pub(crate) fn read_ascii_grid(text: &str) -> Result<AsciiGrid, String> {
    let mut head = Head::default();
    let mut lines = text.lines().enumerate().map(|(idx, line)| (idx + 1, line)).peekable();
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
                _ => return Err(format!("line {number}: {word:?} among the heights")),
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
        let cell_m = head.cell_m.ok_or_else(|| missing("cellsize"))?;
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

/// Returns true for a line that begins with a letter, though not that of `nan`, or that is empty.
fn is_head(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or("#");
    (word == "#" || word.starts_with(|c: char| c.is_ascii_alphabetic())) && !word.eq_ignore_ascii_case("nan")
}

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
    no_data: Option<f64>,
}

impl Head {
    fn read(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, value) = match words[..] {
            [] => return Ok(()),
            [name, value] => (name.to_ascii_lowercase(), value),
            [name] => return Err(format!("{name} without a value")),
            [name, ..] => return Err(format!("{} values of {name}, expected one", words.len() - 1)),
        };
        let whole =
            || value.parse::<usize>().map_err(|_| format!("{name} of {value:?}, expected a whole number"));
        let real = || match value.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(format!("{name} of {value:?}, expected a number")),
        };
        let is_again = match name.as_str() {
            "ncols" => self.n_columns.replace(whole()?).is_some(),
            "nrows" => self.n_rows.replace(whole()?).is_some(),
            "xllcorner" => self.west.replace(First::Corner(real()?)).is_some(),
            "xllcenter" => self.west.replace(First::Centre(real()?)).is_some(),
            "yllcorner" => self.south.replace(First::Corner(real()?)).is_some(),
            "yllcenter" => self.south.replace(First::Centre(real()?)).is_some(),
            "cellsize" => match real()? {
                cell_m if cell_m > 0.0 => self.cell_m.replace(cell_m).is_some(),
                _ => return Err(format!("cellsize of {value:?}, expected a positive number")),
            },
            // Some programs write NaN for unknown heights.
            "nodata_value" => match value.parse::<f64>() {
                Ok(x) => self.no_data.replace(x).is_some(),
                Err(_) => return Err(format!("NODATA_value of {value:?}, expected a number")),
            },
            _ => return Err(format!("{name:?} in the head of what should be an ESRI ASCII grid")),
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
    fn errors_name_the_problem_and_its_location() {
        let edited = |from: &str, to: &str| {
            assert!(HEAD.contains(from), "{from}");
            read(&format!("{}1 2 3\n4 5 6\n", HEAD.replace(from, to))).unwrap_err()
        };
        assert_eq!(edited("ncols 3", "ncols three"), "line 1: ncols of \"three\", expected a whole number");
        assert_eq!(
            edited("ncols 3", "columns 3"),
            "line 1: \"columns\" in the head of what should be an ESRI ASCII grid"
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
        assert_eq!(heights("1 2 3\n4 x 6"), "line 8: \"x\" among the heights");
        assert_eq!(heights("1 2 3\n4 inf 6"), "line 8: \"inf\" among the heights");
        assert_eq!(heights("1 2 3"), "3 heights for 2 rows of 3");
        assert_eq!(read("1 2 3").unwrap_err(), "no ncols in the head, which an ESRI ASCII grid has");
    }
}
