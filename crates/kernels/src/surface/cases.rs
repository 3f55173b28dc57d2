//! Table of the triangles of a cube, for each of the 256 cases of corners inside or outside.
//!
//! The table is derived from a rule, so that it is clear why meshes are closed, and is checked below:
//!
//! 1. On each face, the surface cuts off each run of neighbouring inside corners by a segment from the edge
//!    where the run begins, going around the face, to the edge where it ends. Two inside corners across a
//!    face's diagonal stay separate. So a face's segments depend only on its corners: the two cubes that
//!    share it have the same ones, in opposite directions.
//! 2. A crossed edge lies on two faces, each of which has one segment that ends there. So segments form
//!    loops.
//! 3. A loop is filled by a fan around the lowest numbered of its edges from which no diagonal lies in a
//!    face. A diagonal in a face could coincide with a segment or a diagonal of the neighbouring cube, and an
//!    edge would have four triangles. All loops have such fans.
//!
//! Corners and edges are numbered like in `glsl/surface/cubes.glsl`.

/// Words per case: the number of triangles, then five triangles of three edges, four bits each.
const CASE_WORDS: usize = frazil_shaders::surface::cubes::CASE_WORDS as usize;

/// Edges of a cube.
const EDGES: usize = 12;

/// Returns the two corners of an edge, the lower one first.
fn edge_corners(edge: usize) -> [usize; 2] {
    let (axis, j) = (edge / 4, edge % 4);
    let low = (j & 1) << ((axis + 1) % 3) | (j >> 1) << ((axis + 2) % 3);
    [low, low | 1 << axis]
}

/// Returns the edge between two corners.
fn edge_between(a: usize, b: usize) -> usize {
    let axis = (a ^ b).trailing_zeros() as usize;
    let low = a & b;
    4 * axis + ((low >> ((axis + 1) % 3) & 1) | (low >> ((axis + 2) % 3) & 1) << 1)
}

/// Returns a face's corners, counter-clockwise seen from outside the cube: faces 2 a and 2 a + 1 are the
/// lower and the upper along axis a.
fn face_corners(face: usize) -> [usize; 4] {
    let (axis, upper) = (face / 2, face % 2);
    let [b, c] = [1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3)];
    let low = upper << axis;
    if upper == 1 { [low, low | b, low | b | c, low | c] } else { [low, low | c, low | b | c, low | b] }
}

/// Returns true if both edges lie in one face.
fn share_face(a: usize, b: usize) -> bool {
    let [a, b] = [edge_corners(a), edge_corners(b)];
    // Four corners lie in a face if they agree in one bit.
    (0..3).any(|axis| {
        let sides = [a[0], a[1], b[0], b[1]].map(|corner| corner >> axis & 1);
        sides.iter().all(|side| *side == sides[0])
    })
}

/// Returns the segments on one face, from edge to edge, for the case: with the inside on the right seen from
/// outside the cube.
fn face_segments(case: usize, face: usize) -> Vec<[usize; 2]> {
    let corners = face_corners(face);
    let is_inside = |i: usize| case >> corners[i % 4] & 1 == 1;
    let edge = |i: usize| edge_between(corners[i % 4], corners[(i + 1) % 4]);
    // Going around the face, edge i goes from corner i to the next.
    let leaves = (0..4).filter(|i| is_inside(*i) && !is_inside(i + 1));
    let segment = |leave: usize| {
        let run = (0..4).take_while(|back| is_inside(leave + 4 - back)).count();
        [edge(leave + 4 - run), edge(leave)]
    };
    leaves.map(segment).collect()
}

/// Returns the loops of a case, each starting at its lowest edge, in the order of these edges.
fn loops(case: usize) -> Vec<Vec<usize>> {
    let mut next = [None; EDGES];
    for face in 0..6 {
        for [from, to] in face_segments(case, face) {
            next[from] = Some(to);
        }
    }
    let mut loops = Vec::new();
    for first in 0..EDGES {
        let mut found = Vec::new();
        let mut at = first;
        while let Some(to) = next[at].take() {
            found.push(at);
            at = to;
        }
        if !found.is_empty() {
            loops.push(found);
        }
    }
    loops
}

