//! Faults that a solver detects in its own state, as types that all solvers share.

/// Fault of a step that broke the state. The device keeps the state as that step left it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {step}, pass {pass}: {message}")]
pub struct SolverFault {
    /// Step, counted from 1.
    pub step: u64,
    /// Pass that detected the fault.
    pub pass: &'static str,
    /// Particle, body or buffer concerned.
    pub object: String,
    /// Message: found, expected, and common remedies.
    pub message: String,
}

/// Invariant of a solver's own data that does not hold after a step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{count} {what}")]
pub struct InvariantFault {
    /// Description of the violation.
    pub what: &'static str,
    /// Number of violations.
    pub count: u32,
}

/// Bounds of the suggested share of the time step. A state that has diverged has speeds and densities that
/// say little about a sound one, so that a single suggestion is never less than a 32nd.
const SUGGESTED_SHARES: [f64; 2] = [1.0 / 32.0, 0.5];

/// Returns the last part of a fault's message: a time step to try, as a number.
///
/// It is the share of the present step, at most half of it, that would have kept the quantity within its
/// limit; NaN if that is unknown, which suggests half. Rounded down to two digits.
pub(crate) fn suggest_dt(dt_s: f64, share: f64) -> String {
    let [least, most] = SUGGESTED_SHARES;
    let dt_s = dt_s * if share.is_nan() { most } else { share.clamp(least, most) };
    // The thousandth is for time steps that are single-precision numbers.
    format!("try time.dt_s = {}", two_digits(dt_s, |tenths| (tenths + 1e-3).floor()))
}

/// Returns a number above 0 as text, rounded up to two digits.
pub(crate) fn two_digits_up(value: f64) -> String {
    two_digits(value, |tenths| (tenths - 1e-3).ceil())
}

/// Returns a number above 0 as text; `round` makes a whole number of tenths of its power of ten.
fn two_digits(value: f64, round: impl Fn(f64) -> f64) -> String {
    let mut exponent = value.log10().floor() as i32;
    let mut tenths = round(value * 10f64.powi(1 - exponent)) as i32;
    if tenths >= 100 {
        (exponent, tenths) = (exponent + 1, tenths / 10);
    }
    let digits = match (tenths / 10, tenths % 10) {
        (whole, 0) => whole.to_string(),
        (whole, tenth) => format!("{whole}.{tenth}"),
    };
    format!("{digits}e{exponent}")
}

/// Growth of a record of fixed size that a step has exceeded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {}: {object} exceeded a capacity of {from}; it is now {to}, and the step is \
         repeated", step + 1)]
pub struct Regrown {
    /// Number of steps in the state from which the simulation goes on.
    pub step: u64,
    /// Name of what the record holds.
    pub object: &'static str,
    /// Capacity before.
    pub from: u32,
    /// Capacity now.
    pub to: u32,
}

/// Returns the new capacity for a record that requires `required` elements: doubled as often as needed, so
/// that it hardly depends on the step of the overflow, but not beyond `limit` unless that is required.
pub(crate) fn grown_capacity(capacity: u32, required: u32, limit: u32) -> u32 {
    let mut grown = capacity.max(1);
    while grown < required {
        grown = grown.saturating_mul(2);
    }
    grown.min(limit).max(required)
}

/// Returns the length of a vector that need not be finite, in f64.
pub(crate) fn length(v: [f32; 3]) -> f64 {
    v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_is_a_share_between_a_32nd_and_a_half_rounded_down() {
        for (dt_s, share, said) in [
            (2e-3, 0.9, "1e-3"),
            (f64::from(7e-4f32), f64::NAN, "3.5e-4"),
            (1e-3, 0.33, "3.3e-4"),
            (3.2e-2, 0.0, "1e-3"),
            (1.0, 0.0, "3.1e-2"),
            (2e-2, f64::INFINITY, "1e-2"),
        ] {
            assert_eq!(suggest_dt(dt_s, share), format!("try time.dt_s = {said}"));
        }
        for (value, said) in [(2.51e5, "2.6e5"), (1e6, "1e6"), (9.91e3, "1e4"), (0.302, "3.1e-1")] {
            assert_eq!(two_digits_up(value), said);
        }
    }

    #[test]
    fn capacities_double_up_to_a_limit() {
        for (capacity, required, limit, grown) in [
            (10, 11, 1000, 20),
            (10, 81, 1000, 160),
            (600, 601, 1000, 1000),
            (600, 1001, 1000, 1001),
            (0, 3, 8, 4),
            (u32::MAX - 1, u32::MAX, u32::MAX, u32::MAX),
        ] {
            assert_eq!(grown_capacity(capacity, required, limit), grown, "{capacity}, {required}");
        }
    }
}
