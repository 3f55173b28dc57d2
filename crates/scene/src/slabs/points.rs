//! Contact points on the surface of a slab's piece.

use crate::vector::{cross, dot, unit};
use crate::{SlabPiece, Vec3};
use std::collections::HashSet;

/// Maximum distance of points on edges and faces, in units of the edge of a cube of the same volume.
const SPACING: f64 = 0.5;
/// Maximum number of parts of a length. Plates are never as slender; meshes may be needles.
const MAX_PARTS: f64 = 256.0;

impl SlabPiece {
    /// Returns contact points of the surface in m, relative to the centre of mass: corners, and between them
    /// points on edges and on faces no further apart than half the edge of a cube of the same volume. A bump
    /// or an edge narrower than that may enter a piece between them.
    pub fn contact_points_m(&self) -> Vec<Vec3> {
        let spacing_m = SPACING * self.volume_m3.cbrt();
        let mut points = self.vertices_m.clone();
        let mut seen = HashSet::new();
        for face in &self.faces {
            let ring: Vec<Vec3> = face.iter().map(|&v| self.vertices_m[v as usize]).collect();
            for (k, &a) in face.iter().enumerate() {
                let b = face[(k + 1) % face.len()];
                if seen.insert((a.min(b), a.max(b))) {
                    let (a, b) = (self.vertices_m[a as usize], self.vertices_m[b as usize]);
                    let edge: Vec3 = std::array::from_fn(|i| b[i] - a[i]);
                    let n = parts(dot(edge, edge).sqrt(), spacing_m);
                    points.extend((1..n).map(|k| along(a, edge, f64::from(k) / f64::from(n))));
                }
            }
            points.extend(inside(&ring, spacing_m));
        }
        points
    }
}

/// Returns the number of equal parts of a length that are no longer than the spacing, at most [`MAX_PARTS`].
fn parts(length_m: f64, spacing_m: f64) -> u32 {
    (length_m / spacing_m - 1e-9).ceil().clamp(1.0, MAX_PARTS) as u32
}

fn along(a: Vec3, edge: Vec3, share: f64) -> Vec3 {
    std::array::from_fn(|i| a[i] + share * edge[i])
}

/// Returns points of a square pattern within a convex polygon, further from its edges than half the pattern's
/// spacing.
fn inside(ring: &[Vec3], spacing_m: f64) -> Vec<Vec3> {
    let n = ring.len() as f64;
    let middle: Vec3 = std::array::from_fn(|i| ring.iter().map(|v| v[i]).sum::<f64>() / n);
    let edge = |k: usize| -> Vec3 {
        let (a, b) = (ring[k], ring[(k + 1) % ring.len()]);
        std::array::from_fn(|i| b[i] - a[i])
    };
    let normal = unit((0..ring.len()).fold([0.0; 3], |sum, k| {
        let part = cross(ring[k], ring[(k + 1) % ring.len()]);
        std::array::from_fn(|i| sum[i] + part[i])
    }));
    let longest = (0..ring.len())
        .map(edge)
        .max_by(|a, b| dot(*a, *a).total_cmp(&dot(*b, *b)))
        .map_or([1.0, 0.0, 0.0], unit);
    let across = cross(normal, longest);
    let reach = |axis: Vec3| {
        ring.iter().map(|v| dot(axis, std::array::from_fn(|i| v[i] - middle[i])).abs()).fold(0.0, f64::max)
    };
    // The same number of parts as on edges, so that points of faces line up with those of edges where the
    // face is a rectangle.
    let (lengths, mut points) = ([reach(longest), reach(across)].map(|half| 2.0 * half), Vec::new());
    let counts = lengths.map(|length| parts(length, spacing_m));
    for j in 1..counts[1] {
        for i in 1..counts[0] {
            let share = |k: u32, n: u32| f64::from(k) / f64::from(n) - 0.5;
            let point = along(middle, longest, lengths[0] * share(i, counts[0]));
            let point = along(point, across, lengths[1] * share(j, counts[1]));
            let from_edge = (0..ring.len())
                .map(|k| {
                    let outward = unit(cross(edge(k), normal));
                    dot(outward, std::array::from_fn(|i| ring[k][i] - point[i]))
                })
                .fold(f64::INFINITY, f64::min);
            if from_edge >= 0.5 * spacing_m.min(lengths[1] / f64::from(counts[1])) {
                points.push(point);
            }
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_cover_the_surface_without_holes() {
        // A plate of 2 × 1 × 0.5 m: a cube of its volume has an edge of 1 m.
        let [x, y, z] = [1.0, 0.5, 0.25];
        let vertices = (0..8).map(|k| {
            [
                if k & 1 == 0 { -x } else { x },
                if k & 2 == 0 { -y } else { y },
                if k & 4 == 0 { -z } else { z },
            ]
        });
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let piece = SlabPiece {
            slab: 0,
            vertices_m: vertices.collect(),
            faces: faces.iter().map(|face| face.to_vec()).collect(),
            centre_m: [0.0; 3],
            volume_m3: 1.0,
            mass_kg: 917.0,
            inertia_kg_m2: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            velocity_m_s: [0.0; 3],
        };
        let points = piece.contact_points_m();
        // Corners 8; edges of 2 m three each, of 1 m one, of 0.5 m none; large faces 3 × 1.
        assert_eq!(points.len(), 8 + 4 * 3 + 4 + 2 * 3);
        let planes = piece.planes();
        assert!(points.iter().all(|p| piece.distance_m(&planes, *p).abs() < 1e-12));
        let mut unique: Vec<[i64; 3]> = points.iter().map(|p| p.map(|x| (x * 1e9) as i64)).collect();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), points.len());
    }
}
