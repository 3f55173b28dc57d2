//! Tests of `[[bodies]]` and `domain.friction`: what they may be, and their errors with file, line and key.

use frazil_scene::{Body, BodyMotion, BodyShape, Scene};

use crate::dem::grains;
use crate::minimal;
use crate::mpm::flat;

/// Override that gives a scene of water bodies of all shapes but meshes, with all motions.
pub const ALL_SHAPES: &str = "bodies=[\
    {name='a',shape={plane={point_m=[0,0,0],normal=[0,1,0]}},friction=0.5},\
    {name='b',shape={sphere={centre_m=[0.8,0.8,0.8],radius_m=0.1}},\
     motion={uniform={velocity_m_s=[1,0,0],from_s=0,until_s=1}}},\
    {name='c',shape={box={centre_m=[0.3,0.7,0.3],size_m=[0.2,0.1,0.2],rotation_deg=[0,0,0]}},\
     motion={oscillating={amplitude_m=[0.1,0,0],frequency_hz=1}}},\
    {name='d',shape={cylinder={from_m=[0.8,0.2,0.8],to_m=[0.8,0.7,0.8],radius_m=0.1}},\
     motion={spinning={point_m=[0.8,0,0.8],angular_velocity_rad_s=[0,3,0],until_s=1}}},\
    {name='e',shape={capsule={from_m=[0.1,0.3,0.3],to_m=[0.5,0.3,0.3],radius_m=0.3}},side='inside',\
     motion={keyframed={pivot_m=[0.3,0.3,0.3],keys=[{time_s=0.5},{time_s=1,rotation_deg=[0,0,30]}]}}},\
    {name='f',shape={heightfield={origin_m=[0,0],spacing_m=1,heights_m=[[0,0.1],[0.1,0]]}},sticky=true},\
    {shape={upright_cylinder={foot_m=[0.8,0.3],radius_m=0.1,height_m=0.2}}}]";

/// Loads a scene of eight particles around (0.3, 0.3, 0.3) m in a box of 1 m, followed by `lines`, which
/// begin in line 14.
fn scene(lines: &str) -> Result<Scene, String> {
    let text = format!(
        "version = 1\nname = \"bodies\"\nup_axis = \"y\"\n[time]\ndt_s = 0.001\nduration_s = 1.0\n\
         [fluid]\nparticle_spacing_m = 0.1\n[domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [1.0, 1.0, 1.0]\n\
         [[particles]]\nshape.box = {{ min_m = [0.2, 0.2, 0.2], max_m = [0.4, 0.4, 0.4] }}\n{lines}"
    );
    Scene::parse(&text, "bodies.toml", &[]).map_err(|error| error.to_string())
}

/// Returns the lines of a body of this shape.
fn body(shape: &str) -> String {
    format!("[[bodies]]\nname = \"it\"\nshape.{shape}\n")
}

#[test]
fn bodies_of_all_shapes_and_motions_read_back() {
    let scene = minimal(&[ALL_SHAPES, "domain.friction={x_min=0,z_max=0.5}"]).unwrap();
    let names = |bodies: &[Body]| -> Vec<(&'static str, &'static str)> {
        let motion = |body: &Body| body.motion.as_ref().map_or("", BodyMotion::name);
        bodies.iter().map(|body| (body.shape.name(), motion(body))).collect()
    };
    assert_eq!(
        names(&scene.bodies),
        [
            ("plane", ""),
            ("sphere", "uniform"),
            ("box", "oscillating"),
            ("cylinder", "spinning"),
            ("capsule", "keyframed"),
            ("heightfield", ""),
            ("upright_cylinder", "")
        ]
    );
    let json = serde_json::to_string(&scene).unwrap();
    assert_eq!(Scene::from_json(&json, "run.json").unwrap(), scene);
    assert_eq!(Scene::parse(&toml::to_string(&scene).unwrap(), "written", &[]).unwrap(), scene);
    assert_eq!(scene.sample().unwrap().len(), 8);
    let faces = scene.domain.friction.unwrap().faces();
    assert_eq!(faces, [[Some(0.0), None, None], [None, None, Some(0.5)]]);
}

