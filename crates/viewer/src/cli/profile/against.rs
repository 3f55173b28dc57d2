//! `--against`: comparison with an earlier profile or with another build, and profiles in several processes.

use super::args::ProfileArgs;
use crate::cli::history::HistoryArgs;
use crate::cli::processes::{self, Build, HostLoad, Turns, arguments_without, is_build};
use crate::common_args::CompareArgs;
use crate::say;
use frazil_engine::Failure;
use frazil_report::{
    Profile, ProfileComparison, ProfileRound, RunFigures, compare_profile_rounds, compare_profiles,
};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Baseline of the comparison of a profile.
pub enum Baseline {
    /// An earlier profile, and its file.
    Earlier(PathBuf, Box<Profile>),
    /// Another build.
    Build(Build),
}

/// Opens the baseline; a file that cannot be read is bad input.
pub fn open(path: &Path) -> Result<Baseline, Failure> {
    if is_build(path) {
        return Ok(Baseline::Build(Build::open(path)?));
    }
    let profile = Profile::read(path).map_err(Failure::input)?;
    Ok(Baseline::Earlier(path.to_owned(), Box::new(profile)))
}

impl Baseline {
    /// Returns an error if the profiles cannot be compared, before anything is measured.
    pub fn check(&self, device: &str, scene: &str, scene_hash: &str, steps: [u64; 2]) -> Result<(), Failure> {
        match self {
            Self::Earlier(path, profile) => {
                profile.check_comparable(device, scene, scene_hash, steps).map_err(|e| refuse(path, &e))
            }
            Self::Build(_) => Ok(()),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Earlier(path, _) => path.display().to_string(),
            Self::Build(build) => build.to_string(),
        }
    }
}

fn refuse(path: &Path, mismatch: &frazil_report::Mismatch) -> Failure {
    Failure::input(format!("{}: {mismatch}", path.display()))
}

/// Measures in further processes as far as the comparison, or `--runs`, takes them; adds their figures to the
/// profile. No device may be open: it would hold its memory meanwhile. `words` are the arguments of this
/// process.
pub fn measure(
    args: &ProfileArgs,
    baseline: Option<&Baseline>,
    profile: &mut Profile,
    words: &[OsString],
) -> Result<(Option<ProfileComparison>, Option<HostLoad>), Failure> {
    let one = |build: &Build| profile_by(build, words);
    if let Some(Baseline::Build(build)) = baseline {
        let (current, looks) = (Build::this()?, args.compare.looks());
        say::note(format_args!(
            "processes take turns: {}: {current} against {build}",
            processes::words(&looks)
        ));
        let path = args.compare.against.as_deref().unwrap_or(Path::new(""));
        let compare = |turns: &[Turns<Profile>]| {
            let round = |turns: &Turns<Profile>| ProfileRound {
                baseline: turns.baseline.clone(),
                current: turns.current.clone(),
            };
            let rounds: Vec<ProfileRound> = turns.iter().map(round).collect();
            compare_profile_rounds(&rounds, args.compare.tolerance_of_builds(), looks.len())
                .map_err(|mismatch| refuse(path, &mismatch))
        };
        let undecided = |turns: &[Turns<Profile>]| Ok(compare(turns)?.undecided());
        let (turns, load) = processes::take_turns(build, &current, &looks, one, undecided)?;
        profile.runs = turns.iter().flat_map(|turns| &turns.current).map(Profile::figures).collect();
        let comparison = compare(&turns)?;
        return Ok((Some(comparison), Some(load)));
    }
    let earlier = match baseline {
        Some(Baseline::Earlier(path, earlier)) => Some((path, &**earlier)),
        _ => None,
    };
    let mut load = None;
    if let Some(runs) = args.compare.processes(earlier.map(|(_, earlier)| earlier.run_figures().len())) {
        let (profiles, found) = processes::repeat(runs, one)?;
        profile.runs = profiles.iter().map(Profile::figures).collect::<Vec<RunFigures>>();
        load = Some(found);
    }
    let compare = |(path, earlier): (&PathBuf, &Profile)| {
        compare_profiles(earlier, profile, args.compare.tolerance_of_files()).map_err(|e| refuse(path, &e))
    };
    Ok((earlier.map(compare).transpose()?, load))
}

/// Profiles in a process of a build.
fn profile_by(build: &Build, words: &[OsString]) -> Result<Profile, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::other)?;
    let others = [("out", true), ("vary", true), ("pictures", true), ("csv", false)];
    let left_out = [&CompareArgs::OPTIONS[..], &HistoryArgs::OPTIONS, &others].concat();
    let added: [&OsStr; 2] = ["--out".as_ref(), folder.path().as_ref()];
    build.run(&arguments_without(words, "profile", &left_out, &added))?;
    Profile::read(&folder.path().join("profile.json")).map_err(Failure::input)
}

/// Returns an error if anything is slower than in the baseline.
pub fn check_regressions(
    baseline: Option<&Baseline>,
    comparison: Option<&ProfileComparison>,
) -> Result<(), Failure> {
    let (Some(baseline), Some(comparison)) = (baseline, comparison) else { return Ok(()) };
    let slower = comparison.regressions();
    if slower.is_empty() {
        return Ok(());
    }
    Err(Failure::other(format!(
        "slower than in {} by more than {} %: {}",
        baseline.name(),
        100.0 * comparison.tolerance,
        slower.join(", ")
    )))
}
