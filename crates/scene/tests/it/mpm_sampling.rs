//! Tests of the sampling of blocks for the material point method.

use std::fs;

use frazil_scene::{Scene, Shape};

use crate::mpm::{flat, solid};

fn total(values: &[f32]) -> f64 {
    values.iter().map(|value| f64::from(*value)).sum()
}

#[test]
fn total_mass_and_volume_match_the_shape_for_any_filling() {
    for (sets, volume) in [
        (&["particles.0.fill=lattice"][..], 0.04),
        (&["particles.0.fill=uniform"], 0.04),
        (&["particles.0.fill=blue_noise"], 0.04),
        (&["particles.0.count=37"], 0.04),
        (&["particles.0.count=500", "particles.0.mass_spread=0.9"], 0.04),
        (
            &["particles.0={shape.circle={centre_m=[0.4,0.4],radius_m=0.2}}", "particles.0.mass_spread=0.3"],
            std::f64::consts::PI * 0.04,
        ),
    ] {
        let sampled = flat(sets).unwrap().sample().unwrap();
        assert!((total(&sampled.volumes_m3) / volume - 1.0).abs() < 1e-6, "{sets:?}");
        assert!((total(&sampled.masses_kg) / (400.0 * volume) - 1.0).abs() < 1e-6, "{sets:?}");
        assert_eq!((sampled.masses_kg.len(), sampled.volumes_m3.len()), (sampled.len(), sampled.len()));
        assert!(sampled.positions_m.iter().all(|point| point[2] == 0.0));
    }
    let sampled = solid(&["particles.0.count=100"]).unwrap().sample().unwrap();
    assert!((total(&sampled.masses_kg) / (400.0 * 0.008) - 1.0).abs() < 1e-6);
}

#[test]
fn lattices_fill_cells_with_as_many_particles_as_the_scene_says() {
    assert_eq!(flat(&[]).unwrap().sample().unwrap().len(), 4 * 4);
    assert_eq!(flat(&["mpm.particles_per_cell=9"]).unwrap().sample().unwrap().len(), 6 * 6);
    assert_eq!(solid(&[]).unwrap().sample().unwrap().len(), 4 * 4 * 4);
    assert_eq!(flat(&["particles.0.count=5000"]).unwrap().sample().unwrap().len(), 5000);
}

#[test]
fn masses_spread_evenly_about_their_mean() {
    let scene = flat(&["particles.0.count=20000", "particles.0.mass_spread=0.5"]).unwrap();
    let masses = scene.sample().unwrap().masses_kg;
    let mean = 400.0 * 0.04 / 20000.0;
    let shares: Vec<f64> = masses.iter().map(|m| f64::from(*m) / mean - 1.0).collect();
    assert!(shares.iter().all(|share| share.abs() < 0.51));
    // The variance of a uniform spread s is s²/3.
    let variance = shares.iter().map(|share| share * share).sum::<f64>() / 20000.0;
    assert!((variance / (0.25 / 3.0) - 1.0).abs() < 0.03, "{variance}");
    assert!((scene.particle_mass_kg() / mean - 1.0).abs() < 1e-12);
}

#[test]
fn a_block_spins_about_its_middle() {
    let sets = ["particles.0.angular_velocity_rad_s=[0,0,2]", "particles.0.velocity_m_s=[1,0,0]"];
    let sampled = flat(&sets).unwrap().sample().unwrap();
    for (x, v) in sampled.positions_m.iter().zip(&sampled.velocities_m_s) {
        let expected = [1.0 - 2.0 * (x[1] - 0.3), 2.0 * (x[0] - 0.3), 0.0];
        assert!((0..3).all(|i| (v[i] - expected[i]).abs() < 1e-6), "{v:?} {expected:?}");
    }
    let sampled = solid(&["particles.0.angular_velocity_rad_s=[0,3,0]"]).unwrap().sample().unwrap();
    let (x, v) = (sampled.positions_m[0], sampled.velocities_m_s[0]);
    assert!((v[0] - 3.0 * (x[2] - 0.3)).abs() < 1e-6 && (v[2] + 3.0 * (x[0] - 0.3)).abs() < 1e-6);
}

