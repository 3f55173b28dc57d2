//! Random numbers that are the same on every platform.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::Rng;

/// Draws a number in [0, 1), uniform over the multiples of 2⁻⁵³.
pub(crate) fn unit_interval(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}
