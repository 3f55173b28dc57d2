//! Boundary maps of meshes as `pbd/boundary_map.glsl` reads them: the difference between the boundary density
//! of a mesh and that of its tangent plane, on a grid.
//!
//! Both densities are sums over the nodes within the kernel's support, so that the difference is exactly zero
//! where the surface is flat within it, whatever the error of the sums (in the manner of `Bender2019`, whose
//! maps hold the density itself).

use super::triangle::Triangle;
use glam::{DVec3, IVec3};

/// Nodes per support radius; fewer where the map would become too large.
const NODES_PER_SUPPORT: [f64; 4] = [6.0, 4.0, 3.0, 2.0];

/// Maximum number of nodes of a map: 32 MiB.
const MAX_NODES: f64 = 8_388_608.0;

/// Appends the map of a mesh, whose triangles are relative to its middle, and returns the index of its first
/// number; 0 if the mesh is so large compared to the support `h_m` that a map would exceed the limit of
/// nodes: then the tangent plane alone is used.
pub(super) fn append_boundary_map(triangles: &[Triangle], h_m: f64, numbers: &mut Vec<f32>) -> u32 {
    let corners = || triangles.iter().flat_map(|triangle| triangle.corners);
    let lower = corners().fold(DVec3::INFINITY, DVec3::min);
    let upper = corners().fold(DVec3::NEG_INFINITY, DVec3::max);
    let grid = |nodes_per_support: f64| {
        let cell_m = h_m / nodes_per_support;
        // A support radius beyond the mesh the map is zero.
        let lower = lower - h_m - cell_m;
        let n = ((upper + h_m + cell_m - lower) / cell_m).ceil() + 1.0;
        (cell_m, lower, n)
    };
    let fits = |(_, _, n): &(f64, DVec3, DVec3)| n.x * n.y * n.z <= MAX_NODES;
    let Some((cell_m, lower, n)) = NODES_PER_SUPPORT.into_iter().map(grid).find(fits) else { return 0 };
    let nodes = Nodes { cell_m, lower, n: n.as_ivec3() };
    let surface = nodes.surface(triangles, h_m);
    let first = numbers.len() as u32;
    numbers.extend(lower.as_vec3().to_array());
    numbers.push(cell_m as f32);
    numbers.extend(n.as_vec3().to_array());
    numbers.extend(nodes.relief(&surface, h_m));
    first
}

/// Grid of nodes about a mesh.
struct Nodes {
    cell_m: f64,
    lower: DVec3,
    n: IVec3,
}

/// Nearest point of a mesh to a node: the signed distance in m, infinite for a node that is out of reach, and
/// the unit normal there.
#[derive(Clone, Copy)]
struct Nearest {
    distance_m: f64,
    normal: DVec3,
}

impl Nodes {
    fn index(&self, at: IVec3) -> usize {
        (at.x + self.n.x * (at.y + self.n.y * at.z)) as usize
    }

    fn position(&self, at: IVec3) -> DVec3 {
        self.lower + self.cell_m * at.as_dvec3()
    }

    /// Finds the nearest point of the mesh for all nodes within the support of its surface; all others have
    /// an infinite distance of the right sign.
    fn surface(&self, triangles: &[Triangle], h_m: f64) -> Vec<Nearest> {
        let reach_m = h_m + self.cell_m;
        let nothing = Nearest { distance_m: f64::INFINITY, normal: DVec3::ZERO };
        let mut nearest = vec![nothing; (self.n.x * self.n.y * self.n.z) as usize];
        for triangle in triangles {
            let [a, b, c] = triangle.corners;
            let low = (a.min(b).min(c) - reach_m - self.lower) / self.cell_m;
            let high = (a.max(b).max(c) + reach_m - self.lower) / self.cell_m;
            let low = low.ceil().as_ivec3().max(IVec3::ZERO);
            let high = high.floor().as_ivec3().min(self.n - 1);
            for z in low.z..=high.z {
                for y in low.y..=high.y {
                    for x in low.x..=high.x {
                        let at = IVec3::new(x, y, z);
                        let position = self.position(at);
                        let (apart, pseudo_normal) = triangle.nearest(position);
                        let distance = apart.length();
                        let own = &mut nearest[self.index(at)];
                        if distance < reach_m && distance < own.distance_m.abs() {
                            let side = if apart.dot(pseudo_normal) < 0.0 { -1.0 } else { 1.0 };
                            let normal = (side * apart).try_normalize().unwrap_or(pseudo_normal);
                            *own = Nearest { distance_m: side * distance, normal };
                        }
                    }
                }
            }
        }
        // Lines along x begin outside of the mesh, and pass its surface only within its reach.
        for row in nearest.chunks_mut(self.n.x as usize) {
            let mut side = 1.0;
            for node in row {
                if node.distance_m.is_infinite() {
                    node.distance_m = f64::INFINITY.copysign(side);
                } else {
                    side = node.distance_m.signum();
                }
            }
        }
        nearest
    }

    /// Returns the difference between the boundary density of the mesh and that of the tangent plane at each
    /// node.
    fn relief(&self, surface: &[Nearest], h_m: f64) -> Vec<f32> {
        let points = self.quadrature(h_m);
        // Fraction of the cell of a node that is solid, as if the surface were a plane there.
        let solid = |distance_m: f64| (0.5 - distance_m / self.cell_m).clamp(0.0, 1.0);
        let mut relief = vec![0.0; surface.len()];
        for z in 0..self.n.z {
            for y in 0..self.n.y {
                for x in 0..self.n.x {
                    let at = IVec3::new(x, y, z);
                    let own = surface[self.index(at)];
                    if own.distance_m.abs() >= h_m {
                        continue;
                    }
                    relief[self.index(at)] = points
                        .iter()
                        .map(|(step, weight)| {
                            let plane = own.distance_m + self.cell_m * step.as_dvec3().dot(own.normal);
                            let there = (at + *step).clamp(IVec3::ZERO, self.n - 1);
                            weight * (solid(surface[self.index(there)].distance_m) - solid(plane))
                        })
                        .sum::<f64>() as f32;
                }
            }
        }
        relief
    }

    /// Returns the nodes within the support about a node, with weights that add up to one.
    fn quadrature(&self, h_m: f64) -> Vec<(IVec3, f64)> {
        let reach = (h_m / self.cell_m).ceil() as i32;
        let range = || -reach..=reach;
        let steps =
            range().flat_map(|z| range().flat_map(move |y| range().map(move |x| IVec3::new(x, y, z))));
        let weight = |step: IVec3| {
            let q = self.cell_m * step.as_dvec3().length() / h_m;
            (1.0 - q).max(0.0).powi(3) - 4.0 * (0.5 - q).max(0.0).powi(3)
        };
        let points: Vec<_> = steps.map(|step| (step, weight(step))).filter(|point| point.1 > 0.0).collect();
        let sum: f64 = points.iter().map(|point| point.1).sum();
        points.into_iter().map(|(step, weight)| (step, weight / sum)).collect()
    }
}
