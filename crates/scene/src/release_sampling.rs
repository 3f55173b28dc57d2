//! Filling areas of release with grains.

use std::f64::consts::PI;

use chacha20::ChaCha8Rng;

use crate::sample::unit_interval;
use crate::terrain::normal_of;
use crate::{Dem, Release, ReleaseArea, Terrain, Vec3};

/// Share of space that equal spheres fill in their closest packing, π/√18.
pub(crate) const CLOSEST_PACKING_FRACTION: f64 = 0.740_480_489_693_061;

/// Points an edge of the grid by which slopes of an area are averaged.
const QUADRATURE_POINTS: usize = 96;

/// Grains at the start keep this share of a radius from the terrain and from each other, for the rounding of positions to f32.
pub(crate) const CLEARANCE_RADII: f64 = 1e-3;

/// Points on a circle about a grain at which it is seen whether it meets the terrain beside it.
const RING_POINTS: usize = 12;

/// Volume in m³ of an area's snow: its extent on the slope times its thickness at right angles to that.
pub(crate) fn volume_m3(area: &ReleaseArea, terrain: &Terrain) -> f64 {
    mean_slope(area, terrain).0 * area.polygon.area() * area.thickness_m
}

/// Mean of 1/cos(slope) over an area, and of the gradient.
fn mean_slope(area: &ReleaseArea, terrain: &Terrain) -> (f64, [f64; 2]) {
    let (low, high) = area.polygon.bounds();
    let share = |k: usize| (k as f64 + 0.5) / QUADRATURE_POINTS as f64;
    let (mut n, mut steepness, mut gradient) = (0.0, 0.0, [0.0; 2]);
    for j in 0..QUADRATURE_POINTS {
        for i in 0..QUADRATURE_POINTS {
            let at = [low[0] + share(i) * (high[0] - low[0]), low[1] + share(j) * (high[1] - low[1])];
            if let Some([east, north]) = terrain.gradient(at).filter(|_| area.polygon.contains(at)) {
                n += 1.0;
                steepness += (1.0 + east * east + north * north).sqrt();
                gradient = [gradient[0] + east, gradient[1] + north];
            }
        }
    }
    // An area narrower than the points are apart.
    if n == 0.0 { (1.0, [0.0; 2]) } else { (steepness / n, gradient.map(|sum| sum / n)) }
}

/// Distance of neighbours on the lattice whose grains have the bulk density.
fn lattice_spacing_m(release: &Release, dem: &Dem) -> f64 {
    let volume_m3 = dem.mean_grain_mass_kg() / release.bulk_density_kg_m3(dem.density_kg_m3);
    // A close-packed lattice has a point in every s³/√2.
    (volume_m3 * 2.0_f64.sqrt()).cbrt()
}

/// A grain at the start, and a place off the map that an area includes.
pub(crate) enum Found {
    Grain(Vec3, f64),
    OffMap([f64; 2]),
}

