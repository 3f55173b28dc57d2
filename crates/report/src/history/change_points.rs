//! Change points of a series: steps of its level, beyond what noise explains.
//!
//! Circular binary segmentation (Olshen2004) on ranks. The statistic of a segment is the largest standardized
//! rank sum (Wilcoxon's) of an arc, a stretch of consecutive values, against the rest of the segment; an arc
//! at an end of the segment is a single step, one inside it a level that came and went. Its significance is
//! the share of random orders of the same values with as large a statistic, so that it holds for any
//! distribution of the noise, with ties and outliers: in a series without a step, one is found with at most
//! the given probability. A segment with a significant arc is split at its ends, and the parts are searched
//! in turn, each with the same probability.

use crate::comparison::SplitMix;
use crate::statistics::median;

/// Parameters of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detection {
    /// Probability of finding a step in a series without one, 0 to 1.
    pub significance: f64,
    /// Minimum number of values between two steps, from 1.
    pub min_runs: usize,
    /// Relative difference of the medians below which a step is ignored: 0.05 is 5 %.
    pub tolerance: f64,
}

/// A step of the level of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value after the step.
    pub at: usize,
    /// Median of the values between the previous step and this one.
    pub before: f64,
    /// Median of the values between this step and the next one.
    pub after: f64,
    /// Probability of such a step in a random order of the values.
    pub p: f64,
}

/// Fewest and most random orders of a segment.
const ORDERS: [f64; 2] = [999.0, 99_999.0];
/// Random orders by which a probability at the limit of significance is counted.
const COUNTED_ORDERS: f64 = 20.0;
/// Longest arc whose neighbours in length are all tried; longer ones grow by an eighth.
const DENSE_LENGTHS: usize = 16;
/// Standardized difference of two neighbouring segments below which they are joined: 95 %.
const MIN_SCORE: f64 = 1.96;

impl Detection {
    /// Returns false if a series of `n` values is too short for any step to be significant: even the order of
    /// its two halves has that probability.
    pub fn can_find(&self, n: usize) -> bool {
        let half = n / 2;
        // 2 n! / (half! (n - half)!) ⁻¹, as a product.
        let p = (1..=half).fold(2.0, |p, k| p * k as f64 / (n - half + k) as f64);
        n >= 2 * self.min_runs.max(1) && p <= self.significance
    }

    /// Returns the steps of a series, in order. Values that are not finite are lower than all others.
    pub fn change_points(&self, values: &[f64]) -> Vec<ChangePoint> {
        let values: Vec<f64> =
            values.iter().map(|v| if v.is_finite() { *v } else { f64::NEG_INFINITY }).collect();
        let mut found = Vec::new();
        self.search(&values, 0, &mut found);
        found.sort_by_key(|step| step.0);
        self.confirm(&values, found)
    }

    /// Adds the steps of a segment that begins at `offset` of the series, with their probabilities.
    fn search(&self, segment: &[f64], offset: usize, found: &mut Vec<(usize, f64)>) {
        let min = self.min_runs.max(1);
        if !self.can_find(segment.len()) {
            return;
        }
        let mut scores = scores(segment);
        let arcs = Arcs::of(segment.len(), min);
        let Some((arc, greatest)) = arcs.largest(&scores).filter(|(_, greatest)| *greatest > 0.0) else {
            return;
        };
        let orders = (COUNTED_ORDERS / self.significance).clamp(ORDERS[0], ORDERS[1]).ceil();
        let mut random = SplitMix(((offset as u64) << 32) + segment.len() as u64);
        let mut as_large = 1.0;
        for _ in 0..orders as usize {
            shuffle(&mut scores, &mut random);
            if arcs.largest(&scores).is_some_and(|(_, of_order)| of_order >= greatest) {
                as_large += 1.0;
            }
            // The rest of the orders cannot make it significant.
            if as_large > self.significance * (orders + 1.0) {
                return;
            }
        }
        let p = as_large / (orders + 1.0);
        let [from, to] = arc;
        let ends = [0, from, to, segment.len()];
        found.extend(
            [from, to].into_iter().filter(|at| (1..segment.len()).contains(at)).map(|at| (offset + at, p)),
        );
        for pair in ends.windows(2) {
            if pair[1] > pair[0] {
                self.search(&segment[pair[0]..pair[1]], offset + pair[0], found);
            }
        }
    }

