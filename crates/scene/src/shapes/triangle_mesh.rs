//! A closed surface of triangles as a region of space.

use std::collections::HashMap;

use robust::{Coord, Coord3D, orient2d, orient3d};

use crate::Vec3;
use crate::check::{number, vector};

/// Minimum height of a triangle over its longest edge, where a normal is required: below it, the normal is
/// rounding error in single precision.
const SLIVER: f64 = 1e-5;
/// Distances, over the longest side of the mesh, within which corners are merged if it is not closed, in
/// turn: programs round them to single precision, or to six digits in texts.
const WELDS: [f64; 2] = [1e-6, 1e-5];
/// Distance within which the corners of a mesh that is not closed may be the same: the user decides.
const REPAIRABLE: f64 = 1e-3;
/// Maximum number of cells along an edge of the triangle lookup grid.
const MAX_CELLS: f64 = 512.0;

/// A closed surface of triangles and the region it encloses.
#[derive(Debug)]
pub struct TriangleMesh {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Corners of the bounding box.
    pub(crate) bounds: [Vec3; 2],
    /// Enclosed volume.
    pub(crate) volume: f64,
    /// Numbers of cells in the y–z plane along both axes, and the triangles over each cell.
    n_cells: [usize; 2],
    over: Vec<Vec<u32>>,
}

