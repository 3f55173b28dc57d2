//! Metrics over time, for plots beside the picture.

use frazil_solvers::{Measurement, MetricInfo};

/// Number of points of a series beyond which every second one is dropped.
const MAX_POINTS: usize = 2048;

/// Metrics of the steps shown so far.
pub struct Series {
    infos: Vec<MetricInfo>,
    /// Step, time in s and the values.
    rows: Vec<(u64, f64, Vec<f64>)>,
    /// Every how many steps a row is kept.
    interval: u64,
}

impl Series {
    pub fn new(infos: Vec<MetricInfo>) -> Self {
        Self { infos, rows: Vec::new(), interval: 1 }
    }

    /// Lists the names of the metrics, with their units.
    pub fn infos(&self) -> &[MetricInfo] {
        &self.infos
    }

    /// Adds the measurement of a step. After a step back, the rows of later steps are replaced.
    pub fn push(&mut self, step: u64, time_s: f64, measured: &Measurement) {
        self.rows.retain(|(of, ..)| *of < step);
        if self.rows.last().is_some_and(|(last, ..)| step < last + self.interval) {
            return;
        }
        self.rows.push((step, time_s, measured.values.clone()));
        if self.rows.len() > MAX_POINTS {
            let mut place = 0;
            self.rows.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.interval *= 2;
        }
    }

    /// Returns time in s and finite values of the metric at an index.
    pub fn points(&self, metric: usize) -> Vec<[f64; 2]> {
        let point = |(_, time_s, values): &(u64, f64, Vec<f64>)| Some([*time_s, *values.get(metric)?]);
        self.rows.iter().filter_map(point).filter(|[_, value]| value.is_finite()).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use frazil_solvers::StateSummary;

    #[test]
    fn rows_are_in_the_order_of_steps_and_bounded_in_number() {
        let mut series = Series::new(vec![MetricInfo::new("energy", "J"), MetricInfo::new("speed", "m/s")]);
        let push = |series: &mut Series, step: u64| {
            let values = vec![step as f64, f64::NAN];
            let measured = Measurement { summary: StateSummary::default(), values };
            series.push(step, 0.5 * step as f64, &measured);
        };
        (0..10_000).for_each(|step| push(&mut series, step));
        let points = series.points(0);
        assert!((MAX_POINTS / 2..=MAX_POINTS).contains(&points.len()), "{}", points.len());
        assert!(points.is_sorted_by(|a, b| a[0] < b[0]) && points.iter().all(|[time, x]| *time == 0.5 * x));
        assert!(series.points(1).is_empty() && series.points(2).is_empty());
        push(&mut series, 40);
        assert_eq!(*series.points(0).last().unwrap(), [20.0, 40.0]);
    }
}
