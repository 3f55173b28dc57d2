//! Time step of a scene: a number or `"auto"`.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A time step: seconds, or the longest that is stable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeStep {
    /// The longest step that waves, contacts and particles allow (`"auto"`).
    Auto,
    /// A fixed step in s.
    Seconds(f64),
}

impl From<f64> for TimeStep {
    fn from(dt_s: f64) -> Self {
        Self::Seconds(dt_s)
    }
}

impl Serialize for TimeStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Seconds(dt_s) => serializer.serialize_f64(*dt_s),
        }
    }
}

impl<'de> Deserialize<'de> for TimeStep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TimeStepVisitor;

        impl Visitor<'_> for TimeStepVisitor {
            type Value = TimeStep;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of seconds or \"auto\"")
            }

            fn visit_f64<E: serde::de::Error>(self, dt_s: f64) -> Result<TimeStep, E> {
                Ok(TimeStep::Seconds(dt_s))
            }

            fn visit_i64<E: serde::de::Error>(self, dt_s: i64) -> Result<TimeStep, E> {
                Ok(TimeStep::Seconds(dt_s as f64))
            }

            fn visit_u64<E: serde::de::Error>(self, dt_s: u64) -> Result<TimeStep, E> {
                Ok(TimeStep::Seconds(dt_s as f64))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<TimeStep, E> {
                match text {
                    "auto" => Ok(TimeStep::Auto),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }

        deserializer.deserialize_any(TimeStepVisitor)
    }
}

impl JsonSchema for TimeStep {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TimeStep".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Seconds, or \"auto\": as long as waves, contacts and particles allow.",
            "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, { "const": "auto" }]
        })
    }
}