#[test]
fn letters_are_filled_in_the_plane_and_in_space() {
    let text = |more: &str| {
        format!(
            "particles.0={{fill='uniform',shape.text={{text='HO',height_m=0.3,origin_m=[0.1,0.2,0]{more}}}}}"
        )
    };
    let scene = flat(&[&text(""), "mpm.particles_per_cell=100"]).unwrap();
    let shape = &scene.particles[0].shape;
    let sampled = scene.sample().unwrap();
    assert!(sampled.len() > 300);
    assert!((total(&sampled.masses_kg) / (400.0 * shape.volume_m3()) - 1.0).abs() < 1e-6);
    assert!(sampled.positions_m.iter().all(|p| shape.contains(p.map(f64::from), -1e-6)));
    let (min, max) = shape.bounds_m();
    assert!(
        min[1] < 0.2 && (max[1] - 0.5).abs() < 0.02,
        "an O is a little more than a capital high: {min:?} {max:?}"
    );

    let scene = solid(&[&text(",depth_m=0.1"), "mpm.particles_per_cell=100"]).unwrap();
    let deep = &scene.particles[0].shape;
    assert!((deep.volume_m3() / (0.1 * shape.volume_m3()) - 1.0).abs() < 1e-12);
    assert!(scene.sample().unwrap().positions_m.iter().all(|p| (0.0..=0.1).contains(&p[2])));

    let error = flat(&[&text(",depth_m=0.1")]).unwrap_err().to_string();
    assert!(error.contains("found text with depth_m, a shape of three dimensions"), "{error}");
    let error = solid(&[&text("")]).unwrap_err().to_string();
    assert!(error.contains("found text without depth_m, a shape of two dimensions"), "{error}");
    let error = flat(&[&text("").replace("HO", "雪")]).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "particles.0.shape.text.text: found no letter '雪', expected letters that the font has"
        ),
        "{error}"
    );
    let error = flat(&[&text("").replace("HO", "")]).unwrap_err().to_string();
    assert!(error.contains("shape.text.text: found nothing to see in \"\", expected letters"), "{error}");
    let font = concat!(",font='", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml'");
    let error = flat(&[&text(font)]).unwrap_err().to_string();
    assert!(
        error.contains("shape.text.font: found /")
            && error.ends_with("Cargo.toml: no valid font, expected a TTF or OTF file"),
        "{error}"
    );
    let error = flat(&[&text(",font='nowhere.ttf'")]).unwrap_err().to_string();
    assert!(
        error.contains("nowhere.ttf: No such file") && error.contains("expected a TTF or OTF file"),
        "{error}"
    );
}

/// A tetrahedron with its right angle at the origin, in the three formats.
const OBJ: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
const PLY: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty \
                   float z\nelement face 4\n\
                   property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 \
                   1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";

fn stl() -> String {
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut text = "solid t\n".to_owned();
    for face in [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
        text += "facet normal 0 0 0\nouter loop\n";
        for [x, y, z] in face.map(|corner: usize| corners[corner]) {
            text += &format!("vertex {x} {y} {z}\n");
        }
        text += "endloop\nendfacet\n";
    }
    text + "endsolid t\n"
}

fn mesh(path: &str, more: &[&str]) -> Result<Scene, frazil_scene::SceneError> {
    let block = format!(
        "particles.0={{fill='uniform',shape.mesh={{path='{path}',scale=0.6,offset_m=[0.1,0.1,0.1]}}}}"
    );
    solid(&[&[block.as_str()], more].concat())
}

#[test]
fn meshes_of_three_formats_are_filled() {
    let directory = tempfile::tempdir().unwrap();
    let mut found = Vec::new();
    for (name, text) in [("t.obj", OBJ.to_owned()), ("t.PLY", PLY.to_owned()), ("t.stl", stl())] {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        let scene =
            mesh(path.to_str().unwrap(), &["mpm.particles_per_cell=50"]).unwrap_or_else(|e| panic!("{e}"));
        assert!((scene.particles[0].shape.volume_m3() / (0.216 / 6.0) - 1.0).abs() < 1e-12);
        let sampled = scene.sample().unwrap();
        assert_eq!(sampled.len(), 1800);
        let inside = |p: &[f32; 3]| p.iter().all(|x| *x >= 0.1) && p.iter().sum::<f32>() <= 0.9 + 1e-6;
        assert!(sampled.positions_m.iter().all(inside));
        found.push(sampled);
    }
    assert!(found.iter().all(|sampled| *sampled == found[0]));
}

#[test]
fn paths_are_relative_to_the_scene_and_a_recorded_scene_needs_no_mesh() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("t.obj"), OBJ).unwrap();
    let path = directory.path().join("scene.toml");
    let scene = mesh(directory.path().join("t.obj").to_str().unwrap(), &[]).unwrap();
    let text = toml::to_string(&scene).unwrap();
    let absolute = directory.path().join("t.obj").display().to_string();
    assert!(text.contains(&absolute), "{text}");
    fs::write(&path, text.replace(&absolute, "t.obj")).unwrap();
    assert_eq!(Scene::load(&path, &[]).unwrap(), scene);
    let json = serde_json::to_string(&scene).unwrap();
    fs::remove_file(directory.path().join("t.obj")).unwrap();
    let recorded = Scene::from_json(&json, "run.json").unwrap();
    let error = recorded.sample().unwrap_err().to_string();
    assert!(error.contains("found a file that was not there"), "{error}");
    assert!(Scene::load(&path, &[]).is_err());
}

