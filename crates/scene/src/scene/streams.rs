//! Layers of a scene's emitters, and the number of particles that they add.

use crate::sources::Scales;
use crate::vector::{length, minus};
use crate::{Emitter, Scene, Stream};

/// Number of emitted particles for which there is room from the start.
const LEAST_ROOM: u64 = 65_536;

impl Scene {
    /// Returns the layers of the scene's emitters.
    pub fn streams(&self) -> Vec<Stream> {
        let of = self.scales(self.step_s());
        self.emitters.iter().map(|emitter| Stream::new(emitter, &of)).collect()
    }

    fn scales(&self, dt_s: f64) -> Scales {
        Scales {
            spacing_m: self.particle_spacing_m(),
            particle_m3: self.emitted_volume_m3(),
            are_grains: self.solver_scene().is_some_and(|solver| solver.has_rigid_particles()),
            reach_m: self.support_radius_m(),
            rest_density_kg_m3: self.rest_density_kg_m3(),
            dt_s,
            up_axis: self.up_axis,
        }
    }

    /// Returns the speed of an emitter's particles in m/s; NaN if its mouth is wider than the domain.
    pub fn emitter_speed_m_s(&self, emitter: &Emitter) -> f64 {
        let diagonal_m = length(minus(self.domain.max_m, self.domain.min_m));
        match emitter.speed_m_s {
            Some(speed_m_s) => speed_m_s,
            // The step may follow from the speed.
            None if emitter.mouth.widest_m() <= diagonal_m => {
                Stream::new(emitter, &self.scales(1.0)).speed_m_s
            }
            None => f64::NAN,
        }
    }

    /// Returns the number of particles that have been emitted after `n` steps.
    pub fn n_emitted(&self, n: u64) -> u64 {
        self.streams().iter().map(|stream| stream.points_m.len() as u64 * stream.layers_after(n)).sum()
    }

    /// Returns the number of particles for which a simulation of `n` particles after `step` steps takes room:
    /// what its emitters add until the end of its duration, but no more than as many again, or
    /// `LEAST_ROOM`, and no more than overfills the domain by half. A run that needs more takes more then.
    pub fn particle_capacity(&self, n: u64, step: u64) -> u64 {
        if self.emitters.is_empty() {
            return n;
        }
        let full = self.domain_volume_m3() * self.rest_density_kg_m3() / self.particle_mass_kg();
        let emitted = self.n_emitted(self.n_steps().max(step)) - self.n_emitted(step);
        (n + emitted.min(n.max(LEAST_ROOM))).min((1.5 * full).ceil() as u64).max(n + 1)
    }

    fn domain_volume_m3(&self) -> f64 {
        (0..3).map(|i| self.domain.max_m[i] - self.domain.min_m[i]).product()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use crate::vector::dot;
    use crate::{Scene, Stream, Vec3};

    fn stream(emitter: &str) -> (Scene, Stream) {
        let overrides = [format!("emitters=[{emitter}]"), "domain.max_m=[0.584,0.584,0.4]".to_owned()];
        let scene = Scene::find("dam_break", &overrides).unwrap();
        let stream = scene.streams().remove(0);
        (scene, stream)
    }

    #[test]
    fn layers_carry_the_flow_that_is_asked() {
        for mouth in [
            "disk={centre_m=[0.3,0.4,0.2],radius_m=0.03}",
            "disk={centre_m=[0.3,0.4,0.2],radius_m=0.047}",
            "rectangle={centre_m=[0.3,0.4,0.2],size_m=[0.05,0.033]}",
        ] {
            let flow = "mass_flow_kg_s=1.7";
            let (scene, stream) = stream(&format!("{{mouth={{{mouth}}},direction=[0,-2,0],{flow}}}"));
            let n = 100_000;
            let kg =
                scene.particle_mass_kg() * (stream.points_m.len() as u64 * stream.layers_after(n)) as f64;
            assert!((kg / (n as f64 * scene.dt_s()) / 1.7 - 1.0).abs() < 1e-3, "{mouth}: {kg} kg");
            let d = scene.particle_spacing_m();
            assert!((stream.layer_m / d - 1.0).abs() < 0.15, "layers {} m apart", stream.layer_m);
        }
    }

    #[test]
    fn room_is_for_what_enters_or_for_as_many_again() {
        let mouth = "mouth={disk={centre_m=[0.3,0.4,0.2],radius_m=0.03}},direction=[0,-1,0],speed_m_s=1.0";
        let (mut scene, _) = stream(&format!("{{{mouth}}}"));
        scene.domain.max_m = [100.0; 3];
        let n = 1000;
        scene.time.duration_s = 0.1;
        assert_eq!(scene.particle_capacity(n, 0), n + scene.n_emitted(scene.n_steps()));
        scene.time.duration_s = 1e4;
        assert_eq!(scene.particle_capacity(n, 0), n + super::LEAST_ROOM);
        assert_eq!(scene.particle_capacity(1 << 20, 0), 1 << 21);
    }

    #[test]
    fn layers_appear_between_the_times_given() {
        let window = "from_s=0.01,until_s=0.05";
        let mouth = "mouth={disk={centre_m=[0.3,0.4,0.2],radius_m=0.03}},direction=[0,-1,0],speed_m_s=1.0";
        let (scene, stream) = stream(&format!("{{{mouth},{window}}}"));
        let [first, end] = [0.01, 0.05].map(|time: f64| (time / scene.dt_s()).round() as u64);
        assert_eq!([stream.layers_after(first), stream.layers_after(first + 1)], [0, 1]);
        assert_eq!(stream.layers_after(end), stream.layers_after(end + 1000));
        let travel_m = (end - 1 - first) as f64 * scene.dt_s();
        assert_eq!(stream.layers_after(end), (travel_m / stream.layer_m) as u64 + 1);
    }

    #[test]
    fn points_lie_behind_the_mouth_and_are_held_up_to_it() {
        let mouth = "mouth={rectangle={centre_m=[0.3,0.4,0.2],size_m=[0.06,0.04]}}";
        let (scene, stream) = stream(&format!("{{{mouth},direction=[1,-1,0],speed_m_s=1.0}}"));
        let d = scene.particle_spacing_m();
        for point in &stream.points_m {
            assert!(stream.holds(std::array::from_fn(|i| point[i] + 1e-9 * stream.axes[0][i]), d));
            let past: Vec3 = std::array::from_fn(|i| point[i] + (stream.reach_m + 1e-9) * stream.axes[0][i]);
            assert!(!stream.holds(past, d));
        }
        let [flow, a, b] = stream.axes;
        for (x, y) in [(flow, a), (flow, b), (a, b)] {
            assert!(dot(x, y).abs() < 1e-12);
        }
        assert!(a[1].abs() < 1e-12, "the first side is horizontal");
    }
}
