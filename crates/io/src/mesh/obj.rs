//! Wavefront OBJ: lines of text, vertices counted from 1.

use std::io::{self, Write};

use super::triangles::Mesh;

pub(super) fn write(mesh: &Mesh<'_>, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "# frazil surface, lengths in m")?;
    // Debug formatting is the shortest text that reads back to the same bits, with an exponent where that is
    // shorter.
    for [x, y, z] in mesh.position {
        writeln!(out, "v {x:?} {y:?} {z:?}")?;
    }
    for [x, y, z] in mesh.normal {
        writeln!(out, "vn {x:?} {y:?} {z:?}")?;
    }
    for triangle in mesh.triangles {
        // With 2³² vertices, the last index counted from 1 does not fit a u32.
        let [a, b, c] = triangle.map(|v| u64::from(v) + 1);
        writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}")?;
    }
    Ok(())
}
