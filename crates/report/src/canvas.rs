//! Canvas of plots and maps: an embedded font, so that they look the same on machines without fonts, and
//! supersampled bitmaps.

use std::io;
use std::sync::Once;

use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

const FONT: &str = "sans-serif";

/// Supersampling factor of bitmaps, which are averaged down because the backend does not antialias thick
/// lines.
pub(crate) const SUPERSAMPLING: u32 = 3;

/// Colour of texts and axes.
pub(crate) const INK: RGBColor = RGBColor(40, 40, 40);

pub(crate) type DrawResult<DB> =
    std::result::Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// A bitmap of RGB pixels, [`SUPERSAMPLING`] times as large along each axis as its picture.
pub(crate) struct Canvas {
    /// Size of the picture.
    size: (u32, u32),
    pixels: Vec<u8>,
}

impl Canvas {
    /// Makes a black canvas for a picture of `size` pixels.
    pub fn new(size: (u32, u32)) -> Self {
        register_embedded_font();
        let n = size.0 as usize * size.1 as usize * (SUPERSAMPLING * SUPERSAMPLING) as usize;
        Self { size, pixels: vec![0; 3 * n] }
    }

    /// Returns the area to draw on, whose units are 1/[`SUPERSAMPLING`] pixels.
    pub fn area(&mut self) -> DrawingArea<BitMapBackend<'_>, Shift> {
        let large = (self.size.0 * SUPERSAMPLING, self.size.1 * SUPERSAMPLING);
        BitMapBackend::with_buffer(&mut self.pixels, large).into_drawing_area()
    }

    /// Fills a pixel of the picture.
    pub fn fill_pixel(&mut self, x: u32, y: u32, color: [u8; 3]) {
        let n = SUPERSAMPLING as usize;
        let width = self.size.0 as usize * n;
        for row in y as usize * n..(y as usize + 1) * n {
            let begin = 3 * (row * width + x as usize * n);
            self.pixels[begin..begin + 3 * n].as_chunks_mut().0.fill(color);
        }
    }

    /// Returns the picture as PNG.
    pub fn png(&self) -> io::Result<Vec<u8>> {
        png_bytes(&average_down(&self.pixels, self.size), self.size)
    }
}

/// Registers the embedded font, under the name that [`text_style`] uses.
pub(crate) fn register_embedded_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let valid = register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT).is_ok();
        assert!(valid, "the font embedded in epaint_default_fonts is a valid TrueType font");
    });
}

/// Returns the style of texts; `unit` is the number of units of the area in a pixel of the picture.
pub(crate) fn text_style(size: i32, unit: i32) -> TextStyle<'static> {
    TextStyle::from((FONT, size * unit).into_font()).color(&INK)
}

/// Averages squares of [`SUPERSAMPLING`]² pixels; `size` is that of the result.
fn average_down(pixels: &[u8], size: (u32, u32)) -> Vec<u8> {
    const N: usize = SUPERSAMPLING as usize;
    let row = size.0 as usize * 3;
    let mut averaged = Vec::with_capacity(row * size.1 as usize);
    for rows in pixels.chunks_exact(row * N * N) {
        let mut sums = vec![0u16; row];
        for line in rows.chunks_exact(row * N) {
            for (sum, square) in sums.chunks_exact_mut(3).zip(line.chunks_exact(3 * N)) {
                for pixel in square.chunks_exact(3) {
                    for (sum, value) in sum.iter_mut().zip(pixel) {
                        *sum += u16::from(*value);
                    }
                }
            }
        }
        averaged.extend(sums.into_iter().map(|sum| (sum / (N * N) as u16) as u8));
    }
    averaged
}

fn png_bytes(pixels: &[u8], size: (u32, u32)) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size.0, size.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}
