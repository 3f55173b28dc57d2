//! Random packing of spheres.

use chacha20::ChaCha8Rng;

use super::cells::Cells;
use crate::{Shape, Vec3};

/// Maximum number of sweeps; a packing that still has overlaps then has failed.
const MAX_SWEEPS: usize = 4000;

/// Search radius of neighbours, in units of the largest distance of centres that touch, so that a list lasts
/// a few sweeps.
const LIST_REACH: f64 = 1.3;

/// Relative enlargement of spheres while they are pushed apart, so that the iteration ends: the remainder is
/// a gap.
const GOAL: f64 = 2e-3;

/// Returns centres in a shape of spheres of `radii_m`, of which no two are nearer than the sum of their radii
/// and a thousandth of it, and none crosses the surface; `None` if they do not fit.
///
/// Spheres start at random and are pushed apart pair by pair (Jodrey & Tory 1985, without shrinking), which
/// forms dense packings up to a volume fraction of about 0.6.
pub(crate) fn pack(shape: &Shape, radii_m: &[f64], rng: &mut ChaCha8Rng) -> Option<Vec<Vec3>> {
    let max_m = radii_m.iter().copied().fold(0.0, f64::max);
    let mut centres = Vec::with_capacity(radii_m.len());
    for &radius_m in radii_m {
        centres.push(random_centre(shape, radius_m, rng)?);
    }
    let reach_m = 2.0 * LIST_REACH * max_m;
    // A list is valid until one sphere has moved half of the extra search distance.
    let slack_m = 0.5 * (reach_m - 2.0 * (1.0 + GOAL) * max_m);
    let mut at_list = centres.clone();
    let mut pairs = pairs_within(&centres, reach_m);
    for _ in 0..MAX_SWEEPS {
        let mut is_free = true;
        for &(a, b) in &pairs {
            let (a, b) = (a as usize, b as usize);
            let sum_m = radii_m[a] + radii_m[b];
            let offset: Vec3 = std::array::from_fn(|i| centres[b][i] - centres[a][i]);
            let distance_m = offset.iter().map(|x| x * x).sum::<f64>().sqrt();
            if distance_m >= sum_m * (1.0 + 0.5 * GOAL) {
                continue;
            }
            is_free = false;
            // Coincident centres separate along an axis, which depends on their order alone.
            let along = if distance_m > 0.0 { offset.map(|x| x / distance_m) } else { [0.0, 0.0, 1.0] };
            let push_m = 0.5 * (sum_m * (1.0 + GOAL) - distance_m);
            move_within(shape, &mut centres[a], along.map(|x| -push_m * x), radii_m[a]);
            move_within(shape, &mut centres[b], along.map(|x| push_m * x), radii_m[b]);
        }
        let farthest2 = centres
            .iter()
            .zip(&at_list)
            .map(|(now, then)| (0..3).map(|i| (now[i] - then[i]).powi(2)).sum::<f64>());
        let is_stale = farthest2.fold(0.0, f64::max) > slack_m * slack_m;
        if is_stale {
            pairs = pairs_within(&centres, reach_m);
            at_list.clone_from(&centres);
        } else if is_free {
            return Some(centres);
        }
    }
    None
}

/// Maximum number of random positions tried for one sphere before the shape counts as too narrow for it.
const MAX_TRIES: usize = 100_000;

fn random_centre(shape: &Shape, radius_m: f64, rng: &mut ChaCha8Rng) -> Option<Vec3> {
    (0..MAX_TRIES).map(|_| shape.random_point(rng)).find(|point| shape.contains(*point, radius_m))
}

/// Moves a centre as far along each axis as the shape allows.
fn move_within(shape: &Shape, centre: &mut Vec3, step: Vec3, radius_m: f64) {
    let moved: Vec3 = std::array::from_fn(|i| centre[i] + step[i]);
    if shape.contains(moved, radius_m) {
        *centre = moved;
        return;
    }
    for axis in 0..3 {
        let mut moved = *centre;
        moved[axis] += step[axis];
        if shape.contains(moved, radius_m) {
            *centre = moved;
        }
    }
}

/// Returns the pairs of points no further apart than `reach_m`, each once, in the order of the first and of
/// cells.
fn pairs_within(points: &[Vec3], reach_m: f64) -> Vec<(u32, u32)> {
    let cells = Cells::new(points, reach_m);
    let mut pairs = Vec::new();
    for (a, point) in points.iter().enumerate() {
        cells.visit_near(*point, |b| {
            let distance2 = (0..3).map(|i| (points[b as usize][i] - point[i]).powi(2)).sum::<f64>();
            if b as usize > a && distance2 <= reach_m * reach_m {
                pairs.push((a as u32, b));
            }
        });
    }
    pairs
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use chacha20::rand_core::SeedableRng;

    use super::*;
    use crate::Axis;
    use crate::random::unit_interval;

    fn check(shape: &Shape, radius_m: f64, spread: f64, share: f64) {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let one = 4.0 / 3.0 * PI * radius_m.powi(3) * (1.0 + spread * spread);
        let n = (share * shape.volume_m3() / one) as usize;
        let radii: Vec<f64> =
            (0..n).map(|_| radius_m * (1.0 + spread * (2.0 * unit_interval(&mut rng) - 1.0))).collect();
        let centres = pack(shape, &radii, &mut rng).unwrap_or_else(|| panic!("{shape:?} of {n} at {share}"));
        for (a, r) in centres.iter().zip(&radii) {
            assert!(shape.contains(*a, *r));
        }
        for (b, second) in centres.iter().enumerate() {
            for (a, first) in centres[..b].iter().enumerate() {
                let distance = (0..3).map(|i| (first[i] - second[i]).powi(2)).sum::<f64>().sqrt();
                assert!(distance > radii[a] + radii[b], "{a} {b} {distance}");
            }
        }
    }

    #[test]
    fn none_overlap_and_all_are_inside() {
        let cuboid = Shape::Box { min_m: [1.0, 0.0, -1.0], max_m: [2.0, 1.2, 0.1] };
        check(&cuboid, 0.05, 0.0, 0.55);
        check(&cuboid, 0.05, 0.3, 0.55);
        let column = Shape::Cylinder { centre_m: [0.0; 3], axis: Axis::Z, radius_m: 0.5, height_m: 1.0 };
        check(&column, 0.05, 0.2, 0.52);
        check(&Shape::Sphere { centre_m: [3.0; 3], radius_m: 0.6 }, 0.05, 0.1, 0.5);
    }

    #[test]
    fn impossible_packings_are_abandoned() {
        let narrow = Shape::Box { min_m: [0.0; 3], max_m: [1.0, 1.0, 0.1] };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        assert!(pack(&narrow, &[0.2], &mut rng).is_none());
        assert!(pack(&narrow, &[0.05; 250], &mut rng).is_none());
    }
}
