//! Comparison of a profile with an earlier one, or with those of another build.

use std::collections::{BTreeMap, BTreeSet};

use super::{Profile, ProfileRow, RunFigures};
use crate::comparison::{Comparison, Verdict};
use crate::rounds::{MIN_RUNS, Round, compare_rounds, compare_runs};
use crate::statistics::{figure, median};

/// Profiles of the four processes of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileRound {
    /// The baseline's first and second process.
    pub baseline: [Profile; 2],
    /// The current build's first and second process.
    pub current: [Profile; 2],
}

/// Comparison of a profile with a baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileComparison {
    /// Tolerance within which times count as equal: 0.05 is 5 %.
    pub tolerance: f64,
    /// Comparison of the device time of steps, under the name `step`.
    pub step: KernelComparison,
    /// All kernels of both profiles, currently most expensive first.
    pub kernels: Vec<KernelComparison>,
    /// The baseline's and the current run.
    pub runs: [RunFacts; 2],
    /// Differences between the two measurements that may explain a verdict.
    pub cautions: Vec<String>,
}

/// Comparison of a kernel with its measurement in the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelComparison {
    /// The kernel's name.
    pub kernel: String,
    /// Time in a step of the baseline and of the current build, in nanoseconds: the median of the processes.
    /// `None` if it did not run.
    pub step_ns: [Option<u64>; 2],
    /// The comparison; `None` if it ran in only one of them.
    pub comparison: Option<Comparison>,
    /// Interval of the A/A check; `None` where builds did not take turns.
    pub same_build: Option<[f64; 2]>,
    /// Of an unclear comparison of builds that took turns, about how many rounds would decide it: see
    /// [`RoundsComparison::needed`](crate::RoundsComparison::needed).
    pub rounds_needed: Option<usize>,
    /// The baseline's and the current row.
    pub rows: [Option<ProfileRow>; 2],
}

/// Share of a step from which a kernel's verdict is waited for.
const COSTLY: f64 = 0.02;

impl KernelComparison {
    /// Returns the verdict, `new` or `gone`.
    pub fn verdict(&self) -> String {
        match (&self.comparison, self.step_ns[0]) {
            (Some(found), _) => found.verdict.to_string(),
            (None, None) => "new".to_owned(),
            (None, Some(_)) => "gone".to_owned(),
        }
    }
}

/// Facts of one of two runs that are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFacts {
    /// The commit frazil was built from, if known.
    pub git_commit: Option<String>,
    /// The driver's name and version.
    pub driver: String,
    /// Number of processes.
    pub processes: usize,
    /// Number of measured steps, and of those before.
    pub steps: [u64; 2],
    /// Copy bandwidth in GB/s.
    pub copy_gb_per_s: Option<f64>,
    /// Maximum of bytes allocated at once.
    pub bytes_peak: u64,
    /// Hash of the final state.
    pub state_hash: Option<String>,
}

impl RunFacts {
    fn of(profile: &Profile, processes: usize) -> Self {
        Self {
            processes,
            git_commit: profile.git_commit.clone(),
            driver: profile.driver.clone(),
            steps: [profile.steps, profile.steps_before],
            copy_gb_per_s: profile.copy_gb_per_s,
            bytes_peak: profile.memory.bytes_peak,
            state_hash: profile.state_hash.clone(),
        }
    }
}

impl ProfileComparison {
    /// Returns the number of rounds that would decide each unclear verdict on the step, and on kernels of at
    /// least 2 % of it; `None` for one that no number of rounds would decide.
    pub fn undecided(&self) -> Vec<Option<usize>> {
        let step_ns = self.step.step_ns[1].unwrap_or(0) as f64;
        let is_costly =
            |k: &&KernelComparison| k.step_ns.iter().flatten().any(|ns| *ns as f64 >= COSTLY * step_ns);
        let costly = self.kernels.iter().filter(is_costly).chain([&self.step]);
        let is_unclear =
            |k: &&KernelComparison| k.comparison.is_some_and(|found| found.verdict == Verdict::Unclear);
        costly.filter(is_unclear).map(|k| k.rounds_needed).collect()
    }

