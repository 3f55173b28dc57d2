//! Section of the terrain that a map shows, its scale and the steps of its axes.

use frazil_scene::Terrain;

/// Maximum width and height in pixels of the section on a map.
const MAX_SIZE_PX: [f64; 2] = [900.0, 760.0];
/// Minimum width and height in pixels: the legend must fit beside.
const MIN_SIZE_PX: [f64; 2] = [420.0, 420.0];
/// Margin around the content, as a share of its larger side.
const MARGIN: f64 = 0.12;

/// Section of a terrain on a map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Window {
    /// South-western corner in the scene in m.
    pub min_m: [f64; 2],
    /// North-eastern corner in the scene in m.
    pub max_m: [f64; 2],
    /// Scale in pixels per metre.
    pub px_per_m: f64,
}

impl Window {
    /// Returns the section of the terrain around a rectangle of the scene.
    pub fn around(terrain: &Terrain, min_m: [f64; 2], max_m: [f64; 2]) -> Self {
        let extent = terrain.extent_m();
        let size: [f64; 2] = std::array::from_fn(|i| max_m[i] - min_m[i]);
        let margin = (MARGIN * size[0].max(size[1])).max(2.0 * terrain.cell_m());
        let size = size.map(|size| size + 2.0 * margin);
        let px_per_m = (MAX_SIZE_PX[0] / size[0]).min(MAX_SIZE_PX[1] / size[1]);
        // A narrow section is widened, as far as the terrain reaches.
        let (mut low, mut high) = ([0.0; 2], [0.0; 2]);
        for i in 0..2 {
            let wide = size[i].max(MIN_SIZE_PX[i] / px_per_m).min(extent[i]);
            let middle = 0.5 * (min_m[i] + max_m[i]);
            low[i] = (middle - 0.5 * wide).clamp(0.0, extent[i] - wide);
            high[i] = low[i] + wide;
        }
        let px_per_m = (0..2).map(|i| MAX_SIZE_PX[i] / (high[i] - low[i])).fold(f64::INFINITY, f64::min);
        Self { min_m: low, max_m: high, px_per_m }
    }

    /// Returns width and height in pixels.
    pub fn size_px(&self) -> [u32; 2] {
        std::array::from_fn(|i| ((self.max_m[i] - self.min_m[i]) * self.px_per_m).round().max(1.0) as u32)
    }

    /// Returns the distance in pixels of a point from the section's north-western corner, to the right and
    /// downwards.
    pub fn to_px(self, [x, y]: [f64; 2]) -> [f64; 2] {
        [(x - self.min_m[0]) * self.px_per_m, (self.max_m[1] - y) * self.px_per_m]
    }

    /// Returns the point in the scene at the centre of a pixel.
    pub fn point_at(self, [column, row]: [u32; 2]) -> [f64; 2] {
        let [column, row] = [column, row].map(|px| (f64::from(px) + 0.5) / self.px_per_m);
        [self.min_m[0] + column, self.max_m[1] - row]
    }
}

/// Returns the smallest of 1, 2 and 5 times a power of ten that is at least `x`, which is above 0.
pub(super) fn round_up(x: f64) -> f64 {
    let power = 10_f64.powf(x.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power);
    steps.into_iter().find(|step| *step >= x * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

/// Returns the multiples of `step` from `low` to `high`.
pub(super) fn multiples(low: f64, high: f64, step: f64) -> impl Iterator<Item = f64> {
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(move |k| k as f64 * step)
}

/// Formats a multiple of `step` with the digits that it has.
pub(super) fn format_step(value: f64, step: f64) -> String {
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') { "0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terrain(n: [usize; 2]) -> Terrain {
        Terrain::new(n[0], n[1], 2.0, [0.0; 2], vec![0.0; n[0] * n[1]]).unwrap()
    }

    #[test]
    fn steps_are_round() {
        for (x, expected) in [(0.013, 0.02), (1.0, 1.0), (1.1, 2.0), (2.5, 5.0), (7.0, 10.0), (180.0, 200.0)]
        {
            assert!((round_up(x) / expected - 1.0).abs() < 1e-12, "{x}: {}", round_up(x));
        }
        assert_eq!(multiples(3.0, 21.0, 5.0).collect::<Vec<_>>(), [5.0, 10.0, 15.0, 20.0]);
        assert_eq!(multiples(-5.0, 5.0, 5.0).collect::<Vec<_>>(), [-5.0, 0.0, 5.0]);
        assert_eq!(
            [format_step(0.4, 0.2), format_step(20.0, 20.0), format_step(-0.0, 0.5)],
            ["0.4", "20", "0"]
        );
    }

    #[test]
    fn a_window_holds_its_content_and_stays_on_the_terrain() {
        for (n, min_m, max_m) in [
            ([201, 101], [20.0, 30.0], [300.0, 150.0]),
            ([201, 101], [0.0, 0.0], [400.0, 200.0]),
            ([2001, 2001], [100.0, 100.0], [120.0, 3000.0]),
            ([2001, 2001], [3990.0, 3990.0], [4000.0, 4000.0]),
            ([3, 3], [0.0, 0.0], [4.0, 4.0]),
        ] {
            let window = Window::around(&terrain(n), min_m, max_m);
            for i in 0..2 {
                assert!(window.min_m[i] <= min_m[i] && window.max_m[i] >= max_m[i], "{window:?}");
                assert!(window.min_m[i] >= 0.0 && window.max_m[i] <= 2.0 * (n[i] - 1) as f64, "{window:?}");
            }
            let [width, height] = window.size_px();
            assert!(width <= 900 && height <= 760 && width >= 200 && height >= 200, "{width} {height}");
            let middle = window.to_px(window.point_at([10, 20]));
            assert!((middle[0] - 10.5).abs() < 1e-6 && (middle[1] - 20.5).abs() < 1e-6, "{middle:?}");
        }
    }
}
