//! Closed triangle meshes: all triangles are tested, and the winding number gives the side.

use glam::DVec3;
use std::f64::consts::PI;

/// A closed surface; its triangles face outwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// Corners of triangles, in m, counter-clockwise as seen from outside.
    pub triangles_m: Vec<[DVec3; 3]>,
}

/// Distance from the surface, as a share of the size of the mesh, within which a point counts as on it.
const ON_IT: f64 = 1e-6;

impl Mesh {
    /// Returns the middle of the bounding box in m.
    pub fn middle_m(&self) -> DVec3 {
        let corners = || self.triangles_m.iter().flatten();
        let lower = corners().copied().fold(DVec3::INFINITY, DVec3::min);
        let upper = corners().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        0.5 * (lower + upper)
    }

    /// Returns the signed distance in m, negative inside, and the outward normal; on the surface, the normal
    /// is that of the triangles there, weighted by their angles (Bærentzen & Aanæs 2005).
    pub fn distance_m(&self, x: DVec3) -> (f64, DVec3) {
        let nearest = self.triangles_m.iter().map(|t| nearest_on(t, x));
        let by_distance = |a: &DVec3, b: &DVec3| a.distance(x).total_cmp(&b.distance(x));
        let nearest = nearest.min_by(by_distance).unwrap_or(DVec3::INFINITY);
        let side = if self.winding(x) > 0.5 { -1.0 } else { 1.0 };
        let distance = nearest.distance(x);
        if distance <= ON_IT * self.size_m() {
            (side * distance, self.normal_at(nearest))
        } else {
            (side * distance, side * (x - nearest) / distance)
        }
    }

    /// Returns the winding number of the surface about a point, by solid angles (van Oosterom & Strackee
    /// 1983, IEEE Trans. Biomed. Eng. 30, 125).
    fn winding(&self, x: DVec3) -> f64 {
        let angle = |t: &[DVec3; 3]| {
            let [a, b, c] = t.map(|corner| corner - x);
            let (la, lb, lc) = (a.length(), b.length(), c.length());
            let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
            2.0 * a.dot(b.cross(c)).atan2(below)
        };
        self.triangles_m.iter().map(angle).sum::<f64>() / (4.0 * PI)
    }

    fn normal_at(&self, p: DVec3) -> DVec3 {
        let close = 1e-9 * self.size_m();
        let weighed = |t: &[DVec3; 3]| {
            if nearest_on(t, p).distance(p) > close {
                return DVec3::ZERO;
            }
            let face = (t[1] - t[0]).cross(t[2] - t[0]).normalize();
            let is_at = |corner: &DVec3| corner.distance(p) <= close;
            let is_on_edge = |k: usize| nearest_on(&[t[k], t[(k + 1) % 3], t[k]], p).distance(p) <= close;
            let angle = match t.iter().position(is_at) {
                Some(k) => (t[(k + 1) % 3] - t[k]).angle_between(t[(k + 2) % 3] - t[k]),
                None if (0..3).any(is_on_edge) => PI,
                None => 2.0 * PI,
            };
            angle * face
        };
        self.triangles_m.iter().map(weighed).sum::<DVec3>().normalize()
    }

    /// Returns half its maximum extent along an axis, in m.
    fn size_m(&self) -> f64 {
        let corners = || self.triangles_m.iter().flatten().copied();
        let low = corners().fold(DVec3::INFINITY, DVec3::min);
        let high = corners().fold(DVec3::NEG_INFINITY, DVec3::max);
        0.5 * (high - low).max_element()
    }
}

/// Returns the point of a triangle nearest to x: the projection onto its plane if that is inside, or a point
/// of an edge.
fn nearest_on(t: &[DVec3; 3], x: DVec3) -> DVec3 {
    let [ab, ac] = [t[1] - t[0], t[2] - t[0]];
    let normal = ab.cross(ac);
    let area2 = normal.length_squared();
    if area2 > 0.0 {
        // Barycentric coordinates of the projection of x.
        let arm = x - t[0];
        let share_c = ab.cross(arm).dot(normal) / area2;
        let share_b = arm.cross(ac).dot(normal) / area2;
        if share_b >= 0.0 && share_c >= 0.0 && share_b + share_c <= 1.0 {
            return t[0] + share_b * ab + share_c * ac;
        }
    }
    let on_edge = |k: usize| {
        let way = t[(k + 1) % 3] - t[k];
        let share = if way == DVec3::ZERO { 0.0 } else { (x - t[k]).dot(way) / way.length_squared() };
        t[k] + share.clamp(0.0, 1.0) * way
    };
    (0..3).map(on_edge).min_by(|a, b| a.distance(x).total_cmp(&b.distance(x))).unwrap_or(t[0])
}
