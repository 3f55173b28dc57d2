//! Comparison of two builds by the figures of several processes of each.
//!
//! Samples of one process say nothing about the next one: memory placement, clocks and other load differ
//! between processes by more than the samples scatter. So each process gives one figure, and all intervals
//! here are of the scatter between processes.

use crate::comparison::{Comparison, Verdict};
use crate::statistics::median;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Minimum number of rounds, or of runs on each side, for an interval.
pub const MIN_RUNS: usize = 3;
/// Share of the values that is trimmed at each end.
const TRIMMED: f64 = 0.25;
/// Probability that none of the verdicts of a report is wrong by chance.
const CONFIDENCE: f64 = 0.95;

/// Figures of two processes of each build, in the order in which they ran: baseline, current, current,
/// baseline, or with the builds exchanged. Both builds begin and end as many rounds, so that a drift cancels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Times of the first and second process of the baseline.
    pub baseline: [f64; 2],
    /// Times of the first and second process of the current build.
    pub current: [f64; 2],
}

impl Round {
    /// Returns true if the process in a slot, 0 to 3, of a round, counted from 0, is one of the baseline:
    /// baseline, current, current, baseline in even rounds, and the builds exchanged in odd ones.
    pub fn is_baseline(round: usize, slot: usize) -> bool {
        (slot == 0 || slot == 3) == round.is_multiple_of(2)
    }

    fn is_sound(&self) -> bool {
        self.baseline.iter().chain(&self.current).all(|ns| ns.is_finite() && *ns > 0.0)
    }

    /// Logarithm of the current build's time over the baseline's, of the faster process of each: other load
    /// only adds time, and rarely to both.
    fn log_ratio(&self) -> f64 {
        let faster = |pair: [f64; 2]| pair[0].min(pair[1]).ln();
        faster(self.current) - faster(self.baseline)
    }

    /// A contrast of the four processes with each build on both sides, so that its true value is 0: the
    /// second process of the baseline and the first one of the current build over the other two.
    fn log_same_build(&self) -> f64 {
        let step = |pair: [f64; 2]| pair[1].ln() - pair[0].ln();
        0.5 * (step(self.baseline) - step(self.current))
    }
}

/// Comparison of two builds that took turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundsComparison {
    /// The builds' ratio and the verdict.
    pub comparison: Comparison,
    /// Interval of the ratio of processes of the same build (A/A), with the same confidence. It contains 1
    /// unless something other than the builds changed the times.
    pub same_build: [f64; 2],
    /// Number of rounds.
    pub rounds: usize,
    /// Of an unclear comparison, about how many rounds would decide it, if further ones scatter like these;
    /// `None` if it is decided, or [`MAX_NEEDED`] would not decide it.
    pub needed: Option<usize>,
}

/// Maximum number of rounds that [`RoundsComparison::needed`] says.
pub const MAX_NEEDED: usize = 1000;

