//! Tests of the `[dem]` section and the keys that require it.

use std::f64::consts::PI;

use frazil_scene::{Dem, Scene, SceneError, TimeStep, damping_ratio};

use crate::minimal;

/// The smallest scene of grains: 2 × 2 × 2 of them on a lattice in a box.
pub const GRAINS: &str = r#"version = 1
name = "grains"
up_axis = "z"

[time]
dt_s = "auto"
duration_s = 1.0

[solver]
kind = "dem"

[dem]
radius_m = 0.05
density_kg_m3 = 1000.0
normal_stiffness_n_m = 1e4

[domain]
min_m = [0.0, 0.0, 0.0]
max_m = [1.0, 1.0, 1.0]

[[particles]]
shape.box = { min_m = [0.2, 0.2, 0.2], max_m = [0.4, 0.4, 0.4] }
"#;

/// Loads the scene of grains with `overrides` applied.
pub fn grains(overrides: &[&str]) -> Result<Scene, SceneError> {
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
    Scene::parse(GRAINS, "grains.toml", &overrides)
}

/// Loads a scene of a slope with a release area instead of the box.
pub fn slope(overrides: &[&str]) -> Result<Scene, SceneError> {
    let slope = [
        "terrain={generated={inclined_plane={size_m=[20,10],cell_m=1,slope_deg=30}}}",
        "domain={min_m=[0,0,-1],max_m=[20,10,14]}",
        "particles=[]",
        "dem.releases=[{polygon_m=[[3,3],[7,3],[7,7],[3,7]],thickness_m=0.5}]",
    ];
    grains(&[&slope[..], overrides].concat())
}

/// Returns the error message, after the location, of the scene of grains with one override.
#[track_caller]
pub fn refusal(set: &str) -> String {
    let error = grains(&[set]).expect_err(set).to_string();
    let place = format!("grains.toml with --set {set}: ");
    error.strip_prefix(&place).unwrap_or_else(|| panic!("{error} is not at {place}")).to_owned()
}

#[track_caller]
fn slope_refusal(set: &str) -> String {
    let error = slope(&[set]).expect_err(set).to_string();
    let place = format!("grains.toml with --set {set}: ");
    error.strip_prefix(&place).unwrap_or_else(|| panic!("{error} is not at {place}")).to_owned()
}

#[test]
fn omitted_keys_of_grains_have_defaults() {
    let scene = grains(&[]).unwrap();
    let dem = scene.dem().unwrap();
    assert!((dem.tangential_stiffness_ratio - 2.0 / 7.0).abs() < 1e-15);
    assert_eq!((dem.wall_friction(), dem.wall_restitution()), (dem.friction, dem.restitution));
    assert_eq!((dem.cohesion_range_m(), dem.terrain_adhesion_range_m()), (0.0, 0.0));
    assert_eq!((scene.time.dt_s, scene.n_dimensions()), (TimeStep::Auto, 3));
    assert_eq!((scene.particle_spacing_m(), scene.support_radius_m()), (0.1, 0.1));
    let mass_kg = 1000.0 * 4.0 / 3.0 * PI * 0.05_f64.powi(3);
    assert!((scene.particle_mass_kg() / mass_kg - 1.0).abs() < 1e-12);
    let sticky = grains(&["dem.cohesion_n=1", "dem.radius_spread=0.2"]).unwrap();
    assert!((sticky.support_radius_m() - (0.12 + 0.005)).abs() < 1e-12);
    assert!((sticky.particle_mass_kg() / mass_kg - 1.04).abs() < 1e-12);
}