#[test]
fn tables_of_keyframes_are_read() {
    let lines = body("box = { centre_m = [0.3, 0.7, 0.3], size_m = [0.2, 0.1, 0.2] }")
        + "motion.keyframed.pivot_m = [0.3, 0.7, 0.3]\n\
           [[bodies.motion.keyframed.keys]]\ntime_s = 0.5\n\
           [[bodies.motion.keyframed.keys]]\ntime_s = 0.8\noffset_m = [0.1, 0.0, 0.0]\n";
    let scene = scene(&lines).unwrap();
    let Some(BodyMotion::Keyframed { keys, .. }) = &scene.bodies[0].motion else { panic!("no keyframes") };
    assert_eq!(keys.iter().map(|key| key.time_s).collect::<Vec<_>>(), [0.5, 0.8]);
    assert_eq!((keys[1].offset_m, keys[1].rotation_deg), ([0.1, 0.0, 0.0], [0.0; 3]));
}

#[test]
fn a_body_that_overlaps_particles_at_the_start_is_refused_with_its_line() {
    let refusal = |lines: &str| scene(lines).unwrap().sample().unwrap_err().to_string();
    let shapes = [
        ("plane = { point_m = [0.3, 0.3, 0.3], normal = [1, 0, 0] }", 4),
        ("sphere = { centre_m = [0.25, 0.25, 0.25], radius_m = 0.05 }", 1),
        ("box = { centre_m = [0.25, 0.3, 0.3], size_m = [0.05, 0.2, 0.2], rotation_deg = [90, 0, 0] }", 4),
        ("cylinder = { from_m = [0.25, 0.25, 0.0], to_m = [0.25, 0.25, 0.3], radius_m = 0.05 }", 1),
        ("capsule = { from_m = [0.25, 0.25, 0.0], to_m = [0.25, 0.25, 0.3], radius_m = 0.06 }", 2),
        ("heightfield = { origin_m = [0, 0], spacing_m = 1, heights_m = [[0.3]] }", 4),
        ("upright_cylinder = { foot_m = [0.25, 0.25], radius_m = 0.05, height_m = 0.3 }", 1),
    ];
    for (shape, n) in shapes {
        assert_eq!(
            refusal(&body(shape)),
            format!(
                "bodies.toml:13:1: particles.0.shape: found {n} of 8 particles inside bodies.0, \"it\", \
                 expected particles outside the body at the start"
            ),
            "{shape}"
        );
    }
    let drum = body("cylinder = { from_m = [0.0, 0.3, 0.3], to_m = [0.3, 0.3, 0.3], radius_m = 0.3 }")
        + "side = \"inside\"\n";
    assert_eq!(
        refusal(&drum),
        "bodies.toml:13:1: particles.0.shape: found 4 of 8 particles outside the container bodies.0, \"it\", \
         expected particles inside the container at the start"
    );
}

#[test]
fn bodies_are_where_their_motion_has_them_at_the_start() {
    let refused = |motion: &str| {
        let lines = body("box = { centre_m = [0.3, 0.7, 0.3], size_m = [0.2, 0.2, 0.2] }") + motion;
        scene(&lines).unwrap().sample().err().map_or("none".to_owned(), |error| error.to_string())
    };
    assert_eq!(refused(""), "none");
    let swing = |phase_deg: f64| {
        let motion = "amplitude_m = [0.0, 0.4, 0.0], frequency_hz = 1.0";
        refused(&format!("motion.oscillating = {{ {motion}, phase_deg = {phase_deg} }}\n"))
    };
    assert!(swing(-90.0).contains("8 of 8 particles inside bodies.0"));
    assert_eq!((swing(0.0).as_str(), swing(90.0).as_str()), ("none", "none"));
    // A quarter turn about the block takes the box to x = −0.1 m, and the displacement to x = 0.
    let key = "{ time_s = 0.5, offset_m = [0.1, 0.0, 0.0], rotation_deg = [0.0, 0.0, 90.0] }";
    let turned = format!("motion.keyframed = {{ pivot_m = [0.3, 0.3, 0.3], keys = [{key}] }}\n");
    assert_eq!(refused(&turned), "none");
    assert!(refused(&turned.replace("0.1, 0.0, 0.0", "0.4, 0.0, 0.0")).contains("8 of 8 particles"));
    // These start from the pose in the file.
    assert_eq!(refused("motion.uniform = { velocity_m_s = [0.0, -9.0, 0.0] }\n"), "none");
    let spin = "{ point_m = [0.3, 0.3, 0.3], angular_velocity_rad_s = [0.0, 0.0, 9.0] }";
    assert_eq!(refused(&format!("motion.spinning = {spin}\n")), "none");
}

