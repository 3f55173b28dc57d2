//! `--against`: comparison with an earlier profile.

use crate::failure::Failure;
use frazil_report::{Profile, ProfileComparison, compare_profiles};
use std::path::{Path, PathBuf};

/// An earlier profile.
pub struct Baseline {
    path: PathBuf,
    profile: Profile,
}

/// Reads an earlier profile; one that cannot be read is bad input.
pub fn read(path: &Path) -> Result<Baseline, Failure> {
    let profile = Profile::read(path).map_err(Failure::input)?;
    Ok(Baseline { path: path.to_owned(), profile })
}

impl Baseline {
    /// Returns an error if the profiles cannot be compared, before anything is measured.
    pub fn check(&self, device: &str, scene: &str, scene_hash: &str) -> Result<(), Failure> {
        self.profile.check_comparable(device, scene, scene_hash).map_err(|e| self.refuse(&e))
    }

    pub fn compare(&self, now: &Profile, tolerance: f64) -> Result<ProfileComparison, Failure> {
        compare_profiles(&self.profile, now, tolerance).map_err(|e| self.refuse(&e))
    }

    fn refuse(&self, mismatch: &frazil_report::Mismatch) -> Failure {
        Failure::input(format!("{}: {mismatch}", self.path.display()))
    }
}

/// Returns an error if anything is slower than in the earlier profile.
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
        baseline.path.display(),
        100.0 * comparison.tolerance,
        slower.join(", ")
    )))
}
