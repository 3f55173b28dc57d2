//! Contact sheets: labelled pictures side by side.

use crate::Result;
use crate::canvas::{Canvas, Typeface};
use crate::picture::{Pixels, write_png};
use std::path::Path;

/// Maximum width of a sheet in pixels, unless its pictures would become smaller than [`MIN_PICTURE_PX`].
const WIDEST_PX: u32 = 3840;
/// Maximum pixels of all pictures together, under the same condition: a sheet is composed in memory.
const MAX_PX: f64 = 64e6;
const MIN_PICTURE_PX: u32 = 120;
const MAX_PICTURE_PX: u32 = 640;
/// Minimum font size for text that does not fit, below which it is cut.
const MIN_TEXT_PX: f32 = 9.0;
const GAP_PX: u32 = 8;
const PAPER: [f32; 3] = [1.0, 1.0, 1.0];
const INK: [f32; 4] = [0.1, 0.1, 0.12, 1.0];

/// A grid of pictures with a title above and lines of text below each picture. Cells are empty until they are
/// filled.
pub struct ContactSheet {
    sheet: Pixels,
    columns: u32,
    /// Size of a picture on the sheet in pixels.
    picture: (u32, u32),
    n_lines: u32,
    text_px: f32,
    typeface: Typeface,
}

impl ContactSheet {
    /// Creates an empty sheet for pictures of `size`, which are scaled down if the sheet would be too wide,
    /// with `n_lines` of text each.
    ///
    /// # Panics
    /// If there are no rows, no columns, or empty pictures.
    pub fn new(title: &str, rows: u32, columns: u32, size: (u32, u32), n_lines: u32) -> Self {
        assert!(rows > 0 && columns > 0 && size.0 > 0 && size.1 > 0, "an empty contact sheet");
        let aspect = f64::from(size.0) / f64::from(size.1);
        let roomy = (MAX_PX / (f64::from(rows) * f64::from(columns)) * aspect).sqrt() as u32;
        let fitting = (WIDEST_PX / columns).saturating_sub(GAP_PX).min(roomy);
        let width = fitting.clamp(MIN_PICTURE_PX, MAX_PICTURE_PX).min(size.0);
        let height = (u64::from(size.1) * u64::from(width)).div_ceil(u64::from(size.0)) as u32;
        let text_px = (width as f32 / 26.0).clamp(11.0, 18.0);
        let mut sheet = Self {
            sheet: Pixels { width: 0, height: 0, pixels: Vec::new() },
            columns,
            picture: (width, height),
            n_lines,
            text_px,
            typeface: Typeface::new(),
        };
        let (cell_width, cell_height) = sheet.cell();
        sheet.sheet.width = columns * cell_width + GAP_PX;
        sheet.sheet.height = sheet.title_height() + rows * cell_height + GAP_PX;
        let blank = Canvas::packed_color(PAPER);
        sheet.sheet.pixels = vec![blank; sheet.sheet.width as usize * sheet.sheet.height as usize];
        sheet.write_line(title, GAP_PX, GAP_PX, sheet.sheet.width - 2 * GAP_PX, 1.3 * text_px);
        sheet
    }

