//! Reads terrains from GeoTIFF files.

use std::io::Cursor;

use tiff::decoder::Decoder;
use tiff::tags::Tag;

use super::gdal_metadata::GdalMetadata;
use super::geo_keys::{
    GEOGRAPHIC, GEOGRAPHIC_SYSTEM, GeoKeys, LINEAR_UNIT, METRE, MODEL_TYPE, PIXEL_IS_POINT, PROJECTED_SYSTEM,
    RASTER_TYPE,
};
use super::tiff_band::{Reader, invalid, limits, read_band};
use super::{MapProjection, Terrain, check_size, turned_over, utm_remedy};
use crate::format::text::number_token;

/// Tolerated relative difference of the edges of a square pixel.
const SQUARE_TOLERANCE: f64 = 1e-6;

/// Reads the terrain in `bytes`, a GeoTIFF of one band in a projection of metres. Heights in feet are
/// converted. The error describes the problem.
pub(crate) fn read_geotiff(bytes: &[u8]) -> Result<Terrain, String> {
    let mut tiff = Decoder::new(Cursor::new(bytes)).map_err(|cause| invalid(&cause))?.with_limits(limits());
    let (width, height) = tiff.dimensions().map_err(|cause| invalid(&cause))?;
    let (n_columns, n_rows) = (width as usize, height as usize);
    check_size(n_columns, n_rows)?;
    let keys = geo_keys(&mut tiff)?;
    if let Some(unit) = keys.short(LINEAR_UNIT).filter(|unit| *unit != METRE) {
        return Err(format!(
            "a projection of EPSG unit {unit}, where metres (EPSG unit {METRE}) are needed: {}",
            utm_remedy(None)
        ));
    }
    let place = Place::read(&mut tiff)?;
    let is_geographic = match keys.short(MODEL_TYPE) {
        Some(model) => model == GEOGRAPHIC,
        None => keys.short(GEOGRAPHIC_SYSTEM).is_some() && keys.short(PROJECTED_SYSTEM).is_none(),
    };
    if is_geographic {
        return Err(format!(
            "longitudes and latitudes, where a projection of metres is needed: {}",
            utm_remedy(Some(place.north_west_m))
        ));
    }
    place.check_square()?;
    let metadata = GdalMetadata::read(tiff.get_tag_ascii_string(Tag::Unknown(GdalMetadata::TAG)).ok())?;
    let unit_m = match keys.vertical_unit_m()? {
        Some(unit_m) => unit_m,
        None => metadata.unit_m()?,
    };
    let no_data = no_data(&mut tiff)?;
    let band = read_band(&mut tiff, n_columns, n_rows, no_data)?;
    let heights: Vec<f64> = match (metadata.scale * unit_m, metadata.offset * unit_m) {
        (1.0, 0.0) => band,
        (scale, offset) => band.into_iter().map(|value| scale * value + offset).collect(),
    };
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
    height_m: f64,
    north_west_m: [f64; 2],
}

impl Place {
    fn read(tiff: &mut Reader<'_>) -> Result<Self, String> {
        let mut numbers = |tag| tiff.get_tag_f64_vec(tag).ok();
        let (scale, tie) = (numbers(Tag::ModelPixelScaleTag), numbers(Tag::ModelTiepointTag));
        if let (Some(&[cell_m, height_m, ..]), Some(&[i, j, _, x, y, ..])) =
            (scale.as_deref(), tie.as_deref())
        {
            return Ok(Self { cell_m, height_m, north_west_m: [x - i * cell_m, y + j * height_m] });
        }
        // Rows of a matrix: the easting is a i + b j + c k + d of a column and a row.
        match numbers(Tag::ModelTransformationTag).as_deref() {
            Some(&[a, b, _, x, d, e, _, y, ..]) => {
                let is_turned = b.abs() > SQUARE_TOLERANCE * a.abs() || d.abs() > SQUARE_TOLERANCE * a.abs();
                if is_turned || a <= 0.0 || e >= 0.0 {
                    return Err("a ModelTransformation that rotates or mirrors the image, where rows must lie \
                                from west to east, the first in the north: gdalwarp old.tif new.tif makes it so"
                        .to_owned());
                }
                Ok(Self { cell_m: a, height_m: -e, north_west_m: [x, y] })
            }
            _ if tie.is_some_and(|tie| tie.len() > 6) => {
                Err("control points, where the position of a corner is needed: gdalwarp old.tif new.tif \
                     makes it so"
                    .to_owned())
            }
            _ => Err("no ModelPixelScale and ModelTiepoint, which a GeoTIFF has".to_owned()),
        }
    }

