//! How long a step of grains is, and what follows from their section.

use serde::Serialize;

use super::section::{Dem, damping_ratio};
use crate::Scene;
use crate::validate::{Check, Checker, number, rounded_down};

/// Steps that a contact must take. In a packing a grain has several, whose stiffnesses add up: the explicit step is then stable up to
/// some 0.3 √(m/k) (O'Sullivan & Bray 2004, Eng. Comput. 21, 278), of which this is 1.5 times; two grains alone bear 1.4 √(m/k).
pub(crate) const LEAST_STEPS_PER_CONTACT: f64 = 5.0;

/// Steps that half a period of a slab's piece must take, of which an explicit step bears π/2 without dampers; and those that it takes
/// where a scene leaves the step open.
const LEAST_STEPS_PER_SWING: f64 = 2.5;
const STEPS_PER_SWING: f64 = 5.0;

/// What follows from the values of a `[dem]` section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DerivedDem {
    /// Stiffness along the contact in N/m.
    pub tangential_stiffness_n_m: f64,
    /// Damping ratio β of two grains.
    pub damping_ratio: f64,
    /// Damping ratio of a grain and a wall.
    pub wall_damping_ratio: f64,
    /// Time in s that two of the lightest grains touch in an impact.
    pub contact_time_s: f64,
    /// Time steps in it.
    pub steps_per_contact: f64,
    /// Speed in m/s of the hardest impact that is expected.
    pub fastest_m_s: f64,
    /// How deep it presses a grain of mean size into a wall, in its radii.
    pub deepest_overlap_radii: f64,
    /// Cells of the reach of a contact that the domain has along each axis.
    pub n_cells: [u64; 3],
}

impl Scene {
    /// What follows from `[dem]`, if the scene has it.
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

    /// Speed in m/s of the hardest impact that is expected of grains: that of a fall through the whole domain; on a terrain, which they slide
    /// down against friction, half of it.
    pub(crate) fn impact_m_s(&self) -> f64 {
        if self.terrain.is_some() { 0.5 * self.fastest_to_come_m_s() } else { self.fastest_to_come_m_s() }
    }

    /// A contact that a step nearly skips surely gains energy.
    pub(crate) fn check_contact_time(&self, check: &Checker<'_>, dem: &Dem) -> Check {
        let (dt, contact) = (self.dt_s(), dem.contact_time_s());
        if dt * LEAST_STEPS_PER_CONTACT <= contact {
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
                number(rounded_down(contact / LEAST_STEPS_PER_CONTACT)),
                number(self.auto_contact_dt_s(dem))
            ),
        )
    }

    /// A swing of a piece of a slab that has too few steps surely gains energy.
    pub(crate) fn check_slab_time(&self, check: &Checker<'_>, dem: &Dem) -> Check {
        let (dt, Some(swing)) = (self.dt_s(), self.slab_contact_time_s()) else { return Ok(()) };
        if dt * LEAST_STEPS_PER_SWING <= swing {
            return Ok(());
        }
        check.fail_between(
            &["time.dt_s", "slabs", "dem"],
            format!(
                "{} s, which makes {:.2} steps of the {} s that a piece of a slab swings to one side on its links and contacts: surely unstable",
                number(dt),
                swing / dt,
                number(rounded_down(swing))
            ),
            format!(
                "at most {} s, heavier pieces or softer links (slabs.link_stiffness_n_m); dt_s = \"auto\" takes {} s",
                number(rounded_down(swing / LEAST_STEPS_PER_SWING)),
                number(self.auto_contact_dt_s(dem))
            ),
        )
    }

    /// A step that resolves contacts of grains and swings of slabs' pieces, in s.
    pub(crate) fn auto_contact_dt_s(&self, dem: &Dem) -> f64 {
        let swing = self.slab_contact_time_s().map_or(f64::INFINITY, |swing| swing / STEPS_PER_SWING);
        dem.auto_dt_s().min(rounded_down(swing))
    }
}

impl Dem {
    /// Δt = t_c / `steps_per_contact`, cut off after four digits: with 20 steps 0.11 √(m/k), within the 0.17 √(m/k) that packings bear
    /// whatever their order (O'Sullivan & Bray 2004), and short enough for a restitution within some 0.03 of what was asked.
    pub fn auto_dt_s(&self) -> f64 {
        rounded_down(self.contact_time_s() / self.steps_per_contact)
    }

    /// How deep an impact at `speed_m_s` presses a grain of mean size into a wall, in its radii: v √(m/k), without damping.
    pub fn overlap_radii(&self, speed_m_s: f64) -> f64 {
        let mass_kg = self.grain_mass_kg(self.radius_m);
        speed_m_s * (mass_kg / self.normal_stiffness_n_m).sqrt() / self.radius_m
    }
}
