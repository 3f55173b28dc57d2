//! Measurements in processes of their own: several of this build, or this build and another one in turns.

mod build;
mod host;

pub use build::{Build, arguments_without, is_build};
pub use host::{HostLoad, HostWatch};

use frazil_engine::Failure;
use frazil_report::Round;

/// Results of the four processes of a round.
pub struct Turns<T> {
    pub baseline: [T; 2],
    pub current: [T; 2],
}

/// Measures rounds with two processes of each build, in the order of [`Round::is_baseline`], after one
/// process of each that does not count: it fills caches of files and pipelines.
///
/// `undecided` evaluates the rounds after each of the numbers in `looks`: it returns about how many rounds
/// each unclear figure takes, `None` for one that no number would decide. The last look is reached only while
/// there is one that it would decide.
pub fn take_turns<T>(
    baseline: &Build,
    current: &Build,
    looks: &[usize],
    mut measure: impl FnMut(&Build) -> Result<T, Failure>,
    mut undecided: impl FnMut(&[Turns<T>]) -> Result<Vec<Option<usize>>, Failure>,
) -> Result<(Vec<Turns<T>>, HostLoad), Failure> {
    measure(baseline)?;
    measure(current)?;
    let mut watch = HostWatch::start();
    let last = looks.last().copied().unwrap_or(0);
    let mut all = Vec::with_capacity(last);
    for look in looks {
        for round in all.len()..*look {
            let mut slot = |slot: usize| -> Result<T, Failure> {
                let result = measure(if Round::is_baseline(round, slot) { baseline } else { current })?;
                watch.sample_clock();
                Ok(result)
            };
            let [first, second, third, fourth] = [slot(0)?, slot(1)?, slot(2)?, slot(3)?];
            let (outer, inner) = ([first, fourth], [second, third]);
            all.push(match Round::is_baseline(round, 0) {
                true => Turns { baseline: outer, current: inner },
                false => Turns { baseline: inner, current: outer },
            });
        }
        if *look < last && !undecided(&all)?.into_iter().flatten().any(|rounds| rounds <= last) {
            break;
        }
    }
    Ok((all, watch.finish()))
}

/// Returns the number of processes that [`take_turns`] starts, in words.
pub fn words(looks: &[usize]) -> String {
    let processes = |rounds: Option<&usize>| 4 * rounds.copied().unwrap_or(0) + 2;
    let [first, last] = [looks.first(), looks.last()].map(processes);
    if first == last {
        first.to_string()
    } else {
        format!("{first}, up to {last} while a verdict is unclear")
    }
}

/// Measures in `runs` processes of this build, after one that does not count.
pub fn repeat<T>(
    runs: usize,
    mut measure: impl FnMut(&Build) -> Result<T, Failure>,
) -> Result<(Vec<T>, HostLoad), Failure> {
    let build = Build::this()?;
    measure(&build)?;
    let mut watch = HostWatch::start();
    let mut run = |_| {
        let result = measure(&build)?;
        watch.sample_clock();
        Ok(result)
    };
    let all = (0..runs).map(&mut run).collect::<Result<_, Failure>>()?;
    Ok((all, watch.finish()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use std::path::Path;

    #[test]
    fn builds_take_turns_after_one_process_of_each() {
        let (baseline, current) = (Build::at(Path::new("a")), Build::at(Path::new("b")));
        let mut order = String::new();
        let mut n = 0;
        let count = |build: &Build| {
            order += &build.to_string();
            n += 1;
            Ok(n)
        };
        let (turns, _) = take_turns(&baseline, &current, &[2], count, |_| unreachable!()).unwrap();
        assert_eq!(order, "ababbabaab");
        let found: Vec<_> = turns.iter().map(|turns| (turns.baseline, turns.current)).collect();
        assert_eq!(found, [([3, 6], [4, 5]), ([8, 9], [7, 10])]);
    }

    #[test]
    fn rounds_are_added_while_one_that_they_can_decide_is_unclear() {
        let build = Build::at(Path::new("a"));
        let rounds_with = |undecided: &dyn Fn(usize) -> Vec<Option<usize>>| {
            let found = |turns: &[Turns<()>]| Ok(undecided(turns.len()));
            take_turns(&build, &build, &[3, 6, 12], |_| Ok(()), found).unwrap().0.len()
        };
        assert_eq!(rounds_with(&|_| vec![]), 3, "all are decided");
        assert_eq!(rounds_with(&|n| if n == 3 { vec![None, Some(5)] } else { vec![None] }), 6);
        assert_eq!(rounds_with(&|_| vec![Some(12)]), 12);
        assert_eq!(rounds_with(&|_| vec![Some(13), None]), 3, "beyond the limit");
    }

    #[test]
    fn a_process_that_fails_ends_the_measurement() {
        let build = Build::at(Path::new("a"));
        let mut left = 5;
        let measure = |_: &Build| {
            left -= 1;
            if left > 0 { Ok(()) } else { Err(Failure::device("lost")) }
        };
        let result = take_turns(&build, &build, &[3], measure, |_| Ok(Vec::new()));
        assert_eq!(result.err().unwrap().to_string(), "lost");
    }
}
