//! Export of a recording in every format.

use crate::dem::SLABS;
use crate::tool::{SMALL_PARTICLES, command, run_small, stderr, succeed};
use frazil_io::Recording;
use frazil_scene::Scene;
use std::collections::BTreeMap;
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
        assert_no_slabs(&out);
    }
    let csv = fs::read_to_string(folder.path().join("exported/csv/particles_000002.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + SMALL_PARTICLES);

    // In a numbered folder beside the recording if none is given, and it says so.
    let recording = recording.to_str().unwrap();
    for (name, arguments, expected) in [
        ("export", &["--format", "ply,bgeo"][..], &[0, 1, 2][..]),
        ("export-2", &["--format", "ply,bgeo", "--frames", "1..7"], &[1, 2]),
        ("export-3", &["--format", "ply", "--format", "bgeo", "--frames", "0..:2"], &[0, 2]),
    ] {
        let said = stderr(&succeed(&mut command(&[&["export", recording], arguments].concat())));
        let out = folder.path().join(name);
        for format in ["ply", "bgeo"] {
            let exists = |i: &i32| out.join(format!("particles_{i:06}.{format}")).exists();
            assert_eq!((0..4).filter(exists).collect::<Vec<_>>(), expected, "{name}");
        }
        let n = 2 * expected.len();
        assert!(said.contains(&format!("wrote {n} file(s) (particles as ply, particles as bgeo)")), "{said}");
        assert!(said.contains(out.to_str().unwrap()), "{said}");
    }
    for (frames, expected) in [("3..9", "expected numbers from 0 to 2"), ("2..1", "found \"2..1\"")] {
        let refused =
            command(&["export", recording, "--format", "ply", "--frames", frames]).output().unwrap();
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(expected), "{}", stderr(&refused));
    }
    assert!(!folder.path().join("export-4").exists());
}

/// Rows are sorted by id, and end with the time.
#[test]
fn exported_rows_are_in_the_order_of_ids() {
    let folder = tempfile::tempdir().unwrap();
    succeed(&mut run_small(folder.path(), &["--steps", "40", "--render", "never", "--record", "40"]));
    let recording = folder.path().join("recording.frazil-rec");
    let mut opened = Recording::open(&recording).unwrap();
    let frame = opened.frame(1).unwrap();
    assert!(!frame.ids().is_sorted(), "the solver has another order");
    succeed(&mut command(&["export", recording.to_str().unwrap(), "--format", "csv"]));
    let text = fs::read_to_string(folder.path().join("export/particles_000001.csv")).unwrap();
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().unwrap();
    assert_eq!(header.last(), Some(&"time [s]"));
    let at = header.iter().position(|name| *name == "id").unwrap();
    for (id, row) in rows.enumerate() {
        assert_eq!((row[at], row.last().unwrap().parse()), (&*id.to_string(), Ok(frame.time_s())));
        let place = frame.ids().iter().position(|other| *other as usize == id).unwrap();
        assert_eq!(row[0].parse(), Ok(frame.positions()[place][0]));
    }
}

/// Returns the vertices and triangles of an OBJ file: positions, normals, and vertex indices from 1.
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

/// Checks that the export of a scene without slabs mentions none.
fn assert_no_slabs(folder: &Path) {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let odd: Vec<String> =
        names.filter(|name| name.starts_with("slabs") || name.starts_with("pieces")).collect();
    assert!(odd.is_empty(), "{odd:?}");
}