    /// Returns the sheet's width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.sheet.width, self.sheet.height)
    }

    /// Draws a picture into cell `idx`, counted row by row, with its lines below.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn place(&mut self, idx: u32, picture: &Pixels, lines: &[String]) {
        let (left, top) = self.corner(idx);
        let (width, height) = self.picture;
        for y in 0..height {
            let rows = covered(y, height, picture.height);
            for x in 0..width {
                let pixel = mean(picture, covered(x, width, picture.width), rows.clone());
                let at = (top + y) as usize * self.sheet.width as usize + (left + x) as usize;
                self.sheet.pixels[at] = pixel;
            }
        }
        self.label(left, top, lines);
    }

    /// Writes a word into cell `idx` that says why there is no picture, with its lines below.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn place_word(&mut self, idx: u32, word: &str, lines: &[String]) {
        let (left, top) = self.corner(idx);
        self.write_line(word, left, top + self.picture.1 / 2, self.picture.0, 1.3 * self.text_px);
        self.label(left, top, lines);
    }

    /// Writes the sheet as a PNG file.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), naming the path.
    pub fn write(&self, path: &Path) -> Result<()> {
        write_png(path, self.sheet.width, self.sheet.height, &self.sheet.pixels)
    }

    fn line_height(&self) -> u32 {
        (1.5 * self.text_px).ceil() as u32
    }

    fn title_height(&self) -> u32 {
        (2.2 * self.text_px).ceil() as u32 + GAP_PX
    }

    /// Returns width and height of a cell including the gap to the next.
    fn cell(&self) -> (u32, u32) {
        let (width, height) = self.picture;
        (width + GAP_PX, height + self.n_lines * self.line_height() + GAP_PX)
    }

    fn corner(&self, idx: u32) -> (u32, u32) {
        let (width, height) = self.cell();
        let corner = (GAP_PX + idx % self.columns * width, self.title_height() + idx / self.columns * height);
        assert!(corner.1 + height <= self.sheet.height, "no cell {idx} on the sheet");
        corner
    }

    fn label(&mut self, left: u32, top: u32, lines: &[String]) {
        for (row, line) in (0..self.n_lines).zip(lines) {
            let top = top + self.picture.1 + row * self.line_height();
            self.write_line(line, left, top, self.picture.0, self.text_px);
        }
    }

    /// Writes a line that is at most `width` wide.
    fn write_line(&mut self, text: &str, left: u32, top: u32, width: u32, size_px: f32) {
        let (text, size_px) = fit(&self.typeface, text, width as f32, size_px);
        let height = (1.5 * size_px).ceil() as usize;
        let mut canvas = Canvas::new(width as usize, height);
        canvas.clear(PAPER);
        canvas.text(&self.typeface, 0.0, 1.1 * size_px, size_px, &text, INK);
        let line = canvas.packed();
        for (y, row) in (top as usize..self.sheet.height as usize).zip(line.chunks_exact(width as usize)) {
            let at = y * self.sheet.width as usize + left as usize;
            self.sheet.pixels[at..at + row.len()].copy_from_slice(row);
        }
    }
}

/// Returns the text and a font size such that it fits: first shrunk, then cut.
fn fit(typeface: &Typeface, text: &str, width: f32, size_px: f32) -> (String, f32) {
    let required = typeface.width(text, size_px);
    if required <= width {
        return (text.to_owned(), size_px);
    }
    let size_px = (size_px * width / required).max(MIN_TEXT_PX.min(size_px));
    let mut characters: Vec<char> = text.chars().collect();
    let mut text = text.to_owned();
    // Tolerance of half a pixel: widths do not scale exactly.
    while typeface.width(&text, size_px) > width + 0.5 && !characters.is_empty() {
        characters.pop();
        text = characters.iter().collect::<String>() + "…";
    }
    (text, size_px)
}

/// Returns the range of the `n_source` pixels that pixel `at` of `n` covers; at least one.
fn covered(at: u32, n: u32, n_source: u32) -> std::ops::Range<u32> {
    let edge = |at: u32| (u64::from(at) * u64::from(n_source) / u64::from(n)) as u32;
    let begin = edge(at).min(n_source - 1);
    begin..edge(at + 1).max(begin + 1)
}

