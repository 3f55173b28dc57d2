//! Validates the speeds of grains and of slabs.

use crate::check::{Check, Checker};
use crate::scene::speed::GivenSpeed;
use crate::vector::length;
use crate::{Dem, Scene};

impl Scene {
    /// Refuses speeds at which a grain or a piece of a slab moves by more than the radius of the smallest
    /// grain in a step, beyond which contacts are missed and a run ends at its first step.
    pub(crate) fn check_grain_speeds(&self, check: &Checker<'_>, dem: &Dem) -> Check {
        let blocks = self.particles.iter().enumerate().map(|(idx, block)| {
            // The surface of a grain that spins moves, too.
            let spin_m_s = block.angular_velocity_rad_s.map_or(0.0, |w| length(w) * dem.max_radius_m());
            let key = format!("particles.{idx}.{}", block.fastest_key());
            GivenSpeed { key, what: "grains", speed_m_s: block.fastest_m_s() + spin_m_s }
        });
        let releases = dem.releases.iter().enumerate().map(|(idx, release)| GivenSpeed {
            key: format!("dem.releases.{idx}.velocity_m_s"),
            what: "grains",
            speed_m_s: length(release.velocity_m_s),
        });
        let slabs = dem.slabs.iter().enumerate().map(|(idx, slab)| GivenSpeed {
            key: format!("dem.slabs.{idx}.velocity_m_s"),
            what: "pieces",
            speed_m_s: length(slab.velocity_m_s),
        });
        let (dt_s, reach_m) = (self.dt_s(), dem.min_radius_m());
        blocks.chain(releases).chain(slabs).try_for_each(|given| {
            given.check(check)?;
            given.check_travel(check, dt_s, reach_m, "the radius of the smallest grain")
        })
    }
}
