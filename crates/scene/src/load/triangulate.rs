//! Cuts the faces of meshes into triangles.

use robust::{Coord, orient2d};

use crate::Vec3;

/// Maximum number of corners of a face that is cut at its ears, whose time grows with their cube.
const MAX_CORNERS: usize = 1000;

/// Cuts a face into triangles of its corners: a fan from the first where that covers the face, else ears one
/// by one. Every corner is kept, also on a straight edge, so that faces beside it share all edges. The error
/// describes the problem.
pub(super) fn triangulate(corners: &[Vec3]) -> Result<Vec<[Vec3; 3]>, String> {
    let mut corners = corners.to_vec();
    corners.dedup();
    while corners.len() > 1 && corners.first() == corners.last() {
        corners.pop();
    }
    let fan = || corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]]).collect();
    if corners.len() <= 3 {
        return Ok(fan());
    }
    // A face without area has no direction; its triangles have no area either.
    let Some(flat) = projected(&corners) else { return Ok(fan()) };
    let n = corners.len();
    if (1..n - 1).all(|k| turn(&flat, 0, k, k + 1) > 0.0) {
        return Ok(fan());
    }
    if n > MAX_CORNERS {
        return Err(format!("a concave face of {n} corners, expected at most {MAX_CORNERS}: triangulate it"));
    }
    let mut left: Vec<usize> = (0..n).collect();
    let mut triangles = Vec::with_capacity(n - 2);
    while left.len() > 3 {
        let Some(ear) = (0..left.len()).find(|ear| is_ear(&flat, &left, *ear)) else {
            return Err(format!("a face of {n} corners that crosses or touches itself: triangulate it"));
        };
        let around = neighbours(&left, ear);
        triangles.push(around.map(|corner| corners[corner]));
        left.remove(ear);
    }
    triangles.push([left[0], left[1], left[2]].map(|corner| corners[corner]));
    Ok(triangles)
}

/// Returns the corners in the plane of the face, counter-clockwise: without the coordinate in which the
/// normal is longest. `None` if the face has no area.
fn projected(corners: &[Vec3]) -> Option<Vec<Coord<f64>>> {
    let origin = corners[0];
    let from_first = |v: &Vec3| -> Vec3 { std::array::from_fn(|i| v[i] - origin[i]) };
    let mut normal = [0.0; 3];
    for (a, b) in corners.iter().zip(corners.iter().cycle().skip(1)) {
        let (a, b) = (from_first(a), from_first(b));
        for (i, sum) in normal.iter_mut().enumerate() {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            *sum += a[j] * b[k] - a[k] * b[j];
        }
    }
    let axis = (0..3).max_by(|i, j| normal[*i].abs().total_cmp(&normal[*j].abs()))?;
    if normal[axis] == 0.0 || !normal[axis].is_finite() {
        return None;
    }
    let (mut first, mut second) = ((axis + 1) % 3, (axis + 2) % 3);
    if normal[axis] < 0.0 {
        (first, second) = (second, first);
    }
    Some(corners.iter().map(|corner| Coord { x: corner[first], y: corner[second] }).collect())
}

/// Returns a positive number if the three corners turn to the left.
fn turn(flat: &[Coord<f64>], a: usize, b: usize, c: usize) -> f64 {
    orient2d(flat[a], flat[b], flat[c])
}

/// Returns the corner before, the corner itself and the corner after it.
fn neighbours(left: &[usize], at: usize) -> [usize; 3] {
    let n = left.len();
    [left[(at + n - 1) % n], left[at], left[(at + 1) % n]]
}

/// Returns true if the triangle at a corner can be cut off: it has an area, and no other corner is in it.
fn is_ear(flat: &[Coord<f64>], left: &[usize], ear: usize) -> bool {
    let [a, b, c] = neighbours(left, ear);
    if turn(flat, a, b, c) <= 0.0 {
        return false;
    }
    left.iter().all(|&other| {
        let is_corner = [a, b, c].iter().any(|corner| flat[*corner] == flat[other]);
        is_corner
            || turn(flat, a, b, other) < 0.0
            || turn(flat, b, c, other) < 0.0
            || turn(flat, c, a, other) < 0.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(triangles: &[[Vec3; 3]]) -> f64 {
        let doubled = |[a, b, c]: &[Vec3; 3]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        // Triangles of the other side would count negative.
        triangles.iter().map(|triangle| 0.5 * doubled(triangle)).sum()
    }

    fn flat(corners: &[[f64; 2]]) -> Vec<Vec3> {
        corners.iter().map(|[x, y]| [*x, *y, 0.5 * x - y]).collect()
    }

    #[test]
    fn concave_faces_have_their_area() {
        let l = [[2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0], [0.0, 0.0]];
        let comb =
            [[0.0, 0.0], [5.0, 0.0], [5.0, 3.0], [4.0, 1.0], [3.0, 3.0], [2.0, 1.0], [1.0, 3.0], [0.0, 1.0]];
        let straight = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]];
        for (corners, expected) in [(&l[..], 3.0), (&comb[..], 10.0), (&straight[..], 4.0)] {
            for begin in 0..corners.len() {
                let mut turned = corners.to_vec();
                turned.rotate_left(begin);
                let triangles = triangulate(&flat(&turned)).unwrap();
                assert_eq!(triangles.len(), corners.len() - 2);
                assert!((area(&triangles) - expected).abs() < 1e-12, "{turned:?}");
                let doubled = |triangle: &[Vec3; 3]| area(std::slice::from_ref(triangle)) > 0.0;
                assert!(triangles.iter().all(doubled), "{turned:?}");
                // Clockwise, too.
                turned.reverse();
                assert!((area(&triangulate(&flat(&turned)).unwrap()) + expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn faces_that_are_no_polygons_are_cut_or_refused() {
        let convex = flat(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        let fan = [[convex[0], convex[1], convex[2]], [convex[0], convex[2], convex[3]]];
        assert_eq!(triangulate(&convex).unwrap(), fan);
        let doubled = [convex[0], convex[1], convex[1], convex[2], convex[3], convex[0]];
        assert_eq!(triangulate(&doubled).unwrap(), fan);
        assert!(triangulate(&convex[..2]).unwrap().is_empty() && triangulate(&[]).unwrap().is_empty());
        let line = flat(&[[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [2.0, 0.0]]);
        assert_eq!(triangulate(&line).unwrap().len(), 2);
        // Its edges are left, whatever the triangles.
        let crossed = flat(&[[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 1.5], [-1.0, 0.0]]);
        assert!(triangulate(&crossed).is_ok_and(|triangles| triangles.len() == 3));
        let huge: Vec<Vec3> = (0..2002).map(|k| [f64::from(k), f64::from(k % 2), 0.0]).collect();
        let folded = [huge, vec![[1000.0, 9.0, 0.0]]].concat();
        let problem = triangulate(&folded).unwrap_err();
        assert_eq!(problem, "a concave face of 2003 corners, expected at most 1000: triangulate it");
    }
}
