//! Tests of bodies that have no effect, of meshes in other units, and of meshes that face the wrong side.

use frazil_scene::Scene;

use crate::dem::{grains, slope};
use crate::minimal;
use crate::mpm::solid;

/// Returns the OBJ text of a box, whose triangles face outward or inward.
fn cuboid(low: [f64; 3], high: [f64; 3], is_outward: bool) -> String {
    let corner = |k: usize| {
        let [x, y, z] = std::array::from_fn(|i| if k >> i & 1 == 1 { high[i] } else { low[i] });
        format!("v {x} {y} {z}\n")
    };
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let face = |mut f: [usize; 4]| {
        if !is_outward {
            f.reverse();
        }
        let f = f.map(|k| k + 1);
        format!("f {} {} {} {}\n", f[0], f[1], f[2], f[3])
    };
    (0..8).map(corner).chain(faces.map(face)).collect()
}

/// A folder with a mesh file.
struct Mesh {
    _folder: tempfile::TempDir,
    path: String,
}

fn mesh(text: &str) -> Mesh {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.obj");
    std::fs::write(&path, text).unwrap();
    Mesh { path: path.display().to_string(), _folder: folder }
}

fn warnings(scene: &Scene) -> Vec<String> {
    let advice = scene.thorough_advice(&scene.sample().unwrap());
    advice.into_iter().filter(|advice| advice.key.starts_with("bodies")).map(|a| a.message).collect()
}

/// Returns the warnings about a mesh body in the unit box with particles around (0.3, 0.3, 0.3).
fn of_mesh(text: &str, more: &str) -> Vec<String> {
    let mesh = mesh(text);
    let body = format!("bodies=[{{name='it',shape={{mesh={{path='{}'{more}}}}}}}]", mesh.path);
    warnings(&minimal(&[&body]).unwrap())
}

#[test]
fn meshes_outside_of_the_domain_and_in_other_units_are_warned_about() {
    let house = cuboid([0.6, 0.6, 0.6], [0.9, 0.8, 0.9], true);
    assert_eq!(of_mesh(&house, ""), Vec::<String>::new());
    // Fifty metres away.
    let found = of_mesh(&house, ",offset_m=[50,0,0]");
    let expected = "lies outside the domain, where no particle is: it has no effect; it extends from [50.6, 0.6, \
                    0.6] m to [50.9, 0.8, 0.9] m, the domain from [0, 0, 0] m to [1, 1, 1] m";
    assert_eq!(found, [expected]);
    for (unit, hint) in [
        (1e-3, "; scale = 0.001, of a file in millimetres, would put it into the domain"),
        (1e-2, "scale = 0.01, of a file in centimetres,"),
        (0.0254, "scale = 0.0254, of a file in inches,"),
        (0.3048, "scale = 0.3048, of a file in feet,"),
    ] {
        let in_unit = cuboid([0.6, 0.6, 0.6].map(|x| x / unit), [0.9, 0.8, 0.9].map(|x| x / unit), true);
        let found = of_mesh(&in_unit, "");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("lies outside the domain") && found[0].contains(hint), "{found:?}");
        assert_eq!(of_mesh(&in_unit, &format!(",scale={unit}")), Vec::<String>::new());
    }
    // In metres, but taken for millimetres.
    let found = of_mesh(&house, ",scale=0.001");
    assert!(found[0].starts_with("is only 0.0003 m in extent, 0.003 of a particle's 0.1 m"), "{found:?}");
    assert!(found[0].contains("; scale = 1, of a file in metres, would put it into the domain"), "{found:?}");
    // 1e-7 m in the middle of the domain.
    let found = of_mesh(&cuboid([0.0; 3], [1e-7; 3], true), ",offset_m=[0.6,0.6,0.6]");
    assert!(
        found[0].starts_with("is only 1.0e-7 m in") || found[0].starts_with("is only 1e-7 m"),
        "{found:?}"
    );
    // A body whose bounds hold the domain, but whose surface does not: a frame around it.
    let frame = cuboid([-9.0; 3], [9.0; 3], true);
    let mesh = mesh(&frame);
    let container = format!("bodies=[{{side='inside',shape={{mesh={{path='{}'}}}}}}]", mesh.path);
    let found = warnings(&minimal(&[&container]).unwrap());
    assert!(found[0].starts_with("does not come into the domain, which is in its bounds"), "{found:?}");
    // A solid one has all particles in it, and is refused with the same hint.
    let in_mm = cuboid([-100.0; 3], [900.0; 3], true);
    let path = self::mesh(&in_mm);
    let body = format!("bodies=[{{shape={{mesh={{path='{}',offset_m=[0.1,0.1,0.1]}}}}}}]", path.path);
    let error = minimal(&[&body]).unwrap().sample().unwrap_err().to_string();
    assert!(error.contains("8 of 8 particles inside bodies.0"), "{error}");
    assert!(
        error.ends_with("; scale = 0.001, of a file in millimetres, would put it into the domain"),
        "{error}"
    );
}

