//! A closed surface of triangles as a region of space.

use std::collections::HashMap;

use robust::{Coord, Coord3D, orient2d, orient3d};

use super::orientation::{OPEN_EDGE, Part, Parts, is_closed, parts, turned_note};
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
    /// Note about triangles that faced the wrong side in the file.
    turned: Option<String>,
}

impl TriangleMesh {
    /// Makes the surface of triangles given by their corners. Corners with equal coordinates are merged; if
    /// the surface is not closed then, so are those that differ in their last digits. Parts whose triangles
    /// face the wrong side are turned: outer ones inward, or cavities outward. The error describes the
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
        let found = exact.parts(corners.len()).map(|parts| (exact, parts)).or_else(|problem| {
            if !problem.starts_with(OPEN_EDGE) {
                return Err(problem);
            }
            let welded = |distance: f64| {
                let mesh = merged(all, welding_merge(all, distance * size));
                let parts = mesh.parts(corners.len()).ok().filter(|_| !mesh.triangles.is_empty())?;
                Some((mesh, parts))
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
        let (Merged { vertices, triangles, .. }, Parts { of: part_of, touch }) = found?;
        if triangles.is_empty() {
            return Err("no triangles".to_owned());
        }
        let min = |i: usize| vertices.iter().map(|v| v[i]).fold(f64::INFINITY, f64::min);
        let max = |i: usize| vertices.iter().map(|v| v[i]).fold(f64::NEG_INFINITY, f64::max);
        let bounds: [Vec3; 2] = [std::array::from_fn(min), std::array::from_fn(max)];
        let side = (triangles.len() as f64).sqrt().ceil().clamp(1.0, MAX_CELLS) as usize;
        let mut mesh = Self {
            vertices,
            triangles,
            bounds,
            volume: 0.0,
            n_cells: [side; 2],
            over: Vec::new(),
            turned: None,
        };
        mesh.list_over();
        mesh.turn_outward(&part_of);
        if touch {
            mesh.drop_inner();
        }
        let box_volume: f64 = (0..3).map(|i| bounds[1][i] - bounds[0][i]).product();
        if mesh.volume <= 1e-6 * box_volume {
            return Err("a surface that encloses nothing".to_owned());
        }
        Ok(mesh)
    }

    /// Lists the triangles over each cell of the y–z plane.
    fn list_over(&mut self) {
        let side = self.n_cells[0];
        let mut over = vec![Vec::new(); side * side];
        for idx in 0..self.triangles.len() {
            let [a, b, c] = self.corners(idx as u32);
            let cell =
                |i: usize, pick: fn(f64, f64) -> f64| self.cell(i, pick(pick(a[i + 1], b[i + 1]), c[i + 1]));
            let (low, high) =
                ([cell(0, f64::min), cell(1, f64::min)], [cell(0, f64::max), cell(1, f64::max)]);
            for z in low[1]..=high[1] {
                for y in low[0]..=high[0] {
                    over[z * side + y].push(idx as u32);
                }
            }
        }
        self.over = over;
    }

    /// Drops triangles with the enclosed region on both sides, as of a face that two solids share, if the
    /// others are closed without them: they are no surface of the whole.
    fn drop_inner(&mut self) {
        let is_inner = |idx: u32| {
            self.beside(idx).is_some_and(|beside| beside.iter().all(|point| self.contains(*point)))
        };
        let kept = self.triangles.iter().zip(0..).filter(|(_, idx)| !is_inner(*idx));
        let mut kept: Vec<[u32; 3]> = kept.map(|(triangle, _)| *triangle).collect();
        if kept.len() == self.triangles.len() || !is_closed(&kept) {
            return;
        }
        // Corners within the face have no triangle any more.
        let (mut vertices, mut places) = (Vec::new(), vec![u32::MAX; self.vertices.len()]);
        for vertex in kept.as_flattened_mut() {
            let place = &mut places[*vertex as usize];
            if *place == u32::MAX {
                *place = vertices.len() as u32;
                vertices.push(self.vertices[*vertex as usize]);
            }
            *vertex = *place;
        }
        (self.vertices, self.triangles) = (vertices, kept);
        self.list_over();
        let middle = self.middle();
        let volumes = (0..self.triangles.len()).map(|idx| tetrahedron(self.corners(idx as u32), middle));
        self.volume = volumes.sum::<f64>().abs();
    }

    /// Turns the triangles of parts that face the wrong side, and finds the enclosed volume. `part_of` has
    /// the part of each triangle.
    fn turn_outward(&mut self, part_of: &[u32]) {
        let n_parts = part_of.iter().max().map_or(0, |last| *last as usize + 1);
        let mut parts = vec![Part::default(); n_parts];
        let mut boxes = vec![[[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]]; n_parts];
        let middle = self.middle();
        for (idx, &part_idx) in part_of.iter().enumerate() {
            let corners = self.corners(idx as u32);
            let [low, high] = &mut boxes[part_idx as usize];
            for corner in corners {
                *low = std::array::from_fn(|i| low[i].min(corner[i]));
                *high = std::array::from_fn(|i| high[i].max(corner[i]));
            }
            let part = &mut parts[part_idx as usize];
            part.first = if part.n == 0 { idx } else { part.first };
            part.n += 1;
            part.volume += tetrahedron(corners, middle);
        }
        for (part, [low, high]) in parts.iter_mut().zip(&boxes) {
            part.box_volume = (0..3).map(|i| high[i] - low[i]).product();
        }
        if n_parts > 1 {
            self.find_nesting(part_of, &boxes, &mut parts);
        }
        self.turned = turned_note(&parts);
        for (triangle, &part) in self.triangles.iter_mut().zip(part_of) {
            if parts[part as usize].is_wrong() {
                triangle.swap(1, 2);
            }
        }
        let outward = |part: &Part| if part.is_wrong() { -part.volume } else { part.volume };
        self.volume = parts.iter().map(outward).sum::<f64>().abs();
    }

    /// Finds the parts that each part lies in, with all of its surface: parts that cross are in neither.
    fn find_nesting(&self, part_of: &[u32], boxes: &[[Vec3; 2]], parts: &mut [Part]) {
        // Number of triangles of each part whose inner side was found, and how many of them other parts
        // enclose.
        let mut n_found = vec![0_usize; parts.len()];
        let mut enclosed: HashMap<(u32, u32), usize> = HashMap::new();
        let mut sums: Vec<(u32, i32)> = Vec::new();
        for (idx, &own) in part_of.iter().enumerate() {
            let Some(beside) = self.beside(idx as u32) else { continue };
            for point in beside {
                self.sum_crossings(point, part_of, &mut sums);
                let is_in = |part: u32| sums.iter().any(|(other, sum)| *other == part && *sum != 0);
                if is_in(own) {
                    n_found[own as usize] += 1;
                    for (other, _) in sums.iter().filter(|(other, sum)| *other != own && *sum != 0) {
                        *enclosed.entry((own, *other)).or_default() += 1;
                    }
                    break;
                }
            }
        }
        let mut nested: Vec<(u32, u32)> = enclosed
            .into_iter()
            .filter(|((own, other), n)| {
                let ([low, high], [outer_low, outer_high]) = (boxes[*own as usize], boxes[*other as usize]);
                let is_in_box = (0..3).all(|i| low[i] >= outer_low[i] && high[i] <= outer_high[i]);
                *n == n_found[*own as usize] && is_in_box && !parts[*own as usize].is_flat()
            })
            .map(|(pair, _)| pair)
            .collect();
        nested.sort_unstable();
        for (own, other) in nested {
            let are_they = |a: u32, b: u32| {
                let pair = (part_of[a as usize], part_of[b as usize]);
                pair == (own, other) || pair == (other, own)
            };
            if self.crossed_edge(are_they).is_none() {
                parts[own as usize].within.push(other);
            }
        }
    }

    /// Returns the note about triangles that faced the wrong side in the file and were turned.
    pub fn turned(&self) -> Option<&str> {
        self.turned.as_deref()
    }

    /// Returns the corners, each once.
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Returns the triangles by their corners, counter-clockwise seen from outside.
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
        let mut faces_out = [0_usize; 2];
        let n = self.triangles.len();
        for idx in 0..n as u32 {
            let named = || {
                let [a, b, c] = self.corners(idx).map(vector);
                format!("of corners {a}, {b} and {c}, number {} of {n}", idx + 1)
            };
            let Some(beside) = self.beside(idx) else {
                return Some(format!("a triangle without area, {}", named()));
            };
            let is_in = beside.map(|point| self.contains(point));
            if is_in[0] == is_in[1] || faces_out[usize::from(!is_in[0])] > 0 {
                return Some(format!("a triangle inside another part, {}", named()));
            }
            faces_out[usize::from(is_in[0])] += 1;
        }
        self.crossed_edge(|_, _| true).map(|edge| {
            let [from, to] = edge.map(|v| vector(self.vertices[v as usize]));
            format!("parts that cross, at the edge from {from} to {to}")
        })
    }

    /// Returns points close to the middle of a triangle: on the side that it faces, and on the other. `None`
    /// for a triangle without area.
    fn beside(&self, triangle: u32) -> Option<[Vec3; 2]> {
        let size = (0..3).map(|i| self.bounds[1][i] - self.bounds[0][i]).fold(0.0, f64::max);
        let [a, b, c] = self.corners(triangle);
        let between = |from: Vec3, to: Vec3| -> Vec3 { std::array::from_fn(|i| to[i] - from[i]) };
        let (ab, ac, bc) = (between(a, b), between(a, c), between(b, c));
        let cross: Vec3 =
            std::array::from_fn(|i| ab[(i + 1) % 3] * ac[(i + 2) % 3] - ab[(i + 2) % 3] * ac[(i + 1) % 3]);
        let length = |v: Vec3| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let longest = length(ab).max(length(ac)).max(length(bc));
        let height = length(cross) / longest;
        let has_area = height >= SLIVER * longest;
        let step = (1e-3 * height).min(1e-6 * size) / length(cross);
        let at = |sign: f64| -> Vec3 {
            std::array::from_fn(|i| (a[i] + b[i] + c[i]) / 3.0 + sign * step * cross[i])
        };
        has_area.then(|| [at(1.0), at(-1.0)])
    }

    /// Returns an edge that passes through the interior of a triangle. `applies` selects pairs of triangles:
    /// that of the edge, and the other.
    fn crossed_edge(&self, applies: impl Fn(u32, u32) -> bool) -> Option<[u32; 2]> {
        let edges = self.triangles.iter().zip(0_u32..);
        let edges = edges.flat_map(|(t, own)| (0..3).map(move |k| (own, [t[k], t[(k + 1) % 3]])));
        // Each edge occurs in both directions.
        let mut edges = edges.filter(|(_, [a, b])| a < b);
        let found = edges.find(|&(own, [a, b])| {
            let (p, q) = (self.vertices[a as usize], self.vertices[b as usize]);
            let cells =
                |i: usize| self.cell(i, p[i + 1].min(q[i + 1]))..=self.cell(i, p[i + 1].max(q[i + 1]));
            cells(1).any(|z| {
                cells(0).any(|y| {
                    self.over[z * self.n_cells[0] + y].iter().any(|&idx| {
                        let is_apart = self.triangles[idx as usize].iter().all(|v| ![a, b].contains(v));
                        applies(own, idx) && is_apart && passes_through(&self.corners(idx), p, q)
                    })
                })
            })
        });
        found.map(|(_, edge)| edge)
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
        let crossings = self.over(point).iter().map(|&idx| crossing(&self.corners(idx), point));
        crossings.sum::<i32>() != 0
    }

    /// Returns the triangles over the cell of a point within the bounds.
    fn over(&self, point: Vec3) -> &[u32] {
        &self.over[self.cell(1, point[2]) * self.n_cells[0] + self.cell(0, point[1])]
    }

    /// Lists the parts that the ray from `point` along x crosses, with the sum of its crossings.
    fn sum_crossings(&self, point: Vec3, part_of: &[u32], sums: &mut Vec<(u32, i32)>) {
        sums.clear();
        if (0..3).any(|i| point[i] < self.bounds[0][i] || point[i] > self.bounds[1][i]) {
            return;
        }
        for &idx in self.over(point) {
            let (crossing, part) = (crossing(&self.corners(idx), point), part_of[idx as usize]);
            match sums.iter_mut().find(|(other, _)| *other == part) {
                Some((_, sum)) => *sum += crossing,
                None if crossing != 0 => sums.push((part, crossing)),
                None => {}
            }
        }
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

/// Vertices and triangles that are left when corners are replaced by others.
struct Merged {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Position of each triangle in the file.
    places_in_file: Vec<usize>,
}

impl Merged {
    /// Returns the connected parts of a file of `n` triangles.
    fn parts(&self, n: usize) -> Result<Parts, String> {
        let number = |idx: usize| format!("triangle {} of {n}", self.places_in_file[idx] + 1);
        parts(&self.vertices, &self.triangles, number)
    }
}

/// Replaces corners by those of the given indices. A triangle with two equal corners is a line, whose two
/// sides close each other.
fn merged(corners: &[Vec3], first: Vec<usize>) -> Merged {
    let (mut vertices, mut places) = (Vec::new(), vec![u32::MAX; corners.len()]);
    for (idx, first) in first.iter().enumerate() {
        if *first == idx {
            places[idx] = vertices.len() as u32;
            vertices.push(corners[idx]);
        }
    }
    let all = first.as_chunks::<3>().0.iter().map(|triangle| triangle.map(|first| places[first]));
    let (places_in_file, triangles) =
        all.enumerate().filter(|(_, [a, b, c])| a != b && b != c && c != a).unzip();
    Merged { vertices, triangles, places_in_file }
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

/// Returns the signed volume of the tetrahedron from a triangle to `middle`: by the divergence theorem they
/// add up to the enclosed volume.
fn tetrahedron(triangle: [Vec3; 3], middle: Vec3) -> f64 {
    let [a, b, c] = triangle.map(|v| -> Vec3 { std::array::from_fn(|i| v[i] - middle[i]) });
    let six_fold: f64 =
        (0..3).map(|i| a[i] * (b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3])).sum();
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
        assert_eq!(mesh.turned(), Some("all 128 triangles faced inward, and were turned outward"));
        assert_eq!(mesh.contact_problem(), None);
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
        assert!(message.starts_with("triangle 4 of 8, of corners ["), "{message}");
        assert!(
            message.contains(" faces the side opposite to its neighbours', as do 1 of the 8 "),
            "{message}"
        );
        assert_eq!(TriangleMesh::new(&[]).unwrap_err(), "no triangles");
        let flat = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let both_sides = [flat, [flat[0], flat[2], flat[1]]];
        assert_eq!(TriangleMesh::new(&both_sides).unwrap_err(), "a surface that encloses nothing");
    }
}
