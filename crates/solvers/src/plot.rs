//! Plots that a solver asks for, of its metrics.

/// A picture of one or more panels, made of `metrics.csv` when a run ends.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotSpec {
    /// The file's name.
    pub file: &'static str,
    /// The title.
    pub title: &'static str,
    /// The panels, from the top.
    pub panels: Vec<PanelSpec>,
}

/// Curves over one pair of axes.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelSpec {
    /// The column of `metrics.csv` that runs to the right: `step` or `time`.
    pub x: &'static str,
    /// What the axis that points up says.
    pub y_label: &'static str,
    /// The curves.
    pub curves: Vec<CurveSpec>,
    /// Draws differences from the first value.
    pub since_start: bool,
}

/// One curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurveSpec {
    /// Its entry in the legend.
    pub label: &'static str,
    /// The metric.
    pub metric: &'static str,
    /// A metric to subtract.
    pub minus: Option<&'static str>,
    /// A metric: where it is 0 there is no curve.
    pub only_where: Option<&'static str>,
    /// A metric: if it is 0 everywhere, the curve is left out.
    pub unless_zero: Option<&'static str>,
    /// Draws dashes.
    pub is_dashed: bool,
}

impl CurveSpec {
    /// A metric as it is.
    pub fn new(label: &'static str, metric: &'static str) -> Self {
        Self { label, metric, ..Self::default() }
    }

    /// Lists the metrics that it is made of.
    pub fn metrics(&self) -> impl Iterator<Item = &'static str> {
        [Some(self.metric), self.minus, self.only_where, self.unless_zero].into_iter().flatten()
    }
}