#[test]
fn other_bodies_and_moving_ones_are_warned_about() {
    let of = |body: &str| warnings(&minimal(&[&format!("bodies=[{{{body}}}]")]).unwrap());
    let far = "shape={box={centre_m=[5,0.5,0.5],size_m=[1,1,1]}}";
    assert!(of(far)[0].contains("it extends from [4.5, 0, 0] m to [5.5, 1, 1] m"), "{:?}", of(far));
    // It comes in, or it does not.
    let to = |v: f64| format!("{far},motion={{uniform={{velocity_m_s=[{v},0,0]}}}}");
    assert_eq!(of(&to(-4.0)), Vec::<String>::new());
    assert!(
        of(&to(4.0))[0].contains("it extends, with all of its motion, from [4.5, 0, 0] m to [9.5, 1, 1] m")
    );
    let swings = |a: f64| format!("{far},motion={{oscillating={{amplitude_m=[{a},0,0],frequency_hz=1}}}}");
    assert_eq!((of(&swings(4.0)).len(), of(&swings(3.0)).len()), (0, 1));
    let spins = "shape={sphere={centre_m=[3,0.5,0.5],radius_m=0.1}},\
                 motion={spinning={point_m=[POINT,0.5,0.5],angular_velocity_rad_s=[0,0,1]}}";
    assert_eq!((of(&spins.replace("POINT", "2")).len(), of(&spins.replace("POINT", "3")).len()), (0, 1));
    let keys = |x: f64| {
        format!(
            "{far},motion={{keyframed={{pivot_m=[5,0.5,0.5],keys=[{{time_s=0}},{{time_s=1,offset_m=[{x},0,0]}}]}}}}"
        )
    };
    assert_eq!((of(&keys(-4.0)).len(), of(&keys(-3.0)).len()), (0, 1));
    let tiny = of("shape={sphere={centre_m=[0.7,0.7,0.7],radius_m=1e-4}}");
    assert!(tiny[0].starts_with("is only 0.0002 m in extent, 0.002 of a particle's 0.1 m"), "{tiny:?}");
    let small = of("shape={sphere={centre_m=[0.7,0.7,0.7],radius_m=0.01}}");
    assert_eq!(small, Vec::<String>::new());
}

#[test]
fn meshes_that_face_the_wrong_side_are_turned_and_reported() {
    let low = [0.6, 0.6, 0.6];
    let (sound, inward) = (cuboid(low, [0.9; 3], true), cuboid(low, [0.9; 3], false));
    let expected = "all 12 triangles faced inward, and were turned outward";
    let note = |scene: &Scene, key: &str| {
        let advice = scene.advice();
        let found: Vec<_> = advice.iter().filter(|advice| advice.key == key).collect();
        found.first().map(|advice| advice.message.rsplit_once("it.obj: ").unwrap().1.to_owned())
    };
    for (text, is_noted) in [(&sound, false), (&inward, true)] {
        let expected = is_noted.then(|| expected.to_owned());
        let mesh = mesh(text);
        // Bodies.
        let scene = minimal(&[&format!("bodies=[{{shape={{mesh={{path='{}'}}}}}}]", mesh.path)]).unwrap();
        assert_eq!(note(&scene, "bodies.0.shape.mesh.path"), expected);
        let body = scene.bodies[0].mesh().unwrap();
        let normals = body.triangles().iter().map(|t| {
            let [a, b, c] = t.map(|v| body.vertices()[v as usize]);
            let normal: [f64; 3] = std::array::from_fn(|i| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                (b[j] - a[j]) * (c[k] - a[k]) - (b[k] - a[k]) * (c[j] - a[j])
            });
            (0..3).map(|i| normal[i] * (a[i] - 0.75)).sum::<f64>()
        });
        assert!(normals.into_iter().all(|outward| outward > 0.0));
        // Regions.
        let block = format!("particles=[{{shape.mesh={{path='{}'}},fill='lattice'}}]", mesh.path);
        let scene = solid(&[&block, "domain.max_m=[1,1,1]"]).unwrap();
        assert_eq!(note(&scene, "particles.0.shape.mesh.path"), expected);
        // Slabs.
        let slab = format!(
            "dem.slabs=[{{name='it',shape={{meshes={{paths=['{}'],offset_m=[12,3,9]}}}}}}]",
            mesh.path
        );
        let scene = slope(&[&slab]).unwrap();
        assert_eq!(note(&scene, "dem.slabs.0.shape.meshes.paths.0"), expected);
        assert_eq!(scene.sample_slabs().unwrap().pieces.len(), 1);
    }
}

