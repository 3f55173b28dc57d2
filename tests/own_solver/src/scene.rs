//! Scene file interface of free flight.

use frazil_scene::{Checker, ContactDefaults, Feature, Scene, SceneError, Section, SectionType, SolverScene};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The section `[drag]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drag {
    /// Initial distance between particles in m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub spacing_m: f64,
    /// Density in kg/m³, of which each particle has the mass of its share of space.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density_kg_m3: f64,
    /// Drag coefficient k in kg/s: the force is −k v.
    #[schemars(range(min = 0))]
    pub coefficient_kg_s: f64,
    /// Coefficient of friction of bodies that do not state theirs.
    #[serde(default = "default_body_friction")]
    #[schemars(range(min = 0))]
    pub body_friction: f64,
}

fn default_body_friction() -> f64 {
    0.3
}

impl Section for Drag {
    const NAME: &'static str = "drag";
    const DESCRIPTION: &'static str = "Particles in free flight with drag.";
}

/// Interface of the solver to the scene file.
#[derive(Debug)]
pub struct FreeFlightScene;

impl SolverScene for FreeFlightScene {
    fn kind(&self) -> &'static str {
        "free_flight"
    }

    fn title(&self) -> &'static str {
        "Free flight with drag."
    }

    fn sections(&self) -> &'static [SectionType] {
        const SECTIONS: &[SectionType] = &[SectionType::required::<Drag>()];
        SECTIONS
    }

    fn features(&self) -> &'static [Feature] {
        &[Feature::Bodies]
    }

    fn contact_defaults(&self, scene: &Scene) -> ContactDefaults {
        ContactDefaults {
            friction: Some(drag(scene, |drag| drag.body_friction)),
            restitution: None,
            mesh_reach_m: self.particle_spacing_m(scene),
            mesh_density_support_m: None,
        }
    }

    fn particle_spacing_m(&self, scene: &Scene) -> f64 {
        drag(scene, |drag| drag.spacing_m)
    }

    fn spacing_key(&self, scene: &Scene) -> (&'static str, f64) {
        ("drag.spacing_m", self.particle_spacing_m(scene))
    }

    fn rest_density_kg_m3(&self, scene: &Scene) -> f64 {
        drag(scene, |drag| drag.density_kg_m3)
    }

    fn support_radius_m(&self, scene: &Scene) -> f64 {
        self.particle_spacing_m(scene)
    }

    fn validate(&self, scene: &Scene, check: &Checker<'_>) -> Result<(), SceneError> {
        match scene.bodies.iter().position(|body| body.motion.is_some()) {
            Some(idx) => check.fail(&format!("bodies.{idx}.motion"), "a moving body", "a body at rest"),
            None => Ok(()),
        }
    }
}

fn drag(scene: &Scene, value: impl FnOnce(&Drag) -> f64) -> f64 {
    scene.section::<Drag>().map_or(f64::NAN, value)
}
