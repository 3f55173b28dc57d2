//! Totals of phase changes.

/// Totals of phase changes since the initial state, in integers, so that they do not depend on the order of
/// particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Number of snow particles that became water.
    pub melted: u32,
    /// Number of water particles that became snow.
    pub frozen: u32,
    /// Σ of [`fixed_point_temperature`] of melted particles.
    pub melted_temperature: i64,
    /// Σ of [`fixed_point_temperature`] of frozen particles.
    pub frozen_temperature: i64,
}

/// Returns T in units of 2⁻¹⁶ °C, ties to even, clamped to the range of 32 bits.
pub fn fixed_point_temperature(temperature_c: f32) -> i64 {
    (temperature_c.clamp(-32767.0, 32767.0) * 65536.0).round_ties_even() as i64
}