/// Returns the fan around the lowest edge of a loop from which no diagonal lies in a face.
fn fan(edges: &[usize]) -> Vec<[usize; 3]> {
    let n = edges.len();
    let can_fan_from = |hub: usize| (2..n - 1).all(|k| !share_face(edges[hub], edges[(hub + k) % n]));
    let Some(hub) = (0..n).filter(|hub| can_fan_from(*hub)).min_by_key(|hub| edges[*hub]) else {
        return Vec::new();
    };
    (1..n - 1).map(|k| [edges[hub], edges[(hub + k) % n], edges[(hub + k + 1) % n]]).collect()
}

/// Returns the triangles of a case, by the edges their vertices lie on, counter-clockwise seen from outside.
fn triangles(case: usize) -> Vec<[usize; 3]> {
    loops(case).iter().flat_map(|edges| fan(edges)).collect()
}

/// Returns the table of all cases, as kernels read it.
pub(super) fn table() -> Vec<u32> {
    let mut words = vec![0; 256 * CASE_WORDS];
    for (case, row) in words.chunks_exact_mut(CASE_WORDS).enumerate() {
        let found = triangles(case);
        row[0] = found.len() as u32;
        for (word, [a, b, c]) in row[1..].iter_mut().zip(found) {
            *word = (a | b << 4 | c << 8) as u32;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn crossed(case: usize) -> Vec<usize> {
        let is_crossed = |edge: &usize| {
            let [a, b] = edge_corners(*edge);
            (case >> a ^ case >> b) & 1 == 1
        };
        (0..EDGES).filter(is_crossed).collect()
    }

    #[test]
    fn edges_and_corners_are_numbered_both_ways() {
        for edge in 0..EDGES {
            let [low, high] = edge_corners(edge);
            assert_eq!((low ^ high, low & high), (1 << (edge / 4), low));
            assert_eq!(edge_between(low, high), edge);
            assert_eq!(edge_between(high, low), edge);
        }
        for face in 0..6 {
            let corners = face_corners(face);
            assert!(corners.iter().all(|c| c >> (face / 2) & 1 == face % 2));
            assert!((0..4).all(|i| (corners[i] ^ corners[(i + 1) % 4]).is_power_of_two()));
            // Counter-clockwise seen from outside: the normal of the first two sides points out.
            let at = |c: usize| [c & 1, c >> 1 & 1, c >> 2 & 1].map(|x| x as i32);
            let [p, q, r] = [at(corners[0]), at(corners[1]), at(corners[2])];
            let [u, v]: [[i32; 3]; 2] =
                [std::array::from_fn(|i| q[i] - p[i]), std::array::from_fn(|i| r[i] - q[i])];
            let (b, c) = ((face / 2 + 1) % 3, (face / 2 + 2) % 3);
            assert_eq!(u[b] * v[c] - u[c] * v[b], if face % 2 == 1 { 1 } else { -1 });
        }
    }

    #[test]
    fn each_case_has_a_vertex_on_each_crossed_edge_and_on_no_other() {
        for case in 0..256 {
            let mut used: Vec<usize> = triangles(case).into_iter().flatten().collect();
            used.sort_unstable();
            used.dedup();
            assert_eq!(used, crossed(case), "case {case}");
            let mut in_loops = loops(case).concat();
            in_loops.sort_unstable();
            assert_eq!(in_loops, crossed(case), "case {case}: each crossed edge in one loop");
        }
    }

    #[test]
    fn the_rim_of_each_case_is_its_segments_and_no_diagonal_lies_in_a_face() {
        for case in 0..256 {
            let mut sides: BTreeMap<[usize; 2], i32> = BTreeMap::new();
            for [a, b, c] in triangles(case) {
                for side in [[a, b], [b, c], [c, a]] {
                    *sides.entry(side).or_default() += 1;
                }
            }
            let rim: Vec<_> = sides.keys().filter(|[a, b]| !sides.contains_key(&[*b, *a])).copied().collect();
            let mut segments: Vec<_> = (0..6).flat_map(|face| face_segments(case, face)).collect();
            segments.sort_unstable();
            assert_eq!(rim, segments, "case {case}");
            for ([a, b], n) in &sides {
                assert_eq!(*n, 1, "case {case}: side {a}–{b}");
                assert!(rim.contains(&[*a, *b]) || sides.contains_key(&[*b, *a]));
                assert!(
                    rim.contains(&[*a, *b]) || !share_face(*a, *b),
                    "case {case}: {a}–{b} lies in a face"
                );
            }
        }
    }

    /// An upper face seen as the lower face of the next cube: its corners and edges lose the bit of the axis.
    #[test]
    fn neighbours_agree_on_the_face_between_them() {
        for case in 0..256 {
            for axis in 0..3 {
                let bit = 1 << axis;
                let beyond: usize =
                    (0..8).filter(|c| c & bit == 0 && case >> (c | bit) & 1 == 1).map(|c| 1 << c).sum();
                let across = |edge: usize| {
                    let [a, b] = edge_corners(edge);
                    edge_between(a & !bit, b & !bit)
                };
                let mut own: Vec<_> =
                    face_segments(case, 2 * axis + 1).iter().map(|[a, b]| [across(*b), across(*a)]).collect();
                let mut other = face_segments(beyond, 2 * axis);
                own.sort_unstable();
                other.sort_unstable();
                assert_eq!(own, other, "case {case}, axis {axis}");
                // The other corners of the next cube make no difference.
                let filled = beyond | (0..8).filter(|c| c & bit != 0).map(|c| 1 << c).sum::<usize>();
                let mut filled = face_segments(filled, 2 * axis);
                filled.sort_unstable();
                assert_eq!(filled, other);
            }
        }
    }

    #[test]
    fn a_single_corner_gives_one_triangle_facing_outwards() {
        for corner in 0..8usize {
            let found = triangles(1 << corner);
            assert_eq!(found.len(), 1);
            let middle = |edge: usize| -> [i32; 3] {
                let [a, b] = edge_corners(edge);
                std::array::from_fn(|axis| (a >> axis & 1) as i32 + (b >> axis & 1) as i32)
            };
            let [p, q, r] = found[0].map(middle);
            let [u, v]: [[i32; 3]; 2] =
                [std::array::from_fn(|i| q[i] - p[i]), std::array::from_fn(|i| r[i] - p[i])];
            let normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
            let inwards: i32 =
                (0..3).map(|axis| normal[axis] * (2 * (corner >> axis & 1) as i32 - p[axis])).sum();
            assert!(inwards < 0, "corner {corner}: {found:?}");
        }
        // The complement has the same triangle, with the opposite orientation.
        assert_eq!(triangles(0xfe).len(), 1);
        assert_ne!(triangles(0xfe), triangles(1));
    }

    #[test]
    fn the_table_holds_all_triangles_of_all_cases() {
        let words = table();
        assert_eq!(words.len(), 256 * CASE_WORDS);
        let mut max = 0;
        for (case, row) in words.chunks_exact(CASE_WORDS).enumerate() {
            let expected = triangles(case);
            max = max.max(expected.len());
            let found: Vec<[usize; 3]> = row[1..=row[0] as usize]
                .iter()
                .map(|word| [0, 4, 8].map(|shift| (word >> shift & 15) as usize))
                .collect();
            assert_eq!(found, expected, "case {case}");
            let bends: usize = loops(case).iter().map(|edges| edges.len() - 2).sum();
            assert_eq!(found.len(), bends, "case {case}: every loop is filled");
        }
        assert_eq!(max, CASE_WORDS - 1);
        // An ambiguous face: two inside corners across a diagonal stay separate.
        assert_eq!(loops(0b1001).len(), 2);
        assert_eq!(loops(!0b1001 & 0xff).len(), 1);
    }
}