#[test]
fn the_surface_of_a_recording_is_exported_with_the_volume_of_the_water() {
    let folder = tempfile::tempdir().unwrap();
    succeed(&mut run_small(folder.path(), &["--steps", "8", "--render", "never", "--record", "4"]));
    let recording = folder.path().join("recording.frazil-rec");
    let recording = recording.to_str().unwrap();
    let out = folder.path().join("mesh");
    let settings = ["--set", "render.surface_level=0.5", "--out", out.to_str().unwrap()];
    succeed(&mut command(&[&["export", recording, "--mesh", "obj,ply"], &settings[..]].concat()));
    for format in ["obj", "ply"] {
        for index in 0..3 {
            assert!(out.join(format!("surface_{index:06}.{format}")).exists());
        }
        assert!(!out.join(format!("surface_000003.{format}")).exists());
    }
    assert_no_slabs(&out);
    let (places, n_normals, triangles) = obj(&out.join("surface_000000.obj"));
    assert_eq!(places.len(), n_normals);
    // Each edge twice, in opposite directions: the mesh is closed.
    let mut edges: Vec<[usize; 2]> =
        triangles.iter().flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]).collect();
    edges.sort_unstable();
    assert!(edges.iter().all(|[a, b]| edges.binary_search(&[*b, *a]).is_ok()));
    // 6 × 12 × 3 particles, 0.0243 m apart. A body of three layers has rounded edges.
    let at = |vertex: usize| places[vertex - 1].map(f64::from);
    let volume = triangles.iter().map(|triangle| {
        let [a, b, c] = triangle.map(at);
        let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
        (0..3).map(|axis| a[axis] * cross[axis]).sum::<f64>() / 6.0
    });
    let (volume, expected) = (volume.sum::<f64>(), SMALL_PARTICLES as f64 * 0.024_333_f64.powi(3));
    assert!((0.8..1.1).contains(&(volume / expected)), "{volume} m³ of {expected}");
    // The PLY file has the same mesh, and the velocity and the speed of the water around each vertex.
    let ply = fs::read(out.join("surface_000002.ply")).unwrap();
    let end = ply.windows(11).position(|window| window == b"end_header\n").unwrap() + 11;
    let header = String::from_utf8(ply[..end].to_vec()).unwrap();
    let properties: Vec<&str> =
        header.lines().filter_map(|line| line.strip_prefix("property float ")).collect();
    let expected = ["x", "y", "z", "nx", "ny", "nz", "velocity_x", "velocity_y", "velocity_z", "speed"];
    assert_eq!(properties, expected, "{header}");
    let n_vertices = obj(&out.join("surface_000002.obj")).0.len();
    let rows: Vec<f32> = ply[end..][..40 * n_vertices]
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    // It falls for 0.016 s.
    let mut fall = 0.0;
    for row in rows.chunks_exact(10) {
        let [x, y, z, speed] = [6, 7, 8, 9].map(|i| f64::from(row[i]));
        // The mean of lengths is not less than the length of the mean.
        assert!(speed > 0.0 && speed < 1.0 && (x * x + y * y + z * z).sqrt() < speed + 1e-6, "{row:?}");
        fall += y / n_vertices as f64;
    }
    assert!((-0.17..-0.02).contains(&fall), "{fall} m/s");
    let ply = fs::read(out.join("surface_000000.ply")).unwrap();
    let header = String::from_utf8_lossy(&ply[..ply.len().min(600)]).into_owned();
    assert!(header.contains(&format!("element vertex {}", places.len())), "{header}");
    assert!(header.contains(&format!("element face {}", triangles.len())), "{header}");
}

/// A recording of falling slabs, in three frames, with its contents.
struct FallenSlabs {
    _folder: tempfile::TempDir,
    recording: String,
    out: std::path::PathBuf,
    scene: Scene,
}

const N_FRAMES: usize = 3;

/// Records slabs without strength, so that pieces rotate and separate at once.
fn fallen_slabs() -> FallenSlabs {
    let folder = tempfile::tempdir().unwrap();
    let weak =
        ["--set", "dem.slabs.0.link_strength_pa=10.0", "--set", "dem.slabs.0.link_shear_strength_pa=10.0"];
    let plan = ["--time", "0.4", "--record", "0.2 s", "--render", "never", "--metrics", "never", "--quiet"];
    let into = ["--out", folder.path().to_str().unwrap()];
    succeed(&mut command(&[&["run"], SLABS, &weak[..], &plan, &into].concat()));
    let recording = folder.path().join("recording.frazil-rec");
    let meta = Recording::open(&recording).unwrap().meta().scene_json.clone();
    FallenSlabs {
        recording: recording.to_str().unwrap().to_owned(),
        out: folder.path().join("exported"),
        scene: Scene::from_json_with(&meta, "recording", &[]).unwrap(),
        _folder: folder,
    }
}

