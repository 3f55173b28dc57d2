//! Fields over a terrain as ESRI ASCII grids.

use std::io::Write;
use std::path::Path;

use frazil_scene::{MapProjection, Terrain};

use super::{NO_DATA, check_values};
use crate::atomic::{self, Durability};
use crate::error::Result;

const FORMAT: &str = "an ESRI ASCII grid";

/// Writes `values`, one for each height of `terrain`, as an ESRI ASCII grid at the terrain's map position.
///
/// Values are in the order of the heights, rows from the south and each from the west; NaN marks unknown
/// values. They are written with enough digits to read back the same 32-bit float. If the WKT of the
/// terrain's projection is known, it is written to a `.prj` file next to the grid.
///
/// # Errors
/// [`Error::Unrepresentable`](crate::Error::Unrepresentable) if the number of values differs from that of
/// heights, or a value is infinite or equal to the marker of unknown values; [`Error::Io`](crate::Error::Io).
pub fn write_ascii_grid(path: &Path, terrain: &Terrain, values: &[f32]) -> Result<()> {
    check_values(path, FORMAT, terrain, values)?;
    let (n_columns, n_rows) = (terrain.n_columns(), terrain.n_rows());
    let [west, south] = terrain.corner_m();
    atomic::write(path, Durability::Process, |out| {
        writeln!(out, "ncols {n_columns}\nnrows {n_rows}\nxllcorner {west}\nyllcorner {south}")?;
        writeln!(out, "cellsize {}\nNODATA_value {NO_DATA}", terrain.cell_m())?;
        for row in values.chunks(n_columns).rev() {
            for (column, value) in row.iter().enumerate() {
                let space = if column > 0 { " " } else { "" };
                match value.is_nan() {
                    true => write!(out, "{space}{NO_DATA}")?,
                    false => write!(out, "{space}{value}")?,
                }
            }
            writeln!(out)?;
        }
        Ok(())
    })?;
    match terrain.projection().and_then(MapProjection::wkt) {
        Some(wkt) => {
            atomic::write(&path.with_extension("prj"), Durability::Process, |out| write!(out, "{wkt}"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::super::tests::flat;
    use super::*;

    proptest! {
        /// Written values read back bit-exactly, on the same grid.
        #[test]
        fn a_grid_reads_back(
            n in prop::array::uniform2(2..7_usize),
            cell_m in 0.01..100.0_f64,
            corner_m in prop::array::uniform2(-1e7..1e7_f64),
            bits in prop::collection::vec(any::<f32>(), 36),
            unknown in prop::collection::vec(any::<bool>(), 36),
        ) {
            let terrain = flat(n, cell_m, corner_m);
            let mut values: Vec<f32> = bits[..n[0] * n[1]].to_vec();
            for (value, unknown) in values.iter_mut().zip(&unknown) {
                if *unknown || value.is_infinite() {
                    *value = f32::NAN;
                }
            }
            // A grid without any complete cell is not a terrain.
            for idx in [0, 1, n[0], n[0] + 1] {
                values[idx] = if values[idx].is_nan() { 1.5 } else { values[idx] };
            }
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("depth.asc");
            write_ascii_grid(&path, &terrain, &values).unwrap();
            let text = fs::read_to_string(&path).unwrap();
            let again =
                Terrain::from_ascii_grid(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
            prop_assert_eq!((again.n_columns(), again.n_rows()), (n[0], n[1]));
            prop_assert_eq!((again.cell_m(), again.corner_m()), (cell_m, corner_m));
            for (read, value) in again.map_heights_m().iter().zip(&values) {
                prop_assert_eq!(read.is_nan(), value.is_nan());
                prop_assert!(
                    read.is_nan() || (*read as f32).to_bits() == value.to_bits(),
                    "{} {}", read, value
                );
            }
        }
    }

    #[test]
    fn the_first_row_is_the_northernmost() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("depth.asc");
        let wkt = "PROJCS[\"here\"]";
        let terrain = flat([3, 2], 5.0, [100.25, -20.5]).projected(Some(MapProjection::new(wkt)));
        write_ascii_grid(&path, &terrain, &[0.0, 0.5, f32::NAN, 3.0, 4.0, 1e-9]).unwrap();
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "ncols 3\nnrows 2\nxllcorner 100.25\nyllcorner -20.5\ncellsize 5\nNODATA_value -9999\n3 4 \
             0.000000001\n0 0.5 -9999\n"
        );
        assert_eq!(fs::read_to_string(directory.path().join("depth.prj")).unwrap(), wkt);
        write_ascii_grid(&path, &terrain.projected(Some(MapProjection::new("EPSG:31287"))), &[0.0; 6])
            .unwrap();
        assert_eq!(fs::read_to_string(directory.path().join("depth.prj")).unwrap(), wkt);
    }
}