#[test]
fn the_damping_ratio_gives_the_restitution() {
    assert_eq!(damping_ratio(1.0).to_bits(), 0.0_f64.to_bits());
    for e in [1e-6, 0.05, 0.3, 0.9, 0.999] {
        let beta = damping_ratio(e);
        assert!(((-PI * beta / (1.0 - beta * beta).sqrt()).exp() / e - 1.0).abs() < 1e-9, "{e} {beta}");
    }
    // A finely integrated contact with that damping rebounds with that speed.
    let dem: Dem = grains(&["dem.restitution=0.4"]).unwrap().dem().cloned().unwrap();
    let effective_kg = 0.5 * dem.grain_mass_kg(dem.radius_m);
    let damping = dem.normal_damping_n_s_m(dem.restitution, effective_kg);
    let (mut overlap, mut speed, dt) = (0.0, 1.0, dem.contact_time_s() * 1e-5);
    while overlap >= 0.0 {
        speed -= dt * (dem.normal_stiffness_n_m * overlap + damping * speed) / effective_kg;
        overlap += dt * speed;
    }
    assert!((speed + 0.4).abs() < 1e-4, "{speed}");
}

#[test]
fn auto_resolves_the_contact_of_the_lightest_grains() {
    let scene = grains(&["dem.radius_spread=0.2"]).unwrap();
    let lightest_kg = 1000.0 * 4.0 / 3.0 * PI * 0.04_f64.powi(3);
    let contact_s = PI * (0.5 * lightest_kg / 1e4).sqrt();
    assert!((scene.dt_s() / (contact_s / 20.0) - 1.0).abs() < 1e-3 && scene.dt_s() <= contact_s / 20.0);
    // Within the stability limit of packings (O'Sullivan & Bray 2004).
    assert!(scene.dt_s() < 0.17 * (lightest_kg / 1e4).sqrt());
    // A contact that is stiffer tangentially than normally has the shorter contact time.
    let stiff = grains(&["dem.tangential_stiffness_ratio=1.142857142857143"]).unwrap();
    assert!((stiff.dt_s() / grains(&[]).unwrap().dt_s() - 0.5).abs() < 1e-3);
    let facts = scene.derived_dem().unwrap();
    assert!((facts.steps_per_contact - 20.0).abs() < 0.02 && facts.n_cells == [9, 9, 9]);
}

