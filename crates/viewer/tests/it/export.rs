//! Exports of a recording in every format.

use crate::tool::{SMALL_PARTICLES, command, run_small, succeed};
use std::fs;

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