#[test]
fn a_keyframe_that_goes_back_in_time_is_refused_with_its_line() {
    let lines = body("box = { centre_m = [0.3, 0.7, 0.3], size_m = [0.2, 0.1, 0.2] }")
        + "motion.keyframed.pivot_m = [0.3, 0.7, 0.3]\n\
           [[bodies.motion.keyframed.keys]]\ntime_s = 0.5\n\
           [[bodies.motion.keyframed.keys]]\ntime_s = 0.25\n";
    assert_eq!(
        scene(&lines).unwrap_err(),
        "bodies.toml:21:1: bodies.0.motion.keyframed.keys.1.time_s: found 0.25 s, expected a time after that \
         of the previous keyframe, 0.5 s"
    );
    let none = minimal(&["bodies=[{name='a',shape={sphere={centre_m=[0.8,0.8,0.8],radius_m=0.1}},\
         motion={keyframed={pivot_m=[0,0,0],keys=[]}}}]"]);
    let error = none.unwrap_err().to_string();
    assert!(error.ends_with("keyframed.keys: found no keyframes, expected at least one"), "{error}");
}

#[test]
fn sizes_of_zero_are_refused_with_their_line() {
    for (shape, message) in [
        (
            "sphere = { centre_m = [0.8, 0.8, 0.8], radius_m = 0 }",
            "16:46: bodies.0.shape.sphere.radius_m: found 0, expected a positive number of metres",
        ),
        (
            "box = { centre_m = [0.8, 0.8, 0.8], size_m = [0.1, 0.0, 0.1] }",
            "16:58: bodies.0.shape.box.size_m.1: found 0, expected a positive number of metres",
        ),
        (
            "capsule = { from_m = [0, 0, 0], to_m = [0, 0, 0], radius_m = 1 }",
            "16:39: bodies.0.shape.capsule.to_m: found [0, 0, 0], expected a point other than from_m, \
             because the axis is the line between them",
        ),
        (
            "cylinder = { from_m = [0, 0, 0], to_m = [0, 1, 0], radius_m = nan }",
            "16:58: bodies.0.shape.cylinder.radius_m: found nan, expected a positive number of metres",
        ),
        (
            "plane = { point_m = [0, 0, 0], normal = [0, 0, 0] }",
            "16:38: bodies.0.shape.plane.normal: found [0, 0, 0], expected a direction, not the zero vector",
        ),
        (
            "heightfield = { origin_m = [0, 0], spacing_m = -1, heights_m = [[0]] }",
            "16:42: bodies.0.shape.heightfield.spacing_m: found -1, expected a positive number of metres",
        ),
        (
            "heightfield = { origin_m = [0, 0], spacing_m = 1 }",
            "16:7: bodies.0.shape.heightfield.heights_m: found no heights, expected at least one row of at \
             least one height",
        ),
    ] {
        assert_eq!(scene(&body(shape)).unwrap_err(), format!("bodies.toml:{message}"));
    }
}

#[test]
fn a_container_without_an_inside_is_refused() {
    let plane = body("plane = { point_m = [0, 0, 0], normal = [0, 1, 0] }") + "side = \"inside\"\n";
    assert_eq!(
        scene(&plane).unwrap_err(),
        "bodies.toml:17:1: bodies.0.side: found \"inside\", expected \"outside\", because a plane has no \
         inside that could hold particles"
    );
    let ground =
        body("heightfield = { origin_m = [0, 0], spacing_m = 1, heights_m = [[0]] }") + "side = \"inside\"\n";
    assert!(scene(&ground).unwrap_err().contains("because a heightfield has no inside"));
    let trunk =
        body("upright_cylinder = { foot_m = [0, 0], radius_m = 1, height_m = 1 }") + "side = \"inside\"\n";
    assert!(scene(&trunk).unwrap_err().contains("because an upright cylinder has no inside"));
}

