//! Scenes: as TOML, with overrides, and as the JSON of recordings and checkpoints.

use frazil_scene::{Every, Scene};
use serde_json::Value;

use std::path::Path;

use crate::mutate::Kind;
use crate::target::{Input, Outcome, Target, Verdict, check_message, must_equal, refused};

/// More particles than these are not sampled: they only take longer.
const MAX_SAMPLED: u64 = 4000;
/// More heights than these are not generated for each case.
const SCENES: [&str; 3] = [
    include_str!("../../scenes/bodies.toml"),
    include_str!("../../scenes/slope.toml"),
    include_str!("../../scenes/releases.toml"),
];

pub(super) const TARGETS: &[Target] = &[
    Target { words, ..Target::new("scene", "scene.toml", Kind::Text, texts, check_text) },
    Target { words, ..Target::new("overrides", "overrides.txt", Kind::Text, overrides, check_overrides) },
    Target { words, ..Target::new("scene_json", "scene.json", Kind::Text, jsons, check_json) },
    Target::new("interval", "interval.txt", Kind::Text, intervals, check_interval),
];

/// Returns the names of all keys and choices in the schema of scenes.
fn words() -> Vec<String> {
    fn collect(value: &Value, words: &mut Vec<String>) {
        match value {
            Value::Object(entries) => {
                for (name, entry) in entries {
                    if let (true, Value::Object(properties)) = (name == "properties", entry) {
                        words.extend(properties.keys().cloned());
                    }
                    if name == "enum" || name == "const" {
                        let texts = entry.as_array().map_or(std::slice::from_ref(entry), Vec::as_slice);
                        words
                            .extend(texts.iter().filter_map(Value::as_str).map(|text| format!("\"{text}\"")));
                    }
                    collect(entry, words);
                }
            }
            Value::Array(elements) => elements.iter().for_each(|element| collect(element, words)),
            _ => {}
        }
    }
    let schema = include_str!("../../../../scenes/scene.schema.json");
    let mut words = Vec::new();
    if let Ok(schema) = serde_json::from_str(schema) {
        collect(&schema, &mut words);
    }
    words
}

/// Scenes that ship with the engine, and small ones with the features that those do not have. Of several with
/// the same keys, the one with the fewest particles.
fn texts() -> Vec<Vec<u8>> {
    let is_large = |name: &str| name.starts_with("avalanche_1");
    let builtin =
        frazil_scene::builtin().iter().filter(|scene| !is_large(scene.name)).map(|scene| scene.text);
    builtin.chain(SCENES.into_iter().take(2)).map(|text| text.as_bytes().to_vec()).collect()
}

/// JSON of scenes, as recordings and checkpoints hold it.
fn jsons() -> Vec<Vec<u8>> {
    let texts = texts();
    let scene = |text: &Vec<u8>| Scene::parse(&String::from_utf8_lossy(text), "seed", &[]).ok();
    texts.iter().step_by(3).filter_map(scene).filter_map(|scene| serde_json::to_vec(&scene).ok()).collect()
}

