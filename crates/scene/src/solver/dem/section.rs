//! The `[dem]` section: snow as grains in contact, by the discrete element method.

use std::f64::consts::PI;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::section::Section;
use crate::{Release, Slab};

/// Grains of snow by the discrete element method (Gucer2010 ch. 3): spheres with springs and dampers at their
/// contacts.
///
/// The quantities of a contact are the overlap δ, the effective mass m* = m_a m_b/(m_a + m_b), the effective
/// radius R* = R_a R_b/(R_a + R_b), and the speed ė at which the surfaces separate. Normal force: F_n = k_n δ
/// − c_n ė while the grains overlap (eq 3.4, 3.7). c_n = 2β√(m* k_n) follows from the restitution e =
/// exp(−πβ/√(1 − β²)), which holds because F_n may be attractive at the end of a contact; c_n is corrected
/// for the discrete step, so that e does not depend on Δt. Tangential force: a spring k_t and a damper c_t
/// (eq 3.9), bounded by Coulomb's μ F_n. A wall, a terrain and a body count as bodies of infinite mass
/// and radius.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dem {
    /// Mean radius of a grain in m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius_m: f64,
    /// Relative spread of radii about their mean: each is the mean times 1 ± up to this share, uniformly
    /// distributed.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0, max = 0.5))]
    pub radius_spread: f64,
    /// Density in kg/m³ of the grains' material, not of the heap, which is lower because of its pores.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density_kg_m3: f64,
    /// Stiffness k_n of the normal spring in N/m (eq 3.4).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub normal_stiffness_n_m: f64,
    /// Stiffness of the tangential spring, k_t/k_n. At 2/7, the default, a sphere's contact oscillates back
    /// along the surface in the time that it takes to rebound (Schäfer, Dippel & Wolf 1996, J. Phys. I 6, 5).
    #[serde(default = "Dem::default_tangential_stiffness_ratio")]
    #[schemars(range(min = 0, max = 10))]
    pub tangential_stiffness_ratio: f64,
    /// Tangential damping, c_t/c_n: α of eq 3.9 in units of its damping.
    #[serde(default = "Dem::default_tangential_damping_ratio")]
    #[schemars(range(min = 0, max = 10))]
    pub tangential_damping_ratio: f64,
    /// Coefficient of restitution e of two grains: speed after over speed before a head-on impact.
    #[serde(default = "Dem::default_restitution")]
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub restitution: f64,
    /// Coefficient μ of Coulomb friction between grains.
    #[serde(default = "Dem::default_friction")]
    #[schemars(range(min = 0, max = 100))]
    pub friction: f64,
    /// Coefficient μ_r of rolling friction: a torque of up to μ_r R* F_n resists rolling of grains on one
    /// another or on walls, and twisting, so that a grain that only spins in place comes to rest, too. The
    /// default is that of slightly rough grains (Ai et al. 2011); with 0, that of perfect spheres, grains
    /// roll on and a pile never rests.
    #[serde(default = "Dem::default_rolling_friction")]
    #[schemars(range(min = 0, max = 100))]
    pub rolling_friction: f64,
    /// Attraction in N of two grains in contact (eq 3.11, with a magnitude and range of its own): the load
    /// that pulls them apart.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub cohesion_n: f64,
    /// Gap in m over which that attraction decreases linearly to zero; by default a tenth of the radius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cohesion_range_m: Option<f64>,
    /// Bonds that freeze at contacts and break under load; without this section none form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bonds: Option<Bonds>,
    /// Weak layer between the snow and the terrain, which holds it until it fails; by default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weak_layer: Option<WeakLayer>,
    /// Coefficient of friction on walls, terrain, bodies and slabs that give none; by default that between
    /// grains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub wall_friction: Option<f64>,
    /// Coefficient of restitution there; by default that between grains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub wall_restitution: Option<f64>,
    /// Attraction in N of a grain towards the terrain that it touches, along its normal (eq 3.17).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub terrain_adhesion_n: f64,
    /// Gap in m over which that attraction decreases linearly to zero; by default a tenth of the radius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub terrain_adhesion_range_m: Option<f64>,
    /// Coefficient k in 1/m of a drag of the ground on moving grains: each decelerates by k v², as a layer of
    /// thickness h does under the turbulent part ρ g v²/ξ of Voellmy's friction if k = g/(ξ h). It does not
    /// depend on the size of grains. By default 0, no drag.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub turbulent_drag_1_m: f64,
    /// Number of time steps of `dt_s = "auto"` in the contact time of two of the lightest grains.
    #[serde(default = "Dem::default_steps_per_contact")]
    #[schemars(range(min = 8, max = 10_000))]
    pub steps_per_contact: f64,
    /// Initial capacity of the contact history, in contacts for each grain on average; more if grains start
    /// closer. It grows when it is exceeded. A random packing of balls has six.
    #[serde(default = "Dem::default_contacts_per_grain")]
    #[schemars(range(min = 1, max = 24))]
    pub contacts_per_grain: f64,
    /// Release areas on the terrain whose snow is filled with grains at the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub releases: Vec<Release>,
    /// Plates of ice that break into rigid pieces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slabs: Vec<Slab>,
}

