//! Tests of the error messages that a scene's author reads.

use std::time::Instant;

use frazil_scene::{MAX_PARTICLES, Scene, SceneError};

use crate::{MINIMAL, edited, minimal};

#[track_caller]
fn assert_message(result: Result<Scene, SceneError>, expected: &str) {
    assert_eq!(result.expect_err("the scene is wrong").to_string(), expected);
}

#[test]
fn unknown_keys_are_named_with_the_nearest_known() {
    assert_message(
        edited("rest_density_kg_m3", "rest_densty_kg_m3"),
        "minimal.toml:11:1: fluid.rest_densty_kg_m3: unknown key; did you mean rest_density_kg_m3?",
    );
    assert_message(
        edited("rest_density_kg_m3", "rest_density"),
        "minimal.toml:11:1: fluid.rest_density: unknown key; did you mean rest_density_kg_m3?",
    );
    assert_message(
        edited("dt_s = 0.01", "dt_s = 0.01\nzzz = 1"),
        "minimal.toml:7:1: time.zzz: unknown key; expected one of dt_s, substeps, courant_number, \
         max_substeps, duration_s",
    );
    assert_message(
        edited("[domain]", "[domains]"),
        "minimal.toml:13:2: domains: unknown key; did you mean domain?",
    );
    assert_message(
        edited("shape.box = { min_m", "shape.box = { mim_m"),
        "minimal.toml:18:15: particles.0.shape.box.mim_m: unknown key; did you mean min_m?",
    );
}

/// One message has all misspelt keys, values of a wrong type and values out of range.
#[test]
fn all_wrong_keys_and_values_are_reported_at_once() {
    assert_message(
        edited("duration_s = 1.0", "zzz = 1\nduration_s = true"),
        "minimal.toml:7:1: time.zzz: unknown key; expected one of dt_s, substeps, courant_number, \
         max_substeps, duration_s\n  \
         minimal.toml:8:1: time.duration_s: found true, expected a number",
    );
    let both = MINIMAL.replace("dt_s = 0.01", "dt_s = 0") + "[render]\nwidth_px = 0\n";
    let found = Scene::parse(&both, "minimal.toml", &[]).expect_err("two values are wrong").to_string();
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 2, "{found}");
    assert!(lines[0].contains("time.dt_s: found 0"), "{found}");
    assert!(lines[1].contains("render.width_px: found 0"), "{found}");
}

/// An error that follows from another is not reported, such as a missing key beside the misspelt one.
#[test]
fn errors_that_follow_from_others_are_left_out() {
    let small =
        MINIMAL.replace("dt_s = 0.01", "dt_s = 0.01\nduration = 1.0").replace("duration_s = 1.0\n", "");
    let found = Scene::parse(&small, "minimal.toml", &[]).expect_err("a key is misspelt").to_string();
    assert!(found.lines().count() == 1 && found.contains("unknown key; did you mean duration_s?"), "{found}");
}

