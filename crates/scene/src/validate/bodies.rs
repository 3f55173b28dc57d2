//! Validates bodies.

use crate::check::{Check, Checker, MIN_POSITIVE, number, vector};
use crate::scene::Scene;
use crate::solver::feature::Feature;
use crate::solver::registry;
use crate::vector::{length, minus};
use crate::{
    Body, BodyMotion, BodyShape, Dynamics, Keyframe, MAX_DYNAMIC_BODIES, Motion, Side, SurfaceFeature, Vec3,
};

/// Maximum number of heights of a height field: their buffer must be small compared with the particles'.
const MAX_HEIGHTS: usize = 1 << 24;

impl Scene {
    /// Checks the bodies. Each solver checks its own requirements on them.
    pub(crate) fn check_bodies(&self, check: &Checker<'_>) -> Check {
        let mut names: Vec<&str> = Vec::new();
        for (idx, body) in self.bodies.iter().enumerate() {
            let key = format!("bodies.{idx}");
            if let Some(name) = &body.name {
                check.name(&key, name, &names)?;
                names.push(name);
            }
            self.check_body(check, &key, body)?;
        }
        let dynamic = self.bodies.iter().enumerate().filter(|(_, body)| body.dynamics().is_some());
        if let Some((idx, _)) = dynamic.clone().nth(MAX_DYNAMIC_BODIES) {
            let expected = format!("at most {MAX_DYNAMIC_BODIES}, whose contacts one workgroup solves");
            check.fail(&format!("bodies.{idx}"), format!("{} dynamic bodies", dynamic.count()), expected)?;
        }
        Ok(())
    }

    fn check_body(&self, check: &Checker<'_>, key: &str, body: &Body) -> Check {
        let name = body.shape.name();
        self.check_shape(check, &format!("{key}.shape.{name}"), &body.shape)?;
        if body.side == Side::Inside && !body.shape.has_inside() {
            let expected =
                format!("\"outside\", because {} has no inside that could hold particles", body.shape.noun());
            check.fail(&format!("{key}.side"), "\"inside\"", expected)?;
        }
        if let Some(restitution) = body.restitution
            && !self.has_feature(Feature::BodyRestitution)
        {
            let kinds = registry::kinds_with(Feature::BodyRestitution, "or");
            check.fail_between(
                &[&format!("{key}.restitution"), "solver.kind"],
                format!(
                    "{} in a scene of solver.kind = \"{}\"",
                    number(restitution),
                    self.solver.kind.name()
                ),
                format!("it with solver.kind = {kinds} only, because other contacts are inelastic"),
            )?;
        }
        if let Some(BodyMotion::Dynamic(dynamics)) = &body.motion {
            return self.check_dynamics(check, key, body, dynamics);
        }
        match &body.motion {
            Some(motion) => check_body_motion(check, &format!("{key}.motion.{}", motion.name()), motion),
            None => Ok(()),
        }
    }

    /// Checks a dynamic body: its mass, and that it is a solid with a name.
    fn check_dynamics(&self, check: &Checker<'_>, key: &str, body: &Body, dynamics: &Dynamics) -> Check {
        let motion_key = format!("{key}.motion.dynamic");
        let within = |name: &str| format!("{motion_key}.{name}");
        let name = body.shape.name();
        if body.name.is_none() {
            check.fail(&motion_key, "a dynamic body without a name", "it with a key \"name\" of the body")?;
        }
        let is_solid = matches!(
            body.shape,
            BodyShape::Sphere { .. }
                | BodyShape::Box { .. }
                | BodyShape::Cylinder { .. }
                | BodyShape::Capsule { .. }
                | BodyShape::Mesh { .. }
        );
        if !is_solid || body.side == Side::Inside {
            let side = if is_solid { "a container" } else { &*body.shape.noun() };
            let expected = "a solid sphere, box, cylinder, capsule or mesh, which have a mass";
            check.fail_between(&[&motion_key, &format!("{key}.shape.{name}")], side, expected)?;
        }
        match (dynamics.density_kg_m3, dynamics.mass_kg) {
            (Some(_), None) | (None, Some(_)) => {}
            (given, _) => {
                let found = if given.is_some() { "density_kg_m3 and mass_kg" } else { "no mass" };
                check.fail(&motion_key, found, "density_kg_m3 or mass_kg")?;
            }
        }
        if self.domain.periodic != [false; 3] {
            let found = "a dynamic body in a periodic domain, through whose faces only particles pass";
            check.fail_between(&[&motion_key, "domain.periodic"], found, "a domain with walls")?;
        }
        check.vector(&within("velocity_m_s"), dynamics.velocity_m_s, "m/s")?;
        check.vector(&within("angular_velocity_rad_s"), dynamics.angular_velocity_rad_s, "rad/s")
    }