/// Compares two builds by rounds of four processes, in one of the `n_comparisons` of a report.
///
/// The ratio is the trimmed mean of the rounds' ratios of the faster processes, the interval that of Yuen
/// (1974): Student's t of the values without a quarter at each end, with the variance of the winsorized
/// values, all in logarithms. All intervals of the report hold with 95 % confidence at once, so that a report
/// of many kernels has no more false verdicts than one of a single kernel. The verdict is `Slower` or
/// `Faster` only if the interval lies beyond 1 by more than `tolerance` and by more than the ratio of the A/A
/// check does; `Same` if both are within `tolerance`; and `Unclear` otherwise. Rounds with a time that is not
/// a positive number are ignored.
pub fn compare_rounds(rounds: &[Round], tolerance: f64, n_comparisons: usize) -> RoundsComparison {
    let sound: Vec<&Round> = rounds.iter().filter(|round| round.is_sound()).collect();
    let estimate = |contrast: fn(&Round) -> f64| {
        let values: Vec<f64> = sound.iter().map(|round| contrast(round)).collect();
        Trimmed::of(&values)
    };
    let rounds = sound.len();
    let (Some(builds), Some(same)) = (estimate(Round::log_ratio), estimate(Round::log_same_build)) else {
        let comparison =
            Comparison { ratio: f64::NAN, interval: [0.0, f64::INFINITY], verdict: Verdict::Unclear };
        return RoundsComparison { comparison, same_build: [0.0, f64::INFINITY], rounds, needed: None };
    };
    let (interval, same_build) = (builds.interval(n_comparisons), same.interval(n_comparisons));
    let spread = if rounds < MIN_RUNS { f64::INFINITY } else { same.mean.abs() };
    let comparison = Comparison {
        ratio: builds.mean.exp(),
        interval: interval.map(f64::exp),
        verdict: verdict(interval, tolerance, spread),
    };
    let needed = (comparison.verdict == Verdict::Unclear && rounds >= MIN_RUNS)
        .then(|| builds.needed(&same, rounds, tolerance, n_comparisons))
        .flatten();
    RoundsComparison { comparison, same_build: same_build.map(f64::exp), rounds, needed }
}

/// Returns the numbers of rounds at which verdicts are looked at: `first`, and twice as many again until
/// `last`. Each look is one more chance of a wrong verdict: multiply the number of comparisons by theirs.
pub fn looks(first: usize, last: usize) -> Vec<usize> {
    let doubled = std::iter::successors(Some(first.max(1)), |n| Some(2 * n));
    doubled.take_while(|n| *n < last).chain([last.max(first)]).collect()
}

/// Compares the figures `now` of several processes with stored figures `then` of several others, in one of
/// the `n_comparisons` of a report.
///
/// The interval is that of Yuen (1974) for two samples with unequal variances, of the logarithms, with the
/// confidence of [`compare_rounds`]. It has the scatter between processes of one session, but not what
/// changed on the machine between the two sessions: that is what `tolerance` is for, and the rates of a
/// reference workload in both, `reference_then` and `reference_now`. A verdict takes more than the change of
/// their medians. With fewer than [`MIN_RUNS`] figures on a side, there is no interval and the verdict is
/// `Unclear`.
pub fn compare_runs(
    then: &[f64],
    now: &[f64],
    tolerance: f64,
    reference_then: &[f64],
    reference_now: &[f64],
    n_comparisons: usize,
) -> Comparison {
    let logs = |figures: &[f64]| -> Vec<f64> {
        figures.iter().filter(|ns| ns.is_finite() && **ns > 0.0).map(|ns| ns.ln()).collect()
    };
    let (then, now) = (logs(then), logs(now));
    let (Some(a), Some(b)) = (Trimmed::of(&then), Trimmed::of(&now)) else {
        return Comparison { ratio: f64::NAN, interval: [0.0, f64::INFINITY], verdict: Verdict::Unclear };
    };
    let difference = b.mean - a.mean;
    if then.len() < MIN_RUNS || now.len() < MIN_RUNS {
        let verdict = Verdict::Unclear;
        return Comparison { ratio: difference.exp(), interval: [0.0, f64::INFINITY], verdict };
    }
    let squared_error = a.squared_error + b.squared_error;
    // Equal figures have no scatter, and any number of degrees of freedom.
    let degrees = if squared_error > 0.0 {
        squared_error.powi(2) / (a.squared_error.powi(2) / a.degrees + b.squared_error.powi(2) / b.degrees)
    } else {
        1.0
    };
    let half = t_quantile(degrees, n_comparisons) * squared_error.sqrt();
    let interval = [difference - half, difference + half];
    let drift = (median(&mut reference_now.to_vec()) / median(&mut reference_then.to_vec())).ln();
    Comparison {
        ratio: difference.exp(),
        interval: interval.map(f64::exp),
        verdict: verdict(interval, tolerance, if drift.is_finite() { drift.abs() } else { 0.0 }),
    }
}