#[test]
fn values_out_of_range_are_placed() {
    assert_message(
        edited("rest_density_kg_m3 = 1000.0", "rest_density_kg_m3 = -1000"),
        "minimal.toml:11:1: fluid.rest_density_kg_m3: found -1000, expected a positive number of kg/m³",
    );
    assert_message(
        edited("rest_density_kg_m3 = 1000.0", "particle_mass_kg = -0.01"),
        "minimal.toml:11:1: fluid.particle_mass_kg: found -0.01, expected a positive number of kg",
    );
    assert_message(
        edited("rest_density_kg_m3 = 1000.0", "rest_density_kg_m3 = nan"),
        "minimal.toml:11:1: fluid.rest_density_kg_m3: found nan, expected a positive number of kg/m³",
    );
    assert_message(
        edited("rest_density_kg_m3 = 1000.0", "rest_density_kg_m3 = 1e-30"),
        "minimal.toml:11:1: fluid.rest_density_kg_m3: found 1e-30, expected a positive number of kg/m³ \
         between 1e-18 and 1e18",
    );
    assert_message(
        edited("dt_s = 0.01", "dt_s = 0"),
        "minimal.toml:6:1: time.dt_s: found 0, expected a positive number of seconds",
    );
    assert_message(
        edited("max_m = [1.0, 1.0, 1.0]", "max_m = [1.0, inf, 1.0]"),
        "minimal.toml:15:1: domain.max_m: found [1, inf, 1], expected three finite numbers of metres, at \
         most 1e18",
    );
    assert_message(
        edited("version = 1", "version = 2"),
        "minimal.toml:1:1: version: found 2, expected 1, the version this program reads",
    );
    assert_message(
        minimal(&["pbd.iterations=0"]),
        "minimal.toml with --set pbd.iterations=0: pbd.iterations: found 0, expected a whole number \
         from 1 to 1000",
    );
    assert_message(
        minimal(&["bodies=[{shape={plane={point_m=[0,0,0],normal=[0,0,0]}}}]"]),
        "minimal.toml with --set bodies=[{shape={plane={point_m=[0,0,0],normal=[0,0,0]}}}]: \
         bodies.0.shape.plane.normal: found [0, 0, 0], expected a direction, not the zero vector",
    );
    for name in ["", "two words", "velocity.w", ".x", "2d"] {
        let set = format!("render.colour_by=\"{name}\"");
        assert_message(
            minimal(&[&set]),
            &format!(
                "minimal.toml with --set {set}: render.colour_by: found \"{name}\", expected the name of a \
                 column, such as velocity, or of its component, such as velocity.x"
            ),
        );
    }
    assert_message(
        minimal(&["render.colour_range=[1,1]"]),
        "minimal.toml with --set render.colour_range=[1,1]: render.colour_range: found [1, 1], expected two \
         numbers, the lower first",
    );
    assert_message(
        minimal(&["output.render_every=0 s"]),
        "minimal.toml with --set output.render_every=0 s: output.render_every: found \"0 s\", expected a \
         number of steps from 1 (10) or a time above 0 (\"0.02 s\", \"20 ms\")",
    );
}

#[test]
fn columns_to_record_are_named_once() {
    assert_message(
        minimal(&["output.record_columns=[\"velocity\",\"velocity\"]"]),
        "minimal.toml with --set output.record_columns=[\"velocity\",\"velocity\"]: output.record_columns.1: \
         found \"velocity\" again, expected each column once",
    );
    let scene = minimal(&["output.record_columns=[\"velocity\"]"]).expect("valid");
    assert_eq!(
        scene.value_error("output.record_columns.0", "this", "that").to_string(),
        "minimal.toml with --set output.record_columns=[\"velocity\"]: output.record_columns.0: found this, \
         expected that"
    );
}

#[test]
fn display_settings_of_a_recorded_scene_can_be_overridden() {
    let json = serde_json::to_string(&minimal(&[]).expect("valid")).expect("plain data");
    let changed = Scene::from_json_with(&json, "a recording", &["render.shading=density".to_owned()]);
    assert_eq!(changed.expect("valid").render.shading, frazil_scene::Shading::Density);
    assert_message(
        Scene::from_json_with(&json, "a recording", &["render.shading=flat".to_owned()]),
        "a recording with --set render.shading=flat: render.shading: found \"flat\", expected lit or density",
    );
}

#[test]
fn every_number_of_a_scene_refuses_nan() {
    let full = "render.camera={target_m=[0,0,0],distance_m=1}";
    let snow = "snow.links.compliance_m_n=0.001";
    let faces = "domain.friction={x_min=0,x_max=0,y_min=0,y_max=0,z_min=0,z_max=0}";
    let optional = [
        "gravity_m_s2=[0,0,0]",
        "fluid.particle_mass_kg=1",
        "render.colour_range=[0,1]",
        snow,
        faces,
        crate::bodies::ALL_SHAPES,
    ];
    let scene = minimal(&[&[full], &optional[..]].concat()).expect("valid");
    let json = serde_json::to_value(&scene).expect("plain data");
    let mut numbers = Vec::new();
    collect_numbers(&json, "", &mut numbers);
    assert!(numbers.len() > 120, "only {} numbers found", numbers.len());
    for path in numbers {
        for bad in ["nan", "inf", "-inf"] {
            let set = format!("{path}={bad}");
            let overrides = [&[full], &optional[..], &[set.as_str()]].concat();
            let message = minimal(&overrides).expect_err(&set).to_string();
            assert!(message.contains(&set) && message.contains("expected"), "{message}");
        }
    }
}

