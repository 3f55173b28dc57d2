//! Stanford PLY: a text header, then one little-endian record per vertex and one per triangle.

use std::io::{self, Write};

use super::triangles::Mesh;

pub(super) fn write(mesh: &Mesh<'_>, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "ply\nformat binary_little_endian 1.0")?;
    writeln!(out, "comment frazil surface, lengths in m")?;
    writeln!(out, "element vertex {}", mesh.position.len())?;
    for name in ["x", "y", "z", "nx", "ny", "nz"] {
        writeln!(out, "property float {name}")?;
    }
    writeln!(out, "element face {}", mesh.triangles.len())?;
    // `uint` rather than the more common `int`, because the engine's indices are unsigned.
    writeln!(out, "property list uchar uint vertex_indices\nend_header")?;
    for (position, normal) in mesh.position.iter().zip(mesh.normal) {
        for x in position.iter().chain(normal) {
            out.write_all(&x.to_le_bytes())?;
        }
    }
    for triangle in mesh.triangles {
        out.write_all(&[3])?;
        for vertex in triangle {
            out.write_all(&vertex.to_le_bytes())?;
        }
    }
    Ok(())
}
