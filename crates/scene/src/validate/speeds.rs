//! Validates speeds, and the number of steps.

use crate::BodyMotion;
use crate::check::{Check, Checker, number, rounded_down, whole};
use crate::scene::Scene;
use crate::scene::speed::{GivenSpeed, MAX_SPEED_M_S};
use crate::vector::{length, minus};

/// Maximum number of steps of a run: the device counts them in 32 bits, one of which stands for none.
const MAX_STEPS: f64 = (u32::MAX - 1) as f64;

impl Scene {
    /// Returns the speeds of blocks, emitters and bodies.
    fn given_speeds(&self) -> Vec<GivenSpeed> {
        let mut speeds = Vec::new();
        for (idx, block) in self.particles.iter().enumerate() {
            let key = format!("particles.{idx}.{}", block.fastest_key());
            speeds.push(GivenSpeed { key, what: "particles", speed_m_s: block.fastest_m_s() });
        }
        for (idx, emitter) in self.emitters.iter().enumerate() {
            let key = format!("emitters.{idx}.{}", emitter.flow_key());
            let speed_m_s = self.emitter_speed_m_s(emitter);
            speeds.push(GivenSpeed { key, what: "particles", speed_m_s });
        }
        for (idx, body) in self.bodies.iter().enumerate() {
            let Some(motion) = &body.motion else { continue };
            let name = match motion {
                BodyMotion::Uniform(_) | BodyMotion::Dynamic(_) => "velocity_m_s",
                BodyMotion::Oscillating { .. } => "amplitude_m",
                BodyMotion::Spinning { .. } => "angular_velocity_rad_s",
                BodyMotion::Keyframed { .. } => "keys",
            };
            // A body without bounds is as large as the domain.
            let [low_m, high_m] = body.bounds_m().unwrap_or([self.domain.min_m, self.domain.max_m]);
            let speed_m_s = motion.fastest_m_s(low_m, high_m);
            let key = format!("bodies.{idx}.motion.{}.{name}", motion.name());
            speeds.push(GivenSpeed { key, what: "points of a body", speed_m_s });
        }
        speeds
    }

    /// Refuses speeds that nothing in these scenes can have.
    pub(crate) fn check_speeds(&self, check: &Checker<'_>) -> Check {
        self.given_speeds().iter().try_for_each(|given| given.check(check))?;
        let fall_m_s = self.fall_m2_s2().sqrt();
        if fall_m_s > MAX_SPEED_M_S {
            return check.fail_between(
                &["gravity_m_s2", "domain"],
                format!(
                    "gravity at which particles fall through the domain to {} m/s",
                    number(rounded_down(fall_m_s))
                ),
                format!("at most {} m/s, more than any meteor's", number(MAX_SPEED_M_S)),
            );
        }
        Ok(())
    }

    /// Refuses speeds at which a step leads through the whole domain, whatever the method.
    pub(crate) fn check_travel(&self, check: &Checker<'_>) -> Check {
        let diagonal_m = length(minus(self.domain.max_m, self.domain.min_m));
        let dt_s = self.dt_s();
        self.given_speeds()
            .iter()
            .try_for_each(|given| given.check_travel(check, dt_s, diagonal_m, "the domain's diagonal"))
    }

    /// Refuses more steps than a run can count.
    pub(crate) fn check_steps(&self, check: &Checker<'_>) -> Check {
        let (dt_s, duration_s) = (self.step_s(), self.time.duration_s);
        let n_steps = duration_s / dt_s;
        if n_steps <= MAX_STEPS {
            return Ok(());
        }
        check.fail_between(
            &["time.duration_s", "time.dt_s"],
            format!("{} s, {} steps of {} s", number(duration_s), whole(n_steps), number(dt_s)),
            format!(
                "at most {} steps, which a run can count: {} s",
                whole(MAX_STEPS),
                number(rounded_down(MAX_STEPS * dt_s))
            ),
        )
    }
}