/// Calls `visit` with the centre and radius of each grain of an area.
///
/// Centres are those of a face-centred cubic lattice between one radius and one radius and a thickness from the terrain, so that
/// there are as many as the volume holds; they are moved at random by less than what keeps them apart.
pub(crate) fn visit_grains(
    area: &ReleaseArea,
    release: &Release,
    dem: &Dem,
    terrain: &Terrain,
    rng: &mut ChaCha8Rng,
    mut visit: impl FnMut(Found),
) {
    let spacing_m = lattice_spacing_m(release, dem);
    let greatest_m = dem.greatest_radius_m();
    let nearest_m = (1.0 + CLEARANCE_RADII) * greatest_m;
    let room_m = (0.5 * (spacing_m - 2.0 * nearest_m)).max(0.0) * release.jitter;
    let lattice = Lattice::along(mean_slope(area, terrain).1, spacing_m, rng);
    let (low, high) = area.polygon.bounds();
    let Some([lowest, highest]) = heights_m(terrain, low, high) else { return };
    let above_m = nearest_m + area.thickness_m;
    // A distance from the terrain is less than a height above it by the cosine of the steepest slope.
    let steepest = steepest_within(terrain, low, high);
    let corners = [[low[0], low[1], lowest], [high[0], high[1], highest + above_m * steepest]];
    lattice.visit_box(corners, |point| {
        let [x, y, _] = point;
        if !area.polygon.contains([x, y]) {
            return;
        }
        let Some(distance_m) = terrain.distance_m(point) else { return visit(Found::OffMap([x, y])) };
        if !(nearest_m..above_m).contains(&distance_m) {
            return;
        }
        // The draws of a point do not depend on what becomes of it.
        let radius_m = dem.radius_m * (1.0 + dem.radius_spread * (2.0 * unit_interval(rng) - 1.0));
        let moved = within_ball(point, room_m, rng);
        let is_clear = |point: Vec3| !meets_terrain(terrain, point, nearest_m);
        let place = [moved, point].into_iter().find(|&place| is_clear(place));
        // In a narrow gully the grain goes up until it is clear.
        let place = place.unwrap_or_else(|| {
            let mut raised = point;
            for _ in 0..64 {
                raised[2] += 0.125 * greatest_m;
                if is_clear(raised) {
                    break;
                }
            }
            raised
        });
        visit(Found::Grain(place, radius_m));
    });
}

/// Whether a ball comes nearer to the terrain than its radius: below it, or on rings about it.
fn meets_terrain(terrain: &Terrain, [x, y, z]: Vec3, radius_m: f64) -> bool {
    if terrain.distance_m([x, y, z]).is_none_or(|distance_m| distance_m < radius_m) {
        return true;
    }
    [0.5, 1.0].into_iter().any(|share| {
        (0..RING_POINTS).any(|k| {
            let (sin, cos) = (2.0 * PI * k as f64 / RING_POINTS as f64).sin_cos();
            let reach_m = share * radius_m;
            let height = terrain.height_m([x + reach_m * cos, y + reach_m * sin]);
            // What is off the map bounds nothing.
            height.is_some_and(|height| {
                let rise = z - height;
                rise < 0.0 || rise * rise + reach_m * reach_m < radius_m * radius_m
            })
        })
    })
}

/// The lowest and the highest height within a rectangle.
fn heights_m(terrain: &Terrain, low: [f64; 2], high: [f64; 2]) -> Option<[f64; 2]> {
    let lowest = terrain.lowest_within_m(low, high)?;
    let highest = terrain.highest_within_m(low, high)?;
    Some([lowest, highest])
}

/// The greatest 1/cos(slope) at the corners of cells within a rectangle.
fn steepest_within(terrain: &Terrain, low: [f64; 2], high: [f64; 2]) -> f64 {
    let half = 0.5 * terrain.cell_m();
    let n = [0, 1].map(|i| ((high[i] - low[i]) / half).ceil() as usize);
    let mut steepest = 1.0_f64;
    for j in 0..=n[1] {
        for i in 0..=n[0] {
            let at = [(low[0] + i as f64 * half).min(high[0]), (low[1] + j as f64 * half).min(high[1])];
            if let Some([east, north]) = terrain.gradient(at) {
                steepest = steepest.max((1.0 + east * east + north * north).sqrt());
            }
        }
    }
    // Between those corners a patch may be somewhat steeper.
    1.2 * steepest
}

/// A point at most `radius_m` away, all equally likely.
fn within_ball(point: Vec3, radius_m: f64, rng: &mut ChaCha8Rng) -> Vec3 {
    loop {
        let offset: Vec3 = std::array::from_fn(|_| 2.0 * unit_interval(rng) - 1.0);
        if offset.iter().map(|x| x * x).sum::<f64>() <= 1.0 {
            return std::array::from_fn(|i| point[i] + radius_m * offset[i]);
        }
    }
}

/// A face-centred cubic lattice: triangular layers, one upon the other in three places in turn.
struct Lattice {
    origin: Vec3,
    /// Along a row, from row to row, from layer to layer: unit vectors at right angles.
    axes: [Vec3; 3],
    spacing_m: f64,
}