pub fn collect_numbers(value: &serde_json::Value, path: &str, numbers: &mut Vec<String>) {
    let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        serde_json::Value::Number(_) => numbers.push(path.to_owned()),
        serde_json::Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(i, item)| collect_numbers(item, &join(&i.to_string()), numbers));
        }
        serde_json::Value::Object(entries) => {
            entries.iter().for_each(|(name, entry)| collect_numbers(entry, &join(name), numbers));
        }
        _ => {}
    }
}

#[test]
fn wrong_types_report_found_and_expected() {
    assert_message(
        edited("dt_s = 0.01", "dt_s = \"fast\""),
        "minimal.toml:6:1: time.dt_s: found \"fast\", expected a number of seconds or \"auto\"",
    );
    assert_message(
        edited("max_m = [1.0, 1.0, 1.0]", "max_m = [1.0, 1.0]"),
        "minimal.toml:15:1: domain.max_m: found an array of 2, expected an array of 3",
    );
    assert_message(
        edited("max_m = [1.0, 1.0, 1.0]", "max_m = [1.0, 1.0, 1.0, 1.0]"),
        "minimal.toml:15:1: domain.max_m: found an array of 4, expected an array of 3",
    );
    assert_message(
        edited("max_m = [1.0, 1.0, 1.0]", "max_m = [1.0, true, 1.0]"),
        "minimal.toml:15:15: domain.max_m.1: found true, expected a number",
    );
    assert_message(
        edited("up_axis = \"y\"", "up_axis = \"up\""),
        "minimal.toml:3:1: up_axis: found \"up\", expected one of x, y, z",
    );
    assert_message(
        edited("shape.box", "shape.cube"),
        "minimal.toml:18:1: particles.0.shape: found \"cube\", expected one of box, rectangle, circle, \
         sphere, cylinder, text, mesh, points",
    );
    assert_message(
        edited("[[particles]]", "[particles]"),
        "minimal.toml:17:2: particles: found a table, expected an array",
    );
    assert_message(
        edited("[time]", "time = 3\n[tim]"),
        "minimal.toml:5:1: time: found 3, expected a table\n  minimal.toml:6:2: tim: unknown key; did \
         you mean time?",
    );
    assert_message(
        edited("version = 1", "version = 1\nseed = -1"),
        "minimal.toml:2:1: seed: found -1, expected a whole number from 0",
    );
    assert_message(
        minimal(&["pbd.iterations=2.5"]),
        "minimal.toml with --set pbd.iterations=2.5: pbd.iterations: found 2.5, expected a whole \
         number from 0 to 4294967295",
    );
    assert_message(
        minimal(&["particles.0.shape=sphere"]),
        "minimal.toml with --set particles.0.shape=sphere: particles.0.shape: found \"sphere\" alone, \
         expected { sphere = { centre_m = …, radius_m = … } }",
    );
    assert_message(
        minimal(&["particles.0.shape.sphere.radius_m=1"]),
        "minimal.toml with --set particles.0.shape.sphere.radius_m=1: particles.0.shape: found both box and \
         sphere, expected one of box, rectangle, circle, sphere, cylinder, text, mesh, points",
    );
}

#[test]
fn missing_keys_are_named() {
    assert_message(
        edited("particle_spacing_m = 0.1\n", ""),
        "minimal.toml:9:2: fluid.particle_spacing_m: missing, and it has no default",
    );
    assert_message(edited("up_axis = \"y\"\n", ""), "minimal.toml: up_axis: missing, and it has no default");
    assert_message(
        Scene::parse("", "empty.toml", &[]),
        "empty.toml: version: missing, and it has no default",
    );
}