#[test]
fn names_of_bodies_are_unique() {
    let ball = body("sphere = { centre_m = [0.8, 0.8, 0.8], radius_m = 0.1 }");
    assert_eq!(
        scene(&(ball.clone() + &ball)).unwrap_err(),
        "bodies.toml:18:1: bodies.1.name: found \"it\" again, expected each name once"
    );
    let unnamed = scene(&ball.replace("\"it\"", "\" \"")).unwrap_err();
    assert!(
        unnamed.starts_with("bodies.toml:15:1: bodies.0.name: found \" \", expected a name"),
        "{unnamed}"
    );
    // Any number of bodies may have none.
    let anonymous = ball.replace("name = \"it\"\n", "");
    assert_eq!(scene(&(anonymous.clone() + &anonymous)).unwrap().bodies[1].name, None);
}

#[test]
fn a_mesh_that_is_not_closed_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("open.obj");
    let closed = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let at = |offset_m: f64| {
        let place = format!("offset_m = [{offset_m}, {offset_m}, {offset_m}], scale = 0.2");
        body(&format!("mesh = {{ path = '{}', {place} }}", path.display()))
    };
    std::fs::write(&path, closed.replace("f 2 3 4\n", "")).unwrap();
    let error = scene(&at(0.6)).unwrap_err();
    assert!(error.starts_with("bodies.toml:16:16: bodies.0.shape.mesh.path: found "), "{error}");
    let problem = "open.obj: an open edge from [0, 1, 0] to [1, 0, 0], of triangle 1 of 3, expected an OBJ, \
                   STL or PLY file of a closed surface";
    assert!(error.ends_with(problem), "{error}");
    // A closed mesh is read, and no particle may start inside.
    std::fs::write(&path, closed).unwrap();
    let found = scene(&at(0.6)).unwrap();
    assert_eq!(found.bodies[0].mesh().unwrap().triangles().len(), 4);
    assert_eq!(found.sample().unwrap().len(), 8);
    let error = scene(&at(0.2)).unwrap().sample().unwrap_err().to_string();
    assert!(error.contains("1 of 8 particles inside bodies.0"), "{error}");
    let missing = scene(&body("mesh = { path = \"nowhere.obj\" }")).unwrap_err();
    assert!(missing.starts_with("bodies.toml:16:16: bodies.0.shape.mesh.path: found "), "{missing}");
}

#[test]
fn heights_come_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heights.asc");
    std::fs::write(&path, "ncols 2\nnrows 2\ncellsize 1\n0.05 0.1\n0.15 0.2\n").unwrap();
    let field = format!("heightfield = {{ origin_m = [0, 0], spacing_m = 1, file = '{}' }}", path.display());
    let found = scene(&body(&field)).unwrap();
    let BodyShape::Heightfield { heights_m, file, .. } = &found.bodies[0].shape else { panic!("no heights") };
    assert_eq!((heights_m, file), (&vec![vec![0.05, 0.1], vec![0.15, 0.2]], &None));
}

#[test]
fn unsupported_body_features_are_refused() {
    let ball = "shape={sphere={centre_m=[0.8,0.8,0.8],radius_m=0.1}}";
    let with = |more: &str| format!("bodies=[{{name='it',{ball},{more}}}]");
    let bouncy = with("restitution=0.5");
    let error = minimal(&[&bouncy]).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "bodies.0.restitution: found 0.5 in a scene of solver.kind = \"pbd\", expected it with \
             solver.kind = \"dem\" only, because other contacts are inelastic"
        ),
        "{error}"
    );
    assert_eq!(grains(&[&bouncy]).unwrap().bodies[0].restitution, Some(0.5));
    let error = grains(&[&with("restitution=1.5")]).unwrap_err().to_string();
    assert!(error.ends_with("found 1.5, expected a number above 0 and up to 1"), "{error}");
    let sticky = grains(&[&with("sticky=true")]).unwrap_err().to_string();
    assert!(sticky.contains("bodies.0.sticky: found true"), "{sticky}");
    let error = minimal(&[&with("friction=-0.1")]).unwrap_err().to_string();
    assert!(error.ends_with("bodies.0.friction: found -0.1, expected a number from 0 to 100"), "{error}");
    let error = minimal(&["domain.friction={x_min=-1}"]).unwrap_err().to_string();
    assert!(error.ends_with("domain.friction.x_min: found -1, expected a number from 0 to 100"), "{error}");
    let error = grains(&["domain.friction={z_max=101}"]).unwrap_err().to_string();
    assert!(error.ends_with("domain.friction.z_max: found 101, expected a number from 0 to 100"), "{error}");
}

