//! Stanford PLY: a text header, then one little-endian record per vertex and one per triangle.

use std::io::{self, Write};

use super::triangles::Mesh;
use crate::export::ply::{write_properties, write_units, write_values};

pub(super) fn write(mesh: &Mesh<'_>, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "ply\nformat binary_little_endian 1.0")?;
    writeln!(out, "comment frazil surface, lengths in m")?;
    write_units(mesh.attributes, out)?;
    writeln!(out, "element vertex {}", mesh.position.len())?;
    for name in ["x", "y", "z", "nx", "ny", "nz"] {
        writeln!(out, "property float {name}")?;
    }
    write_properties(mesh.attributes.iter(), out)?;
    writeln!(out, "element face {}", mesh.triangles.len())?;
    // `uint` rather than the more common `int`, because the engine's indices are unsigned.
    writeln!(out, "property list uchar uint vertex_indices\nend_header")?;
    for (i, (position, normal)) in mesh.position.iter().zip(mesh.normal).enumerate() {
        for x in position.iter().chain(normal) {
            out.write_all(&x.to_le_bytes())?;
        }
        write_values(mesh.attributes.iter(), i, out)?;
    }
    for triangle in mesh.triangles {
        out.write_all(&[3])?;
        for vertex in triangle {
            out.write_all(&vertex.to_le_bytes())?;
        }
    }
    Ok(())
}
