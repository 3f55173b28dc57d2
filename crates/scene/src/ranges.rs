//! Checks every number of a scene against the range that the schema has for its key.

use serde_json::Value as Json;
use toml::Value;

use crate::Scene;
use crate::check::{Check, Checker, number};
use crate::format::tree::join;
use crate::properties::{Range, find_property, numbers_of, property_of, resolve};
use crate::solver::shared_schema;

/// Keyword of the schema with advice for a value out of its range.
const HINT: &str = "hint";

impl Scene {
    /// Refuses numbers out of the ranges at the fields of their types.
    pub(crate) fn check_ranges(&self, check: &Checker<'_>) -> Check {
        let schema = shared_schema();
        // TOML has no whole numbers from 2⁶³ on, which are refused as a seed or a count.
        match Value::try_from(self) {
            Ok(scene) => Ranges { root: &schema, check }.visit("", &schema, &scene),
            Err(_) => Ok(()),
        }
    }

    /// Checks a value against the range of `key`, whatever the scene's own value.
    pub(crate) fn check_range(&self, check: &Checker<'_>, key: &str, value: f64) -> Check {
        let schema = shared_schema();
        let Some(property) = find_property(&schema, key) else { return Ok(()) };
        Ranges { root: &schema, check }.check_number(key, property, value, number(value))
    }
}

struct Ranges<'a> {
    root: &'a Json,
    check: &'a Checker<'a>,
}

impl Ranges<'_> {
    fn visit(&self, key: &str, property: &Json, value: &Value) -> Check {
        match value {
            Value::Float(x) => self.check_number(key, property, *x, number(*x)),
            Value::Integer(n) => self.check_number(key, property, *n as f64, n.to_string()),
            Value::Array(elements) => {
                let Some(items) = resolve(self.root, property).get("items") else { return Ok(()) };
                let mut elements = elements.iter().enumerate();
                elements
                    .try_for_each(|(idx, element)| self.visit(&join(key, &idx.to_string()), items, element))
            }
            Value::Table(entries) => entries.iter().try_for_each(|(name, entry)| {
                let property = property_of(self.root, property, name);
                property.map_or(Ok(()), |property| self.visit(&join(key, name), property, entry))
            }),
            _ => Ok(()),
        }
    }

    fn check_number(&self, key: &str, property: &Json, x: f64, found: String) -> Check {
        let property = numbers_of(self.root, property);
        let range = Range::of(property);
        if (range.min, range.max) == (None, None) || range.contains(x) {
            return Ok(());
        }
        let hint = property.get(HINT).and_then(Json::as_str);
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        self.check.fail(key, found, range.describe(key, x) + &hint)
    }
}