impl Section for Dem {
    const NAME: &'static str = "dem";
    const DESCRIPTION: &'static str = "Snow as grains that touch: what scenes of `solver.kind = \"dem\"` \
        have, in place of `[fluid]`, `[snow]` and `[mpm]`.";
}

/// Freeze bonds: two grains in contact become one body at their contact until the load there breaks it. A
/// bond has the stiffness of the contact, and resists tension like compression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bonds {
    /// Tensile strength of a bond, in N.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub strength_n: f64,
    /// Shear strength of a bond, in N; by default the tensile strength.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub shear_strength_n: Option<f64>,
    /// Maximum relative speed, in m/s, at which a bond forms between grains in contact.
    #[serde(default = "Bonds::default_form_below_m_s")]
    #[schemars(range(min = 0))]
    pub form_below_m_s: f64,
    /// Time in s for which grains must have been in contact, at no more than that speed and without a break,
    /// before a bond forms; by default it forms at once.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub form_after_s: f64,
    /// Time in s after which no bonds form: snow freezes while it rests, and what breaks later stays broken;
    /// by default bonds form at any time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub forms_until_s: Option<f64>,
    /// True if grains in contact at the start, to a hundredth of a radius, are bonded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_start: bool,
}

/// Weak layer: bonds between the terrain and the grains that touch it at the beginning, which hold a slab
/// until they fail, by load or at a given time. They resist tension and shear like freeze bonds, with
/// strengths of their own, and do not form again later: what is left is friction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeakLayer {
    /// Tensile strength of the bond of a grain, in N.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub strength_n: f64,
    /// Shear strength of the bond of a grain, in N; by default the tensile strength.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub shear_strength_n: Option<f64>,
    /// Time in s up to which grains that touch the terrain are bonded to it, and bonds yield in shear at
    /// their strength in place of failing: snow that settles sinters again at once.
    #[serde(default = "WeakLayer::default_forms_until_s")]
    #[schemars(range(min = 0))]
    pub forms_until_s: f64,
    /// Time in s at which the bonds that are left fail, the trigger; by default they fail by load only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails_at_s: Option<f64>,
    /// Circle on the map in which bonds fail at that time; by default all do. Outside of it bonds fail by
    /// load, also by what the failed ones no longer carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails_within: Option<TriggerArea>,
}

/// Circle on the map in which a weak layer fails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TriggerArea {
    /// Centre `[x, y]` in m, in the scene's coordinates.
    pub centre_m: [f64; 2],
    /// Radius in m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius_m: f64,
}

impl WeakLayer {
    fn default_forms_until_s() -> f64 {
        1.0
    }

    /// Returns the shear strength of the bond of a grain, in N.
    pub fn shear_strength_n(&self) -> f64 {
        self.shear_strength_n.unwrap_or(self.strength_n)
    }
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// Default gap between surfaces, in radii, over which attraction ends.
const RANGE_RADII: f64 = 0.1;

/// Returns the damping ratio β of a contact that rebounds with restitution e: e = exp(−πβ/√(1 − β²)).
pub fn damping_ratio(restitution: f64) -> f64 {
    let log = restitution.ln();
    // Adding zero turns a negative zero into a positive one.
    -log / (PI * PI + log * log).sqrt() + 0.0
}

impl Bonds {
    fn default_form_below_m_s() -> f64 {
        0.1
    }

