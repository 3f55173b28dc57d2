//! Bounds of the speed of a scene's particles.

use crate::Vec3;
use crate::check::{Check, Checker, number, rounded_down};
use crate::scene::Scene;

/// Maximum speed in m/s. No impact on Earth is faster: meteors reach 7.2e4 m/s, twenty times the speed of
/// sound in ice, beyond which no material of these scenes is snow, water or ice.
pub(crate) const MAX_SPEED_M_S: f64 = 1e5;

/// A speed that a key of the scene gives.
pub(crate) struct GivenSpeed {
    pub key: String,
    /// What moves: "particles", "a body".
    pub what: &'static str,
    pub speed_m_s: f64,
}

impl GivenSpeed {
    /// Refuses a speed beyond [`MAX_SPEED_M_S`].
    pub(crate) fn check(&self, check: &Checker<'_>) -> Check {
        if self.speed_m_s <= MAX_SPEED_M_S {
            return Ok(());
        }
        check.fail(
            &self.key,
            format!("{} that move at up to {} m/s", self.what, number(rounded_down(self.speed_m_s))),
            format!("at most {} m/s, more than any meteor's", number(MAX_SPEED_M_S)),
        )
    }

    /// Refuses a speed at which a step is a longer way than `reach_m`, which `of` describes.
    pub(crate) fn check_travel(&self, check: &Checker<'_>, dt_s: f64, reach_m: f64, of: &str) -> Check {
        let travel_m = self.speed_m_s * dt_s;
        if travel_m <= reach_m {
            return Ok(());
        }
        check.fail_between(
            &[&self.key, "time.dt_s"],
            format!(
                "{} that move by up to {} m in a step of {} s",
                self.what,
                number(rounded_down(travel_m)),
                number(dt_s)
            ),
            format!(
                "at most {of}, {} m in a step: a speed of {} m/s or less, or a step of {} s or less",
                number(rounded_down(reach_m)),
                number(rounded_down(reach_m / dt_s)),
                number(rounded_down(reach_m / self.speed_m_s))
            ),
        )
    }
}

impl Scene {
    /// Returns an upper bound of the expected speed in m/s: the fastest initial particles or moving body,
    /// plus a fall through the whole domain.
    pub(crate) fn expected_max_speed_m_s(&self) -> f64 {
        let speed = |v: &Vec3| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let releases = self.releases().iter().map(|release| speed(&release.velocity_m_s));
        let slabs = self.slabs().iter().map(|slab| speed(&slab.velocity_m_s));
        let starts = self.particles.iter().map(|block| block.fastest_m_s()).chain(releases).chain(slabs);
        let motions = self.bodies.iter().filter_map(|body| body.motion.as_ref());
        let (low_m, high_m) = (self.domain.min_m, self.domain.max_m);
        let bodies = motions.map(|motion| motion.fastest_m_s(low_m, high_m));
        starts.chain(bodies).fold(0.0, f64::max) + self.fall_m2_s2().sqrt()
    }

    /// Returns the speed in m/s of the fastest body whose motion is prescribed, or emitter.
    pub(crate) fn prescribed_speed_m_s(&self) -> f64 {
        let (low_m, high_m) = (self.domain.min_m, self.domain.max_m);
        let motions = self.bodies.iter().filter_map(|body| body.motion.as_ref());
        let bodies = motions.map(|motion| motion.fastest_m_s(low_m, high_m));
        let emitters = self.emitters.iter().map(|emitter| self.emitter_speed_m_s(emitter));
        bodies.chain(emitters).fold(0.0, f64::max)
    }

    /// Returns the square of the speed after a fall through the whole domain, as far as particles fall
    /// freely, in m²/s².
    pub(crate) fn fall_m2_s2(&self) -> f64 {
        let gravity = self.gravity_m_s2();
        let mut top_m = self.domain.max_m;
        if let Some(fall_top_m) = self.solver_scene().and_then(|solver| solver.fall_top_m(self)) {
            top_m[self.up_axis.index()] = fall_top_m;
        }
        let extent: Vec3 = std::array::from_fn(|i| top_m[i] - self.domain.min_m[i]);
        (0..3).map(|i| 2.0 * gravity[i].abs() * extent[i]).sum()
    }
}