    fn check_square(&self) -> Result<(), String> {
        let Self { cell_m, height_m, .. } = *self;
        let is_square = (cell_m - height_m).abs() <= SQUARE_TOLERANCE * cell_m.abs();
        if !(cell_m > 0.0 && cell_m.is_finite() && is_square) {
            return Err(format!(
                "pixels of {cell_m} m by {height_m} m, where squares are needed: gdalwarp -tr {cell_m} {cell_m} \
                 -r bilinear old.tif new.tif makes them so"
            ));
        }
        Ok(())
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
    word.parse().map(Some).map_err(|_| {
        format!(
            "{} as GDAL_NODATA, where a number is needed: gdal_translate -a_nodata -9999 old.tif new.tif",
            number_token(word)
        )
    })
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
        let oblong = floats(&oblong).unwrap_err();
        assert!(
            oblong.starts_with("pixels of 5 m by 6 m, where squares are needed: gdalwarp -tr 5 5"),
            "{oblong}"
        );
        let nowhere = Tags { scale: vec![], ..Tags::default() };
        assert_eq!(
            floats(&nowhere).unwrap_err(),
            "no ModelPixelScale and ModelTiepoint, which a GeoTIFF has"
        );
        let word = Tags { no_data: "none", ..Tags::default() };
        let word = floats(&word).unwrap_err();
        assert!(word.starts_with("text as GDAL_NODATA, where a number is needed"), "{word}");
        let coloured = geotiff::<colortype::RGB8>(&Tags::default(), &[0; 18]);
        assert!(read_geotiff(&coloured).unwrap_err().contains("where one band of heights is needed"));
        assert!(read_geotiff(b"II*").unwrap_err().starts_with("no valid TIFF: "));
        let cut = geotiff::<colortype::Gray32Float>(&Tags::default(), &[0.0; 6]);
        for n in 0..cut.len() {
            // Reading truncated bytes returns a result and does not panic.
            let _ = read_geotiff(&cut[..n]);
        }
    }

