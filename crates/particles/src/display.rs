//! The range and the colours in which a column is shown, as its owner states them.

/// The kind of colour map that suits a column's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ColorScale {
    /// From little to much.
    #[default]
    Sequential,
    /// Both ways from the middle of the range.
    Diverging,
}

/// How a column is shown where nobody asks for anything else.
///
/// What the owner leaves out follows from the column: its name, its unit, and the least and the greatest value it
/// has when it is first shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Display {
    /// The heading of its legend, such as a symbol; else the column's name.
    pub title: Option<&'static str>,
    /// The unit in its legend, where files write another.
    pub unit: Option<&'static str>,
    /// The values at the two ends of the colour map. Of a vector column those of its magnitude.
    pub range: Option<[f32; 2]>,
    /// The kind of colour map.
    pub scale: ColorScale,
}

impl Display {
    /// Shows values from one to another.
    pub fn between(lo: f32, hi: f32) -> Self {
        Self { range: Some([lo, hi]), ..Self::default() }
    }

    /// Shows values from 0 to the greatest that is expected.
    pub fn up_to(max: f32) -> Self {
        Self::between(0.0, max)
    }

    /// Shows values about a centre by their distance from it, as far to both sides as holds `lo` and `hi`.
    pub fn about(center: f32, lo: f32, hi: f32) -> Self {
        let reach = (center - lo).max(hi - center);
        Self::between(center - reach, center + reach).diverging()
    }

    /// Shows values by their distance from the middle of the range.
    pub fn diverging(self) -> Self {
        Self { scale: ColorScale::Diverging, ..self }
    }

    /// Gives the legend this heading.
    pub fn titled(self, title: &'static str) -> Self {
        Self { title: Some(title), ..self }
    }

    /// Writes this unit into the legend.
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