#[test]
fn grains_do_not_start_in_bodies() {
    let message = |bodies: &str| grains(&[bodies]).unwrap().sample().unwrap_err().to_string();
    let house = "bodies=[{name='house',shape={box={centre_m=[0.45,0.3,0.3],size_m=[0.12,1,1]}}}]";
    let found = message(house);
    assert!(found.contains("4 of 8 grains inside bodies.0, \"house\""), "{found}");
    assert!(found.ends_with("expected grains outside the body at the start"), "{found}");
    let jar = "bodies=[{name='jar',side='inside',shape={sphere={centre_m=[0.3,0.3,0.3],radius_m=0.05}}}]";
    let found = message(jar);
    assert!(found.contains("8 of 8 grains outside the container bodies.0, \"jar\""), "{found}");
}

#[test]
fn bodies_of_a_scene_of_two_dimensions_stay_in_the_plane() {
    let refusal = |body: &str| flat(&[&format!("bodies=[{{name='it',{body}}}]")]).unwrap_err().to_string();
    let ball = "shape={sphere={centre_m=[0.7,0.7,0],radius_m=0.05}}";
    for (body, found) in [
        ("shape={plane={point_m=[0,0,0],normal=[0,1,1]}}", "plane.normal: found [0, 1, 1], expected a third"),
        (
            "shape={box={centre_m=[0,0,0],size_m=[1,1,1],rotation_deg=[5,0,0]}}",
            "rotation_deg: found [5, 0, 0], expected [0, 0, turn about z]",
        ),
        (
            "shape={capsule={from_m=[0,0,0],to_m=[0,1,0],radius_m=1}}",
            "capsule: found a capsule, expected a plane, sphere, box or heightfield, because mpm.dimensions",
        ),
        (
            "shape={upright_cylinder={foot_m=[0,0],radius_m=1,height_m=1}}",
            "upright_cylinder: found an upright cylinder, expected a plane",
        ),
        ("shape={heightfield={origin_m=[0,0],spacing_m=1,heights_m=[[0],[0]]}}", "expected one row"),
        (
            format!("{ball},motion={{spinning={{point_m=[0,0,0],angular_velocity_rad_s=[1,0,0]}}}}").as_str(),
            "spinning.angular_velocity_rad_s: found [1, 0, 0], expected [0, 0, rate about z]",
        ),
        (
            format!("{ball},motion={{oscillating={{amplitude_m=[0,0,1],frequency_hz=1}}}}").as_str(),
            "oscillating.amplitude_m: found [0, 0, 1], expected a third component of 0",
        ),
        (
            format!("{ball},motion={{keyframed={{pivot_m=[0,0,0],keys=[{{time_s=0,offset_m=[0,0,1]}}]}}}}")
                .as_str(),
            "keyframed.keys.0.offset_m: found [0, 0, 1], expected a third component of 0",
        ),
    ] {
        let error = refusal(body);
        assert!(error.contains(found), "{error}");
    }
}

#[test]
fn moving_bodies_limit_the_time_step() {
    let fastest = |motion: &str| {
        let ball = "name='it',shape={sphere={centre_m=[0.7,0.7,0],radius_m=0.05}}";
        let body = format!("bodies=[{{{ball},motion={{{motion}}}}}]");
        flat(&[&body, "gravity_m_s2=[0,0,0]"]).unwrap().derived_mpm().unwrap().fastest_m_s
    };
    let near = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} and {expected}");
    };
    near(fastest("uniform={velocity_m_s=[30,40,0]}"), 50.0);
    near(fastest("oscillating={amplitude_m=[3,4,0],frequency_hz=2}"), std::f64::consts::TAU * 2.0 * 5.0);
    // The farthest corner of the domain, of 0.8 m, from the pivot.
    near(fastest("spinning={point_m=[0.8,-0.6,0],angular_velocity_rad_s=[0,0,100]}"), 100.0 * 2.6_f64.sqrt());
    let keys = "keys=[{time_s=0},{time_s=0.5,offset_m=[30,0,0]},{time_s=0.6,offset_m=[30,40,0]}]";
    near(fastest(&format!("keyframed={{pivot_m=[0,0,0],{keys}}}")), 400.0);
    let keys = "keys=[{time_s=1},{time_s=1.01,rotation_deg=[0,0,180]}]";
    let turn = std::f64::consts::PI * 2.0_f64.sqrt() * 0.8 / 0.01;
    assert!((fastest(&format!("keyframed={{pivot_m=[0,0,0],{keys}}}")) / turn - 1.0).abs() < 1e-9);
}

