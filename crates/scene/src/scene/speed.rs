//! Time step of a scene and bounds of its particles' speed.

use crate::Vec3;
use crate::scene::{Scene, TimeStep};

impl Scene {
    /// Returns the time step Δt in s, given by the scene or chosen automatically.
    pub fn dt_s(&self) -> f64 {
        match self.time.dt_s {
            TimeStep::Seconds(dt_s) => dt_s,
            TimeStep::Auto => self.auto_dt_s(),
        }
    }

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
