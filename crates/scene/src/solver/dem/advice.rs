//! Warnings about allowed but unusual scenes of grains.

use super::section::Dem;
use crate::Scene;
use crate::terrain::same_projection;

/// Number of steps for a contact from which the restitution is within 1 % of the requested one; `"auto"`
/// takes as many, truncated to four digits of Δt.
const RESOLVED_STEPS_PER_CONTACT: f64 = 19.99;

/// Maximum overlap, in radii, at which the centre of a grain is well outside of the body it touches.
const MAX_OVERLAP_RADII: f64 = 0.5;

impl Scene {
    /// Warns about contacts that steps do not resolve, grains that roll without resistance, springs too soft
    /// for the load, and maps whose projections cannot be compared.
    pub(crate) fn advise_dem(&self, warn: &mut dyn FnMut(&str, String), dem: &Dem) {
        let (dt, contact) = (self.dt_s(), dem.contact_time_s());
        if contact < RESOLVED_STEPS_PER_CONTACT * dt {
            warn(
                "time.dt_s",
                format!(
                    "makes {:.1} steps of a contact of {contact:.3e} s; from {RESOLVED_STEPS_PER_CONTACT:.0} on, \
                     {:.3e} s or less, the restitution is within 1 %, and dt_s = \"auto\" takes {} s",
                    contact / dt,
                    contact / RESOLVED_STEPS_PER_CONTACT,
                    self.auto_contact_dt_s(dem)
                ),
            );
        }
        if dem.rolling_friction == 0.0 {
            warn(
                "dem.rolling_friction",
                "is 0: grains are perfect spheres, which roll on, so that a pile does not come to rest; the default is \
                 0.1"
                    .to_owned(),
            );
        }
        let impact = self.impact_m_s();
        let overlap = dem.overlap_radii(impact);
        if overlap > MAX_OVERLAP_RADII {
            warn(
                "dem.normal_stiffness_n_m",
                format!(
                    "an impact at {impact:.1} m/s, as from a height of the whole domain, presses a grain {overlap:.2} radii deep; at most {MAX_OVERLAP_RADII} needs a stiffness of {:.2e} N/m",
                    dem.normal_stiffness_n_m * (overlap / MAX_OVERLAP_RADII).powi(2)
                ),
            );
        }
        for (idx, release) in self.releases.iter().enumerate() {
            if let (Some(theirs), Some(ours)) =
                (release.projection.get(), self.ground().and_then(|t| t.projection()))
                && same_projection(theirs, ours).is_none()
            {
                warn(
                    &format!("releases.{idx}.polygons"),
                    "is in a projection that cannot be compared with the terrain's, one being a code and the other not; it is \
                     taken for the same"
                        .to_owned(),
                );
            }
        }
    }
}
