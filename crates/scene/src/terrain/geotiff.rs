//! Reads terrains from GeoTIFF files.

use std::io::Cursor;

use tiff::ColorType;
use tiff::decoder::{Decoder, DecodingResult};
use tiff::tags::Tag;

use super::geo_keys::{GEOGRAPHIC, GeoKeys, LINEAR_UNIT, METRE, MODEL_TYPE, PIXEL_IS_POINT, RASTER_TYPE};
use super::{MAX_HEIGHTS, MapProjection, Terrain, check_size, turned_over};

/// Tolerated relative difference of the edges of a square pixel.
const SQUARE_TOLERANCE: f64 = 1e-6;

type Reader<'a> = Decoder<Cursor<&'a [u8]>>;

/// Reads the terrain in `bytes`, a GeoTIFF of one band in a projection of metres. The error describes the
/// problem.
pub(crate) fn read_geotiff(bytes: &[u8]) -> Result<Terrain, String> {
    let invalid = |cause: tiff::TiffError| format!("no valid TIFF: {cause}");
    let mut tiff = Decoder::new(Cursor::new(bytes)).map_err(invalid)?;
    let mut limits = tiff::decoder::Limits::default();
    limits.decoding_buffer_size = MAX_HEIGHTS * size_of::<f64>();
    tiff = tiff.with_limits(limits);
    let (width, height) = tiff.dimensions().map_err(invalid)?;
    let (n_columns, n_rows) = (width as usize, height as usize);
    check_size(n_columns, n_rows)?;
    match tiff.colortype().map_err(invalid)? {
        ColorType::Gray(_) => {}
        other => return Err(format!("a TIFF of {other:?} pixels, where one band of heights is needed")),
    }
    let keys = geo_keys(&mut tiff)?;
    if keys.short(MODEL_TYPE) == Some(GEOGRAPHIC) {
        return Err("longitudes and latitudes, where a projection of metres is needed".to_owned());
    }
    if let Some(unit) = keys.short(LINEAR_UNIT).filter(|unit| *unit != METRE) {
        return Err(format!("a projection of EPSG unit {unit}, where metres (EPSG unit {METRE}) are needed"));
    }
    let place = Place::read(&mut tiff)?;
    let no_data = no_data(&mut tiff)?;
    let values = values(tiff.read_image().map_err(invalid)?);
    if values.len() != n_columns * n_rows {
        return Err(format!("{} heights for {n_rows} rows of {n_columns}", values.len()));
    }
    let heights: Vec<f64> =
        values.into_iter().map(|x| if Some(x) == no_data { f64::NAN } else { x }).collect();
    // The position of an area pixel is its outer corner, that of a point pixel the point itself.
    let half = if keys.short(RASTER_TYPE) == Some(PIXEL_IS_POINT) { 0.5 * place.cell_m } else { 0.0 };
    let [west, north] = place.north_west_m;
    let corner_m = [west - half, north + half - n_rows as f64 * place.cell_m];
    let terrain = Terrain::new(n_columns, n_rows, place.cell_m, corner_m, turned_over(&heights, n_columns))?;
    Ok(terrain.projected(MapProjection::of_geo_keys(keys)))
}

impl Terrain {
    /// Reads a terrain from the bytes of a GeoTIFF of one band in a projection of metres. The error describes
    /// the problem. Holes of the map are kept.
    pub fn from_geotiff(bytes: &[u8]) -> Result<Self, String> {
        read_geotiff(bytes)
    }
}

/// Position of the image's first corner, and the pixel size.
struct Place {
    cell_m: f64,
    north_west_m: [f64; 2],
}

impl Place {
    fn read(tiff: &mut Reader<'_>) -> Result<Self, String> {
        let mut numbers = |tag| tiff.get_tag_f64_vec(tag).ok();
        if numbers(Tag::ModelTransformationTag).is_some() {
            return Err("a ModelTransformation, where the pixels must lie along east and north".to_owned());
        }
        let (scale, tie) = (numbers(Tag::ModelPixelScaleTag), numbers(Tag::ModelTiepointTag));
        let (Some(&[cell_m, height_m, ..]), Some(&[i, j, _, x, y, ..])) = (scale.as_deref(), tie.as_deref())
        else {
            return Err("no ModelPixelScale and ModelTiepoint, which a GeoTIFF has".to_owned());
        };
        let is_square = (cell_m - height_m).abs() <= SQUARE_TOLERANCE * cell_m.abs();
        if !(cell_m > 0.0 && cell_m.is_finite() && is_square) {
            return Err(format!("pixels of {cell_m} m by {height_m} m, where squares are needed"));
        }
        Ok(Self { cell_m, north_west_m: [x - i * cell_m, y + j * cell_m] })
    }
}

