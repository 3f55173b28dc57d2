//! Reads the band of heights of a TIFF, with its no-data values, absent tiles and masks.

use std::io::{Cursor, ErrorKind};

use tiff::decoder::{Decoder, DecodingResult, Limits};
use tiff::tags::Tag;
use tiff::{ColorType, TiffError, TiffFormatError};

use super::MAX_HEIGHTS;

pub(super) type Reader<'a> = Decoder<Cursor<&'a [u8]>>;

/// Compression methods that can be read, and names of others.
const READABLE: [u16; 6] = [1, 5, 8, 32773, 32946, 50000];
const OTHERS: [(u16, &str); 9] = [
    (6, "JPEG"),
    (7, "JPEG"),
    (34712, "JPEG 2000"),
    (33003, "JPEG 2000"),
    (34887, "LERC"),
    (34925, "LZMA"),
    (50001, "WebP"),
    (50002, "JPEG XL"),
    (52546, "JPEG XL"),
];

/// Magnitude of no-data values, such as the lowest 32-bit float, that programs write with few digits.
const LARGE: f64 = 1e30;
const LARGE_TOLERANCE: f64 = 1e-5;

/// Photometric interpretation by which the lowest value is white: readers may invert its values.
const WHITE_IS_ZERO: u16 = 0;
/// Bit of the subfile type of a mask.
const IS_MASK: u32 = 4;

/// Returns the limits of memory for images of as many heights as a terrain may have.
pub(super) fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.decoding_buffer_size = MAX_HEIGHTS * size_of::<f64>();
    limits
}

/// Describes an error of the decoder.
pub(super) fn invalid(cause: &TiffError) -> String {
    let problem = match cause {
        TiffError::FormatError(
            TiffFormatError::TiffSignatureNotFound | TiffFormatError::TiffSignatureInvalid,
        ) => "it does not begin as one".to_owned(),
        TiffError::FormatError(TiffFormatError::RequiredTagNotFound(tag)) => {
            format!("no tag {}", tag.to_u16())
        }
        TiffError::IoError(cause) if cause.kind() == ErrorKind::UnexpectedEof => {
            "it ends before its pixels do".to_owned()
        }
        TiffError::LimitsExceeded | TiffError::IntSizeError => "an image or a tile too large".to_owned(),
        TiffError::UnsupportedError(_) => {
            "pixels of an unusual kind; gdal_translate -ot Float32 -co COMPRESS=DEFLATE old.tif new.tif \
             rewrites them"
                .to_owned()
        }
        _ => "damaged tags or pixels".to_owned(),
    };
    format!("no valid TIFF: {problem}")
}

/// Reads the first band: rows from the north, each from the west; NaN where a value is `no_data`, compared in
/// the band's own type, where the alpha band is 0, and in absent tiles of a sparse file.
pub(super) fn read_band(
    tiff: &mut Reader<'_>,
    n_columns: usize,
    n_rows: usize,
    no_data: Option<f64>,
) -> Result<Vec<f64>, String> {
    let failed = |cause: TiffError| invalid(&cause);
    let n_samples = check_pixels(tiff)?;
    // Bands one after the other, or side by side in each pixel.
    let is_planar = tiff.find_tag_unsigned(Tag::PlanarConfiguration).map_err(failed)? == Some(2_u16);
    let counts = numbers(tiff, [Tag::TileByteCounts, Tag::StripByteCounts])?;
    let offsets = numbers(tiff, [Tag::TileOffsets, Tag::StripOffsets])?;
    let (chunk_width, chunk_height) = tiff.chunk_dimensions();
    let (width, height) = (chunk_width.max(1) as usize, chunk_height.max(1) as usize);
    let (n_across, n_down) = (n_columns.div_ceil(width), n_rows.div_ceil(height));
    let mut heights = vec![f64::NAN; n_columns * n_rows];
    for chunk in 0..n_across * n_down {
        let (left, top) = (chunk % n_across * width, chunk / n_across * height);
        let right = n_columns.min(left + width);
        let mut bands = Vec::with_capacity(2);
        for band in 0..if is_planar { n_samples } else { 1 } {
            let chunk = band * n_across * n_down + chunk;
            let is_absent = |sizes: &[u64]| sizes.get(chunk).is_some_and(|size| *size == 0);
            if is_absent(&counts) || is_absent(&offsets) {
                break;
            }
            bands.push(tiff.read_chunk(chunk as u32).map_err(failed)?);
        }
        let Some(first) = bands.first() else { continue };
        let n_side_by_side = if is_planar { 1 } else { n_samples };
        let values = known_values(first, no_data);
        let n = (right - left) * (n_rows.min(top + height) - top);
        if values.len() < n * n_side_by_side {
            return Err("no valid TIFF: it ends before its pixels do".to_owned());
        }
        let alpha = match bands.get(1) {
            Some(band) => known_values(band, None),
            None => Vec::new(),
        };
        for idx in 0..n {
            let is_masked = match (n_samples, is_planar) {
                (2, true) => alpha.get(idx) == Some(&0.0),
                (2, false) => values[2 * idx + 1] == 0.0,
                _ => false,
            };
            if !is_masked {
                let (column, row) = (left + idx % (right - left), top + idx / (right - left));
                heights[row * n_columns + column] = values[idx * n_side_by_side];
            }
        }
    }
    Ok(heights)
}

