//! Tests of emitters and drains in scene files.

use crate::minimal;

const MOUTH: &str = "mouth={disk={centre_m=[0.5,0.7,0.5],radius_m=0.1}}";

fn message(overrides: &[&str]) -> String {
    minimal(overrides).expect_err("the scene is wrong").to_string()
}

#[test]
fn what_is_wrong_of_emitters_and_drains_is_named() {
    let emitter = |keys: &str| format!("emitters=[{{{MOUTH},direction=[0,-1,0],speed_m_s=1,{keys}}}]");
    let at = |mouth: &str| format!("emitters=[{{mouth={{{mouth}}},direction=[0,-1,0],speed_m_s=1}}]");
    let drain = "drains=[{shape={box={min_m=[0,0.5,0],max_m=[1,1,1]}}}]";
    let body = "bodies=[{shape={sphere={centre_m=[0.5,0.7,0.5],radius_m=0.05}}}]";
    let two = format!(
        "emitters=[{{{MOUTH},direction=[0,-1,0],speed_m_s=1}},{{{MOUTH},direction=[1,0,0],speed_m_s=1}}]"
    );
    let filled = "particles=[{shape={box={min_m=[0,0,0],max_m=[1,0.9,1]}}}]";
    for (overrides, parts) in [
        (vec![emitter("mass_flow_kg_s=1")], ["emitters.0.mass_flow_kg_s", "beside a speed"]),
        (vec![format!("emitters=[{{{MOUTH},direction=[0,1,0]}}]")], ["emitters.0", "no flow"]),
        (vec![at("disk={centre_m=[0.5,0.7,0.5],radius_m=1e9}")], ["emitters.0.mouth.disk", "diagonal"]),
        (vec![emitter("until_s=0.5,from_s=0.5")], ["emitters.0.until_s", "a time after from_s"]),
        (
            vec![format!("emitters=[{{{MOUTH},direction=[0,0,0],speed_m_s=1}}]")],
            ["emitters.0.direction", "not the zero vector"],
        ),
        (
            vec![at("rectangle={centre_m=[0.5,0.7,0.5],size_m=[0.2,0.2],side=[0,2,0]}")],
            ["emitters.0.mouth.rectangle.side", "another direction"],
        ),
        (
            vec![at("disk={centre_m=[0.5,0.7,0.5],radius_m=0.01}")],
            ["a mouth 0.02 m wide", "particle spacing"],
        ),
        (vec![at("disk={centre_m=[0.5,0.95,0.5],radius_m=0.1}")], ["outside", "inside the domain"]),
        (vec![at("disk={centre_m=[0.95,0.7,0.5],radius_m=0.1}")], ["outside", "inside the domain"]),
        (
            vec![emitter(""), "time.dt_s=0.1".into()],
            ["emitters.0.speed_m_s", "half of the distance between layers"],
        ),
        (vec![emitter(""), drain.into()], ["drains.0", "a drain that does not cover an emitter"]),
        (vec![emitter(""), body.into()], ["bodies.0", "where particles may be"]),
        (vec![two], ["emitters.1", "pipes that do not meet"]),
        (
            vec!["drains=[{shape={box={min_m=[0,0,0],max_m=[1,0,1]}}}]".into()],
            ["drains.0.shape.box.max_m", "y"],
        ),
        (vec![emitter(""), "pbd.pressure='position'".into()], ["emitters", "projection"]),
        (vec!["emiters=[]".into()], ["emiters", "did you mean emitters"]),
    ] {
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        let message = message(&overrides);
        for part in parts {
            assert!(message.contains(part), "{overrides:?}: no {part:?} in: {message}");
        }
    }
    let scene = minimal(&[&emitter(""), filled]).expect("it is wrong only once it is sampled");
    let message = scene.sample().expect_err("particles in a pipe").to_string();
    assert!(message.contains("in the pipe of emitters.0"), "{message}");
}

#[test]
fn a_scene_may_begin_empty_if_it_has_an_emitter() {
    let message = message(&["particles=[]"]);
    assert!(message.contains("[[particles]]") && message.contains("[[emitters]]"), "{message}");
    let scene = minimal(&["particles=[]", &format!("emitters=[{{{MOUTH},direction=[0,-1,0],speed_m_s=1}}]")]);
    let scene = scene.expect("an emitter fills it");
    assert!(scene.sample().expect("no particles").is_empty());
    assert!(scene.n_emitted(10) > 0 && scene.is_driven());
    let late = format!("emitters=[{{{MOUTH},direction=[0,-1,0],speed_m_s=1,from_s=1e18}}]");
    assert_eq!(minimal(&["particles=[]", &late]).expect("a late start").n_emitted(1000), 0);
}

/// A scene reads back from its JSON with its emitters, and scales them: the same speed, in lengths and times
/// of twice the size.
#[test]
fn emitters_scale_with_the_scene() {
    let emitter =
        format!("emitters=[{{{MOUTH},direction=[0,-1,0],mass_flow_kg_s=5,from_s=0.1,until_s=0.3}}]");
    let [one, two] =
        ["scale=1", "scale=2"].map(|scale| minimal(&["particles=[]", &emitter, scale]).expect("sound"));
    let speeds = [&one, &two].map(|scene| scene.emitter_speed_m_s(&scene.emitters[0]));
    assert!((speeds[0] - speeds[1]).abs() < 1e-12 && speeds[0] > 0.0);
    assert_eq!(two.emitters[0].until_s, Some(0.6));
    let json = serde_json::to_string(&one).expect("a scene as JSON");
    assert_eq!(
        frazil_scene::Scene::from_json(&json, "again").expect("the same scene").emitters,
        one.emitters
    );
}