/// Verdict on an interval of the logarithm of a ratio; `spread` is how far that of equal builds is from 0.
fn verdict([from, to]: [f64; 2], tolerance: f64, spread: f64) -> Verdict {
    let tolerance = tolerance.ln_1p();
    let margin = tolerance.max(spread);
    if from > margin {
        Verdict::Slower
    } else if to < -margin {
        Verdict::Faster
    } else if from >= -tolerance && to <= tolerance && spread <= tolerance {
        Verdict::Same
    } else {
        Verdict::Unclear
    }
}

/// A trimmed mean with its standard error.
struct Trimmed {
    mean: f64,
    squared_error: f64,
    degrees: f64,
}

impl Trimmed {
    /// Returns the estimate for at least one value; its error is infinite for a single one.
    fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let cut = (TRIMMED * n as f64) as usize;
        let kept = &sorted[cut..n - cut];
        let h = kept.len() as f64;
        let mean = kept.iter().sum::<f64>() / h;
        let (least, greatest) = (kept[0], kept[kept.len() - 1]);
        let winsorized: Vec<f64> = sorted.iter().map(|value| value.clamp(least, greatest)).collect();
        let centre = winsorized.iter().sum::<f64>() / n as f64;
        let squares: f64 = winsorized.iter().map(|value| (value - centre).powi(2)).sum();
        let squared_error = if kept.len() > 1 { squares / (h * (h - 1.0)) } else { f64::INFINITY };
        Some(Self { mean, squared_error, degrees: h - 1.0 })
    }

    /// Returns the number of rounds from which the verdict of this mean of `rounds` is decided, if the means
    /// stay and errors fall with the square root of the number; `same` is the mean of the A/A check, which
    /// falls like its error.
    fn needed(&self, same: &Self, rounds: usize, tolerance: f64, n_comparisons: usize) -> Option<usize> {
        let is_decided = |n: usize| {
            let fewer = rounds as f64 / n as f64;
            let degrees = (n - 2 * (TRIMMED * n as f64) as usize) as f64 - 1.0;
            let half = t_quantile(degrees, n_comparisons) * (fewer * self.squared_error).sqrt();
            let spread = fewer.sqrt() * same.mean.abs();
            verdict([self.mean - half, self.mean + half], tolerance, spread) != Verdict::Unclear
        };
        // Growing by an eighth is finer than the estimate.
        let candidates = std::iter::successors(Some(rounds + 1), |n| Some(n + (n / 8).max(1)));
        candidates.take_while(|n| *n <= MAX_NEEDED).find(|n| is_decided(*n))
    }

    fn interval(&self, n_comparisons: usize) -> [f64; 2] {
        let half = t_quantile(self.degrees, n_comparisons) * self.squared_error.sqrt();
        [self.mean - half, self.mean + half]
    }
}

