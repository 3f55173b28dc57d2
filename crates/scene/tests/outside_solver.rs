//! Tests of a solver outside of the crate: its scenes are read, written, checked and sampled like those of
//! the built-in ones.

// This whole binary is tests and their helpers.
#![allow(clippy::unwrap_used)]

use std::sync::Once;

use frazil_scene::{
    Checker, ParticleBlock, RegistryError, Sampled, Scene, SceneError, Section, SectionType, SolverScene,
    Watch, json_schema, register, solvers,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Particles in free flight with drag.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Flight {
    /// Distance between particles in m.
    spacing_m: f64,
    /// Density in kg/m³.
    #[serde(default = "water")]
    density_kg_m3: f64,
    /// Rate in 1/s at which air slows particles down.
    drag_per_s: f64,
}

fn water() -> f64 {
    1000.0
}

impl Section for Flight {
    const NAME: &'static str = "flight";
    const DESCRIPTION: &'static str = "Particles that air slows down.";
}

/// Motion of the air.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wind {
    velocity_m_s: [f64; 3],
}

impl Section for Wind {
    const NAME: &'static str = "wind";
    const DESCRIPTION: &'static str = "The air's own motion.";
}

struct FreeFlight(&'static str);

const SECTIONS: &[SectionType] = &[SectionType::required::<Flight>(), SectionType::optional::<Wind>()];

impl SolverScene for FreeFlight {
    fn kind(&self) -> &'static str {
        self.0
    }

    fn title(&self) -> &'static str {
        "Free flight with drag."
    }

    fn sections(&self) -> &'static [SectionType] {
        SECTIONS
    }

    fn particle_spacing_m(&self, scene: &Scene) -> f64 {
        scene.section::<Flight>().map_or(f64::NAN, |flight| flight.spacing_m)
    }

    fn spacing_key(&self, scene: &Scene) -> (&'static str, f64) {
        ("flight.spacing_m", self.particle_spacing_m(scene))
    }

    fn rest_density_kg_m3(&self, scene: &Scene) -> f64 {
        scene.section::<Flight>().map_or(f64::NAN, |flight| flight.density_kg_m3)
    }

    fn support_radius_m(&self, scene: &Scene) -> f64 {
        self.particle_spacing_m(scene)
    }

    fn derived(&self, scene: &Scene) -> Vec<(&'static str, serde_json::Value)> {
        let drag = scene.section::<Flight>().map_or(f64::NAN, |flight| flight.drag_per_s);
        vec![(Flight::NAME, serde_json::json!({ "relaxation_time_s": 1.0 / drag }))]
    }

    fn validate(&self, scene: &Scene, check: &Checker<'_>) -> Result<(), SceneError> {
        let Some(flight) = scene.section::<Flight>() else { return Ok(()) };
        check.positive("flight.spacing_m", flight.spacing_m, "metres")?;
        check.range("flight.drag_per_s", flight.drag_per_s, 0.0, 1e3)
    }

    fn complete_block(
        &self,
        scene: &Scene,
        _block: &ParticleBlock,
        begin: usize,
        unit: &mut dyn FnMut() -> f64,
        watch: &mut Watch<'_>,
        sampled: &mut Sampled,
    ) -> Result<(), SceneError> {
        let mass_kg = scene.particle_mass_kg();
        let n = sampled.len() - begin;
        for _ in 0..n {
            watch.tick(1)?;
            sampled.masses_kg.push((mass_kg * (0.5 + unit())) as f32);
        }
        Ok(())
    }
}

static FREE_FLIGHT: FreeFlight = FreeFlight("free_flight");

fn register_once() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| register(&FREE_FLIGHT).unwrap());
}

const SCENE: &str = r#"version = 1
name = "flight"
up_axis = "y"

[time]
dt_s = 0.01
duration_s = 1.0

[flight]
spacing_m = 0.1
drag_per_s = 0.5

[wind]
velocity_m_s = [1.0, 0.0, 0.0]

[solver]
kind = "free_flight"

[domain]
min_m = [0.0, 0.0, 0.0]
max_m = [1.0, 1.0, 1.0]

[[particles]]
shape.box = { min_m = [0.2, 0.2, 0.2], max_m = [0.4, 0.4, 0.4] }
"#;

fn load(overrides: &[&str]) -> Result<Scene, SceneError> {
    register_once();
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
    Scene::parse(SCENE, "flight.toml", &overrides)
}

fn refusal(overrides: &[&str]) -> String {
    load(overrides).unwrap_err().to_string()
}

#[test]
fn its_scene_reads_back_from_toml_and_json() {
    let scene = load(&[]).unwrap();
    assert_eq!(scene.section::<Flight>().unwrap().density_kg_m3, 1000.0);
    assert_eq!(scene.section::<Wind>().unwrap().velocity_m_s, [1.0, 0.0, 0.0]);
    let toml = toml::to_string(&scene).unwrap();
    assert_eq!(Scene::parse(&toml, "written", &[]).unwrap(), scene);
    let json = serde_json::to_string(&scene).unwrap();
    assert_eq!(Scene::from_json(&json, "run.json").unwrap(), scene);
    let order: Vec<_> = ["\"time\":", "\"flight\":", "\"wind\":", "\"solver\":"]
        .map(|key| json.find(key).unwrap_or_else(|| panic!("no {key} in {json}")))
        .into();
    assert!(order.is_sorted(), "{json}");
}