/// A scene of the material point method has them, too, in space: it may begin empty, and its pipe is the
/// support of a particle.
#[test]
fn snow_on_a_grid_has_emitters_in_space() {
    let of = |dimensions: u32, more: &[&str]| {
        let text = format!(
            "version=1\nname=\"jet\"\nup_axis=\"y\"\nsolver.kind=\"mpm\"\n\
             time={{dt_s=\"auto\",duration_s=1}}\n\
             mpm={{dimensions={dimensions},cell_size_m=0.05}}\n\
             domain={{min_m=[0,0,0],max_m=[1,1,{}]}}",
            dimensions - 2
        );
        let more: Vec<String> = more.iter().map(|text| (*text).to_owned()).collect();
        frazil_scene::Scene::parse(&text, "jet.toml", &more)
    };
    let emitter = |radius_m: f64| {
        format!(
            "emitters=[{{mouth={{disk={{centre_m=[0.5,0.7,0.5],radius_m={radius_m}}}}},direction=[0,-1,0],\
             speed_m_s=2}}]"
        )
    };
    let scene = of(3, &[&emitter(0.1)]).expect("a scene");
    assert!(scene.sample().expect("no particles").is_empty() && scene.dt_s() > 0.0);
    let stream = &scene.streams()[0];
    assert_eq!(stream.reach_m, 0.1);
    assert!(stream.points_m.iter().all(|x| (x[1] - 0.8).abs() < 1e-12));
    let kg_s = stream.points_m.len() as f64 * scene.rest_density_kg_m3() * scene.emitted_volume_m3()
        / (stream.layer_m / stream.speed_m_s);
    let expected = scene.rest_density_kg_m3() * std::f64::consts::PI * 0.01 * 2.0;
    assert!((kg_s / expected - 1.0).abs() < 1e-12, "{kg_s} kg/s of {expected}");
    let refused =
        |dimensions, emitter: &str| of(dimensions, &[emitter]).expect_err("it is wrong").to_string();
    for (message, parts) in [
        (refused(2, &emitter(0.1)), ["emitters", "mpm.dimensions = 3"]),
        (refused(3, &emitter(0.01)), ["a mouth 0.02 m wide", "one particle spacing, 0.025 m"]),
    ] {
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}

/// Grains have emitters, whose layers do not overlap, and no drains.
#[test]
fn grains_have_emitters_in_layers_that_do_not_touch() {
    const EMITTER: &str = "emitters=[{mouth={rectangle={centre_m=[0.5,0.5,0.7],size_m=[0.31,0.2]}},\
                           direction=[0,0,-1],mass_flow_kg_s=3}]";
    let of = |more: &[&str]| {
        let text = "version=1\nname=\"flow\"\nup_axis=\"z\"\nsolver.kind=\"dem\"\n\
                    time={dt_s=\"auto\",duration_s=1}\ndomain={min_m=[0,0,0],max_m=[1,1,1]}\n\
                    dem={radius_m=0.02,radius_spread=0.1,density_kg_m3=900,normal_stiffness_n_m=1e4}";
        let more: Vec<String> = [EMITTER].iter().chain(more).map(|text| (*text).to_owned()).collect();
        frazil_scene::Scene::parse(text, "flow.toml", &more)
    };
    let scene = of(&[]).expect("a scene");
    assert!(scene.sample().expect("no grains").is_empty() && scene.dt_s() > 0.0);
    let stream = &scene.streams()[0];
    let room_m = 1.1 * scene.particle_spacing_m();
    assert!((stream.layer_m / room_m - 1.0).abs() < 1e-12);
    // 6.4 and 4.1 points.
    assert_eq!(stream.points_m.len(), 24);
    let apart = |a: &[f64; 3], b: &[f64; 3]| (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt();
    for (i, a) in stream.points_m.iter().enumerate() {
        assert!(stream.points_m[..i].iter().all(|b| apart(a, b) > 0.999_999 * room_m));
    }
    let kg_s = 24.0 * scene.particle_mass_kg() / (stream.layer_m / stream.speed_m_s);
    assert!((kg_s / 3.0 - 1.0).abs() < 1e-12, "{kg_s} kg/s");
    assert_eq!(scene.emitter_speed_m_s(&scene.emitters[0]), stream.speed_m_s);
    let refused = |more: &[&str]| match of(more) {
        Err(error) => error.to_string(),
        Ok(scene) => scene.sample().expect_err("it is wrong").to_string(),
    };
    for (more, part) in [
        (&["drains=[{shape={box={min_m=[0,0,0],max_m=[1,1,0.1]}}}]"][..], "drains"),
        (
            &["particles=[{shape={box={min_m=[0.4,0.4,0.6],max_m=[0.6,0.6,0.8]}}}]"],
            "in the pipe of emitters.0",
        ),
        (&["domain.max_m=[1,1,0.73]"], "outside"),
    ] {
        assert!(refused(more).contains(part), "{more:?}: {}", refused(more));
    }
}