    /// A tag of a hand-made file: its number and its values, of the type that their variant names.
    enum Values<'a> {
        Shorts(&'a [u16]),
        Longs(&'a [u32]),
        Doubles(&'a [f64]),
        Text(&'a str),
    }

    /// Writes a TIFF of these tags. The pixels of each tile or strip are at the offsets that `chunk_offsets`
    /// returns for the same chunks.
    fn raw_tiff(tags: &[(u16, Values<'_>)], chunks: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = b"II*\0".to_vec();
        let n_pixels: usize = chunks.iter().map(Vec::len).sum();
        bytes.extend((8 + n_pixels as u32).to_le_bytes());
        bytes.extend(chunks.concat());
        bytes.extend((tags.len() as u16).to_le_bytes());
        let (mut directory, mut more) = (Vec::new(), Vec::new());
        let first = bytes.len() + 12 * tags.len() + 4;
        for (tag, values) in tags {
            let (kind, n, data): (u16, usize, Vec<u8>) = match values {
                Values::Shorts(values) => {
                    (3, values.len(), values.iter().flat_map(|x| x.to_le_bytes()).collect())
                }
                Values::Longs(values) => {
                    (4, values.len(), values.iter().flat_map(|x| x.to_le_bytes()).collect())
                }
                Values::Doubles(values) => {
                    (12, values.len(), values.iter().flat_map(|x| x.to_le_bytes()).collect())
                }
                Values::Text(text) => (2, text.len() + 1, [text.as_bytes(), &[0]].concat()),
            };
            directory.extend(tag.to_le_bytes());
            directory.extend(kind.to_le_bytes());
            directory.extend((n as u32).to_le_bytes());
            if data.len() <= 4 {
                let mut data = data;
                data.resize(4, 0);
                directory.extend(data);
            } else {
                directory.extend(((first + more.len()) as u32).to_le_bytes());
                more.extend(data);
            }
        }
        bytes.extend(directory);
        bytes.extend([0; 4]);
        bytes.extend(more);
        bytes
    }

    fn chunk_offsets(chunks: &[Vec<u8>]) -> Vec<u32> {
        chunks
            .iter()
            .scan(8, |at, chunk| {
                let begin = *at;
                *at += chunk.len() as u32;
                Some(if chunk.is_empty() { 0 } else { begin })
            })
            .collect()
    }

    fn f32_bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    const KEYS: [u16; 16] = [1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 25832];
    const TIE: [f64; 6] = [0.0, 0.0, 0.0, 1000.0, 2010.0, 0.0];

    /// Writes 3 by 2 pixels of 32-bit floats in one strip, the upper row first, with these tags in place of
    /// the usual ones.
    fn strip(pixels: Vec<u8>, other: Vec<(u16, Values<'_>)>) -> Vec<u8> {
        let chunks = [pixels];
        let (offsets, counts) = (chunk_offsets(&chunks), [chunks[0].len() as u32]);
        let mut tags = vec![
            (256, Values::Shorts(&[3])),
            (257, Values::Shorts(&[2])),
            (258, Values::Shorts(&[32])),
            (259, Values::Shorts(&[1])),
            (262, Values::Shorts(&[1])),
            (273, Values::Longs(&offsets)),
            (277, Values::Shorts(&[1])),
            (278, Values::Shorts(&[2])),
            (279, Values::Longs(&counts)),
            (339, Values::Shorts(&[3])),
            (33550, Values::Doubles(&[5.0, 5.0, 0.0])),
            (33922, Values::Doubles(&TIE)),
            (34735, Values::Shorts(&KEYS)),
        ];
        tags.retain(|(tag, _)| other.iter().all(|(replaced, _)| replaced != tag));
        tags.extend(other);
        tags.sort_by_key(|(tag, _)| *tag);
        raw_tiff(&tags, &chunks)
    }

    fn heights_of(bytes: &[u8]) -> Vec<f64> {
        read_geotiff(bytes).unwrap_or_else(|problem| panic!("{problem}")).map_heights_m().to_vec()
    }

    const PIXELS: [f32; 6] = [4.0, 5.0, -999.9, 1.0, 2.0, 3.0];

    #[test]
    fn no_data_is_compared_in_the_type_of_the_band() {
        let heights = heights_of(&strip(f32_bytes(&PIXELS), vec![(42113, Values::Text("-999.9"))]));
        assert!(heights[5].is_nan() && heights[..5] == [1.0, 2.0, 3.0, 4.0, 5.0], "{heights:?}");
        // The lowest float, with six of its digits.
        let mut pixels = PIXELS;
        pixels[2] = f32::MIN;
        let heights = heights_of(&strip(f32_bytes(&pixels), vec![(42113, Values::Text("-3.40282e+38"))]));
        assert!(heights[5].is_nan());
    }

    #[test]
    fn scale_offset_and_unit_of_heights_are_applied() {
        let pixels = f32_bytes(&[40.0, 50.0, -1.0, 10.0, 20.0, 30.0]);
        let metadata = "<GDALMetadata><Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.5</Item><Item \
                        name=\"OFFSET\" sample=\"0\" role=\"offset\">100</Item></GDALMetadata>";
        let scaled = vec![(42112, Values::Text(metadata)), (42113, Values::Text("-1"))];
        let heights = heights_of(&strip(pixels.clone(), scaled));
        assert!(heights[5].is_nan() && heights[..5] == [105.0, 110.0, 115.0, 120.0, 125.0], "{heights:?}");
        let with_key = |key: u16, value: u16| {
            let mut keys = [&KEYS[..], &[key, 0, 1, value]].concat();
            keys[3] = 4;
            read_geotiff(&strip(pixels.clone(), vec![(34735, Values::Shorts(&keys))]))
        };
        for (key, value, unit_m) in [
            (4099, 9002, 0.3048),
            (4099, 9003, 1200.0 / 3937.0),
            (4099, 9001, 1.0),
            (4096, 6360, 1200.0 / 3937.0),
        ] {
            let terrain = with_key(key, value).unwrap();
            assert!((terrain.map_heights_m()[0] - 10.0 * unit_m).abs() < 1e-12, "{key} {value}");
            assert_eq!(terrain.cell_m(), 5.0);
        }
        assert!(
            with_key(4099, 9014)
                .unwrap_err()
                .contains("heights in EPSG unit 9014, where metres (9001) or feet")
        );
    }

    #[test]
    fn a_transformation_to_the_north_is_a_place() {
        let place = |matrix: [f64; 16]| {
            let mut tags: Vec<(u16, Values<'_>)> = vec![(34264, Values::Doubles(&matrix))];
            // Neither a pixel size nor a tie point.
            tags.push((33550, Values::Doubles(&[])));
            tags.push((33922, Values::Doubles(&[])));
            read_geotiff(&strip(f32_bytes(&PIXELS), tags))
        };
        let north = [5.0, 0.0, 0.0, 1000.0, 0.0, -5.0, 0.0, 2010.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        assert_eq!(place(north).unwrap().corner_m(), [1000.0, 2000.0]);
        for (idx, value) in [(1, 0.5), (4, 0.5), (0, -5.0), (5, 5.0)] {
            let mut turned = north;
            turned[idx] = value;
            assert!(place(turned).unwrap_err().contains("rotates or mirrors the image"));
        }
    }

    /// Tiles of 16 by 16 pixels of a map of 20 by 20, the second and third of which are absent.
    #[test]
    fn absent_tiles_are_unknown() {
        let tile = |first: f32| f32_bytes(&(0..256).map(|k| first + k as f32).collect::<Vec<_>>());
        let chunks = [tile(1000.0), Vec::new(), Vec::new(), tile(2000.0)];
        let offsets = chunk_offsets(&chunks);
        let counts: Vec<u32> = chunks.iter().map(|chunk| chunk.len() as u32).collect();
        let bytes = raw_tiff(
            &[
                (256, Values::Shorts(&[20])),
                (257, Values::Shorts(&[20])),
                (258, Values::Shorts(&[32])),
                (259, Values::Shorts(&[1])),
                (262, Values::Shorts(&[1])),
                (277, Values::Shorts(&[1])),
                (322, Values::Shorts(&[16])),
                (323, Values::Shorts(&[16])),
                (324, Values::Longs(&offsets)),
                (325, Values::Longs(&counts)),
                (339, Values::Shorts(&[3])),
                (33550, Values::Doubles(&[5.0, 5.0, 0.0])),
                (33922, Values::Doubles(&TIE)),
                (34735, Values::Shorts(&KEYS)),
                (42113, Values::Text("-9999")),
            ],
            &chunks,
        );
        let heights = heights_of(&bytes);
        // Rows from the south: the first four are those of the lower tiles.
        let at = |column: usize, row: usize| heights[(19 - row) * 20 + column];
        assert_eq!((at(0, 0), at(15, 15), at(16, 16), at(19, 19)), (1000.0, 1255.0, 2000.0, 2051.0));
        assert!(at(16, 0).is_nan() && at(0, 16).is_nan());
        assert_eq!(heights.iter().filter(|height| height.is_nan()).count(), 2 * 4 * 16);
    }

    #[test]
    fn an_alpha_band_is_a_mask() {
        let pixels = f32_bytes(
            &PIXELS.iter().flat_map(|x| [*x, if *x < 0.0 { 0.0 } else { 255.0 }]).collect::<Vec<_>>(),
        );
        let bands = |extra: u16| {
            strip(
                pixels.clone(),
                vec![
                    (258, Values::Shorts(&[32, 32])),
                    (277, Values::Shorts(&[2])),
                    (338, Values::Shorts(if extra == 0 { &[0] } else { &[2] })),
                    (339, Values::Shorts(&[3, 3])),
                ],
            )
        };
        let heights = heights_of(&bands(2));
        assert!(heights[5].is_nan() && heights[..5] == [1.0, 2.0, 3.0, 4.0, 5.0], "{heights:?}");
        let problem = read_geotiff(&bands(0)).unwrap_err();
        assert!(
            problem
                .starts_with("a TIFF of 2 bands, where one band of heights is needed: gdal_translate -b 1"),
            "{problem}"
        );
    }

    #[test]
    fn compression_by_zstandard_is_read_and_others_are_named() {
        let pixels = zstd::encode_all(&*f32_bytes(&PIXELS), 3).unwrap();
        let heights = heights_of(&strip(pixels, vec![(259, Values::Shorts(&[50000]))]));
        assert_eq!(heights[..3], [1.0, 2.0, 3.0]);
        let problem = |method: u16| {
            let shorts = [method];
            read_geotiff(&strip(f32_bytes(&PIXELS), vec![(259, Values::Shorts(&shorts))])).unwrap_err()
        };
        assert!(problem(34887).starts_with("pixels compressed by LERC, where Deflate, LZW, Zstandard"));
        assert!(problem(7).ends_with("gdal_translate -co COMPRESS=DEFLATE old.tif new.tif"));
        assert!(problem(4711).contains("compression method 4711"));
        let white = strip(f32_bytes(&PIXELS), vec![(262, Values::Shorts(&[0]))]);
        assert!(read_geotiff(&white).unwrap_err().contains("whose lowest value is white"));
        let far = strip(f32_bytes(&PIXELS), vec![(273, Values::Longs(&[100_000]))]);
        let problem = read_geotiff(&far).unwrap_err();
        assert_eq!(problem, "no valid TIFF: it ends before its pixels do");
    }
}
