//! Published measurements and analytic solutions that runs are plotted and tested against.

/// Surge front of a collapsing water column as measured by Koshizuka & Oka.
///
/// Each pair is (t*, Z*): t* = t √(2g/L) and Z* = z/L, where L is the column's initial width and z the
/// distance of the front from the column's back wall. S. Koshizuka and Y. Oka, "Moving-Particle Semi-Implicit
/// Method for Fragmentation of Incompressible Fluid", Nuclear Science and Engineering 123 (1996) 421–434.
pub const KOSHIZUKA_OKA_1996_FRONT: [(f64, f64); 9] = [
    (0.0, 1.0),
    (0.381, 1.111),
    (0.769, 1.252),
    (1.153, 1.505),
    (1.537, 1.892),
    (1.935, 2.241),
    (2.323, 2.615),
    (2.719, 3.003),
    (3.096, 3.624),
];

/// Surge front of a collapsing water column of width 57.15 mm (2.25 inches) and twice that height as measured
/// by Martin & Moyce, out to 14 widths, in the variables of [`KOSHIZUKA_OKA_1996_FRONT`]. J. C. Martin and W.
/// J. Moyce, "Part IV. An experimental study of the collapse of liquid columns on a rigid horizontal plane",
/// Philosophical Transactions of the Royal Society A 244 (1952) 312–324, figure 3; digitized in PySPH,
/// `pysph/examples/db_exp_data.py`. Its first five points agree with the paper's table 2, as other programs
/// quote it, within 2.5 %.
pub const MARTIN_MOYCE_1952_FRONT: [(f64, f64); 15] = [
    (0.832, 1.217),
    (1.219, 1.474),
    (1.997, 2.292),
    (2.547, 2.995),
    (3.345, 4.134),
    (4.034, 4.944),
    (4.418, 5.881),
    (5.091, 6.980),
    (5.685, 7.945),
    (6.306, 8.966),
    (6.822, 9.986),
    (7.439, 10.963),
    (8.031, 11.977),
    (8.633, 13.005),
    (9.237, 13.970),
];

/// Returns the dimensionless time t* = t √(2g/L) of [`KOSHIZUKA_OKA_1996_FRONT`]; `width_m` is L.
pub fn dam_break_time(time_s: f64, width_m: f64, gravity_m_s2: f64) -> f64 {
    time_s * (2.0 * gravity_m_s2 / width_m).sqrt()
}

/// Returns the measured front Z* at dimensionless time t*, interpolated linearly; `None` outside the measured
/// times.
pub fn koshizuka_oka_1996_front(t_star: f64) -> Option<f64> {
    KOSHIZUKA_OKA_1996_FRONT
        .windows(2)
        .find(|pair| (pair[0].0..=pair[1].0).contains(&t_star))
        .map(|pair| pair[0].1 + (t_star - pair[0].0) / (pair[1].0 - pair[0].0) * (pair[1].1 - pair[0].1))
}

/// Returns Ritter's front speed 2√(gH) in m/s: the limit without friction.
pub fn ritter_front_speed_m_s(depth_m: f64, gravity_m_s2: f64) -> f64 {
    2.0 * (gravity_m_s2 * depth_m).sqrt()
}

/// Returns Ritter's front in the variables of [`KOSHIZUKA_OKA_1996_FRONT`]: Z* = 1 + √(2H/L) t*; `aspect` is
/// H/L of the column.
pub fn ritter_front(t_star: f64, aspect: f64) -> f64 {
    1.0 + (2.0 * aspect).sqrt() * t_star
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: f64 = 9.81;

    #[test]
    fn dimensionless_and_dimensional_fronts_agree() {
        let (width, depth, time) = (0.146, 0.292, 0.13);
        let expected = 1.0 + ritter_front_speed_m_s(depth, G) * time / width;
        let found = ritter_front(dam_break_time(time, width, G), depth / width);
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }

    #[test]
    fn measurements_are_interpolated_within_their_times_and_slower_than_ritter() {
        for (t_star, front) in KOSHIZUKA_OKA_1996_FRONT {
            assert!((koshizuka_oka_1996_front(t_star).unwrap() - front).abs() < 1e-12);
            assert!(front <= ritter_front(t_star, 2.0));
        }
        assert_eq!(koshizuka_oka_1996_front(-0.1), None);
        assert_eq!(koshizuka_oka_1996_front(3.2), None);
        let middle = koshizuka_oka_1996_front(0.5 * 0.381).unwrap();
        assert!((middle - 1.0555).abs() < 1e-12);
    }
}