impl FallenSlabs {
    fn export(&self, arguments: &[&str]) {
        let into = ["--overwrite", "--out", self.out.to_str().unwrap()];
        succeed(&mut command(&[&["export", &self.recording], arguments, &into].concat()));
    }

    /// Returns the centres, rotations and velocities of a frame's pieces.
    fn recorded(&self, frame: usize) -> [Vec<[f32; 3]>; 3] {
        let frame = Recording::open(Path::new(&self.recording)).unwrap().frame(frame).unwrap();
        ["centre", "turn", "velocity"].map(|name| frame.body_vec3(name).unwrap().to_vec())
    }
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| a[axis] * b[axis]).sum()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

/// Rotates v about an axis by an angle equal to the length of the axis.
fn turned(v: [f64; 3], turn: [f32; 3]) -> [f64; 3] {
    let turn = turn.map(f64::from);
    let angle = dot(turn, turn).sqrt();
    if angle == 0.0 {
        return v;
    }
    let axis = turn.map(|x| x / angle);
    let (along, across) = (dot(axis, v), cross(axis, v));
    std::array::from_fn(|i| {
        v[i] * angle.cos() + across[i] * angle.sin() + axis[i] * along * (1.0 - angle.cos())
    })
}

/// Returns the volume of triangles and their centre of mass, if they are closed: each edge twice, in opposite
/// directions.
fn solid(triangles: &[[[f32; 3]; 3]]) -> (f64, [f64; 3]) {
    let bits = |v: [f32; 3]| v.map(f32::to_bits);
    let mut edges: BTreeMap<_, i32> = BTreeMap::new();
    for triangle in triangles {
        for k in 0..3 {
            let (a, b) = (bits(triangle[k]), bits(triangle[(k + 1) % 3]));
            *edges.entry((a, b)).or_default() += 1;
        }
    }
    for ((a, b), n) in &edges {
        assert_eq!((*n, edges.get(&(*b, *a))), (1, Some(&1)), "edge from {a:?} to {b:?}");
    }
    // Relative to one of its corners, for precision.
    let origin = triangles[0][0].map(f64::from);
    let (mut volume, mut moment) = (0.0, [0.0; 3]);
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| minus(v.map(f64::from), origin));
        let part = dot(a, cross(b, c)) / 6.0;
        volume += part;
        moment = std::array::from_fn(|i| moment[i] + part * (a[i] + b[i] + c[i]) / 4.0);
    }
    (volume, std::array::from_fn(|i| origin[i] + moment[i] / volume))
}

/// Checks that triangles are in the order of pieces, and that the volume and centre of each piece match the
/// scene and the recording.
fn assert_pieces(triangles: &[[[f32; 3]; 3]], scene: &Scene, [centres, turns, _]: &[Vec<[f32; 3]>; 3]) {
    let sampled = scene.sample_slabs().unwrap();
    let mut rest = triangles;
    for (i, piece) in sampled.pieces.iter().enumerate() {
        let n: usize = piece.faces.iter().map(|face| face.len() - 2).sum();
        let (own, others) = rest.split_at(n);
        rest = others;
        let (volume, centre) = solid(own);
        // Corners are f32 some 200 m from the origin, with an error of 8e-6 m.
        assert!(
            (volume / piece.volume_m3 - 1.0).abs() < 1e-3,
            "piece {i}: {volume} m³ of {}",
            piece.volume_m3
        );
        let off = minus(centre, centres[i].map(f64::from));
        assert!(dot(off, off).sqrt() < 1e-3, "piece {i} is {off:?} m off");
        for v in &piece.vertices_m {
            let expected: [f64; 3] =
                std::array::from_fn(|axis| turned(*v, turns[i])[axis] + f64::from(centres[i][axis]));
            let nearest = own.iter().flatten().map(|place| {
                let apart = minus(place.map(f64::from), expected);
                dot(apart, apart).sqrt()
            });
            let nearest = nearest.fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-4, "piece {i}: a corner at {expected:?} is {nearest} m off");
        }
    }
    assert!(rest.is_empty(), "{} triangles are of no piece", rest.len());
}

