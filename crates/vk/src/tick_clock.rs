//! Time stamps of the device as times: they have a limited number of valid bits, and wrap around.

/// The device's clock: time stamps of a limited number of valid bits, which wrap around, as ticks since the
/// first one. It is right as long as less than half a period lies between two time stamps that are read one
/// after the other: 34 s with 36 bits of 1 ns.
#[derive(Debug)]
pub(crate) struct TickClock {
    valid_bits: u32,
    period_ns: f64,
    /// Time stamp read last, and its ticks since the first one.
    last: Option<(u64, i64)>,
}

impl TickClock {
    pub fn new(valid_bits: u32, period_ns: f32) -> Self {
        Self { valid_bits, period_ns: period_ns.into(), last: None }
    }

    /// Returns the ticks of a time stamp since the first one; bits above the valid ones are ignored.
    pub fn ticks_since_first(&mut self, stamp: u64) -> i64 {
        let (last, ticks) = self.last.unwrap_or((stamp, 0));
        // The difference with the sign of its highest valid bit.
        let unused = 64 - self.valid_bits.clamp(1, 64);
        let ticks = ticks.wrapping_add((stamp.wrapping_sub(last) << unused) as i64 >> unused);
        self.last = Some((stamp, ticks));
        ticks
    }

    /// Returns ticks in nanoseconds.
    pub fn ns(&self, ticks: i64) -> f64 {
        ticks as f64 * self.period_ns
    }
}

/// Returns the period of a queue's time stamps in nanoseconds; 0 if it has none.
pub(crate) fn period_ns(valid_bits: u32, period_ns: f32) -> f32 {
    if valid_bits > 0 && period_ns > 0.0 && period_ns.is_finite() { period_ns } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the times of time stamps in ns since the first.
    fn times(valid_bits: u32, period_ns: f32, stamps: &[u64]) -> Vec<f64> {
        let mut clock = TickClock::new(valid_bits, period_ns);
        stamps
            .iter()
            .map(|stamp| {
                let ticks = clock.ticks_since_first(*stamp);
                clock.ns(ticks)
            })
            .collect()
    }

    #[test]
    fn time_stamps_of_36_bits_wrap_and_what_is_above_them_is_ignored() {
        let end = (1 << 36) - 10;
        let dirt = 0xabc_u64 << 36;
        assert_eq!(times(36, 1.0, &[end, end + 5, 3, dirt | 8, 8]), [0.0, 5.0, 13.0, 18.0, 18.0]);
        // Submissions are read in any order.
        assert_eq!(times(36, 1.0, &[5, end]), [0.0, -15.0]);
        assert_eq!(times(32, 2.0, &[u64::from(u32::MAX), 0, 1]), [0.0, 2.0, 4.0]);
    }

    #[test]
    fn ticks_beyond_the_whole_numbers_of_floats_keep_their_differences() {
        let late = (1 << 60) + 1;
        assert_eq!(times(64, 1.0, &[late, late + 1, late + 3]), [0.0, 1.0, 3.0]);
        assert_eq!(times(64, 10.0, &[u64::MAX, 1]), [0.0, 20.0]);
    }

    #[test]
    fn queues_without_bits_or_a_period_have_no_time_stamps() {
        assert_eq!((period_ns(36, 1.0), period_ns(0, 1.0), period_ns(64, 0.0)), (1.0, 0.0, 0.0));
        assert_eq!((period_ns(64, f32::NAN), period_ns(64, f32::INFINITY)), (0.0, 0.0));
    }
}
