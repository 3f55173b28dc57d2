//! Comparison of a profile with an earlier one.

use std::collections::BTreeSet;

use super::{Profile, ProfileRow};
use crate::comparison::{Comparison, Verdict, compare};
use crate::statistics::median_of_times;

/// Comparison of a profile with an earlier one.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileComparison {
    /// Tolerance within which times count as equal: 0.05 is 5 %.
    pub tolerance: f64,
    /// Earlier and current median step, in nanoseconds.
    pub step_median_ns: [Option<u64>; 2],
    /// Comparison of the device time of steps.
    pub step: Comparison,
    /// All kernels of both profiles, currently most expensive first.
    pub kernels: Vec<KernelComparison>,
    /// Earlier and current run.
    pub runs: [RunFacts; 2],
    /// Differences between the two measurements that may explain a verdict.
    pub cautions: Vec<String>,
}

/// Comparison of a kernel with its earlier measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelComparison {
    /// The kernel's name.
    pub kernel: String,
    /// Earlier median call, in nanoseconds; `None` if it did not run.
    pub then_median_ns: Option<u64>,
    /// Current median call, in nanoseconds; `None` if it did not run.
    pub now_median_ns: Option<u64>,
    /// The comparison; `None` if it ran in only one of them.
    pub comparison: Option<Comparison>,
    /// Earlier and current row.
    pub rows: [Option<ProfileRow>; 2],
}

/// Facts of one of two runs that are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFacts {
    /// The commit frazil was built from, if known.
    pub git_commit: Option<String>,
    /// The driver's name and version.
    pub driver: String,
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
    fn of(profile: &Profile) -> Self {
        Self {
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
    /// Returns the kernels that are slower, and `step` if whole steps are.
    pub fn regressions(&self) -> Vec<&str> {
        let is_slower = |c: &&KernelComparison| c.comparison.is_some_and(|c| c.verdict == Verdict::Slower);
        let kernels = self.kernels.iter().filter(is_slower).map(|c| c.kernel.as_str());
        kernels.chain((self.step.verdict == Verdict::Slower).then_some("step")).collect()
    }
}

/// Reason why two profiles cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("measured {what} \"{then}\", and this is \"{now}\"; only the like compares")]
pub struct Mismatch {
    /// Difference: the device or the scene.
    pub what: &'static str,
    /// Value of the earlier profile.
    pub then: String,
    /// Value of this profile.
    pub now: String,
}

/// Compares each kernel's raw times with those of an earlier profile, using [`compare`].
///
/// # Errors
/// Another device or another scene. A different driver, commit or range of steps only gives a caution,
/// because comparing these is the purpose.
pub fn compare_profiles(
    then: &Profile,
    now: &Profile,
    tolerance: f64,
) -> Result<ProfileComparison, Mismatch> {
    then.check_comparable(&now.device, &now.scene, &now.scene_hash)?;
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
    let stretch = |p: &Profile| (p.steps_before, p.steps);
    if stretch(then) != stretch(now) {
        let words = |p: &Profile| format!("{} steps after {}", p.steps, p.steps_before);
        cautions.push(format!("measured were {}, and now {}", words(then), words(now)));
    }
    let names: BTreeSet<&String> = then.samples_ns.keys().chain(now.samples_ns.keys()).collect();
    let mut kernels: Vec<_> = names
        .into_iter()
        .map(|name| {
            let [a, b] = [then, now].map(|p| p.samples_ns.get(name));
            KernelComparison {
                kernel: name.clone(),
                then_median_ns: a.and_then(|samples| median_of_times(samples)),
                now_median_ns: b.and_then(|samples| median_of_times(samples)),
                rows: [then, now].map(|p| p.rows.iter().find(|row| row.kernel == *name).cloned()),
                comparison: a.zip(b).map(|(a, b)| compare(&as_f64(a), &as_f64(b), tolerance)),
            }
        })
        .collect();
    let place = |name: &str| now.rows.iter().position(|row| row.kernel == name).unwrap_or(usize::MAX);
    kernels.sort_by_key(|k| place(&k.kernel));
    Ok(ProfileComparison {
        tolerance,
        step_median_ns: [then.step_median_ns(), now.step_median_ns()],
        step: compare(&as_f64(&then.step_samples_ns), &as_f64(&now.step_samples_ns), tolerance),
        kernels,
        runs: [then, now].map(RunFacts::of),
        cautions,
    })
}

impl Profile {
    /// Returns true if measurements of `scene` on `device` can be compared with this one.
    ///
    /// # Errors
    /// This profile is of another device or another scene.
    pub fn check_comparable(&self, device: &str, scene: &str, scene_hash: &str) -> Result<(), Mismatch> {
        for (what, then, now) in [
            ("on the device", &self.device, device),
            ("the scene", &self.scene, scene),
            ("the scene with the hash", &self.scene_hash, scene_hash),
        ] {
            if then != now {
                return Err(Mismatch { what, then: then.clone(), now: now.to_owned() });
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
    use super::super::{TableStyle, comparison_table, tests::profile};
    use super::*;

    #[test]
    fn a_profile_is_the_same_as_itself() {
        let found = compare_profiles(&profile(), &profile(), 0.05).unwrap();
        assert!(found.kernels.iter().all(|k| k.comparison.unwrap().verdict == Verdict::Same), "{found:?}");
        assert_eq!(found.step.verdict, Verdict::Same);
        assert!(found.regressions().is_empty() && found.cautions.is_empty());
    }

    #[test]
    fn slower_kernels_are_named_and_so_are_those_without_a_pair() {
        let (mut then, mut now) = (profile(), profile());
        then.samples_ns.get_mut("pbd.lambda").unwrap().iter_mut().for_each(|ns| *ns /= 2);
        then.samples_ns.insert("old".to_owned(), vec![5; 9]);
        now.samples_ns.insert("young".to_owned(), vec![5; 9]);
        (then.driver, then.steps) = ("another".to_owned(), 7);
        let found = compare_profiles(&then, &now, 0.05).unwrap();
        assert_eq!(found.regressions(), ["pbd.lambda"]);
        assert_eq!(found.kernels[0].kernel, "pbd.lambda");
        assert_eq!(found.cautions.len(), 2);
        let table = comparison_table(&found, TableStyle::Plain);
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
    fn only_comparable_runs_are_compared() {
        let others = [
            (Profile { device: "another".to_owned(), ..profile() }, "on the device"),
            (Profile { scene: "another".to_owned(), ..profile() }, "the scene"),
            (Profile { scene_hash: "another".to_owned(), ..profile() }, "hash"),
        ];
        for (other, what) in others {
            let error = compare_profiles(&other, &profile(), 0.05).unwrap_err().to_string();
            assert!(error.contains(what) && error.contains("another"), "{error}");
        }
    }
}