/// Returns the file's keys; none if it has no directory of them.
fn geo_keys(tiff: &mut Reader<'_>) -> Result<GeoKeys, String> {
    let Ok(directory) = tiff.get_tag_u16_vec(Tag::GeoKeyDirectoryTag) else { return Ok(GeoKeys::default()) };
    let numbers = tiff.get_tag_f64_vec(Tag::GeoDoubleParamsTag).unwrap_or_default();
    let texts = tiff.get_tag_ascii_string(Tag::GeoAsciiParamsTag).unwrap_or_default();
    GeoKeys::new(&directory, numbers, texts)
}

/// Returns the value that stands for an unknown height (GDAL's own tag).
fn no_data(tiff: &mut Reader<'_>) -> Result<Option<f64>, String> {
    let Ok(text) = tiff.get_tag_ascii_string(Tag::GdalNodata) else { return Ok(None) };
    let word = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
    word.parse().map(Some).map_err(|_| format!("{word:?} as GDAL_NODATA, where a number is needed"))
}

fn values(samples: DecodingResult) -> Vec<f64> {
    fn all<T: Copy + Into<f64>>(samples: &[T]) -> Vec<f64> {
        samples.iter().map(|&x| x.into()).collect()
    }
    match samples {
        DecodingResult::U8(samples) => all(&samples),
        DecodingResult::U16(samples) => all(&samples),
        DecodingResult::U32(samples) => all(&samples),
        DecodingResult::U64(samples) => samples.iter().map(|&x| x as f64).collect(),
        DecodingResult::I8(samples) => all(&samples),
        DecodingResult::I16(samples) => all(&samples),
        DecodingResult::I32(samples) => all(&samples),
        DecodingResult::I64(samples) => samples.iter().map(|&x| x as f64).collect(),
        DecodingResult::F16(samples) => samples.iter().map(|x| f64::from(x.to_f32())).collect(),
        DecodingResult::F32(samples) => all(&samples),
        DecodingResult::F64(samples) => samples,
    }
}

#[cfg(test)]
mod tests {
    use tiff::encoder::{TiffEncoder, TiffValue, colortype};

    use super::super::geo_keys::{CITATION, PROJECTED_SYSTEM};
    use super::*;

    /// Tags of a test's GeoTIFF.
    #[derive(Clone)]
    struct Tags {
        scale: Vec<f64>,
        tie: Vec<f64>,
        keys: Vec<[u16; 4]>,
        no_data: &'static str,
    }

    impl Default for Tags {
        fn default() -> Self {
            Self {
                scale: vec![5.0, 5.0, 0.0],
                tie: vec![0.0, 0.0, 0.0, 1000.0, 2010.0, 0.0],
                keys: vec![[MODEL_TYPE, 0, 1, 1], [RASTER_TYPE, 0, 1, 1], [PROJECTED_SYSTEM, 0, 1, 31287]],
                no_data: "-1",
            }
        }
    }

    /// Writes a GeoTIFF of two rows of three pixels, the upper 4 5 −1.
    fn geotiff<C: colortype::ColorType>(tags: &Tags, pixels: &[C::Inner]) -> Vec<u8>
    where
        [C::Inner]: TiffValue,
    {
        let mut bytes = Cursor::new(Vec::new());
        let mut encoder = TiffEncoder::new(&mut bytes).unwrap();
        let mut image = encoder.new_image::<C>(3, 2).unwrap();
        let directory = image.encoder();
        if !tags.scale.is_empty() {
            directory.write_tag(Tag::ModelPixelScaleTag, &tags.scale[..]).unwrap();
        }
        directory.write_tag(Tag::ModelTiepointTag, &tags.tie[..]).unwrap();
        let mut words = vec![1, 1, 0, tags.keys.len() as u16];
        words.extend(tags.keys.iter().flatten());
        directory.write_tag(Tag::GeoKeyDirectoryTag, &words[..]).unwrap();
        directory.write_tag(Tag::GeoAsciiParamsTag, "my mountain|").unwrap();
        directory.write_tag(Tag::GdalNodata, tags.no_data).unwrap();
        image.write_data(pixels).unwrap();
        bytes.into_inner()
    }

