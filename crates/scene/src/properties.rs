//! Properties of keys in the JSON schema of the scene file: where a key's range stands, once, at its field.

use schemars::Schema;
use serde_json::Value;

use crate::check::{MAX_MAGNITUDE, MIN_POSITIVE, number};
use crate::units::unit_of;

/// Range of a number in the schema. Numbers without a bound are at most 10¹⁸ in magnitude, and positive ones
/// at least 10⁻¹⁸, so that products of two fit into an f32.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Range {
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
    /// True if the minimum itself is outside of the range.
    pub(crate) excludes_min: bool,
    /// True if the maximum itself is outside of the range.
    pub(crate) excludes_max: bool,
    /// True for whole numbers.
    pub(crate) is_whole: bool,
}

impl Range {
    /// Reads the range of a property: `minimum`, `exclusiveMinimum`, `maximum` and `exclusiveMaximum`.
    pub(crate) fn of(property: &Value) -> Self {
        let bound = |name: &str| property.get(name).and_then(Value::as_f64);
        let (above, below) = (bound("exclusiveMinimum"), bound("exclusiveMaximum"));
        Self {
            min: above.or(bound("minimum")),
            max: below.or(bound("maximum")),
            excludes_min: above.is_some(),
            excludes_max: below.is_some(),
            is_whole: property.get("type").is_some_and(is_integer),
        }
    }

    pub(crate) fn contains(&self, x: f64) -> bool {
        let is_above = match self.min {
            Some(0.0) if self.excludes_min => x >= MIN_POSITIVE,
            Some(min) => x > min || (x == min && !self.excludes_min),
            None => self.is_whole || x >= -MAX_MAGNITUDE,
        };
        let is_below = match self.max {
            Some(max) => x < max || (x == max && !self.excludes_max),
            None => self.is_whole || x <= MAX_MAGNITUDE,
        };
        is_above && is_below
    }

    /// Describes the values allowed at `key`, where `found` is not one of them.
    pub(crate) fn describe(&self, key: &str, found: f64) -> String {
        let noun = if self.is_whole { "a whole number" } else { "a number" };
        let unit = unit_of(key);
        match (self.min, self.max) {
            (None, None) => format!("a finite number, at most {MAX_MAGNITUDE:e}"),
            (Some(0.0), None) if self.excludes_min && !self.is_whole => {
                let of_unit = match unit {
                    "" => String::new(),
                    "m" => " of metres".to_owned(),
                    "s" => " of seconds".to_owned(),
                    unit => format!(" of {unit}"),
                };
                let is_positive = found > 0.0 && found.is_finite();
                let bounds = if is_positive {
                    format!(" between {MIN_POSITIVE:e} and {MAX_MAGNITUDE:e}")
                } else {
                    String::new()
                };
                format!("a positive number{of_unit}{bounds}")
            }
            (Some(0.0), None) if !self.is_whole => "0 or a positive number".to_owned(),
            (Some(min), Some(max)) if unit == "°C" => {
                format!("a temperature from {} °C to {} °C", number(min), number(max))
            }
            (Some(min), Some(max)) if self.is_whole && max == min + 1.0 => {
                format!("{} or {}", number(min), number(max))
            }
            (min, max) => {
                let from = if self.excludes_min { " above" } else { " from" };
                let to = match (self.excludes_min, self.excludes_max) {
                    _ if min.is_none() => {
                        if self.excludes_max {
                            " below"
                        } else {
                            " up to"
                        }
                    }
                    (false, false) => " to",
                    (false, true) => " to below",
                    (true, false) => " and up to",
                    (true, true) => " and below",
                };
                let min = min.map(|min| format!("{from} {}", number(min))).unwrap_or_default();
                let max = max.map(|max| format!("{to} {}", number(max))).unwrap_or_default();
                format!("{noun}{min}{max}")
            }
        }
    }
}

/// Writes the range of a property for a table: "≥ 0, < 1".
pub(crate) fn range_symbols(property: &Value) -> String {
    let bound = |(name, symbol): (&str, &str)| {
        let bound = property.get(name)?;
        // Large whole numbers are no floats.
        let whole = bound.as_i64().map(|n| n.to_string());
        Some(format!("{symbol} {}", whole.or(bound.as_f64().map(number))?))
    };
    let min = bound(("exclusiveMinimum", ">")).or_else(|| bound(("minimum", "≥")));
    let max = bound(("exclusiveMaximum", "<")).or_else(|| bound(("maximum", "≤")));
    min.into_iter().chain(max).collect::<Vec<_>>().join(", ")
}

