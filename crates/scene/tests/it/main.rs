//! Tests of scene files through the crate's public interface.

// This whole crate is tests and their helpers.
#![allow(clippy::unwrap_used)]

mod bodies;
mod closeness;
mod dem;
mod errors;
mod fluid;
mod joints;
mod limits;
mod mesh_obstacles;
mod mpm;
mod mpm_sampling;
mod overrides;
mod parameters;
mod placement;
mod releases;
mod round_trip;
mod sampling;
mod scale;
mod scenes;
mod several_errors;
mod snow;
mod snow_scenes;
mod sources;
mod terrain;
mod viscoelastic;

use frazil_scene::{Advice, Scene, SceneError};

/// The smallest scene: 2 × 2 × 2 particles in a unit box. Tests refer to its line numbers.
const MINIMAL: &str = r#"version = 1
name = "minimal"
up_axis = "y"

[time]
dt_s = 0.01
duration_s = 1.0

[fluid]
particle_spacing_m = 0.1
rest_density_kg_m3 = 1000.0

[domain]
min_m = [0.0, 0.0, 0.0]
max_m = [1.0, 1.0, 1.0]

[[particles]]
shape.box = { min_m = [0.2, 0.2, 0.2], max_m = [0.4, 0.4, 0.4] }
"#;

/// Loads the minimal scene with `overrides` applied.
fn minimal(overrides: &[&str]) -> Result<Scene, SceneError> {
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
    Scene::parse(MINIMAL, "minimal.toml", &overrides)
}

/// Loads the minimal scene's text with the one occurrence of `from` replaced.
fn edited(from: &str, to: &str) -> Result<Scene, SceneError> {
    assert_eq!(MINIMAL.matches(from).count(), 1, "{from:?} occurs other than once");
    Scene::parse(&MINIMAL.replace(from, to), "minimal.toml", &[])
}

/// Returns the advice without that against random positions and volumes from the grid, which scenes after
/// Cai2020 keep.
fn advice_beyond_papers(scene: &Scene) -> Vec<Advice> {
    let papers = ["mpm.initial_volume", "mpm.flip_ratio"];
    let is_papers = |key: &str| papers.contains(&key) || key.ends_with(".fill");
    scene.advice().into_iter().filter(|advice| !is_papers(&advice.key)).collect()
}
