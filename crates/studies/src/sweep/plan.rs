//! Grid of a sweep: its cases, whose scenes are all validated before the first one runs.

use super::axis::VaryAxis;
use frazil_engine::outputs::{Cadence, Schedule, ScheduleRequest};
use frazil_engine::run::RunOptions;
use frazil_engine::{Failure, picture};
use frazil_scene::{Every, Scene, SceneError};

/// Folder of the cases.
pub const CASES: &str = "cases";
/// Maximum number of cases, a guard against typing errors.
const MAX_CASES: usize = 1000;
/// Number of checkpoints per case, so that a kill loses at most a tenth of it.
const CHECKPOINTS: u64 = 10;
/// Maximum length of a case's folder name in characters.
const MAX_NAME: usize = 120;

/// Grid of a sweep, and what all of its cases have in common.
#[derive(Clone, Debug, Default)]
pub struct SweepOptions {
    /// Path of a scene file, or the name of a built-in scene.
    pub scene: String,
    /// Overrides `key=value` of all cases; varied values take precedence.
    pub overrides: Vec<String>,
    /// Axes of the grid.
    pub axes: Vec<VaryAxis>,
    /// Duration of each case, and the interval of its metrics. Pictures and recordings are not written.
    pub schedule: ScheduleRequest,
    /// Replaces finished cases of other parameters, which are refused without it.
    pub overwrite: bool,
    /// Commit that the program is built from, for the results.
    pub commit: Option<String>,
    /// Words of the command line, for the results.
    pub command_line: Option<Vec<String>>,
}

/// A point of the grid.
pub struct Case {
    /// Folder name.
    pub(super) name: String,
    /// Values with their short names, such as `hardening = 10`.
    pub(super) lines: Vec<String>,
    /// Values as given, in the order of the keys.
    pub(super) values: Vec<String>,
    /// Scene with the values of this point.
    pub scene: Scene,
    pub(super) options: RunOptions,
    pub(super) last_step: u64,
    /// Mean x of all particles at the start, in m.
    pub(super) start_x_m: f64,
}

/// Creates all cases, the last axis varying fastest.
///
/// # Errors
/// A key is varied twice, there are too many cases, or a scene is invalid: the first.
pub fn cases(sweep: &SweepOptions) -> Result<Vec<Case>, Failure> {
    let keys: Vec<&str> = sweep.axes.iter().flat_map(|axis| &axis.keys).map(String::as_str).collect();
    if let Some((_, twice)) = keys.iter().enumerate().find(|(i, key)| keys[..*i].contains(key)) {
        return Err(Failure::input(format!("--vary {twice}: the key is varied twice")));
    }
    let n_cases = sweep.axes.iter().try_fold(1_usize, |n, axis| n.checked_mul(axis.points.len()));
    let Some(n_cases) = n_cases.filter(|n| *n <= MAX_CASES) else {
        let factors: Vec<String> = sweep.axes.iter().map(|axis| axis.points.len().to_string()).collect();
        let found = factors.join(" × ");
        return Err(Failure::input(format!("--vary: found {found} cases, expected at most {MAX_CASES}")));
    };
    let names = short_names(&keys);
    (0..n_cases).map(|idx| case(sweep, &keys, &names, idx)).collect()
}

