//! Fills release areas with grains.

use std::f64::consts::PI;

use chacha20::ChaCha8Rng;

use crate::random::unit_interval;
use crate::terrain::normal_of;
use crate::watch::Watch;
use crate::{Dem, ReleaseArea, SceneError, Terrain, Vec3};

/// Number of points along an edge of the grid over which slopes of an area are averaged.
const QUADRATURE_POINTS: usize = 96;

/// Initial clearance of grains from the terrain and from each other, as a share of a radius, for the rounding
/// of positions to f32.
pub(crate) const CLEARANCE_RADII: f64 = 1e-3;

/// Number of points on a circle around a grain at which contact with the terrain beside it is tested.
const RING_POINTS: usize = 12;

/// Returns the volume in m³ of an area's snow: its extent on the slope times its thickness perpendicular to
/// that.
pub(crate) fn volume_m3(area: &ReleaseArea, terrain: &Terrain) -> f64 {
    MeanPlane::of(&[area], terrain).steepness * area.polygon.area() * area.thickness_m
}

/// Mean plane of one area or several.
struct MeanPlane {
    /// Mean of 1/cos(slope).
    steepness: f64,
    gradient: [f64; 2],
    point: Vec3,
}

impl MeanPlane {
    fn of(areas: &[&ReleaseArea], terrain: &Terrain) -> Self {
        let boxes = || areas.iter().map(|area| area.polygon.bounds());
        let low = [0, 1].map(|i| boxes().map(|(low, _)| low[i]).fold(f64::INFINITY, f64::min));
        let high = [0, 1].map(|i| boxes().map(|(_, high)| high[i]).fold(f64::NEG_INFINITY, f64::max));
        let share = |k: usize| (k as f64 + 0.5) / QUADRATURE_POINTS as f64;
        let (mut n, mut steepness, mut gradient, mut point) = (0.0, 0.0, [0.0; 2], [0.0; 3]);
        for j in 0..QUADRATURE_POINTS {
            for i in 0..QUADRATURE_POINTS {
                let at = [low[0] + share(i) * (high[0] - low[0]), low[1] + share(j) * (high[1] - low[1])];
                if !areas.iter().any(|area| area.polygon.contains(at)) {
                    continue;
                }
                if let (Some([east, north]), Some(height)) = (terrain.gradient(at), terrain.height_m(at)) {
                    n += 1.0;
                    steepness += (1.0 + east * east + north * north).sqrt();
                    gradient = [gradient[0] + east, gradient[1] + north];
                    point = [point[0] + at[0], point[1] + at[1], point[2] + height];
                }
            }
        }
        if n == 0.0 {
            // The area is narrower than the distance of the points.
            let mut corners = areas.iter().flat_map(|area| area.polygon.rings.iter().flatten());
            let at = corners.next().copied().unwrap_or([0.0; 2]);
            let gradient = terrain.gradient(at).unwrap_or([0.0; 2]);
            let steepness = (1.0 + gradient[0] * gradient[0] + gradient[1] * gradient[1]).sqrt();
            return Self { steepness, gradient, point: [at[0], at[1], terrain.height_m(at).unwrap_or(0.0)] };
        }
        Self {
            steepness: steepness / n,
            gradient: gradient.map(|sum| sum / n),
            point: point.map(|sum| sum / n),
        }
    }
}

/// Spacing of the lattice: within a layer, and between layers.
struct Spacing {
    within_m: f64,
    layers_m: f64,
    /// True if the thickness is a whole number of layers.
    is_layered: bool,
}

impl Spacing {
    /// Returns the spacing at which grains have the bulk density, the thickness is a whole number of layers,
    /// and grains are `apart_m` from each other; as close to an isotropic lattice as possible.
    fn new(volume_m3: f64, thickness_m: f64, apart_m: f64) -> Self {
        let isotropic = Self::isotropic(volume_m3);
        let layers_m = isotropic.layers_m;
        let nearest = (thickness_m / layers_m).round().max(1.0);
        let of_layers = |n: f64| {
            let layers_m = thickness_m / n;
            let within_m = (volume_m3 / (layers_m * 0.75_f64.sqrt())).sqrt();
            Self { within_m, layers_m, is_layered: true }
        };
        let candidates =
            [nearest, nearest - 1.0, nearest + 1.0].into_iter().filter(|n| *n >= 1.0).map(of_layers);
        // The closest packings have space in the isotropic lattice only.
        candidates.into_iter().find(|spacing| spacing.nearest_m(thickness_m) >= apart_m).unwrap_or(isotropic)
    }

