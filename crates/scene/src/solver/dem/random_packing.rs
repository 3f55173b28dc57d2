//! Random packing of spheres.

use chacha20::ChaCha8Rng;

use super::cells::Cells;
use crate::watch::Watch;
use crate::{SceneError, Shape, Vec3};

/// Maximum number of sweeps; a packing that still has overlaps then has failed.
pub(crate) const MAX_SWEEPS: usize = 4000;

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
///
/// The work of all calls is at most [`MAX_SWEEPS`] times the pairs of near spheres, a few for each sphere.
/// `watch` is told of the stage up to the share `to` of all work, in which each sweep is a thousandth part of
/// what is left: most packings take some hundreds.
pub(crate) fn pack(
    shape: &Shape,
    radii_m: &[f64],
    rng: &mut ChaCha8Rng,
    watch: &mut Watch<'_>,
    (stage, to): (&str, f64),
) -> Result<Option<Vec<Vec3>>, SceneError> {
    let max_m = radii_m.iter().copied().fold(0.0, f64::max);
    let mut centres = Vec::with_capacity(radii_m.len());
    // In a shape that is too narrow, nearly all draws are in vain: the mean bounds their sum.
    let mut tries_left = MAX_TRIES + MEAN_TRIES * radii_m.len();
    for &radius_m in radii_m {
        let Some(centre) = random_centre(shape, radius_m, rng, &mut tries_left, watch)? else {
            return Ok(None);
        };
        centres.push(centre);
    }
    let reach_m = 2.0 * LIST_REACH * max_m;
    // A list is valid until one sphere has moved half of the extra search distance.
    let slack_m = 0.5 * (reach_m - 2.0 * (1.0 + GOAL) * max_m);
    let mut at_list = centres.clone();
    let mut pairs = pairs_within(&centres, reach_m, watch)?;
    for sweep in 0..MAX_SWEEPS {
        let of_sweeps = format!("{stage}: sweep {} of at most {MAX_SWEEPS}", sweep + 1);
        watch.begin_part(&of_sweeps, to, SHARE_OF_SWEEP, (pairs.len() + centres.len()) as f64)?;
        let mut is_free = true;
        for &(a, b) in &pairs {
            watch.tick(1)?;
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
        watch.tick(centres.len() as u64)?;
        if is_stale {
            pairs = pairs_within(&centres, reach_m, watch)?;
            at_list.clone_from(&centres);
        } else if is_free {
            return Ok(Some(centres));
        }
    }
    Ok(None)
}

/// Share of what is left of a packing's work that a sweep counts as.
const SHARE_OF_SWEEP: f64 = 1e-3;

/// Maximum number of random positions tried for one sphere before the shape counts as too narrow for it.
const MAX_TRIES: usize = 100_000;

/// Mean of those numbers over all spheres beyond which the shape counts as too narrow.
const MEAN_TRIES: usize = 1000;

fn random_centre(
    shape: &Shape,
    radius_m: f64,
    rng: &mut ChaCha8Rng,
    tries_left: &mut usize,
    watch: &mut Watch<'_>,
) -> Result<Option<Vec3>, SceneError> {
    for _ in 0..MAX_TRIES.min(*tries_left) {
        watch.tick(1)?;
        *tries_left -= 1;
        match shape.random_point(rng) {
            Some(point) if shape.contains(point, radius_m) => return Ok(Some(point)),
            Some(_) => {}
            None => return Ok(None),
        }
    }
    Ok(None)
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
fn pairs_within(points: &[Vec3], reach_m: f64, watch: &mut Watch<'_>) -> Result<Vec<(u32, u32)>, SceneError> {
    let cells = Cells::new(points, reach_m, watch)?;
    // Near points are near in memory, too, in the order of their cells.
    let ordered: Vec<Vec3> = cells.order().iter().map(|&idx| points[idx as usize]).collect();
    let near = |a: u32, point: Vec3, visit: &mut dyn FnMut(u32)| {
        cells.visit_places_near(point, |place| {
            let (b, other) = (cells.order()[place], ordered[place]);
            let distance2 = (0..3).map(|i| (other[i] - point[i]).powi(2)).sum::<f64>();
            if b > a && distance2 <= reach_m * reach_m {
                visit(b);
            }
        });
    };
    // Pairs are counted first, so that each has its place whatever the order in which they are found.
    let mut next = vec![0; points.len()];
    for (&a, point) in cells.order().iter().zip(&ordered) {
        watch.tick(1)?;
        near(a, *point, &mut |_| next[a as usize] += 1);
    }
    let mut n_pairs = 0;
    for first in &mut next {
        let n: usize = *first;
        *first = n_pairs;
        n_pairs += n;
    }
    let mut pairs = vec![(0, 0); n_pairs];
    for (&a, point) in cells.order().iter().zip(&ordered) {
        watch.tick(1)?;
        near(a, *point, &mut |b| {
            pairs[next[a as usize]] = (a, b);
            next[a as usize] += 1;
        });
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use std::f64::consts::PI;

    use chacha20::rand_core::SeedableRng;

    use super::*;
    use crate::Axis;
    use crate::random::unit_interval;

    fn packed(shape: &Shape, radii: &[f64], rng: &mut ChaCha8Rng) -> Option<Vec<Vec3>> {
        pack(shape, radii, rng, &mut Watch::unobserved(), ("it", 1.0)).unwrap()
    }

    fn check(shape: &Shape, radius_m: f64, spread: f64, share: f64) {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let one = 4.0 / 3.0 * PI * radius_m.powi(3) * (1.0 + spread * spread);
        let n = (share * shape.volume_m3() / one) as usize;
        let radii: Vec<f64> =
            (0..n).map(|_| radius_m * (1.0 + spread * (2.0 * unit_interval(&mut rng) - 1.0))).collect();
        let centres =
            packed(shape, &radii, &mut rng).unwrap_or_else(|| panic!("{shape:?} of {n} at {share}"));
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
        assert!(packed(&narrow, &[0.2], &mut rng).is_none());
        assert!(packed(&narrow, &[0.05; 250], &mut rng).is_none());
    }

    /// A shape in which hardly a point is a radius away from the surface takes a bounded number of draws.
    #[test]
    fn narrow_shapes_take_bounded_work() {
        let narrow = Shape::Box { min_m: [0.0; 3], max_m: [1.0, 1.0, 0.1 * (1.0 + 1e-4)] };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let begin = std::time::Instant::now();
        assert!(packed(&narrow, &[0.05; 10_000], &mut rng).is_none());
        assert!(begin.elapsed().as_secs() < 30);
    }

    #[test]
    fn a_packing_reports_each_sweep_and_can_be_ended() {
        let cube = Shape::Box { min_m: [0.0; 3], max_m: [1.0; 3] };
        let radii = vec![0.012; 75_000];
        let mut calls: Vec<(std::time::Instant, String, f64)> = Vec::new();
        let mut observer = |stage: &str, share: f64| {
            calls.push((std::time::Instant::now(), stage.to_owned(), share));
            calls.len() < 25
        };
        let mut watch = Watch::new(&mut observer);
        let begin = std::time::Instant::now();
        let ended = pack(&cube, &radii, &mut ChaCha8Rng::seed_from_u64(1), &mut watch, ("a cube", 1.0));
        let error = ended.unwrap_err().to_string();
        assert!(error.contains(": a cube: sweep ") && error.contains(" of at most 4000"), "{error}");
        let elapsed = begin.elapsed();
        assert!(calls.windows(2).all(|pair| pair[0].2 <= pair[1].2));
        // 20 ms of work each; more where other programs take the processor.
        assert!(elapsed.as_secs_f64() / 25.0 < 0.2, "{elapsed:?}");
    }
}
