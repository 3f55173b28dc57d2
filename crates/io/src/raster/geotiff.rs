//! Fields over a terrain as GeoTIFF (OGC 19-008r4).

use std::fs::File;
use std::io::{BufReader, Cursor, Write};
use std::path::Path;

use frazil_scene::Terrain;
use tiff::TiffError;
use tiff::decoder::{Decoder, DecodingResult};
use tiff::encoder::{Compression, DeflateLevel, TiffEncoder, colortype};
use tiff::tags::Tag;

use super::{NO_DATA, check_values};
use crate::atomic::{self, Durability};
use crate::error::{Error, Result};

const FORMAT: &str = "a GeoTIFF";

/// Writes `values`, one for each height of `terrain`, as a GeoTIFF of one band of 32-bit floats at the
/// terrain's map position, with the terrain's projection if it is known.
///
/// Values are in the order of the heights, rows from the south and each from the west; NaN marks unknown
/// values, which are −9999 in the file (`GDAL_NODATA`). A pixel is the cell around a height. Pixels are
/// compressed (Deflate) without loss.
///
/// # Errors
/// [`Error::Unrepresentable`] if the number of values differs from that of heights, or a value is infinite or
/// equal to the marker of unknown values; [`Error::Io`].
pub fn write_geotiff(path: &Path, terrain: &Terrain, values: &[f32]) -> Result<()> {
    check_values(path, FORMAT, terrain, values)?;
    let refuse = |cause: TiffError| Error::Unrepresentable {
        path: path.to_owned(),
        format: FORMAT,
        problem: cause.to_string(),
    };
    let bytes = encode(terrain, values).map_err(refuse)?;
    atomic::write(path, Durability::Process, |out| out.write_all(&bytes))
}

fn encode(terrain: &Terrain, values: &[f32]) -> std::result::Result<Vec<u8>, TiffError> {
    let (n_columns, n_rows) = (terrain.n_columns(), terrain.n_rows());
    let cell_m = terrain.cell_m();
    let [west, south] = terrain.corner_m();
    let keys = terrain.geo_keys();
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder =
        TiffEncoder::new(&mut bytes)?.with_compression(Compression::Deflate(DeflateLevel::Balanced));
    let mut image = encoder.new_image::<colortype::Gray32Float>(n_columns as u32, n_rows as u32)?;
    let directory = image.encoder();
    directory.write_tag(Tag::ModelPixelScaleTag, &[cell_m, cell_m, 0.0][..])?;
    // The outer corner of the first pixel.
    let tie_point = [0.0, 0.0, 0.0, west, south + n_rows as f64 * cell_m, 0.0];
    directory.write_tag(Tag::ModelTiepointTag, &tie_point[..])?;
    directory.write_tag(Tag::GeoKeyDirectoryTag, &keys.directory()[..])?;
    if !keys.numbers().is_empty() {
        directory.write_tag(Tag::GeoDoubleParamsTag, keys.numbers())?;
    }
    if !keys.texts().is_empty() {
        directory.write_tag(Tag::GeoAsciiParamsTag, keys.texts())?;
    }
    directory.write_tag(Tag::GdalNodata, &*format!("{NO_DATA}"))?;
    let known = |value: &f32| if value.is_nan() { NO_DATA } else { *value };
    let pixels: Vec<f32> = values.chunks(n_columns).rev().flatten().map(known).collect();
    image.write_data(&pixels)?;
    Ok(bytes.into_inner())
}

