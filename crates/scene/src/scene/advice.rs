//! Warnings about allowed but unusual values.

use std::fmt;

use crate::format::source::Location;
use crate::scene::Scene;
use crate::scene::sample::Sampled;
use crate::vector::length;
use crate::{BodyShape, Vec3};

/// A warning about a valid scene that may give a poor result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Location of the value.
    pub at: Location,
    /// Path of the key.
    pub key: String,
    /// Possible problem and remedy.
    pub message: String,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.at, self.key, self.message)
    }
}

impl Scene {
    /// Returns the warnings, which are cheap to compute; none of them stops a run.
    pub fn advice(&self) -> Vec<Advice> {
        let mut advice = Vec::new();
        let mut warn = |key: &str, message: String| {
            advice.push(Advice { at: self.source.locate(key), key: key.to_owned(), message });
        };
        if let Some(solver) = self.solver_scene() {
            solver.advise(self, &mut warn);
        }
        if self.gravity_m_s2()[self.up_axis.index()] > 0.0 {
            warn("gravity_m_s2", "points up".to_owned());
        }
        advice
    }

    /// Returns the warnings of [`Scene::advice`], and those that need the particles at time 0 or concern
    /// parts of the scene without effect: bodies outside the domain, and keys that nothing reads.
    pub fn thorough_advice(&self, sampled: &Sampled) -> Vec<Advice> {
        let mut advice = self.advice();
        let mut warn = |key: &str, message: String| {
            advice.push(Advice { at: self.source.locate(key), key: key.to_owned(), message });
        };
        let solver = self.solver_scene();
        if let Some(solver) = solver {
            solver.advise_sampled(self, sampled, &mut warn);
        }
        for (key, centre_m, reach_m) in self.balls_around_bodies() {
            if self.is_outside_domain(centre_m, reach_m) {
                warn(&key, "lies outside the domain, where no particle is: it has no effect".to_owned());
            }
        }
        let unused = solver.map(|solver| solver.unused_keys(self)).unwrap_or_default();
        for (key, reason) in unused {
            let keys: Vec<String> = match key.strip_prefix("particles.*.") {
                Some(name) => {
                    (0..self.particles.len()).map(|block| format!("particles.{block}.{name}")).collect()
                }
                None => vec![key.to_owned()],
            };
            for key in keys.iter().filter(|key| self.source.has(key)) {
                warn(key, format!("has no effect: {reason}"));
            }
        }
        advice
    }

    /// Returns the keys of the bodies that stay where they are, each with a ball around it: centre and radius
    /// in m. Half-spaces, upright cylinders and meshes have none.
    fn balls_around_bodies(&self) -> Vec<(String, Vec3, f64)> {
        let mut balls = Vec::new();
        for (idx, body) in self.bodies.iter().enumerate().filter(|(_, body)| body.motion.is_none()) {
            let ball = match &body.shape {
                BodyShape::Sphere { centre_m, radius_m } => (*centre_m, *radius_m),
                BodyShape::Box { centre_m, size_m, .. } => (*centre_m, 0.5 * length(*size_m)),
                BodyShape::Cylinder { from_m, to_m, radius_m }
                | BodyShape::Capsule { from_m, to_m, radius_m } => {
                    let half: Vec3 = std::array::from_fn(|axis| 0.5 * (to_m[axis] - from_m[axis]));
                    let centre_m = std::array::from_fn(|axis| from_m[axis] + half[axis]);
                    (centre_m, length(half) + std::f64::consts::SQRT_2 * radius_m)
                }
                _ => continue,
            };
            balls.push((format!("bodies.{idx}"), ball.0, ball.1));
        }
        balls
    }

    /// Returns true if no point of a ball is inside the domain.
    fn is_outside_domain(&self, centre_m: Vec3, radius_m: f64) -> bool {
        let outside_m: Vec3 = std::array::from_fn(|axis| {
            // Scenes of two dimensions take the cross-section at z = 0, whatever the domain's z.
            let is_plane = axis >= self.n_dimensions();
            let (low, high) =
                if is_plane { (0.0, 0.0) } else { (self.domain.min_m[axis], self.domain.max_m[axis]) };
            (low - centre_m[axis]).max(centre_m[axis] - high).max(0.0)
        });
        length(outside_m) > radius_m
    }
}
