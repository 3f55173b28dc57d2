//! Validates the `[snow]` section and the keys that require it.

use super::conduction::MAX_CONDUCTION;
use super::snow::{
    Conduction, ConductionLaw, Heat, LatentHeat, LinkLimit, Links, MIN_DISTANCE_SPACINGS, Snow, Transition,
};
use crate::check::{Check, Checker, number, rounded_down};
use crate::scene::estimate::rounded_up;
use crate::{Body, BodyShape, Fluid, ParticleBlock, Phase, Scene, Section, WallModel};

impl Scene {
    pub(crate) fn check_snow(&self, check: &Checker<'_>, fluid: &Fluid) -> Check {
        let Some(snow) = self.snow() else {
            if self.domain.walls == WallModel::Particles {
                let expected = "\"analytic\", or a [snow] section";
                return check.fail("domain.walls", "\"particles\" in a scene without snow", expected);
            }
            return Ok(());
        };
        if self.domain.walls == WallModel::Particles {
            for (idx, body) in self.bodies.iter().enumerate() {
                check_sampled(check, &format!("bodies.{idx}"), body)?;
            }
        }
        snow.xsph().check(check, Snow::NAME)?;
        self.check_snow_density(check, snow, fluid)?;
        // In spacings of snow.
        let support = fluid.support_radius_m() / self.snow_spacing_m();
        check_contact(check, snow, support)?;
        check_heat(check, &snow.heat)?;
        check_blending(check, &snow.transition)?;
        check_links(check, &snow.links, &snow.heat, support)?;
        self.check_conduction(check, &snow.heat)
    }

    /// Refuses snow so light that neighbours on its cubic lattice, or next neighbours if they are to be
    /// linked, are beyond the support radius.
    fn check_snow_density(&self, check: &Checker<'_>, snow: &Snow, fluid: &Fluid) -> Check {
        let Some(density_kg_m3) = snow.density_kg_m3 else { return Ok(()) };
        if !check.are_valid(&["snow.density_kg_m3", "fluid"]) {
            return Ok(());
        }
        let has_links = snow.links.limit != LinkLimit::None;
        let farthest = if has_links { std::f64::consts::SQRT_2 } else { 1.0 };
        let lightest = fluid.rest_density_kg_m3 * (farthest / fluid.support_radius_spacings).powi(3);
        if density_kg_m3 > lightest {
            return Ok(());
        }
        let neighbours = if has_links { "its next neighbours" } else { "its neighbours" };
        check.fail_between(
            &["snow.density_kg_m3", "fluid.support_radius_spacings"],
            format!(
                "{} kg/m³, at which a particle has {neighbours} outside the support radius",
                number(density_kg_m3)
            ),
            format!(
                "more than {} kg/m³, or a larger fluid.support_radius_spacings",
                number(rounded_up(lightest))
            ),
        )
    }

    pub(crate) fn check_phase(&self, check: &Checker<'_>, key: &str, block: &ParticleBlock) -> Check {
        if block.phase == Phase::Snow && self.snow().is_none() {
            let expected = "\"water\", or a [snow] section";
            check.fail(&format!("{key}.phase"), "\"snow\" in a scene without [snow]", expected)?;
        }
        Ok(())
    }

    /// Returns the longest step in s at which the explicit viscous force does not overshoot.
    pub(crate) fn longest_viscous_dt_s(&self) -> f64 {
        MAX_CONDUCTION / self.viscous_rate_per_s()
    }

    /// Returns the longest step in s at which explicit conduction does not overshoot.
    pub(crate) fn longest_conduction_dt_s(&self) -> f64 {
        MAX_CONDUCTION / self.conduction_rate_per_s().unwrap_or(0.0)
    }

    /// Refuses a step at which the explicit viscous force overshoots and becomes unstable.
    pub(crate) fn check_viscosity(&self, check: &Checker<'_>, fluid: &Fluid) -> Check {
        if !check.are_valid(&["time.dt_s", "fluid"]) {
            return Ok(());
        }
        let (longest, dt) = (self.longest_viscous_dt_s(), self.dt_s());
        if dt <= longest {
            return Ok(());
        }
        check.fail_between(
            &["time.dt_s", "fluid.dynamic_viscosity_pa_s"],
            format!("{} s, in which viscosity acts farther than between neighbouring particles", number(dt)),
            format!(
                "at most {} s, or less than {} Pa s",
                number(rounded_down(longest)),
                number(fluid.dynamic_viscosity_pa_s)
            ),
        )
    }

    fn check_conduction(&self, check: &Checker<'_>, heat: &Heat) -> Check {
        if !check.are_valid(&["time.dt_s", "fluid", "snow.heat"]) {
            return Ok(());
        }
        let Some(rate_per_s) = self.conduction_rate_per_s() else { return Ok(()) };
        let (snow, water) = (heat.snow_conductivity_w_m_k, heat.water_conductivity_w_m_k);
        let largest = match snow >= water {
            true => ("snow.heat.snow_conductivity_w_m_k", snow),
            false => ("snow.heat.water_conductivity_w_m_k", water),
        };
        self.check_conduction_step(check, rate_per_s, largest, "snow.heat")
    }

    /// Refuses a step at which explicit conduction of a rate overshoots and becomes unstable; `key` is that
    /// of the conductivity, in a section.
    pub(crate) fn check_conduction_step(
        &self,
        check: &Checker<'_>,
        rate_per_s: f64,
        (key, conductivity): (&str, f64),
        section: &str,
    ) -> Check {
        let dt = self.dt_s();
        if rate_per_s * dt <= MAX_CONDUCTION {
            return Ok(());
        }
        let longest = rounded_down(MAX_CONDUCTION / rate_per_s);
        check.fail_between(
            &["time.dt_s", key, section, "fluid"],
            format!(
                "{} s, in which heat is conducted farther than between neighbouring particles",
                number(dt)
            ),
            format!("at most {} s, or a smaller {key} than {}", number(longest), number(conductivity)),
        )
    }
}

