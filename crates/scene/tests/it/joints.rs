//! Tests of `[[joints]]`: what they may hold, and their errors with file, line and key.

use frazil_scene::{JointKind, Scene};

/// Loads a scene with a dynamic cube, a ball, a post at rest and a fan that turns, followed by `lines`, which
/// begin in line 30.
fn scene(lines: &str) -> Result<Scene, String> {
    let body = |name: &str, shape: &str, motion: &str| {
        format!("[[bodies]]\nname = \"{name}\"\nshape.{shape}\n{motion}\n")
    };
    let at = |x: f64| format!("centre_m = [{x}, 0.8, 0.8]");
    let cube = body(
        "cube",
        &format!("box = {{ {}, size_m = [0.1, 0.1, 0.1] }}", at(0.2)),
        "motion.dynamic = { mass_kg = 1.0 }",
    );
    let ball = body(
        "ball",
        &format!("sphere = {{ {}, radius_m = 0.05 }}", at(0.5)),
        "motion.dynamic = { mass_kg = 1.0 }",
    );
    let post = body("post", &format!("box = {{ {}, size_m = [0.1, 0.1, 0.1] }}", at(0.3)), "");
    let turn = "motion.spinning = { point_m = [0.8, 0.8, 0.8], angular_velocity_rad_s = [0, 1, 0] }";
    let fan = body("fan", &format!("sphere = {{ {}, radius_m = 0.05 }}", at(0.8)), turn);
    let text = format!(
        "version = 1\nname = \"joints\"\nup_axis = \"y\"\n[time]\ndt_s = 0.001\nduration_s = 1.0\n\
         [fluid]\nparticle_spacing_m = 0.1\n[domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [1.0, 1.0, 1.0]\n\
         [[particles]]\nshape.box = {{ min_m = [0.2, 0.2, 0.2], max_m = [0.4, 0.4, 0.4] }}\n\
         {cube}{ball}{post}{fan}{lines}"
    );
    Scene::parse(&text, "joints.toml", &[]).map_err(|error| error.to_string())
}

fn joint(lines: &str) -> String {
    format!("[[joints]]\n{lines}\n")
}

#[test]
fn joints_of_all_kinds_read_back() {
    let kinds = [
        "ball = { point_m = [0.2, 0.9, 0.8] }",
        "hinge = { point_m = [0.2, 0.9, 0.8], axis = [0, 0, 2], motor = { speed_rad_s = 1, torque_n_m = 2 } }",
        "slider = { point_m = [0.2, 0.9, 0.8], axis = [1, 1, 0], motor = { speed_m_s = 0, force_n = 2 } }",
        "planar = { normal = [0, 1, 0] }",
        "fixed = { point_m = [0.2, 0.9, 0.8] }",
        "spring = { from_m = [0.2, 0.8, 0.8], to_m = [0.5, 0.8, 0.8], stiffness_n_m = 10 }",
    ];
    let lines: String = kinds
        .iter()
        .enumerate()
        .map(|(k, kind)| joint(&format!("name = \"j{k}\"\nbody = \"cube\"\nkind.{kind}\nbreaks_at_n = 5")))
        .collect();
    let scene = scene(&lines).unwrap();
    let names: Vec<&str> = scene.joints.iter().map(|joint| joint.kind.name()).collect();
    assert_eq!(names, ["ball", "hinge", "slider", "planar", "fixed", "spring"]);
    let json = serde_json::to_string(&scene).unwrap();
    assert_eq!(Scene::from_json(&json, "run.json").unwrap(), scene);
    assert_eq!(Scene::parse(&toml::to_string(&scene).unwrap(), "written", &[]).unwrap(), scene);
}

/// A scale multiplies lengths; forces follow as masses times accelerations of the same speeds do.
#[test]
fn joints_are_scaled() {
    let spring = "spring = { from_m = [0.2, 0.8, 0.8], to_m = [0.5, 0.8, 0.8], stiffness_n_m = 10 }";
    let lines = joint(&format!("body = \"cube\"\nto = \"ball\"\nkind.{spring}\nbreaks_at_n = 5"));
    let scene = scene(&format!("{lines}\n")).unwrap();
    let text = format!("scale = 2.0\n{}", toml::to_string(&scene).unwrap().replacen("scale = 1.0\n", "", 1));
    let scaled = Scene::parse(&text, "scaled", &[]).unwrap();
    let JointKind::Spring { to_m, stiffness_n_m, .. } = scaled.joints[0].kind else { panic!("no spring") };
    assert_eq!((to_m, stiffness_n_m, scaled.joints[0].breaks_at_n), ([1.0, 1.6, 1.6], 20.0, Some(20.0)));
}

