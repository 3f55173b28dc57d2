//! Validates colliders, and the solver's support for them.

use crate::check::{Check, Checker, MIN_POSITIVE, number, vector};
use crate::surface::check_surface;
use crate::{Collider, Motion, Scene, WallModel};

/// Maximum number of heights of a height field: their buffer must be small compared with the particles'.
const MAX_HEIGHTS: usize = 1 << 24;

impl Scene {
    pub(crate) fn check_collider(&self, check: &Checker<'_>, key: &str, collider: &Collider) -> Check {
        match self.solver.kind.name() {
            "dem" => check_known_to_dem(check, key, collider)?,
            "pbd" if self.domain.walls == WallModel::Particles => check_sampled(check, key, collider)?,
            _ => {}
        }
        let key = format!("{key}.{}", collider.name());
        let within = |name: &str| format!("{key}.{name}");
        match collider {
            Collider::Plane { point_m, normal, .. } => {
                check.vector(&within("point_m"), *point_m, "metres")?;
                check.vector(&within("normal"), *normal, "no unit")?;
                let length = normal.iter().map(|n| n * n).sum::<f64>().sqrt();
                if length < MIN_POSITIVE {
                    let expected = "a direction, not the zero vector";
                    check.fail(&within("normal"), vector(*normal), expected)?;
                }
            }
            Collider::Sphere { centre_m, radius_m, .. } => {
                check.vector(&within("centre_m"), *centre_m, "metres")?;
                check.positive(&within("radius_m"), *radius_m, "metres")?;
            }
            Collider::Box { centre_m, size_m, rotation_deg, .. } => {
                check.vector(&within("centre_m"), *centre_m, "metres")?;
                for (axis, size) in size_m.iter().enumerate() {
                    check.positive(&within(&format!("size_m.{axis}")), *size, "metres")?;
                }
                for (axis, angle) in rotation_deg.iter().enumerate() {
                    check.range(&within(&format!("rotation_deg.{axis}")), *angle, -360.0, 360.0)?;
                }
            }
            Collider::Heightfield { origin_m, spacing_m, heights_m, .. } => {
                check.vector(&within("origin_m"), [origin_m[0], origin_m[1], 0.0], "metres")?;
                check.positive(&within("spacing_m"), *spacing_m, "metres")?;
                check_heights(check, &within("heights_m"), heights_m)?;
            }
        }
        if let Some(surface) = collider.given_surface() {
            check_surface(check, &within("surface"), &surface)?;
        }
        match collider.motion() {
            Some(motion) => check_motion(check, &within("motion"), &motion),
            None => Ok(()),
        }
    }
}

/// Refuses colliders that boundary particles cannot represent: other than planes and spheres at rest.
fn check_sampled(check: &Checker<'_>, key: &str, collider: &Collider) -> Check {
    let name = collider.name();
    let found = match collider {
        Collider::Box { .. } | Collider::Heightfield { .. } => format!("a {name}"),
        _ if collider.motion().is_some() => format!("a moving {name}"),
        _ => return Ok(()),
    };
    let expected = "a plane or sphere at rest, which can be sampled with boundary particles, or \
                    domain.walls = \"analytic\"";
    check.fail_between(&[&format!("{key}.{name}"), "domain.walls"], found, expected)
}

/// Refuses colliders that grains do not support: other than planes, balls and boxes, fixed or moving, without
/// sticking.
fn check_known_to_dem(check: &Checker<'_>, key: &str, collider: &Collider) -> Check {
    let name = collider.name();
    if matches!(collider, Collider::Heightfield { .. }) {
        return check.fail(
            &format!("{key}.{name}"),
            "a heightfield in a scene of solver.kind = \"dem\"",
            "a plane, sphere or box; a [terrain] has heights",
        );
    }
    match collider.given_surface() {
        Some(surface) if surface.sticky => check.fail(
            &format!("{key}.{name}.surface.sticky"),
            "true in a scene of solver.kind = \"dem\"",
            "false; cohesion and terrain_adhesion_n of [dem] hold grains",
        ),
        _ => Ok(()),
    }
}

pub(crate) fn check_heights(check: &Checker<'_>, key: &str, heights_m: &[Vec<f64>]) -> Check {
    let n_along = heights_m.first().map_or(0, Vec::len);
    if n_along == 0 {
        return check.fail(key, "no heights", "at least one row of at least one height");
    }
    if n_along.saturating_mul(heights_m.len()) > MAX_HEIGHTS {
        let found = format!("{} rows of {n_along} heights", heights_m.len());
        return check.fail(key, found, format!("at most {MAX_HEIGHTS} heights"));
    }
    for (row_idx, row) in heights_m.iter().enumerate() {
        let row_key = format!("{key}.{row_idx}");
        if row.len() != n_along {
            let expected = format!("{n_along}, as many as in the first row");
            return check.fail(&row_key, format!("{} heights", row.len()), expected);
        }
        for (idx, height) in row.iter().enumerate() {
            if !height.is_finite() {
                return check.fail(&format!("{row_key}.{idx}"), number(*height), "a finite height in metres");
            }
        }
    }
    Ok(())
}

pub(crate) fn check_motion(check: &Checker<'_>, key: &str, motion: &Motion) -> Check {
    check.vector(&format!("{key}.velocity_m_s"), motion.velocity_m_s, "m/s")?;
    check_interval(check, key, motion.from_s, motion.until_s)
}

/// Checks the start and the end of a motion.
pub(crate) fn check_interval(check: &Checker<'_>, key: &str, from_s: f64, until_s: Option<f64>) -> Check {
    check.range(&format!("{key}.from_s"), from_s, 0.0, 1e9)?;
    if let Some(until_s) = until_s
        && !(until_s > from_s && until_s.is_finite())
    {
        let expected = format!("a time after from_s, {} s", number(from_s));
        let keys = [&*format!("{key}.until_s"), &*format!("{key}.from_s")];
        return check.fail_between(&keys, format!("{} s", number(until_s)), expected);
    }
    Ok(())
}
