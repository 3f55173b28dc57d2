//! The scenes that ship with the engine.

use crate::{Scene, SceneError};

/// A scene whose file is compiled into the program.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Name of the scene on the command line.
    pub name: &'static str,
    /// Path of its file in the project.
    pub path: &'static str,
    /// Text of the file.
    pub text: &'static str,
}

impl Builtin {
    /// Loads the scene with `overrides` applied. See [`Scene::load`].
    ///
    /// # Errors
    /// Any error in an override or in the resulting scene.
    pub fn load(&self, overrides: &[String]) -> Result<Scene, SceneError> {
        Scene::parse(self.text, self.path, overrides)
    }
}

macro_rules! scenes {
    ($($name:literal),* $(,)?) => {
        &[$(Builtin {
            name: $name,
            path: concat!("scenes/", $name, ".toml"),
            text: include_str!(concat!("../../../../scenes/", $name, ".toml")),
        }),*]
    };
}

/// Returns the built-in scenes, the demo first.
pub fn builtin() -> &'static [Builtin] {
    scenes![
        "dam_break",
        "hydrostatic",
        "drop",
        "drum",
        "fountain",
        "driftwood",
        "watermill",
        "pour_down_terrain",
        "snow_drop_free",
        "snow_drop_linked",
        "snow_drop_dynamic",
        "melting",
        "freezing",
        "water_drop",
        "melting_enthalpy",
        "bowl",
        "snow_box_plough",
        "snowball_collision",
        "snowballs_16",
        "snow_castle",
        "ramps",
        "letters_muddy",
        "letters_crumbly",
        "snowplow",
        "snowball_on_body_3d",
        "snowballs_3d",
        "snow_blower",
        "viscoelastic_cube",
        "viscoelastic_wall",
        "viscoelastic_free_cube",
        "viscoelastic_springs",
        "dough",
        "ketchup",
        "honey_coiling",
        "filament",
        "chocolate",
        "rod_climbing",
        "column_collapse",
        "hopper",
        "grain_heap",
        "slope_obstacle",
        "avalanche",
        "avalanche_slabs",
        "slab_release",
        "avalanche_128k",
        "avalanche_1m",
    ]
}
