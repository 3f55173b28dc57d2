//! Meshes of particle blocks and bodies, and fonts.

use std::fs;
use std::io;
use std::path::Path;

use frazil_io::{Mesh, MeshFormat, export_mesh};
use frazil_scene::Scene;

use super::scene::exercise;
use crate::mutate::Kind;
use crate::target::{Input, Outcome, Target, Verdict, check_message, refused};

pub(super) const TARGETS: &[Target] = &[
    Target {
        prepare: |folder| prepare(folder, "mesh.obj"),
        ..Target::new("obj", "mesh.obj", Kind::Text, objs, check)
    },
    Target {
        prepare: |folder| prepare(folder, "mesh.stl"),
        ..Target::new("stl", "mesh.stl", Kind::Binary, stls, check)
    },
    Target {
        prepare: |folder| prepare(folder, "text.stl"),
        ..Target::new("stl_text", "text.stl", Kind::Text, text_stls, check)
    },
    Target {
        prepare: |folder| prepare(folder, "mesh.ply"),
        ..Target::new("ply", "mesh.ply", Kind::Binary, plys, check)
    },
    Target {
        prepare: |folder| prepare(folder, "text.ply"),
        ..Target::new("ply_text", "text.ply", Kind::Text, text_plys, check)
    },
    Target { prepare: prepare_text, ..Target::new("font", "letters.ttf", Kind::Binary, fonts, check) },
];

const SCENE: &str = include_str!("../../scenes/mesh.toml");
/// A scene with the mesh as a body, which must be fit for contact.
const ROCK: &str = include_str!("../../scenes/rock.toml");
const TEXT: &str = include_str!("../../scenes/text.toml");
const FONT: &[u8] = include_bytes!("../../../../crates/scene/fonts/DejaVuSans-Bold.latin1.ttf");

fn prepare(folder: &Path, file: &str) -> io::Result<()> {
    fs::write(folder.join("rock.toml"), ROCK.replace("mesh.obj", file))?;
    fs::write(folder.join("scene.toml"), SCENE.replace("mesh.obj", file))
}

fn prepare_text(folder: &Path) -> io::Result<()> {
    fs::write(folder.join("scene.toml"), TEXT)
}

/// Corners of a tetrahedron.
const VERTICES: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const TRIANGLES: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

fn exported(format: MeshFormat) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().ok()?;
    let path = folder.path().join("seed");
    let mesh =
        Mesh { position: &VERTICES, normal: &[[0.0, 0.0, 1.0]; 4], triangles: &TRIANGLES, attributes: &[] };
    export_mesh(&mesh, format, &path).ok()?;
    fs::read(&path).ok()
}

fn objs() -> Vec<Vec<u8>> {
    let quads = "# cube\nmtllib a.mtl\no cube\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 \
                 1\nv 0 1 1\n\
                 vt 0 0\nvn 0 0 1\ng sides\nusemtl m\ns off\nf 4/1/1 3/1/1 2/1/1 1/1/1\nf 5//1 6//1 7//1 \
                 8//1\n\
                 f 1/1 2/1 6/1 5/1\nf 2 3 7 6\nf 3 4 8 7\nf -8 -4 -1 -5\n";
    exported(MeshFormat::Obj).into_iter().chain([quads.as_bytes().to_vec()]).collect()
}

fn stls() -> Vec<Vec<u8>> {
    let mut bytes = vec![b' '; 80];
    bytes.extend((TRIANGLES.len() as u32).to_le_bytes());
    for triangle in TRIANGLES {
        let corners = triangle.map(|vertex| VERTICES[vertex as usize]);
        for x in [0.0; 3].into_iter().chain(corners.into_iter().flatten()) {
            bytes.extend(x.to_le_bytes());
        }
        bytes.extend([0, 0]);
    }
    vec![bytes]
}

fn text_stls() -> Vec<Vec<u8>> {
    let facet = |triangle: [u32; 3]| {
        let vertex = |v: u32| {
            let [x, y, z] = VERTICES[v as usize];
            format!("vertex {x} {y} {z}\n")
        };
        format!("facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", triangle.map(vertex).concat())
    };
    vec![format!("solid it\n{}endsolid it\n", TRIANGLES.map(facet).concat()).into_bytes()]
}

fn plys() -> Vec<Vec<u8>> {
    exported(MeshFormat::Ply).into_iter().collect()
}

fn text_plys() -> Vec<Vec<u8>> {
    let vertices: String = VERTICES.iter().map(|[x, y, z]| format!("{x} {y} {z}\n")).collect();
    let faces: String = TRIANGLES.iter().map(|[a, b, c]| format!("3 {a} {b} {c}\n")).collect();
    let head = "ply\nformat ascii 1.0\ncomment it\nelement vertex 4\nproperty float x\nproperty float \
                y\nproperty float z\n\
                element face 4\nproperty list uchar int vertex_indices\nend_header\n";
    vec![format!("{head}{vertices}{faces}").into_bytes()]
}

fn fonts() -> Vec<Vec<u8>> {
    vec![FONT.to_vec()]
}

/// Loads the scenes that name the file.
fn check(input: &Input) -> Verdict {
    if input.folder.join("rock.toml").exists() && load(input, "rock.toml")? == Outcome::Refused {
        load(input, "scene.toml")?;
        return Ok(Outcome::Refused);
    }
    load(input, "scene.toml")
}

fn load(input: &Input, scene: &str) -> Verdict {
    match Scene::load(input.folder.join(scene), &[]) {
        Ok(scene) => exercise(&scene),
        Err(error) => {
            // A shape that is not within the domain is an error of the block.
            let message = error.to_string();
            refused(input, &message).or_else(|problem| {
                let is_of_block = ["particles.0", "bodies.0"].iter().any(|key| message.contains(key));
                if is_of_block { check_message(&message, &format!("{scene}:")) } else { Err(problem) }
            })
        }
    }
}
