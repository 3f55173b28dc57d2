//! The account of what has changed phase.

/// What has changed phase since the beginning, in integers, so that it does not depend on the order of particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Snow that became water.
    pub melted: u32,
    /// Water that became snow.
    pub frozen: u32,
    /// Σ of [`fixed_point_temperature`] of what melted.
    pub melted_temperature: i64,
    /// Σ of [`fixed_point_temperature`] of what froze.
    pub frozen_temperature: i64,
}

/// T in units of 2⁻¹⁶ °C, ties to even, clamped to what 32 bits hold.
pub fn fixed_point_temperature(temperature_c: f32) -> i64 {
    (temperature_c.clamp(-32767.0, 32767.0) * 65536.0).round_ties_even() as i64
}