    fn floats(tags: &Tags) -> Result<Terrain, String> {
        read_geotiff(&geotiff::<colortype::Gray32Float>(tags, &[4.0, 5.0, -1.0, 1.0, 2.0, 3.5]))
    }

    #[test]
    fn heights_of_all_kinds_are_placed() {
        let tags = Tags::default();
        let all = [
            geotiff::<colortype::Gray32Float>(&tags, &[4.0, 5.0, -1.0, 1.0, 2.0, 3.0]),
            geotiff::<colortype::Gray64Float>(&tags, &[4.0, 5.0, -1.0, 1.0, 2.0, 3.0]),
            geotiff::<colortype::GrayI16>(&tags, &[4, 5, -1, 1, 2, 3]),
            geotiff::<colortype::Gray16>(&Tags { no_data: "65535", ..tags }, &[4, 5, 65535, 1, 2, 3]),
        ];
        for bytes in all {
            let terrain = read_geotiff(&bytes).unwrap();
            assert_eq!((terrain.n_columns(), terrain.n_rows(), terrain.cell_m()), (3, 2, 5.0));
            assert_eq!(terrain.corner_m(), [1000.0, 2000.0]);
            let heights: Vec<_> = (0..6).map(|idx| terrain.height_at(idx % 3, idx / 3)).collect();
            assert_eq!(heights, [Some(0.0), Some(1.0), Some(2.0), Some(3.0), Some(4.0), None]);
            assert_eq!(terrain.projection().unwrap().name(), "EPSG:31287");
            assert_eq!(terrain.geo_keys().short(PROJECTED_SYSTEM), Some(31287));
        }
    }

    #[test]
    fn a_point_is_in_the_middle_of_its_cell() {
        let mut tags = Tags::default();
        tags.keys[1][3] = PIXEL_IS_POINT;
        tags.tie[0] = 1.0;
        tags.tie[1] = 1.0;
        let terrain = floats(&tags).unwrap();
        // The height one pixel east and one south of the first is at the tie point.
        assert_eq!(terrain.to_map_m([5.0, 0.0]), [1000.0, 2010.0]);
        assert_eq!(terrain.height_m([0.0, 0.0]), Some(0.0));
    }

    #[test]
    fn a_projection_without_a_code_has_a_name() {
        let mut tags = Tags::default();
        tags.keys[2] = [CITATION, Tag::GeoAsciiParamsTag.to_u16(), 12, 0];
        assert_eq!(floats(&tags).unwrap().projection().unwrap().name(), "my mountain");
    }

    #[test]
    fn non_maps_are_refused() {
        let degrees = Tags { keys: vec![[MODEL_TYPE, 0, 1, GEOGRAPHIC]], ..Tags::default() };
        assert!(floats(&degrees).unwrap_err().starts_with("longitudes and latitudes"));
        let feet = Tags { keys: vec![[LINEAR_UNIT, 0, 1, 9002]], ..Tags::default() };
        assert!(floats(&feet).unwrap_err().contains("EPSG unit 9002"));
        let oblong = Tags { scale: vec![5.0, 6.0, 0.0], ..Tags::default() };
        assert_eq!(floats(&oblong).unwrap_err(), "pixels of 5 m by 6 m, where squares are needed");
        let nowhere = Tags { scale: vec![], ..Tags::default() };
        assert_eq!(
            floats(&nowhere).unwrap_err(),
            "no ModelPixelScale and ModelTiepoint, which a GeoTIFF has"
        );
        let word = Tags { no_data: "none", ..Tags::default() };
        assert_eq!(floats(&word).unwrap_err(), "\"none\" as GDAL_NODATA, where a number is needed");
        let coloured = geotiff::<colortype::RGB8>(&Tags::default(), &[0; 18]);
        assert!(read_geotiff(&coloured).unwrap_err().contains("where one band of heights is needed"));
        assert!(read_geotiff(b"II*").unwrap_err().starts_with("no valid TIFF: "));
        let cut = geotiff::<colortype::Gray32Float>(&Tags::default(), &[0.0; 6]);
        for n in 0..cut.len() {
            // Reading truncated bytes returns a result and does not panic.
            let _ = read_geotiff(&cut[..n]);
        }
    }
}
