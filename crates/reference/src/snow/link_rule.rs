//! The law by which snow particles are linked.

/// When particles are linked, and when links break. Fields and meaning as the device's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRule {
    /// h in m.
    pub radius_m: f32,
    /// T_link in °C.
    pub link_temperature_c: f32,
    /// How many links a particle may have.
    pub limit: LinkLimit,
    /// How many times its rest length a link may have.
    pub break_ratio: f32,
}

/// How many links a particle no warmer than T_link may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkLimit {
    /// This many.
    Constant(u32),
    /// 000 eq 6.8.
    Dynamic {
        /// T_homo in °C.
        homogeneous_c: f32,
        /// T_freeze in °C.
        freezing_c: f32,
    },
}

impl LinkRule {
    /// `compute_link_limits`: how many of `n_max` links a particle of this temperature may have.
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