impl Lattice {
    /// The lattice whose layers lie along a surface that rises as `gradient` says, at a random place.
    fn along(gradient: [f64; 2], spacing_m: f64, rng: &mut ChaCha8Rng) -> Self {
        let normal = normal_of(gradient);
        let length = (1.0 + gradient[0] * gradient[0]).sqrt();
        let east = [1.0 / length, 0.0, gradient[0] / length];
        let north = std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            normal[j] * east[k] - normal[k] * east[j]
        });
        Self {
            origin: std::array::from_fn(|_| spacing_m * unit_interval(rng)),
            axes: [east, north, normal],
            spacing_m,
        }
    }

    /// Calls `visit` with the points in an axis-aligned box, row by row.
    fn visit_box(&self, [low, high]: [Vec3; 2], mut visit: impl FnMut(Vec3)) {
        let s = self.spacing_m;
        let (row_m, layer_m) = (s * 0.75_f64.sqrt(), s * (2.0_f64 / 3.0).sqrt());
        // The box' corners in the lattice's own frame.
        let mut bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        for corner in 0..8 {
            let point: Vec3 = std::array::from_fn(|i| if corner >> i & 1 == 0 { low[i] } else { high[i] });
            for (axis, unit) in self.axes.iter().enumerate() {
                let along: f64 = (0..3).map(|i| unit[i] * (point[i] - self.origin[i])).sum();
                bounds[0][axis] = bounds[0][axis].min(along);
                bounds[1][axis] = bounds[1][axis].max(along);
            }
        }
        let range = |axis: usize, step: f64, shift: f64| {
            let first = ((bounds[0][axis] - shift) / step).ceil() as i64;
            let last = ((bounds[1][axis] - shift) / step).floor() as i64;
            first..=last
        };
        for layer in range(2, layer_m, 0.0) {
            // Balls of a layer lie in every other gap of the layer below.
            let turn = layer.rem_euclid(3) as f64;
            let across_m = turn * row_m / 3.0;
            for row in range(1, row_m, across_m) {
                let along_m = 0.5 * s * ((row.rem_euclid(2)) as f64 + turn);
                for column in range(0, s, along_m) {
                    let at =
                        [column as f64 * s + along_m, row as f64 * row_m + across_m, layer as f64 * layer_m];
                    let point: Vec3 = std::array::from_fn(|i| {
                        self.origin[i] + (0..3).map(|axis| self.axes[axis][i] * at[axis]).sum::<f64>()
                    });
                    if (0..3).all(|i| (low[i]..=high[i]).contains(&point[i])) {
                        visit(point);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use chacha20::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn the_lattice_is_close_packed() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for gradient in [[0.0, 0.0], [-0.6, 0.2], [1.5, -0.7]] {
            let lattice = Lattice::along(gradient, 0.5, &mut rng);
            let mut points = Vec::new();
            lattice.visit_box([[0.0; 3], [6.0, 5.0, 4.0]], |point| points.push(point));
            let expected = 6.0 * 5.0 * 4.0 * 2.0_f64.sqrt() / 0.125;
            assert!((points.len() as f64 / expected - 1.0).abs() < 0.05, "{} {expected}", points.len());
            let middle = points.iter().filter(|p| {
                (1.0..3.0).contains(&p[0]) && (1.0..3.0).contains(&p[1]) && (1.0..3.0).contains(&p[2])
            });
            for point in middle.take(50) {
                let distance =
                    |other: &Vec3| (0..3).map(|i| (point[i] - other[i]).powi(2)).sum::<f64>().sqrt();
                let near = points.iter().map(distance).filter(|d| *d < 0.5 * 1.001).collect::<Vec<_>>();
                // Itself and twelve others.
                assert_eq!(near.len(), 13);
                assert!(near.iter().all(|d| *d < 1e-9 || *d > 0.5 * 0.999));
            }
        }
    }
}
