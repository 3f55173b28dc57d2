//! Thousands of mutated meshes, polygons and rasters against oracles that share no code with the readers:
//! signed volumes, solid angles, angles of sight, areas by the shoelace formula, and edges compared by pairs.

use std::f64::consts::{PI, TAU};

use super::{Triangle, cuboid, signed_volume, torus, turned_around};
use crate::Vec3;
use crate::shapes::polygon::Polygon;
use crate::shapes::triangle_mesh::TriangleMesh;
use crate::terrain::read_ascii_grid;

/// Cases of a default run, and of a long one.
const CASES: u64 = 2_000;
const LONG_CASES: u64 = 500_000;

/// Draws that repeat for a case.
struct Draws(u64);

impl Draws {
    fn of_case(case: u64) -> Self {
        Self(case.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a whole number below `n`.
    fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 33) as usize % n
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn point(&mut self, low: f64, high: f64) -> Vec3 {
        std::array::from_fn(|_| self.between(low, high))
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for k in (1..all.len()).rev() {
            all.swap(k, self.below(k + 1));
        }
    }
}

/// Returns the number of times that triangles wind around a point, by their solid angles.
fn winding(triangles: &[Triangle], point: Vec3) -> f64 {
    let solid_angle = |triangle: &Triangle| {
        let [a, b, c] = triangle.map(|corner| -> Vec3 { std::array::from_fn(|i| corner[i] - point[i]) });
        let dot = |p: Vec3, q: Vec3| (0..3).map(|i| p[i] * q[i]).sum::<f64>();
        let cross: Vec3 =
            std::array::from_fn(|i| b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3]);
        let [la, lb, lc] = [a, b, c].map(|v| dot(v, v).sqrt());
        2.0 * dot(a, cross).atan2(la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb)
    };
    triangles.iter().map(solid_angle).sum::<f64>() / (4.0 * PI)
}

/// Returns one solid or two that are apart, within [−4, 4]³.
fn solids(draws: &mut Draws) -> Vec<Triangle> {
    let is_one = draws.below(3) > 0;
    let mut one = |x: f64| match draws.below(2) {
        0 => {
            let size = draws.point(0.5, 2.0);
            cuboid([x, -1.0, -1.0], [x + size[0], size[1] - 1.0, size[2] - 1.0])
        }
        _ => {
            let sides = [3 + draws.below(5), 3 + draws.below(5)];
            torus([x + 1.5, 0.2, -0.1], [draws.between(0.8, 1.2), draws.between(0.1, 0.5)], sides)
        }
    };
    let first = one(-3.5);
    if is_one { first } else { [first, one(0.5)].concat() }
}

/// Expected result of reading a mutated mesh.
#[derive(Debug, PartialEq)]
enum Expected {
    /// A region with the volume and the inside of these triangles.
    Region,
    Refusal,
}

/// Mutates a closed mesh; returns the kind of mutation, too.
fn mutate_mesh(draws: &mut Draws, triangles: &mut Vec<Triangle>) -> (usize, Expected) {
    let n = triangles.len();
    let k = draws.below(n);
    let kind = draws.below(12);
    let expected = match kind {
        0 => Expected::Region,
        1 => {
            *triangles = turned_around(triangles);
            Expected::Region
        }
        2 => {
            triangles.remove(k);
            Expected::Refusal
        }
        3 => {
            triangles[k].swap(0, 1);
            Expected::Refusal
        }
        4 => {
            triangles.push(triangles[k]);
            Expected::Refusal
        }
        // A corner of all its triangles.
        5 => {
            let (from, shift) = (triangles[k][0], draws.point(-0.05, 0.05));
            let corners = triangles.as_flattened_mut().iter_mut().filter(|corner| **corner == from);
            corners.for_each(|corner| *corner = std::array::from_fn(|i| from[i] + shift[i]));
            Expected::Region
        }
        // A corner of one of its triangles.
        6 => {
            triangles[k][1][draws.below(3)] += draws.between(0.1, 0.3);
            Expected::Refusal
        }
        7 => {
            let [a, b, c] = triangles[k];
            let middle: Vec3 = std::array::from_fn(|i| (a[i] + b[i] + c[i]) / 3.0);
            triangles.remove(k);
            triangles.extend([[a, b, middle], [b, c, middle], [c, a, middle]]);
            Expected::Region
        }
        // A corner on an edge of one of its two triangles: they no longer meet there.
        8 => {
            let [a, b, c] = triangles[k];
            let middle: Vec3 = std::array::from_fn(|i| 0.5 * (a[i] + b[i]));
            triangles.remove(k);
            triangles.extend([[a, middle, c], [middle, b, c]]);
            Expected::Refusal
        }
        // A line, which has no area.
        9 => {
            let [a, b, _] = triangles[k];
            triangles.push([a, a, b]);
            Expected::Region
        }
        10 => {
            let (scale, shift) = (10_f64.powf(draws.between(-3.0, 3.0)), draws.point(-1e3, 1e3));
            let moved = |corner: Vec3| std::array::from_fn(|i| scale * (corner[i] + shift[i]));
            triangles.iter_mut().for_each(|triangle| *triangle = triangle.map(moved));
            Expected::Region
        }
        _ => {
            triangles[k][2][draws.below(3)] = [f64::NAN, f64::INFINITY][draws.below(2)];
            Expected::Refusal
        }
    };
    draws.shuffle(triangles);
    triangles.iter_mut().for_each(|triangle| triangle.rotate_left(draws.below(3)));
    (kind, expected)
}

