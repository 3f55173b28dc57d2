//! Warnings about allowed but unusual values.

use std::fmt;

use crate::check::{number, whole};
use crate::format::source::Location;
use crate::scene::Scene;
use crate::scene::estimate::two_digits;
use crate::scene::sample::Sampled;
use crate::{BodyShape, Shape, TriangleMesh};

/// Least time of a step in s, and most particles that a step moves in a second, of any device: by far.
const MIN_STEP_S: f64 = 1e-5;
const MAX_PARTICLES_PER_S: f64 = 2e10;

/// Days on any device beyond which a run is hardly what was meant.
const MAX_DAYS: f64 = 30.0;

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
        self.advise_turned(&mut warn);
        let estimate = self.estimate();
        self.advise_steps(&mut warn, estimate.n_particles as f64);
        self.advise_memory(&mut warn, &estimate);
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
        self.advise_placement(&mut warn);
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

    /// Warns about meshes whose triangles faced the wrong side, and were turned.
    fn advise_turned(&self, warn: &mut dyn FnMut(&str, String)) {
        let said = |path: &str, note: &str| format!("{path}: {note}");
        for (idx, block) in self.particles.iter().enumerate() {
            if let Shape::Mesh { path, mesh, .. } = &block.shape
                && let Some(note) = mesh.get().and_then(TriangleMesh::turned)
            {
                warn(&format!("particles.{idx}.shape.mesh.path"), said(path, note));
            }
        }
        for (idx, body) in self.bodies.iter().enumerate() {
            if let BodyShape::Mesh { path, mesh, .. } = &body.shape
                && let Some(note) = mesh.get().and_then(TriangleMesh::turned)
            {
                warn(&format!("bodies.{idx}.shape.mesh.path"), said(path, note));
            }
        }
    }

    /// Warns about runs that take months on any device, and steps longer than the run.
    fn advise_steps(&self, warn: &mut dyn FnMut(&str, String), n: f64) {
        let n_steps = self.n_steps() as f64;
        let days = n_steps * MIN_STEP_S.max(n / MAX_PARTICLES_PER_S) / 86_400.0;
        if days > MAX_DAYS {
            warn(
                "time.duration_s",
                format!(
                    "makes {} steps of {} s with {} particles, which take {} days at least on any device",
                    whole(n_steps),
                    number(self.step_s()),
                    whole(n),
                    number(two_digits(days))
                ),
            );
        }
        if self.step_s() > self.time.duration_s {
            let message = format!(
                "is longer than the run, time.duration_s = {} s, which is a single step then",
                number(self.time.duration_s)
            );
            warn("time.dt_s", message);
        }
    }
}
