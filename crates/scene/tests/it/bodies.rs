//! `[[bodies]]`: what they may be, and what is wrong with them, with file, line and key.

use frazil_scene::{BodyMotion, Scene};

use crate::minimal;

/// A scene of eight particles about (0.3, 0.3, 0.3) m in a box of 1 m, and the lines after it.
fn scene(lines: &str) -> Result<Scene, String> {
    let text = format!(
        "version = 1\nname = \"bodies\"\nup_axis = \"y\"\n[time]\ndt_s = 0.001\nduration_s = 1.0\n\
         [fluid]\nparticle_spacing_m = 0.1\n[domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [1.0, 1.0, 1.0]\n\
         [[particles]]\nshape.box = {{ min_m = [0.2, 0.2, 0.2], max_m = [0.4, 0.4, 0.4] }}\n{lines}"
    );
    Scene::parse(&text, "bodies.toml", &[]).map_err(|error| error.to_string())
}

fn body(shape: &str) -> String {
    format!("[[bodies]]\nname = \"it\"\nshape.{shape}\n")
}

#[test]
fn bodies_of_all_kinds_and_motions_read_back_as_they_were() {
    let lines = [
        body("cylinder = { from_m = [0.8, 0.2, 0.8], to_m = [0.8, 0.7, 0.8], radius_m = 0.1 }")
            + "motion.spinning = { point_m = [0.8, 0.2, 0.8], angular_velocity_rad_s = [0.0, 3.0, 0.0] }\n",
        "[[bodies]]\nname = \"tank\"\nside = \"inside\"\nshape.capsule = { from_m = [0.1, 0.3, 0.3], to_m = [0.5, 0.3, 0.3], radius_m = 0.3 }\n\
         motion.oscillating = { amplitude_m = [0.1, 0.0, 0.0], frequency_hz = 2.0 }\nfriction = 0.2\n"
            .to_owned(),
        "[[bodies]]\nname = \"lid\"\nsticky = true\nshape.box = { centre_m = [0.3, 0.7, 0.3], size_m = [0.2, 0.1, 0.2] }\n\
         motion.keyframed.pivot_m = [0.3, 0.7, 0.3]\n\
         [[bodies.motion.keyframed.keys]]\ntime_s = 0.5\n\
         [[bodies.motion.keyframed.keys]]\ntime_s = 0.8\noffset_m = [0.1, 0.0, 0.0]\nrotation_deg = [0.0, 0.0, 30.0]\n"
            .to_owned(),
    ]
    .concat();
    let found = scene(&lines).unwrap();
    assert_eq!(found.bodies.len(), 3);
    assert!(matches!(&found.bodies[2].motion, Some(BodyMotion::Keyframed { keys, .. }) if keys.len() == 2));
    let json = serde_json::to_string(&found).unwrap();
    assert_eq!(Scene::from_json(&json, "again").unwrap().bodies, found.bodies);
    assert_eq!(found.sample().unwrap().len(), 8);
}

#[test]
fn a_body_that_overlaps_the_fluid_at_the_start_is_refused_with_its_line() {
    let refusal = |lines: &str| scene(lines).unwrap().sample().unwrap_err().to_string();
    let ball = body("sphere = { centre_m = [0.25, 0.25, 0.25], radius_m = 0.05 }");
    assert_eq!(
        refusal(&ball),
        "bodies.toml:13:9: particles.0.shape: found 1 of 8 particles inside bodies.0, expected particles where the body leaves \
         room at the start"
    );
    let drum = "[[bodies]]\nname = \"drum\"\nside = \"inside\"\nshape.cylinder = { from_m = [0.0, 0.3, 0.3], to_m = [0.3, 0.3, 0.3], radius_m = 0.3 }\n";
    assert!(refusal(drum).contains("4 of 8 particles inside bodies.0"));
    // Where its motion has it at time 0.
    let swung = body("box = { centre_m = [0.3, 0.7, 0.3], size_m = [0.2, 0.2, 0.2] }")
        + "motion.oscillating = { amplitude_m = [0.0, 0.4, 0.0], frequency_hz = 1.0, phase_deg = -90.0 }\n";
    assert!(refusal(&swung).contains("8 of 8 particles inside bodies.0"));
}

#[test]
fn a_keyframe_that_goes_back_in_time_is_refused_with_its_line() {
    let lines = body("box = { centre_m = [0.3, 0.7, 0.3], size_m = [0.2, 0.1, 0.2] }")
        + "motion.keyframed.pivot_m = [0.3, 0.7, 0.3]\n\
           [[bodies.motion.keyframed.keys]]\ntime_s = 0.5\n\
           [[bodies.motion.keyframed.keys]]\ntime_s = 0.25\n";
    assert_eq!(
        scene(&lines).unwrap_err(),
        "bodies.toml:21:10: bodies.0.motion.keyframed.keys.1.time_s: found 0.25 s, expected a time after that of the key \
         before, 0.5 s"
    );
}

#[test]
fn what_is_no_body_is_refused() {
    let shape = |shape: &str| scene(&body(shape)).unwrap_err();
    assert!(
        shape("capsule = { from_m = [0, 0, 0], to_m = [0, 0, 0], radius_m = 1 }")
            .contains("to_m: found [0, 0, 0]")
    );
    assert!(shape("plane = { point_m = [0, 0, 0], normal = [0, 0, 0] }").contains("not the zero vector"));
    assert!(shape("mesh = { path = \"nowhere.obj\" }").contains("bodies.0.shape.mesh.path: found "));
    let inside_out = body("plane = { point_m = [0, 0, 0], normal = [0, 1, 0] }") + "side = \"inside\"\n";
    assert!(scene(&inside_out).unwrap_err().contains("bodies.0.side: found \"inside\""));
    let ball = body("sphere = { centre_m = [0.8, 0.8, 0.8], radius_m = 0.1 }");
    assert!(scene(&(ball.clone() + &ball)).unwrap_err().contains("bodies.1.name: found \"it\" again"));
    let bouncy = ball + "restitution = 0.5\n";
    assert!(scene(&bouncy).unwrap_err().contains("expected it with solver.kind = \"dem\" only"));
    let friction = minimal(&["domain.friction={x_min=-1}"]).unwrap_err().to_string();
    assert!(friction.contains("domain.friction.x_min: found -1"), "{friction}");
}

#[test]
fn a_mesh_that_is_not_closed_is_no_body() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("open.obj");
    std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n").unwrap();
    let lines = body(&format!(
        "mesh = {{ path = {:?}, offset_m = [0.6, 0.6, 0.6], scale = 0.2 }}",
        path.display().to_string()
    ));
    let error = scene(&lines).unwrap_err();
    assert!(error.starts_with("bodies.toml:16:"), "{error}");
    assert!(
        error.contains("bodies.0.shape.mesh.path: found ") && error.contains("closed surface"),
        "{error}"
    );
}
