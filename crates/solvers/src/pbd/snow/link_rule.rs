//! The law by which snow particles are linked: reach, temperature, number and breaking.

use frazil_shaders::snow::compute_link_limits;

/// When particles are linked, and when links break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRule {
    /// h in m: the longest distance over which a link is made.
    pub radius_m: f32,
    /// T_link in °C: a particle warmer than this has no links.
    pub link_temperature_c: f32,
    /// How many links a particle may have.
    pub limit: LinkLimit,
    /// A link breaks when it is longer than this times its length when it was made; at least 1.
    pub break_ratio: f32,
}

/// How many links a particle no warmer than T_link may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkLimit {
    /// This many, at any temperature.
    Constant(u32),
    /// round(n_max · (T − T_freeze)/(T_homo − T_freeze)), clamped to 0 … n_max (000 eq 6.8).
    Dynamic {
        /// T_homo in °C, below which everything freezes at once: n_max links.
        homogeneous_c: f32,
        /// T_freeze in °C: no links.
        freezing_c: f32,
    },
}

impl LinkRule {
    /// The law of limits as its kernel takes it.
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
