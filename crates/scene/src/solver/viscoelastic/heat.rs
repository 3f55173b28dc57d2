//! The `[viscoelastic.heat]` section: conduction of heat, and viscosity that follows temperature.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Scene;
use crate::check::{Check, Checker, MAX_TEMPERATURE_C, MIN_TEMPERATURE_C, number};
use crate::solver::pbd::{MAX_CONDUCTION, conduction_sum_m2};

/// 0 °C in K.
const ZERO_C_K: f64 = 273.15;

/// Largest bound of the factor on viscosity, and its reciprocal the smallest.
const MAX_SHIFT: f64 = 1e6;

/// Heat conduction by Fourier's law, as `snow.heat` conducts it, and the shift of viscosity by temperature:
/// η = a(T) η(γ̇) with a = exp(B (1/T − 1/T_ref)) (Andrade1930). Blocks of particles have initial
/// temperatures. No heat passes free surfaces, bodies, and faces of the domain without a temperature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViscoelasticHeat {
    /// Heat conductivity in W/(m K).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub conductivity_w_m_k: f64,
    /// Specific heat capacity in J/(kg K).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub capacity_j_kg_k: f64,
    /// Temperatures of faces of the domain in °C.
    #[serde(default)]
    pub face_temperatures_c: FaceTemperatures,
    /// B in K, the activation energy of flow over the gas constant: 0 for viscosity that does not depend on
    /// temperature.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1e6))]
    pub activation_temperature_k: f64,
    /// T_ref in °C, at which the viscosity is that of the law.
    #[serde(default = "default_reference_c")]
    #[schemars(range(min = MIN_TEMPERATURE_C, max = MAX_TEMPERATURE_C))]
    pub reference_temperature_c: f64,
    /// True if relaxation times shift as viscosity does (time-temperature superposition, Ferry1980).
    #[serde(default)]
    pub shifts_relaxation: bool,
    /// Minimum of the factor a; by default that of the hottest block or face.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0 / MAX_SHIFT, max = MAX_SHIFT))]
    pub min_viscosity_shift: Option<f64>,
    /// Maximum of the factor a; by default that of the coldest block or face.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0 / MAX_SHIFT, max = MAX_SHIFT))]
    pub max_viscosity_shift: Option<f64>,
}

fn default_reference_c() -> f64 {
    20.0
}

/// Temperatures of the domain's faces in °C. No heat passes faces without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaceTemperatures {
    /// Temperature of the face at the lower end of x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = MIN_TEMPERATURE_C, max = MAX_TEMPERATURE_C))]
    pub x_min: Option<f64>,
    /// Temperature of the face at the upper end of x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = MIN_TEMPERATURE_C, max = MAX_TEMPERATURE_C))]
    pub x_max: Option<f64>,
    /// Temperature of the face at the lower end of y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = MIN_TEMPERATURE_C, max = MAX_TEMPERATURE_C))]
    pub y_min: Option<f64>,
    /// Temperature of the face at the upper end of y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = MIN_TEMPERATURE_C, max = MAX_TEMPERATURE_C))]
    pub y_max: Option<f64>,
    /// Temperature of the face at the lower end of z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = MIN_TEMPERATURE_C, max = MAX_TEMPERATURE_C))]
    pub z_min: Option<f64>,
    /// Temperature of the face at the upper end of z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = MIN_TEMPERATURE_C, max = MAX_TEMPERATURE_C))]
    pub z_max: Option<f64>,
}

impl FaceTemperatures {
    const KEYS: [[&str; 3]; 2] = [["x_min", "y_min", "z_min"], ["x_max", "y_max", "z_max"]];

    /// Returns the temperatures of the lower and of the upper faces, each by axis; `None` where no heat
    /// passes.
    pub fn faces(&self) -> [[Option<f64>; 3]; 2] {
        [[self.x_min, self.y_min, self.z_min], [self.x_max, self.y_max, self.z_max]]
    }
}

impl ViscoelasticHeat {
    /// Returns the factor on viscosity at a temperature in °C, regardless of its bounds.
    pub fn unbounded_shift(&self, temperature_c: f64) -> f64 {
        let inverse = |c: f64| 1.0 / (c + ZERO_C_K);
        (self.activation_temperature_k * (inverse(temperature_c) - inverse(self.reference_temperature_c)))
            .exp()
    }

    /// Returns the thermal diffusivity in m²/s at a density in kg/m³.
    pub fn diffusivity_m2_s(&self, density_kg_m3: f64) -> f64 {
        self.conductivity_w_m_k / (density_kg_m3 * self.capacity_j_kg_k)
    }
}

