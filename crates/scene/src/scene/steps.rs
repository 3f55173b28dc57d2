//! Length of a scene's steps, and of the substeps that solvers divide them into.

use crate::check::rounded_down;
use crate::scene::speed::MAX_SPEED_M_S;
use crate::scene::{GRAVITY_M_S2, MAX_SUBSTEPS, Scene, Substeps, TimeStep};

impl Scene {
    /// Returns the length of a step in s: the time between two states that are counted, stored and shown.
    pub fn step_s(&self) -> f64 {
        match self.time.dt_s {
            TimeStep::Seconds(step_s) => step_s,
            TimeStep::Auto => self.auto_dt_s(),
        }
    }

    /// Returns the time step Δt of the solver in s, that of a substep; of `substeps = "auto"` that of the
    /// smallest number.
    pub fn dt_s(&self) -> f64 {
        self.step_s() / f64::from(self.substeps())
    }

    /// Returns the number of substeps of a step; of `"auto"` the smallest, that of particles at rest.
    pub fn substeps(&self) -> u32 {
        match self.time.substeps {
            Substeps::Number(n) => n,
            Substeps::Auto => listed(self.step_s() / self.longest_dt_s(0.0)),
        }
    }

    /// Returns true if the number of substeps follows from the speed of particles; that of grains follows
    /// from the time of a contact.
    pub fn has_adaptive_substeps(&self) -> bool {
        let [at_rest_s, fastest_s] = [0.0, MAX_SPEED_M_S].map(|speed_m_s| self.longest_dt_s(speed_m_s));
        self.time.substeps == Substeps::Auto && fastest_s < at_rest_s
    }

    /// Returns the number of substeps of `"auto"` of a step that ends two steps after the fastest particle
    /// had this speed in m/s, if there is no bound, up to [`MAX_SUBSTEPS`]: bodies and emitters may be
    /// faster, and gravity acts.
    pub fn required_substeps(&self, speed_m_s: f64) -> u32 {
        let gravity_m_s2 = self.gravity_m_s2().iter().map(|g| g * g).sum::<f64>().sqrt();
        let added_m_s = LAG_STEPS * self.step_s() * gravity_m_s2;
        // NaN remains NaN.
        if speed_m_s.is_nan() {
            return MAX_SUBSTEPS;
        }
        let fastest_m_s = speed_m_s.max(self.prescribed_speed_m_s());
        listed(self.step_s() / self.longest_dt_s(fastest_m_s + added_m_s))
    }

    /// Returns the time step in s of a fluid with `dt_s = "auto"`, truncated to four digits: the longest for
    /// the fastest particle that is expected, or for particles at rest if substeps follow their speed, and
    /// at most √(d/g)/10, a fifth of the time in which an excess of density is taken back.
    pub(crate) fn auto_fluid_dt_s(&self) -> f64 {
        let fastest_m_s = match self.time.substeps {
            Substeps::Auto => 0.0,
            Substeps::Number(_) => {
                let falling_m_s = self.prescribed_speed_m_s() + self.fall_m2_s2().sqrt();
                falling_m_s.max(self.expected_max_speed_m_s())
            }
        };
        let at_rest_s = 0.1 * (self.particle_spacing_m() / GRAVITY_M_S2).sqrt();
        rounded_down(self.longest_dt_s(fastest_m_s).min(at_rest_s))
    }

    /// Returns the number and the length of steps, and their substeps.
    pub(crate) fn described_steps(&self) -> String {
        let steps = format!("{} of {} s", self.n_steps(), self.step_s());
        match self.time.substeps {
            Substeps::Number(1) => steps,
            Substeps::Number(n) => format!("{steps}, each in {n} substeps"),
            Substeps::Auto if self.has_adaptive_substeps() => {
                format!("{steps}, each in substeps by the speed, {} or more", self.substeps())
            }
            Substeps::Auto => format!("{steps}, each in {} substeps", self.substeps()),
        }
    }

    /// Returns this scene with steps of the same length and a fixed number of substeps.
    #[must_use]
    pub fn with_substeps(&self, n: u32) -> Self {
        let mut scene = self.clone();
        // A length that is chosen may depend on the substeps.
        scene.time.dt_s = TimeStep::Seconds(self.step_s());
        scene.time.substeps = Substeps::Number(n);
        scene
    }
}