    /// Refuses dynamic bodies that overlap faces of the domain, the ground or other bodies at the start,
    /// where contacts would see it: contacts take back overlaps of rounding, and no others.
    pub(super) fn check_overlaps(&self, check: &Checker<'_>) -> Check {
        let are_joined = self.are_joined();
        for (idx, body) in self.bodies.iter().enumerate() {
            let Some(mass) = body.mass() else { continue };
            let key = format!("bodies.{idx}.shape.{}", body.shape.name());
            let (features, radius_m) = body.touching_features();
            let points_m: Vec<Vec3> = features.into_iter().flat_map(SurfaceFeature::places_m).collect();
            // Places are given with five digits and more.
            let tolerance_m = 1e-4 * mass.half_sizes_m[0];
            let deepest_m = |depth_m: &dyn Fn(Vec3) -> f64| {
                points_m.iter().map(|point| depth_m(*point) + radius_m).fold(f64::NEG_INFINITY, f64::max)
            };
            let refuse = |other: &str, depth_m: f64, what: &str| {
                // Of a mesh the depth is unknown.
                let by = if depth_m.is_finite() { format!("{} m deep ", number(depth_m)) } else { "".into() };
                let expected = "a dynamic body that is apart from others at the start";
                check.fail_between(&[&key, other], format!("{} {by}in {what}", body.shape.noun()), expected)
            };
            for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
                let [low_m, high_m] = [self.domain.min_m[axis], self.domain.max_m[axis]];
                for (side, face_m, sign) in [("min", low_m, 1.0), ("max", high_m, -1.0)] {
                    let depth_m = deepest_m(&|point| sign * (face_m - point[axis]));
                    if depth_m > tolerance_m {
                        let what = format!("the face {name}_{side} of the domain");
                        refuse(&format!("domain.{side}_m"), depth_m, &what)?;
                    }
                }
            }
            let [first, second] = self.up_axis.horizontal();
            let below_ground_m = |point: Vec3| {
                let height_m = self.ground_height_m([point[first], point[second]]);
                height_m.map_or(f64::NEG_INFINITY, |height_m| height_m - point[self.up_axis.index()])
            };
            let depth_m = deepest_m(&below_ground_m);
            if self.ground().is_some() && depth_m > tolerance_m {
                refuse("terrain", depth_m, "the terrain")?;
            }
            let is_apart = |other: usize| other != idx && !are_joined(idx, other);
            for (other_idx, other) in self.bodies.iter().enumerate().filter(|(other, _)| is_apart(*other)) {
                let depth_m = deepest_m(&|point| self.body_depth_m(other, point));
                if depth_m > tolerance_m {
                    let other_key = format!("bodies.{other_idx}");
                    let name = other.name.as_ref().map(|name| format!(", {name:?}")).unwrap_or_default();
                    refuse(&other_key, depth_m, &format!("{other_key}{name}"))?;
                }
            }
        }
        Ok(())
    }

    fn check_shape(&self, check: &Checker<'_>, key: &str, shape: &BodyShape) -> Check {
        let within = |name: &str| format!("{key}.{name}");
        match shape {
            BodyShape::Plane { point_m, normal } => {
                check.vector(&within("point_m"), *point_m, "metres")?;
                check.vector(&within("normal"), *normal, "no unit")?;
                check_direction(check, &within("normal"), *normal, "a direction, not the zero vector")
            }
            BodyShape::Sphere { centre_m, .. } => check.vector(&within("centre_m"), *centre_m, "metres"),
            BodyShape::Box { centre_m, .. } => check.vector(&within("centre_m"), *centre_m, "metres"),
            BodyShape::Cylinder { from_m, to_m, .. } | BodyShape::Capsule { from_m, to_m, .. } => {
                check.vector(&within("from_m"), *from_m, "metres")?;
                check.vector(&within("to_m"), *to_m, "metres")?;
                if length(minus(*to_m, *from_m)) < MIN_POSITIVE {
                    let expected = "a point other than from_m, because the axis is the line between them";
                    return check.fail_between(
                        &[&within("to_m"), &within("from_m")],
                        vector(*to_m),
                        expected,
                    );
                }
                Ok(())
            }
            BodyShape::UprightCylinder { foot_m, .. } => {
                check.vector(&within("foot_m"), [foot_m[0], foot_m[1], 0.0], "metres")?;
                if self.ground_height_m(*foot_m).is_none() {
                    let found = format!("[{}, {}], off the map", number(foot_m[0]), number(foot_m[1]));
                    let keys = [&*within("foot_m"), "terrain"];
                    return check.fail_between(&keys, found, "a place on the terrain");
                }
                Ok(())
            }
            BodyShape::Mesh { offset_m, .. } => check.vector(&within("offset_m"), *offset_m, "metres"),
            BodyShape::Heightfield { origin_m, heights_m, .. } => {
                check.vector(&within("origin_m"), [origin_m[0], origin_m[1], 0.0], "metres")?;
                check_heights(check, &within("heights_m"), heights_m)
            }
        }
    }
}

