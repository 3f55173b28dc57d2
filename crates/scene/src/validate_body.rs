//! What makes sensible `[[bodies]]`, and which solver meets what.

use crate::validate::{Check, Checker, MIN_POSITIVE, number, vector};
use crate::validate_collider::{check_heights, check_motion};
use crate::{Body, BodyMotion, BodyShape, Scene, Side, SolverKind, Vec3, WallModel};

/// A mesh that a solver in a plane would have to cut.
const SPACE_ONLY: &str = "a plane, sphere, box or heightfield, because mpm.dimensions = 2";

impl Scene {
    pub(crate) fn check_bodies(&self, check: &Checker<'_>) -> Check {
        if !self.bodies.is_empty() && self.domain.walls == WallModel::Particles {
            let expected = "domain.walls = \"analytic\": boundary particles stand for fixed planes and spheres of [[colliders]] alone";
            return check.fail_between(&["bodies.0", "domain.walls"], "[[bodies]]", expected);
        }
        let taken = self.obstacles.iter().map(|obstacle| obstacle.name.as_str());
        let mut names: std::collections::HashSet<&str> = taken.collect();
        for (idx, body) in self.bodies.iter().enumerate() {
            let key = format!("bodies.{idx}");
            if body.name.trim().is_empty() {
                return check.fail(&format!("{key}.name"), "no name", "a name for tables");
            }
            if !names.insert(&body.name) {
                let found = format!("{:?} again", body.name);
                return check.fail(&format!("{key}.name"), found, "each name once");
            }
            self.check_body(check, &key, body)?;
        }
        if let Some(friction) = &self.domain.friction {
            if self.fluid.is_none() {
                let found = format!("it in a scene of solver.kind = \"{}\"", self.solver.kind.name());
                let expected = "it in scenes of solver.kind = \"pbd\" only";
                return check.fail_between(&["domain.friction", "solver.kind"], found, expected);
            }
            let names = [["x_min", "y_min", "z_min"], ["x_max", "y_max", "z_max"]];
            for (faces, names) in friction.faces().into_iter().zip(names) {
                for (face, name) in faces.into_iter().zip(names) {
                    check.range(&format!("domain.friction.{name}"), face.unwrap_or(0.0), 0.0, 100.0)?;
                }
            }
        }
        Ok(())
    }

    fn check_body(&self, check: &Checker<'_>, key: &str, body: &Body) -> Check {
        let name = body.shape.name();
        self.check_shape(check, &format!("{key}.shape.{name}"), &body.shape)?;
        if body.side == Side::Inside && matches!(name, "plane" | "heightfield") {
            let expected = format!("\"outside\": a {name} has no inside");
            return check.fail(&format!("{key}.side"), "\"inside\"", expected);
        }
        check.range(&format!("{key}.friction"), body.friction.unwrap_or(0.0), 0.0, 100.0)?;
        let is_dem = self.solver.kind == SolverKind::Dem;
        if let Some(restitution) = body.restitution {
            if !is_dem {
                let found = format!("it in a scene of solver.kind = \"{}\"", self.solver.kind.name());
                let expected = "it with solver.kind = \"dem\" only: other contacts are inelastic";
                return check.fail(&format!("{key}.restitution"), found, expected);
            }
            check.range(&format!("{key}.restitution"), restitution, 0.01, 1.0)?;
        }
        if is_dem && body.sticky {
            let expected = "false; cohesion and terrain_adhesion_n of [dem] hold grains";
            return check.fail(
                &format!("{key}.sticky"),
                "true in a scene of solver.kind = \"dem\"",
                expected,
            );
        }
        match &body.motion {
            Some(motion) => self.check_body_motion(check, &format!("{key}.motion.{}", motion.name()), motion),
            None => Ok(()),
        }
    }

    fn check_shape(&self, check: &Checker<'_>, key: &str, shape: &BodyShape) -> Check {
        let within = |name: &str| format!("{key}.{name}");
        let is_flat = self.n_dimensions() == 2;
        if is_flat && matches!(shape.name(), "cylinder" | "capsule" | "mesh") {
            return check.fail_between(&[key, "mpm.dimensions"], format!("a {}", shape.name()), SPACE_ONLY);
        }
        match shape {
            BodyShape::Plane { point_m, normal } => {
                check.vector(&within("point_m"), *point_m, "metres")?;
                check.vector(&within("normal"), *normal, "no unit")?;
                if length(*normal) < MIN_POSITIVE {
                    let expected = "a direction, not the zero vector";
                    return check.fail(&within("normal"), vector(*normal), expected);
                }
                self.check_flat(check, &within("normal"), *normal)
            }
            BodyShape::Sphere { centre_m, radius_m } => {
                check.vector(&within("centre_m"), *centre_m, "metres")?;
                check.positive(&within("radius_m"), *radius_m, "metres")
            }
            BodyShape::Box { centre_m, size_m, rotation_deg } => {
                check.vector(&within("centre_m"), *centre_m, "metres")?;
                for (axis, size) in size_m.iter().enumerate() {
                    check.positive(&within(&format!("size_m.{axis}")), *size, "metres")?;
                }
                for (axis, angle) in rotation_deg.iter().enumerate() {
                    check.range(&within(&format!("rotation_deg.{axis}")), *angle, -360.0, 360.0)?;
                }
                self.check_turn(check, &within("rotation_deg"), *rotation_deg)
            }
            BodyShape::Cylinder { from_m, to_m, radius_m }
            | BodyShape::Capsule { from_m, to_m, radius_m } => {
                check.vector(&within("from_m"), *from_m, "metres")?;
                check.vector(&within("to_m"), *to_m, "metres")?;
                check.positive(&within("radius_m"), *radius_m, "metres")?;
                let axis: Vec3 = std::array::from_fn(|i| to_m[i] - from_m[i]);
                if length(axis) < MIN_POSITIVE {
                    let expected = "another point than from_m: the axis runs between the two";
                    return check.fail(&within("to_m"), vector(*to_m), expected);
                }
                Ok(())
            }
            BodyShape::Mesh { scale, offset_m, .. } => {
                check.positive(&within("scale"), *scale, "metres a unit")?;
                check.vector(&within("offset_m"), *offset_m, "metres")
            }
            BodyShape::Heightfield { origin_m, spacing_m, heights_m, .. } => {
                check.vector(&within("origin_m"), [origin_m[0], origin_m[1], 0.0], "metres")?;
                check.positive(&within("spacing_m"), *spacing_m, "metres")?;
                check_heights(check, &within("heights_m"), heights_m)?;
                if is_flat && heights_m.len() != 1 {
                    let found = format!("{} rows of heights", heights_m.len());
                    let expected = "one row, because mpm.dimensions = 2";
                    return check.fail_between(&[&within("heights_m"), "mpm.dimensions"], found, expected);
                }
                Ok(())
            }
        }
    }