impl Scene {
    /// Returns the coldest and the hottest temperature in °C of blocks and faces, between which conduction
    /// keeps all others; `None` without `[viscoelastic.heat]`.
    pub fn viscoelastic_temperatures_c(&self) -> Option<[f64; 2]> {
        let heat = self.viscoelastic().heat?;
        let faces = heat.face_temperatures_c.faces().into_iter().flatten().flatten();
        let all = self.particles.iter().map(|block| block.temperature_c).chain(faces);
        let [low, high] =
            all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], t| [low.min(t), high.max(t)]);
        let reference = heat.reference_temperature_c;
        Some(if low <= high { [low, high] } else { [reference, reference] })
    }

    /// Returns the bounds of the factor by which temperature multiplies viscosity, 1 and 1 without
    /// `[viscoelastic.heat]`.
    pub fn viscosity_shifts(&self) -> [f64; 2] {
        let (Some(heat), Some([low, high])) = (self.viscoelastic().heat, self.viscoelastic_temperatures_c())
        else {
            return [1.0; 2];
        };
        let max = heat.max_viscosity_shift.unwrap_or_else(|| heat.unbounded_shift(low));
        let min = heat.min_viscosity_shift.unwrap_or_else(|| heat.unbounded_shift(high));
        [min, max]
    }

    pub(super) fn check_viscoelastic_heat(&self, check: &Checker<'_>, heat: &ViscoelasticHeat) -> Check {
        let key = |name: &str| format!("viscoelastic.heat.{name}");
        for (side, names) in heat.face_temperatures_c.faces().into_iter().zip(FaceTemperatures::KEYS) {
            for (axis, (face, name)) in side.into_iter().zip(names).enumerate() {
                let Some(face_c) = face else { continue };
                let face_key = key(&format!("face_temperatures_c.{name}"));
                if self.domain.periodic[axis] {
                    let found = format!("{} °C of a periodic face", number(face_c));
                    let expected = "no temperature, or an axis that is not periodic";
                    check.fail_between(&[&face_key, "domain.periodic"], found, expected)?;
                }
            }
        }
        Ok(())
    }

    /// Checks the factors on viscosity at the temperatures of blocks and faces, which have been checked.
    pub(super) fn check_viscosity_shifts(&self, check: &Checker<'_>, heat: &ViscoelasticHeat) -> Check {
        let key = |name: &str| format!("viscoelastic.heat.{name}");
        let [min, max] = self.viscosity_shifts();
        let [low, high] = self.viscoelastic_temperatures_c().unwrap_or([heat.reference_temperature_c; 2]);
        if low.min(heat.reference_temperature_c) + ZERO_C_K < 1.0 {
            let found =
                format!("a lowest temperature of {} °C", number(low.min(heat.reference_temperature_c)));
            return check.fail("viscoelastic.heat", found, "temperatures of at least 1 K, -272.15 °C");
        }
        if max > MAX_SHIFT || min < 1.0 / MAX_SHIFT {
            let (shift, at_c) = if max > MAX_SHIFT { (max, low) } else { (min, high) };
            let found = format!(
                "{} K, a viscosity {shift:.3e} times that of the law at {} °C",
                number(heat.activation_temperature_k),
                number(at_c)
            );
            let expected = "a factor from 1e-6 to 1e6, or viscoelastic.heat.max_viscosity_shift and \
                            min_viscosity_shift, which bound it";
            return check.fail(&key("activation_temperature_k"), found, expected);
        }
        if min > max {
            let (name, other, found, bound) = match heat.max_viscosity_shift {
                Some(_) => ("max_viscosity_shift", "at least the minimum", max, min),
                None => ("min_viscosity_shift", "at most the maximum", min, max),
            };
            return check.fail(&key(name), number(found), format!("{other}, {}", number(bound)));
        }
        Ok(())
    }

    fn viscoelastic_conduction_per_s(&self, heat: &ViscoelasticHeat) -> f64 {
        heat.diffusivity_m2_s(self.rest_density_kg_m3()) * conduction_sum_m2(self.particle_spacing_m())
    }

    /// Returns the longest step in s at which explicit conduction does not overshoot.
    pub(super) fn longest_viscoelastic_conduction_s(&self) -> f64 {
        let heat = self.viscoelastic().heat;
        MAX_CONDUCTION / heat.map_or(0.0, |heat| self.viscoelastic_conduction_per_s(&heat))
    }

    pub(super) fn check_viscoelastic_conduction(
        &self,
        check: &Checker<'_>,
        heat: &ViscoelasticHeat,
    ) -> Check {
        let rate_per_s = self.viscoelastic_conduction_per_s(heat);
        let key = "viscoelastic.heat.conductivity_w_m_k";
        self.check_conduction_step(check, rate_per_s, (key, heat.conductivity_w_m_k), "viscoelastic.heat")
    }
}
