//! Law by which snow particles are linked: reach, temperature, number and breaking.

use frazil_shaders::snow::compute_link_limits;

/// Rules for making and breaking links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRule {
    /// Maximum distance h in m at which a link is made.
    pub radius_m: f32,
    /// Temperature T_link in °C above which a particle has no links.
    pub link_temperature_c: f32,
    /// Maximum number of links of a particle.
    pub limit: LinkLimit,
    /// Ratio of the length to the initial length above which a link breaks; at least 1.
    pub break_ratio: f32,
}

/// Maximum number of links of a particle no warmer than T_link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkLimit {
    /// A constant number at any temperature.
    Constant(u32),
    /// round(n_max · (T − T_freeze)/(T_homo − T_freeze)), clamped to 0 … n_max (Chen2021 eq 6.8).
    Dynamic {
        /// Temperature T_homo of homogeneous freezing in °C, at and below which there are n_max links.
        homogeneous_c: f32,
        /// Freezing temperature T_freeze in °C: no links.
        freezing_c: f32,
    },
}

impl LinkRule {
    /// Returns the rule's maximum as its kernel takes it.
    pub(super) fn limit_params(&self, n_max: u32) -> compute_link_limits::Params {
        let (freeze_temperature_c, freeze_span_c, links_per_c, n_constant) = match self.limit {
            LinkLimit::Constant(links) => (0.0, 0.0, 0.0, links),
            LinkLimit::Dynamic { homogeneous_c, freezing_c } => {
                let span_c = freezing_c - homogeneous_c;
                (freezing_c, span_c, n_max as f32 / span_c, 0)
            }
        };
        let link_temperature_c = self.link_temperature_c;
        compute_link_limits::Params {
            link_temperature_c,
            freeze_temperature_c,
            freeze_span_c,
            links_per_c,
            n_constant,
            n_max,
        }
    }
}