#[test]
fn sections_are_compared_changed_and_taken_out_by_type() {
    let scene = load(&[]).unwrap();
    let mut other = scene.clone();
    other.section_mut::<Flight>().unwrap().drag_per_s = 0.25;
    assert_ne!(other, scene);
    other.set_section(scene.section::<Flight>().unwrap().clone());
    assert_eq!(other, scene);
    let wind = other.remove_section::<Wind>().unwrap();
    assert_eq!((other.section::<Wind>(), other.fluid()), (None, None));
    assert_ne!(other, scene);
    other.set_section(wind);
    assert_eq!(other, scene);
    other.remove_section::<Flight>();
    assert_eq!(
        other.validate().unwrap_err().to_string(),
        "flight.toml: flight: missing, and it has no default"
    );
    assert!(other.particle_spacing_m().is_nan());
}

#[test]
fn its_particles_are_sampled_with_its_columns() {
    let scene = load(&[]).unwrap();
    let sampled = scene.sample().unwrap();
    assert_eq!((sampled.len(), sampled.masses_kg.len(), sampled.radii_m.len()), (8, 8, 0));
    assert!((scene.particle_mass_kg() - 1.0).abs() < 1e-12);
    assert!(sampled.masses_kg.iter().all(|mass| (0.5..1.5).contains(mass)), "{:?}", sampled.masses_kg);
    assert_eq!(load(&["seed=1"]).unwrap().sample().unwrap().positions_m, sampled.positions_m);
    assert_ne!(load(&["seed=1"]).unwrap().sample().unwrap().masses_kg, sampled.masses_kg);
    let derived = serde_json::to_value(scene.derived()).unwrap();
    assert_eq!(derived["flight"]["relaxation_time_s"], 2.0);
    assert_eq!(derived["n_steps"], 100);
}

#[test]
fn errors_in_its_sections_have_a_location() {
    for (sets, message) in [
        (
            &["flight.drag=1"][..],
            "flight.toml with --set flight.drag=1: flight.drag: unknown key; did you mean drag_per_s?",
        ),
        (
            &["flight.drag_per_s=-1"],
            "flight.toml with --set flight.drag_per_s=-1: flight.drag_per_s: found -1, expected a number \
             from 0 to 1000",
        ),
        (
            &["wind.velocity_m_s=[1,2]"],
            "flight.toml with --set wind.velocity_m_s=[1,2]: wind.velocity_m_s: found an array of 2, \
             expected an array of 3",
        ),
        (&["fligth={}"], "flight.toml with --set fligth={}: fligth: unknown key; did you mean flight?"),
        (
            &["fluid={particle_spacing_m=0.1}"],
            "flight.toml with --set fluid={particle_spacing_m=0.1}: fluid: found [fluid] in a scene of \
             solver.kind = \"free_flight\", expected [flight] alone or with [wind]; [fluid] needs \
             solver.kind = \"pbd\" or \"viscoelastic\"",
        ),
        (
            &["particles.0.count=3"],
            "flight.toml with --set particles.0.count=3: particles.0.count: found it in a scene of \
             solver.kind = \"free_flight\", expected it in scenes of solver.kind = \"mpm\" or \"dem\" only",
        ),
        (
            &["bodies=[{name='it',shape={plane={point_m=[0,0,0],normal=[0,1,0]}}}]"],
            "flight.toml with --set bodies=[{name='it',shape={plane={point_m=[0,0,0],normal=[0,1,0]}}}]: \
             bodies: found [bodies] in a scene of solver.kind = \"free_flight\", expected it with \
             solver.kind = \"pbd\" or \"mpm\" or \"dem\" or \"viscoelastic\" only",
        ),
        (
            &["time.dt_s=auto"],
            "flight.toml with --set time.dt_s=auto: time.dt_s: found \"auto\" in a scene of solver.kind = \
             \"free_flight\", expected a positive number of seconds; only solver.kind = \"pbd\" and \"mpm\" \
             and \"dem\" and \"viscoelastic\" determine it themselves",
        ),
        (
            &["particles.0.shape.box.max_m=[0.21,0.4,0.4]"],
            "flight.toml with --set particles.0.shape.box.max_m=[0.21,0.4,0.4]: particles.0.shape.box: found \
             no particles, because the shape is 0.01 m thin, expected a shape at least one lattice spacing, \
             0.1 m, thick",
        ),
    ] {
        assert_eq!(refusal(sets), message);
    }
    let message = refusal(&["time.substeps=2"]);
    assert!(message.contains("substeps in a scene of solver.kind = \"free_flight\""), "{message}");
    assert!(message.contains("solver.kind = \"pbd\" or \"mpm\""), "{message}");
    let text = SCENE.replace("spacing_m", "spacing").replace("drag_per_s", "drag");
    let message = Scene::parse(&text, "flight.toml", &[]).unwrap_err().to_string();
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines[0], "flight.toml:10:1: flight.spacing: unknown key; did you mean spacing_m?");
    assert!(lines.len() == 2 && lines[1].contains("flight.drag: unknown key"), "{message}");
    assert_eq!(
        Scene::parse(&SCENE.replace("[flight]", "[mpm]"), "flight.toml", &[]).unwrap_err().to_string(),
        "flight.toml:9:2: mpm: found [mpm] in a scene of solver.kind = \"free_flight\", expected [flight] \
         alone or with [wind]; [mpm] needs solver.kind = \"mpm\""
    );
}

