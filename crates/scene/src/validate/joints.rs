//! Validates joints.

use super::bodies::check_direction;
use crate::check::{Check, Checker, MIN_POSITIVE, number, vector};
use crate::scene::Scene;
use crate::vector::{dot, length, minus};
use crate::{Body, Joint, JointKind, MAX_JOINTS};

impl Scene {
    /// Checks the joints by themselves, and the bodies that they name.
    pub(crate) fn check_joints(&self, check: &Checker<'_>) -> Check {
        if self.joints.len() > MAX_JOINTS {
            let found = format!("{} joints", self.joints.len());
            check.fail("joints", found, format!("at most {MAX_JOINTS}, which one thread solves"))?;
        }
        let mut names: Vec<&str> = self.bodies.iter().filter_map(|body| body.name.as_deref()).collect();
        for (idx, joint) in self.joints.iter().enumerate() {
            let key = format!("joints.{idx}");
            if let Some(name) = &joint.name {
                check.name(&key, name, &names)?;
                names.push(name);
            }
            self.check_joint(check, &key, joint)?;
            for (other_idx, other) in self.joints.iter().enumerate().take(idx) {
                check_motors(check, (&key, joint), (&format!("joints.{other_idx}"), other))?;
            }
        }
        Ok(())
    }

    fn check_joint(&self, check: &Checker<'_>, key: &str, joint: &Joint) -> Check {
        let body_key = format!("{key}.body");
        let of_name = |name: &str| self.bodies.iter().find(|body| body.name.as_deref() == Some(name));
        let names = |are_wanted: &dyn Fn(&Body) -> bool| {
            let names =
                self.bodies.iter().filter(|body| are_wanted(body)).filter_map(|body| body.name.as_ref());
            let names: Vec<String> = names.map(|name| format!("{name:?}")).collect();
            if names.is_empty() { "; there is none".to_owned() } else { format!(": {}", names.join(", ")) }
        };
        match of_name(&joint.body) {
            Some(body) if body.dynamics().is_some() => {}
            found => {
                let what = if found.is_some() { "which is not dynamic" } else { "which no body is named" };
                let names = names(&|body| body.dynamics().is_some());
                let expected = format!("the name of a dynamic body{names}");
                check.fail(&body_key, format!("{:?}, {what}", joint.body), expected)?;
            }
        }
        if let Some(to) = &joint.to {
            let is_held = |body: &Body| body.motion.is_none() || body.dynamics().is_some();
            let what = match of_name(to) {
                None => Some("which no body is named"),
                Some(_) if *to == joint.body => Some("the body itself"),
                Some(body) if !is_held(body) => Some("whose motion is prescribed"),
                Some(_) => None,
            };
            if let Some(what) = what {
                let others = names(&|body| is_held(body) && body.name.as_ref() != Some(&joint.body));
                let expected = format!("the name of another body, dynamic or at rest{others}");
                check.fail(&format!("{key}.to"), format!("{to:?}, {what}"), expected)?;
            }
        }
        check_kind(check, &format!("{key}.kind.{}", joint.kind.name()), &joint.kind)
    }
}

fn check_kind(check: &Checker<'_>, key: &str, kind: &JointKind) -> Check {
    let within = |name: &str| format!("{key}.{name}");
    let direction = |name: &str, axis| {
        check.vector(&within(name), axis, "no unit")?;
        check_direction(check, &within(name), axis, "a direction, not the zero vector")
    };
    match *kind {
        JointKind::Ball { point_m } | JointKind::Fixed { point_m } => {
            check.vector(&within("point_m"), point_m, "metres")
        }
        JointKind::Hinge { point_m, axis, .. } | JointKind::Slider { point_m, axis, .. } => {
            check.vector(&within("point_m"), point_m, "metres")?;
            direction("axis", axis)
        }
        JointKind::Planar { normal } => direction("normal", normal),
        JointKind::Spring { from_m, to_m, stiffness_n_m, damping_n_s_m, .. } => {
            check.vector(&within("from_m"), from_m, "metres")?;
            check.vector(&within("to_m"), to_m, "metres")?;
            if length(minus(to_m, from_m)) < MIN_POSITIVE {
                let keys = [&*within("to_m"), &*within("from_m")];
                let expected = "a point other than from_m, because the force is along the line between them";
                check.fail_between(&keys, vector(to_m), expected)?;
            }
            if stiffness_n_m == 0.0 && damping_n_s_m == 0.0 {
                let keys = [&*within("stiffness_n_m"), &*within("damping_n_s_m")];
                check.fail_between(&keys, "a spring that exerts no force", "a stiffness or a damping")?;
            }
            Ok(())
        }
    }
}

/// Returns the speed of a motor, and its key.
fn motor_of(kind: &JointKind) -> Option<(f64, &'static str)> {
    match kind {
        JointKind::Hinge { motor, .. } => motor.map(|motor| (motor.speed_rad_s, "speed_rad_s")),
        JointKind::Slider { motor, .. } => motor.map(|motor| (motor.speed_m_s, "speed_m_s")),
        _ => None,
    }
}

/// Refuses two motors that turn, or move, the same body relative to the same other at two speeds.
fn check_motors(check: &Checker<'_>, own: (&str, &Joint), other: (&str, &Joint)) -> Check {
    let ((key, own), (other_key, other)) = (own, other);
    let (Some((speed, name)), Some((other_speed, other_name))) = (motor_of(&own.kind), motor_of(&other.kind))
    else {
        return Ok(());
    };
    let along = dot(own.kind.axes()[0], other.kind.axes()[0]);
    let is_same = (&own.body, &own.to, name) == (&other.body, &other.to, other_name);
    if !is_same || along.abs() < 1.0 - 1e-6 || speed == along.signum() * other_speed {
        return Ok(());
    }
    let own_key = format!("{key}.kind.{}.motor.{name}", own.kind.name());
    let other_key = format!("{other_key}.kind.{}.motor.{name}", other.kind.name());
    let found =
        format!("{} beside {} of another motor of the two bodies", number(speed), number(other_speed));
    check.fail_between(&[&own_key, &other_key], found, "one motor, or two of the same speed")
}