impl TriangleMesh {
    /// Makes the surface of triangles given by their corners. Corners with equal coordinates are merged; if
    /// the surface is not closed then, so are those that differ in their last digits. The error describes the
    /// problem.
    pub(crate) fn new(corners: &[[Vec3; 3]]) -> Result<Self, String> {
        let all = corners.as_flattened();
        if let Some(corner) = all.iter().find(|corner| !corner.iter().all(|x| x.is_finite())) {
            return Err(format!("a corner at {}", vector(*corner)));
        }
        let size = (0..3).map(|i| {
            let (low, high) = (|a: f64, v: &Vec3| a.min(v[i]), |a: f64, v: &Vec3| a.max(v[i]));
            all.iter().fold(f64::NEG_INFINITY, high) - all.iter().fold(f64::INFINITY, low)
        });
        let size = size.fold(0.0, f64::max);
        let exact = merged(all, exact_merge(all));
        let found = check_closed(&exact.0, &exact.1).map(|()| exact).or_else(|problem| {
            let welded = |distance: f64| {
                Some(merged(all, welding_merge(all, distance * size))).filter(|(vertices, triangles)| {
                    !triangles.is_empty() && check_closed(vertices, triangles).is_ok()
                })
            };
            WELDS.into_iter().find_map(welded).ok_or_else(|| match welded(REPAIRABLE) {
                Some(_) => format!(
                    "{problem}, which corners farther than {} from each other leave; Merge Close Vertices of \
                     MeshLab repairs it",
                    number(WELDS[WELDS.len() - 1] * size)
                ),
                None => problem,
            })
        });
        let (vertices, triangles) = found?;
        if triangles.is_empty() {
            return Err("no triangles".to_owned());
        }
        let min = |i: usize| vertices.iter().map(|v| v[i]).fold(f64::INFINITY, f64::min);
        let max = |i: usize| vertices.iter().map(|v| v[i]).fold(f64::NEG_INFINITY, f64::max);
        let bounds: [Vec3; 2] = [std::array::from_fn(min), std::array::from_fn(max)];
        let volume = enclosed_volume(&vertices, &triangles, bounds).abs();
        let box_volume: f64 = (0..3).map(|i| bounds[1][i] - bounds[0][i]).product();
        if volume <= 1e-6 * box_volume {
            return Err("a surface that encloses nothing".to_owned());
        }
        let side = (triangles.len() as f64).sqrt().ceil().clamp(1.0, MAX_CELLS) as usize;
        let mut mesh = Self { vertices, triangles, bounds, volume, n_cells: [side; 2], over: Vec::new() };
        mesh.over = vec![Vec::new(); side * side];
        for idx in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(idx as u32);
            let cell =
                |i: usize, pick: fn(f64, f64) -> f64| mesh.cell(i, pick(pick(a[i + 1], b[i + 1]), c[i + 1]));
            let (low, high) =
                ([cell(0, f64::min), cell(1, f64::min)], [cell(0, f64::max), cell(1, f64::max)]);
            for z in low[1]..=high[1] {
                for y in low[0]..=high[0] {
                    mesh.over[z * side + y].push(idx as u32);
                }
            }
        }
        Ok(mesh)
    }

    /// Returns the corners, each once.
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Returns the triangles by their corners; all face the same side, which may be the inside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.triangles[triangle as usize].map(|vertex| self.vertices[vertex as usize])
    }

    /// Returns the cell of a coordinate: y for 0, z for 1.
    fn cell(&self, i: usize, x: f64) -> usize {
        let (low, high) = (self.bounds[0][i + 1], self.bounds[1][i + 1]);
        let share = (x - low) / (high - low);
        ((share * self.n_cells[i] as f64) as usize).min(self.n_cells[i] - 1)
    }

    /// Returns the reason why the mesh is unfit for contact, which requires distances and normals, if there
    /// is one. A triangle without area has no normal, and triangles inside another part are no surface of the
    /// whole; the latter are found where an edge passes through a triangle, and at the centres of triangles.
    pub(crate) fn contact_problem(&self) -> Option<String> {
        let size = (0..3).map(|i| self.bounds[1][i] - self.bounds[0][i]).fold(0.0, f64::max);
        let mut faces_out = [0_usize; 2];
        for idx in 0..self.triangles.len() as u32 {
            let [a, b, c] = self.corners(idx);
            let between = |from: Vec3, to: Vec3| -> Vec3 { std::array::from_fn(|i| to[i] - from[i]) };
            let (ab, ac, bc) = (between(a, b), between(a, c), between(b, c));
            let cross: Vec3 = std::array::from_fn(|i| {
                ab[(i + 1) % 3] * ac[(i + 2) % 3] - ab[(i + 2) % 3] * ac[(i + 1) % 3]
            });
            let length = |v: Vec3| v.iter().map(|x| x * x).sum::<f64>().sqrt();
            let longest = length(ab).max(length(ac)).max(length(bc));
            let height = length(cross) / longest;
            if height < SLIVER * longest {
                let [a, b, c] = [a, b, c].map(vector);
                return Some(format!("a triangle without area, of corners {a}, {b} and {c}"));
            }
            let step = (1e-3 * height).min(1e-6 * size) / length(cross);
            let beside = |sign: f64| -> Vec3 {
                std::array::from_fn(|i| (a[i] + b[i] + c[i]) / 3.0 + sign * step * cross[i])
            };
            let is_in = [1.0, -1.0].map(|sign| self.contains(beside(sign)));
            if is_in[0] == is_in[1] || faces_out[usize::from(!is_in[0])] > 0 {
                let [a, b, c] = [a, b, c].map(vector);
                return Some(format!("a triangle inside another part, of corners {a}, {b} and {c}"));
            }
            faces_out[usize::from(is_in[0])] += 1;
        }
        self.crossed_edge().map(|edge| {
            let [from, to] = edge.map(|v| vector(self.vertices[v as usize]));
            format!("parts that cross, at the edge from {from} to {to}")
        })
    }

    /// Returns an edge that passes through the interior of a triangle.
    fn crossed_edge(&self) -> Option<[u32; 2]> {
        let edges = self.triangles.iter().flat_map(|t| (0..3).map(|k| [t[k], t[(k + 1) % 3]]));
        // Each edge occurs in both directions.
        edges.filter(|[a, b]| a < b).find(|&[a, b]| {
            let (p, q) = (self.vertices[a as usize], self.vertices[b as usize]);
            let cells =
                |i: usize| self.cell(i, p[i + 1].min(q[i + 1]))..=self.cell(i, p[i + 1].max(q[i + 1]));
            cells(1).any(|z| {
                cells(0).any(|y| {
                    self.over[z * self.n_cells[0] + y].iter().any(|&idx| {
                        let is_apart = self.triangles[idx as usize].iter().all(|v| ![a, b].contains(v));
                        is_apart && passes_through(&self.corners(idx), p, q)
                    })
                })
            })
        })
    }

    /// Returns the middle of the box around the surface.
    pub(crate) fn middle(&self) -> Vec3 {
        std::array::from_fn(|i| 0.5 * (self.bounds[0][i] + self.bounds[1][i]))
    }

    /// Returns true if a point is at most `distance` from the surface.
    pub(crate) fn is_near(&self, point: Vec3, distance: f64) -> bool {
        let is_out = |low: f64, high: f64, x: f64| x < low - distance || x > high + distance;
        if (0..3).any(|i| is_out(self.bounds[0][i], self.bounds[1][i], point[i])) {
            return false;
        }
        (0..self.triangles.len() as u32).any(|idx| {
            let corners = self.corners(idx);
            let is_apart = |i: usize| {
                let [a, b, c] = corners.map(|corner| corner[i]);
                is_out(a.min(b).min(c), a.max(b).max(c), point[i])
            };
            !(0..3).any(is_apart) && distance2(&corners, point) < distance * distance
        })
    }

    /// Returns true if `point` is enclosed: the signed crossings of a ray from it along x do not cancel.
    ///
    /// The ray is displaced symbolically, by less than any number, so that it never meets an edge; its side
    /// of an edge is computed exactly, so that neighbouring triangles agree.
    pub(crate) fn contains(&self, point: Vec3) -> bool {
        if (0..3).any(|i| point[i] < self.bounds[0][i] || point[i] > self.bounds[1][i]) {
            return false;
        }
        let cell = self.cell(1, point[2]) * self.n_cells[0] + self.cell(0, point[1]);
        let crossings = self.over[cell].iter().map(|&idx| crossing(&self.corners(idx), point));
        crossings.sum::<i32>() != 0
    }
}

