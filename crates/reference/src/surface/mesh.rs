//! Invariants of a closed surface, and its measures.

use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};

/// Reason why a mesh is not a closed, oriented surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeshFault {
    /// A triangle refers to a vertex that does not exist, or to the same one twice.
    Triangle([u32; 3]),
    /// A directed edge between two vertices, with the number of triangles in its direction and in the
    /// opposite one.
    Side([u32; 2], usize, usize),
    /// A vertex whose triangles do not form a single ring.
    Ring(u32),
    /// A vertex of no triangle.
    Unused(u32),
}

/// Checks that triangles form closed manifold surfaces of consistent orientation, and returns the Euler
/// characteristic V − E + F of each connected one, descending: 2 for a sphere, 0 for a torus.
///
/// # Errors
/// Returns the first violation.
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
            // Around a vertex there are as many triangles as edges.
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

/// Returns the area Σ |(b − a) × (c − a)| / 2, in m².
pub fn area(position: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    let of = |triangle| {
        let [a, b, c] = corners(position, triangle);
        (b - a).cross(c - a).length() / 2.0
    };
    triangles.iter().map(of).sum()
}

/// Returns the enclosed volume, Σ a · (b × c) / 6, in m³: positive if triangles are counter-clockwise seen
/// from outside.
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

    /// Faces of a tetrahedron, counter-clockwise seen from outside.
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
        // Möbius and Császár: any two of seven vertices share an edge.
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
        // Two tetrahedra that share a vertex, and two that share an edge.
        let pinched =
            [&TETRAHEDRON[..], &TETRAHEDRON.map(|t| t.map(|v| if v == 0 { 0 } else { v + 3 }))].concat();
        assert_eq!(faults(7, &pinched), MeshFault::Ring(0));
        let branched =
            [&TETRAHEDRON[..], &TETRAHEDRON.map(|t| t.map(|v| if v < 2 { v } else { v + 2 }))].concat();
        assert!(matches!(faults(6, &branched), MeshFault::Side([0, 1], 2, 2)));
    }
}