    /// Moves each step to the best place between its neighbours, and joins the segments whose levels do not
    /// differ: an arc may have one true end only.
    fn confirm(&self, values: &[f64], mut found: Vec<(usize, f64)>) -> Vec<ChangePoint> {
        loop {
            for i in 0..found.len() {
                let [from, to] = around(&found, i, values.len());
                let arcs = Arcs { n: to - from, min: self.min_runs.max(1), lengths: Vec::new() };
                if let Some(([_, at], _)) = arcs.largest(&scores(&values[from..to])) {
                    found[i].0 = from + at;
                }
            }
            let steps: Vec<(ChangePoint, f64)> = (0..found.len())
                .map(|i| {
                    let [from, to] = around(&found, i, values.len());
                    let (at, p) = found[i];
                    let of = |range: &[f64]| median(&mut range.to_vec());
                    let (before, after) = (of(&values[from..at]), of(&values[at..to]));
                    (ChangePoint { at, before, after, p }, score(&values[from..to], at - from))
                })
                .collect();
            let is_level = |(step, score): &(ChangePoint, f64)| {
                let ratio = step.after / step.before;
                let within = (1.0 / (1.0 + self.tolerance)..=1.0 + self.tolerance).contains(&ratio);
                *score < MIN_SCORE || within || !ratio.is_finite()
            };
            let weakest = (0..steps.len())
                .filter(|&i| is_level(&steps[i]))
                .min_by(|&a, &b| steps[a].1.total_cmp(&steps[b].1));
            match weakest {
                Some(i) => drop(found.remove(i)),
                None => return steps.into_iter().map(|(step, _)| step).collect(),
            }
        }
    }
}

/// Returns the step before the i-th one and the step after it, or the ends of the series.
fn around(found: &[(usize, f64)], i: usize, n: usize) -> [usize; 2] {
    let before = i.checked_sub(1).map_or(0, |before| found[before].0);
    [before, found.get(i + 1).map_or(n, |after| after.0)]
}

/// Returns twice the rank of each value from the mean rank; equal values have the mean of their ranks.
fn scores(values: &[f64]) -> Vec<i64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let score = |value: &f64| {
        let below = sorted.partition_point(|v| v.total_cmp(value).is_lt());
        let up_to = sorted.partition_point(|v| v.total_cmp(value).is_le());
        (below + up_to) as i64 - values.len() as i64
    };
    values.iter().map(score).collect()
}

/// Returns the standardized rank sum of the values before `at` against those from there on; 0 if all are
/// equal.
fn score(values: &[f64], at: usize) -> f64 {
    let scores = scores(values);
    let n = scores.len() as f64;
    let squares: i64 = scores.iter().map(|score| score * score).sum();
    let sum: i64 = scores[..at].iter().sum();
    let variance = at as f64 * (n - at as f64) * squares as f64 / (n * (n - 1.0).max(1.0));
    if variance > 0.0 { sum.abs() as f64 / variance.sqrt() } else { 0.0 }
}

/// The arcs of a segment that are compared with the rest of it.
struct Arcs {
    n: usize,
    /// Minimum length of an arc, and of the rest on either side.
    min: usize,
    /// Lengths of arcs inside the segment.
    lengths: Vec<usize>,
}

impl Arcs {
    fn of(n: usize, min: usize) -> Self {
        let longer = |length: &usize| Some(length + (length / 8).max(1));
        let next = |length: &usize| if *length < DENSE_LENGTHS { Some(length + 1) } else { longer(length) };
        let longest = n.saturating_sub(2 * min);
        let lengths = std::iter::successors(Some(min), next).take_while(|length| *length <= longest);
        Self { n, min, lengths: lengths.collect() }
    }