fn case(sweep: &SweepOptions, keys: &[&str], names: &[String], idx: usize) -> Result<Case, Failure> {
    let values = values_at(&sweep.axes, idx);
    let settings: Vec<String> =
        keys.iter().zip(&values).map(|(key, value)| format!("{key}={value}")).collect();
    // Varied values are set last, so that they take precedence.
    let overrides: Vec<String> = sweep.overrides.iter().chain(&settings).cloned().collect();
    let in_case = |error: SceneError| match error {
        // Not specific to a case.
        SceneError::Read { .. } | SceneError::NoSuchScene { .. } | SceneError::Syntax { .. } => error.into(),
        _ => Failure::input(format!("--vary, case {}: {error}", settings.join(" "))),
    };
    let loaded = Scene::find(&sweep.scene, &overrides).map_err(in_case)?;
    picture::check(&loaded).map_err(in_case)?;
    let sampled = loaded.sample().map_err(in_case)?;
    let xs = sampled.positions_m.iter().map(|position| f64::from(position[0]));
    let start_x_m = xs.sum::<f64>() / sampled.len().max(1) as f64;

    let name = folder_name(idx, names, &values);
    let request =
        ScheduleRequest { picture: Some(Cadence::Never), record: Some(Cadence::Never), ..sweep.schedule };
    let last_step = Schedule::new(&request, &loaded).last_step;
    let checkpoint = Some(Cadence::Every(Every::Steps((last_step / CHECKPOINTS).max(1))));
    let schedule = ScheduleRequest { checkpoint, ..request };
    let options = RunOptions {
        schedule,
        commit: sweep.commit.clone(),
        command_line: sweep.command_line.clone(),
        ..RunOptions::default()
    };
    let lines = names.iter().zip(&values).map(|(name, value)| format!("{name} = {value}")).collect();
    Ok(Case { name, lines, values, scene: loaded, options, last_step, start_x_m })
}

/// Returns the values of case `idx`, those of the first axis first.
fn values_at(axes: &[VaryAxis], idx: usize) -> Vec<String> {
    let mut left = idx;
    let mut points: Vec<&Vec<String>> = Vec::new();
    for axis in axes.iter().rev() {
        points.push(&axis.points[left % axis.points.len()]);
        left /= axis.points.len();
    }
    points.into_iter().rev().flatten().cloned().collect()
}

/// Returns the shortest suffixes of keys that distinguish them.
fn short_names(keys: &[&str]) -> Vec<String> {
    let end = |key: &str, n: usize| {
        let parts: Vec<&str> = key.split('.').collect();
        parts[parts.len().saturating_sub(n)..].join(".")
    };
    let shortest = |key: &&str| {
        let n_parts = key.split('.').count();
        let alone = |n: &usize| keys.iter().filter(|other| end(other, *n) == end(key, *n)).count() == 1;
        end(key, (1..=n_parts).find(alone).unwrap_or(n_parts))
    };
    keys.iter().map(shortest).collect()
}

/// Returns a folder name that identifies the case, with characters that are safe in shells and file systems.
fn folder_name(idx: usize, names: &[String], values: &[String]) -> String {
    let pairs: Vec<String> =
        names.iter().zip(values).map(|(name, value)| format!("{name}={value}")).collect();
    let plain = |c: char| if c.is_alphanumeric() || "-+_.=,".contains(c) { c } else { '_' };
    format!("{idx:03}_{}", pairs.join(",")).chars().map(plain).take(MAX_NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_axis_runs_fastest() {
        let axes = ["a=1,2", "b,c=3:4,5:6,7:8"].map(|text| text.parse().unwrap());
        let all: Vec<String> = (0..6).map(|idx| values_at(&axes, idx).concat()).collect();
        assert_eq!(all, ["134", "156", "178", "234", "256", "278"]);
    }

    #[test]
    fn names_are_shortened_as_far_as_they_stay_distinct() {
        let keys = ["mpm.material.hardening", "bodies.0.friction", "mpm.walls.friction", "seed"];
        assert_eq!(short_names(&keys), ["hardening", "0.friction", "walls.friction", "seed"]);
        assert_eq!(short_names(&["bodies.0.friction", "bodies.1.friction"]), ["0.friction", "1.friction"]);
        assert_eq!(short_names(&["b", "a.b"]), ["b", "a.b"]);
    }

    #[test]
    fn folders_have_plain_names() {
        let name = folder_name(7, &["name".into(), "g".into()], &["\"../a b\"".into(), "[0, -1]".into()]);
        assert_eq!(name, "007_name=_.._a_b_,g=_0,_-1_");
        assert_eq!(folder_name(0, &["x".into()], &["9".repeat(500)]).len(), MAX_NAME);
    }
}