    /// Returns the spacing of a face-centred cubic lattice, whatever the thickness.
    fn isotropic(volume_m3: f64) -> Self {
        // A close-packed lattice has one point in a volume of s³/√2.
        let within_m = (volume_m3 * 2.0_f64.sqrt()).cbrt();
        Self { within_m, layers_m: within_m * (2.0_f64 / 3.0).sqrt(), is_layered: false }
    }

    /// Returns the distance of the nearest points of which both can be within the thickness.
    fn nearest_m(&self, thickness_m: f64) -> f64 {
        let next = (self.within_m * self.within_m / 3.0 + self.layers_m * self.layers_m).sqrt();
        // Every third layer lies straight above the first.
        let third = 3.0 * self.layers_m;
        let nearest = self.within_m.min(next);
        if third < thickness_m { nearest.min(third) } else { nearest }
    }
}

/// An initial grain, or a point of the area that is off the map.
pub(crate) enum Found {
    Grain(Vec3, f64),
    OffMap([f64; 2]),
}

/// An area of a release, and the volume in m³ that a grain takes with its share of the pores: what the
/// spacing of its lattice follows from.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub area: &'a ReleaseArea,
    pub volume_m3: f64,
}

/// Returns true if the boxes of two areas are less than `reach_m` from each other.
pub(crate) fn is_near(a: &Place<'_>, b: &Place<'_>, reach_m: f64) -> bool {
    let ((low, high), (other_low, other_high)) = (a.area.polygon.bounds(), b.area.polygon.bounds());
    (0..2).all(|i| low[i] - reach_m < other_high[i] && other_low[i] - reach_m < high[i])
}