#[test]
fn steps_that_skip_contacts_are_refused_with_one_that_does_not() {
    let error = grains(&["time.dt_s=0.01"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "grains.toml with --set time.dt_s=0.01: time.dt_s: found 0.01 s, which makes 1.61 steps of a contact \
         of 0.01607 s: surely unstable, expected at most 0.003214 s; dt_s = 0.0008037 or dt_s = \"auto\" \
         resolves contacts"
    );
    for dt in ["0.003214", "0.0008037"] {
        grains(&[&format!("time.dt_s={dt}")]).unwrap_or_else(|e| panic!("{e}"));
    }
    let advice = grains(&["time.dt_s=0.003", "gravity_m_s2=[0,0,0]"]).unwrap().advice();
    assert!(advice.len() == 1 && advice[0].message.starts_with("makes 5.4 steps of a contact"), "{advice:?}");
    let advice = grains(&["dem.normal_stiffness_n_m=1000"]).unwrap().advice();
    assert!(advice.len() == 1 && advice[0].message.contains("presses a grain 2.03 radii deep"), "{advice:?}");
    assert_eq!(advice[0].key, "dem.normal_stiffness_n_m");
}

#[test]
fn values_of_grains_out_of_range_are_placed() {
    for (set, message) in [
        ("radius_m=0", "found 0, expected a positive number of metres"),
        ("radius_spread=0.6", "found 0.6, expected a number from 0 to 0.5"),
        ("density_kg_m3=-1", "found -1, expected a positive number of kg/m³"),
        ("normal_stiffness_n_m=0", "found 0, expected a positive number of N/m"),
        ("tangential_stiffness_ratio=-1", "found -1, expected a number from 0 to 10"),
        ("restitution=0", "found 0, expected a number above 0 and up to 1"),
        ("restitution=1.1", "found 1.1, expected a number above 0 and up to 1"),
        ("friction=-0.1", "found -0.1, expected a number from 0 to 100"),
        ("rolling_friction=-0.1", "found -0.1, expected a number from 0 to 100"),
        ("cohesion_n=-1", "found -1, expected 0 or a positive number"),
        ("cohesion_range_m=0.1", "found 0.1, expected a number from 0 to 0.05"),
        ("terrain_adhesion_n=-1", "found -1, expected 0 or a positive number"),
        ("turbulent_drag_1_m=-1", "found -1, expected 0 or a positive number"),
        ("wall_friction=-1", "found -1, expected a number from 0 to 100"),
        ("wall_restitution=0", "found 0, expected a number above 0 and up to 1"),
        ("steps_per_contact=1", "found 1, expected a number from 8 to 10000"),
    ] {
        let key = set.split('=').next().unwrap();
        assert_eq!(refusal(&format!("dem.{set}")), format!("dem.{key}: {message}"));
    }
    assert_eq!(
        refusal("dem.bonds={strength_n=0}"),
        "dem.bonds.strength_n: found 0, expected a positive number of N"
    );
    assert_eq!(
        refusal("dem.weak_layer={strength_n=9}"),
        "dem.weak_layer: found a weak layer and no [terrain], expected a [terrain] that it is on"
    );
    for (layer, message) in [
        ("strength_n=0", "strength_n: found 0, expected a positive number of N"),
        ("strength_n=9,shear_strength_n=-1", "shear_strength_n: found -1, expected a positive number of N"),
        ("strength_n=9,forms_until_s=-1", "forms_until_s: found -1, expected 0 or a positive number"),
        (
            "strength_n=501",
            "strength_n: found 501 N, expected at most 500 N, at which a bond is stretched by a radius",
        ),
        (
            "strength_n=9,fails_at_s=0.5",
            "fails_at_s: found 0.5 s, expected a time after the layer has formed, 1 s",
        ),
        (
            "strength_n=9,fails_within={centre_m=[1,1],radius_m=1}",
            "fails_within: found it without fails_at_s, expected the time at which the bonds within fail, in \
             seconds",
        ),
        (
            "strength_n=9,fails_at_s=2,fails_within={centre_m=[1,1],radius_m=0}",
            "fails_within.radius_m: found 0, expected a positive number of metres",
        ),
    ] {
        let found = slope_refusal(&format!("dem.weak_layer={{{layer}}}"));
        assert_eq!(found, format!("dem.weak_layer.{message}"));
    }
    assert_eq!(
        refusal("domain.max_m=[0.05,1,1]"),
        "domain: found an extent of 0.05 m, expected at least one grain, 0.1 m"
    );
    let far = grains(&[
        "domain={min_m=[9e3,0,0],max_m=[9001,1,1]}",
        "particles.0.shape.box={min_m=[9000.2,0.2,0.2],max_m=[9000.4,0.4,0.4]}",
    ]);
    let error = far.unwrap_err().to_string();
    assert!(
        error.contains("which 32-bit floats resolve to 0.001") && error.contains("nearer to the origin"),
        "{error}"
    );
}

/// A scene with every feature of grains.
const EVERYTHING: [&str; 6] = [
    "dem.bonds={strength_n=1,shear_strength_n=2,form_after_s=0.1,forms_until_s=3}",
    "dem.radius_spread=0.1",
    "dem.releases.0.bulk_density_kg_m3=400",
    "bodies=[{name='house',shape={box={centre_m=[15,5,3],size_m=[1,1,1]}},friction=0.3,restitution=0.5},\
     {name='tree',shape={upright_cylinder={foot_m=[12,2],radius_m=0.2,height_m=3}}}]",
    "dem.slabs=[{name='ice',shape={plate={origin_m=[9,3],size_m=[2,3],thickness_m=0.2,pieces=[2,3],rotation_deg=10,irregularity=0.1}},friction=0.1,restitution=0.2,link_shear_strength_pa=3}]",
    "dem.weak_layer={strength_n=9,shear_strength_n=5,fails_at_s=2,fails_within={centre_m=[4,5],radius_m=1}}",
];

#[test]
fn every_number_of_grains_refuses_nan() {
    let scene = slope(&EVERYTHING).unwrap_or_else(|e| panic!("{e}"));
    let json = serde_json::to_value(&scene).unwrap();
    let mut numbers = Vec::new();
    for section in ["dem", "terrain", "bodies"] {
        crate::errors::collect_numbers(&json[section], section, &mut numbers);
    }
    assert!(numbers.len() > 50, "only {} numbers found", numbers.len());
    for path in numbers {
        for bad in ["nan", "inf", "-inf"] {
            let set = format!("{path}={bad}");
            let message = slope(&[&EVERYTHING[..], &[set.as_str()]].concat()).expect_err(&set).to_string();
            assert!(message.contains("expected"), "{set}: {message}");
        }
    }
}

#[test]
fn a_scene_of_grains_reads_back() {
    for scene in
        [slope(&EVERYTHING), grains(&["particles.0.fill=random", "particles.0.packing_fraction=0.3"])]
    {
        let scene = scene.unwrap();
        let json = serde_json::to_string(&scene).unwrap();
        let again = Scene::from_json(&json, "run.json").unwrap();
        assert_eq!(again, scene);
        assert_eq!(again.sample().unwrap(), scene.sample().unwrap());
        assert_eq!(again.sample_slabs().unwrap(), scene.sample_slabs().unwrap());
        assert_eq!(Scene::parse(&toml::to_string(&scene).unwrap(), "written", &[]).unwrap(), scene);
    }
}

#[test]
fn grains_and_other_materials_exclude_each_other() {
    for (set, found) in [
        ("fluid={particle_spacing_m=0.1}", "[fluid]"),
        ("snow={}", "[snow]"),
        ("mpm={dimensions=3,cell_size_m=0.1}", "[mpm]"),
    ] {
        assert!(
            refusal(set).contains(&format!("found {found} in a scene of solver.kind = \"dem\"")),
            "{set}"
        );
    }
    for set in [
        "dem={radius_m=0.1,density_kg_m3=1,normal_stiffness_n_m=1}",
        "terrain={file='a.asc'}",
        "dem.releases=[{polygon_m=[[0,0],[1,0],[0,1]],thickness_m=1}]",
        "dem.slabs=[{name='a',shape={plate={origin_m=[0,0],size_m=[1,1],thickness_m=1,pieces=[1,1]}}}]",
        "particles.0.fill=random",
        "particles.0.packing_fraction=0.5",
    ] {
        // A missing terrain file is reported first.
        let error = minimal(&[set]).unwrap_err().to_string();
        assert!(
            error.contains("with solver.kind = \"dem\" only")
                || error
                    .contains("[fluid] alone or with [snow] and [pbd]; [dem] needs solver.kind = \"dem\"")
                || error.contains("of solver.kind = \"dem\" only")
                || error.contains("a.asc"),
            "{error}"
        );
    }
    let error = Scene::parse(&GRAINS.replace("[dem]", "[mpm]"), "x.toml", &[]).unwrap_err().to_string();
    assert_eq!(
        error,
        "x.toml:12:2: mpm: found [mpm] in a scene of solver.kind = \"dem\", expected [dem] alone; [mpm] \
         needs solver.kind = \"mpm\""
    );
}

#[test]
fn blocks_that_grains_cannot_fill_are_refused() {
    for (set, message) in [
        (
            "fill=uniform",
            "fill: found \"uniform\", at which grains overlap, expected \"lattice\" or \"random\"",
        ),
        ("count=3", "count: found 3 grains on a lattice, expected it with fill = \"random\""),
        (
            "packing_fraction=0.3",
            "packing_fraction: found 0.3 of a lattice, expected it with fill = \"random\"",
        ),
        (
            "mass_spread=0.3",
            "mass_spread: found it in a scene of solver.kind = \"dem\", expected it in scenes of solver.kind \
             = \"mpm\" only; dem.radius_spread makes grains differ",
        ),
        (
            "phase=snow",
            "phase: found \"snow\" in a scene of solver.kind = \"dem\", expected no phase: the material is \
             that of [dem]",
        ),
    ] {
        assert_eq!(refusal(&format!("particles.0.{set}")), format!("particles.0.{message}"));
    }
    let random = |set: &str| grains(&["particles.0.fill=random", set]).unwrap_err().to_string();
    assert!(
        random("particles.0.packing_fraction=0.6")
            .contains("found 0.6, expected a number above 0 and up to 0.58")
    );
    assert!(
        random("particles.0.count=50")
            .contains("found 50 grains, which fill 3.272 of the shape, expected at most 0.58 of it")
    );
    let narrow = grains(&[
        "particles.0.fill=random",
        "particles.0.count=8",
        "particles.0.shape.box.max_m=[0.9,0.9,0.29]",
    ]);
    let error = narrow.unwrap().sample().unwrap_err().to_string();
    assert!(error.contains("8 grains at random that do not fit into the shape"), "{error}");
    assert!(
        refusal("particles=[]")
            .ends_with("expected at least one [[particles]] block or [[dem.releases]] or [[emitters]]")
    );
}

#[test]
fn grains_that_overlap_or_are_misplaced_are_refused() {
    let message = |sets: &[&str]| grains(sets).unwrap().sample().unwrap_err().to_string();
    assert_eq!(
        message(&["particles.0.jitter_spacings=0.4"])
            .split(": ")
            .last()
            .unwrap()
            .split(" pairs")
            .last()
            .unwrap(),
        " of grains that overlap each other, expected blocks and areas apart, and less jitter"
    );
    let two = "particles=[{shape={sphere={centre_m=[0.3,0.3,0.3],radius_m=0.15}}},{shape={sphere={centre_m=[0.4,0.3,0.3],radius_m=0.15}}}]";
    assert!(message(&[two]).contains("that overlap those of particles.1"));
    assert!(
        message(&["bodies=[{shape={plane={point_m=[0,0,0.22],normal=[0,0,1]}}}]"])
            .contains("4 of 8 grains inside bodies.0, the first at (0.25, 0.25, 0.25) m")
    );
    let beyond = "particles.0.shape={sphere={centre_m=[0.97,0.5,0.5],radius_m=0.03}}";
    assert!(grains(&[beyond]).unwrap_err().to_string().contains("no particles"));
}

#[test]
fn areas_of_release_are_on_the_map_and_in_the_domain() {
    let off = slope_refusal("dem.releases.0.polygon_m=[[3,3],[27,3],[7,7]]");
    assert_eq!(
        off,
        "dem.releases.0.polygon_m: found 1 of 3 corners off the map, the first at easting 27 m and northing 3 \
         m, expected an area on the known heights of the terrain, from (0, 0) m to (20, 10) m"
    );
    assert_eq!(
        slope_refusal("dem.releases.0.polygon_m=[[3,3],[4,4]]"),
        "dem.releases.0.polygon_m: found a polygon of 2 different corners, expected a polygon of three \
         corners or more that bounds an area"
    );
    assert!(slope_refusal("dem.releases.0.polygon_m=[]").contains("found a polygon of 0 different corners"));
    assert!(slope_refusal("domain={min_m=[4,0,-1],max_m=[20,10,14]}").contains("x from 3 m to 7 m"));
    assert!(
        slope_refusal("domain={min_m=[0,0,-1],max_m=[20.5,10,14]}")
            .contains("expected walls on the terrain, x from 0 m to 20 m")
    );
    assert!(
        slope_refusal("domain={min_m=[0,0,1],max_m=[20,10,14]}")
            .contains("expected a floor below the terrain")
    );
    assert!(slope_refusal("up_axis=y").contains("\"z\", which is up on a terrain"));
    assert!(slope_refusal("scale=200").contains("found 200, expected a number from 0.01 to 100"));
    assert_eq!(
        slope_refusal("dem.releases.0.bulk_density_kg_m3=800"),
        "dem.releases.0.bulk_density_kg_m3: found 800 kg/m³, expected at most 740.4 kg/m³, that of grains in \
         their closest packing"
    );
    let key = |text: &str| slope(&[text]).unwrap_err().to_string();
    assert!(
        key("dem.releases=[{thickness_m=1}]")
            .ends_with("dem.releases.0.polygons or polygon_m: missing, and it has no default")
    );
    assert!(
        key("dem.releases=[{polygon_m=[[3,3],[7,3],[7,7]]}]")
            .ends_with("dem.releases.0.thickness_m: missing, and it has no default")
    );
    assert!(key("terrain={}").ends_with("terrain.file or terrain.generated: missing, and it has no default"));
    assert!(
        grains(&["dem.releases=[{polygon_m=[[3,3],[7,3],[7,7]],thickness_m=1}]"])
            .unwrap_err()
            .to_string()
            .contains("no [terrain]")
    );
    let thin = slope(&["dem.releases.0.polygon_m=[[3,3],[3.004,3],[3,3.004]]"]).unwrap();
    let error = thin.sample().unwrap_err().to_string();
    assert!(error.contains("no grains, because the snow is too little for those of 0.05 m"), "{error}");
}

#[test]
fn names_must_be_valid_in_column_headers() {
    let two = |a: &str, b: &str| {
        format!(
            "bodies=[{{name='{a}',shape={{box={{centre_m=[15,5,3],size_m=[1,1,1]}}}}}},\
             {{name='{b}',shape={{box={{centre_m=[11,5,9],size_m=[1,1,1]}}}}}}]"
        )
    };
    assert!(
        slope_refusal(&two("a", "a")).contains("bodies.1.name: found \"a\" again, expected each name once")
    );
    for bad in ["", "a,b"] {
        assert!(slope_refusal(&two(bad, "b")).contains("expected a name of up to 64 letters without commas"));
    }
    slope(&[&two("a", "b")]).unwrap();
    let tree = "bodies=[{name='tree',shape={upright_cylinder={foot_m=[30,5],radius_m=1,height_m=2}}}]";
    assert!(slope_refusal(tree).contains("found [30, 5], off the map, expected a place on the terrain"));
}

#[test]
fn a_generated_slope_is_scaled_with_what_is_on_it() {
    let scene = slope(&["scale=2", EVERYTHING[3], EVERYTHING[4]]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((scene.scale, scene.domain.max_m), (1.0, [40.0, 20.0, 28.0]));
    let terrain = scene.ground().unwrap();
    assert_eq!((terrain.extent_m(), terrain.cell_m()), ([40.0, 20.0], 1.0));
    let ratio = scene.particle_count_estimate() as f64 / slope(&[]).unwrap().particle_count_estimate() as f64;
    assert!((ratio - 8.0).abs() < 0.01, "{ratio}");
    assert_eq!(Scene::from_json(&serde_json::to_string(&scene).unwrap(), "run.json").unwrap(), scene);
}

#[test]
fn scenes_of_grains_are_sound_at_any_size() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    for name in [
        "column_collapse",
        "hopper",
        "grain_heap",
        "slope_obstacle",
        "avalanche_splitter",
        "avalanche",
        "avalanche_slabs",
        "slab_release",
    ] {
        for scale in [0.2, 0.35, 0.5, 1.3] {
            let scene = Scene::load(folder.join(format!("{name}.toml")), &[format!("scale={scale}")]);
            let scene = scene.unwrap_or_else(|e| panic!("{name} at {scale}: {e}"));
            assert_eq!(scene.advice(), [], "{name} at {scale}");
            let sampled = scene.sample().unwrap_or_else(|e| panic!("{name} at {scale}: {e}"));
            let slabs = scene.sample_slabs().unwrap_or_else(|e| panic!("{name} at {scale}: {e}"));
            assert_eq!(slabs.pieces.len(), if name == "avalanche_slabs" { 232 } else { 0 });
            assert!(!sampled.is_empty());
        }
    }
}

/// The number of grains equals that of Gucer2010's table 4.1 to half a percent: the number in an area is not
/// round.
#[test]
fn avalanches_have_the_papers_numbers_of_grains() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    for (name, n) in [("avalanche_128k", 128.0 * 1024.0), ("avalanche_1m", 1024.0 * 1024.0)] {
        let scene = Scene::load(folder.join(format!("{name}.toml")), &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(scene.advice(), []);
        let ratio = scene.particle_count_estimate() as f64 / n;
        assert!((ratio - 1.0).abs() < 0.01, "{name}: {ratio}");
    }
}
