//! Reads particles from PLY, VTU, PVTU, BGEO and CSV files: positions, and if there are any velocities and
//! temperatures. Problems name the line of a text, else the particle, and the column.

mod bgeo;
mod columns;
mod csv;
mod ply;
mod vtu;

use std::path::Path;

use crate::load::gzip::uncompressed;
use crate::shapes::point_cloud::PointCloud;

/// Reads the particles in `bytes`, the contents of `path`, whose extension gives the format; they may be
/// compressed by gzip. The error describes the problem.
pub(crate) fn read_particles(path: &Path, bytes: &[u8]) -> Result<PointCloud, String> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let bytes = &*uncompressed(bytes)?;
    let (columns, first_row) = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("ply") => (ply::read(bytes)?, None),
        Some("vtu" | "vtp") => (vtu::read(bytes)?, None),
        Some("bgeo") => (bgeo::read(bytes)?, None),
        Some("csv") => (csv::read(bytes)?, Some(2)),
        Some("pvtu" | "pvtp") => (vtu::read_parallel(path.parent().unwrap_or(path), bytes)?, None),
        Some("pvd") => return Err("a list of files, expected one that it names (.vtu)".to_owned()),
        Some("vtk") => return Err("a legacy VTK file, expected .vtu: save it as such in ParaView".to_owned()),
        _ => return Err("a name that does not end in .ply, .vtu, .pvtu, .bgeo or .csv".to_owned()),
    };
    let cloud = columns.cloud(first_row)?;
    match cloud.coincident() {
        Some([a, b]) => {
            let row = |i| columns::row(i, first_row);
            Err(format!("{} and {} are at the same position", row(a), row(b)))
        }
        None => Ok(cloud),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// Classic BGEO of two points with a velocity.
    fn bgeo() -> Vec<u8> {
        let mut bytes = b"BgeoV".to_vec();
        bytes.extend([5, 2, 0, 0, 0, 1, 0, 0, 0_u32].iter().flat_map(|word| word.to_be_bytes()));
        bytes.extend([0, 8]);
        bytes.extend(b"Velocity");
        bytes.extend([0, 3]);
        bytes.extend([5, 0, 0, 0_u32].iter().flat_map(|word| word.to_be_bytes()));
        let points = [[1.0, 2.0, 3.0, 1.0, 4.0, 5.0, 6.0], [7.0, 8.0, 9.0, 1.0, 0.5, 0.25, 0.125_f32]];
        bytes.extend(points.as_flattened().iter().flat_map(|x| x.to_be_bytes()));
        bytes
    }

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn files_may_be_compressed_by_gzip() {
        let plain = read_particles(Path::new("a.bgeo"), &bgeo()).unwrap();
        assert_eq!(plain.positions, [[1.0, 2.0, 3.0], [7.0, 8.0, 9.0]]);
        assert_eq!(plain.velocities_m_s, Some(vec![[4.0, 5.0, 6.0], [0.5, 0.25, 0.125]]));
        let gz = compressed(&bgeo());
        for name in ["a.bgeo", "A.BGEO.GZ"] {
            assert_eq!(read_particles(Path::new(name), &gz).as_ref(), Ok(&plain), "{name}");
        }
        let problem = read_particles(Path::new("a.bgeo"), &gz[..gz.len() / 2]).unwrap_err();
        assert_eq!(problem, "damaged gzip data, or a part of a gzip file");
        let modern = read_particles(Path::new("a.bgeo"), b"\x7fNSJb").unwrap_err();
        assert!(modern.contains("save it as .bhclassic"), "{modern}");
    }

    #[test]
    fn other_files_are_refused_with_a_remedy() {
        let problem = |name: &str| read_particles(Path::new(name), b"").unwrap_err();
        assert!(problem("a.pvd").contains("expected one that it names"));
        assert!(problem("a.vtk").contains("save it as such in ParaView"));
        assert!(problem("a.xyz").contains("does not end in .ply, .vtu, .pvtu, .bgeo or .csv"));
        let ply = read_particles(Path::new("a.ply"), b"root:x:0:0").unwrap_err();
        assert_eq!(ply, "no valid PLY: it does not begin with ply");
    }
}
