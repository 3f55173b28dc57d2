//! Validates the `[viscoelastic]` section.

use super::section::{Elasticity, Viscoelastic, ViscosityLaw, ViscosityModel};
use crate::Scene;
use crate::check::{AXES, Check, Checker, number, rounded_down};

impl Scene {
    pub(crate) fn check_viscoelastic(&self, check: &Checker<'_>) -> Check {
        let Some(fluid) = self.fluid() else { return Ok(()) };
        fluid.xsph().check(check, "fluid")?;
        if fluid.wall_friction != 0.0 && fluid.wall_friction != 1.0 {
            let expected = "it left out: viscoelastic.stick and viscoelastic.wall_friction describe walls";
            check.fail("fluid.wall_friction", number(fluid.wall_friction), expected)?;
        }
        let material = self.viscoelastic();
        let key = |name: &str| format!("viscoelastic.{name}");
        if material.elasticity != Elasticity::None && material.modulus_pa == 0.0 {
            let expected = "a modulus above 0 Pa, or elasticity = \"none\"";
            check.fail(&key("modulus_pa"), "0 Pa in a fluid with elasticity", expected)?;
        }
        if let Some(yields) = material.yield_stress_pa.filter(|yields| *yields > material.modulus_pa) {
            check.fail_between(
                &["viscoelastic.yield_stress_pa", "viscoelastic.modulus_pa"],
                format!("{} Pa", number(yields)),
                format!("at most the modulus, {} Pa: a strain of 1", number(material.modulus_pa)),
            )?;
        }
        check_springs(check, &material, fluid.support_radius_spacings)?;
        if material.shear.is_some() && self.domain.periodic[1] {
            let expected = "walls to move: domain.periodic = [_, false, _]";
            let keys = ["viscoelastic.shear", "domain.periodic"];
            check.fail_between(&keys, "periodic y faces", expected)?;
        }
        let shifting = material.particle_shifting;
        if shifting > 0.0 && material.elasticity == Elasticity::Springs {
            let keys = ["viscoelastic.particle_shifting", "viscoelastic.elasticity"];
            check.fail_between(&keys, number(shifting), "0 with springs, which shifting would stretch")?;
        }
        if let Some(feed) = &material.feed {
            self.check_feed(check, feed)?;
        }
        if let Some(heat) = &material.heat {
            self.check_viscoelastic_heat(check, heat)?;
        }
        check_law(check, &material.viscosity, fluid.dynamic_viscosity_pa_s)
    }

    /// Checks the time step against elastic waves, and the domain against its periods.
    pub(crate) fn check_viscoelastic_discretization(&self, check: &Checker<'_>) -> Check {
        let (dt, longest) = (self.dt_s(), self.longest_elastic_dt_s());
        if dt > longest {
            let material = self.viscoelastic();
            return check.fail_between(
                &["time.dt_s", "viscoelastic.modulus_pa", "fluid.particle_spacing_m"],
                format!(
                    "{} s, in which an elastic wave at {} m/s passes {} of a spacing",
                    number(dt),
                    number(rounded_down(self.shear_wave_speed_m_s())),
                    number(rounded_down(dt * self.shear_wave_speed_m_s() / self.particle_spacing_m()))
                ),
                format!(
                    "at most {} s for a modulus of {} Pa, or a smaller modulus",
                    number(rounded_down(longest)),
                    number(material.modulus_pa)
                ),
            );
        }
        if let Some(feed) = &self.viscoelastic().feed {
            self.check_feed_travel(check, feed)?;
        }
        if let Some(heat) = &self.viscoelastic().heat {
            self.check_viscosity_shifts(check, heat)?;
            self.check_viscoelastic_conduction(check, heat)?;
        }
        let h = self.support_radius_m();
        for (axis, is_periodic) in self.domain.periodic.into_iter().enumerate() {
            let extent = self.domain.max_m[axis] - self.domain.min_m[axis];
            if is_periodic && extent < 2.0 * h {
                let found = format!("a period of {} m along {}", number(extent), AXES[axis]);
                let expected = format!("at least two support radii, {} m", number(2.0 * h));
                return check.fail_between(&["domain.periodic", "domain"], found, expected);
            }
        }
        if self.domain.periodic != [false; 3] && self.viscoelastic().elasticity == Elasticity::Springs {
            let expected = "walls: springs do not cross periodic faces";
            return check.fail_between(
                &["domain.periodic", "viscoelastic.elasticity"],
                "springs in a periodic domain",
                expected,
            );
        }
        if self.domain.periodic != [false; 3] && !self.bodies.is_empty() {
            let expected = "no bodies in a periodic domain";
            return check.fail_between(
                &["domain.periodic", "bodies"],
                "bodies in a periodic domain",
                expected,
            );
        }
        if self.wall_density() == Some(crate::WallDensity::Integral) {
            return check.fail("fluid.wall_density", "\"integral\"", "\"images\", the default");
        }
        Ok(())
    }
}