/// Returns for each area the first one that it shares a lattice with: areas of the same density whose boxes
/// are less than `reach_m` from each other, and those between.
pub(crate) fn groups(places: &[Place<'_>], reach_m: f64) -> Vec<usize> {
    let mut group: Vec<usize> = (0..places.len()).collect();
    for a in 0..places.len() {
        for b in 0..a {
            let (of_a, of_b) = (group[a], group[b]);
            if of_a != of_b
                && places[a].volume_m3 == places[b].volume_m3
                && is_near(&places[a], &places[b], reach_m)
            {
                let (first, other) = (of_a.min(of_b), of_a.max(of_b));
                group.iter_mut().filter(|of| **of == other).for_each(|of| *of = first);
            }
        }
    }
    group
}

/// The lattice of one area, or of several that are near each other, so that no two of their grains overlap.
pub(crate) struct AreaLattice {
    lattice: Lattice,
    /// Distance of grains from the terrain.
    nearest_m: f64,
    /// Distance that each of two neighbours may be displaced by.
    gap_m: f64,
}

impl AreaLattice {
    /// Makes the lattice of areas, of which there is at least one, on which a grain takes `volume_m3`. Layers
    /// make up the thickness if all have the same; else the lattice is isotropic and inclined, so that each
    /// area has the grains of its volume.
    pub(crate) fn new(
        areas: &[&ReleaseArea],
        volume_m3: f64,
        dem: &Dem,
        terrain: &Terrain,
        rng: &mut ChaCha8Rng,
    ) -> Self {
        let nearest_m = (1.0 + CLEARANCE_RADII) * dem.max_radius_m();
        let thickest_m = areas.iter().map(|area| area.thickness_m).fold(0.0, f64::max);
        let spacing = match areas.iter().all(|area| area.thickness_m == thickest_m) {
            true => Spacing::new(volume_m3, thickest_m, 2.0 * nearest_m),
            false => Spacing::isotropic(volume_m3),
        };
        let gap_m = (0.5 * spacing.nearest_m(thickest_m) - nearest_m).max(0.0);
        let plane = MeanPlane::of(areas, terrain);
        Self { lattice: Lattice::above(&plane, nearest_m, spacing, rng), nearest_m, gap_m }
    }
}

/// Calls `visit` with the centre and radius of each grain of an area, and returns the number of those that
/// are left out because they are in one of the `earlier` areas.
///
/// The number of grains follows from the volume: centres are the points of a lattice between one radius above
/// the terrain and the thickness above that. They are displaced at random by less than the gap between
/// grains, times `jitter`.
pub(crate) fn visit_grains(
    (area, earlier): (&ReleaseArea, &[&ReleaseArea]),
    (AreaLattice { lattice, nearest_m, gap_m }, jitter): (&AreaLattice, f64),
    dem: &Dem,
    terrain: &Terrain,
    rng: &mut ChaCha8Rng,
    watch: &mut Watch<'_>,
    mut visit: impl FnMut(Found),
) -> Result<usize, SceneError> {
    let (low, high) = area.polygon.bounds();
    let Some([lowest, highest]) = heights_m(terrain, low, high) else { return Ok(0) };
    let above_m = nearest_m + area.thickness_m;
    // The distance from the terrain is at least the height above it times the cosine of the steepest slope.
    let steepest = steepest_within(terrain, low, high);
    let corners = [[low[0], low[1], lowest], [high[0], high[1], highest + above_m * steepest]];
    let mut n_shared = 0;
    lattice.visit_box(corners, watch, |point| {
        let [x, y, _] = point;
        if !area.polygon.contains([x, y]) {
            return;
        }
        let Some(distance_m) = terrain.distance_m(point) else { return visit(Found::OffMap([x, y])) };
        if !(*nearest_m..above_m).contains(&distance_m) {
            return;
        }
        if earlier.iter().any(|other| other.polygon.contains([x, y])) {
            n_shared += 1;
            return;
        }
        // The random draws of a point do not depend on whether it is used.
        let radius_m = dem.radius_m * (1.0 + dem.radius_spread * (2.0 * unit_interval(rng) - 1.0));
        let moved = within_ball(point, gap_m * jitter, rng);
        let is_clear = |point: Vec3| !meets_terrain(terrain, point, *nearest_m);
        // Some points, as in a narrow gully, are too close to the terrain beside them.
        if let Some(place) = [moved, point].into_iter().find(|&place| is_clear(place)) {
            visit(Found::Grain(place, radius_m));
        }
    })?;
    Ok(n_shared)
}

/// Returns true if a ball comes nearer to the terrain than its radius: below it, or on rings around it.
fn meets_terrain(terrain: &Terrain, [x, y, z]: Vec3, radius_m: f64) -> bool {
    if terrain.distance_m([x, y, z]).is_none_or(|distance_m| distance_m < radius_m) {
        return true;
    }
    [0.5, 1.0].into_iter().any(|share| {
        (0..RING_POINTS).any(|k| {
            let (sin, cos) = (2.0 * PI * k as f64 / RING_POINTS as f64).sin_cos();
            let reach_m = share * radius_m;
            let height = terrain.height_m([x + reach_m * cos, y + reach_m * sin]);
            // Points off the map have no terrain to touch.
            height.is_some_and(|height| {
                let rise = z - height;
                rise < 0.0 || rise * rise + reach_m * reach_m < radius_m * radius_m
            })
        })
    })
}

/// Returns the lowest and the highest height within a rectangle.
fn heights_m(terrain: &Terrain, low: [f64; 2], high: [f64; 2]) -> Option<[f64; 2]> {
    let lowest = terrain.lowest_within_m(low, high)?;
    let highest = terrain.highest_within_m(low, high)?;
    Some([lowest, highest])
}

/// Returns the maximum of 1/cos(slope) at the corners of cells within a rectangle.
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

/// Draws a point at most `radius_m` away, uniformly by volume.
fn within_ball(point: Vec3, radius_m: f64, rng: &mut ChaCha8Rng) -> Vec3 {
    // Half of the draws are in the ball: a hundred in vain do not occur.
    for _ in 0..100 {
        let offset: Vec3 = std::array::from_fn(|_| 2.0 * unit_interval(rng) - 1.0);
        if offset.iter().map(|x| x * x).sum::<f64>() <= 1.0 {
            return std::array::from_fn(|i| point[i] + radius_m * offset[i]);
        }
    }
    point
}

/// A lattice of triangular layers in three alternating positions, as in a face-centred cubic lattice.
struct Lattice {
    origin: Vec3,
    /// Unit vectors, perpendicular to each other: along a row, from row to row, from layer to layer.
    axes: [Vec3; 3],
    spacing: Spacing,
}

impl Lattice {
    /// Makes the lattice with layers along a plane, the first half of a layer above `first_m` over it, at a
    /// random offset along it. If the thickness is not a whole number of layers, the layers are inclined, so
    /// that none is in or out as a whole.
    fn above(plane: &MeanPlane, first_m: f64, spacing: Spacing, rng: &mut ChaCha8Rng) -> Self {
        let normal = normal_of(plane.gradient);
        let length = (1.0 + plane.gradient[0] * plane.gradient[0]).sqrt();
        let east = [1.0 / length, 0.0, plane.gradient[0] / length];
        let north: Vec3 = std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            normal[j] * east[k] - normal[k] * east[j]
        });
        let axes = if spacing.is_layered { [east, north, normal] } else { inclined([east, north, normal]) };
        let [u, v] = [0; 2].map(|_| spacing.within_m * unit_interval(rng));
        let w = first_m + 0.5 * spacing.layers_m;
        Self {
            origin: std::array::from_fn(|i| plane.point[i] + u * east[i] + v * north[i] + w * normal[i]),
            axes,
            spacing,
        }
    }

    /// Calls `visit` with the points in an axis-aligned box, row by row.
    fn visit_box(
        &self,
        [low, high]: [Vec3; 2],
        watch: &mut Watch<'_>,
        mut visit: impl FnMut(Vec3),
    ) -> Result<(), SceneError> {
        let Spacing { within_m: s, layers_m: layer_m, .. } = self.spacing;
        let row_m = s * 0.75_f64.sqrt();
        // Corners of the box in the lattice's own frame.
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
                    watch.tick(1)?;
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
        Ok(())
    }
}