#[test]
fn a_mesh_that_is_not_closed_is_refused_with_an_open_edge() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("open.obj");
    fs::write(&path, OBJ.replace("f 2 3 4\n", "")).unwrap();
    let error = mesh(path.to_str().unwrap(), &[]).unwrap_err().to_string();
    let expected = format!(
        "particles.0.shape.mesh.path: found {}: an open edge from [0, 1, 0] to [1, 0, 0], of triangle 1 of \
         3, expected a mesh of a closed surface",
        path.display()
    );
    assert!(error.ends_with(&expected), "{error}");
    for (name, text, what) in [
        ("x.obj", "v 0 0 z\n", "no valid OBJ"),
        ("x.stl", "solid", "no valid STL"),
        ("x.ply", "ply\n", "no valid PLY"),
        ("x.gltf", "", "a name that does not end in .obj, .stl or .ply"),
        ("none.obj", "v 0 0 0\n", "no triangles"),
    ] {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        let error = mesh(path.to_str().unwrap(), &[]).unwrap_err().to_string();
        assert!(error.contains(&format!("{name}: {what}")), "{error}");
    }
    let error = mesh("nowhere.obj", &[]).unwrap_err().to_string();
    assert!(error.contains("nowhere.obj: No such file"), "{error}");
}

#[test]
fn particles_inside_boxes_and_below_heights_are_refused() {
    for (shape, n) in [
        ("box={centre_m=[0.3,0.3,0],size_m=[0.1,1,1]}", 8),
        // Rotated by a right angle, a box on its side stands upright.
        ("box={centre_m=[0.3,0.3,0],size_m=[1,0.1,1],rotation_deg=[0,0,90]}", 8),
        ("box={centre_m=[0.3,0.3,0],size_m=[0.08,0.08,1],rotation_deg=[0,0,45]}", 4),
        ("heightfield={origin_m=[0,0],spacing_m=0.1,heights_m=[[0.2,0.2,0.2,0.4]]}", 12),
        ("heightfield={origin_m=[0,0],spacing_m=0.1,heights_m=[[0.3]]}", 8),
    ] {
        let sampled = flat(&[&format!("bodies=[{{shape={{{shape}}}}}]")]).unwrap().sample();
        let error = sampled.unwrap_err().to_string();
        assert!(error.contains(&format!("found {n} of 16 particles inside bodies.0")), "{shape}: {error}");
    }
}

#[test]
fn heights_are_read_from_a_terrain_file_and_kept_with_the_scene() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("terrain.asc");
    fs::write(&path, "ncols 2\nnrows 2\ncellsize 1\n0.05 0.1\n0.15 0.2\n").unwrap();
    let field = |more: &str| {
        format!(
            "bodies=[{{shape={{heightfield={{origin_m=[0,0],spacing_m=0.8,file='{}'{more}}}}}}}]",
            path.display()
        )
    };
    let scene = solid(&[&field("")]).unwrap();
    let depth = |x: f64, z: f64| scene.body_depth_m(&scene.bodies[0], [x, 0.0, z]);
    // The depth is along the normal, which slopes by 1 % at most; beyond the edge, heights continue.
    for (x, z, height) in
        [(0.0, 0.0, 0.05), (0.8, 0.0, 0.1), (0.0, 0.8, 0.15), (0.4, 0.4, 0.125), (9.0, 9.0, 0.2)]
    {
        assert!((depth(x, z) / height - 1.0).abs() < 0.01, "{x} {z}");
    }
    fs::remove_file(&path).unwrap();
    let json = serde_json::to_string(&scene).unwrap();
    assert_eq!(Scene::from_json(&json, "run.json").unwrap(), scene);
    let error = solid(&[&field("")]).unwrap_err().to_string();
    assert!(
        error.contains("terrain.asc: No such file") && error.ends_with("expected an ESRI ASCII grid"),
        "{error}"
    );
    let error = solid(&[&field(",heights_m=[[0.1]]")]).unwrap_err().to_string();
    assert!(
        error.ends_with("heightfield.file: found it together with heights_m, expected one of the two"),
        "{error}"
    );
    let error =
        solid(&["bodies=[{shape={heightfield={origin_m=[0,0],spacing_m=1}}}]"]).unwrap_err().to_string();
    assert!(error.contains("heights_m: found no heights"), "{error}");
}

#[test]
fn the_papers_benchmark_is_as_large_as_it() {
    let scene = Scene::find("snowball_collision", &[]).unwrap();
    assert_eq!((scene.sample().unwrap().len(), scene.n_steps(), scene.dt_s()), (10_000, 10_000, 2e-4));
    assert_eq!(Scene::find("snowballs_16", &[]).unwrap().sample().unwrap().len(), 80_000);
    for (name, min, max) in [
        ("snowball_on_body_3d", 50_000, 100_000),
        ("snowballs_3d", 50_000, 100_000),
        ("snow_castle", 10_000, 30_000),
    ] {
        let n = Scene::find(name, &[]).unwrap().sample().unwrap().len();
        assert!((min..=max).contains(&n), "{name}: {n}");
    }
    let castle = Scene::find("snow_castle", &[]).unwrap();
    assert!(castle.particles.iter().skip(1).all(|block| matches!(block.shape, Shape::Rectangle { .. })));
}