/// Recorded dynamic bodies are drawn and exported where the metrics of the run have them.
#[test]
fn dynamic_bodies_of_a_recording_are_exported_and_drawn_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let out = path("run").to_str().unwrap().to_owned();
    let run = ["run", "driftwood", "--set", "scale=0.5", "--steps", "40", "--quiet", "--render", "never"];
    let outputs = ["--record", "20", "--metrics", "20", "--out", &out];
    succeed(&mut command(&[&run[..], &outputs].concat()));
    let exported = path("exported").to_str().unwrap().to_owned();
    for what in [["--format", "csv,vtu"], ["--mesh", "obj"]] {
        succeed(&mut command(&[&["export", &out, "--out", &exported, "--overwrite"], &what[..]].concat()));
    }
    for name in ["bodies_000002.vtu", "bodies.pvd", "bodies_000002.obj"] {
        assert!(path("exported").join(name).exists(), "{name}");
    }
    assert_no_slabs(&path("exported"));
    let table = |path: &Path| -> Vec<Vec<String>> {
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let at = |table: &[Vec<String>], row: usize, name: &str| -> f64 {
        let column = table[0].iter().position(|label| label.split(' ').next() == Some(name));
        table[row][column.unwrap_or_else(|| panic!("no {name} in {:?}", table[0]))].parse().unwrap()
    };
    let (bodies, metrics) =
        (table(&path("exported").join("bodies_000002.csv")), table(&path("run").join("metrics.csv")));
    let recording = path("run").join("recording.frazil-rec");
    let meta = Recording::open(&recording).unwrap().meta().scene_json.clone();
    let scene = Scene::from_json_with(&meta, "recording", &[]).unwrap();
    assert_eq!(bodies.len(), 1 + scene.bodies.len());
    let (places, _, triangles) = obj(&path("exported").join("bodies_000002.obj"));
    let mut volume_m3 = 0.0;
    for corners in &triangles {
        let [a, b, c] = corners.map(|corner| places[corner - 1].map(f64::from));
        volume_m3 += dot(a, cross(b, c)) / 6.0;
    }
    let (mut exact_m3, mut moved_m) = (0.0, 0.0_f64);
    for (k, body) in scene.bodies.iter().enumerate() {
        let (name, mass) = (body.name.as_ref().unwrap(), body.mass().unwrap());
        exact_m3 += mass.volume_m3;
        for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
            let centre_m = at(&bodies, 1 + k, &format!("position_{axis}"));
            let measured_m = at(&metrics, metrics.len() - 1, &format!("position_of_{name}_{axis}"));
            assert!((centre_m - measured_m).abs() < 1e-6, "{name} {axis}: {centre_m}, not {measured_m}");
            moved_m = moved_m.max((centre_m - mass.centre_m[i]).abs());
        }
    }
    assert!(moved_m > 1e-3, "nothing moved");
    // Round bodies are polyhedra, within 2 %.
    assert!((volume_m3 / exact_m3 - 1.0).abs() < 0.02, "{volume_m3} of {exact_m3} m³");
}