    /// Returns the shear strength of a bond, in N.
    pub fn shear_strength_n(&self) -> f64 {
        self.shear_strength_n.unwrap_or(self.strength_n)
    }
}

impl Dem {
    fn default_tangential_stiffness_ratio() -> f64 {
        2.0 / 7.0
    }
    fn default_tangential_damping_ratio() -> f64 {
        0.5
    }
    fn default_restitution() -> f64 {
        0.3
    }
    fn default_friction() -> f64 {
        0.5
    }
    fn default_rolling_friction() -> f64 {
        0.1
    }
    fn default_contacts_per_grain() -> f64 {
        8.0
    }
    fn default_steps_per_contact() -> f64 {
        20.0
    }

    /// Returns the mass in kg of a grain of radius `radius_m`.
    pub fn grain_mass_kg(&self, radius_m: f64) -> f64 {
        4.0 / 3.0 * PI * radius_m * radius_m * radius_m * self.density_kg_m3
    }

    /// Returns the mean mass of a grain in kg: for radii uniform between r(1 − s) and r(1 + s), 1 + s² times
    /// that of the mean radius.
    pub fn mean_grain_mass_kg(&self) -> f64 {
        self.grain_mass_kg(self.radius_m) * (1.0 + self.radius_spread * self.radius_spread)
    }

    /// Returns the radius of the smallest grains in m.
    pub fn min_radius_m(&self) -> f64 {
        self.radius_m * (1.0 - self.radius_spread)
    }

    /// Returns the radius of the largest grains in m.
    pub fn max_radius_m(&self) -> f64 {
        self.radius_m * (1.0 + self.radius_spread)
    }

    /// Returns the tangential stiffness in N/m.
    pub fn tangential_stiffness_n_m(&self) -> f64 {
        self.tangential_stiffness_ratio * self.normal_stiffness_n_m
    }

    /// Returns the damping c_n in N s/m of a contact of effective mass m* that rebounds with `restitution`.
    pub fn normal_damping_n_s_m(&self, restitution: f64, effective_mass_kg: f64) -> f64 {
        2.0 * damping_ratio(restitution) * (effective_mass_kg * self.normal_stiffness_n_m).sqrt()
    }

    /// Returns the gap between grains in m over which they attract one another; 0 without cohesion.
    pub fn cohesion_range_m(&self) -> f64 {
        if self.cohesion_n > 0.0 { self.cohesion_range_m.unwrap_or(RANGE_RADII * self.radius_m) } else { 0.0 }
    }

    /// Returns the gap in m over which the terrain attracts grains; 0 without adhesion.
    pub fn terrain_adhesion_range_m(&self) -> f64 {
        if self.terrain_adhesion_n > 0.0 {
            self.terrain_adhesion_range_m.unwrap_or(RANGE_RADII * self.radius_m)
        } else {
            0.0
        }
    }

    /// Returns the distance of centres in m beyond which no two grains interact.
    pub fn reach_m(&self) -> f64 {
        2.0 * self.max_radius_m() + self.cohesion_range_m()
    }

    /// Returns the coefficient of friction of grains on other bodies.
    pub fn wall_friction(&self) -> f64 {
        self.wall_friction.unwrap_or(self.friction)
    }

    /// Returns the coefficient of restitution of grains on other bodies.
    pub fn wall_restitution(&self) -> f64 {
        self.wall_restitution.unwrap_or(self.restitution)
    }

    /// Returns the contact time in s of two of the lightest grains, π√(m*/k), m* being half of one's mass;
    /// or, where the contact is stiffer tangentially than normally, half the tangential period: its effective
    /// mass is 2/7 of m* for spheres.
    pub fn contact_time_s(&self) -> f64 {
        let effective_mass_kg = 0.5 * self.grain_mass_kg(self.min_radius_m());
        let stiffest = (3.5 * self.tangential_stiffness_ratio).max(1.0);
        PI * (effective_mass_kg / (self.normal_stiffness_n_m * stiffest)).sqrt()
    }
}