/// Returns for each corner the first one with the same coordinates.
fn exact_merge(corners: &[Vec3]) -> Vec<usize> {
    let mut places = HashMap::with_capacity(corners.len());
    // Adding zero turns a negative zero into a positive one.
    let key = |corner: &Vec3| corner.map(|x| (x + 0.0).to_bits());
    corners.iter().enumerate().map(|(idx, corner)| *places.entry(key(corner)).or_insert(idx)).collect()
}

/// Returns for each corner the first one that is at most `distance` away along each axis.
fn welding_merge(corners: &[Vec3], distance: f64) -> Vec<usize> {
    let cell = |corner: &Vec3| corner.map(|x| (x / distance).floor() as i64);
    let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
    let mut first = Vec::with_capacity(corners.len());
    for (idx, corner) in corners.iter().enumerate() {
        let at = cell(corner);
        let is_near = |other: &&usize| (0..3).all(|i| (corners[**other][i] - corner[i]).abs() <= distance);
        let near = (0..27).find_map(|k: i64| {
            let beside = [k % 3, k / 3 % 3, k / 9].map(|step| step - 1);
            let around = std::array::from_fn(|i| at[i].saturating_add(beside[i]));
            cells.get(&around).and_then(|others| others.iter().find(is_near)).copied()
        });
        if near.is_none() {
            cells.entry(at).or_default().push(idx);
        }
        first.push(near.unwrap_or(idx));
    }
    first
}

/// Returns the vertices that are left when corners are replaced by others, and the triangles of them. A
/// triangle with two equal corners is a line, whose two sides close each other.
fn merged(corners: &[Vec3], first: Vec<usize>) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (mut vertices, mut places) = (Vec::new(), vec![u32::MAX; corners.len()]);
    for (idx, first) in first.iter().enumerate() {
        if *first == idx {
            places[idx] = vertices.len() as u32;
            vertices.push(corners[idx]);
        }
    }
    let all = first.as_chunks::<3>().0.iter().map(|triangle| triangle.map(|first| places[first]));
    let triangles = all.filter(|[a, b, c]| a != b && b != c && c != a).collect();
    (vertices, triangles)
}

/// Returns true if the segment from `p` to `q` passes through the interior of a triangle. Computed exactly;
/// touching does not count.
fn passes_through(triangle: &[Vec3; 3], p: Vec3, q: Vec3) -> bool {
    let coord = |v: &Vec3| Coord3D { x: v[0], y: v[1], z: v[2] };
    let side = |a: &Vec3, b: &Vec3, c: &Vec3, d: &Vec3| {
        let volume = orient3d(coord(a), coord(b), coord(c), coord(d));
        if volume == 0.0 { 0.0 } else { volume.signum() }
    };
    let [a, b, c] = triangle;
    if side(a, b, c, &p) * side(a, b, c, &q) >= 0.0 {
        return false;
    }
    let turns = [side(&p, &q, a, b), side(&p, &q, b, c), side(&p, &q, c, a)];
    turns[0] != 0.0 && turns == [turns[0]; 3]
}

