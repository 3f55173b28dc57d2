//! Plates that lie on a terrain, and their division into pieces.

use chacha20::ChaCha8Rng;

use crate::random::unit_interval;
use crate::slabs::pieces::{SampledSlabs, SlabLink, SlabPiece, facing};
use crate::slabs::slab::{Slab, SlabShape};
use crate::terrain::{Terrain, normal_of};
use crate::vector::{Vec3, cross, dot, unit};

/// Gap between plate and terrain, in thicknesses: more than the rounding of positions to f32.
const CLEARANCE: f64 = 1e-3;

/// Maximum number of moves of a plate along its normal, and how many of them may be downwards.
const MAX_LIFTS: usize = 64;
const SETTLING_LIFTS: usize = 8;

/// Maximum number of points along an edge for fitting the plane below a plate.
const MAX_PLATE_POINTS: usize = 513;

/// Number of points in a cell, and their maximum along an edge, at which the edge of a plate is compared with
/// the terrain.
const EDGE_POINTS_PER_CELL: f64 = 64.0;
const MAX_EDGE_POINTS: f64 = 65536.0;

/// A flat rectangle on a slope.
pub(crate) struct Plate {
    /// Corner of the lower face.
    origin: Vec3,
    /// Unit vectors along both edges and through the thickness.
    axes: [Vec3; 3],
    size_m: [f64; 2],
    thickness_m: f64,
    pieces: [u32; 2],
    irregularity: f64,
}

impl Plate {
    /// Returns the plate of a slab on level ground at height 0; `None` for slabs that are not plates.
    pub(crate) fn level(slab: &Slab) -> Option<Self> {
        let SlabShape::Plate { origin_m, size_m, rotation_deg, thickness_m, pieces, irregularity } =
            &slab.shape
        else {
            return None;
        };
        let (sin, cos) = rotation_deg.to_radians().sin_cos();
        Some(Self {
            origin: [origin_m[0], origin_m[1], 0.0],
            axes: [[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]],
            size_m: *size_m,
            thickness_m: *thickness_m,
            pieces: *pieces,
            irregularity: *irregularity,
        })
    }

    /// Returns the plate of a slab on the terrain; `None` if a part of it is off the map.
    pub(crate) fn on(terrain: &Terrain, slab: &Slab) -> Option<Self> {
        let mut plate = Self::level(slab)?;
        plate.origin[2] = terrain.height_m([plate.origin[0], plate.origin[1]])?;
        let [cos, sin, _] = plate.axes[0];
        let thickness_m = plate.thickness_m;
        // The footprint depends on the plane and the plane on the footprint: a few iterations converge.
        for _ in 0..4 {
            let (gradient, height) = plate.fitted_plane(terrain)?;
            let normal = normal_of(gradient);
            let along = unit([cos, sin, gradient[0] * cos + gradient[1] * sin]);
            plate.axes = [along, cross(normal, along), normal];
            plate.origin[2] = height;
        }
        // A move along the normal moves the footprint, too; the last moves are upwards only.
        let clearance_m = CLEARANCE * thickness_m;
        for round in 0..MAX_LIFTS {
            let highest_m = plate.highest_m(terrain)?;
            let is_free = highest_m <= -0.5 * clearance_m;
            if is_free && (round >= SETTLING_LIFTS || highest_m >= -1.5 * clearance_m) {
                break;
            }
            let lift_m = highest_m + clearance_m;
            plate.origin = std::array::from_fn(|i| plate.origin[i] + lift_m * plate.axes[2][i]);
        }
        Some(plate)
    }

    fn point(&self, [u, v, w]: Vec3) -> Vec3 {
        std::array::from_fn(|i| {
            self.origin[i] + u * self.axes[0][i] + v * self.axes[1][i] + w * self.axes[2][i]
        })
    }

    /// Returns points of the lower face: no farther apart than half of the terrain's cells, and its corners.
    fn points(&self, terrain: &Terrain) -> impl Iterator<Item = Vec3> {
        let n = self
            .size_m
            .map(|size| ((2.0 * size / terrain.cell_m()).ceil() as usize).clamp(8, MAX_PLATE_POINTS - 1));
        (0..=n[1]).flat_map(move |j| (0..=n[0]).map(move |i| [i, j])).map(move |[i, j]| {
            self.point([
                self.size_m[0] * i as f64 / n[0] as f64,
                self.size_m[1] * j as f64 / n[1] as f64,
                0.0,
            ])
        })
    }