/// Reads the values that [`write_geotiff`] wrote for `terrain`, in the order of its heights; NaN where
/// unknown.
///
/// # Errors
/// [`Error::Raster`] if the file is not such a raster of the terrain's size; [`Error::Io`].
pub fn read_geotiff(path: &Path, terrain: &Terrain) -> Result<Vec<f32>> {
    let refuse = |problem: String| Error::Raster { path: path.to_owned(), problem };
    let file = File::open(path).map_err(Error::io("open", path))?;
    let mut decoder = Decoder::new(BufReader::new(file)).map_err(|cause| refuse(cause.to_string()))?;
    let (n_columns, n_rows) = decoder.dimensions().map_err(|cause| refuse(cause.to_string()))?;
    let expected = [terrain.n_columns(), terrain.n_rows()];
    if [n_columns as usize, n_rows as usize] != expected {
        let [columns, rows] = expected;
        return Err(refuse(format!(
            "found {n_rows} rows of {n_columns} pixels, expected {rows} of {columns}, those of the terrain"
        )));
    }
    match decoder.read_image().map_err(|cause| refuse(cause.to_string()))? {
        DecodingResult::F32(pixels) => {
            let known = |value: &f32| if *value == NO_DATA { f32::NAN } else { *value };
            Ok(pixels.chunks(expected[0]).rev().flatten().map(known).collect())
        }
        _ => Err(refuse("found pixels of another type, expected one band of 32-bit floats".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use frazil_scene::MapProjection;
    use proptest::prelude::*;
    use tiff::tags::CompressionMethod;

    use super::super::tests::flat;
    use super::*;

    /// Reads a raster as a scene reads its terrain.
    fn read_as_terrain(path: &Path) -> Terrain {
        Terrain::from_geotiff(&fs::read(path).unwrap()).unwrap()
    }

    proptest! {
        /// Written values read back bit-exactly, on the same grid, by both readers.
        #[test]
        fn a_raster_reads_back(
            n in prop::array::uniform2(2..7_usize),
            cell_m in 0.01..100.0_f64,
            corner_m in prop::array::uniform2(-1e7..1e7_f64),
            values in prop::collection::vec(-9e3..1e5_f32, 36),
            unknown in prop::collection::vec(any::<bool>(), 36),
        ) {
            let mut values: Vec<f32> = values[..n[0] * n[1]].to_vec();
            for (idx, value) in values.iter_mut().enumerate() {
                // A grid without any complete cell is not a terrain.
                if unknown[idx] && ![0, 1, n[0], n[0] + 1].contains(&idx) {
                    *value = f32::NAN;
                }
            }
            let terrain = flat(n, cell_m, corner_m);
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("depth.tif");
            write_geotiff(&path, &terrain, &values).unwrap();
            let again = read_as_terrain(&path);
            prop_assert_eq!((again.n_columns(), again.n_rows(), again.cell_m()), (n[0], n[1], cell_m));
            for (read, written) in again.corner_m().iter().zip(corner_m) {
                // The file has the northern corner.
                prop_assert!((read - written).abs() <= 4e-16 * (1e3 + written.abs()), "{} {}", read, written);
            }
            let own = read_geotiff(&path, &terrain).unwrap();
            for ((read, own), value) in again.map_heights_m().iter().zip(&own).zip(&values) {
                prop_assert_eq!(own.to_bits(), value.to_bits());
                prop_assert!(read.is_nan() && value.is_nan() || (*read as f32).to_bits() == value.to_bits());
            }
        }
    }

    #[test]
    fn a_raster_has_the_projection_of_its_terrain() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("depth.tif");
        let wkt = "PROJCS[\"here\",PROJECTION[\"Transverse_Mercator\"],UNIT[\"Meter\",1.0]]";
        for (text, name) in [("EPSG:31287", "EPSG:31287"), (wkt, "here")] {
            let terrain = flat([3, 2], 5.0, [100.25, -20.5]).projected(Some(MapProjection::new(text)));
            write_geotiff(&path, &terrain, &[0.5; 6]).unwrap();
            let again = read_as_terrain(&path);
            assert_eq!(again.projection().unwrap().name(), name);
            assert_eq!(again.geo_keys(), terrain.geo_keys());
            assert_eq!(again.projection().unwrap().wkt(), Some(wkt).filter(|_| name == "here"));
        }
        write_geotiff(&path, &flat([3, 2], 5.0, [100.25, -20.5]), &[0.5; 6]).unwrap();
        assert_eq!(read_as_terrain(&path).projection(), None);
        let mut decoder = Decoder::new(File::open(&path).unwrap()).unwrap();
        let compression = decoder.get_tag_u32(Tag::Compression).unwrap();
        assert_eq!(compression, u32::from(CompressionMethod::Deflate.to_u16()));
    }

    #[test]
    fn a_raster_of_another_terrain_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("depth.tif");
        write_geotiff(&path, &flat([3, 2], 5.0, [0.0; 2]), &[0.5; 6]).unwrap();
        let error = read_geotiff(&path, &flat([2, 3], 5.0, [0.0; 2])).unwrap_err().to_string();
        assert!(
            error.ends_with("found 2 rows of 3 pixels, expected 3 of 2, those of the terrain"),
            "{error}"
        );
        fs::write(&path, "no tiff").unwrap();
        assert!(read_geotiff(&path, &flat([2, 3], 5.0, [0.0; 2])).is_err());
    }
}
