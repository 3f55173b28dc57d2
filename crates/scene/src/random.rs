//! Random numbers that are the same on every platform.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::Rng;

/// A number from 0 up to but not including 1, all multiples of 2⁻⁵³ equally likely.
pub(crate) fn unit_interval(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}
