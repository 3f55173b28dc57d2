//! Tests of the orientation of meshes of several parts against their signed volumes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod mutations;

use proptest::prelude::*;

use super::triangle_mesh::TriangleMesh;
use crate::Vec3;

type Triangle = [Vec3; 3];

/// Returns a box, its triangles outward.
fn cuboid(low: Vec3, high: Vec3) -> Vec<Triangle> {
    let corner =
        |k: usize| -> Vec3 { std::array::from_fn(|i| if k >> i & 1 == 1 { high[i] } else { low[i] }) };
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let halves = faces.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
    halves.map(|half| half.map(corner)).collect()
}

/// Returns a torus about z, its triangles outward.
fn torus(centre: Vec3, radii: [f64; 2], n: [usize; 2]) -> Vec<Triangle> {
    let at = |i: usize, j: usize| -> Vec3 {
        let [u, v] = [(i, n[0]), (j, n[1])].map(|(k, n)| std::f64::consts::TAU * (k % n) as f64 / n as f64);
        let r = radii[0] + radii[1] * v.cos();
        [centre[0] + r * u.cos(), centre[1] + r * u.sin(), centre[2] + radii[1] * v.sin()]
    };
    let quads = (0..n[0]).flat_map(|i| (0..n[1]).map(move |j| [i, j]));
    let both = |[i, j]: [usize; 2]| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[a, b, c], [a, c, d]]
    };
    quads.flat_map(both).collect()
}

fn signed_volume(triangles: &[Triangle]) -> f64 {
    let cross =
        |a: Vec3, b: Vec3, i: usize| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
    triangles.iter().map(|[a, b, c]| (0..3).map(|i| a[i] * cross(*b, *c, i)).sum::<f64>() / 6.0).sum()
}

/// A closed surface, the number of others around it, and a point in it that is in none of those within it.
struct Shell {
    triangles: Vec<Triangle>,
    depth: usize,
    inside: Vec3,
}

/// Returns the shells at one place: nested boxes, with a torus in the innermost one or alone.
fn shells(at: f64, n_boxes: usize, has_torus: bool, sides: [usize; 2]) -> Vec<Shell> {
    let centre = [at, 0.3 * at, -0.2 * at];
    let mut shells: Vec<Shell> = (0..n_boxes)
        .map(|depth| {
            let half = 1.0 - 0.15 * depth as f64;
            let corner =
                |sign: f64| std::array::from_fn(|i| centre[i] + sign * half * (1.0 + 0.1 * i as f64));
            let inside = [centre[0] + half - 0.05, centre[1], centre[2]];
            Shell { triangles: cuboid(corner(-1.0), corner(1.0)), depth, inside }
        })
        .collect();
    if has_torus || n_boxes == 0 {
        let triangles = torus(centre, [0.25, 0.1], sides);
        shells.push(Shell { triangles, depth: n_boxes, inside: [centre[0] + 0.25, centre[1], centre[2]] });
    }
    shells
}

fn turned_around(triangles: &[Triangle]) -> Vec<Triangle> {
    triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect()
}

/// Reorders triangles and their corners.
fn shuffled(mut triangles: Vec<Triangle>, seed: u64) -> Vec<Triangle> {
    let mut state = seed | 1;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    for k in (1..triangles.len()).rev() {
        triangles.swap(k, draw() % (k + 1));
        triangles[k].rotate_left(draw() % 3);
    }
    triangles
}

fn places() -> impl Strategy<Value = Vec<(usize, bool, [usize; 2])>> {
    prop::collection::vec((0..5_usize, any::<bool>(), [3..9_usize, 3..9_usize]), 1..5)
}