/// The bodies of a joint may overlap at the start, and no others.
#[test]
fn only_bodies_of_a_joint_may_overlap_at_the_start() {
    let wide = "bodies.0.shape.box.size_m=[0.2,0.1,0.1]".to_owned();
    let fixed = joint("body = \"cube\"\nto = \"post\"\nkind.fixed = { point_m = [0.25, 0.8, 0.8] }");
    let with = |lines: &str| {
        let text = toml::to_string(&scene(lines).unwrap()).unwrap();
        Scene::parse(&text, "wide", std::slice::from_ref(&wide)).map_err(|error| error.to_string())
    };
    assert!(with(&fixed).is_ok());
    let error = with("").unwrap_err();
    assert!(error.contains("bodies.0.shape.box") && error.contains("in bodies.2, \"post\""), "{error}");
}

#[test]
fn joints_that_hold_nothing_are_refused_with_their_line() {
    let fixed = "kind.fixed = { point_m = [0.2, 0.9, 0.8] }";
    let cases = [
        (
            format!("body = \"cub\"\n{fixed}"),
            "31:1: joints.0.body: found \"cub\", which no body is named, expected the name of a dynamic body: \
             \"cube\", \"ball\"",
        ),
        (
            format!("body = \"post\"\n{fixed}"),
            "31:1: joints.0.body: found \"post\", which is not dynamic, expected the name of a dynamic body: \
             \"cube\", \"ball\"",
        ),
        (
            format!("body = \"cube\"\nto = \"fan\"\n{fixed}"),
            "32:1: joints.0.to: found \"fan\", whose motion is prescribed, expected the name of another body, \
             dynamic or at rest: \"ball\", \"post\"",
        ),
        (
            format!("body = \"cube\"\nto = \"cube\"\n{fixed}"),
            "32:1: joints.0.to: found \"cube\", the body itself, expected the name of another body, dynamic or \
             at rest: \"ball\", \"post\"",
        ),
        (
            "body = \"cube\"\nkind.hinge = { point_m = [0.2, 0.9, 0.8], axis = [0, 0, 0] }".to_owned(),
            "joints.0.kind.hinge.axis: found [0, 0, 0], expected a direction, not the zero vector",
        ),
        (
            "body = \"cube\"\nkind.spring = { from_m = [0, 1, 0], to_m = [0, 1, 0], stiffness_n_m = 1 }"
                .to_owned(),
            "expected a point other than from_m, because the force is along the line between them",
        ),
        (
            "body = \"cube\"\nkind.spring = { from_m = [0, 1, 0], to_m = [0, 0, 0], stiffness_n_m = 0 }"
                .to_owned(),
            "found a spring that exerts no force, expected a stiffness or a damping",
        ),
        (
            format!("body = \"cube\"\n{fixed}\nbreaks_at_n = 0"),
            "joints.0.breaks_at_n: found 0, expected a positive number of N",
        ),
        (format!("name = \"ball\"\nbody = \"cube\"\n{fixed}"), "\"ball\""),
        ("body = \"cube\"\nkind.weld = { point_m = [0.2, 0.9, 0.8] }".to_owned(), "weld"),
    ];
    for (lines, message) in cases {
        let error = scene(&joint(&lines)).unwrap_err();
        assert!(error.starts_with("joints.toml:") && error.contains(message), "{error}, not {message}");
    }
}

/// Two motors that would turn a body at two speeds contradict each other.
#[test]
fn motors_that_contradict_are_refused() {
    let motor = |axis: &str, speed: f64| {
        let motor = format!("motor = {{ speed_rad_s = {speed:?}, torque_n_m = 1 }}");
        joint(&format!(
            "body = \"cube\"\nkind.hinge = {{ point_m = [0.2, 0.9, 0.8], axis = {axis}, {motor} }}"
        ))
    };
    let error = scene(&(motor("[0, 0, 1]", 1.0) + &motor("[0, 0, 2]", 2.0))).unwrap_err();
    assert!(error.contains("joints.1.kind.hinge.motor.speed_rad_s"), "{error}");
    assert!(error.contains("found 2 beside 1 of another motor of the two bodies"), "{error}");
    assert!(scene(&(motor("[0, 0, 1]", 1.0) + &motor("[0, 0, -2]", -1.0))).is_ok());
    assert!(scene(&(motor("[0, 0, 1]", 1.0) + &motor("[0, 1, 0]", 2.0))).is_ok());
}
