//! Law by which snow particles are linked.

/// Rule by which links form and break. The fields mean the same as on the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRule {
    /// h in m.
    pub radius_m: f32,
    /// T_link in °C.
    pub link_temperature_c: f32,
    /// Maximum number of links of a particle.
    pub limit: LinkLimit,
    /// Maximum length of a link as a multiple of its rest length.
    pub break_ratio: f32,
}

/// Maximum number of links of a particle no warmer than T_link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkLimit {
    /// A fixed number.
    Constant(u32),
    /// A number that depends on temperature, Chen2021 eq 6.8.
    Dynamic {
        /// T_homo in °C.
        homogeneous_c: f32,
        /// T_freeze in °C.
        freezing_c: f32,
    },
}

impl LinkRule {
    /// Twin of `compute_link_limits`: returns the maximum number of links, of `n_max`, at this temperature.
    pub fn link_limit(&self, n_max: u32, temperature_c: f32) -> u32 {
        // False for NaN.
        let may_link = temperature_c <= self.link_temperature_c;
        if !may_link {
            return 0;
        }
        match self.limit {
            LinkLimit::Constant(links) => links.min(n_max),
            LinkLimit::Dynamic { homogeneous_c, freezing_c } => {
                let span_c = freezing_c - homogeneous_c;
                let cooling_c = (freezing_c - temperature_c).clamp(0.0, span_c);
                ((cooling_c * (n_max as f32 / span_c) + 0.5).floor() as u32).min(n_max)
            }
        }
    }
}
