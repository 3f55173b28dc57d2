//! Colours of a map's values.

use frazil_scene::FlowQuantity;

use super::layout::round_up;

/// Share of the values that the scale covers: few outliers do not determine it.
const COVERED: f64 = 0.99;

/// Magma (VanDerWalt2015), released under CC0, from bright to dark without
/// its ends, which are as bright as snow or as dark as lines.
const COLOURS: [[u8; 3]; 8] = [
    [254, 216, 154],
    [254, 177, 121],
    [250, 127, 94],
    [231, 83, 99],
    [192, 58, 118],
    [147, 43, 128],
    [101, 26, 128],
    [59, 15, 112],
];

/// Scale of colours from 0 to a round value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ColourScale {
    /// Value of the last colour.
    pub top: f64,
    /// True if values are above it.
    pub is_exceeded: bool,
    /// Distance between ticks of the legend.
    pub step: f64,
}

impl ColourScale {
    /// Returns the scale of the values, which are above 0; those that are unknown are ignored.
    pub fn of(values: impl Iterator<Item = f32>) -> Self {
        let mut values: Vec<f32> = values.filter(|value| *value > 0.0 && value.is_finite()).collect();
        values.sort_by(f32::total_cmp);
        let Some(last) = values.len().checked_sub(1) else {
            return Self { top: 1.0, is_exceeded: false, step: 0.2 };
        };
        let covered = f64::from(values[(last as f64 * COVERED).ceil() as usize]);
        // Five steps at most.
        let step = round_up(covered / 5.0);
        let top = step * (covered / step - 1e-9).ceil().max(1.0);
        Self { top, is_exceeded: f64::from(values[last]) > top, step }
    }

    /// Returns the colour of a value.
    pub fn colour(&self, value: f64) -> [u8; 3] {
        let at = (value / self.top).clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
        let first = (at as usize).min(COLOURS.len() - 2);
        let share = at - first as f64;
        std::array::from_fn(|i| {
            let [a, b] = [first, first + 1].map(|k| f64::from(COLOURS[k][i]));
            (a + share * (b - a)).round() as u8
        })
    }
}

/// Returns the name of a quantity with its unit.
pub(super) fn label(quantity: FlowQuantity) -> String {
    format!("{} [{}]", quantity.name().replace('_', " "), quantity.unit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_ends_at_a_round_value_and_ignores_outliers() {
        let of = |values: &[f32]| ColourScale::of(values.iter().copied());
        assert_eq!(of(&[0.0, 0.7, 1.7, f32::NAN]), ColourScale { top: 2.0, is_exceeded: false, step: 0.5 });
        let many: Vec<f32> = (0..1000).map(|i| i as f32 * 0.04).chain([900.0]).collect();
        assert_eq!(of(&many), ColourScale { top: 40.0, is_exceeded: true, step: 10.0 });
        assert_eq!(of(&[0.0, f32::NAN]).top, 1.0);
        let scale = of(&many);
        assert_eq!((scale.colour(0.0), scale.colour(900.0)), (COLOURS[0], COLOURS[7]));
    }
}