    /// Returns the kernels that are slower, and `step` if whole steps are.
    pub fn regressions(&self) -> Vec<&str> {
        let is_slower = |c: &&KernelComparison| c.comparison.is_some_and(|c| c.verdict == Verdict::Slower);
        self.kernels.iter().chain([&self.step]).filter(is_slower).map(|c| c.kernel.as_str()).collect()
    }
}

/// Reason why two profiles cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("measured {what} \"{then}\", and this is \"{now}\": not comparable")]
pub struct Mismatch {
    /// Difference: the device, the scene or the steps.
    pub what: &'static str,
    /// Value of the earlier profile.
    pub then: String,
    /// Value of this profile.
    pub now: String,
}

/// Compares a profile with an earlier one, each of several processes ([`Profile::runs`]), by
/// [`compare_runs`]. The copy bandwidths of both measurements show how much the machine itself has changed.
///
/// # Errors
/// Another device, another scene or other steps, whose particles are elsewhere. A different driver or commit
/// only gives a caution, because comparing these is the purpose.
pub fn compare_profiles(
    then: &Profile,
    now: &Profile,
    tolerance: f64,
) -> Result<ProfileComparison, Mismatch> {
    then.check_comparable(&now.device, &now.scene, &now.scene_hash, [now.steps, now.steps_before])?;
    let [a, b] = [then, now].map(Profile::run_figures);
    let copies = |runs: &[RunFigures]| runs.iter().filter_map(|run| run.copy_gb_per_s).collect::<Vec<_>>();
    let copies = [copies(&a), copies(&b)];
    let n_comparisons = kernel_names([then, now]).len() + 1;
    let compared = |value: &dyn Fn(&RunFigures) -> Option<f64>| {
        let of = |runs: &[RunFigures]| runs.iter().filter_map(value).collect::<Vec<f64>>();
        let figures = [of(&a), of(&b)];
        let found = compare_runs(&figures[0], &figures[1], tolerance, &copies[0], &copies[1], n_comparisons);
        Compared { figures, found, same_build: None, rounds_needed: None }
    };
    let mut comparison = comparison([then, now], [a.len(), b.len()], tolerance, &compared);
    for (name, runs) in [("the baseline", &a), ("this measurement", &b)] {
        if runs.len() < MIN_RUNS {
            comparison.cautions.push(format!(
                "{name} has {} process; the variance between processes takes {MIN_RUNS} (--runs): no verdict",
                runs.len()
            ));
        }
    }
    Ok(comparison)
}

/// Compares two builds by the profiles of rounds of processes, with [`compare_rounds`], in one of `n_looks`
/// at the same rounds and earlier ones.
///
/// # Errors
/// The builds measured different scenes, devices or steps.
///
/// # Panics
/// Without a round.
pub fn compare_profile_rounds(
    rounds: &[ProfileRound],
    tolerance: f64,
    n_looks: usize,
) -> Result<ProfileComparison, Mismatch> {
    assert!(!rounds.is_empty(), "at least one round");
    let last = &rounds[rounds.len() - 1];
    let (then, now) = (&last.baseline[1], &last.current[1]);
    then.check_comparable(&now.device, &now.scene, &now.scene_hash, [now.steps, now.steps_before])?;
    let n_comparisons = n_looks * (kernel_names([then, now]).len() + 1);
    let figures = |pair: &[Profile; 2]| pair.each_ref().map(Profile::figures);
    let rounds: Vec<_> = rounds.iter().map(|r| [figures(&r.baseline), figures(&r.current)]).collect();
    let compared = |value: &dyn Fn(&RunFigures) -> Option<f64>| {
        let pair = |runs: &[RunFigures; 2]| runs.each_ref().map(|run| value(run).unwrap_or(f64::NAN));
        let pairs = rounds
            .iter()
            .map(|[baseline, current]| Round { baseline: pair(baseline), current: pair(current) });
        let found = compare_rounds(&pairs.collect::<Vec<_>>(), tolerance, n_comparisons);
        let of = |side: usize| rounds.iter().flat_map(|r| &r[side]).filter_map(value).collect::<Vec<f64>>();
        let (found, same_build, rounds_needed) = (found.comparison, Some(found.same_build), found.needed);
        Compared { figures: [of(0), of(1)], found, same_build, rounds_needed }
    };
    let processes = 2 * rounds.len();
    Ok(comparison([then, now], [processes; 2], tolerance, &compared))
}

