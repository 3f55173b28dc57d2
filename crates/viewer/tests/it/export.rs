//! Exports of a recording in every format.

use crate::tool::{SMALL_PARTICLES, command, run_small, succeed};
use std::fs;
use std::path::Path;

#[test]
fn a_recording_is_exported_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    succeed(&mut run_small(folder.path(), &["--steps", "8", "--render", "never", "--record", "4"]));
    let recording = folder.path().join("recording.frazil-rec");
    for (format, beginning) in [
        ("vtk", "# vtk DataFile Version"),
        ("vtu", "<?xml version=\"1.0\"?>"),
        ("ply", "ply\nformat binary_little_endian 1.0"),
        ("bgeo", "Bgeo"),
        ("csv", "position_x [m],position_y [m],position_z [m]"),
    ] {
        let out = folder.path().join("exported").join(format);
        let [from, to] = [&recording, &out].map(|path| path.to_str().unwrap());
        succeed(&mut command(&["export", from, "--format", format, "--out", to]));
        for index in 0..3 {
            let bytes = fs::read(out.join(format!("particles_{index:06}.{format}"))).unwrap();
            assert!(
                bytes.starts_with(beginning.as_bytes()),
                "{format}: {:?}",
                String::from_utf8_lossy(&bytes[..60])
            );
        }
        assert!(!out.join(format!("particles_000003.{format}")).exists());
        assert_eq!(out.join("particles.pvd").exists(), format == "vtu");
    }
    let csv = fs::read_to_string(folder.path().join("exported/csv/particles_000002.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + SMALL_PARTICLES);

    // Beside the recording where no folder is given.
    succeed(&mut command(&["export", recording.to_str().unwrap(), "--format", "ply"]));
    assert!(folder.path().join("particles_000000.ply").exists());
}

/// Vertices and triangles of an OBJ file: places, normals, and numbers of vertices from 1.
fn obj(path: &Path) -> (Vec<[f32; 3]>, usize, Vec<[usize; 3]>) {
    let text = fs::read_to_string(path).unwrap();
    let numbers = |line: &str| -> [f32; 3] {
        let all: Vec<f32> = line.split_whitespace().skip(1).map(|n| n.parse().unwrap()).collect();
        all.try_into().unwrap()
    };
    let corner = |corner: &str| corner.split("//").next().unwrap().parse().unwrap();
    let triangle = |line: &str| -> [usize; 3] {
        line.split_whitespace().skip(1).map(corner).collect::<Vec<_>>().try_into().unwrap()
    };
    let places = text.lines().filter(|line| line.starts_with("v ")).map(numbers).collect();
    let n_normals = text.lines().filter(|line| line.starts_with("vn ")).count();
    (places, n_normals, text.lines().filter(|line| line.starts_with("f ")).map(triangle).collect())
}

#[test]
fn the_surface_of_a_recording_is_exported_with_the_volume_of_the_water() {
    let folder = tempfile::tempdir().unwrap();
    succeed(&mut run_small(folder.path(), &["--steps", "8", "--render", "never", "--record", "4"]));
    let recording = folder.path().join("recording.frazil-rec");
    let recording = recording.to_str().unwrap();
    let out = folder.path().join("mesh");
    for format in ["obj", "ply"] {
        let out = out.to_str().unwrap();
        succeed(&mut command(&[
            "export",
            recording,
            "--mesh",
            format,
            "--set",
            "render.surface_level=0.5",
            "--out",
            out,
        ]));
        for index in 0..3 {
            assert!(Path::new(out).join(format!("surface_{index:06}.{format}")).exists());
        }
        assert!(!Path::new(out).join(format!("surface_000003.{format}")).exists());
    }
    let (places, n_normals, triangles) = obj(&out.join("surface_000000.obj"));
    assert_eq!(places.len(), n_normals);
    // Twice each edge, in opposite directions: it is closed.
    let mut edges: Vec<[usize; 2]> =
        triangles.iter().flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]).collect();
    edges.sort_unstable();
    assert!(edges.iter().all(|[a, b]| edges.binary_search(&[*b, *a]).is_ok()));
    // 6 × 12 × 3 particles, 0.0243 m apart. A body of three layers is rounded at its rims.
    let at = |vertex: usize| places[vertex - 1].map(f64::from);
    let volume = triangles.iter().map(|triangle| {
        let [a, b, c] = triangle.map(at);
        let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
        (0..3).map(|axis| a[axis] * cross[axis]).sum::<f64>() / 6.0
    });
    let (volume, expected) = (volume.sum::<f64>(), SMALL_PARTICLES as f64 * 0.024_333_f64.powi(3));
    assert!((0.8..1.1).contains(&(volume / expected)), "{volume} m³ of {expected}");
    // The PLY file says the same.
    let ply = fs::read(out.join("surface_000000.ply")).unwrap();
    let header = String::from_utf8_lossy(&ply[..ply.len().min(400)]).into_owned();
    assert!(header.contains(&format!("element vertex {}", places.len())), "{header}");
    assert!(header.contains(&format!("element face {}", triangles.len())), "{header}");
}
