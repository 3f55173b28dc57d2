//! Time step of grains, and quantities derived from their section.

use serde::Serialize;

use super::section::{Dem, damping_ratio};
use crate::Scene;
use crate::check::{Check, Checker, number, rounded_down};

/// Minimum number of steps in a contact. In a packing a grain has several contacts, whose stiffnesses add up:
/// the explicit step is then stable up to about 0.3 √(m/k) (O'Sullivan & Bray 2004, Eng. Comput. 21, 278), of
/// which this is 1.5 times; two grains alone are stable up to 1.4 √(m/k).
pub(crate) const MIN_STEPS_PER_CONTACT: f64 = 5.0;

/// Minimum number of steps in half an oscillation of a slab's piece, of which an explicit step without
/// dampers requires π/2; and the number that `dt_s = "auto"` takes.
const MIN_STEPS_PER_SWING: f64 = 2.5;
const STEPS_PER_SWING: f64 = 5.0;

/// Quantities derived from a `[dem]` section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DerivedDem {
    /// Tangential stiffness in N/m.
    pub tangential_stiffness_n_m: f64,
    /// Damping ratio β of two grains.
    pub damping_ratio: f64,
    /// Damping ratio of a grain and a wall.
    pub wall_damping_ratio: f64,
    /// Contact time in s of two of the lightest grains.
    pub contact_time_s: f64,
    /// Number of time steps in the contact time.
    pub steps_per_contact: f64,
    /// Maximum expected impact speed in m/s.
    pub fastest_m_s: f64,
    /// Overlap of a grain of mean size with a wall at that speed, in its radii.
    pub deepest_overlap_radii: f64,
    /// Number of cells along each axis of the domain; a cell's edge is the reach of a contact.
    pub n_cells: [u64; 3],
}

impl Scene {
    /// Returns the quantities derived from `[dem]`, if the scene has it.
    pub fn derived_dem(&self) -> Option<DerivedDem> {
        let dem = self.dem()?;
        let extent = |i: usize| self.domain.max_m[i] - self.domain.min_m[i];
        let fastest_m_s = self.impact_m_s();
        Some(DerivedDem {
            tangential_stiffness_n_m: dem.tangential_stiffness_n_m(),
            damping_ratio: damping_ratio(dem.restitution),
            wall_damping_ratio: damping_ratio(dem.wall_restitution()),
            contact_time_s: dem.contact_time_s(),
            steps_per_contact: dem.contact_time_s() / self.dt_s(),
            fastest_m_s,
            deepest_overlap_radii: dem.overlap_radii(fastest_m_s),
            n_cells: std::array::from_fn(|i| ((extent(i) / dem.reach_m() - 1e-9).ceil() as u64).max(1)),
        })
    }

    /// Returns the maximum expected impact speed of grains in m/s: that of a fall through the whole domain;
    /// on a terrain, where grains slide down against friction, half of it.
    pub(crate) fn impact_m_s(&self) -> f64 {
        if self.terrain.is_some() {
            0.5 * self.expected_max_speed_m_s()
        } else {
            self.expected_max_speed_m_s()
        }
    }

    /// Refuses a step that nearly skips a contact, which would gain energy.
    pub(crate) fn check_contact_time(&self, check: &Checker<'_>, dem: &Dem) -> Check {
        let (dt, contact) = (self.dt_s(), dem.contact_time_s());
        if dt * MIN_STEPS_PER_CONTACT <= contact {
            return Ok(());
        }
        check.fail_between(
            &["time.dt_s", "dem"],
            format!(
                "{} s, which makes {:.2} steps of a contact of {} s: surely unstable",
                number(dt),
                contact / dt,
                number(rounded_down(contact))
            ),
            format!(
                "at most {} s; dt_s = {} or dt_s = \"auto\" resolves contacts",
                number(rounded_down(contact / MIN_STEPS_PER_CONTACT)),
                number(self.auto_contact_dt_s(dem))
            ),
        )
    }

    /// Refuses a step that does not resolve the oscillation of a slab's piece, which would gain energy.
    pub(crate) fn check_slab_time(&self, check: &Checker<'_>, dem: &Dem) -> Check {
        let (dt, Some(swing)) = (self.dt_s(), self.slab_contact_time_s(dem.normal_stiffness_n_m)) else {
            return Ok(());
        };
        if dt * MIN_STEPS_PER_SWING <= swing {
            return Ok(());
        }
        check.fail_between(
            &["time.dt_s", "dem.slabs", "dem"],
            format!(
                "{} s, which makes {:.2} steps of the {} s that a piece of a slab swings to one side on its \
                 links and contacts: surely unstable",
                number(dt),
                swing / dt,
                number(rounded_down(swing))
            ),
            format!(
                "at most {} s, heavier pieces or softer links (dem.slabs.N.link_stiffness_n_m); dt_s = \
                 \"auto\" takes {} s",
                number(rounded_down(swing / MIN_STEPS_PER_SWING)),
                number(self.auto_contact_dt_s(dem))
            ),
        )
    }

    /// Returns a step that resolves contacts of grains and oscillations of slab pieces, in s.
    pub(crate) fn auto_contact_dt_s(&self, dem: &Dem) -> f64 {
        let swing = self
            .slab_contact_time_s(dem.normal_stiffness_n_m)
            .map_or(f64::INFINITY, |swing| swing / STEPS_PER_SWING);
        dem.auto_dt_s().min(rounded_down(swing))
    }
}

impl Dem {
    /// Returns Δt = t_c / `steps_per_contact`, truncated to four digits. With 20 steps it is 0.11 √(m/k),
    /// within the 0.17 √(m/k) at which packings of any order are stable (O'Sullivan & Bray 2004), and the
    /// restitution is within 0.5 % of the requested one.
    pub fn auto_dt_s(&self) -> f64 {
        rounded_down(self.contact_time_s() / self.steps_per_contact)
    }

    /// Returns the overlap of a grain of mean size with a wall in an impact at `speed_m_s`, in its radii: v
    /// √(m/k), without damping.
    pub fn overlap_radii(&self, speed_m_s: f64) -> f64 {
        let mass_kg = self.grain_mass_kg(self.radius_m);
        speed_m_s * (mass_kg / self.normal_stiffness_n_m).sqrt() / self.radius_m
    }
}