/// Returns the quantile of Student's t for two-sided intervals that hold with 95 % confidence for all of
/// `n_comparisons` at once (Bonferroni's inequality). Infinite below one degree of freedom.
fn t_quantile(degrees: f64, n_comparisons: usize) -> f64 {
    let error = (1.0 - CONFIDENCE) / n_comparisons.max(1) as f64;
    match StudentsT::new(0.0, 1.0, degrees) {
        Ok(t) if degrees >= 1.0 => t.inverse_cdf(1.0 - 0.5 * error),
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use proptest::prelude::*;

    /// A machine on which processes are timed one after another.
    #[derive(Clone, Copy, Debug)]
    struct Machine {
        /// Standard deviation between processes.
        scatter: f64,
        /// Relative change of the times from the first to the last process, linear.
        drift: f64,
        /// Amplitude of a slow wave over the session.
        wave: f64,
        /// Probability that other load makes a process up to twice as slow.
        outliers: f64,
    }

    impl Machine {
        /// Simulates a session whose current build takes `factor` times as long as the baseline.
        fn session(self, rounds: usize, factor: f64, random: &mut Random) -> Vec<Round> {
            let phase = random.uniform();
            let mut n = 0.0;
            let mut process = |factor: f64| {
                let at = n / (4 * rounds) as f64;
                n += 1.0;
                let slow = if random.uniform() < self.outliers { 1.0 + random.uniform() } else { 1.0 };
                let wave = 1.0 + self.wave * (std::f64::consts::TAU * (2.0 * at + phase)).sin();
                1e6 * factor * slow * wave * (1.0 + self.drift * at) * (self.scatter * random.normal()).exp()
            };
            let mut round = |i: usize| {
                let (mut baseline, mut current) = ([0.0; 2], [0.0; 2]);
                for slot in 0..4 {
                    if Round::is_baseline(i, slot) {
                        baseline[slot / 2] = process(1.0);
                    } else {
                        current[slot / 2] = process(factor);
                    }
                }
                Round { baseline, current }
            };
            (0..rounds).map(&mut round).collect()
        }

        /// Counts the verdicts in sessions of ten rounds: same, faster, slower, unclear.
        fn verdicts(self, factor: f64, sessions: usize, seed: u64) -> [usize; 4] {
            let mut random = Random(seed);
            let mut counts = [0; 4];
            for _ in 0..sessions {
                let found = compare_rounds(&self.session(10, factor, &mut random), 0.02, 1);
                counts[found.comparison.verdict as usize] += 1;
            }
            counts
        }
    }

    #[test]
    fn equal_builds_are_rarely_called_different_under_drift_and_outliers() {
        for (seed, (scatter, drift, wave, outliers)) in [
            (0.01, 0.05, 0.0, 0.0),
            (0.03, -0.05, 0.05, 0.0),
            (0.02, 0.05, 0.05, 0.1),
            (0.10, 0.05, 0.03, 0.3),
            (0.002, 0.05, 0.05, 0.05),
        ]
        .into_iter()
        .enumerate()
        {
            let machine = Machine { scatter, drift, wave, outliers };
            let [_, faster, slower, _] = machine.verdicts(1.0, 1000, seed as u64);
            assert!(faster + slower <= 25, "{machine:?}: {faster} faster, {slower} slower of 1000");
        }
    }

    #[test]
    fn a_tenth_more_time_is_found_under_drift_and_outliers() {
        for (scatter, outliers, share) in
            [(0.01, 0.0, 0.99), (0.03, 0.0, 0.97), (0.01, 0.05, 0.98), (0.01, 0.1, 0.95), (0.005, 0.2, 0.8)]
        {
            let machine = Machine { scatter, drift: 0.05, wave: 0.05, outliers };
            for (factor, expected) in [(1.1, Verdict::Slower), (1.0 / 1.1, Verdict::Faster)] {
                let found = machine.verdicts(factor, 500, 7)[expected as usize];
                assert!(found as f64 >= 500.0 * share, "{machine:?}: {found} of 500 {expected}");
            }
        }
        // A machine that scatters by a fifth cannot tell, and says so.
        let machine = Machine { scatter: 0.2, drift: 0.05, wave: 0.0, outliers: 0.1 };
        let [same, faster, slower, unclear] = machine.verdicts(1.1, 500, 7);
        assert!(unclear >= 450 && same == 0 && faster + slower < 50, "{same} {faster} {slower} {unclear}");
    }

    #[test]
    fn intervals_cover_the_true_ratio_as_often_as_they_say() {
        let machine = Machine { scatter: 0.03, drift: 0.0, wave: 0.0, outliers: 0.0 };
        let mut random = Random(5);
        let covered = |[from, to]: [f64; 2], truth: f64| usize::from(from <= truth && truth <= to);
        let (mut builds, mut same, mut runs) = (0, 0, 0);
        for _ in 0..2000 {
            let rounds = machine.session(10, 1.07, &mut random);
            let found = compare_rounds(&rounds, 0.02, 1);
            builds += covered(found.comparison.interval, 1.07);
            same += covered(found.same_build, 1.0);
            let of = |build: fn(&Round) -> [f64; 2]| rounds.iter().map(|r| build(r)[0]).collect::<Vec<_>>();
            runs += covered(
                compare_runs(&of(|r| r.baseline), &of(|r| r.current), 0.02, &[], &[], 1).interval,
                1.07,
            );
        }
        for (what, covered) in [("builds", builds), ("A/A", same), ("runs", runs)] {
            let share = covered as f64 / 2000.0;
            assert!((0.93..0.975).contains(&share), "{what}: {share}");
        }
    }

    #[test]
    fn as_many_rounds_as_are_said_decide_most_unclear_comparisons() {
        let machine = Machine { scatter: 0.02, drift: 0.05, wave: 0.02, outliers: 0.05 };
        let mut random = Random(13);
        let (mut said, mut decided) = (0, 0);
        for _ in 0..400 {
            // Between the tolerance and what five rounds tell.
            let session = machine.session(200, 1.04, &mut random);
            let found = compare_rounds(&session[..5], 0.02, 1);
            let Some(needed) = found.needed.filter(|n| *n <= 200) else { continue };
            assert!(found.comparison.verdict == Verdict::Unclear && needed > 5);
            said += 1;
            let again = compare_rounds(&session[..needed], 0.02, 1);
            decided += usize::from(again.comparison.verdict != Verdict::Unclear);
        }
        assert!(said > 100 && 10 * decided > 4 * said, "{decided} of {said}");
        // At the tolerance no number of rounds decides, and a decided one needs none.
        let at = |factor: f64| {
            let wobble = |i: usize| factor * (1.0 + 0.01 * (i % 3) as f64 - 0.01);
            let rounds: Vec<Round> =
                (0..9).map(|i| Round { baseline: [1.0; 2], current: [wobble(i); 2] }).collect();
            compare_rounds(&rounds, 0.02, 1)
        };
        assert_eq!((at(1.0201).comparison.verdict, at(1.0201).needed), (Verdict::Unclear, None));
        assert_eq!((at(1.2).comparison.verdict, at(1.2).needed), (Verdict::Slower, None));
    }

    #[test]
    fn verdicts_are_looked_at_after_doubling() {
        assert_eq!(looks(10, 40), [10, 20, 40]);
        assert_eq!(looks(10, 30), [10, 20, 30]);
        assert_eq!((looks(3, 3), looks(5, 2)), (vec![3], vec![5]));
    }

    #[test]
    fn few_values_have_the_interval_of_students_t() {
        // Ratios of 1.1, 1.2 and 1.3: mean and standard error of the logarithms by hand, t = 4.303.
        let rounds = [1.1, 1.2, 1.3].map(|r| Round { baseline: [1.0; 2], current: [r; 2] });
        let logs = [1.1f64, 1.2, 1.3].map(f64::ln);
        let mean = logs.iter().sum::<f64>() / 3.0;
        let half = 4.302653 * (logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / 6.0).sqrt();
        let found = compare_rounds(&rounds, 0.02, 1);
        assert!((found.comparison.ratio.ln() - mean).abs() < 1e-12);
        for (side, expected) in found.comparison.interval.iter().zip([mean - half, mean + half]) {
            assert!((side.ln() - expected).abs() < 1e-7, "{found:?}");
        }
        assert_eq!((found.same_build, found.rounds), ([1.0, 1.0], 3));
        // Without a fifth at each end of ten values.
        let ten: Vec<f64> = (0..10).map(f64::from).collect();
        let trimmed = Trimmed::of(&ten).unwrap();
        // Winsorized: 2 2 2 3 4 5 6 7 7 7, sum of squares 42.5 around 4.5; h = 6.
        assert_eq!((trimmed.mean, trimmed.degrees), (4.5, 5.0));
        assert!((trimmed.squared_error - 42.5 / 30.0).abs() < 1e-12, "{}", trimmed.squared_error);
    }

    #[test]
    fn quantiles_are_those_of_tables_and_fall_to_the_normal_one() {
        // 97.5 %, 99.5 % and 99.75 % of published tables of Student's t.
        for (degrees, n, expected) in
            [(1.0, 1, 12.706), (5.0, 1, 2.571), (60.0, 1, 2.000), (5.0, 5, 4.032), (5.0, 10, 4.773)]
        {
            let t = t_quantile(degrees, n);
            assert!((t - expected).abs() < 1e-3, "{degrees}, {n}: {t}");
        }
        let mut last = f64::INFINITY;
        for degrees in 1..500 {
            let t = t_quantile(f64::from(degrees), 1);
            assert!(t < last && t > 1.9599, "{degrees}: {t}");
            last = t;
        }
        assert!(t_quantile(0.5, 1).is_infinite() && t_quantile(f64::NAN, 1).is_infinite());
    }

    #[test]
    fn a_report_of_many_comparisons_is_as_rarely_wrong_as_one() {
        const KERNELS: usize = 22;
        for (n_rounds, scatter, outliers) in [(3, 0.1, 0.3), (3, 0.02, 0.0), (10, 0.02, 0.1), (10, 0.1, 0.3)]
        {
            let machine = Machine { scatter, drift: 0.05, wave: 0.05, outliers };
            let mut random = Random(11);
            let mut wrong = |n_comparisons| {
                let is_wrong = |_| {
                    let session = machine.session(n_rounds, 1.0, &mut random);
                    let found = compare_rounds(&session, 0.02, n_comparisons);
                    matches!(found.comparison.verdict, Verdict::Slower | Verdict::Faster)
                };
                (0..KERNELS).map(is_wrong).filter(|wrong| *wrong).count()
            };
            let reports = (0..300).filter(|_| wrong(KERNELS) > 0).count();
            assert!(reports <= 15, "{machine:?}: {reports} of 300 reports have a false verdict");
        }
    }

    #[test]
    fn a_tenth_more_time_is_found_among_many_comparisons() {
        let machine = Machine { scatter: 0.01, drift: 0.05, wave: 0.05, outliers: 0.05 };
        let mut random = Random(3);
        let mut is_found = || {
            let found = compare_rounds(&machine.session(10, 1.1, &mut random), 0.02, 22);
            found.comparison.verdict == Verdict::Slower
        };
        let found = (0..300).filter(|_| is_found()).count();
        assert!(found >= 285, "{found} of 300");
    }

    #[test]
    fn too_few_or_unsound_figures_are_unclear() {
        let good = Round { baseline: [1.0; 2], current: [2.0; 2] };
        let bad = Round { baseline: [0.0, 1.0], current: [f64::NAN; 2] };
        for rounds in [&[][..], &[good], &[good, good], &[bad; 9], &[good, good, bad]] {
            let found = compare_rounds(rounds, 0.02, 1);
            assert_eq!(found.comparison.verdict, Verdict::Unclear, "{rounds:?}");
        }
        assert_eq!(compare_rounds(&[good; 3], 0.02, 1).comparison.verdict, Verdict::Slower);
        let verdict = |then: &[f64], now: &[f64]| compare_runs(then, now, 0.05, &[], &[], 1).verdict;
        for (then, now) in [(&[][..], &[1.0][..]), (&[1.0; 2], &[9.0; 9]), (&[1.0; 9], &[9.0, f64::NAN, 9.0])]
        {
            assert_eq!(verdict(then, now), Verdict::Unclear);
        }
        assert_eq!(verdict(&[1.0; 3], &[2.0; 3]), Verdict::Slower);
        assert_eq!(verdict(&[1.0; 3], &[1.01; 3]), Verdict::Same);
        assert_eq!(verdict(&[1.0, 1.3, 1.6], &[1.5, 1.9, 1.2]), Verdict::Unclear);
    }

    #[test]
    fn a_change_of_the_machine_between_two_sessions_is_no_verdict() {
        // Twice the time, and a copy that takes twice the time as well, or three quarters of it.
        let verdict = |copy: f64| compare_runs(&[1.0; 5], &[2.0; 5], 0.05, &[10.0; 5], &[copy; 5], 1).verdict;
        let found = [5.0, 4.0, 20.0, 7.5].map(verdict);
        assert_eq!(found, [Verdict::Unclear, Verdict::Unclear, Verdict::Unclear, Verdict::Slower]);
    }

    #[test]
    fn a_build_whose_processes_differ_among_themselves_is_not_judged() {
        // The second process of each pair is half as fast: 1.2 between builds is within the A/A spread.
        let rounds: Vec<Round> = (0..10)
            .map(|i| 1.0 + 0.001 * f64::from(i % 3))
            .map(|wobble| Round { baseline: [1.0, 2.0 * wobble], current: [2.4, 1.2] })
            .collect();
        let found = compare_rounds(&rounds, 0.02, 1);
        assert!(found.comparison.interval[0] > 1.15 && found.same_build[0] > 1.5, "{found:?}");
        assert_eq!(found.comparison.verdict, Verdict::Unclear);
    }

    proptest! {
        #[test]
        fn exchanged_builds_have_the_reciprocal_interval(
            seed in 0u64.., n in 3usize..20, factor in 0.5f64..2.0, scatter in 0.0f64..0.2,
        ) {
            let machine = Machine { scatter, drift: 0.05, wave: 0.02, outliers: 0.1 };
            let rounds = machine.session(n, factor, &mut Random(seed));
            let exchanged: Vec<Round> =
                rounds.iter().map(|r| Round { baseline: r.current, current: r.baseline }).collect();
            let (a, b) = (compare_rounds(&rounds, 0.02, 1), compare_rounds(&exchanged, 0.02, 1));
            let near = |x: f64, y: f64| (x * y - 1.0).abs() < 1e-9;
            prop_assert!(near(a.comparison.ratio, b.comparison.ratio));
            prop_assert!(near(a.comparison.interval[0], b.comparison.interval[1]));
            prop_assert!(near(a.same_build[0], b.same_build[1]));
            let mirrored = match b.comparison.verdict {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                same => same,
            };
            prop_assert_eq!(a.comparison.verdict, mirrored);
            prop_assert!(a.comparison.interval[0] <= a.comparison.ratio);
            prop_assert!(a.comparison.ratio <= a.comparison.interval[1]);
        }

        #[test]
        fn the_unit_of_time_and_a_drift_from_round_to_round_do_not_matter(
            seed in 0u64.., n in 3usize..20, unit in 1e-6f64..1e6, drift in -0.05f64..0.05,
        ) {
            let machine = Machine { scatter: 0.02, drift: 0.0, wave: 0.0, outliers: 0.1 };
            let rounds = machine.session(n, 1.05, &mut Random(seed));
            let drifted: Vec<Round> = rounds.iter().enumerate().map(|(i, round)| {
                let factor = unit * (drift * i as f64).exp();
                let all = |pair: [f64; 2]| pair.map(|ns| factor * ns);
                Round { baseline: all(round.baseline), current: all(round.current) }
            }).collect();
            let (a, b) = (compare_rounds(&rounds, 0.02, 1), compare_rounds(&drifted, 0.02, 1));
            let near = |x: f64, y: f64| (x / y - 1.0).abs() < 1e-9;
            prop_assert!(near(a.comparison.ratio, b.comparison.ratio));
            prop_assert!(near(a.comparison.interval[0], b.comparison.interval[0]));
            prop_assert!(near(a.same_build[1], b.same_build[1]));
        }
    }
}
