//! Warnings about allowed but unusual scenes of the material point method.

use super::section::Mpm;
use crate::Scene;

impl Scene {
    /// Warns about an explicit step that is stable in fresh snow but may be too long once the snow has
    /// hardened.
    pub(crate) fn advise_mpm(&self, warn: &mut dyn FnMut(&str, String), mpm: &Mpm) {
        let (dt, h, wave) = (self.dt_s(), mpm.cell_size_m, mpm.hardened_wave_speed_m_s());
        if mpm.implicit.is_none() && wave * dt > h {
            warn(
                "time.dt_s",
                format!(
                    "an elastic wave in hardened snow, at {wave:.1} m/s, passes {:.2} cells in a step of {dt} s; at most 1 needs a \
                     step of {:.3e} s or less, and dt_s = \"auto\" takes {} s",
                    wave * dt / h,
                    h / wave,
                    self.auto_wave_dt_s(mpm)
                ),
            );
        }
    }
}