#[test]
fn slabs_of_a_recording_are_exported_as_solids_where_they_are() {
    let slabs = fallen_slabs();
    for format in ["obj", "ply"] {
        slabs.export(&["--mesh", format]);
        for what in ["surface", "slabs"] {
            let path = |index: usize| slabs.out.join(format!("{what}_{index:06}.{format}"));
            assert!((0..N_FRAMES).all(|index| path(index).exists()), "{what} {format}");
            assert!(!path(N_FRAMES).exists(), "{what} {format}");
        }
    }
    let last = N_FRAMES - 1;
    for index in [0, last] {
        let (places, n_normals, triangles) = obj(&slabs.out.join(format!("slabs_{index:06}.obj")));
        assert_eq!(places.len(), n_normals);
        let triangles: Vec<_> =
            triangles.iter().map(|corners| corners.map(|corner| places[corner - 1])).collect();
        assert_pieces(&triangles, &slabs.scene, &slabs.recorded(index));
    }
    // The compared pieces have moved and rotated.
    let ([before, ..], [after, turns, _]) = (slabs.recorded(0), slabs.recorded(last));
    assert!(before.iter().zip(&after).all(|(a, b)| a[2] - b[2] > 0.01));
    assert!(turns.iter().any(|turn| turn.iter().any(|x| x.abs() > 0.01)), "{turns:?}");

    // Each vertex belongs to one face, and has its normal.
    let text = fs::read_to_string(slabs.out.join(format!("slabs_{last:06}.obj"))).unwrap();
    let normals: Vec<[f64; 3]> = text
        .lines()
        .filter_map(|line| line.strip_prefix("vn "))
        .map(|line| line.split(' ').map(|x| x.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap())
        .collect();
    let (places, _, triangles) = obj(&slabs.out.join(format!("slabs_{last:06}.obj")));
    for corners in &triangles {
        let [a, b, c] = corners.map(|corner| places[corner - 1].map(f64::from));
        let area = cross(minus(b, a), minus(c, a));
        let size = dot(area, area).sqrt();
        for corner in corners {
            let aligned = dot(area, normals[corner - 1]) / size;
            assert!((aligned - 1.0).abs() < 1e-4, "a normal is {aligned} of its face's");
        }
    }
    // The PLY file has the same mesh.
    let ply = fs::read(slabs.out.join(format!("slabs_{last:06}.ply"))).unwrap();
    let header = String::from_utf8_lossy(&ply[..400]).into_owned();
    assert!(header.contains(&format!("element vertex {}", places.len())), "{header}");
    assert!(header.contains(&format!("element face {}", triangles.len())), "{header}");
}

/// Returns the words of an array of a legacy VTK file after the line that begins with `head`, including the
/// rest of that line.
fn vtk_words(bytes: &[u8], head: &str, n_lines: usize) -> (Vec<usize>, Vec<u32>) {
    let at = bytes.windows(head.len()).position(|window| window == head.as_bytes()).expect(head);
    let mut rest = &bytes[at..];
    let mut line = "";
    for i in 0..n_lines {
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap();
        if i == 0 {
            line = std::str::from_utf8(&rest[..end]).unwrap();
        }
        rest = &rest[end + 1..];
    }
    let numbers = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    (numbers, rest.chunks_exact(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect())
}

#[test]
fn slabs_of_a_recording_are_exported_beside_its_particles() {
    let slabs = fallen_slabs();
    let last = N_FRAMES - 1;
    let [centres, turns, velocities] = slabs.recorded(last);
    for (format, what) in
        [("vtk", "slabs"), ("vtu", "slabs"), ("ply", "pieces"), ("bgeo", "pieces"), ("csv", "pieces")]
    {
        slabs.export(&["--format", format]);
        for what in [what, "particles"] {
            let path = |index: usize| slabs.out.join(format!("{what}_{index:06}.{format}"));
            assert!((0..N_FRAMES).all(|index| path(index).exists()), "{what} {format}");
            assert!(!path(N_FRAMES).exists(), "{what} {format}");
        }
    }
    let index = fs::read_to_string(slabs.out.join("slabs.pvd")).unwrap();
    let files: Vec<&str> =
        index.split("file=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(files, ["slabs_000000.vtu", "slabs_000001.vtu", "slabs_000002.vtu"]);
    assert!(index.contains("timestep=\"0.0\"") && index.contains("timestep=\"0.4"), "{index}");

    // VTK polygons: each the number of corners, then the corners.
    let bytes = fs::read(slabs.out.join(format!("slabs_{last:06}.vtk"))).unwrap();
    let (n_points, words) = vtk_words(&bytes, "POINTS ", 1);
    let places: Vec<[f32; 3]> =
        words[..3 * n_points[0]].as_chunks::<3>().0.iter().map(|v| v.map(f32::from_bits)).collect();
    let (sizes, words) = vtk_words(&bytes, "POLYGONS ", 1);
    let (n_faces, n_words) = (sizes[0], sizes[1]);
    let (mut at, mut triangles) = (0, Vec::new());
    for _ in 0..n_faces {
        let corners: Vec<_> =
            words[at + 1..][..words[at] as usize].iter().map(|v| places[*v as usize]).collect();
        at += 1 + corners.len();
        triangles.extend((2..corners.len()).map(|k| [corners[0], corners[k - 1], corners[k]]));
    }
    assert_eq!(at, n_words);
    assert_pieces(&triangles, &slabs.scene, &slabs.recorded(last));
    let faces_of = slabs.scene.sample_slabs().unwrap().pieces.into_iter().enumerate();
    let faces_of: Vec<usize> = faces_of.flat_map(|(i, piece)| vec![i; piece.faces.len()]).collect();
    assert_eq!(vtk_words(&bytes, "CELL_DATA ", 1).0, [n_faces]);
    let (_, ids) = vtk_words(&bytes, "SCALARS id ", 2);
    assert!(ids[..n_faces].iter().map(|id| *id as usize).eq(faces_of.iter().copied()));
    let (_, found) = vtk_words(&bytes, "VECTORS velocity ", 1);
    let expected = faces_of.iter().flat_map(|i| velocities[*i].map(f32::to_bits));
    assert!(found[..3 * n_faces].iter().copied().eq(expected));

    // One row per piece, and in PLY and BGEO one point.
    let csv = fs::read_to_string(slabs.out.join(format!("pieces_{last:06}.csv"))).unwrap();
    let mut lines = csv.lines();
    assert_eq!(
        lines.next().unwrap(),
        "position_x [m],position_y [m],position_z [m],id,rotation_x,rotation_y,rotation_z,rotation_w,\
         velocity_x [m/s],velocity_y [m/s],velocity_z [m/s],time [s]"
    );
    let rows: Vec<Vec<f32>> =
        lines.map(|line| line.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), centres.len());
    for (i, row) in rows.iter().enumerate() {
        assert_eq!((&row[..3], row[3], &row[8..11]), (&centres[i][..], i as f32, &velocities[i][..]));
        // A unit quaternion is the same rotation as the recorded axis and angle.
        let turn = turns[i].map(f64::from);
        let angle = dot(turn, turn).sqrt();
        for axis in 0..3 {
            let expected = if angle > 0.0 { turn[axis] / angle * (0.5 * angle).sin() } else { 0.0 };
            assert!((f64::from(row[4 + axis]) - expected).abs() < 1e-6, "piece {i}: {row:?}");
        }
        assert!((f64::from(row[7]) - (0.5 * angle).cos()).abs() < 1e-6, "piece {i}: {row:?}");
    }
    let ply = fs::read(slabs.out.join(format!("pieces_{last:06}.ply"))).unwrap();
    let header = String::from_utf8_lossy(&ply[..300]).into_owned();
    assert!(header.contains("comment frazil pieces of slabs, step"), "{header}");
    assert!(header.contains(&format!("element vertex {}\n", centres.len())), "{header}");
    let bgeo = fs::read(slabs.out.join(format!("pieces_{last:06}.bgeo"))).unwrap();
    assert_eq!(bgeo[9..13], (centres.len() as u32).to_be_bytes());
}