fn check_mesh(case: u64) {
    let draws = &mut Draws::of_case(case);
    let mut triangles = solids(draws);
    let (kind, expected) = mutate_mesh(draws, &mut triangles);
    let mesh = match (TriangleMesh::new(&triangles), expected) {
        (Ok(mesh), Expected::Region) => mesh,
        (Err(_), Expected::Refusal) => return,
        (found, expected) => panic!("case {case}, mutation {kind}: {found:?}, expected {expected:?}"),
    };
    // Far from the origin the oracle cancels.
    let at = mesh.middle();
    let near: Vec<Triangle> = triangles
        .iter()
        .map(|triangle| triangle.map(|corner| std::array::from_fn(|i| corner[i] - at[i])))
        .collect();
    let volume = signed_volume(&near).abs();
    assert!(
        (mesh.volume / volume - 1.0).abs() < 1e-9,
        "case {case}, mutation {kind}: {} {volume}",
        mesh.volume
    );
    let half: Vec3 = std::array::from_fn(|i| 0.55 * (mesh.bounds[1][i] - mesh.bounds[0][i]));
    for _ in 0..8 {
        let point: Vec3 = std::array::from_fn(|i| half[i] * draws.between(-1.0, 1.0));
        let turns = winding(&near, point).abs();
        // Near the surface rounding decides.
        if (turns - turns.round()).abs() < 1e-6 {
            let found = mesh.contains(std::array::from_fn(|i| at[i] + point[i]));
            assert_eq!(found, turns > 0.5, "case {case}, mutation {kind}: {point:?} of {turns} turns");
        }
    }
}

type Point = [f64; 2];

fn sides(ring: &[Point]) -> impl Iterator<Item = [Point; 2]> + '_ {
    (0..ring.len()).map(|k| [ring[k], ring[(k + 1) % ring.len()]])
}

/// Returns true if two sides of rings cross, by comparing all pairs; those that share an end do not.
fn crosses(rings: &[Vec<Point>]) -> bool {
    let all: Vec<[Point; 2]> = rings.iter().flat_map(|ring| sides(ring)).collect();
    let turn = |a: Point, b: Point, c: Point| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let apart = |[a, b]: [Point; 2], [c, d]: [Point; 2]| turn(a, b, c) * turn(a, b, d) < 0.0;
    let share = |[a, b]: [Point; 2], [c, d]: [Point; 2]| a == c || a == d || b == c || b == d;
    let meets = |p: [Point; 2], q: [Point; 2]| !share(p, q) && apart(p, q) && apart(q, p);
    (0..all.len()).any(|i| (0..i).any(|j| meets(all[i], all[j])))
}

/// Returns the angle under which a ring is seen all around a point, in turns.
fn turns_around(ring: &[Point], at: Point) -> f64 {
    let angle = |[a, b]: [Point; 2]| {
        let [p, q] = [a, b].map(|corner| [corner[0] - at[0], corner[1] - at[1]]);
        (p[0] * q[1] - p[1] * q[0]).atan2(p[0] * q[0] + p[1] * q[1])
    };
    sides(ring).map(angle).sum::<f64>() / TAU
}

fn shoelace(ring: &[Point]) -> f64 {
    0.5 * sides(ring).map(|[a, b]| a[0] * b[1] - a[1] * b[0]).sum::<f64>()
}

fn check_polygon(case: u64) {
    let draws = &mut Draws::of_case(case);
    let n = 4 + draws.below(8);
    let star = |draws: &mut Draws, scale: f64| -> Vec<Point> {
        let corner = |k: usize, r: f64| {
            let angle = TAU * k as f64 / n as f64;
            [scale * r * angle.cos(), scale * r * angle.sin()]
        };
        (0..n).map(|k| corner(k, draws.between(0.6, 1.0))).collect()
    };
    let mut rings = vec![star(draws, 1.0)];
    if draws.below(2) == 0 {
        // A hole: within the inscribed circle of the narrowest star.
        rings.push(star(draws, 0.3));
    }
    let area =
        rings.iter().enumerate().map(|(k, ring)| if k == 0 { 1.0 } else { -1.0 } * shoelace(ring).abs());
    let area: f64 = area.sum();
    let ring = draws.below(rings.len());
    let k = draws.below(n);
    let kind = draws.below(7);
    let corners = &mut rings[ring];
    match kind {
        0 => corners.reverse(),
        1 => corners.rotate_left(k),
        2 => corners.insert(k, corners[k]),
        3 => corners.push(corners[0]),
        // It crosses itself or becomes another region.
        4 => corners.swap(k, (k + 2) % n),
        5 => corners[k][draws.below(2)] = f64::NAN,
        _ => corners.truncate(2),
    }
    let polygon = Polygon { rings: rings.clone() };
    let problem = polygon.problem();
    let place = format!("case {case}, mutation {kind}: {problem:?} of {rings:?}");
    match kind {
        0..4 => {
            assert!(problem.is_none(), "{place}");
            assert!((polygon.area() / area - 1.0).abs() < 1e-12, "{place}: {} {area}", polygon.area());
        }
        4 if crosses(&rings) => return assert!(problem.is_some(), "{place}"),
        4 => assert!(!problem.is_some_and(|problem| problem.contains("crosses")), "{place}"),
        _ => return assert!(problem.is_some(), "{place}"),
    }
    for _ in 0..8 {
        let at = [draws.between(-1.1, 1.1), draws.between(-1.1, 1.1)];
        let turns: Vec<f64> = rings.iter().map(|ring| turns_around(ring, at)).collect();
        if turns.iter().all(|turns| (turns - turns.round()).abs() < 1e-6) {
            let is_in = turns.iter().filter(|turns| turns.abs() > 0.5).count() % 2 == 1;
            assert_eq!(polygon.contains(at), is_in, "{place}: {at:?}");
        }
    }
}

