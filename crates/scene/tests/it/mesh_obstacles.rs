//! Tests of meshes as bodies, and of files that are not closed meshes.

use crate::dem::slope;

/// A tetrahedron.
const SOUND: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// Returns the error, after the location, of the slope with this mesh on it.
fn refused(name: &str, text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let shape = format!("mesh={{path='{}',offset_m=[15,5,9]}}", path.display());
    let bodies = format!("bodies=[{{name='rock',shape={{{shape}}}}}]");
    let error = slope(&[&bodies]).err().map_or("none".to_owned(), |error| error.to_string());
    let (_, found) = error.split_once("bodies.0.shape.mesh.path: found ").unwrap_or(("", &error));
    found.rsplit_once('/').map_or(found, |(_, found)| found).to_owned()
}

#[test]
fn a_mesh_unsuitable_for_contacts_is_refused() {
    assert_eq!(refused("sound.obj", SOUND), "none");
    let with = |more: &str| format!("{SOUND}{more}");
    // An edge that is divided on one side, with a sliver that closes the gap.
    let needle = SOUND.replace("f 2 3 4\n", "v .5 .5 0\nf 2 3 5\nf 2 5 4\nf 5 3 4\n");
    // A smaller tetrahedron inside that faces outwards, too.
    let inside = "v .1 .1 .1\nv .3 .1 .1\nv .1 .3 .1\nv .1 .1 .3\nf 5 7 6\nf 5 6 8\nf 5 8 7\nf 6 7 8\n";
    // Two bars that cross: the centres of all their triangles are outside the other.
    let bar = |size: [i32; 3], first: usize| -> String {
        let corner = |k: usize| {
            let at: Vec<i32> = (0..3).map(|i| if k >> i & 1 == 1 { size[i] } else { -size[i] }).collect();
            format!("v {} {} {}\n", at[0], at[1], at[2])
        };
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let face = |f: [usize; 4]| {
            let f = f.map(|k| k + first);
            format!("f {} {} {} {}\n", f[0], f[1], f[2], f[3])
        };
        (0..8).map(corner).chain(faces.map(face)).collect()
    };
    let cross = bar([9, 1, 1], 1) + &bar([1, 9, 2], 9);
    let many: String = (0..5000)
        .map(|k| {
            let x = 2 * k;
            let b = 4 * k;
            format!(
                "v 0 {x} 0\nv 1 {x} 0\nv 0 {} 0\nv 0 {x} 1\nf {} {} {}\nf {} {} {}\nf {} {} {}\nf {} {} {}\n",
                x + 1,
                b + 1,
                b + 3,
                b + 2,
                b + 1,
                b + 2,
                b + 4,
                b + 1,
                b + 4,
                b + 3,
                b + 2,
                b + 3,
                b + 4
            )
        })
        .collect();
    for (name, text, what) in [
        ("open.obj", SOUND.replace("f 2 3 4\n", ""), "an open edge from [0, 1, 0] to [1, 0, 0]"),
        ("nan.obj", SOUND.replace("v 0 0 1", "v 0 0 nan"), "a corner at [0, 0, nan]"),
        ("needle.obj", needle, "a triangle without area, of corners [1, 0, 0], [0, 1, 0] and [0.5, 0.5, 0]"),
        (
            "turned.obj",
            SOUND.replace("f 1 2 4", "f 1 4 2"),
            "triangle 2 of 4, of corners [0, 0, 0], [0, 0, 1] ",
        ),
        ("cross.obj", cross, "parts that cross, at the edge from ["),
        (
            "many.obj",
            many,
            "20000 triangles, expected up to 16384 triangles: simplify the surface, for example by Blender's \
             modifier Decimate with a ratio of 0.811",
        ),
    ] {
        let found = refused(name, &text);
        assert!(found.starts_with(&format!("{name}: {what}")) && found.contains("expected"), "{found}");
    }
    // A part within another is a hollow, whichever side its faces point to.
    assert_eq!(refused("inside.obj", &with(inside)), "none");
    let hollow = inside.lines().map(|line| match line.strip_prefix("f ") {
        Some(face) => format!("f {}\n", face.split(' ').rev().collect::<Vec<_>>().join(" ")),
        None => format!("{line}\n"),
    });
    assert_eq!(refused("hollow.obj", &with(&hollow.collect::<String>())), "none");
    assert!(refused("nowhere.txt", SOUND).contains("a name that does not end in .obj, .stl or .ply"));
}

/// An L-shaped prism with concave faces, and one that counts its vertices from the last.
#[test]
fn concave_faces_of_an_obj_are_triangulated() {
    let prism = "v 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nv 0 0 0\nv 2 0 1\nv 2 1 1\nv 1 1 1\nv 1 2 1\nv 0 2 1\nv 0 0 1\n\
                 f 6 5 4 3 2 1\nf 7 8 9 10 11 12\nf 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12\n";
    assert_eq!(refused("prism.obj", prism), "none");
    let negative = prism.replace("f 7 8 9 10 11 12", "f -6/1 -5//2 -4/1/2 \\\n -3 -2 -1 # the upper face");
    assert_eq!(refused("negative.obj", &negative), "none");
    let coloured = prism.replace("v 2 0 0\n", "v 2 0 0 0.5 0.5 0.5\n");
    assert_eq!(refused("coloured.obj", &coloured), "none");
    let crossed = prism.replace("f 6 5 4 3 2 1", "f 6 4 5 3 2 1");
    assert_ne!(refused("crossed.obj", &crossed), "none");
}

#[test]
fn text_that_is_no_mesh_is_not_repeated() {
    for name in ["a.obj", "a.stl", "a.ply"] {
        for text in [
            "root:x:0:0:root:/root:/bin/bash\n",
            "v 1 2 secret\n",
            "solid\nvertex 1 2 secret\n",
            "ply\nsecret\n",
        ] {
            let found = refused(name, text);
            assert!(!found.contains("root") && !found.contains("secret"), "{found}");
            assert!(!found.contains("none"), "{name} {text}");
        }
    }
}
