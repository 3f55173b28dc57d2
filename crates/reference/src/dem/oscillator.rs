//! Normal force of a contact such that the discrete step rebounds with the requested restitution.

/// A contact as an oscillator, m* δ'' = −k δ − c δ', in steps of v ← v − Δt (k δ + c v)/m*, δ ← δ + Δt v.
///
/// Successive overlaps lie on δ(θ) ∝ e^{−κθ} sin θ at angles α apart, if c = (1 − e^{−2κα}) m*/Δt and ω² Δt²
/// = 2 e^{−κα} (cosh κα − cos α). Half a turn damps by e^{−κπ} = e, so κ = β/√(1 − β²).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Oscillator {
    /// Δt in s.
    pub dt_s: f64,
    /// m* in kg.
    pub mass_kg: f64,
    /// k in N/m.
    pub stiffness_n_m: f64,
    /// c in N s/m.
    pub damping_n_s_m: f64,
    /// κ.
    pub decay: f64,
    /// α.
    pub angle: f64,
}

/// Normal force of a contact in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalForce {
    /// Force in N, positive if it pushes.
    pub force: f64,
    /// Load in N, at least 0, which bounds friction: its impulse over a rebound is that of the force.
    pub load: f64,
    /// True if the rebound ends in this step.
    pub has_ended: bool,
}

/// Share of the speed of parting from which the load is bounded by the impulse to come.
const SEPARATING: f64 = 0.25;

/// Taylor polynomial of e^x that the device uses.
fn exponential(x: f64) -> f64 {
    1.0 + x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0))))
}

fn sine(x: f64) -> f64 {
    x * (1.0 - x * x / 6.0 * (1.0 - x * x / 20.0))
}

fn cosine(x: f64) -> f64 {
    1.0 - x * x / 2.0 * (1.0 - x * x / 12.0 * (1.0 - x * x / 30.0))
}

/// Angle whose sine and cosine have these ratios to a size, from 0 to π, by the series that the device uses.
fn angle_of(along: f64, across: f64, size: f64) -> f64 {
    let half_tangent = along / (size + across.abs()).max(1e-37);
    let t = half_tangent / (1.0 + half_tangent.hypot(1.0));
    let t2 = t * t;
    let series = 1.0 - t2 * (1.0 / 3.0 - t2 * (1.0 / 5.0 - t2 * (1.0 / 7.0 - t2 * (1.0 / 9.0 - t2 / 11.0))));
    let angle = 4.0 * t * series;
    if across < 0.0 { std::f64::consts::PI - angle } else { angle }
}

impl Oscillator {
    /// Returns the oscillator of damping ratio β, with the angle from the inverse series of its equation.
    pub fn new(damping_ratio: f64, mass_kg: f64, stiffness_n_m: f64, dt_s: f64) -> Self {
        let root = (1.0 - damping_ratio * damping_ratio).sqrt();
        let k = damping_ratio / root;
        let w = dt_s * (stiffness_n_m / mass_kg).sqrt() * root;
        let cubic = k * (1.0 / 12.0 + k * k / 4.0);
        let angle = w * (1.0 + w * (k / 2.0 + w * (k * k / 3.0 + 1.0 / 24.0 + w * cubic)));
        let damping_n_s_m = (1.0 - exponential(-2.0 * k * angle)) * mass_kg / dt_s;
        Self { dt_s, mass_kg, stiffness_n_m, damping_n_s_m, decay: k, angle }
    }

    /// Returns α from its equation, by bisection.
    pub fn exact_angle(&self) -> f64 {
        let required = self.stiffness_n_m / self.mass_kg * self.dt_s * self.dt_s;
        let k = self.decay;
        let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
        for _ in 0..80 {
            let a = 0.5 * (low + high);
            let found = 2.0 * (-k * a).exp() * ((k * a).cosh() - a.cos());
            if found < required { low = a } else { high = a }
        }
        0.5 * (low + high)
    }