#[test]
fn syntax_errors_point_at_the_character() {
    assert_message(
        edited("dt_s = 0.01", "dt_s = 0.01.2"),
        "minimal.toml:6:12: not valid TOML: invalid float, expected nothing",
    );
    let error = edited("up_axis = \"y\"", "up_axis = \"y").unwrap_err().to_string();
    assert!(error.starts_with("minimal.toml:3:"), "{error}");
    // Columns count characters, not bytes.
    assert_message(
        edited("name = \"minimal\"", "name = \"größe\" x"),
        "minimal.toml:2:16: not valid TOML: unexpected key or value, expected newline, `#`",
    );
    assert_message(
        edited("version = 1", "version = 99999999999999999999"),
        "minimal.toml:1:1: not valid TOML: found 99999999999999999999, expected a whole number of at most 64 \
         bits",
    );
}

#[test]
fn blocks_and_domain_must_fit_each_other() {
    assert_message(
        edited("max_m = [0.4, 0.4, 0.4]", "max_m = [0.4, 1.4, 0.4]"),
        "minimal.toml:18:7: particles.0.shape.box: found y from 0.2 m to 1.4 m, expected a shape inside the \
         domain, y from 0 m to 1 m",
    );
    assert_message(
        minimal(&["domain.max_m=[1,0.3,1]"]),
        "minimal.toml with --set domain.max_m=[1,0.3,1]: particles.0.shape.box: found y from 0.2 m to 0.4 m, \
         expected a shape inside the domain, y from 0 m to 0.3 m",
    );
    assert_message(
        edited("min_m = [0.0, 0.0, 0.0]", "min_m = [0.0, 1.0, 0.0]"),
        "minimal.toml:15:1: domain.max_m: found y = 1 m, expected more than the lower corner's y = 1 m",
    );
    assert_message(
        minimal(&["domain.max_m=[2e5,1,1]", "fluid.particle_spacing_m=0.01"]),
        "minimal.toml with --set fluid.particle_spacing_m=0.01: domain: found 25000000000 cells of edge 0.02 \
         m, the support radius, expected at most 4294967295; enlarge fluid.particle_spacing_m or shrink the \
         domain",
    );
    assert_message(
        minimal(&[
            "domain.max_m=[100001,1,1]",
            "domain.min_m=[1e5,0,0]",
            "particles.0.shape.box={min_m=[1e5,0,0],max_m=[100001,1,1]}",
        ]),
        "minimal.toml with --set domain.min_m=[1e5,0,0]: domain: found coordinates up to 100001 m, which \
         32-bit floats resolve to 0.011921048164 m, expected a domain near the origin of its particle \
         spacing of 0.1 m",
    );
}

#[test]
fn no_particles_is_an_error() {
    assert_message(
        minimal(&["particles=[]"]),
        "minimal.toml with --set particles=[]: particles: found no particles, expected at least one \
         [[particles]] block or [[emitters]]",
    );
    assert_message(
        edited("particle_spacing_m = 0.1", "particle_spacing_m = 0.3"),
        "minimal.toml:18:7: particles.0.shape.box: found no particles, because the shape is 0.2 m thin, \
         expected a shape at least one fluid.particle_spacing_m, 0.3 m, thick",
    );
    assert_message(
        minimal(&["particles.0={fill='uniform',shape.sphere={centre_m=[0.5,0.5,0.5],radius_m=0.02}}"]),
        "minimal.toml with --set \
         particles.0={fill='uniform',shape.sphere={centre_m=[0.5,0.5,0.5],radius_m=0.02}}: \
         particles.0.shape.sphere: found no particles, because the shape's volume is 3.3510321638291124e-5 \
         m³, expected at least the volume of a particle, 0.001 m³",
    );
}