/// Overrides, one a line.
fn overrides() -> Vec<Vec<u8>> {
    [
        "time.dt_s=0.002\nscale=2\n",
        "fluid.particle_spacing_m = 0.03\nparticles.0.shape.box.max_m=[0.1, 0.2, 0.05]\n",
        "time.duration_s=0.5\nrender.width_px=320\n",
        "output.record_every=\"0.01 s\"\nrender.colour_by=speed\n",
        "bodies=[{name='a',shape={sphere={centre_m=[0.8,0.8,0.8],radius_m=0.1}}}]\n",
        "domain.max_m.1=3\nseed=9\nname=\"it\"\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

fn intervals() -> Vec<Vec<u8>> {
    ["10", "0.02 s", "20 ms", "1 step", " 25 steps "].map(|text| text.as_bytes().to_vec()).to_vec()
}

fn check_text(input: &Input) -> Verdict {
    match Scene::load(&input.path, &[]) {
        Ok(scene) => exercise(&scene),
        Err(error) => refused(input, &error.to_string()),
    }
}

/// Each line is an override of a scene that the text selects.
fn check_overrides(input: &Input) -> Verdict {
    let text = String::from_utf8_lossy(input.bytes);
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let base = ["dam_break", "melting", "hopper", "snowballs_3d"][input.bytes.len() % 4];
    match Scene::find(base, &lines) {
        Ok(scene) => exercise(&scene),
        // An override that makes the scene inconsistent with another key may be reported there.
        Err(error) => check_message(&error.to_string(), "--set")
            .or_else(|_| check_message(&error.to_string(), &format!("{base}.toml"))),
    }
}

fn check_json(input: &Input) -> Verdict {
    let name = input.path.display().to_string();
    match Scene::from_json(&String::from_utf8_lossy(input.bytes), &name) {
        Ok(scene) => exercise(&scene),
        Err(error) => refused(input, &error.to_string()),
    }
}

fn check_interval(input: &Input) -> Verdict {
    let text = String::from_utf8_lossy(input.bytes);
    match text.parse::<Every>() {
        Ok(every) => {
            let again = every.to_string().parse::<Every>().map_err(|error| error.to_string())?;
            must_equal("an interval", &every, &again)?;
            for (step, dt_s) in [(0, 1e-3), (7, 1e-18), (u64::MAX - 1, 1e18), (1 << 53, 0.1)] {
                if every.next_after(step, dt_s) <= step {
                    return Err(format!("{every}: no output after step {step} of {dt_s} s"));
                }
            }
            Ok(Outcome::Accepted)
        }
        Err(error) => check_message(&error.to_string(), "expected a number of steps"),
    }
}

/// Does with a valid scene what a run does before the device is needed.
pub(super) fn exercise(scene: &Scene) -> Verdict {
    let json = serde_json::to_string(scene).map_err(|error| error.to_string())?;
    let again = Scene::from_json(&json, "again").map_err(|error| format!("its JSON is refused: {error}"))?;
    must_equal("a scene as JSON", scene, &again)?;
    // A recording outlives the environment map of its scene; a scene to be run does not.
    let mut runnable = scene.clone();
    runnable.render.environment.take_if(|path| !Path::new(path).exists());
    let toml = runnable.to_toml()?;
    let again = Scene::parse(&toml, "again", &[]).map_err(|error| format!("its TOML is refused: {error}"))?;
    must_equal("a scene as TOML", &runnable, &again)?;
    let (n, dt_s) = (scene.particle_count_estimate(), scene.dt_s());
    if !(dt_s > 0.0 && dt_s.is_finite()) {
        return Err(format!("a time step of {dt_s} s"));
    }
    let _ = (scene.n_steps(), scene.derived(), scene.view(), scene.advice(), scene.live_parameters());
    if n > MAX_SAMPLED {
        return Ok(Outcome::Accepted);
    }
    let sampled = match scene.sample() {
        Ok(sampled) => sampled,
        Err(_) => return Ok(Outcome::Refused),
    };
    if let Err(error) = scene.sample_slabs() {
        return if error.to_string().is_empty() {
            Err("an error without a message".into())
        } else {
            Ok(Outcome::Refused)
        };
    }
    let columns = [&sampled.positions_m, &sampled.velocities_m_s];
    if columns.into_iter().flatten().flatten().any(|x| !x.is_finite()) {
        return Err("a sampled position or velocity is not finite".to_owned());
    }
    let numbers = [&sampled.masses_kg, &sampled.radii_m, &sampled.temperatures_c, &sampled.volumes_m3];
    if numbers.into_iter().flatten().any(|x| !x.is_finite()) {
        return Err("a sampled mass, radius, temperature or volume is not finite".to_owned());
    }
    Ok(Outcome::Accepted)
}