/// Returns the schema of the numbers among the values of a property, which may also be words.
pub(crate) fn numbers_of<'a>(root: &'a Value, property: &'a Value) -> &'a Value {
    let property = resolve(root, property);
    let choices = property.get("anyOf").and_then(Value::as_array);
    let is_number =
        |choice: &&Value| choice.get("type").is_some_and(|kind| kind == "number" || kind == "integer");
    choices.and_then(|choices| choices.iter().find(is_number)).unwrap_or(property)
}

/// Transforms the schema of an array: its elements are above 0.
pub(crate) fn items_above_zero(array: &mut Schema) {
    if let Some(Value::Object(items)) = array.get_mut("items") {
        items.insert("exclusiveMinimum".to_owned(), 0.into());
    }
}

/// Returns true for the type of whole numbers, or of whole numbers that may be missing.
fn is_integer(kind: &Value) -> bool {
    kind == "integer" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "integer"))
}

/// Finds the schema of a key, which names tables and properties joined by dots.
pub(crate) fn find_property<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(schema, |table, name| property_of(schema, table, name))
}

/// Returns the schema of an entry of a table, or of a variant of one.
pub(crate) fn property_of<'a>(root: &'a Value, table: &'a Value, name: &str) -> Option<&'a Value> {
    let table = resolve(root, table);
    let entry = |table: &'a Value| table.get("properties")?.get(name);
    entry(table).or_else(|| table.get("oneOf")?.as_array()?.iter().find_map(entry))
}

/// Follows a reference, or that of an optional section.
pub(crate) fn resolve<'a>(root: &'a Value, node: &'a Value) -> &'a Value {
    let reference = |node: &Value| node.get("$ref").and_then(Value::as_str).map(str::to_owned);
    let of_any = || node.get("anyOf")?.as_array()?.iter().find_map(reference);
    let path = reference(node).or_else(of_any);
    path.and_then(|path| root.pointer(path.trim_start_matches('#'))).unwrap_or(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn described(property: &Value, key: &str, found: f64) -> Option<String> {
        let range = Range::of(property);
        (!range.contains(found)).then(|| range.describe(key, found))
    }

    #[test]
    fn values_out_of_a_range_are_refused_with_its_description() {
        let positive = json!({ "exclusiveMinimum": 0, "type": "number" });
        let share = json!({ "exclusiveMinimum": 0, "maximum": 1, "type": "number" });
        let below = json!({ "minimum": 0, "exclusiveMaximum": 0.5, "type": ["number", "null"] });
        let count = json!({ "minimum": 1, "maximum": 32, "type": "integer" });
        let two = json!({ "minimum": 2, "maximum": 3, "type": "integer" });
        let warm = json!({ "minimum": -273.15, "maximum": 1e4, "type": "number" });
        let any = json!({ "minimum": 0, "type": "number" });
        for (property, key, found, expected) in [
            (&positive, "fluid.spacing_m", 0.0, "a positive number of metres"),
            (&positive, "fluid.spacing_m", f64::NAN, "a positive number of metres"),
            (&positive, "fluid.density_kg_m3", 1e19, "a positive number of kg/m³ between 1e-18 and 1e18"),
            (&positive, "pbd.max_courant", f64::INFINITY, "a positive number"),
            (&share, "dem.restitution", 0.0, "a number above 0 and up to 1"),
            (&below, "mpm.poissons_ratio", 0.5, "a number from 0 to below 0.5"),
            (&count, "snow.links.most", 0.0, "a whole number from 1 to 32"),
            (&two, "mpm.dimensions", 4.0, "2 or 3"),
            (&warm, "heat.faces_c.x_min", -300.0, "a temperature from -273.15 °C to 10000 °C"),
            (&any, "dem.cohesion_n", -1.0, "0 or a positive number"),
            (&any, "dem.cohesion_n", 1e19, "0 or a positive number"),
        ] {
            assert_eq!(described(property, key, found).as_deref(), Some(expected), "{key} = {found}");
        }
        for (property, within) in
            [(&positive, 1e-18), (&share, 1.0), (&below, 0.0), (&count, 32.0), (&any, 0.0)]
        {
            assert_eq!(described(property, "key", within), None, "{property}");
        }
        assert_eq!(range_symbols(&share), "> 0, ≤ 1");
        assert_eq!(range_symbols(&warm), "≥ -273.15, ≤ 10000");
        assert_eq!(range_symbols(&json!({ "maximum": i64::MAX })), "≤ 9223372036854775807");
    }
}