#[test]
fn an_unknown_kind_is_refused_with_the_list_of_those_there_are() {
    register_once();
    let of_kind = |kind: &str| {
        let text = SCENE.replace("\"free_flight\"", &format!("\"{kind}\""));
        Scene::parse(&text, "flight.toml", &[]).unwrap_err().to_string()
    };
    assert_eq!(
        of_kind("freeflight"),
        "flight.toml:17:1: solver.kind: found \"freeflight\", expected one of pbd, mpm, dem, viscoelastic, \
         free_flight; did you mean free_flight?"
    );
    assert_eq!(
        of_kind("springs"),
        "flight.toml:17:1: solver.kind: found \"springs\", expected one of pbd, mpm, dem, viscoelastic, \
         free_flight"
    );
    let mut scene = load(&[]).unwrap();
    scene.solver.kind = frazil_scene::SolverKind::new("springs");
    assert_eq!(
        scene.validate().unwrap_err().to_string(),
        "flight.toml:17:1: solver.kind: found \"springs\", expected one of pbd, mpm, dem, viscoelastic, \
         free_flight"
    );
}

#[test]
fn two_solvers_of_one_name_or_one_section_are_refused() {
    register_once();
    assert_eq!(register(&FREE_FLIGHT), Err(RegistryError::Kind { kind: "free_flight" }));
    static PBD: FreeFlight = FreeFlight("pbd");
    assert_eq!(
        register(&PBD).unwrap_err().to_string(),
        "a solver of kind \"pbd\" is registered already; give the new one another name"
    );
    static OTHER: FreeFlight = FreeFlight("ballistic");
    assert_eq!(
        register(&OTHER).unwrap_err().to_string(),
        "section [flight] of solver \"ballistic\": solver \"free_flight\" has that key already; give the \
         section another name"
    );
    let kinds: Vec<_> = solvers().into_iter().map(SolverScene::kind).collect();
    assert_eq!(kinds, ["pbd", "mpm", "dem", "viscoelastic", "free_flight"]);
}

#[test]
fn a_section_cannot_have_the_name_of_a_key_of_every_scene() {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    struct Render {}

    impl Section for Render {
        const NAME: &'static str = "render";
        const DESCRIPTION: &'static str = "";
    }

    struct Painter(&'static [SectionType]);

    impl SolverScene for Painter {
        fn kind(&self) -> &'static str {
            "painter"
        }
        fn title(&self) -> &'static str {
            ""
        }
        fn sections(&self) -> &'static [SectionType] {
            self.0
        }
        fn particle_spacing_m(&self, _: &Scene) -> f64 {
            1.0
        }
        fn spacing_key(&self, _: &Scene) -> (&'static str, f64) {
            ("render", 1.0)
        }
        fn rest_density_kg_m3(&self, _: &Scene) -> f64 {
            1.0
        }
        fn support_radius_m(&self, _: &Scene) -> f64 {
            1.0
        }
        fn validate(&self, _: &Scene, _: &Checker<'_>) -> Result<(), SceneError> {
            Ok(())
        }
    }

    const RENDER: &[SectionType] = &[SectionType::optional::<Render>()];
    static PAINTER: Painter = Painter(RENDER);
    assert_eq!(
        register(&PAINTER).unwrap_err().to_string(),
        "section [render] of solver \"painter\": every scene has that key already; give the section another \
         name"
    );
}

#[test]
fn the_schema_knows_its_kind_and_sections() {
    register_once();
    let schema = json_schema();
    assert_eq!(schema.pointer("/properties/flight/description").unwrap(), "Particles that air slows down.");
    assert_eq!(schema.pointer("/properties/wind/anyOf/0/$ref").unwrap(), "#/$defs/Wind");
    let required = schema.pointer("/$defs/Flight/required").unwrap();
    assert_eq!(*required, serde_json::json!(["spacing_m", "drag_per_s"]));
    let kinds = schema.pointer("/$defs/SolverKind/oneOf").unwrap().as_array().unwrap();
    assert_eq!(kinds.last().unwrap()["const"], "free_flight");
    assert_eq!(schema["additionalProperties"], false);
}