#[test]
fn excessive_numbers_of_particles_are_refused_at_once() {
    let begin = Instant::now();
    assert_message(
        minimal(&[
            "domain.max_m=[10,10,10]",
            "particles.0.shape.box.max_m=[10,10,10]",
            "particles.0.shape.box.min_m=[0,0,0]",
            "fluid.particle_spacing_m=0.001",
            "fluid.support_radius_spacings=5",
        ]),
        "minimal.toml with --set fluid.particle_spacing_m=0.001: particles.0.shape: found 1000000000000 \
         particles, expected at most 268435455 in all; enlarge fluid.particle_spacing_m (0.001 m) to \
         0.0156 m or more, or shrink the shape",
    );
    // For any small spacing, and any sampling method.
    for spacing in ["1e-5", "1e-9", "1e-17"] {
        for fill in ["lattice", "uniform"] {
            let result = minimal(&[
                &format!("fluid.particle_spacing_m={spacing}"),
                &format!("particles.0.fill={fill}"),
            ]);
            assert!(matches!(result, Err(SceneError::Value { .. })), "{result:?}");
        }
    }
    println!("refused in {:.3} s of a budget of 1 s", begin.elapsed().as_secs_f64());
    assert_eq!(MAX_PARTICLES, 268_435_455);
}

#[test]
fn overlapping_blocks_are_refused() {
    let scene = minimal(&["particles.0={shape.sphere={centre_m=[0.5,0.5,0.5],radius_m=0.3}}"]).unwrap();
    assert!(scene.sample().is_ok());
    let text =
        MINIMAL.to_owned() + "[[particles]]\nshape.sphere = { centre_m = [0.5, 0.5, 0.5], radius_m = 0.3 }\n";
    let error = Scene::parse(&text, "minimal.toml", &[]).unwrap().sample().unwrap_err().to_string();
    assert_eq!(
        error,
        "minimal.toml:18:1: particles.0.shape: found 1 of 8 particles inside particles.1.shape, expected \
         blocks that do not overlap"
    );
}

#[test]
fn particles_inside_bodies_without_a_name_are_refused() {
    for (body, message) in [
        ("shape={plane={point_m=[0.3,0.3,0.3],normal=[1,0,0]}}", "4 of 8 particles inside bodies.0"),
        ("shape={sphere={centre_m=[0.2,0.2,0.2],radius_m=0.1}}", "1 of 8 particles inside bodies.0"),
        (
            "shape={sphere={centre_m=[0.2,0.2,0.2],radius_m=0.1}},side='inside'",
            "7 of 8 particles outside the container bodies.0",
        ),
    ] {
        let scene = minimal(&[&format!("bodies=[{{{body}}}]")]).unwrap();
        let error = scene.sample().unwrap_err().to_string();
        assert!(
            error.contains(&format!("particles.0.shape: found {message}, expected particles ")),
            "{error}"
        );
    }
}

