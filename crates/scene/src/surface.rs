//! Contact of snow with walls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Contact properties of a surface for snow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Surface {
    /// Coefficient of Coulomb friction μ.
    #[schemars(range(min = 0, max = 100))]
    pub friction: f64,
    /// True if snow in contact moves with the surface, and does not detach (Breekveldt2017 sec 3.2.5).
    pub sticky: bool,
}

impl Default for Surface {
    /// Returns the friction of Cai2020's table 1.
    fn default() -> Self {
        Self { friction: 0.1, sticky: false }
    }
}