    /// Returns the gradient of the least-squares plane through the terrain below, and its height at the
    /// origin.
    fn fitted_plane(&self, terrain: &Terrain) -> Option<([f64; 2], f64)> {
        let (mut n, mut mean) = (0.0, [0.0; 3]);
        let mut ground = Vec::new();
        for [x, y, _] in self.points(terrain) {
            let point = [x, y, terrain.height_m([x, y])?];
            mean = std::array::from_fn(|i| mean[i] + point[i]);
            n += 1.0;
            ground.push(point);
        }
        let mean = mean.map(|sum| sum / n);
        let (mut xx, mut xy, mut yy, mut xz, mut yz) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for point in ground {
            let [x, y, z]: Vec3 = std::array::from_fn(|i| point[i] - mean[i]);
            (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
            (xz, yz) = (xz + x * z, yz + y * z);
        }
        let determinant = xx * yy - xy * xy;
        let gradient = [(yy * xz - xy * yz) / determinant, (xx * yz - xy * xz) / determinant];
        let height = mean[2] + (0..2).map(|i| gradient[i] * (self.origin[i] - mean[i])).sum::<f64>();
        Some((gradient, height))
    }

    /// Returns the maximum height of the terrain above the lower face, along the plate's normal, in m.
    ///
    /// Relative to a plane, a bilinear patch is highest at a corner of the region: at grid heights within the
    /// footprint, and along its edge.
    fn highest_m(&self, terrain: &Terrain) -> Option<f64> {
        let over = |[x, y, z]: Vec3| Some((terrain.height_m([x, y])? - z) * self.axes[2][2]);
        let mut highest = f64::NEG_INFINITY;
        let step_m = terrain.cell_m() / EDGE_POINTS_PER_CELL;
        let corner =
            |k: usize| [[0.0, 0.0], [self.size_m[0], 0.0], self.size_m, [0.0, self.size_m[1]]][k % 4];
        for k in 0..4 {
            let (a, b) = (corner(k), corner(k + 1));
            let n = (self.size_m[k % 2] / step_m).ceil().clamp(8.0, MAX_EDGE_POINTS);
            for i in 0..n as u32 {
                let [u, v] = [0, 1].map(|axis| a[axis] + f64::from(i) / n * (b[axis] - a[axis]));
                highest = highest.max(over(self.point([u, v, 0.0]))?);
            }
        }
        let corners = [0, 1, 2, 3].map(|k| self.point([corner(k)[0], corner(k)[1], 0.0]));
        let range = |axis: usize, n: usize| {
            let min = corners.iter().map(|c| c[axis]).fold(f64::INFINITY, f64::min) / terrain.cell_m();
            let max = corners.iter().map(|c| c[axis]).fold(f64::NEG_INFINITY, f64::max) / terrain.cell_m();
            (min.ceil().max(0.0) as usize)..=(max.floor().max(0.0) as usize).min(n - 1)
        };
        let [along, across, _] = self.axes;
        let determinant = along[0] * across[1] - along[1] * across[0];
        for row in range(1, terrain.n_rows()) {
            for column in range(0, terrain.n_columns()) {
                let [x, y] = [column, row].map(|i| i as f64 * terrain.cell_m());
                let (dx, dy) = (x - self.origin[0], y - self.origin[1]);
                let (u, v) = (
                    (dx * across[1] - dy * across[0]) / determinant,
                    (dy * along[0] - dx * along[1]) / determinant,
                );
                if (0.0..=self.size_m[0]).contains(&u) && (0.0..=self.size_m[1]).contains(&v) {
                    highest = highest.max(over(self.point([u, v, 0.0]))?);
                }
            }
        }
        Some(highest)
    }

    /// Appends the pieces, row by row along the first edge, and their links.
    pub(crate) fn cut(&self, slab_idx: usize, slab: &Slab, rng: &mut ChaCha8Rng, sampled: &mut SampledSlabs) {
        let [nx, ny] = self.pieces.map(|n| n as usize);
        // Jitter moves corners on an edge along it only.
        let mut corners = Vec::with_capacity((nx + 1) * (ny + 1));
        for j in 0..=ny {
            for i in 0..=nx {
                let mut place = |k: usize, n: usize| {
                    let shift = self.irregularity * (2.0 * unit_interval(rng) - 1.0);
                    if k == 0 || k == n { k as f64 } else { k as f64 + shift }
                };
                let (u, v) = (place(i, nx), place(j, ny));
                corners.push([u * self.size_m[0] / nx as f64, v * self.size_m[1] / ny as f64]);
            }
        }
        let corner = |i: usize, j: usize, w: f64| {
            let [u, v] = corners[j * (nx + 1) + i];
            self.point([u, v, w])
        };
        let first = sampled.pieces.len();
        let top = self.thickness_m;
        for j in 0..ny {
            for i in 0..nx {
                let around = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
                let mut vertices: Vec<Vec3> = around.iter().map(|&(i, j)| corner(i, j, 0.0)).collect();
                vertices.extend(around.iter().map(|&(i, j)| corner(i, j, top)));
                let faces =
                    [[3, 2, 1, 0], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];
                let faces = faces.iter().map(|face| face.to_vec()).collect();
                sampled.pieces.push(SlabPiece::new(slab_idx, slab, vertices, faces));
            }
        }
        let mut link = |pieces: [usize; 2], (ai, aj): (usize, usize), (bi, bj): (usize, usize)| {
            let (a, b) = (corner(ai, aj, 0.0), corner(bi, bj, 0.0));
            let face = [a, b, corner(bi, bj, top), corner(ai, aj, top)];
            let edge: Vec3 = std::array::from_fn(|i| b[i] - a[i]);
            let area_m2 = dot(edge, edge).sqrt() * self.thickness_m;
            let point_m = std::array::from_fn(|i| 0.25 * face.iter().map(|v| v[i]).sum::<f64>());
            let normal = facing(&sampled.pieces, pieces, unit(cross(edge, self.axes[2])));
            sampled.links.push(SlabLink::new(pieces, slab, point_m, normal, area_m2));
        };
        for j in 0..ny {
            for i in 0..nx {
                let piece = first + j * nx + i;
                if i + 1 < nx {
                    link([piece, piece + 1], (i + 1, j), (i + 1, j + 1));
                }
                if j + 1 < ny {
                    link([piece, piece + nx], (i, j + 1), (i + 1, j + 1));
                }
            }
        }
    }
}