/// Tables of the removed `[[colliders]]` and `[[obstacles]]`, each with the same body in `[[bodies]]`.
const REMOVED: [(&str, &str, &str); 7] = [
    (
        "colliders",
        "plane = { point_m = [0.0, 0.1, 0.0], normal = [0, 1, 0], surface = { friction = 0.2, sticky = true \
         } }",
        "shape.plane = { point_m = [0.0, 0.1, 0.0], normal = [0, 1, 0] }\nfriction = 0.2\nsticky = true",
    ),
    (
        "colliders",
        "sphere = { centre_m = [0.5, 0.5, 0.5], radius_m = 0.9, side = \"inside\", surface = {} }",
        "shape.sphere = { centre_m = [0.5, 0.5, 0.5], radius_m = 0.9 }\nside = \"inside\"\nfriction = 0.1",
    ),
    (
        "colliders",
        "box = { centre_m = [0.8, 0.8, 0.8], size_m = [0.1, 0.1, 0.1], motion = { velocity_m_s = [1, 0, 0] } \
         }",
        "shape.box = { centre_m = [0.8, 0.8, 0.8], size_m = [0.1, 0.1, 0.1] }\n\
         motion.uniform = { velocity_m_s = [1, 0, 0] }",
    ),
    (
        "colliders",
        "heightfield = { origin_m = [0, 0], spacing_m = 1e-7, heights_m = [[0, 0.1], [0.1, 0]] }",
        "shape.heightfield = { origin_m = [0, 0], spacing_m = 1e-7, heights_m = [[0, 0.1], [0.1, 0]] }",
    ),
    (
        "obstacles",
        "name = \"a \\\"hut\\\"\"\nshape.box = { centre_m = [0, 0, 9], size_m = [1, 1, 1] }\nfriction = 0.3",
        "name = \"a \\\"hut\\\"\"\nshape.box = { centre_m = [0, 0, 9], size_m = [1, 1, 1] }\nfriction = 0.3",
    ),
    (
        "obstacles",
        "name = \"tree\"\nrestitution = 0.5\nshape.cylinder = { foot_m = [0.8, 0.8], radius_m = 0.1, \
         height_m = 1 }",
        "name = \"tree\"\nrestitution = 0.5\n\
         shape.upright_cylinder = { foot_m = [0.8, 0.8], radius_m = 0.1, height_m = 1 }",
    ),
    (
        "obstacles",
        "name = \"rock\"\nshape.mesh = { path = \"rock.obj\", scale = 2.0 }",
        "name = \"rock\"\nshape.mesh = { path = \"rock.obj\", scale = 2.0 }",
    ),
];

#[test]
fn tables_of_a_removed_notation_are_shown_as_bodies() {
    for (key, old, new) in REMOVED {
        let text = format!("{MINIMAL}[[{key}]]\n{old}\n");
        let line = MINIMAL.lines().count() + 1;
        assert_message(
            Scene::parse(&text, "old.toml", &[]),
            &format!(
                "old.toml:{line}:3: {key}: removed; expected [[bodies]]; the same in its notation:\n\n\
                 [[bodies]]\n{new}\n"
            ),
        );
    }
}

#[test]
fn the_lines_shown_in_place_of_a_removed_notation_are_read() {
    let of_water = REMOVED.into_iter().filter(|(key, ..)| *key == "colliders");
    let old: String = of_water.map(|(key, old, _)| format!("[[{key}]]\n{old}\n")).collect();
    let error = Scene::parse(&format!("{MINIMAL}{old}"), "old.toml", &[]).unwrap_err().to_string();
    let (_, lines) = error.split_once("notation:\n").unwrap();
    let scene = Scene::parse(&format!("{MINIMAL}{lines}"), "new.toml", &[]).unwrap();
    let names: Vec<&str> = scene.bodies.iter().map(|body| body.shape.name()).collect();
    assert_eq!(names, ["plane", "sphere", "box", "heightfield"]);
    assert!(scene.bodies.iter().all(|body| body.name.is_none()));
}

#[test]
fn removed_keys_are_refused_in_overrides_too() {
    assert_message(
        minimal(&["colliders=[]"]),
        "minimal.toml with --set colliders=[]: colliders: removed; expected [[bodies]] or nothing",
    );
    assert_message(
        minimal(&["colliders.0.box.surface.friction=0.2"]),
        "minimal.toml with --set colliders.0.box.surface.friction=0.2: colliders: removed; expected keys of \
         [[bodies]], such as bodies.0.friction",
    );
    let both = minimal(&["colliders=[]", "obstacles=[]"]).unwrap_err().to_string();
    assert!(both.contains("obstacles: removed") && both.contains("colliders: removed"), "{both}");
}

