//! Faults that a solver detects in its own state, as types that all solvers share.

use crate::clock::StepPlace;

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

/// Share of the time step below which another cause than the step is named, too: a state that exceeds its
/// limit a thousandfold in a step.
const UNLIKELY_SHARE: f64 = 1e-3;

/// Returns the last part of a fault's message: a time step to try, as a number.
///
/// It is the share of the present step, at most half of it, that would have kept the quantity within its
/// limit; NaN if that is unknown, which suggests half. It is at most `max_dt_s`, which follows from the scene
/// and not from the broken state, as by `free_fall_s`. Rounded down to two digits.
pub fn suggest_dt(dt_s: f64, share: f64, max_dt_s: f64) -> String {
    let [least, most] = SUGGESTED_SHARES;
    let suggested_s = dt_s * if share.is_nan() { most } else { share.clamp(least, most) };
    // The thousandth is for time steps that are single-precision numbers.
    let suggested = two_digits(suggested_s.min(max_dt_s), |tenths| (tenths + 1e-3).floor());
    if share < UNLIKELY_SHARE {
        return format!(
            "try lower initial speeds, forces and stiffnesses, which exceed the limit {} times, or \
             time.dt_s = {suggested}",
            number(1.0 / share)
        );
    }
    format!("try time.dt_s = {suggested}")
}

/// Remedy for a state that is not finite when a step begins: no step makes it sound.
pub(crate) const NOT_FINITE_AT_START: &str =
    "no time step helps: positions and velocities that are read from files or set must be finite";

/// Returns the time in s in which a body at rest falls by a distance: no step that is longer resolves it.
/// Infinite without gravity or without a distance.
pub(crate) fn free_fall_s(distance_m: f32, gravity_m_s2: [f32; 3]) -> f64 {
    if distance_m > 0.0 { (2.0 * f64::from(distance_m) / length(gravity_m_s2)).sqrt() } else { f64::INFINITY }
}

/// Returns a number of a fault's message as text: up to five digits, with an exponent if it is large or
/// small.
pub(crate) fn number(x: impl Into<f64>) -> String {
    let x = x.into();
    let rounded: f64 = format!("{x:.4e}").parse().unwrap_or(x);
    match rounded.abs() {
        1e-3..1e6 => rounded.to_string(),
        magnitude if magnitude == 0.0 || !magnitude.is_finite() => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}

/// Returns a vector of a fault's message as text, as [`number`] formats its components.
pub(crate) fn vector(v: [f32; 3]) -> String {
    format!("[{}]", v.map(number).join(", "))
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
         repeated", place.step + 1)]
pub struct Regrown {
    /// Place from which the simulation goes on.
    pub place: StepPlace,
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
            let found = suggest_dt(dt_s, share, f64::INFINITY);
            assert!(found.ends_with(&format!("time.dt_s = {said}")), "{found}");
            assert_eq!(found.starts_with("try lower initial speeds"), share == 0.0, "{found}");
        }
        for (value, said) in [(2.51e5, "2.6e5"), (1e6, "1e6"), (9.91e3, "1e4"), (0.302, "3.1e-1")] {
            assert_eq!(two_digits_up(value), said);
        }
    }

    #[test]
    fn a_suggestion_is_bounded_by_what_the_scene_resolves() {
        let fall_s = free_fall_s(0.02, [0.0, -9.81, 0.0]);
        assert!((fall_s - (0.04_f64 / 9.81).sqrt()).abs() < 1e-8);
        assert_eq!(suggest_dt(1.26e5, f64::NAN, fall_s), "try time.dt_s = 6.3e-2");
        assert_eq!(suggest_dt(1e-3, f64::NAN, fall_s), "try time.dt_s = 5e-4");
        assert_eq!([(0.02, [0.0; 3]), (0.0, [9.81; 3])].map(|(h, g)| free_fall_s(h, g)), [f64::INFINITY; 2]);
        let said = suggest_dt(1e-3, 1e-6, f64::INFINITY);
        assert!(said.contains("exceed the limit 1e6 times, or time.dt_s = 3.1e-5"), "{said}");
    }

    #[test]
    fn numbers_have_five_digits_and_an_exponent_where_they_are_large_or_small() {
        let said = vector([0.1, -1e9, f32::NAN]);
        assert_eq!(said, "[0.1, -1e9, NaN]");
        assert_eq!(vector([0.0, 1234.5678, 1.23456e-5]), "[0, 1234.6, 1.2346e-5]");
        assert_eq!(
            (number(f64::INFINITY), number(999_999.0), number(1e6)),
            ("inf".into(), "1e6".into(), "1e6".into())
        );
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
