//! What snow meets at walls and colliders.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::validate::{Check, Checker};

/// What happens to snow that touches a surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Surface {
    /// Coefficient of Coulomb friction μ.
    pub friction: f64,
    /// True if snow that touches it moves with it, and does not come off (Breekveldt2017 sec 3.2.5).
    pub sticky: bool,
}

impl Default for Surface {
    /// Friction of Cai2020's table 1.
    fn default() -> Self {
        Self { friction: 0.1, sticky: false }
    }
}

pub(crate) fn check_surface(check: &Checker<'_>, key: &str, surface: &Surface) -> Check {
    check.range(&format!("{key}.friction"), surface.friction, 0.0, 100.0)
}