/// Steps from a measurement of the speed to the end of those whose substeps follow from it: its result is
/// read while the step after it runs.
const LAG_STEPS: f64 = 2.0;

/// Returns the smallest number in 1 to 8, 10, 12, 14, 16, 20, … (four in each octave) that is not less, so
/// that few numbers occur: each has command buffers of its own.
fn listed(required: f64) -> u32 {
    let octaves = (0..).map(|octave| 1 << octave).take_while(|unit| 8 * unit <= MAX_SUBSTEPS);
    let numbers = (1..4).chain(octaves.flat_map(|unit| (4..8).map(move |n| n * unit)));
    numbers.into_iter().find(|n| f64::from(*n) >= required).unwrap_or(MAX_SUBSTEPS)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;

    fn scene(overrides: &[&str]) -> Result<Scene, String> {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        Scene::find("dam_break", &overrides).map_err(|error| error.to_string())
    }

    #[test]
    fn numbers_of_substeps_are_few() {
        let found: Vec<u32> =
            [f64::NEG_INFINITY, 1.0, 1.1, 2.5, 3.5, 4.5, 7.0, 9.0, 12.5, 200.0, 1e9].map(listed).into();
        assert_eq!(found, [1, 1, 2, 3, 4, 5, 7, 10, 14, 224, 256]);
    }

    #[test]
    fn a_step_is_divided_by_number_or_by_speed() {
        let whole = scene(&["time.dt_s=0.004"]).unwrap();
        assert_eq!((whole.step_s(), whole.dt_s(), whole.substeps()), (0.004, 0.004, 1));
        assert!(!serde_json::to_string(&whole).unwrap().contains("substeps"));
        let divided = scene(&["time.dt_s=0.004", "time.substeps=4"]).unwrap();
        assert_eq!((divided.step_s(), divided.dt_s(), divided.substeps()), (0.004, 0.001, 4));
        assert_eq!(divided.n_steps(), whole.n_steps());
        let auto = ["time.dt_s=0.004", "time.substeps=\"auto\"", "gravity_m_s2=[0,0,0]"];
        let adaptive = scene(&auto).unwrap();
        assert!(adaptive.has_adaptive_substeps() && adaptive.dt_s() == 0.004);
        let speed_m_s = |courant: f64| courant * 0.4 * adaptive.particle_spacing_m() / 0.004;
        for (courant, n) in [(0.0, 1), (0.99, 1), (1.01, 2), (2.5, 3), (5.1, 6), (31.0, 32), (99.0, 112)] {
            assert_eq!(adaptive.required_substeps(speed_m_s(courant)), n, "{courant}");
        }
        assert_eq!(adaptive.required_substeps(f64::NAN), MAX_SUBSTEPS);
        assert_eq!(adaptive.with_substeps(8).dt_s(), 0.0005);
        // Gravity adds 2 · 4 ms · 100 m/s² until a step ends whose substeps follow from the speed.
        let falling = scene(&["time.dt_s=0.004", auto[1], "gravity_m_s2=[0,-100,0]"]).unwrap();
        assert_eq!(falling.required_substeps(0.0), adaptive.required_substeps(0.8));
    }

    #[test]
    fn waves_and_bodies_require_substeps_of_particles_at_rest() {
        let auto = |name: &str, more: &[&str]| {
            let overrides = [&["time.dt_s=0.001", "time.substeps=\"auto\""], more].concat();
            Scene::find(name, &overrides.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap()
        };
        let snow = auto("snowball_collision", &["gravity_m_s2=[0,0,0]"]);
        let (n, wave_m_s) = (snow.substeps(), snow.mpm().unwrap().hardened_wave_speed_m_s());
        let cells = wave_m_s * snow.dt_s() / snow.mpm().unwrap().cell_size_m;
        assert!(n > 1 && cells <= snow.mpm().unwrap().courant_number, "{n} substeps, {cells} cells");
        assert!(snow.required_substeps(2.0 * wave_m_s) >= 2 * n);
        let still = auto("dam_break", &[]);
        let moving = "bodies=[{motion={uniform={velocity_m_s=[20,0,0]}},\
                      shape={sphere={centre_m=[0.5,0.2,0.2],radius_m=0.05}}}]";
        assert!(auto("dam_break", &[moving]).required_substeps(0.0) > 2 * still.required_substeps(0.0));
    }

    #[test]
    fn viscosity_and_elasticity_require_substeps_of_particles_at_rest() {
        let honey = scene(&["time.dt_s=0.01", "time.substeps=\"auto\"", "fluid.dynamic_viscosity_pa_s=10"]);
        let honey = honey.unwrap();
        assert!(honey.substeps() > 1 && honey.dt_s() <= honey.longest_viscous_dt_s(), "{}", honey.substeps());
        let stiff = ["time.dt_s=0.02".to_owned(), "time.substeps=\"auto\"".to_owned()];
        let stiff = Scene::find("viscoelastic_cube", &stiff).unwrap();
        assert!(stiff.substeps() > 1 && stiff.dt_s() <= stiff.longest_elastic_dt_s(), "{}", stiff.substeps());
    }

    #[test]
    fn contacts_require_substeps_of_grains() {
        let auto = ["time.dt_s=0.001".to_owned(), "time.substeps=\"auto\"".to_owned()];
        let grains = Scene::find("column_collapse", &auto).unwrap();
        let longest_s = grains.longest_dt_s(1e3);
        assert!(grains.substeps() > 1 && grains.dt_s() <= longest_s, "{} of {longest_s} s", grains.dt_s());
        assert!(!grains.has_adaptive_substeps());
    }

    #[test]
    fn the_step_of_a_fluid_follows_from_speeds_and_stability() {
        let auto = |more: &[&str]| scene(&[&["time.dt_s=\"auto\""], more].concat()).unwrap();
        let water = auto(&[]);
        // A particle that falls through the domain passes the Courant number of spacings.
        let passed = (2.0 * GRAVITY_M_S2 * 0.584_f64).sqrt() * water.step_s() / water.particle_spacing_m();
        assert!((0.399..=0.4).contains(&passed), "{passed}");
        let fast = auto(&["particles.0.velocity_m_s=[20,0,0]"]);
        assert!((fast.step_s() * 20.0) < 0.4 * water.particle_spacing_m());
        let honey = auto(&["fluid.dynamic_viscosity_pa_s=100"]);
        assert!(honey.step_s() < water.step_s() && honey.step_s() <= honey.longest_viscous_dt_s());
        let adaptive = auto(&["time.substeps=\"auto\"", "particles.0.velocity_m_s=[20,0,0]"]);
        let at_rest_s = 0.1 * (water.particle_spacing_m() / GRAVITY_M_S2).sqrt();
        assert!((0.999 * at_rest_s..=at_rest_s).contains(&adaptive.step_s()), "{}", adaptive.step_s());
        assert!(adaptive.required_substeps(20.0) > 10);
    }

    #[test]
    fn a_number_of_substeps_leaves_the_length_of_steps() {
        let auto = ["time.dt_s=\"auto\"".to_owned(), "time.substeps=\"auto\"".to_owned()];
        for name in ["dam_break", "melting", "snowball_collision", "viscoelastic_cube", "column_collapse"] {
            for overrides in [&auto[..1], &auto] {
                let scene = Scene::find(name, overrides).unwrap();
                let divided = scene.with_substeps(3);
                assert_eq!(
                    (divided.step_s(), divided.dt_s()),
                    (scene.step_s(), scene.step_s() / 3.0),
                    "{name}"
                );
                assert_eq!(divided.n_steps(), scene.n_steps(), "{name}");
            }
        }
    }

    #[test]
    fn wrong_numbers_of_substeps_are_refused() {
        for (value, found) in [("0", "0"), ("300", "300"), ("\"many\"", "many"), ("1.5", "1.5")] {
            let error = scene(&[&format!("time.substeps={value}")]).unwrap_err();
            assert!(error.contains("time.substeps") && error.contains(found), "{error}");
            assert!(error.contains("1 to 256 or \"auto\""), "{error}");
        }
    }
}