#[test]
fn regions_and_slabs_in_other_units_are_refused_with_the_scale() {
    let in_mm = mesh(&cuboid([600.0; 3], [900.0; 3], true));
    let block = format!("particles=[{{shape.mesh={{path='{}'}},fill='lattice'}}]", in_mm.path);
    let error = solid(&[&block, "domain.max_m=[1,1,1]"]).unwrap_err().to_string();
    assert!(error.contains("x from 600 m to 900 m"), "{error}");
    assert!(
        error.ends_with("; scale = 0.001, of a file in millimetres, would put it into the domain"),
        "{error}"
    );
    let slab =
        format!("dem.slabs=[{{name='it',shape={{meshes={{paths=['{}'],offset_m=[2,2,9]}}}}}}]", in_mm.path);
    let error = slope(&[&slab, "dem.releases=[]", "particles=[{shape.box={min_m=[1,1,11],max_m=[2,2,12]}}]"])
        .and_then(|scene| scene.sample_slabs().map(drop))
        .unwrap_err()
        .to_string();
    assert!(error.contains("a piece beyond the walls"), "{error}");
    assert!(error.contains("; scale = 0.001, of a file in millimetres,"), "{error}");
}

/// Speeds that nothing in these scenes can have.
#[test]
fn absurd_speeds_are_refused_with_their_reason() {
    let refused = |set: &str, at: &str| {
        let error = at_scene(at, set).expect_err(set).to_string();
        let (_, message) = error.split_once("]}]: ").or(error.split_once(&format!("{set}: "))).unwrap();
        message.to_owned()
    };
    let body = |motion: &str| {
        format!("bodies=[{{shape={{sphere={{centre_m=[0.8,0.8,0.8],radius_m=0.1}}}},motion={{{motion}}}}}]")
    };
    for (at, set, key) in [
        ("pbd", "particles.0.velocity_m_s=[1e9,0,0]".to_owned(), "particles.0.velocity_m_s: found particles"),
        ("dem", "particles.0.velocity_m_s=[0,1e9,0]".to_owned(), "particles.0.velocity_m_s: found particles"),
        (
            "dem",
            "particles.0.angular_velocity_rad_s=[0,0,1e9]".to_owned(),
            "particles.0.angular_velocity_rad_s: found particles",
        ),
        (
            "pbd",
            "particles.0.velocity_gradient_per_s=[[0,1e9,0],[0,0,0],[0,0,0]]".to_owned(),
            "particles.0.velocity_gradient_per_s: found particles",
        ),
        (
            "pbd",
            body("uniform={velocity_m_s=[1e9,0,0]}"),
            "bodies.0.motion.uniform.velocity_m_s: found points of a body",
        ),
        (
            "dem",
            body("spinning={point_m=[0,0,0],angular_velocity_rad_s=[0,0,1e9]}"),
            "bodies.0.motion.spinning.angular_velocity_rad_s: found points of a body",
        ),
        (
            "pbd",
            body("oscillating={amplitude_m=[1,0,0],frequency_hz=1e9}"),
            "bodies.0.motion.oscillating.amplitude_m: found points of a body",
        ),
        (
            "dem",
            body("keyframed={pivot_m=[0,0,0],keys=[{time_s=0},{time_s=1e-9,offset_m=[1,0,0]}]}"),
            "bodies.0.motion.keyframed.keys: found points of a body",
        ),
        ("slab", "dem.slabs.0.velocity_m_s=[1e9,0,0]".to_owned(), "dem.slabs.0.velocity_m_s: found pieces"),
        (
            "slab",
            "dem.releases.0.velocity_m_s=[1e9,0,0]".to_owned(),
            "dem.releases.0.velocity_m_s: found grains",
        ),
    ] {
        let error = at_scene(at, &set).map(drop).expect_err(&set).to_string();
        assert!(error.contains(key), "{error}");
        assert!(error.ends_with("expected at most 100000 m/s, more than any meteor's"), "{error}");
    }
    let error = refused("gravity_m_s2=[0,-1e12,0]", "pbd");
    assert!(error.starts_with("gravity_m_s2: found gravity at which particles fall"), "{error}");
    // Less, but through the whole domain in a step of 0.01 s.
    let error = refused("particles.0.velocity_m_s=[200,0,0]", "pbd");
    assert_eq!(
        error,
        "particles.0.velocity_m_s: found particles that move by up to 2 m in a step of 0.01 s, expected at most \
         the domain's diagonal, 1.732 m in a step: a speed of 173.2 m/s or less, or a step of 0.00866 s or less"
    );
    // Grains that would move by more than a radius end a run in its first step.
    let fast = grains(&["particles.0.velocity_m_s=[90,0,0]", "time.dt_s=0.001"]).unwrap_err().to_string();
    assert!(fast.contains("expected at most the radius of the smallest grain, 0.05 m in a step"), "{fast}");
    assert!(grains(&["particles.0.velocity_m_s=[40,0,0]", "time.dt_s=0.001"]).is_ok());
}

fn at_scene(at: &str, set: &str) -> Result<Scene, frazil_scene::SceneError> {
    let slab =
        "dem.slabs=[{name='it',shape={plate={origin_m=[10,3],size_m=[2,2],thickness_m=0.3,pieces=[2,2]}}}]";
    match at {
        "pbd" => minimal(&[set]),
        "dem" => grains(&[set]),
        _ => slope(&[slab, set]),
    }
}