/// Returns the axes rotated about the first and then about the second, by angles at which no densely occupied
/// plane of the lattice lies along the third.
fn inclined([east, north, normal]: [Vec3; 3]) -> [Vec3; 3] {
    let turned = |a: Vec3, b: Vec3, angle: f64| -> [Vec3; 2] {
        let (sin, cos) = angle.sin_cos();
        [std::array::from_fn(|i| cos * a[i] + sin * b[i]), std::array::from_fn(|i| cos * b[i] - sin * a[i])]
    };
    let [north, normal] = turned(north, normal, 0.42);
    let [east, normal] = turned(east, normal, 0.23);
    [east, north, normal]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use chacha20::rand_core::SeedableRng;

    use super::*;

    fn plane(gradient: [f64; 2]) -> MeanPlane {
        MeanPlane { steepness: 1.0, gradient, point: [1.0, 2.0, 3.0] }
    }

    #[test]
    fn the_lattice_is_close_packed() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let spacing =
            |is_layered: bool| Spacing { within_m: 0.5, layers_m: 0.5 * (2.0_f64 / 3.0).sqrt(), is_layered };
        for gradient in [[0.0, 0.0], [-0.6, 0.2], [1.5, -0.7]] {
            let lattice = Lattice::above(&plane(gradient), 0.1, spacing(gradient[0] == 0.0), &mut rng);
            let mut points = Vec::new();
            let corners = [[0.0; 3], [6.0, 5.0, 4.0]];
            lattice.visit_box(corners, &mut Watch::unobserved(), |point| points.push(point)).unwrap();
            let expected = 6.0 * 5.0 * 4.0 * 2.0_f64.sqrt() / 0.125;
            assert!((points.len() as f64 / expected - 1.0).abs() < 0.05, "{} {expected}", points.len());
            let middle = points.iter().filter(|p| p.iter().all(|x| (1.0..3.0).contains(x)));
            for point in middle.take(50) {
                let distance =
                    |other: &Vec3| (0..3).map(|i| (point[i] - other[i]).powi(2)).sum::<f64>().sqrt();
                let near = points.iter().map(distance).filter(|d| *d < 0.5 * 1.001).collect::<Vec<_>>();
                // The point itself and twelve others.
                assert_eq!(near.len(), 13);
                assert!(near.iter().all(|d| *d < 1e-9 || *d > 0.5 * 0.999));
            }
        }
    }

    /// Layers are whole, and the volume of a point is the one requested.
    #[test]
    fn layers_make_up_the_thickness() {
        for thickness_m in [0.02, 0.1, 0.14, 0.3, 0.47, 2.0] {
            for share in [0.2, 0.5, 0.6, 0.7] {
                let (apart_m, volume_m3) = (0.1, 4.0 / 3.0 * PI * 0.05_f64.powi(3) / share);
                let spacing = Spacing::new(volume_m3, thickness_m, apart_m);
                let held_m3 = spacing.within_m.powi(2) * 0.75_f64.sqrt() * spacing.layers_m;
                assert!((held_m3 / volume_m3 - 1.0).abs() < 1e-12);
                assert!(spacing.nearest_m(thickness_m) >= apart_m, "{thickness_m} {share}");
                let n = thickness_m / spacing.layers_m;
                // Dense snow may fit no whole number of layers.
                assert!(
                    spacing.is_layered == ((n - n.round()).abs() < 1e-9),
                    "{n} layers of {thickness_m} at {share}"
                );
                assert!(spacing.is_layered || share > 0.45, "{n} layers of {thickness_m} at {share}");
            }
        }
    }
}
