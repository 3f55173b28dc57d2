//! Motion of a rope of fluid that falls onto a floor.

use std::f64::consts::PI;

/// Returns the centre (x, z) in m of the particles within half a thickness of a height, if there are enough.
pub fn centre_m(positions_m: &[[f32; 3]], height_m: f64, thickness_m: f64) -> Option<[f64; 2]> {
    let near: Vec<_> = positions_m
        .iter()
        .filter(|x| (f64::from(x[1]) - height_m).abs() < 0.5 * thickness_m)
        .map(|x| [f64::from(x[0]), f64::from(x[2])])
        .collect();
    let n = near.len() as f64;
    (near.len() > 10).then(|| [0, 1].map(|axis| near.iter().map(|x| x[axis]).sum::<f64>() / n))
}

/// Returns the angular velocity in rad/s of a path around the origin, by least squares over its azimuth, and
/// the number of turns; the points are `interval_s` apart.
pub fn turning(path_m: &[[f64; 2]], interval_s: f64) -> (f64, f64) {
    let mut azimuth = Vec::new();
    for [x, z] in path_m {
        let angle = z.atan2(*x);
        let last = azimuth.last().copied().unwrap_or(angle);
        azimuth.push(angle + 2.0 * PI * ((last - angle) / (2.0 * PI)).round());
    }
    let n = azimuth.len() as f64;
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / n;
    let time = |i: usize| interval_s * (i as f64 - 0.5 * (n - 1.0));
    let middle = mean(&mut azimuth.iter().copied());
    let along: f64 = azimuth.iter().enumerate().map(|(i, a)| time(i) * (a - middle)).sum();
    let square: f64 = (0..azimuth.len()).map(|i| time(i).powi(2)).sum();
    let turns = (azimuth.last().unwrap_or(&0.0) - azimuth.first().unwrap_or(&0.0)) / (2.0 * PI);
    (along / square, turns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_turns_at_its_angular_velocity() {
        let path: Vec<[f64; 2]> =
            (0..100).map(|i| -0.3 * f64::from(i)).map(|a| [0.01 * a.cos(), 0.01 * a.sin()]).collect();
        let (rate, turns) = turning(&path, 0.02);
        assert!(
            (rate + 15.0).abs() < 1e-9 && (turns + 0.3 * 99.0 / (2.0 * PI)).abs() < 1e-9,
            "{rate} {turns}"
        );
    }

    #[test]
    fn a_centre_needs_particles() {
        let ring: Vec<[f32; 3]> = (0..20).map(|i| [0.001 * (i % 2) as f32, 0.01, 0.002]).collect();
        let centre = centre_m(&ring, 0.0102, 0.001).unwrap_or_default();
        assert!((centre[0] - 0.0005).abs() < 1e-9 && (centre[1] - 0.002).abs() < 1e-9, "{centre:?}");
        assert_eq!(centre_m(&ring, 0.02, 0.001), None);
    }
}