fn check_body_motion(check: &Checker<'_>, key: &str, motion: &BodyMotion) -> Check {
    let within = |name: &str| format!("{key}.{name}");
    match motion {
        BodyMotion::Dynamic(_) => Ok(()),
        BodyMotion::Uniform(motion) => check_motion(check, key, motion),
        BodyMotion::Oscillating { amplitude_m, .. } => {
            check.vector(&within("amplitude_m"), *amplitude_m, "metres")
        }
        BodyMotion::Spinning { point_m, angular_velocity_rad_s, from_s, until_s } => {
            let velocity_key = within("angular_velocity_rad_s");
            check.vector(&within("point_m"), *point_m, "metres")?;
            check.vector(&velocity_key, *angular_velocity_rad_s, "rad/s")?;
            let expected = "a vector along an axis, not zero; a body without motion is at rest";
            check_direction(check, &velocity_key, *angular_velocity_rad_s, expected)?;
            check_interval(check, key, *from_s, *until_s)
        }
        BodyMotion::Keyframed { pivot_m, keys } => {
            check.vector(&within("pivot_m"), *pivot_m, "metres")?;
            if keys.is_empty() {
                return check.fail(&within("keys"), "no keyframes", "at least one");
            }
            let mut previous = None;
            for (idx, frame) in keys.iter().enumerate() {
                let frame_key = within(&format!("keys.{idx}"));
                check_keyframe(check, &frame_key, frame, previous)?;
                if check.are_valid(&[&frame_key]) {
                    previous = Some(frame.time_s);
                }
            }
            Ok(())
        }
    }
}

fn check_keyframe(check: &Checker<'_>, key: &str, frame: &Keyframe, previous_s: Option<f64>) -> Check {
    let within = |name: &str| format!("{key}.{name}");
    if let Some(previous_s) = previous_s
        && frame.time_s <= previous_s
    {
        let expected = format!("a time after that of the previous keyframe, {} s", number(previous_s));
        check.fail(&within("time_s"), format!("{} s", number(frame.time_s)), expected)?;
    }
    check.vector(&within("offset_m"), frame.offset_m, "metres")
}

pub(super) fn check_direction(check: &Checker<'_>, key: &str, direction: Vec3, expected: &str) -> Check {
    if length(direction) < MIN_POSITIVE {
        return check.fail(key, vector(direction), expected);
    }
    Ok(())
}

fn check_heights(check: &Checker<'_>, key: &str, heights_m: &[Vec<f64>]) -> Check {
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

fn check_motion(check: &Checker<'_>, key: &str, motion: &Motion) -> Check {
    check.vector(&format!("{key}.velocity_m_s"), motion.velocity_m_s, "m/s")?;
    check_interval(check, key, motion.from_s, motion.until_s)
}

/// Checks the start and the end of a motion.
fn check_interval(check: &Checker<'_>, key: &str, from_s: f64, until_s: Option<f64>) -> Check {
    if let Some(until_s) = until_s
        && !(until_s > from_s && until_s.is_finite())
    {
        let expected = format!("a time after from_s, {} s", number(from_s));
        let keys = [&*format!("{key}.until_s"), &*format!("{key}.from_s")];
        return check.fail_between(&keys, format!("{} s", number(until_s)), expected);
    }
    Ok(())
}