/// Returns the names of the kernels of either profile.
fn kernel_names([then, now]: [&Profile; 2]) -> BTreeSet<&String> {
    then.samples_ns.keys().chain(now.samples_ns.keys()).collect()
}

/// Figures of both sides and their comparison.
struct Compared {
    figures: [Vec<f64>; 2],
    found: Comparison,
    /// Interval of the A/A check.
    same_build: Option<[f64; 2]>,
    rounds_needed: Option<usize>,
}

/// Value of a figure of a run, if the run has it.
type Figure<'a> = &'a dyn Fn(&RunFigures) -> Option<f64>;

/// Makes the comparison; `compared` compares one value of the figures of each process.
fn comparison(
    profiles: [&Profile; 2],
    processes: [usize; 2],
    tolerance: f64,
    compared: &dyn Fn(Figure<'_>) -> Compared,
) -> ProfileComparison {
    let [then, now] = profiles;
    let names = kernel_names(profiles);
    let row = |name: &str, value: &dyn Fn(&RunFigures) -> Option<f64>| {
        let Compared { figures, found, same_build, rounds_needed } = compared(value);
        let step_ns = figures.map(|mut ns| (!ns.is_empty()).then(|| median(&mut ns) as u64));
        let both = step_ns.iter().all(Option::is_some);
        KernelComparison {
            kernel: name.to_owned(),
            step_ns,
            comparison: both.then_some(found),
            same_build: same_build.filter(|_| both),
            rounds_needed: rounds_needed.filter(|_| both),
            rows: profiles.map(|p| p.rows.iter().find(|row| row.kernel == name).cloned()),
        }
    };
    let kernel = |name: &String| row(name, &|run| run.kernels_ns.get(name).copied());
    let mut kernels: Vec<_> = names.into_iter().map(kernel).collect();
    let place = |name: &str| now.rows.iter().position(|row| row.kernel == name).unwrap_or(usize::MAX);
    kernels.sort_by_key(|k| place(&k.kernel));
    let facts = |side: usize| RunFacts::of(profiles[side], processes[side]);
    ProfileComparison {
        tolerance,
        step: row("step", &|run| Some(run.step_ns).filter(|ns| *ns > 0.0)),
        kernels,
        runs: [facts(0), facts(1)],
        cautions: cautions(then, now),
    }
}

/// Returns differences between two measurements that may explain different times.
fn cautions(then: &Profile, now: &Profile) -> Vec<String> {
    let mut cautions = Vec::new();
    if then.driver != now.driver {
        cautions.push(format!("the driver was {}, and now is {}", then.driver, now.driver));
    }
    if then.tuning != now.tuning {
        let words = |p: &Profile| match p.tuning.is_empty() {
            true => "the defaults".to_owned(),
            false => p.tuning.iter().map(|(name, v)| format!("{name}={v}")).collect::<Vec<_>>().join(", "),
        };
        cautions.push(format!("the tunables were {}, and now are {}", words(then), words(now)));
    }
    cautions
}

impl Profile {
    /// Returns the figures of the process that measured this profile.
    pub fn figures(&self) -> RunFigures {
        let mut kernels_ns: BTreeMap<String, f64> = BTreeMap::new();
        for pass in &self.passes {
            // A pass that not every step has, or that has no elements in some, counts in proportion.
            let (row, steps) = (&pass.row, self.steps.max(1) as f64);
            let fastest_ns = |calls: u64, min_ns: u64| calls as f64 / steps * min_ns as f64;
            let all_ns = fastest_ns(row.calls, row.min_ns) + fastest_ns(row.empty.calls, row.empty.min_ns);
            *kernels_ns.entry(row.kernel.clone()).or_default() += all_ns;
        }
        for (name, samples) in &self.samples_ns {
            // Calls between steps.
            if !kernels_ns.contains_key(name) {
                let per_step = samples.len() as f64 / self.steps.max(1) as f64;
                kernels_ns.insert(name.clone(), per_step * figure(&as_f64(samples)));
            }
        }
        RunFigures {
            step_ns: figure(&as_f64(&self.step_samples_ns)),
            kernels_ns,
            copy_gb_per_s: self.copy_gb_per_s,
        }
    }

    /// Returns the figures of all processes that measured this profile.
    pub fn run_figures(&self) -> Vec<RunFigures> {
        if self.runs.is_empty() { vec![self.figures()] } else { self.runs.clone() }
    }

    /// Returns an error unless measurements of `scene` on `device` over `steps`, their number and that of
    /// those before, can be compared with this one.
    ///
    /// # Errors
    /// This profile is of another device, another scene or other steps.
    pub fn check_comparable(
        &self,
        device: &str,
        scene: &str,
        scene_hash: &str,
        steps: [u64; 2],
    ) -> Result<(), Mismatch> {
        let words = |[n, before]: [u64; 2]| format!("--steps {n} --warm-up {before}");
        let (then, now) = (words([self.steps, self.steps_before]), words(steps));
        for (what, then, now) in [
            ("on the device", &*self.device, device),
            ("the scene", &self.scene, scene),
            ("the scene with the hash", &self.scene_hash, scene_hash),
            ("the steps of", &then, &now),
        ] {
            if then != now {
                return Err(Mismatch { what, then: then.to_owned(), now: now.to_owned() });
            }
        }
        Ok(())
    }
}

fn as_f64(samples: &[u64]) -> Vec<f64> {
    samples.iter().map(|&ns| ns as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{EmptyCalls, TableStyle, comparison_table, tests::profile};
    use super::*;

    /// Makes a profile of five processes, each by a thousandth slower than the one before.
    fn repeated(profile: Profile) -> Profile {
        let one = profile.figures();
        let run = |i: u32| {
            let factor = 1.0 + 0.001 * f64::from(i);
            let kernels_ns = one.kernels_ns.iter().map(|(name, ns)| (name.clone(), factor * ns)).collect();
            RunFigures { step_ns: factor * one.step_ns, kernels_ns, copy_gb_per_s: one.copy_gb_per_s }
        };
        Profile { runs: (0..5).map(run).collect(), ..profile }
    }

    /// Makes a profile in which a kernel takes twice the time, one is gone and another is new.
    fn changed() -> (Profile, Profile) {
        let (mut then, mut now) = (profile(), profile());
        then.samples_ns.insert("old".to_owned(), vec![5; 9]);
        now.samples_ns.insert("young".to_owned(), vec![5; 9]);
        let lambda = now.passes.iter_mut().find(|pass| pass.row.kernel == "pbd.lambda").unwrap();
        lambda.row.min_ns *= 2;
        then.driver = "another".to_owned();
        (then, now)
    }

    #[test]
    fn a_profile_is_the_same_as_itself() {
        let profile = repeated(profile());
        let found = compare_profiles(&profile, &profile, 0.05).unwrap();
        assert!(found.kernels.iter().all(|k| k.comparison.unwrap().verdict == Verdict::Same), "{found:?}");
        assert_eq!(found.step.verdict(), "same");
        assert!(found.regressions().is_empty() && found.cautions.is_empty());
    }

    #[test]
    fn empty_calls_count_with_the_time_that_they_take() {
        let mut profile = profile();
        let pass = &mut profile.passes[0].row;
        (pass.calls, pass.min_ns) = (5, 1000);
        pass.empty = EmptyCalls { calls: 15, total_ns: 200, min_ns: 8, median_ns: 10 };
        // 5 of 20 steps with elements, and 15 without.
        assert_eq!(profile.figures().kernels_ns["pbd.lambda"], 5.0 / 20.0 * 1000.0 + 15.0 / 20.0 * 8.0);
    }

    #[test]
    fn one_process_on_a_side_gives_no_verdict() {
        let (then, now) = changed();
        for (then, now) in [(then.clone(), repeated(now.clone())), (repeated(then), now)] {
            let found = compare_profiles(&then, &now, 0.05).unwrap();
            assert_eq!((found.kernels[0].verdict().as_str(), found.regressions().len()), ("unclear", 0));
            assert!(found.cautions.iter().any(|caution| caution.contains("--runs")), "{:?}", found.cautions);
        }
    }

    #[test]
    fn slower_kernels_are_named_and_so_are_those_without_a_pair() {
        let (then, now) = changed();
        let found = compare_profiles(&repeated(then), &repeated(now), 0.05).unwrap();
        assert_eq!(found.regressions(), ["pbd.lambda"]);
        assert_eq!(found.kernels[0].kernel, "pbd.lambda");
        assert_eq!(found.cautions.len(), 1);
        let table = comparison_table(&found, true, TableStyle::Plain);
        let verdict = |kernel: &str| {
            let line = table.lines().find(|line| line.starts_with(kernel)).unwrap();
            line.split_whitespace().last().unwrap().to_owned()
        };
        assert_eq!(
            ["pbd.lambda", "old", "young", "step"].map(verdict),
            ["slower", "gone", "new", "same"],
            "{table}"
        );
    }

    #[test]
    fn builds_that_take_turns_have_the_interval_of_the_check() {
        let (then, now) = changed();
        let round = ProfileRound { baseline: [then.clone(), then], current: [now.clone(), now] };
        let found = compare_profile_rounds(&vec![round; 5], 0.02, 1).unwrap();
        assert_eq!((found.regressions(), found.runs[0].processes), (vec!["pbd.lambda"], 10));
        assert_eq!(found.kernels[0].same_build, Some([1.0, 1.0]));
        assert!((found.kernels[0].comparison.unwrap().ratio - 2.0).abs() < 1e-12);
        assert!(found.undecided().is_empty(), "{found:?}");
    }

    #[test]
    fn an_unclear_kernel_says_how_many_rounds_would_decide_it() {
        let round = |i: usize| {
            // Slower by 4 % with a scatter of as much.
            let mut now = profile();
            for pass in &mut now.passes {
                pass.row.min_ns = (pass.row.min_ns as f64 * [1.0, 1.08, 1.05, 1.03][i % 4]) as u64;
            }
            ProfileRound { baseline: [profile(), profile()], current: [now.clone(), now] }
        };
        let found = compare_profile_rounds(&(0..4).map(round).collect::<Vec<_>>(), 0.02, 1).unwrap();
        let lambda = &found.kernels[0];
        let needed = lambda.rounds_needed.unwrap();
        assert!(lambda.verdict() == "unclear" && (5..200).contains(&needed), "{lambda:?}");
        assert!(found.undecided().contains(&Some(needed)));
        let table = comparison_table(&found, true, TableStyle::Plain);
        assert!(table.contains(&format!("unclear, {needed} rounds")), "{table}");
    }

    #[test]
    fn only_comparable_runs_are_compared() {
        let others = [
            (Profile { device: "another".to_owned(), ..profile() }, "on the device"),
            (Profile { scene: "another".to_owned(), ..profile() }, "the scene"),
            (Profile { scene_hash: "another".to_owned(), ..profile() }, "hash"),
            (Profile { steps: 9, scene_hash: "77".to_owned(), ..profile() }, "--steps 9 --warm-up 5"),
            (Profile { steps_before: 7, ..profile() }, "--steps 20 --warm-up 7"),
        ];
        for (other, what) in others {
            let error = compare_profiles(&other, &profile(), 0.05).unwrap_err();
            assert!(error.to_string().contains(what) && error.then != error.now, "{error}");
        }
    }
}
