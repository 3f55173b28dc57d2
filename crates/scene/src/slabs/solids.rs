//! Makes slab pieces from meshes: one for each closed surface, linked where faces coincide.

use crate::TriangleMesh;
use crate::slabs::pieces::{SampledSlabs, SlabLink, SlabPiece, facing, signed_volume};
use crate::slabs::slab::Slab;
use crate::vector::{Vec3, cross, dot, unit};

/// Tolerance for coincident corners of pieces, as a share of a piece.
const SHARED_TOLERANCE: f64 = 1e-6;

/// A connected closed surface, its faces counter-clockwise seen from outside.
struct Solid {
    vertices: Vec<Vec3>,
    faces: Vec<Vec<u32>>,
}

/// Returns the connected components of a mesh, in the order of their first corners.
fn components(mesh: &TriangleMesh) -> Vec<Solid> {
    let (vertices, triangles) = (mesh.vertices(), mesh.triangles());
    // The smallest corner in the component of each corner, found by union-find.
    let mut root: Vec<u32> = (0..vertices.len() as u32).collect();
    fn find(root: &mut [u32], mut v: u32) -> u32 {
        while root[v as usize] != v {
            root[v as usize] = root[root[v as usize] as usize];
            v = root[v as usize];
        }
        v
    }
    for [a, b, c] in triangles {
        for other in [b, c] {
            let (p, q) = (find(&mut root, *a), find(&mut root, *other));
            root[p.max(q) as usize] = p.min(q);
        }
    }
    let mut solids: Vec<Solid> = Vec::new();
    let mut solid_of = vec![usize::MAX; vertices.len()];
    let mut place = vec![0_u32; vertices.len()];
    for (v, vertex) in vertices.iter().enumerate() {
        let r = find(&mut root, v as u32) as usize;
        if solid_of[r] == usize::MAX {
            solid_of[r] = solids.len();
            solids.push(Solid { vertices: Vec::new(), faces: Vec::new() });
        }
        let solid = &mut solids[solid_of[r]];
        place[v] = solid.vertices.len() as u32;
        solid.vertices.push(*vertex);
    }
    for triangle in triangles {
        let r = find(&mut root, triangle[0]) as usize;
        solids[solid_of[r]].faces.push(triangle.iter().map(|&v| place[v as usize]).collect());
    }
    solids.retain(|solid| !solid.faces.is_empty());
    for solid in &mut solids {
        if signed_volume(&solid.vertices, &solid.faces) < 0.0 {
            solid.faces.iter_mut().for_each(|face| face.reverse());
        }
    }
    solids
}

/// Returns the solids of a mesh as pieces of a slab, scaled and moved.
pub(crate) fn solid_pieces(
    slab_idx: usize,
    slab: &Slab,
    mesh: &TriangleMesh,
    scale: f64,
    offset_m: Vec3,
) -> Vec<SlabPiece> {
    let place = |v: &Vec3| std::array::from_fn(|i| offset_m[i] + scale * v[i]);
    let piece = |solid: Solid| {
        SlabPiece::new(slab_idx, slab, solid.vertices.iter().map(place).collect(), solid.faces)
    };
    components(mesh).into_iter().map(piece).collect()
}

/// Links pieces, from the index `first` on, that share the corners of a face.
pub(crate) fn link_neighbours(first: usize, slab: &Slab, sampled: &mut SampledSlabs) {
    let reaches: Vec<f64> = sampled.pieces.iter().map(SlabPiece::bounding_radius_m).collect();
    for b in first..sampled.pieces.len() {
        for a in first..b {
            let between: Vec3 =
                std::array::from_fn(|i| sampled.pieces[b].centre_m[i] - sampled.pieces[a].centre_m[i]);
            // Corners farther apart are none that both have.
            if dot(between, between) > (1.01 * (reaches[a] + reaches[b])).powi(2) {
                continue;
            }
            let corners = |piece: &SlabPiece| -> Vec<Vec3> {
                piece.vertices_m.iter().map(|v| std::array::from_fn(|i| piece.centre_m[i] + v[i])).collect()
            };
            let size = sampled.pieces[a].volume_m3.min(sampled.pieces[b].volume_m3).cbrt();
            let theirs = corners(&sampled.pieces[b]);
            let is_shared = |v: &Vec3| {
                theirs.iter().any(|w| (0..3).all(|i| (v[i] - w[i]).abs() <= SHARED_TOLERANCE * size))
            };
            let shared: Vec<Vec3> =
                corners(&sampled.pieces[a]).into_iter().filter(|v| is_shared(v)).collect();
            if let Some((point_m, normal, area_m2)) = polygon_of(&shared) {
                let normal = facing(&sampled.pieces, [a, b], normal);
                sampled.links.push(SlabLink::new([a, b], slab, point_m, normal, area_m2));
            }
        }
    }
}

/// Returns the centre, unit normal and area of the convex polygon whose corners are the given points of a
/// plane; `None` for fewer than three.
fn polygon_of(points: &[Vec3]) -> Option<(Vec3, Vec3, f64)> {
    if points.len() < 3 {
        return None;
    }
    let n = points.len() as f64;
    let middle: Vec3 = std::array::from_fn(|i| points.iter().map(|p| p[i]).sum::<f64>() / n);
    let arms: Vec<Vec3> = points.iter().map(|p| std::array::from_fn(|i| p[i] - middle[i])).collect();
    let normal = arms[1..]
        .iter()
        .map(|arm| cross(arms[0], *arm))
        .max_by(|a, b| dot(*a, *a).total_cmp(&dot(*b, *b)))
        .filter(|normal| dot(*normal, *normal) > 0.0)
        .map(unit)?;
    let first = unit(arms[0]);
    let second = cross(normal, first);
    let mut around: Vec<(f64, Vec3)> =
        arms.iter().map(|arm| (dot(*arm, second).atan2(dot(*arm, first)), *arm)).collect();
    around.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut area, mut moment) = (0.0, [0.0; 3]);
    for (k, (_, a)) in around.iter().enumerate() {
        let b = around[(k + 1) % around.len()].1;
        let part = 0.5 * dot(normal, cross(*a, b));
        area += part;
        moment = std::array::from_fn(|i| moment[i] + part * (a[i] + b[i]) / 3.0);
    }
    (area > 0.0).then(|| (std::array::from_fn(|i| middle[i] + moment[i] / area), normal, area))
}
