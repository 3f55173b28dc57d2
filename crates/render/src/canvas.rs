//! A small picture drawn on the host: rectangles and text.

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use glam::{Vec2, vec2};

/// A picture with straight (not premultiplied) alpha, initially transparent.
pub(crate) struct Canvas {
    pub width: usize,
    pub height: usize,
    pixels: Vec<[f32; 4]>,
}

/// The typeface of all text in pictures: Ubuntu Light, embedded (Ubuntu font licence 1.0).
pub(crate) struct Typeface(FontRef<'static>);

/// A rectangle with sub-pixel coordinates: top left and bottom right corner.
pub(crate) struct Rect {
    pub left: f32,
    pub top: f32,
    pub right: f32,
    pub bottom: f32,
}

impl Typeface {
    pub fn new() -> Self {
        let font = FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT);
        Self(font.expect("the embedded typeface is a valid font file"))
    }

    /// Returns the width of a line of text at a font size, in pixels.
    pub fn width(&self, text: &str, size_px: f32) -> f32 {
        self.glyphs(text, size_px, |_, _| ())
    }

    /// Calls `place` with each glyph and its distance from the start of the line; returns the line's width.
    fn glyphs(&self, text: &str, size_px: f32, mut place: impl FnMut(ab_glyph::GlyphId, f32)) -> f32 {
        let font = self.0.as_scaled(PxScale::from(size_px));
        let (mut at, mut previous) = (0.0, None);
        for character in text.chars() {
            let id = font.glyph_id(character);
            at += previous.map_or(0.0, |previous| font.kern(previous, id));
            place(id, at);
            at += font.h_advance(id);
            previous = Some(id);
        }
        at
    }
}

impl Canvas {
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![[0.0; 4]; width * height] }
    }

    /// Blends a colour over a pixel; pixels outside the canvas are ignored.
    fn blend(&mut self, x: i64, y: i64, color: [f32; 4], covered: f32) {
        let inside = x >= 0 && y >= 0 && (x as usize) < self.width && (y as usize) < self.height;
        if !inside || covered <= 0.0 {
            return;
        }
        let pixel = &mut self.pixels[y as usize * self.width + x as usize];
        let over = color[3] * covered.min(1.0);
        let alpha = over + pixel[3] * (1.0 - over);
        for c in 0..3 {
            pixel[c] = (color[c] * over + pixel[c] * pixel[3] * (1.0 - over)) / alpha.max(f32::MIN_POSITIVE);
        }
        pixel[3] = alpha;
    }

    /// Fills the canvas with an opaque colour.
    pub fn clear(&mut self, [r, g, b]: [f32; 3]) {
        self.pixels.fill([r, g, b, 1.0]);
    }

    /// Fills a rectangle; border pixels are weighted by coverage.
    pub fn fill(&mut self, rect: &Rect, color: [f32; 4]) {
        let overlap = |from: f32, to: f32, at: f32| (to.min(at + 1.0) - from.max(at)).max(0.0);
        for y in rect.top.floor() as i64..rect.bottom.ceil() as i64 {
            for x in rect.left.floor() as i64..rect.right.ceil() as i64 {
                let covered =
                    overlap(rect.left, rect.right, x as f32) * overlap(rect.top, rect.bottom, y as f32);
                self.blend(x, y, color, covered);
            }
        }
    }

    /// Draws a straight line of a thickness in pixels, smooth over one pixel.
    pub fn line(&mut self, from: Vec2, to: Vec2, thickness: f32, color: [f32; 4]) {
        let (along, reach) = (to - from, 0.5 * thickness + 1.0);
        let (lo, hi) = (from.min(to) - reach, from.max(to) + reach);
        for y in lo.y.floor() as i64..=hi.y.ceil() as i64 {
            for x in lo.x.floor() as i64..=hi.x.ceil() as i64 {
                let at = vec2(x as f32 + 0.5, y as f32 + 0.5) - from;
                let t = (at.dot(along) / along.length_squared().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
                let away = (at - t * along).length();
                self.blend(x, y, color, (0.5 * thickness + 0.5 - away).clamp(0.0, 1.0));
            }
        }
    }

    /// Draws a line of text from `x` on, with the baseline at `y`.
    pub fn text(&mut self, typeface: &Typeface, x: f32, y: f32, size_px: f32, text: &str, color: [f32; 4]) {
        let mut outlines = Vec::new();
        typeface.glyphs(text, size_px, |id, at| {
            let glyph = id.with_scale_and_position(size_px, point(x + at, y));
            outlines.extend(typeface.0.outline_glyph(glyph));
        });
        for outline in outlines {
            let bounds = outline.px_bounds();
            let (left, top) = (bounds.min.x as i64, bounds.min.y as i64);
            outline.draw(|dx, dy, covered| {
                self.blend(left + i64::from(dx), top + i64::from(dy), color, covered);
            });
        }
    }

    /// Returns the pixels as packed RGBA8, red in the lowest byte.
    pub fn packed(&self) -> Vec<u32> {
        self.pixels.iter().map(|pixel| pack(*pixel)).collect()
    }

    /// Packs an opaque colour like [`Self::packed`].
    pub fn packed_color([r, g, b]: [f32; 3]) -> u32 {
        pack([r, g, b, 1.0])
    }
}