    /// Returns the arc with the largest squared rank sum over its variance, and that ratio up to a factor
    /// that is equal for all orders; the first of equals, those at the start of the segment before others.
    fn largest(&self, scores: &[i64]) -> Option<([usize; 2], f64)> {
        let sums: Vec<i64> = std::iter::once(0)
            .chain(scores.iter().scan(0, |sum, score| {
                *sum += score;
                Some(*sum)
            }))
            .collect();
        let mut largest: Option<([usize; 2], f64)> = None;
        let mut look = |from: usize, to: usize| {
            let length = to - from;
            let sum = (sums[to] - sums[from]) as f64;
            let ratio = sum * sum / (length * (self.n - length)) as f64;
            if largest.is_none_or(|(_, greatest)| ratio > greatest) {
                largest = Some(([from, to], ratio));
            }
        };
        for at in self.min..=self.n.saturating_sub(self.min) {
            look(0, at);
        }
        for length in &self.lengths {
            for from in self.min..=self.n - self.min - length {
                look(from, from + length);
            }
        }
        largest
    }
}

/// Permutes at random: Durstenfeld, Algorithm 235, Communications of the ACM 7, 1964.
fn shuffle(values: &mut [i64], random: &mut SplitMix) {
    for i in (1..values.len()).rev() {
        values.swap(i, random.below(i + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use proptest::prelude::*;

    const DETECTION: Detection = Detection { significance: 0.05, min_runs: 3, tolerance: 0.05 };

    fn places(detection: &Detection, values: &[f64]) -> Vec<usize> {
        detection.change_points(values).iter().map(|step| step.at).collect()
    }

    /// Levels by their numbers of runs and relative times, with noise of a standard deviation of `scatter`.
    fn levels(levels: &[(usize, f64)], scatter: f64, seed: u64) -> Vec<f64> {
        let mut random = Random(seed);
        let mut noisy = |level: f64| 1e6 * level * (scatter * random.normal()).exp();
        levels.iter().flat_map(|&(n, level)| std::iter::repeat_n(level, n)).map(&mut noisy).collect()
    }

    #[test]
    fn a_series_of_few_runs_has_no_step() {
        for values in [&[][..], &[1.0], &[1.0, 2.0], &[1.0, 1.0, 2.0, 2.0], &[1.0, 1.0, 1.0, 9.0, 9.0]] {
            assert_eq!(DETECTION.change_points(values), []);
        }
        // Of the orders of eight values, 2 in 70 separate the halves; of six, 2 in 20.
        assert!(DETECTION.can_find(8) && !DETECTION.can_find(7) && !DETECTION.can_find(0));
    }

    #[test]
    fn constants_ties_and_outliers_have_no_step() {
        assert_eq!(DETECTION.change_points(&[5.0; 40]), []);
        let rounded: Vec<f64> = levels(&[(60, 1.0)], 0.02, 1).iter().map(|v| (v / 5e4).round()).collect();
        assert_eq!(DETECTION.change_points(&rounded), []);
        let mut outliers = levels(&[(40, 1.0)], 0.02, 2);
        for at in [0, 17, 18, 39] {
            outliers[at] *= 3.0;
        }
        assert_eq!(DETECTION.change_points(&outliers), []);
        assert_eq!(DETECTION.change_points(&[f64::NAN; 20]), []);
    }

    #[test]
    fn a_step_has_its_place_its_levels_and_its_probability() {
        let mut values = vec![100.0; 12];
        values.extend([150.0; 9]);
        let found = DETECTION.change_points(&values);
        assert_eq!(found.len(), 1);
        let ChangePoint { at, before, after, p } = found[0];
        assert_eq!((at, before, after), (12, 100.0, 150.0));
        assert!(p > 0.0 && p <= 0.002, "{p}");
        assert_eq!(found, DETECTION.change_points(&values), "the orders are the same each time");
        // Below the tolerance a step is ignored, however significant it is.
        let small: Vec<f64> = values.iter().map(|v| 100.0 + (v - 100.0) * 0.09).collect();
        assert_eq!(DETECTION.change_points(&small), []);
    }

    #[test]
    fn an_outlier_does_not_hide_a_step() {
        let mut values = levels(&[(15, 1.0), (12, 1.15)], 0.02, 3);
        (values[4], values[20]) = (4e6, 4e6);
        assert_eq!(places(&DETECTION, &values), [15]);
    }

    #[test]
    fn steps_up_and_down_are_found_in_order() {
        let values = levels(&[(20, 1.0), (8, 1.3), (22, 1.0), (10, 0.8)], 0.02, 4);
        assert_eq!(places(&DETECTION, &values), [20, 28, 50]);
        let staircase = levels(&[(15, 1.0), (15, 1.2), (15, 1.44), (15, 1.7)], 0.02, 5);
        assert_eq!(places(&DETECTION, &staircase), [15, 30, 45]);
    }

    #[test]
    fn no_segment_is_shorter_than_the_minimum() {
        let values = levels(&[(20, 1.0), (6, 1.5), (20, 1.0)], 0.01, 6);
        assert_eq!(places(&DETECTION, &values), [20, 26]);
        let longer = Detection { min_runs: 8, ..DETECTION };
        let found = places(&longer, &values);
        let ends: Vec<usize> = [0].into_iter().chain(found).chain([values.len()]).collect();
        assert!(ends.windows(2).all(|pair| pair[1] - pair[0] >= 8), "{ends:?}");
    }

    /// Counts series of noise in which a step is found.
    fn false_alarms(detection: &Detection, series: u64, noise: impl Fn(&mut Random) -> f64) -> u64 {
        let mut count = 0;
        for seed in 0..series {
            let mut random = Random(seed);
            let n = 8.0 + random.uniform() * 40.0;
            let values: Vec<f64> = (0..n as usize).map(|_| noise(&mut random)).collect();
            count += u64::from(!detection.change_points(&values).is_empty());
        }
        count
    }

    /// Of 200 series, 10 are expected at 5 %; 20 or more have a probability of 0.3 %.
    #[test]
    fn noise_of_any_kind_has_steps_at_the_stated_rate_only() {
        let detection = Detection { tolerance: 1e-9, ..DETECTION };
        let normal = false_alarms(&detection, 200, |random| (0.02 * random.normal()).exp());
        let heavy = false_alarms(&detection, 200, |random| {
            let slow = if random.uniform() < 0.2 { 1.0 + 2.0 * random.uniform() } else { 1.0 };
            slow * (0.05 * random.normal()).exp()
        });
        let ties = false_alarms(&detection, 200, |random| 5.0 + (3.0 * random.uniform()).floor());
        assert!(normal < 20 && heavy < 20 && ties < 20, "{normal}, {heavy}, {ties}");
    }

    /// Times of a few values, so that there are ties, and what a damaged record could hold.
    fn any_time() -> impl Strategy<Value = f64> {
        prop_oneof![0.0_f64..2.0, Just(1.0), Just(f64::NAN), Just(f64::INFINITY)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_step_of_five_standard_deviations_is_found_where_it_is(
            before in 12_usize..30, after in 12_usize..30, up: bool, seed: u64
        ) {
            let factor = if up { 1.16 } else { 1.0 / 1.16 };
            let values = levels(&[(before, 1.0), (after, factor)], 0.03, seed);
            // Steps that noise makes in the parts, at the rate of the significance, are below this tolerance.
            let found = Detection { tolerance: 0.1, ..DETECTION }.change_points(&values);
            let near = found.iter().find(|step| step.at.abs_diff(before) <= 3);
            let near = near.ok_or_else(|| TestCaseError::fail(format!("{found:?}, expected {before}")))?;
            let ratio = near.after / near.before / factor;
            prop_assert!((0.9..1.1).contains(&ratio), "{ratio}");
            prop_assert!(found.len() <= 2, "{found:?}");
        }

        #[test]
        fn any_values_give_steps_in_order_between_whole_segments(
            values in prop::collection::vec(any_time(), 0..40), min_runs in 0_usize..5
        ) {
            let detection = Detection { min_runs, ..DETECTION };
            let found = places(&detection, &values);
            let ends: Vec<usize> = [0].into_iter().chain(found).chain([values.len()]).collect();
            let is_long = |pair: &[usize]| pair[1] >= pair[0] + min_runs.max(1);
            prop_assert!(ends.len() == 2 || ends.windows(2).all(is_long), "{ends:?}");
        }
    }
}