/// Minimum support radius in spacings of springs: below it a lattice has none along diagonals, and no
/// stiffness to shear.
const MIN_SPRING_SUPPORT: f64 = 1.5;

fn check_springs(check: &Checker<'_>, material: &Viscoelastic, support_spacings: f64) -> Check {
    let key = |name: &str| format!("viscoelastic.{name}");
    if material.elasticity != Elasticity::Springs {
        return match material.springs_fixed {
            true => {
                let found = format!("true with elasticity = \"{}\"", material.elasticity.name());
                check.fail(&key("springs_fixed"), found, "elasticity = \"springs\"")
            }
            false => Ok(()),
        };
    }
    for (name, value) in
        [("relaxation_time_s", material.relaxation_time_s), ("yield_stress_pa", material.yield_stress_pa)]
    {
        if let Some(value) = value {
            let expected = "viscoelastic.decay_per_s and viscoelastic.yield_strain, by which springs flow";
            check.fail(&key(name), format!("{} with springs", number(value)), expected)?;
        }
    }
    if material.springs_fixed && material.decay_per_s > 0.0 {
        let found = format!("{}/s with springs_fixed = true", number(material.decay_per_s));
        let expected = "0, or springs_fixed = false: fixed springs do not flow";
        check.fail(&key("decay_per_s"), found, expected)?;
    }
    if support_spacings < MIN_SPRING_SUPPORT {
        let expected = format!("at least {MIN_SPRING_SUPPORT} with springs, so that they resist shear");
        return check.fail("fluid.support_radius_spacings", number(support_spacings), expected);
    }
    Ok(())
}

fn check_law(check: &Checker<'_>, law: &ViscosityLaw, newtonian_pa_s: f64) -> Check {
    let key = |name: &str| format!("viscoelastic.viscosity.{name}");
    let needs = |name: &str, is_given: bool, law: &str| match is_given {
        true => Ok(()),
        false => check.fail(&key("model"), format!("\"{law}\" without {name}"), format!("{} too", key(name))),
    };
    match law.model {
        ViscosityModel::Newtonian => Ok(()),
        ViscosityModel::Carreau => {
            needs("time_s", law.time_s.is_some(), "carreau")?;
            if law.infinite_shear_pa_s > newtonian_pa_s {
                let expected = format!(
                    "at most the viscosity at rest, fluid.dynamic_viscosity_pa_s = {}",
                    number(newtonian_pa_s)
                );
                let keys = [&*key("infinite_shear_pa_s"), "fluid.dynamic_viscosity_pa_s"];
                return check.fail_between(&keys, number(law.infinite_shear_pa_s), expected);
            }
            Ok(())
        }
        ViscosityModel::PowerLaw => {
            needs("consistency_pa_s_n", law.consistency_pa_s_n.is_some(), "power_law")
        }
        ViscosityModel::HerschelBulkley => {
            needs("consistency_pa_s_n", law.consistency_pa_s_n.is_some(), "herschel_bulkley")
        }
    }
}