fn pack(pixel: [f32; 4]) -> u32 {
    u32::from_le_bytes(pixel.map(|x| (x.clamp(0.0, 1.0) * 255.0).round() as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rectangle_covers_its_area_to_the_sub_pixel() {
        let mut canvas = Canvas::new(8, 8);
        canvas.fill(&Rect { left: 1.25, top: 2.5, right: 5.75, bottom: 6.0 }, [1.0, 0.5, 0.0, 1.0]);
        let area: f32 = canvas.pixels.iter().map(|pixel| pixel[3]).sum();
        assert!((area - 4.5 * 3.5).abs() < 1e-4, "{area}");
        assert_eq!(canvas.pixels[3 * 8 + 3], [1.0, 0.5, 0.0, 1.0]);
    }

    #[test]
    fn text_stands_on_its_baseline_within_its_width() {
        let typeface = Typeface::new();
        let mut canvas = Canvas::new(100, 40);
        canvas.text(&typeface, 10.0, 30.0, 20.0, "Hm/s", [1.0; 4]);
        let width = typeface.width("Hm/s", 20.0);
        let inked = |x: usize, y: usize| canvas.pixels[y * 100 + x][3] > 0.5;
        let all = || (0..100 * 40).map(|i| (i % 100, i / 100)).filter(|(x, y)| inked(*x, *y));
        let (left, right) = (all().map(|p| p.0).min().unwrap(), all().map(|p| p.0).max().unwrap());
        assert!(
            left >= 10 && right as f32 <= 10.0 + width + 1.0 && right as f32 > width,
            "{left}..{right} of {width}"
        );
        // The H is the first letter: it ends on the baseline.
        assert!((10..18).any(|x| inked(x, 29)) && !(10..18).any(|x| inked(x, 31)));
    }

    #[test]
    fn blending_over_a_translucent_ground_keeps_straight_alpha() {
        let mut canvas = Canvas::new(1, 1);
        let all = Rect { left: 0.0, top: 0.0, right: 1.0, bottom: 1.0 };
        canvas.fill(&all, [0.0, 0.0, 1.0, 0.5]);
        canvas.fill(&all, [1.0, 0.0, 0.0, 0.5]);
        let [r, g, b, a] = canvas.pixels[0];
        assert!(
            (a - 0.75).abs() < 1e-6
                && (r - 2.0 / 3.0).abs() < 1e-6
                && (b - 1.0 / 3.0).abs() < 1e-6
                && g == 0.0
        );
    }
}