fn all_shells(places: &[(usize, bool, [usize; 2])]) -> Vec<Shell> {
    let each = places.iter().enumerate();
    each.flat_map(|(k, (n, has_torus, sides))| shells(5.0 * k as f64, *n, *has_torus, *sides)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn outer_parts_face_outward_and_cavities_inward(
        places in places(),
        flips in prop::collection::vec(any::<bool>(), 32),
        seed in any::<u64>(),
    ) {
        let shells = all_shells(&places);
        let (mut triangles, mut expected, mut n_wrong) = (Vec::new(), 0.0, 0);
        for (shell, flip) in shells.iter().zip(&flips) {
            let volume = signed_volume(&shell.triangles);
            assert!(volume > 0.0);
            let is_cavity = shell.depth % 2 == 1;
            expected += if is_cavity { -volume } else { volume };
            n_wrong += usize::from(*flip != is_cavity);
            triangles.extend(if *flip { turned_around(&shell.triangles) } else { shell.triangles.clone() });
        }
        let mesh = TriangleMesh::new(&shuffled(triangles, seed)).unwrap();
        let corners = |t: &[u32; 3]| t.map(|v| mesh.vertices()[v as usize]);
        let found: Vec<Triangle> = mesh.triangles().iter().map(corners).collect();
        prop_assert!((signed_volume(&found) / expected - 1.0).abs() < 1e-9);
        prop_assert!((mesh.volume / expected - 1.0).abs() < 1e-9);
        prop_assert_eq!(mesh.contact_problem(), None);
        for shell in &shells {
            prop_assert_eq!(mesh.contains(shell.inside), shell.depth % 2 == 0);
        }
        prop_assert_eq!(mesh.turned().is_some(), n_wrong > 0, "{:?}", mesh.turned());
        if let Some(note) = mesh.turned().filter(|_| shells.len() > 1) {
            let begin = format!("{n_wrong} of its {} parts faced the wrong side", shells.len());
            prop_assert!(note.starts_with(&begin), "{}", note);
        }
    }

    #[test]
    fn mixed_parts_are_refused_with_the_triangle(
        places in places(),
        flips in prop::collection::vec(any::<bool>(), 32),
        part in any::<prop::sample::Index>(),
        wrong in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let mut shells = all_shells(&places);
        for (shell, _) in shells.iter_mut().zip(flips).filter(|(_, flip)| *flip) {
            shell.triangles = turned_around(&shell.triangles);
        }
        let part = part.index(shells.len());
        let first: usize = shells[..part].iter().map(|shell| shell.triangles.len()).sum();
        let mut wrong: Vec<usize> = wrong.iter().map(|k| k.index(shells[part].triangles.len())).collect();
        wrong.sort_unstable();
        wrong.dedup();
        wrong.iter().for_each(|&k| shells[part].triangles[k].swap(0, 1));
        let triangles: Vec<Triangle> = shells.iter().flat_map(|shell| shell.triangles.clone()).collect();
        let message = TriangleMesh::new(&triangles).unwrap_err();
        let begin = format!("triangle {} of {}, of corners [", first + wrong[0] + 1, triangles.len());
        prop_assert!(message.starts_with(&begin), "{message}, expected {begin}");
        let counts = format!("as do {} of the {} triangles", wrong.len(), shells[part].triangles.len());
        prop_assert!(message.contains(&counts), "{message}");
    }

    /// Outward bodies that cross each other stay outward: neither is a cavity of the other.
    #[test]
    fn parts_that_cross_are_not_nested(shift in 0.05..1.9_f64, flips in any::<[bool; 2]>()) {
        let bars = [
            cuboid([-3.0, -0.5, -0.6], [3.0, 0.5, 0.6]),
            cuboid([shift - 0.4, -3.0, -0.5], [shift + 0.4, 3.0, 0.5]),
        ];
        let turned = bars.iter().zip(flips).flat_map(|(bar, flip)| {
            if flip { turned_around(bar) } else { bar.clone() }
        });
        let mesh = TriangleMesh::new(&turned.collect::<Vec<_>>()).unwrap();
        for point in [[0.0; 3], [shift, 2.0, 0.0], [shift, 0.0, 0.0], [-2.5, 0.0, 0.0]] {
            prop_assert!(mesh.contains(point));
        }
        prop_assert_eq!(mesh.turned().is_some(), flips != [false, false]);
    }
}

#[test]
fn bodies_that_touch_are_parts_of_their_own() {
    // Along an edge, and at a corner.
    for shift in [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]] {
        let second = cuboid(shift, shift.map(|x| x + 1.0));
        let mut triangles = cuboid([0.0; 3], [1.0; 3]);
        triangles.extend(turned_around(&second));
        let mesh = TriangleMesh::new(&triangles).unwrap();
        assert!((mesh.volume - 2.0).abs() < 1e-12, "{}", mesh.volume);
        let note = mesh.turned().unwrap();
        assert!(note.contains("part 2 (12 triangles from number 13) outward"), "{note}");
    }
}