/// Returns the number of bands, the second of which is an alpha band, of pixels that can be read as heights.
fn check_pixels(tiff: &mut Reader<'_>) -> Result<usize, String> {
    let failed = |cause: TiffError| invalid(&cause);
    let mut short = |tag| tiff.find_tag_unsigned::<u16>(tag).map_err(failed);
    if let Some(method) = short(Tag::Compression)?.filter(|method| !READABLE.contains(method)) {
        let name = match OTHERS.iter().find(|(other, _)| *other == method) {
            Some((_, name)) => (*name).to_owned(),
            None => format!("compression method {method}"),
        };
        return Err(format!(
            "pixels compressed by {name}, where Deflate, LZW, Zstandard, PackBits or none are needed: \
             gdal_translate -co COMPRESS=DEFLATE old.tif new.tif"
        ));
    }
    if short(Tag::PhotometricInterpretation)? == Some(WHITE_IS_ZERO) {
        return Err("pixels whose lowest value is white, where it must be black: gdal_translate -co \
                    PHOTOMETRIC=MINISBLACK old.tif new.tif"
            .to_owned());
    }
    let extra = tiff.find_tag_unsigned_vec::<u16>(Tag::ExtraSamples).map_err(failed)?.unwrap_or_default();
    let is_alpha = matches!(extra[..], [1 | 2]);
    let found = match tiff.colortype().map_err(failed)? {
        ColorType::Gray(_) => return no_mask(tiff).map(|()| 1),
        ColorType::Multiband { num_samples: 2, .. } | ColorType::GrayA(_) if is_alpha => {
            return no_mask(tiff).map(|()| 2);
        }
        ColorType::Multiband { num_samples, .. } => format!("{num_samples} bands"),
        ColorType::Palette(_) => "a palette of colours".to_owned(),
        _ => "colours".to_owned(),
    };
    Err(format!(
        "a TIFF of {found}, where one band of heights is needed: gdal_translate -b 1 old.tif new.tif writes the \
         first"
    ))
}

/// Refuses a mask that is an image of its own.
fn no_mask(tiff: &mut Reader<'_>) -> Result<(), String> {
    let mut n = 0;
    // The images that follow are overviews and masks; a damaged one of them is not needed.
    while tiff.more_images() && n < 64 && tiff.next_image().is_ok() {
        n += 1;
        let kind = tiff.find_tag_unsigned::<u32>(Tag::NewSubfileType).ok().flatten();
        if kind.is_some_and(|kind| kind & IS_MASK != 0) {
            return Err(
                "a mask beside the heights, where a no-data value is needed: gdalwarp -dstnodata -9999 \
                        old.tif new.tif"
                    .to_owned(),
            );
        }
    }
    if n > 0 { tiff.seek_to_image(0).map_err(|cause| invalid(&cause)) } else { Ok(()) }
}

/// Returns the numbers of the first of two tags that the file has.
fn numbers(tiff: &mut Reader<'_>, tags: [Tag; 2]) -> Result<Vec<u64>, String> {
    for tag in tags {
        if let Some(found) = tiff.find_tag_unsigned_vec(tag).map_err(|cause| invalid(&cause))? {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Returns samples as numbers, NaN for those that are no data. GDAL writes the no-data value with the digits
/// of a 64-bit float, and compares it in the type of the band.
fn known_values(samples: &DecodingResult, no_data: Option<f64>) -> Vec<f64> {
    fn all<T: Copy>(samples: &[T], number: impl Fn(T) -> f64, no_data: Option<f64>) -> Vec<f64> {
        let is_large = no_data.is_some_and(|no_data| no_data.abs() >= LARGE);
        let known = |x: f64| match no_data {
            Some(no_data) if x == no_data => f64::NAN,
            Some(no_data) if is_large && (x - no_data).abs() <= LARGE_TOLERANCE * no_data.abs() => f64::NAN,
            _ => x,
        };
        samples.iter().map(|x| known(number(*x))).collect()
    }
    match samples {
        DecodingResult::U8(samples) => all(samples, f64::from, no_data),
        DecodingResult::U16(samples) => all(samples, f64::from, no_data),
        DecodingResult::U32(samples) => all(samples, f64::from, no_data),
        DecodingResult::U64(samples) => all(samples, |x| x as f64, no_data),
        DecodingResult::I8(samples) => all(samples, f64::from, no_data),
        DecodingResult::I16(samples) => all(samples, f64::from, no_data),
        DecodingResult::I32(samples) => all(samples, f64::from, no_data),
        DecodingResult::I64(samples) => all(samples, |x| x as f64, no_data),
        // A half-precision float has eleven digits of a binary number.
        DecodingResult::F16(samples) => {
            let is_unknown = |x: f64| no_data.is_some_and(|n| (x - n).abs() <= n.abs() / 2048.0);
            let number = |x: f64| if is_unknown(x) { f64::NAN } else { x };
            samples.iter().map(|x| number(f64::from(x.to_f32()))).collect()
        }
        DecodingResult::F32(samples) => all(samples, f64::from, no_data.map(|x| f64::from(x as f32))),
        DecodingResult::F64(samples) => all(samples, |x| x, no_data),
    }
}