    /// A vector in the plane of a scene of two dimensions.
    fn check_flat(&self, check: &Checker<'_>, key: &str, value: Vec3) -> Check {
        if self.n_dimensions() == 3 || value[2] == 0.0 {
            return Ok(());
        }
        let expected = "a third component of 0, because mpm.dimensions = 2";
        check.fail_between(&[key, "mpm.dimensions"], vector(value), expected)
    }

    /// A turn about z in a scene of two dimensions.
    fn check_turn(&self, check: &Checker<'_>, key: &str, value: Vec3) -> Check {
        if self.n_dimensions() == 3 || value[..2] == [0.0; 2] {
            return Ok(());
        }
        let expected = "[0, 0, about z], because mpm.dimensions = 2";
        check.fail_between(&[key, "mpm.dimensions"], vector(value), expected)
    }

    fn check_body_motion(&self, check: &Checker<'_>, key: &str, motion: &BodyMotion) -> Check {
        let within = |name: &str| format!("{key}.{name}");
        match motion {
            BodyMotion::Uniform(motion) => {
                check_motion(check, key, motion)?;
                self.check_flat(check, &within("velocity_m_s"), motion.velocity_m_s)
            }
            BodyMotion::Oscillating { amplitude_m, frequency_hz, phase_deg } => {
                check.vector(&within("amplitude_m"), *amplitude_m, "metres")?;
                check.positive(&within("frequency_hz"), *frequency_hz, "Hz")?;
                check.range(&within("phase_deg"), *phase_deg, -360.0, 360.0)?;
                self.check_flat(check, &within("amplitude_m"), *amplitude_m)
            }
            BodyMotion::Spinning { point_m, angular_velocity_rad_s, from_s, until_s } => {
                check.vector(&within("point_m"), *point_m, "metres")?;
                check.vector(&within("angular_velocity_rad_s"), *angular_velocity_rad_s, "rad/s")?;
                if length(*angular_velocity_rad_s) < MIN_POSITIVE {
                    let expected = "an axis, not the zero vector; without a motion it is at rest";
                    return check.fail(
                        &within("angular_velocity_rad_s"),
                        vector(*angular_velocity_rad_s),
                        expected,
                    );
                }
                check.range(&within("from_s"), *from_s, 0.0, 1e9)?;
                if let Some(until_s) = until_s
                    && !(until_s > from_s && until_s.is_finite())
                {
                    let expected = format!("a time after from_s, {} s", number(*from_s));
                    return check.fail(&within("until_s"), format!("{} s", number(*until_s)), expected);
                }
                self.check_turn(check, &within("angular_velocity_rad_s"), *angular_velocity_rad_s)
            }
            BodyMotion::Keyframed { pivot_m, keys } => {
                check.vector(&within("pivot_m"), *pivot_m, "metres")?;
                if keys.is_empty() {
                    return check.fail(&within("keys"), "no keys", "at least one");
                }
                for (idx, frame) in keys.iter().enumerate() {
                    let within = |name: &str| format!("{key}.keys.{idx}.{name}");
                    check.range(&within("time_s"), frame.time_s, 0.0, 1e9)?;
                    if let Some(before) = idx.checked_sub(1).map(|before| keys[before].time_s)
                        && frame.time_s <= before
                    {
                        let expected = format!("a time after that of the key before, {} s", number(before));
                        return check.fail(
                            &within("time_s"),
                            format!("{} s", number(frame.time_s)),
                            expected,
                        );
                    }
                    check.vector(&within("offset_m"), frame.offset_m, "metres")?;
                    self.check_flat(check, &within("offset_m"), frame.offset_m)?;
                    for (axis, angle) in frame.rotation_deg.iter().enumerate() {
                        check.range(&within(&format!("rotation_deg.{axis}")), *angle, -360.0, 360.0)?;
                    }
                    self.check_turn(check, &within("rotation_deg"), frame.rotation_deg)?;
                }
                Ok(())
            }
        }
    }
}

fn length(v: Vec3) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}
