//! Plots of metrics that a solver defines.

/// Picture of one or more panels, plotted from `metrics.csv` when a run ends.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotSpec {
    /// Name of the file.
    pub file: &'static str,
    /// Title.
    pub title: &'static str,
    /// Panels, from top to bottom.
    pub panels: Vec<PanelSpec>,
}

/// Curves in one pair of axes.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelSpec {
    /// Column of `metrics.csv` on the horizontal axis: `step` or `time`.
    pub x: &'static str,
    /// Label of the vertical axis.
    pub y_label: &'static str,
    /// Curves.
    pub curves: Vec<CurveSpec>,
    /// True to plot differences from the first value.
    pub since_start: bool,
}

/// One curve of a plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurveSpec {
    /// Entry in the legend.
    pub label: &'static str,
    /// Metric to plot.
    pub metric: &'static str,
    /// Metric to subtract.
    pub minus: Option<&'static str>,
    /// Metric that masks the curve where it is 0.
    pub only_where: Option<&'static str>,
    /// Metric that hides the whole curve if it is 0 everywhere.
    pub unless_zero: Option<&'static str>,
    /// True for a dashed line.
    pub is_dashed: bool,
}

impl CurveSpec {
    /// Makes a curve of a metric.
    pub fn new(label: &'static str, metric: &'static str) -> Self {
        Self { label, metric, ..Self::default() }
    }

    /// Lists the metrics that the curve depends on.
    pub fn metrics(&self) -> impl Iterator<Item = &'static str> {
        [Some(self.metric), self.minus, self.only_where, self.unless_zero].into_iter().flatten()
    }
}