    /// Returns the normal force of a contact at this overlap that parts at this speed.
    pub fn normal_force(
        &self,
        overlap: f64,
        separation_m_s: f64,
        is_new: bool,
        is_bonded: bool,
    ) -> NormalForce {
        let per_step = self.mass_kg / self.dt_s;
        let touched_in_step =
            is_new && !is_bonded && separation_m_s < 0.0 && overlap <= -separation_m_s * self.dt_s;
        let before =
            if touched_in_step { self.separation_at_entry(overlap, separation_m_s) } else { separation_m_s };
        let force =
            self.stiffness_n_m * overlap - self.damping_n_s_m * before + (before - separation_m_s) * per_step;
        let gap = self.dt_s * (separation_m_s + force / per_step) - overlap;
        let has_ended = !is_bonded && gap > 0.0;
        let force = match has_ended {
            true => (self.separation_at_exit(overlap, gap) - separation_m_s) * per_step,
            false => force,
        };
        let to_come = self.separation_to_come(overlap, before);
        let is_separating = separation_m_s > SEPARATING * to_come;
        let load = if is_separating { force.min((to_come - separation_m_s) * per_step) } else { force };
        NormalForce { force, load: load.max(0.0), has_ended }
    }

    /// Returns the speed at which the ends will part.
    fn separation_to_come(&self, overlap: f64, separation_m_s: f64) -> f64 {
        let (k, a) = (self.decay, self.angle);
        let along = overlap * sine(a);
        let across = (overlap + self.dt_s * separation_m_s) * exponential(-k * a) - overlap * cosine(a);
        let size = along.hypot(across);
        let share = exponential(-k * angle_of(along, across, size) / 16.0).powi(16);
        a / self.dt_s * size / sine(a) * share
    }

    fn separation_at_entry(&self, overlap: f64, separation_m_s: f64) -> f64 {
        let (k, a) = (self.decay, self.angle);
        let share = overlap / (-separation_m_s * self.dt_s);
        let s = share * a;
        let theta = s * (1.0 + s * (k + s * (1.5 * k * k + 1.0 / 6.0)));
        let before = theta - a;
        separation_m_s * (share - exponential(-k * before) * sine(before) / a)
    }

    fn separation_at_exit(&self, overlap: f64, gap: f64) -> f64 {
        let a = self.angle;
        let q = (overlap * cosine(a) + gap * exponential(self.decay * a)) / sine(a);
        let tangent = overlap / q;
        let t2 = tangent * tangent;
        let theta = tangent * (1.0 - t2 / 3.0 * (1.0 - 0.6 * t2 * (1.0 - t2 * 5.0 / 7.0)));
        a / self.dt_s * exponential(-self.decay * theta) * q.hypot(overlap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dem::damping_ratio;

    /// The series of the angle against the root of its equation; at 20 steps per contact and more it decides
    /// the restitution to 1e-4.
    #[test]
    fn the_series_of_the_angle_is_the_root() {
        for restitution in [0.1, 0.3, 0.8, 1.0] {
            for (steps, tolerance) in [(10.0, 2e-3), (20.0, 2e-4), (40.0, 2e-5)] {
                let dt = std::f64::consts::PI / steps;
                let oscillator = Oscillator::new(damping_ratio(restitution), 1.0, 1.0, dt);
                let exact = oscillator.exact_angle();
                let error = oscillator.angle / exact - 1.0;
                assert!(error.abs() < tolerance, "e = {restitution}, {steps} steps: {error:.1e}");
            }
        }
    }

    /// A head-on rebound from any point of a step, by the oscillator alone. The loads add to the impulse.
    #[test]
    fn a_rebound_has_the_requested_restitution_at_any_share_of_a_step() {
        // 4e-3 at 20 steps for e = 0.1: the residual of the last step, which falls as Δt³.
        for (restitution, steps, tolerance) in
            [(0.1, 20.0, 6e-3), (0.3, 20.0, 3e-3), (0.8, 20.0, 1e-3), (1.0, 20.0, 1e-3), (0.1, 40.0, 1e-3)]
        {
            let dt = std::f64::consts::PI / steps;
            let oscillator = Oscillator::new(damping_ratio(restitution), 1.0, 1.0, dt);
            for i in 0..100 {
                let (mut overlap, mut separation_m_s) = (dt * (f64::from(i) + 0.5) / 100.0, -1.0);
                let mut loads = 0.0;
                for step in 0..1000 {
                    let pressed = oscillator.normal_force(overlap, separation_m_s, step == 0, false);
                    separation_m_s += dt * pressed.force;
                    overlap -= dt * separation_m_s;
                    loads += dt * pressed.load;
                    if pressed.has_ended {
                        break;
                    }
                }
                let ratio = loads / (1.0 + separation_m_s);
                assert!((ratio - 1.0).abs() < 1e-4, "e = {restitution}, {steps} steps, {i}: loads {ratio}");
                let error = separation_m_s / restitution - 1.0;
                assert!(error.abs() < tolerance, "e = {restitution}, {steps} steps, {i}: {error:.1e}");
            }
        }
    }
}
