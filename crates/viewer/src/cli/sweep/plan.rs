//! Grid of a sweep: its cases, whose scenes are all validated before the first one runs.

use super::args::SweepArgs;
use super::axis::VaryAxis;
use crate::cli::run::RunOptions;
use crate::common_args::{SceneArgs, SceneChanges};
use frazil_engine::Failure;
use frazil_engine::outputs::{Cadence, Schedule, ScheduleRequest};
use frazil_scene::{Every, Scene, SceneError};

/// Folder of the cases.
pub const CASES: &str = "cases";
/// Maximum number of cases, a guard against typing errors.
const MAX_CASES: usize = 1000;
/// Number of checkpoints per case, so that a kill loses at most a tenth of it.
const CHECKPOINTS: u64 = 10;
/// Maximum length of a case's folder name in characters.
const MAX_NAME: usize = 120;

/// A point of the grid.
pub struct Case {
    /// Folder name.
    pub name: String,
    /// Values with their short names, such as `hardening = 10`.
    pub lines: Vec<String>,
    /// Values as given, in the order of the keys.
    pub values: Vec<String>,
    pub scene: Scene,
    pub options: RunOptions,
    pub last_step: u64,
    /// Mean x of all particles at the start, in m.
    pub start_x_m: f64,
}

/// Creates all cases, the last axis varying fastest. It fails on the first invalid scene.
pub fn cases(args: &SweepArgs) -> Result<Vec<Case>, Failure> {
    let keys: Vec<&str> = args.axes.iter().flat_map(|axis| &axis.keys).map(String::as_str).collect();
    if let Some((_, twice)) = keys.iter().enumerate().find(|(i, key)| keys[..*i].contains(key)) {
        return Err(Failure::input(format!("--vary {twice}: the key is varied twice")));
    }
    let n_cases = args.axes.iter().try_fold(1_usize, |n, axis| n.checked_mul(axis.points.len()));
    let Some(n_cases) = n_cases.filter(|n| *n <= MAX_CASES) else {
        let factors: Vec<String> = args.axes.iter().map(|axis| axis.points.len().to_string()).collect();
        let found = factors.join(" × ");
        return Err(Failure::input(format!("--vary: found {found} cases, expected at most {MAX_CASES}")));
    };
    let names = short_names(&keys);
    (0..n_cases).map(|idx| case(args, &keys, &names, idx)).collect()
}

fn case(args: &SweepArgs, keys: &[&str], names: &[String], idx: usize) -> Result<Case, Failure> {
    let values = values_at(&args.axes, idx);
    let settings: Vec<String> =
        keys.iter().zip(&values).map(|(key, value)| format!("{key}={value}")).collect();
    let changes = &args.scene.changes;
    // Varied values are set last, so that they take precedence.
    let seed = changes.seed.map(|seed| format!("seed={seed}"));
    let overrides = changes.shown().into_iter().chain(seed).chain(settings.iter().cloned()).collect();
    let scene = SceneArgs {
        scene: args.scene.scene.clone(),
        changes: SceneChanges { overrides, seed: None, scheme: None },
    };
    let in_case = |error: SceneError| match error {
        // Not specific to a case.
        SceneError::Read { .. } | SceneError::NoSuchScene { .. } | SceneError::Syntax { .. } => error.into(),
        _ => Failure::input(format!("--vary, case {}: {error}", settings.join(" "))),
    };
    let loaded = scene.load().map_err(in_case)?;
    let sampled = loaded.sample().map_err(in_case)?;
    let xs = sampled.positions_m.iter().map(|position| f64::from(position[0]));
    let start_x_m = xs.sum::<f64>() / sampled.len().max(1) as f64;

    let name = folder_name(idx, names, &values);
    let request = ScheduleRequest {
        picture: Some(Cadence::Never),
        record: Some(Cadence::Never),
        ..args.length.request()
    };
    let last_step = Schedule::new(&request, &loaded).last_step;
    let checkpoint = Some(Cadence::Every(Every::Steps((last_step / CHECKPOINTS).max(1))));
    let schedule = ScheduleRequest { checkpoint, ..request };
    let options = RunOptions { schedule, quiet: true, ..RunOptions::default() };
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
