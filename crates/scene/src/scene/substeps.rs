//! Number of substeps of a step: a number or `"auto"`.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Largest number of substeps of a step.
pub const MAX_SUBSTEPS: u32 = 256;

/// Number of substeps into which a solver divides a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Substeps {
    /// As many as the fastest particle requires (`"auto"`).
    Auto,
    /// The same number in each step.
    Number(u32),
}

impl Default for Substeps {
    fn default() -> Self {
        Self::Number(1)
    }
}

impl Substeps {
    pub(crate) fn is_one(&self) -> bool {
        *self == Self::default()
    }
}

impl Serialize for Substeps {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Number(n) => serializer.serialize_u32(*n),
        }
    }
}

impl<'de> Deserialize<'de> for Substeps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SubstepsVisitor;

        impl Visitor<'_> for SubstepsVisitor {
            type Value = Substeps;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from 1 to {MAX_SUBSTEPS} or \"auto\"")
            }

            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<Substeps, E> {
                match u32::try_from(n) {
                    Ok(n) if (1..=MAX_SUBSTEPS).contains(&n) => Ok(Substeps::Number(n)),
                    _ => Err(E::invalid_value(Unexpected::Signed(n), &self)),
                }
            }

            fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Substeps, E> {
                i64::try_from(n)
                    .map_err(|_| E::invalid_value(Unexpected::Unsigned(n), &self))
                    .and_then(|n| self.visit_i64(n))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Substeps, E> {
                match text {
                    "auto" => Ok(Substeps::Auto),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }

        deserializer.deserialize_any(SubstepsVisitor)
    }
}

impl JsonSchema for Substeps {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Substeps".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number, or \"auto\": as many as the fastest particle requires.",
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": MAX_SUBSTEPS },
                { "const": "auto" },
            ]
        })
    }
}