/// Text in the former notation of keys that moved, with the same in the present one.
const MOVED_TO_PBD: (&str, &str) = (
    "[solver]\niterations = 4\nover_relaxation = 0.25\nsteps_per_submission = 2\n\
     [solver.artificial_pressure]\nstrength = 1e-3\nexponent = 2\n",
    "[pbd]\niterations = 4\nover_relaxation = 0.25\nartificial_pressure = { strength = 0.001, \
     exponent = 2 }\n",
);
const MOVED_TO_DEM: (&str, &str) = (
    "[[releases]]\npolygon_m = [[3, 3], [7, 3.5], [7, 7]]\nthickness_m = 0.5\n\
     [[releases]]\npolygon_m = [[1, 1], [2, 1], [2, 2]]\nthickness_m = 0.4\nvelocity_m_s = [1, 0, 0]\n\
     [[slabs]]\nname = \"ice\"\n\
     shape.plate = { origin_m = [9, 3], size_m = [2, 3], thickness_m = 0.2, pieces = [2, 3] }\n",
    "[[dem.releases]]\npolygon_m = [[3, 3], [7, 3.5], [7, 7]]\nthickness_m = 0.5\n\n\
     [[dem.releases]]\npolygon_m = [[1, 1], [2, 1], [2, 2]]\nthickness_m = 0.4\nvelocity_m_s = [1, 0, 0]\n\n\
     [[dem.slabs]]\nname = \"ice\"\n\
     shape.plate = { origin_m = [9, 3], size_m = [2, 3], thickness_m = 0.2, pieces = [2, 3] }\n",
);

#[test]
fn moved_keys_are_shown_in_their_section() {
    assert_message(
        edited("[domain]", "[solver]\niterations = 4\n\n[domain]"),
        "minimal.toml:14:1: solver.iterations: removed; expected [pbd]; the same in its notation:\n\n\
         [pbd]\niterations = 4\n",
    );
    let (old, new) = MOVED_TO_PBD;
    assert_message(
        Scene::parse(&format!("{MINIMAL}{old}"), "old.toml", &[]),
        &format!(
            "old.toml:20:1: solver.iterations: removed; expected [pbd]; the same in its \
             notation:\n\n{new}\n  old.toml:21:1: solver.over_relaxation: removed; expected the same in [pbd]\n  \
             old.toml:23:9: solver.artificial_pressure: removed; expected the same in [pbd]"
        ),
    );
    let (old, new) = MOVED_TO_DEM;
    let text = crate::dem::GRAINS.to_owned() + old;
    assert_message(
        Scene::parse(&text, "old.toml", &[]),
        &format!(
            "old.toml:23:3: releases: removed; expected [[dem.releases]]; the same in its \
             notation:\n\n{new}\n  old.toml:30:3: slabs: removed; expected the same in [[dem.slabs]]"
        ),
    );
}