#[test]
fn bodies_are_scaled_at_the_same_speed() {
    let scene = minimal(&[ALL_SHAPES, "scale=2"]).unwrap();
    let BodyShape::Capsule { from_m, radius_m, .. } = scene.bodies[4].shape else { panic!("no capsule") };
    assert_eq!((from_m, radius_m), ([0.2, 0.6, 0.6], 0.6));
    let BodyShape::Heightfield { spacing_m, heights_m, .. } = &scene.bodies[5].shape else { panic!() };
    assert_eq!((*spacing_m, heights_m.as_slice()), (2.0, &[vec![0.0, 0.2], vec![0.2, 0.0]][..]));
    let BodyShape::UprightCylinder { foot_m, radius_m, height_m } = scene.bodies[6].shape else { panic!() };
    assert_eq!((foot_m, radius_m, height_m), ([1.6, 0.6], 0.2, 0.4));
    let motion = |idx: usize| scene.bodies[idx].motion.clone().unwrap();
    let BodyMotion::Uniform(uniform) = motion(1) else { panic!() };
    assert_eq!((uniform.velocity_m_s, uniform.until_s), ([1.0, 0.0, 0.0], Some(2.0)));
    let BodyMotion::Oscillating { amplitude_m, frequency_hz, .. } = motion(2) else { panic!() };
    assert_eq!((amplitude_m, frequency_hz), ([0.2, 0.0, 0.0], 0.5));
    let BodyMotion::Spinning { point_m, angular_velocity_rad_s, until_s, .. } = motion(3) else { panic!() };
    assert_eq!((point_m, angular_velocity_rad_s, until_s), ([1.6, 0.0, 1.6], [0.0, 1.5, 0.0], Some(2.0)));
    let BodyMotion::Keyframed { pivot_m, keys } = motion(4) else { panic!() };
    assert_eq!((pivot_m, keys[1].time_s, keys[1].rotation_deg), ([0.6; 3], 2.0, [0.0, 0.0, 30.0]));
}

#[test]
fn a_dynamic_body_needs_a_name_a_volume_and_one_mass() {
    let ball = "shape={sphere={centre_m=[0.8,0.8,0.8],radius_m=0.1}}";
    let error = |body: &str| {
        minimal(&[&format!("bodies=[{{{body}}}]")])
            .map_or_else(|error| error.to_string(), |_| "none".to_owned())
    };
    assert_eq!(error(&format!("name='a',{ball},motion={{dynamic={{density_kg_m3=500}}}}")), "none");
    for (body, message) in [
        (
            format!("{ball},motion={{dynamic={{density_kg_m3=500}}}}"),
            "bodies.0.motion.dynamic: found a dynamic body without a name, expected it with a key \"name\" of \
             the body",
        ),
        (
            format!("name='a',{ball},motion={{dynamic={{}}}}"),
            "bodies.0.motion.dynamic: found no mass, expected density_kg_m3 or mass_kg",
        ),
        (
            format!("name='a',{ball},motion={{dynamic={{density_kg_m3=500,mass_kg=1}}}}"),
            "bodies.0.motion.dynamic: found density_kg_m3 and mass_kg, expected density_kg_m3 or mass_kg",
        ),
        (
            format!("name='a',{ball},motion={{dynamic={{mass_kg=0}}}}"),
            "bodies.0.motion.dynamic.mass_kg: found 0, expected a positive number of kg",
        ),
        (
            format!("name='a',side='inside',{ball},motion={{dynamic={{mass_kg=1}}}}"),
            "bodies.0.motion.dynamic: found a container, expected a solid sphere, box, cylinder, capsule or \
             mesh, which have a mass",
        ),
        (
            "name='a',shape={plane={point_m=[0,0,0],normal=[0,1,0]}},motion={dynamic={mass_kg=1}}".to_owned(),
            "bodies.0.motion.dynamic: found a plane, expected a solid sphere, box, cylinder, capsule or mesh, \
             which have a mass",
        ),
        (
            format!("name='a',{ball},motion={{dynamic={{mass_kg=1,velocity_m_s=[0,nan,0]}}}}"),
            "bodies.0.motion.dynamic.velocity_m_s: found [0, nan, 0], expected three finite numbers of m/s, at \
             most 1e18",
        ),
    ] {
        let found = error(&body);
        assert!(found.ends_with(message), "{found}, not {message}");
    }
}