/// Refuses bodies that boundary particles cannot represent: other than planes and spheres at rest.
fn check_sampled(check: &Checker<'_>, key: &str, body: &Body) -> Check {
    let name = body.shape.name();
    let is_sampled = matches!(body.shape, BodyShape::Plane { .. } | BodyShape::Sphere { .. });
    let found = match (is_sampled, &body.motion) {
        (false, _) => body.shape.noun(),
        (true, Some(_)) => format!("a moving {name}"),
        (true, None) => return Ok(()),
    };
    let expected = "a plane or sphere at rest, which can be sampled with boundary particles, or \
                    domain.walls = \"analytic\"";
    check.fail_between(&[&format!("{key}.shape.{name}"), "domain.walls"], found, expected)
}

/// Checks that at most one of two laws is set: a share that an iteration corrects, or a compliance in m/N.
fn check_share_or_compliance(
    check: &Checker<'_>,
    (share_key, share): (&str, Option<f64>),
    (compliance_key, compliance): (&str, Option<f64>),
) -> Check {
    match (share, compliance) {
        (Some(share), Some(_)) => {
            let expected = format!("only one of {share_key} and {compliance_key}");
            check.fail_between(&[share_key, compliance_key], number(share), expected)
        }
        _ => Ok(()),
    }
}

/// Checks a distance in spacings, whose maximum the support radius determines.
fn check_distance(check: &Checker<'_>, key: &str, distance: f64, high: f64) -> Check {
    check.range_between(&[key, "fluid.support_radius_spacings"], distance, MIN_DISTANCE_SPACINGS, high)
}

fn check_contact(check: &Checker<'_>, snow: &Snow, support_radius_spacings: f64) -> Check {
    // Neighbours are searched within the support radius: particles in contact must be at most that far apart.
    let widest = (0.5 * support_radius_spacings).min(1.0);
    check_distance(check, "snow.contact_radius_spacings", snow.contact_radius_spacings, widest)?;
    check_share_or_compliance(
        check,
        ("snow.non_penetration_stiffness", snow.non_penetration_stiffness),
        ("snow.contact_compliance_m_n", snow.contact_compliance_m_n),
    )?;
    if snow.kinetic_friction > snow.static_friction {
        check.fail_between(
            &["snow.kinetic_friction", "snow.static_friction"],
            number(snow.kinetic_friction),
            format!("at most snow.static_friction, {}", number(snow.static_friction)),
        )?;
    }
    Ok(())
}

fn check_links(check: &Checker<'_>, links: &Links, heat: &Heat, support_radius_spacings: f64) -> Check {
    if links.temperature_c > heat.freezing_temperature_c {
        check.fail_between(
            &["snow.links.temperature_c", "snow.heat.freezing_temperature_c"],
            format!("{} °C", number(links.temperature_c)),
            format!(
                "at most snow.heat.freezing_temperature_c, {} °C, because water is not linked",
                number(heat.freezing_temperature_c)
            ),
        )?;
    }
    // The default is cut off by a support radius below it.
    let initial = links.initial_reach_spacings;
    if initial != Links::default().initial_reach_spacings {
        check_distance(check, "snow.links.initial_reach_spacings", initial, support_radius_spacings)?;
    }
    check_distance(check, "snow.links.reach_spacings", links.reach_spacings, support_radius_spacings)?;
    check_share_or_compliance(
        check,
        ("snow.links.stiffness", links.stiffness),
        ("snow.links.compliance_m_n", links.compliance_m_n),
    )
}

fn check_blending(check: &Checker<'_>, transition: &Transition) -> Check {
    match (transition.blend_rate_per_s, transition.blend_speed) {
        (Some(_), Some(speed)) => check.fail_between(
            &["snow.transition.blend_speed", "snow.transition.blend_rate_per_s"],
            format!("{} and snow.transition.blend_rate_per_s", number(speed)),
            "one of the two",
        ),
        _ => Ok(()),
    }
}

fn check_heat(check: &Checker<'_>, heat: &Heat) -> Check {
    if heat.law == ConductionLaw::Printed {
        let printed = "with snow.heat.law = \"printed\"";
        if heat.conduction == Conduction::Corrected {
            check.fail_between(
                &["snow.heat.conduction", "snow.heat.law"],
                format!("\"corrected\" {printed}, which has the kernel's weights as they are"),
                "snow.heat.conduction = \"uncorrected\"",
            )?;
        }
        if heat.latent_heat == LatentHeat::Enthalpy {
            check.fail_between(
                &["snow.heat.latent_heat", "snow.heat.law"],
                format!("\"enthalpy\" {printed}, which conducts by temperature"),
                "snow.heat.latent_heat = \"blending\"",
            )?;
        }
    }
    let (freezing, homogeneous) = (heat.freezing_temperature_c, heat.homogeneous_freezing_temperature_c);
    if homogeneous < freezing {
        return Ok(());
    }
    check.fail_between(
        &["snow.heat.homogeneous_freezing_temperature_c", "snow.heat.freezing_temperature_c"],
        format!("{} °C", number(homogeneous)),
        format!("less than snow.heat.freezing_temperature_c, {} °C", number(freezing)),
    )
}
