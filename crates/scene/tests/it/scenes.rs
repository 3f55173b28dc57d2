//! Tests of the scenes that ship with the engine, and of the published schema.

use std::path::{Path, PathBuf};

use frazil_scene::{Scene, SceneError, builtin, json_schema};

fn scenes_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

/// Maximum number of particles of scenes that tests sample, which bounds their duration.
const MAX_SAMPLED: f64 = 500_000.0;

#[test]
fn every_scene_file_is_built_in_and_sound() {
    let mut n_files = 0;
    for entry in std::fs::read_dir(scenes_directory()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        n_files += 1;
        let scene = Scene::load(&path, &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(Some(scene.name.as_str()), path.file_stem().and_then(|stem| stem.to_str()));
        assert!(!scene.description.is_empty(), "{} has no description", scene.name);
        assert_eq!(crate::advice_beyond_papers(&scene), [], "{}", scene.name);
        let estimate = scene.particle_count_estimate() as f64;
        if estimate > MAX_SAMPLED {
            continue;
        }
        let sampled = scene.sample().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(sampled.velocities_m_s.len(), sampled.len());
        let is_too_close = |message: &str| message.contains("energy from nothing");
        let advice = scene.thorough_advice(&sampled);
        assert!(!advice.iter().any(|advice| is_too_close(&advice.message)), "{advice:?}");
        scene.sample_slabs().unwrap_or_else(|e| panic!("{e}"));
        // Lattices in balls differ from the expected number by the steps of their surface.
        assert!((sampled.len() as f64 / estimate - 1.0).abs() < 0.02, "{} and {estimate}", sampled.len());
        // A mesh is a file beside its scene's, not compiled into the program.
        if scene.bodies.iter().any(|body| body.mesh().is_some()) {
            n_files -= 1;
            continue;
        }
        let found = Scene::find(&scene.name, &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found, scene);
    }
    assert_eq!(n_files, builtin().len());
}

#[test]
fn the_dam_break_is_koshizuka_and_okas() {
    let scene = Scene::find("dam_break", &[]).unwrap();
    let width_m = 0.146;
    let d = scene.particle_spacing_m();
    assert_eq!(d, width_m / 16.0);
    let sampled = scene.sample().unwrap();
    assert_eq!(sampled.len(), 16 * 32 * 8);
    // The first particle sits in the corner, half a spacing from three walls; the last at the column's far
    // upper edge.
    let near = |point: [f32; 3], expected: [f64; 3]| {
        (0..3).all(|i| (f64::from(point[i]) - expected[i]).abs() < 1e-7)
    };
    assert!(near(sampled.positions_m[0], [0.5 * d; 3]));
    assert!(near(sampled.positions_m[16 * 32 * 8 - 1], [15.5 * d, 31.5 * d, 7.5 * d]));
    assert!((scene.domain.max_m[0] - 4.0 * width_m).abs() < 1e-12);
    let total_mass_kg = sampled.len() as f64 * scene.particle_mass_kg();
    assert!((total_mass_kg - 1000.0 * width_m * 2.0 * width_m * 0.5 * width_m).abs() < 1e-9);
}

#[test]
fn built_in_scenes_take_overrides_and_name_their_file_in_errors() {
    let scene = Scene::find("drop", &["fluid.particle_spacing_m=0.02".to_owned()]).unwrap();
    assert_eq!(scene.particle_spacing_m(), 0.02);
    let error = Scene::find("drop", &["particles.1.shape.sphere.centre_m=[0,0,0]".to_owned()]).unwrap_err();
    assert!(error.to_string().starts_with("scenes/drop.toml with --set particles.1.shape"), "{error}");
}

#[test]
fn a_name_that_is_neither_file_nor_scene_is_refused_with_help() {
    let message = |name| Scene::find(name, &[]).unwrap_err().to_string();
    assert_eq!(
        message("dam_brake"),
        "dam_brake: found no such file and no built-in scene of that name; did you mean dam_break?"
    );
    assert_eq!(
        message("zzz"),
        "zzz: found no such file and no built-in scene of that name; expected one of dam_break, hydrostatic, \
         drop, drum, fountain, driftwood, watermill, pour_down_terrain, snow_drop_free, snow_drop_linked, \
         snow_drop_dynamic, melting, freezing, water_drop, melting_enthalpy, bowl, snow_box_plough, \
         snowball_collision, snowballs_16, snow_castle, ramps, letters_muddy, letters_crumbly, snowplow, \
         snowball_on_body_3d, snowballs_3d, snow_blower, viscoelastic_cube, viscoelastic_wall, \
         viscoelastic_free_cube, viscoelastic_springs, dough, ketchup, honey_coiling, filament, chocolate, \
         rod_climbing, \
         column_collapse, hopper, grain_heap, slope_obstacle, avalanche, avalanche_slabs, slab_release, \
         avalanche_128k, avalanche_1m"
    );
    assert!(matches!(Scene::find("nowhere/dam_break", &[]), Err(SceneError::Read { .. })));
    assert!(matches!(Scene::find("nowhere.toml", &[]), Err(SceneError::Read { .. })));
}

#[test]
fn overlaps_name_the_line() {
    let sunk = "particles.1.shape.sphere.centre_m=[0,0.1,0]".to_owned();
    let error = Scene::find("drop", &[sunk]).unwrap().sample().unwrap_err().to_string();
    assert!(
        error.contains("particles inside particles.1.shape, expected blocks that do not overlap"),
        "{error}"
    );
}

/// The schema beside the scenes, which editors read, is current. Set `FRAZIL_WRITE_SCHEMA` to regenerate it.
#[test]
fn the_published_schema_is_the_types() {
    let path = scenes_directory().join("scene.schema.json");
    let schema = serde_json::to_string_pretty(&json_schema()).unwrap() + "\n";
    if std::env::var_os("FRAZIL_WRITE_SCHEMA").is_some() {
        std::fs::write(&path, &schema).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), schema);
}

/// The reference of all keys is current, too, and tells of each key what the types do.
#[test]
fn the_published_reference_is_the_types() {
    let path = scenes_directory().parent().unwrap().join("docs/scene.md");
    let reference = frazil_scene::reference();
    if std::env::var_os("FRAZIL_WRITE_SCHEMA").is_some() {
        std::fs::write(&path, &reference).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), reference);
    let row = |key: &str| {
        let start = format!("| `{key}` |");
        reference.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no key {key}"))
    };
    assert!(row("rest_density_kg_m3").contains("| number | `1000.0` |"), "{}", row("rest_density_kg_m3"));
    assert!(row("particle_spacing_m").contains("| number | required |"), "{}", row("particle_spacing_m"));
    assert!(row("packing_fraction").contains("≤ 0.58"), "{}", row("packing_fraction"));
    assert!(row("shape.sphere.radius_m").contains("| number | required |"));
    assert!(row("artificial_pressure.strength").len() > 40);
    assert!(reference.contains("## `[dem]`") && reference.contains("Solvers: `dem`."));
    assert!(reference.contains("Solvers: `pbd`, `viscoelastic`."));
}

#[test]
fn the_schema_knows_every_key_and_no_other() {
    let schema = json_schema();
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["$defs"]["Fluid"]["additionalProperties"], false);
    assert_eq!(schema["$defs"]["Fluid"]["properties"]["rest_density_kg_m3"]["default"], 1000.0);
    assert_eq!(schema["$defs"]["Fluid"]["required"], serde_json::json!(["particle_spacing_m"]));
    assert!(schema["properties"].get("source").is_none());
}