fn check_raster(case: u64) {
    let draws = &mut Draws::of_case(case);
    let (n_columns, n_rows) = (2 + draws.below(6), 2 + draws.below(6));
    let n = n_columns * n_rows;
    let mut values: Vec<f64> =
        (0..n).map(|_| (draws.between(-500.0, 3000.0) * 100.0).round() / 100.0).collect();
    if draws.below(2) == 0 {
        values[draws.below(n)] = f64::NAN;
    }
    let mut head = vec![
        format!("ncols {n_columns}"),
        format!("nrows\t{n_rows}"),
        "xllcorner 100.5".to_owned(),
        "yllcorner   -20".to_owned(),
        "cellsize 5.0".to_owned(),
        "NODATA_value -9999".to_owned(),
    ];
    draws.shuffle(&mut head);
    let mut words: Vec<String> =
        values.iter().map(|x| if x.is_nan() { "-9999".to_owned() } else { x.to_string() }).collect();
    let k = draws.below(n);
    let kind = draws.below(8);
    let is_valid = match kind {
        // Upper case, another break of lines, a word for unknown heights.
        0 => {
            head.iter_mut().for_each(|line| *line = line.to_uppercase());
            true
        }
        1 => true,
        2 => {
            (words[k], values[k]) = ("nan".to_owned(), f64::NAN);
            true
        }
        3 => {
            words.remove(k);
            false
        }
        4 => {
            words.insert(k, "1".to_owned());
            false
        }
        5 => {
            words[k] = ["12,5", "1e999", "x1", "--1"][draws.below(4)].to_owned();
            false
        }
        // The number of columns or of rows.
        6 => {
            let place = head.iter().position(|line| line.starts_with("ncols")).unwrap();
            head[place] = format!("ncols {}", n_columns + 1);
            false
        }
        _ => {
            head.retain(|line| !line.starts_with("nrows"));
            false
        }
    };
    let width = if kind == 1 { 1 + draws.below(n) } else { n_columns };
    let rows: Vec<String> =
        words.chunks(width).map(|row| row.join([" ", "  ", "\t"][draws.below(3)])).collect();
    let end = ["\n", "\r\n"][draws.below(2)];
    let text = head.iter().chain(&rows).map(|line| line.clone() + end).collect::<String>();
    let found = read_ascii_grid(&text);
    assert_eq!(found.is_ok(), is_valid, "case {case}, mutation {kind}: {:?} of {text}", found.err());
    let Ok(grid) = found else { return };
    let bits =
        |values: &[f64]| -> Vec<Option<f64>> { values.iter().map(|x| (!x.is_nan()).then_some(*x)).collect() };
    assert_eq!(bits(&grid.values), bits(&values), "case {case}, mutation {kind}: {text}");
    // A terrain needs a cell whose heights are known.
    let Ok(terrain) = grid.terrain() else {
        return assert!(values.iter().any(|x| x.is_nan()), "case {case}");
    };
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min).floor();
    for (idx, expected) in values.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
        // Rows come from the north.
        let at = [idx % n_columns, n_rows - 1 - idx / n_columns].map(|cell| 5.0 * cell as f64);
        if let Some(found) = terrain.height_m(at) {
            let difference = (found + lowest - expected).abs();
            assert!(difference < 1e-6, "case {case}: {found} at {at:?}, expected {expected}");
        }
    }
}

#[test]
fn mutated_meshes_polygons_and_rasters_are_read_or_refused_as_oracles_say() {
    (0..CASES).for_each(|case| {
        check_mesh(case);
        check_polygon(case);
        check_raster(case);
    });
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn many_mutated_meshes_polygons_and_rasters_are_read_or_refused_as_oracles_say() {
    (CASES..LONG_CASES).for_each(|case| {
        check_mesh(case);
        check_polygon(case);
        check_raster(case);
    });
}
