//! Written surfaces are read back bit-exactly by third-party readers.

use std::fs;
use std::io::Cursor;

use frazil_io::{Error, Mesh, MeshFormat, UnknownMeshFormat, export_mesh};
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{DefaultElement, Property};
use proptest::prelude::*;

type Vectors = Vec<[f32; 3]>;

/// Vertices, normals and triangles.
type Parts = (Vectors, Vectors, Vec<[u32; 3]>);

fn mesh((position, normal, triangles): &Parts) -> Mesh<'_> {
    Mesh { position, normal, triangles, attributes: &[] }
}

fn exported(parts: &Parts, format: MeshFormat) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format.file_name(7));
    export_mesh(&mesh(parts), format, &path).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a temporary file was left");
    fs::read(path).unwrap()
}

fn read_ply(bytes: &[u8]) -> Parts {
    let ply = Parser::<DefaultElement>::new().read_ply(&mut Cursor::new(bytes)).unwrap();
    let number = |element: &DefaultElement, name: &str| match element.get(name).unwrap() {
        Property::Float(x) => *x,
        other => panic!("{name} is {other:?}"),
    };
    let vectors = |names: [&str; 3]| -> Vectors {
        ply.payload["vertex"].iter().map(|vertex| names.map(|name| number(vertex, name))).collect()
    };
    let face = |element: &DefaultElement| match element.get("vertex_indices").unwrap() {
        Property::ListUInt(corners) => <[u32; 3]>::try_from(corners.as_slice()).unwrap(),
        other => panic!("a face is {other:?}"),
    };
    let triangles = ply.payload["face"].iter().map(face).collect();
    (vectors(["x", "y", "z"]), vectors(["nx", "ny", "nz"]), triangles)
}

fn read_obj(bytes: &[u8]) -> Parts {
    let no_materials = |_: &std::path::Path| Err(tobj::LoadError::OpenFileFailed);
    let options = tobj::LoadOptions::default();
    let (models, _) = tobj::load_obj_buf(&mut Cursor::new(bytes), &options, no_materials).unwrap();
    let [model] = models.as_slice() else { panic!("{} models", models.len()) };
    let vectors = |numbers: &[f32]| -> Vectors { numbers.as_chunks::<3>().0.to_vec() };
    let found = &model.mesh;
    assert_eq!(found.indices, found.normal_indices);
    assert!(found.face_arities.is_empty() || found.face_arities.iter().all(|n| *n == 3));
    (vectors(&found.positions), vectors(&found.normals), found.indices.as_chunks::<3>().0.to_vec())
}

fn bits(vectors: &Vectors) -> Vec<[u32; 3]> {
    vectors.iter().map(|v| v.map(f32::to_bits)).collect()
}

/// Returns positions and normals of the corners of triangles.
fn corners((position, normal, triangles): &Parts) -> Vec<[[[u32; 3]; 2]; 3]> {
    let (position, normal) = (bits(position), bits(normal));
    triangles.iter().map(|triangle| triangle.map(|v| [position[v as usize], normal[v as usize]])).collect()
}

/// Meshes of any finite numbers, each vertex of which belongs to a triangle.
fn parts() -> impl Strategy<Value = Parts> {
    let vector = || prop::array::uniform3(any::<f32>().prop_filter("finite", |x| x.is_finite()));
    (1usize..80).prop_flat_map(move |n| {
        let triangles = prop::collection::vec(prop::array::uniform3(0..n as u32), 0..120);
        let vectors = || prop::collection::vec(vector(), n);
        (vectors(), vectors(), triangles).prop_map(move |(position, normal, mut triangles)| {
            triangles.extend((0..n as u32).map(|i| [i, (i + 1) % n as u32, i]));
            (position, normal, triangles)
        })
    })
}

#[test]
fn surfaces_round_trip_to_the_bit() {
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) }, |(
        parts in parts(),
    )| {
        let found = read_ply(&exported(&parts, MeshFormat::Ply));
        prop_assert_eq!(bits(&found.0), bits(&parts.0));
        prop_assert_eq!(bits(&found.1), bits(&parts.1));
        prop_assert_eq!(&found.2, &parts.2);
        // This reader numbers vertices in the order of their first use by triangles.
        let found = read_obj(&exported(&parts, MeshFormat::Obj));
        prop_assert_eq!(found.0.len(), parts.0.len());
        prop_assert_eq!(corners(&found), corners(&parts));
    });
}

#[test]
fn a_tetrahedron_is_written_as_the_formats_say() {
    let corners = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 1e-9]];
    let parts: Parts = (corners, vec![[0.0, 0.0, -1.0]; 4], vec![[0, 2, 1], [1, 2, 3]]);
    let text = String::from_utf8(exported(&parts, MeshFormat::Obj)).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), 4 + 4 + 2);
    assert_eq!(lines[3], "v 0.0 0.0 1e-9");
    assert_eq!(lines[4], "vn 0.0 0.0 -1.0");
    assert_eq!(lines[8..], ["f 1//1 3//3 2//2", "f 2//2 3//3 4//4"]);
    let bytes = exported(&parts, MeshFormat::Ply);
    let header = b"end_header\n";
    let end = bytes.windows(header.len()).position(|w| w == header).unwrap() + header.len();
    assert!(bytes.starts_with(b"ply\nformat binary_little_endian 1.0\n"));
    assert_eq!(bytes.len() - end, 4 * 24 + 2 * 13);
}

#[test]
fn no_triangles_make_a_file_that_can_be_read() {
    let nothing = Parts::default();
    assert_eq!(read_ply(&exported(&nothing, MeshFormat::Ply)), nothing);
    assert!(exported(&nothing, MeshFormat::Obj).starts_with(b"# frazil"));
}

#[test]
fn frames_unrepresentable_in_a_format_are_refused_and_not_written() {
    let good: Parts = (vec![[0.0; 3]; 3], vec![[1.0, 0.0, 0.0]; 3], vec![[0, 1, 2]]);
    let mut nan = good.clone();
    nan.0[1][2] = f32::NAN;
    let mut infinite = good.clone();
    infinite.1[2][0] = f32::INFINITY;
    let mut beyond = good.clone();
    beyond.2.push([0, 3, 1]);
    let mut bald = good.clone();
    bald.1.pop();
    let cases = [
        (nan, "position [0.0, 0.0, NaN] of vertex 1, expected finite numbers"),
        (infinite, "normal [inf, 0.0, 0.0] of vertex 2, expected finite numbers"),
        (beyond, "triangle 1 has the vertices [0, 3, 1], expected numbers below 3"),
        (bald, "2 normals, expected one for each of 3 vertices"),
    ];
    let dir = tempfile::tempdir().unwrap();
    for (parts, expected) in &cases {
        for format in MeshFormat::ALL {
            let path = dir.path().join(format.file_name(0));
            let error = export_mesh(&mesh(parts), format, &path).unwrap_err();
            assert!(matches!(error, Error::Unrepresentable { .. }), "{error:?}");
            let text = error.to_string();
            assert!(text.contains(expected) && text.contains("surface_000000"), "{text}");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        }
    }
    let error = export_mesh(&mesh(&good), MeshFormat::Obj, &dir.path().join("nosuch/a.obj")).unwrap_err();
    assert!(error.to_string().contains("nosuch"), "{error}");
}

#[test]
fn formats_have_names() {
    for format in MeshFormat::ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    let unknown = "stl".parse::<MeshFormat>();
    assert_eq!(unknown, Err(UnknownMeshFormat { found: "stl".into() }));
    assert_eq!(unknown.unwrap_err().to_string(), "unknown mesh format \"stl\": expected obj or ply");
}