#[test]
fn the_lines_shown_in_place_of_moved_keys_are_read() {
    let scene = |text: &str| Scene::parse(text, "new.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let moved = scene(&format!("{MINIMAL}{}", MOVED_TO_PBD.1));
    let pbd = moved.pbd();
    assert_eq!((moved.iterations(), pbd.over_relaxation), (4, 0.25));
    assert_eq!((pbd.artificial_pressure.strength, pbd.artificial_pressure.exponent), (1e-3, 2));
    let terrain = "[terrain.generated.inclined_plane]\nsize_m = [20, 10]\ncell_m = 1\nslope_deg = 30\n";
    let slope = crate::dem::GRAINS.replace("max_m = [1.0, 1.0, 1.0]\n", "max_m = [20.0, 10.0, 14.0]\n");
    let slope = slope.replace("min_m = [0.0, 0.0, 0.0]\n", "min_m = [0.0, 0.0, -1.0]\n");
    let slope = scene(&(slope + terrain + MOVED_TO_DEM.1));
    assert_eq!((slope.releases().len(), slope.slabs().len()), (2, 1));
    assert_eq!(slope.releases()[1].velocity_m_s, [1.0, 0.0, 0.0]);
    assert_eq!(slope.releases()[0].polygon_m.as_ref().unwrap()[1], [7.0, 3.5]);
}

#[test]
fn moved_keys_are_refused_in_overrides_with_the_present_one() {
    for (set, key, moved) in [
        ("solver.iterations=4", "solver.iterations", "pbd.iterations=4"),
        (
            "solver.artificial_pressure.strength = 0.5",
            "solver.artificial_pressure",
            "pbd.artificial_pressure.strength=0.5",
        ),
        ("solver={max_courant=2}", "solver.max_courant", ""),
    ] {
        let expected = match moved {
            "" => "[pbd]; the same in its notation:\n\n[pbd]\nmax_courant = 2\n".to_owned(),
            moved => format!("--set {moved}"),
        };
        let message = format!("minimal.toml with --set {set}: {key}: removed; expected {expected}");
        assert_message(minimal(&[set]), &message);
    }
    let set = "releases.0.jitter=0.5";
    assert_message(
        crate::dem::slope(&[set]),
        &format!("grains.toml with --set {set}: releases: removed; expected --set dem.releases.0.jitter=0.5"),
    );
    assert_message(
        crate::dem::slope(&["slabs=[]"]),
        "grains.toml with --set slabs=[]: slabs: removed; expected --set dem.slabs=[]",
    );
}

/// Scenes of other solvers had keys of the density constraint, which had no effect.
#[test]
fn moved_keys_of_another_solver_are_refused() {
    let message = crate::dem::grains(&["solver.max_courant=2"]).unwrap_err().to_string();
    let expected = "expected nothing: [pbd] needs solver.kind = \"pbd\" or \"viscoelastic\"";
    assert!(message.ends_with(&format!("solver.max_courant: removed; {expected}")), "{message}");
    let message = minimal(&["releases=[]"]).unwrap_err().to_string();
    assert!(message.ends_with("releases: removed; expected nothing: [dem] needs solver.kind = \"dem\""));
}

/// Recordings, checkpoints and `run.json` hold the scene as JSON with all defaults.
#[test]
fn moved_keys_are_refused_in_recorded_scenes() {
    let scene = minimal(&["pbd.iterations=5", "pbd.density_tolerance=0.001"]).unwrap();
    let mut json = serde_json::to_value(scene).unwrap();
    let pbd = json.as_object_mut().unwrap().remove("pbd").unwrap();
    for (name, value) in pbd.as_object().unwrap() {
        json["solver"][name] = value.clone();
    }
    let message = Scene::from_json(&json.to_string(), "000100.frazil-ckpt").unwrap_err().to_string();
    let first = "000100.frazil-ckpt: solver.iterations: removed; expected [pbd]; the same in its \
                 notation:\n\n[pbd]\niterations = 5\ndensity_tolerance = 0.001\n";
    assert!(message.starts_with(first), "{message}");
    assert_eq!(message.matches(": removed; ").count(), 8, "{message}");
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("nowhere.toml");
    assert_message(
        Scene::load(&missing, &[]),
        &format!("{}: cannot read the scene file: No such file or directory (os error 2)", missing.display()),
    );
    assert_message(
        Scene::load(directory.path(), &[]),
        &format!(
            "{}: cannot read the scene file: found a directory, expected a TOML file",
            directory.path().display()
        ),
    );
    let binary = directory.path().join("binary.toml");
    std::fs::write(&binary, [0xff, 0xfe, 0x00]).unwrap();
    assert_message(
        Scene::load(&binary, &[]),
        &format!(
            "{}: cannot read the scene file: found byte 0xff at byte 0, expected UTF-8 text",
            binary.display()
        ),
    );
    let large = directory.path().join("large.toml");
    std::fs::write(&large, vec![b'#'; 5 << 20]).unwrap();
    assert_message(
        Scene::load(&large, &[]),
        &format!(
            "{}: cannot read the scene file: found more than 4194304 bytes, expected a TOML file",
            large.display()
        ),
    );
}

#[test]
fn errors_in_a_file_name_its_path() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.toml");
    std::fs::write(&path, MINIMAL.replace("1000.0", "-1")).unwrap();
    assert_message(
        Scene::load(&path, &[]),
        &format!(
            "{}:11:1: fluid.rest_density_kg_m3: found -1, expected a positive number of kg/m³",
            path.display()
        ),
    );
}
