//! What must hold of a closed surface, and its measures.

use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};

/// Why a mesh is no closed, oriented surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeshFault {
    /// A triangle names a vertex that there is not, or the same one twice.
    Triangle([u32; 3]),
    /// A side, from vertex to vertex, that so many triangles have in that direction, and so many in the other.
    Side([u32; 2], usize, usize),
    /// Triangles about a vertex are not one ring.
    Ring(u32),
    /// A vertex that no triangle has.
    Unused(u32),
}

/// Checks that triangles form closed surfaces without branches, on which all of them face the same way, and gives the Euler
/// characteristic V − E + F of each connected one, descending: 2 of a sphere, 0 of a torus.
///
/// # Errors
/// What is wrong, where first met.
pub fn euler_characteristics(n_vertices: usize, triangles: &[[u32; 3]]) -> Result<Vec<i64>, MeshFault> {
    let mut sides: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    let mut around: Vec<BTreeMap<u32, u32>> = vec![BTreeMap::new(); n_vertices];
    for &[a, b, c] in triangles {
        if [a, b, c].iter().any(|v| *v as usize >= n_vertices) || a == b || b == c || c == a {
            return Err(MeshFault::Triangle([a, b, c]));
        }
        for [from, to, last] in [[a, b, c], [b, c, a], [c, a, b]] {
            *sides.entry([from, to]).or_default() += 1;
            around[from as usize].insert(to, last);
        }
    }
    for (&[a, b], &n) in &sides {
        let back = sides.get(&[b, a]).copied().unwrap_or_default();
        if (n, back) != (1, 1) {
            return Err(MeshFault::Side([a, b], n, back));
        }
    }
    for (vertex, next) in around.iter().enumerate() {
        let Some(&first) = next.keys().next() else { return Err(MeshFault::Unused(vertex as u32)) };
        let (mut at, mut length) = (next[&first], 1);
        while at != first && length <= next.len() {
            at = next[&at];
            length += 1;
        }
        if length != next.len() {
            return Err(MeshFault::Ring(vertex as u32));
        }
    }
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for start in 0..n_vertices as u32 {
        if !seen.insert(start) {
            continue;
        }
        let (mut open, mut vertices, mut half_sides) = (vec![start], 0, 0);
        while let Some(vertex) = open.pop() {
            vertices += 1;
            // About a vertex there are as many triangles as sides.
            half_sides += around[vertex as usize].len() as i64;
            open.extend(around[vertex as usize].keys().filter(|beside| seen.insert(**beside)));
        }
        found.push(vertices - half_sides / 2 + half_sides / 3);
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    Ok(found)
}

fn corners(position: &[DVec3], triangle: &[u32; 3]) -> [DVec3; 3] {
    triangle.map(|v| position[v as usize])
}

/// Σ |(b − a) × (c − a)| / 2, in m².
pub fn area(position: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    let of = |triangle| {
        let [a, b, c] = corners(position, triangle);
        (b - a).cross(c - a).length() / 2.0
    };
    triangles.iter().map(of).sum()
}

/// What triangles enclose, Σ a · (b × c) / 6, in m³: above 0 if they are counter-clockwise seen from outside.
pub fn volume(position: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    let of = |triangle| {
        let [a, b, c] = corners(position, triangle);
        a.dot(b.cross(c)) / 6.0
    };
    triangles.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four corners of a cube, counter-clockwise seen from outside.
    const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

    #[test]
    fn a_tetrahedron_is_a_sphere_with_its_area_and_volume() {
        assert_eq!(euler_characteristics(4, &TETRAHEDRON), Ok(vec![2]));
        let position = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        assert!((volume(&position, &TETRAHEDRON) - 1.0 / 6.0).abs() < 1e-15);
        assert!((area(&position, &TETRAHEDRON) - 1.5 - 0.75f64.sqrt()).abs() < 1e-15);
        let two = [&TETRAHEDRON[..], &TETRAHEDRON.map(|t| t.map(|v| v + 4))].concat();
        assert_eq!(euler_characteristics(8, &two), Ok(vec![2, 2]));
    }

    #[test]
    fn a_torus_of_seven_vertices_has_none() {
        // Möbius and Császár: each two of seven vertices share a side.
        let torus: Vec<_> =
            (0..7).flat_map(|i| [[i, i + 1, i + 3], [i, i + 3, i + 2]]).map(|t| t.map(|v| v % 7)).collect();
        assert_eq!(euler_characteristics(7, &torus), Ok(vec![0]));
    }

    #[test]
    fn holes_flips_branches_and_pinches_are_found() {
        let faults = |n, triangles: &[[u32; 3]]| euler_characteristics(n, triangles).unwrap_err();
        assert!(matches!(faults(4, &TETRAHEDRON[..3]), MeshFault::Side(_, 1, 0)));
        let mut flipped = TETRAHEDRON;
        flipped[0] = [0, 1, 2];
        assert!(matches!(faults(4, &flipped), MeshFault::Side(..)));
        assert_eq!(faults(5, &TETRAHEDRON), MeshFault::Unused(4));
        assert_eq!(faults(3, &TETRAHEDRON), MeshFault::Triangle([0, 1, 3]));
        assert_eq!(faults(4, &[[0, 0, 1]]), MeshFault::Triangle([0, 0, 1]));
        // Two tetrahedra that share a vertex, and two that share a side.
        let pinched =
            [&TETRAHEDRON[..], &TETRAHEDRON.map(|t| t.map(|v| if v == 0 { 0 } else { v + 3 }))].concat();
        assert_eq!(faults(7, &pinched), MeshFault::Ring(0));
        let branched =
            [&TETRAHEDRON[..], &TETRAHEDRON.map(|t| t.map(|v| if v < 2 { v } else { v + 2 }))].concat();
        assert!(matches!(faults(6, &branched), MeshFault::Side([0, 1], 2, 2)));
    }
}