#[test]
fn a_dynamic_body_that_overlaps_at_the_start_is_refused_with_the_depth() {
    let error = |shape: &str| {
        let ball = "{name='ball',shape={sphere={centre_m=[0.8,0.8,0.8],radius_m=0.1}}}";
        let body = format!("{{name='it',shape={{{shape}}},motion={{dynamic={{mass_kg=1}}}}}}");
        minimal(&[&format!("bodies=[{ball},{body}]")])
            .map_or_else(|error| error.to_string(), |_| "none".to_owned())
    };
    // In contact.
    assert_eq!(error("sphere={centre_m=[0.8,0.6,0.8],radius_m=0.1}"), "none");
    assert_eq!(error("box={centre_m=[0.2,0.05,0.8],size_m=[0.1,0.1,0.1]}"), "none");
    for (shape, message) in [
        (
            "sphere={centre_m=[0.8,0.65,0.8],radius_m=0.1}",
            "bodies.1.shape.sphere: found a sphere 0.05 m deep in bodies.0, \"ball\", expected a dynamic body \
             that is apart from others at the start",
        ),
        (
            "box={centre_m=[0.2,0.04,0.8],size_m=[0.1,0.1,0.1]}",
            "bodies.1.shape.box: found a box 0.01 m deep in the face y_min of the domain, expected a dynamic \
             body that is apart from others at the start",
        ),
    ] {
        let found = error(shape);
        assert!(found.ends_with(message), "{found}, not {message}");
    }
}

#[test]
fn dynamic_bodies_are_refused_where_their_load_is_unknown() {
    let ball = "bodies=[{name='a',shape={sphere={centre_m=[0.75,0.2,0.45],radius_m=0.05}},\
        motion={dynamic={mass_kg=1}}}]"
        .to_owned();
    let error = |name: &str, more: &[&str]| {
        let overrides: Vec<String> = more.iter().map(|o| (*o).to_owned()).chain([ball.clone()]).collect();
        Scene::find(name, &overrides).map_or_else(|error| error.to_string(), |_| "none".to_owned())
    };
    assert_eq!(error("snowballs_3d", &[]), "none");
    assert!(
        error("snowballs_16", &[]).contains("found a dynamic body, expected dynamic bodies with mpm.dimen")
    );
    let implicit = error("snowballs_3d", &["mpm.implicit={}"]);
    assert!(implicit.contains("found a dynamic body with a semi-implicit step"), "{implicit}");
    let ball = |k: usize| {
        format!(
            "{{name='b{k}',shape={{sphere={{centre_m=[0.8,0.8,0.8],radius_m=0.1}}}},motion={{dynamic={{mass_kg=1}}}}}}"
        )
    };
    let many: Vec<String> = (0..129).map(ball).collect();
    let error = minimal(&[&format!("bodies=[{}]", many.join(","))]).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "bodies.128: found 129 dynamic bodies, expected at most 128, whose contacts one \
                             workgroup solves"
        ),
        "{error}"
    );
}

#[test]
fn the_motion_of_a_dynamic_body_cannot_change_while_it_runs() {
    let scene = Scene::find("driftwood", &[]).unwrap();
    let change = |change: &str| {
        scene.with_live(&[change.to_owned()]).map_or_else(|e| e.to_string(), |_| "none".into())
    };
    let stopped = change("bodies.0.motion={uniform={velocity_m_s=[1,0,0]}}");
    assert!(stopped.contains("bodies.0.motion cannot change while the simulation runs"), "{stopped}");
    assert_eq!(change("gravity_m_s2=[1,-9,0]"), "none");
}
