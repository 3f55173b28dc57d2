//! `frazil predict`: the time of a step on a GPU that is not there.

mod args;

use crate::cli::kernels;
use crate::cli::profile::{PassLog, document, kernel_facts, memory, steps, work};
use crate::say;
pub use args::PredictArgs;
use frazil_engine::{Failure, FailureKind, Simulation, device};
use frazil_kernels::MultiplyAdd;
use frazil_report::{Gpu, Prediction, Profile, TableStyle, predict, prediction_table, table};
use frazil_solvers::SolverError;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Counts the work of a scene's steps, or reads it from a profile, and prints what it takes on GPUs.
pub fn predict_scene(args: &PredictArgs, validation: bool) -> Result<(), Failure> {
    let gpus = if args.here { Vec::new() } else { select(args)? };
    let profile = match profile_path(&args.scene) {
        Some(path) => Profile::read(&path).map_err(Failure::input)?,
        None => count(args, validation)?,
    };
    if args.here {
        let gpu = Gpu::of_profile(&profile).ok_or_else(|| {
            Failure::device("the rates of this device were not measured: it has no time stamps")
        })?;
        return print(args, &profile, &[predict(&profile, &gpu, &profile.kernels)]);
    }
    let mut predictions = Vec::new();
    for gpu in &gpus {
        let facts = match &gpu.family {
            Some(family) => match kernels::facts_for(family, &profile.kernels) {
                Err(failure) if failure.kind == FailureKind::Device => {
                    say::note(format!("{}: predicted without registers: {failure}", gpu.name));
                    Vec::new()
                }
                facts => facts?,
            },
            None => Vec::new(),
        };
        predictions.push(predict(&profile, gpu, &facts));
    }
    print(args, &profile, &predictions)
}

/// Returns the path of the profile that the argument names; none if it is a scene.
fn profile_path(text: &str) -> Option<PathBuf> {
    let path = Path::new(text);
    if path.is_dir() {
        return Some(path.join("profile.json"));
    }
    path.extension().is_some_and(|extension| extension == "json").then(|| path.to_owned())
}

/// Returns the cards that the arguments name.
fn select(args: &PredictArgs) -> Result<Vec<Gpu>, Failure> {
    let cards = cards()?;
    if !args.families.is_empty() {
        let of = |family: &String| {
            let card = cards.values().find(|card| card.family.as_ref() == Some(family));
            card.cloned().ok_or_else(|| {
                let known: Vec<&str> = cards.values().filter_map(|card| card.family.as_deref()).collect();
                let known = known.join(", ");
                Failure::input(format!("--for: found \"{family}\", expected a family of a card: {known}"))
            })
        };
        return args.families.iter().map(of).collect();
    }
    if args.gpus.is_empty() {
        return Ok(cards.into_values().collect());
    }
    let find = |name: &String| match cards.get(name) {
        Some(card) => Ok(card.clone()),
        None if Path::new(name).extension().is_some() => read_card(Path::new(name)),
        None => {
            let known: Vec<&str> = cards.keys().map(String::as_str).collect();
            Err(Failure::input(format!(
                "--gpu: found \"{name}\", expected a file.toml or one of {}",
                known.join(", ")
            )))
        }
    };
    args.gpus.iter().map(find).collect()
}

/// Returns the built-in cards by name.
fn cards() -> Result<BTreeMap<String, Gpu>, Failure> {
    toml::from_str(include_str!("cards.toml")).map_err(|e| Failure::other(format!("cards.toml: {e}")))
}

fn read_card(path: &Path) -> Result<Gpu, Failure> {
    let refused = |problem: String| Failure::input(format!("{}: {problem}", path.display()));
    let text = frazil_io::json::read_text(path).map_err(Failure::input)?;
    let card: Gpu = toml::from_str(&text).map_err(|e| refused(e.to_string().trim().replace('\n', " ")))?;
    card.check().map_err(refused)?;
    if let Some(family) = &card.family {
        kernels::find_family(family).map_err(|error| error.within(path.display()))?;
    }
    Ok(card)
}

/// Takes steps of the scene with time stamps, and counts their bytes and operations.
fn count(args: &PredictArgs, validation: bool) -> Result<Profile, Failure> {
    let scene = args.changes.load(&args.scene)?;
    let device = device::open_to_profile(args.device.device.as_deref(), validation, false)?;
    let peak = MultiplyAdd::peak_gflop_per_s(&device).map_err(SolverError::from)?;
    let mut passes = PassLog::new(&device)?;
    let mut simulation = Simulation::new(&device, scene)?;
    steps(&mut simulation, args.warm_up, None)?;
    steps(&mut simulation, args.steps, Some(&mut passes))?;
    device.check_validation()?;
    let facts = kernel_facts(&device, &passes.rows());
    let mut profile = document(&simulation, &passes, memory(&device), facts, None)?;
    profile.peak_gflop_per_s = peak;
    profile.work = work(&simulation)?;
    Ok(profile)
}

fn print(args: &PredictArgs, profile: &Profile, predictions: &[Prediction]) -> Result<(), Failure> {
    if args.json {
        let document = json!({ "scene": profile.scene, "predicted": predictions });
        return say::data(&format!("{document:#}\n"));
    }
    let n = profile.n_particles;
    let mut text =
        format!("{}: {n} particles, PREDICTED from counts on {}\n\n", profile.scene, profile.device);
    if let [prediction] = predictions {
        text += &prediction_table(prediction, args.here, TableStyle::Plain);
        text += &format!("\nstep on {}: {:.3} ms, predicted\n", prediction.gpu, 1e-6 * prediction.step_ns);
        if args.here {
            let measured: f64 = prediction.kernels.iter().map(|kernel| kernel.measured_ns).sum();
            text += &format!("measured: {:.3} ms\n", 1e-6 * measured);
        }
        return say::data(&text);
    }
    let row = |prediction: &Prediction| {
        let first = prediction.kernels.first();
        vec![
            prediction.gpu.clone(),
            format!("{:.3}", 1e-6 * prediction.step_ns),
            format!("{:.1}", 1e3 * n as f64 / prediction.step_ns),
            first.map_or_else(String::new, |kernel| kernel.kernel.clone()),
            first.map_or_else(String::new, |kernel| kernel.limit.to_string()),
        ]
    };
    let header = ["GPU", "predicted [ms a step]", "[M particle·steps/s]", "longest kernel", "bound by"];
    text += &table(&header, &predictions.iter().map(row).collect::<Vec<_>>(), TableStyle::Plain);
    say::data(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cards_are_sound() {
        let cards = cards().unwrap();
        assert!(cards.len() >= 6);
        for (name, card) in &cards {
            assert_eq!(card.check(), Ok(()), "{name}");
            // A peak is that of two operations a cycle on at least 16 lanes of each processor.
            assert!(card.peak_gflop_per_s / card.processors > 32.0, "{name}");
            assert!(
                card.family.as_deref().is_none_or(|family| kernels::find_family(family).is_ok()),
                "{name}"
            );
        }
    }

    #[test]
    fn a_folder_and_a_json_file_are_profiles() {
        assert_eq!(profile_path("dam_break"), None);
        assert_eq!(profile_path("scenes/a.toml"), None);
        assert_eq!(profile_path("x/profile.json"), Some(PathBuf::from("x/profile.json")));
        assert_eq!(profile_path("."), Some(PathBuf::from("./profile.json")));
    }
}
