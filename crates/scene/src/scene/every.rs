//! Output intervals: a number of steps, or an interval of simulated time.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::format::text::shortened;

/// An output interval: a number of steps (`10`, `"10 steps"`) or a time (`"0.02 s"`, `"20 ms"`), in scene
/// files and on the command line alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Every {
    /// A number of steps, at least 1.
    Steps(u64),
    /// Simulated time in s, above 0.
    Seconds(f64),
}

/// Error for a text that is not an output interval.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found \"{}\", expected {EXPECTED}", shortened(.0))]
pub struct EveryError(String);

const EXPECTED: &str = "a number of steps from 1 (10) or a time above 0 (\"0.02 s\", \"20 ms\")";

impl Every {
    /// Returns the first step after `step` at which output is due, for steps of `dt_s` seconds.
    ///
    /// An interval in time is due at the first step that reaches each of its multiples, so that its mean is
    /// exact for any time step; an interval shorter than a step is due at every step.
    pub fn next_after(self, step: u64, dt_s: f64) -> u64 {
        match self {
            Self::Steps(n) => (step / n).saturating_add(1).saturating_mul(n),
            Self::Seconds(period_s) => {
                let steps_per_period = period_s / dt_s;
                // A multiple that lies on a step up to rounding belongs to that step.
                let due = |k: f64| (k * steps_per_period * (1.0 - 1e-12)).ceil() as u64;
                let k = (step as f64 / steps_per_period).floor();
                let next = due(k + 1.0);
                if next > step { next } else { due(k + 2.0).max(step.saturating_add(1)) }
            }
        }
    }

    /// Returns true if output is due at `step`, for steps of `dt_s` seconds. Step 0, the initial state, is
    /// always due.
    pub fn is_due(self, step: u64, dt_s: f64) -> bool {
        step == 0 || self.next_after(step - 1, dt_s) == step
    }
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps(n) => write!(f, "{n} steps"),
            Self::Seconds(s) => write!(f, "{s} s"),
        }
    }
}

impl FromStr for Every {
    type Err = EveryError;

    fn from_str(text: &str) -> Result<Self, EveryError> {
        let refuse = || EveryError(text.to_owned());
        let trimmed = text.trim();
        let split =
            trimmed.find(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E').unwrap_or(trimmed.len());
        let (number, unit) = (trimmed[..split].trim(), &trimmed[split..]);
        let seconds_per_unit = match unit {
            "" | "step" | "steps" => {
                let n = number.parse::<u64>().map_err(|_| refuse())?;
                return if n > 0 { Ok(Self::Steps(n)) } else { Err(refuse()) };
            }
            "s" => 1.0,
            "ms" => 1e-3,
            _ => return Err(refuse()),
        };
        let seconds = number.parse::<f64>().map_err(|_| refuse())? * seconds_per_unit;
        if seconds.is_finite() && seconds > 0.0 { Ok(Self::Seconds(seconds)) } else { Err(refuse()) }
    }
}

impl Serialize for Every {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Every {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EveryVisitor;

        impl Visitor<'_> for EveryVisitor {
            type Value = Every;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_i64<E: de::Error>(self, steps: i64) -> Result<Every, E> {
                match u64::try_from(steps) {
                    Ok(n) if n > 0 => Ok(Every::Steps(n)),
                    _ => Err(E::invalid_value(de::Unexpected::Signed(steps), &self)),
                }
            }

            fn visit_u64<E: de::Error>(self, steps: u64) -> Result<Every, E> {
                if steps > 0 {
                    Ok(Every::Steps(steps))
                } else {
                    Err(E::invalid_value(de::Unexpected::Unsigned(steps), &self))
                }
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Every, E> {
                text.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(EveryVisitor)
    }
}

impl JsonSchema for Every {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Every".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": format!("A cadence: {EXPECTED}."),
            "anyOf": [
                { "type": "integer", "minimum": 1 },
                { "type": "string", "pattern": r"^\s*[0-9.eE+-]+\s*(steps?|s|ms)?\s*$" },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_steps_and_times() {
        for (text, expected) in [
            ("10", Every::Steps(10)),
            ("1 step", Every::Steps(1)),
            (" 25 steps ", Every::Steps(25)),
            ("0.02s", Every::Seconds(0.02)),
            ("5e-3 s", Every::Seconds(0.005)),
            ("250 ms", Every::Seconds(0.25)),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
            assert_eq!(expected.to_string().parse(), Ok(expected), "{text} does not survive writing");
        }
    }

    #[test]
    fn invalid_cadences_are_refused() {
        for text in ["", "0", "-1", "0 s", "-1 s", "nan s", "inf s", "1.5", "1 minute", "s", "e", "ten"] {
            let error = text.parse::<Every>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("found \"{text}\", expected a number of steps")), "{error}");
        }
    }

    #[test]
    fn steps_fall_due_at_multiples() {
        let every = Every::Steps(3);
        let due: Vec<u64> = (0..10).filter(|&step| every.is_due(step, 0.1)).collect();
        assert_eq!(due, [0, 3, 6, 9]);
        assert_eq!(Every::Steps(u64::MAX).next_after(u64::MAX, 0.1), u64::MAX);
    }

    #[test]
    fn times_fall_due_at_the_first_step_that_reaches_them() {
        // 0.25 s in steps of 0.1 s: multiples at 2.5, 5, 7.5 and 10 steps.
        let every = Every::Seconds(0.25);
        let due: Vec<u64> = (0..11).filter(|&step| every.is_due(step, 0.1)).collect();
        assert_eq!(due, [0, 3, 5, 8, 10]);
    }

    #[test]
    fn a_time_that_is_a_whole_number_of_steps_keeps_that_number() {
        // 0.07 / 0.01 rounds above 7, 0.29 / 0.01 below 29.
        for (period_s, dt_s, n) in [(0.07, 0.01, 7), (0.29, 0.01, 29), (0.7, 0.1, 7)] {
            let mut step = 0;
            for k in 1..2000 {
                step = Every::Seconds(period_s).next_after(step, dt_s);
                assert_eq!(step, k * n, "{period_s} s in steps of {dt_s} s");
            }
        }
    }

    #[test]
    fn a_time_below_a_step_is_due_at_every_step() {
        for step in 0..100 {
            assert_eq!(Every::Seconds(1e-9).next_after(step, 0.1), step + 1);
        }
    }
}