/// Returns the squared distance from a point to a triangle.
fn distance2(triangle: &[Vec3; 3], point: Vec3) -> f64 {
    let between = |from: Vec3, to: Vec3| -> Vec3 { std::array::from_fn(|i| to[i] - from[i]) };
    let dot = |p: Vec3, q: Vec3| (0..3).map(|i| p[i] * q[i]).sum::<f64>();
    let cross = |p: Vec3, q: Vec3| -> Vec3 {
        std::array::from_fn(|i| p[(i + 1) % 3] * q[(i + 2) % 3] - p[(i + 2) % 3] * q[(i + 1) % 3])
    };
    let [a, b, c] = *triangle;
    let edges = [(a, b), (b, c), (c, a)];
    let normal = cross(between(a, b), between(a, c));
    if dot(normal, normal) > 0.0
        && edges.iter().all(|&(from, to)| dot(cross(between(from, to), between(from, point)), normal) >= 0.0)
    {
        return dot(between(a, point), normal).powi(2) / dot(normal, normal);
    }
    let to_edge = |(from, to): (Vec3, Vec3)| {
        let (edge, to_point) = (between(from, to), between(from, point));
        let share = (dot(to_point, edge) / dot(edge, edge)).clamp(0.0, 1.0);
        (0..3).map(|i| (to_point[i] - share * edge[i]).powi(2)).sum::<f64>()
    };
    edges.map(to_edge).into_iter().fold(f64::INFINITY, f64::min)
}

/// Returns 1 or −1 if the line from `point` along x crosses the triangle, depending on the side it comes
/// from.
fn crossing(triangle: &[Vec3; 3], point: Vec3) -> i32 {
    let [a, b, c] = triangle;
    let sides = [side_of(a, b, point), side_of(b, c, point), side_of(c, a, point)];
    if sides[0] == 0 || sides != [sides[0]; 3] {
        return 0;
    }
    // Barycentric coordinates of the point where the line crosses the triangle.
    let cross =
        |p: &Vec3, q: &Vec3| (p[1] - point[1]) * (q[2] - point[2]) - (p[2] - point[2]) * (q[1] - point[1]);
    let shares = [cross(b, c), cross(c, a), cross(a, b)];
    let x = (0..3).map(|k| shares[k] * triangle[k][0]).sum::<f64>() / shares.iter().sum::<f64>();
    if x > point[0] { sides[0] } else { 0 }
}

/// Returns the side of the line from `a` to `b`, in the y–z plane, on which (y + ε, z + ε²) lies.
fn side_of(a: &Vec3, b: &Vec3, point: Vec3) -> i32 {
    let flat = |v: &Vec3| Coord { x: v[1], y: v[2] };
    let side = orient2d(flat(a), flat(b), flat(&point));
    let decisive = [side, a[2] - b[2], b[1] - a[1]].into_iter().find(|x| *x != 0.0);
    decisive.map_or(0, |x| if x > 0.0 { 1 } else { -1 })
}

