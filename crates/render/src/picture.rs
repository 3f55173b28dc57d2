//! PNG output and input of pixels.

use crate::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

/// Pixels on the host: packed RGBA8, red in the lowest byte, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Pixels, width times height of them.
    pub pixels: Vec<u32>,
}

/// Writes packed RGBA8 pixels, red in the lowest byte, row by row from the top, as an sRGB PNG file without
/// alpha.
///
/// The write is atomic: the file is written under a temporary name beside `path` and then renamed.
///
/// # Errors
/// [`Error::Size`] if the number of pixels is not `width` × `height`; [`Error::Io`], naming `path`, if it
/// cannot be written.
pub fn write_png(path: &Path, width: u32, height: u32, pixels: &[u32]) -> Result<()> {
    if pixels.len() as u64 != u64::from(width) * u64::from(height) || pixels.is_empty() {
        return Err(Error::Size { path: path.into(), width, height, found: pixels.len() });
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".part");
    let temporary = Path::new(&temporary);
    let error = |operation| move |source| Error::Io { operation, path: path.into(), source };
    let written = encode(temporary, width, height, pixels)
        .map_err(error("write"))
        .and_then(|()| fs::rename(temporary, path).map_err(error("rename into")));
    if written.is_err() {
        // The first error is the one to report; a leftover temporary file is harmless.
        let _ = fs::remove_file(temporary);
    }
    written
}

fn encode(path: &Path, width: u32, height: u32, pixels: &[u32]) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::Fast);
    let rgb: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_le_bytes().into_iter().take(3)).collect();
    let mut writer = encoder.write_header().map_err(io::Error::from)?;
    writer.write_image_data(&rgb).map_err(io::Error::from)?;
    writer.finish().map_err(io::Error::from)?;
    file.flush()
}

/// Reads a PNG file of any colour type and depth as RGBA8, without changing values: grey becomes equal
/// components, and 16 bits become 8.
///
/// # Errors
/// [`Error::Io`], naming `path`, if it cannot be read or is no PNG file.
pub fn read_image(path: &Path) -> Result<Pixels> {
    let read = || -> io::Result<Pixels> {
        let mut decoder = png::Decoder::new(BufReader::new(File::open(path)?));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let too_large = || io::Error::new(io::ErrorKind::InvalidData, "the picture is too large");
        let mut bytes = vec![0; reader.output_buffer_size().ok_or_else(too_large)?];
        let info = reader.next_frame(&mut bytes)?;
        let samples = info.color_type.samples();
        let color = |c: &[u8]| match *c {
            [grey] | [grey, _] => [grey; 3],
            [r, g, b, ..] => [r, g, b],
            [] => [0; 3],
        };
        let pack = |c: &[u8]| {
            let [r, g, b] = color(c);
            u32::from_le_bytes([r, g, b, 255])
        };
        let pixels = bytes[..info.buffer_size()].chunks_exact(samples).map(pack).collect();
        Ok(Pixels { width: info.width, height: info.height, pixels })
    };
    read().map_err(|source| Error::Io { operation: "read", path: path.into(), source })
}

/// Reads a picture that [`write_png`] wrote.
///
/// # Errors
/// [`Error::Io`], naming `path`, if it cannot be read or is not such a picture.
pub fn read_png(path: &Path) -> Result<Pixels> {
    decode(path).map_err(|source| Error::Io { operation: "read", path: path.into(), source })
}

fn decode(path: &Path) -> io::Result<Pixels> {
    let mut reader = png::Decoder::new(BufReader::new(File::open(path)?)).read_info()?;
    let refuse = |problem: String| io::Error::new(io::ErrorKind::InvalidData, problem);
    let mut rgb =
        vec![0; reader.output_buffer_size().ok_or_else(|| refuse("the picture is too large".into()))?];
    let info = reader.next_frame(&mut rgb)?;
    if (info.color_type, info.bit_depth) != (png::ColorType::Rgb, png::BitDepth::Eight) {
        let (color, depth) = (info.color_type, info.bit_depth);
        return Err(refuse(format!("found {color:?} of {depth:?} bits, expected RGB of eight bits")));
    }
    let pixels = rgb.chunks_exact(3).map(|c| u32::from_le_bytes([c[0], c[1], c[2], 255])).collect();
    Ok(Pixels { width: info.width, height: info.height, pixels })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_round_trip_through_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("picture.png");
        write_png(&path, 2, 1, &[0xff03_0201, 0x0006_0504]).unwrap();
        let mut reader =
            png::Decoder::new(io::BufReader::new(File::open(&path).unwrap())).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        assert_eq!((info.width, info.height, info.color_type), (2, 1, png::ColorType::Rgb));
        assert_eq!(rgb, [1, 2, 3, 4, 5, 6]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "the temporary file is gone");
        let back = read_png(&path).unwrap();
        assert_eq!((back.width, back.height, back.pixels), (2, 1, vec![0xff03_0201, 0xff06_0504]));
    }

    #[test]
    fn images_of_every_colour_type_are_read_as_rgba() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("picture.png");
        let cases = [
            (png::ColorType::Grayscale, png::BitDepth::Eight, vec![7, 200], [0xff07_0707, 0xffc8_c8c8]),
            (
                png::ColorType::GrayscaleAlpha,
                png::BitDepth::Eight,
                vec![7, 1, 200, 2],
                [0xff07_0707, 0xffc8_c8c8],
            ),
            (
                png::ColorType::Rgba,
                png::BitDepth::Eight,
                vec![1, 2, 3, 9, 4, 5, 6, 9],
                [0xff03_0201, 0xff06_0504],
            ),
            (
                png::ColorType::Grayscale,
                png::BitDepth::Sixteen,
                vec![7, 99, 200, 99],
                [0xff07_0707, 0xffc8_c8c8],
            ),
        ];
        for (color, depth, bytes, expected) in cases {
            let mut encoder = png::Encoder::new(File::create(&path).unwrap(), 2, 1);
            encoder.set_color(color);
            encoder.set_depth(depth);
            encoder.write_header().unwrap().write_image_data(&bytes).unwrap();
            let read = read_image(&path).unwrap();
            assert_eq!((read.width, read.height, read.pixels), (2, 1, expected.to_vec()), "{color:?}");
        }
        fs::write(&path, "text").unwrap();
        assert!(read_image(&path).unwrap_err().to_string().contains("cannot read"), "no picture");
    }

    #[test]
    fn non_images_are_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("picture.png");
        fs::write(&path, "text").unwrap();
        for path in [&path, &dir.path().join("nosuch.png")] {
            let error = read_png(path).unwrap_err().to_string();
            assert!(error.contains(&format!("cannot read {}", path.display())), "{error}");
        }
    }

    #[test]
    fn errors_name_the_path() {
        let path = Path::new("no such folder/picture.png");
        let error = write_png(path, 1, 1, &[0]).unwrap_err().to_string();
        assert!(error.contains("cannot write no such folder/picture.png"), "{error}");
        let error = write_png(path, 2, 2, &[0]).unwrap_err().to_string();
        assert!(error.contains("expected 2 × 2 pixels, found 1"), "{error}");
    }

    #[test]
    fn a_failed_write_leaves_the_old_picture_and_no_temporary_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("taken");
        fs::create_dir(&path).unwrap();
        assert!(matches!(write_png(&path, 1, 1, &[0]), Err(Error::Io { operation: "rename into", .. })));
        assert!(path.is_dir());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
