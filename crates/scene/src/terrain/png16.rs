//! Reads terrains from 16-bit PNG images.

use std::io::Cursor;

use super::{Terrain, check_size, turned_over};

/// Reads the terrain in `bytes`, a PNG of 16-bit grey pixels whose upper edge is north. Black is the first
/// height of `range_m`, white the second. The error describes the problem.
pub(crate) fn read_png16(bytes: &[u8], cell_m: f64, range_m: [f64; 2]) -> Result<Terrain, String> {
    let invalid = |cause: png::DecodingError| {
        let problem = match cause {
            png::DecodingError::IoError(_) => "it ends before its pixels do",
            png::DecodingError::LimitsExceeded => "it is too large",
            _ => "it does not begin as one, or is damaged",
        };
        format!("no valid PNG: {problem}")
    };
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().map_err(invalid)?;
    let (colour, depth) = reader.output_color_type();
    if (colour, depth) != (png::ColorType::Grayscale, png::BitDepth::Sixteen) {
        let colours = match colour {
            png::ColorType::Grayscale => "grey",
            png::ColorType::GrayscaleAlpha => "grey with transparency",
            _ => "colours",
        };
        return Err(format!(
            "a PNG of {} bits of {colours}, where 16 bits of grey are needed: gdal_translate -ot UInt16 -b 1 \
             -of PNG old.tif new.png writes them",
            depth as u8
        ));
    }
    let (n_columns, n_rows) = (reader.info().width as usize, reader.info().height as usize);
    check_size(n_columns, n_rows)?;
    let mut pixels = vec![0; 2 * n_columns * n_rows];
    reader.next_frame(&mut pixels).map_err(invalid)?;
    let [black, white] = range_m;
    let heights: Vec<f64> = pixels
        .chunks_exact(2)
        .map(|pixel| black + f64::from(u16::from_be_bytes([pixel[0], pixel[1]])) / 65535.0 * (white - black))
        .collect();
    Terrain::new(n_columns, n_rows, cell_m, [-0.5 * cell_m; 2], turned_over(&heights, n_columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, pixels: &[u8], colour: png::ColorType, depth: png::BitDepth) -> Vec<u8> {
        let mut bytes = Vec::new();
        let height = (pixels.len() / width as usize / (depth as usize / 8) / colour.samples()) as u32;
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(colour);
        encoder.set_depth(depth);
        encoder.write_header().unwrap().write_image_data(pixels).unwrap();
        bytes
    }

    #[test]
    fn grey_is_height() {
        let pixels: Vec<u8> = [0_u16, 65535, 13107, 0, 1, 2].iter().flat_map(|v| v.to_be_bytes()).collect();
        let bytes = png(3, &pixels, png::ColorType::Grayscale, png::BitDepth::Sixteen);
        let terrain = read_png16(&bytes, 5.0, [100.0, 200.0]).unwrap();
        assert_eq!((terrain.n_columns(), terrain.n_rows(), terrain.cell_m()), (3, 2, 5.0));
        assert_eq!((terrain.west_m(), terrain.south_m()), (0.0, 0.0));
        let expected = [100.0, 100.0 + 100.0 / 65535.0, 100.0 + 200.0 / 65535.0, 100.0, 200.0, 120.0];
        assert_eq!(terrain.map_heights_m(), expected);
    }

    #[test]
    fn other_pictures_are_refused() {
        let coarse = png(2, &[0; 4], png::ColorType::Grayscale, png::BitDepth::Eight);
        let problem = read_png16(&coarse, 1.0, [0.0, 1.0]).unwrap_err();
        assert!(
            problem.starts_with("a PNG of 8 bits of grey, where 16 bits of grey are needed: gdal_translate"),
            "{problem}"
        );
        let coloured = png(2, &[0; 24], png::ColorType::Rgb, png::BitDepth::Sixteen);
        assert!(read_png16(&coloured, 1.0, [0.0, 1.0]).unwrap_err().contains("16 bits of colours"));
        assert!(read_png16(b"ncols 3", 1.0, [0.0, 1.0]).unwrap_err().starts_with("no valid PNG: "));
    }
}