#[test]
fn faces_that_two_solids_share_are_no_surface() {
    let first = cuboid([0.0; 3], [1.0; 3]);
    let second = cuboid([1.0, 0.0, 0.0], [2.0, 1.0, 1.0]);
    // With the same diagonal of the shared face, and with the other one.
    let mirrored = second.iter().map(|triangle| triangle.map(|[x, y, z]| [x, 1.0 - y, z]));
    for second in [second.clone(), turned_around(&mirrored.collect::<Vec<_>>())] {
        let mesh = TriangleMesh::new(&[first.clone(), second].concat()).unwrap();
        assert!((mesh.volume - 2.0).abs() < 1e-12 && mesh.turned().is_none());
        assert_eq!((mesh.triangles().len(), mesh.vertices().len()), (20, 12));
        assert_eq!(mesh.contact_problem(), None);
        assert!(mesh.contains([1.0, 0.5, 0.4]) && !mesh.contains([1.0, 1.1, 0.4]));
    }
    // A part of a face only: the rest of it is a surface, so all triangles stay.
    let smaller = cuboid([1.0, 0.0, 0.0], [2.0, 0.5, 1.0]);
    let mesh = TriangleMesh::new(&[first, smaller].concat()).unwrap();
    assert_eq!(mesh.triangles().len(), 24);
    assert!(mesh.contact_problem().is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Solids that fill a box between them are that box.
    #[test]
    fn solids_that_share_all_inner_faces_are_their_union(
        cuts in prop::collection::vec(0.1..0.9_f64, 1..6),
        seed in any::<u64>(),
    ) {
        let mut cuts = cuts;
        cuts.sort_by(f64::total_cmp);
        cuts.dedup();
        let ends: Vec<f64> = [0.0].into_iter().chain(cuts).chain([1.0]).collect();
        let slices = ends.windows(2).flat_map(|ends| cuboid([0.0, ends[0], 0.0], [2.0, ends[1], 3.0]));
        let mesh = TriangleMesh::new(&shuffled(slices.collect(), seed)).unwrap();
        prop_assert!((mesh.volume - 6.0).abs() < 1e-9, "{}", mesh.volume);
        prop_assert_eq!(mesh.triangles().len(), 4 + 8 * (ends.len() - 1));
        // Triangles of 3 whose height is below 1e-5 of that count as without area; not tried is the bound.
        let thinnest = ends.windows(2).map(|ends| ends[1] - ends[0]).fold(f64::INFINITY, f64::min);
        match (mesh.contact_problem(), thinnest) {
            (Some(problem), ..3.1e-5) => prop_assert!(problem.contains("without area"), "{problem}"),
            (problem, 2.9e-5..) => prop_assert_eq!(problem, None),
            (None, thinnest) => prop_assert!(false, "{thinnest}: no problem"),
            (Some(_), _) => {}
        }
    }
}

#[test]
fn a_slice_too_thin_for_normals_is_refused() {
    for (thickness, is_thin) in [(2.8e-6, true), (2.8e-4, false)] {
        let ends = [0.0, 0.5, 0.5 + thickness, 1.0];
        let slices = ends.windows(2).flat_map(|ends| cuboid([0.0, ends[0], 0.0], [2.0, ends[1], 3.0]));
        let problem = TriangleMesh::new(&slices.collect::<Vec<_>>()).unwrap().contact_problem();
        assert_eq!(problem.is_some_and(|problem| problem.contains("without area")), is_thin, "{thickness}");
    }
}

#[test]
fn surfaces_with_one_side_are_refused() {
    // A Klein bottle in a figure of eight, of which all triangles are consistent but for its closure.
    let n = 8;
    let at = |i: usize, j: usize| -> Vec3 {
        let (i, j) = if i == n { (0, (n - j) % n) } else { (i, j % n) };
        let [u, v] = [i, j].map(|k| std::f64::consts::TAU * k as f64 / n as f64);
        let (a, b) = (v.sin(), (2.0 * v).sin());
        let r = 3.0 + (0.5 * u).cos() * a - (0.5 * u).sin() * b;
        [r * u.cos(), r * u.sin(), (0.5 * u).sin() * a + (0.5 * u).cos() * b + 0.01 * j as f64]
    };
    let mut triangles = Vec::new();
    for i in 0..n {
        for j in 0..n {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let message = TriangleMesh::new(&triangles).unwrap_err();
    assert!(message.starts_with("a surface with one side only"), "{message}");
}