/// Checks that every edge occurs equally often in both directions, as in a closed surface.
fn check_closed(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<(), String> {
    let edges = || triangles.iter().flat_map(|t| (0..3).map(|k| (t[k], t[(k + 1) % 3])));
    let mut uses: HashMap<(u32, u32), u32> = HashMap::with_capacity(3 * triangles.len());
    for edge in edges() {
        *uses.entry(edge).or_default() += 1;
    }
    for (a, b) in edges() {
        let (ahead, back) = (uses[&(a, b)], uses.get(&(b, a)).copied().unwrap_or(0));
        if ahead != back {
            let what = if (ahead + back) % 2 == 1 {
                "an open edge"
            } else {
                "triangles that face opposite sides at the edge"
            };
            let [from, to] = [a, b].map(|v| vector(vertices[v as usize]));
            return Err(format!("{what} from {from} to {to}"));
        }
    }
    Ok(())
}

/// Returns the enclosed volume by the divergence theorem: the sum of signed tetrahedra from each triangle to
/// the centre.
fn enclosed_volume(vertices: &[Vec3], triangles: &[[u32; 3]], bounds: [Vec3; 2]) -> f64 {
    let middle: Vec3 = std::array::from_fn(|i| 0.5 * (bounds[0][i] + bounds[1][i]));
    let from_middle = |v: u32| -> Vec3 { std::array::from_fn(|i| vertices[v as usize][i] - middle[i]) };
    let six_fold: f64 = triangles
        .iter()
        .map(|triangle| {
            let [a, b, c] = triangle.map(from_middle);
            (0..3)
                .map(|i| a[i] * (b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3]))
                .sum::<f64>()
        })
        .sum();
    six_fold / 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Triangles of a ball of radius 1: an octahedron whose faces are divided into n².
    fn ball(n: i32) -> Vec<[Vec3; 3]> {
        let mut triangles = Vec::new();
        for signs in 0..8 {
            let sign = |bit: i32| if signs >> bit & 1 == 0 { 1.0 } else { -1.0 };
            let at = |i: i32, j: i32| -> Vec3 {
                let p = [f64::from(i), f64::from(j), f64::from(n - i - j)];
                let length = p.iter().map(|x| x * x).sum::<f64>().sqrt();
                [sign(0) * p[0] / length, sign(1) * p[1] / length, sign(2) * p[2] / length]
            };
            let mut push = |a: Vec3, b: Vec3, c: Vec3| {
                triangles.push(if sign(0) * sign(1) * sign(2) > 0.0 { [a, b, c] } else { [a, c, b] });
            };
            for i in 0..n {
                for j in 0..n - i {
                    push(at(i, j), at(i + 1, j), at(i, j + 1));
                    if i + j + 2 <= n {
                        push(at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
                    }
                }
            }
        }
        triangles
    }

    #[test]
    fn corners_that_differ_in_their_last_digits_are_merged() {
        let exact = TriangleMesh::new(&ball(6)).unwrap();
        for (relative, is_welded) in [(1e-7, true), (4e-6, true), (1e-3, false)] {
            let mut corners = ball(6);
            for (idx, corner) in corners.as_flattened_mut().iter_mut().enumerate() {
                corner[idx % 3] += relative * ((idx % 7) as f64 / 6.0);
            }
            let found = TriangleMesh::new(&corners);
            assert_eq!(found.is_ok(), is_welded, "{relative}: {found:?}");
            match found {
                Ok(mesh) => {
                    assert_eq!(mesh.vertices().len(), exact.vertices().len());
                    assert_eq!(mesh.triangles().len(), exact.triangles().len());
                    assert!((mesh.volume - exact.volume).abs() < 1e-4);
                }
                Err(problem) => assert!(problem.contains("Merge Close Vertices"), "{problem}"),
            }
        }
    }

    #[test]
    fn a_triangulated_ball_contains_the_same_points_as_a_ball() {
        let mesh = TriangleMesh::new(&ball(24)).unwrap();
        let volume = 4.0 / 3.0 * std::f64::consts::PI;
        assert!((mesh.volume / volume - 1.0).abs() < 5e-3, "{}", mesh.volume);
        for k in 0..40 {
            for j in 0..40 {
                for i in 0..40 {
                    // These rays pass through corners, along edges and in the planes of symmetry.
                    let p = [i, j, k].map(|x| f64::from(x - 20) / 16.0);
                    let r = p.iter().map(|x| x * x).sum::<f64>().sqrt();
                    if !(0.99..=1.0).contains(&r) {
                        assert_eq!(mesh.contains(p), r < 1.0, "{p:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn points_near_a_triangulated_ball_are_near_a_ball() {
        let mesh = TriangleMesh::new(&ball(24)).unwrap();
        assert_eq!(mesh.contact_problem(), None);
        for k in 0..400 {
            let direction = [f64::from(k % 20) - 9.5, f64::from(k / 20) - 9.5, f64::from(k % 7) - 3.0];
            let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            for r in [0.5, 0.8, 1.2, 1.7] {
                let p = direction.map(|x| x * r / length);
                let distance = f64::abs(r - 1.0);
                // The centres of faces are 2e-3 below the ball's surface.
                assert!(mesh.is_near(p, distance + 4e-3) && !mesh.is_near(p, distance - 4e-3), "{p:?}");
            }
        }
    }

    #[test]
    fn surfaces_inside_out_enclose_the_same() {
        let inside_out: Vec<_> = ball(4).into_iter().map(|[a, b, c]| [a, c, b]).collect();
        let mesh = TriangleMesh::new(&inside_out).unwrap();
        assert!(mesh.volume > 3.0 && mesh.contains([0.0; 3]) && !mesh.contains([0.0, 0.9, 0.9]));
    }

    #[test]
    fn a_missing_or_flipped_triangle_is_found() {
        let mut open = ball(1);
        open.pop();
        let message = TriangleMesh::new(&open).unwrap_err();
        assert!(message.starts_with("an open edge from [") && message.contains("] to ["), "{message}");
        let mut turned = ball(1);
        turned[3].swap(0, 1);
        let message = TriangleMesh::new(&turned).unwrap_err();
        assert!(message.starts_with("triangles that face opposite sides at the edge from ["), "{message}");
        assert_eq!(TriangleMesh::new(&[]).unwrap_err(), "no triangles");
        let flat = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let both_sides = [flat, [flat[0], flat[2], flat[1]]];
        assert_eq!(TriangleMesh::new(&both_sides).unwrap_err(), "a surface that encloses nothing");
    }
}
