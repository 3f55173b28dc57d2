//! Rasters of values over a terrain, which GIS programs read.

mod ascii_grid;
mod geotiff;

pub use ascii_grid::write_ascii_grid;
pub use geotiff::{read_geotiff, write_geotiff};

use std::path::Path;

use frazil_scene::Terrain;

use crate::error::{Error, Result};

/// Marker of unknown values.
const NO_DATA: f32 = -9999.0;

/// Checks that `format` can represent the values: one for each height of the terrain, rows from the south and
/// each from the west, NaN where unknown.
fn check_values(path: &Path, format: &'static str, terrain: &Terrain, values: &[f32]) -> Result<()> {
    let (n_columns, n_rows) = (terrain.n_columns(), terrain.n_rows());
    let refuse = |problem: String| Err(Error::Unrepresentable { path: path.to_owned(), format, problem });
    if values.len() != n_columns * n_rows {
        return refuse(format!(
            "found {} values, expected {}, one for each of {n_rows} rows of {n_columns} heights",
            values.len(),
            n_columns * n_rows
        ));
    }
    match values.iter().position(|value| value.is_infinite() || *value == NO_DATA) {
        Some(idx) => refuse(format!(
            "found {} in row {} from the south, column {} from the west, expected finite numbers other than \
             {NO_DATA}, which stands for unknown ones",
            values[idx],
            idx / n_columns + 1,
            idx % n_columns + 1
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Makes a flat terrain.
    pub fn flat(n: [usize; 2], cell_m: f64, corner_m: [f64; 2]) -> Terrain {
        Terrain::new(n[0], n[1], cell_m, corner_m, vec![7.0; n[0] * n[1]]).unwrap()
    }

    #[test]
    fn unrepresentable_values_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("depth");
        type Write = fn(&Path, &Terrain, &[f32]) -> Result<()>;
        for write in [write_ascii_grid as Write, write_geotiff as Write] {
            let refusal =
                |values: &[f32]| write(&path, &flat([2, 2], 1.0, [0.0; 2]), values).unwrap_err().to_string();
            assert!(
                refusal(&[0.0; 3])
                    .ends_with("found 3 values, expected 4, one for each of 2 rows of 2 heights")
            );
            assert!(
                refusal(&[0.0, 1.0, f32::INFINITY, 0.0])
                    .contains("found inf in row 2 from the south, column 1 from the west")
            );
            assert!(
                refusal(&[0.0, -9999.0, 0.0, 0.0]).contains("found -9999 in row 1 from the south, column 2")
            );
            assert!(!path.exists());
        }
    }
}
