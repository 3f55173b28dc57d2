//! Value range and colour map of a column, as its owner states them.

/// The kind of colour map that suits a column's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ColorScale {
    /// Sequential, from low to high values.
    #[default]
    Sequential,
    /// Diverging, in both directions from the middle of the range.
    Diverging,
}

/// Default display settings of a column.
///
/// Settings that the owner leaves out follow from the column: its name, its unit, and the minimum and maximum
/// of its values when it is first shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Display {
    /// Heading of the legend, such as a symbol; by default the column's name.
    pub title: Option<&'static str>,
    /// Unit in the legend, where it differs from the one in files.
    pub unit: Option<&'static str>,
    /// Values at the two ends of the colour map. For a vector column, those of its magnitude.
    pub range: Option<[f32; 2]>,
    /// The kind of colour map.
    pub scale: ColorScale,
}

impl Display {
    /// Shows values between two bounds.
    pub fn between(lo: f32, hi: f32) -> Self {
        Self { range: Some([lo, hi]), ..Self::default() }
    }

    /// Shows values from 0 to the expected maximum.
    pub fn up_to(max: f32) -> Self {
        Self::between(0.0, max)
    }

    /// Shows values by their distance from a centre; the range is symmetric about it and contains `lo` and
    /// `hi`.
    pub fn about(center: f32, lo: f32, hi: f32) -> Self {
        let reach = (center - lo).max(hi - center);
        Self::between(center - reach, center + reach).diverging()
    }

    /// Shows values by their distance from the middle of the range.
    pub fn diverging(self) -> Self {
        Self { scale: ColorScale::Diverging, ..self }
    }

    /// Sets the heading of the legend.
    pub fn titled(self, title: &'static str) -> Self {
        Self { title: Some(title), ..self }
    }

    /// Sets the unit in the legend.
    pub fn in_unit(self, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_about_a_centre_holds_both_ends_and_is_symmetric() {
        assert_eq!(Display::about(0.0, -10.0, 4.0).range, Some([-10.0, 10.0]));
        let display = Display::about(5.0, 4.0, 9.0);
        assert_eq!((display.range, display.scale), (Some([1.0, 9.0]), ColorScale::Diverging));
    }
}