/// Returns the mean of a rectangle of pixels, opaque.
fn mean(picture: &Pixels, columns: std::ops::Range<u32>, rows: std::ops::Range<u32>) -> u32 {
    let (mut sums, mut n) = ([0_u32; 3], 0);
    for y in rows {
        for x in columns.clone() {
            let pixel = picture.pixels[y as usize * picture.width as usize + x as usize].to_le_bytes();
            for (sum, channel) in sums.iter_mut().zip(pixel) {
                *sum += u32::from(channel);
            }
            n += 1;
        }
    }
    let [r, g, b] = sums.map(|sum| ((sum + n / 2) / n) as u8);
    u32::from_le_bytes([r, g, b, 255])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(width: u32, height: u32, pixel: u32) -> Pixels {
        Pixels { width, height, pixels: vec![pixel; (width * height) as usize] }
    }

    fn at(sheet: &ContactSheet, x: u32, y: u32) -> u32 {
        sheet.sheet.pixels[(y * sheet.sheet.width + x) as usize]
    }

    #[test]
    fn cells_lie_row_by_row_with_their_lines_below() {
        let mut sheet = ContactSheet::new("title", 2, 3, (160, 90), 2);
        assert_eq!(sheet.size().0, 3 * (160 + GAP_PX) + GAP_PX);
        let (cell_width, cell_height) = sheet.cell();
        let blank = at(&sheet, 0, 0);
        sheet.place(4, &plain(160, 90, 0xff12_3456), &["mu = 0.1".to_owned(), "nu = 0.2".to_owned()]);
        let (left, top) = (GAP_PX + cell_width, sheet.title_height() + cell_height);
        for (x, y, pixel) in [(0, 0, 0xff12_3456), (159, 89, 0xff12_3456)] {
            assert_eq!(at(&sheet, left + x, top + y), pixel);
        }
        assert_eq!((at(&sheet, left - 1, top), at(&sheet, left + 160, top)), (blank, blank));
        let inked = |sheet: &ContactSheet, from: u32| {
            (from..from + sheet.line_height()).any(|y| (0..160).any(|x| at(sheet, left + x, y) != blank))
        };
        assert!(inked(&sheet, top + 90) && inked(&sheet, top + 90 + sheet.line_height()));
    }

    #[test]
    fn many_columns_make_smaller_pictures_of_the_same_shape() {
        let sheet = ContactSheet::new("", 1, 10, (1280, 720), 1);
        assert!(sheet.size().0 <= WIDEST_PX + GAP_PX);
        let (width, height) = sheet.picture;
        assert!((f64::from(width) / f64::from(height) - 16.0 / 9.0).abs() < 0.02, "{width} × {height}");
        assert_eq!(ContactSheet::new("", 1, 1000, (1280, 720), 1).picture.0, MIN_PICTURE_PX);
        let tall = ContactSheet::new("", 700, 1, (1280, 720), 0);
        assert!(u64::from(tall.size().0) * u64::from(tall.size().1) < 80_000_000, "{:?}", tall.size());
    }

    #[test]
    fn a_downscaled_picture_has_the_mean_colour_of_its_pixels() {
        let mut picture = plain(1280, 4, 0xff00_0000);
        for (i, pixel) in picture.pixels.iter_mut().enumerate() {
            *pixel = if i % 2 == 0 { 0xff00_00ff } else { 0xff00_ff00 };
        }
        let mut sheet = ContactSheet::new("", 1, 1, (1280, 4), 0);
        sheet.place(0, &picture, &[]);
        assert_eq!(at(&sheet, GAP_PX + 100, sheet.title_height()).to_le_bytes(), [128, 128, 0, 255]);
    }

    #[test]
    fn text_that_is_too_long_shrinks_and_is_then_cut() {
        let typeface = Typeface::new();
        let (text, size) = fit(&typeface, "critical_compression = 0.025", 150.0, 14.0);
        assert!((MIN_TEXT_PX..14.0).contains(&size) && text.ends_with("0.025"), "{text} at {size}");
        let (text, size) = fit(&typeface, &"long ".repeat(40), 100.0, 14.0);
        assert!(size == MIN_TEXT_PX && text.ends_with('…'), "{text}");
        assert!(typeface.width(&text, size) <= 100.5);
    }

    #[test]
    fn a_missing_picture_is_replaced_by_a_word() {
        let mut sheet = ContactSheet::new("", 1, 1, (160, 90), 0);
        let blank = sheet.sheet.pixels.clone();
        sheet.place_word(0, "failed", &[]);
        assert!(sheet.sheet.pixels != blank);
    }
}
