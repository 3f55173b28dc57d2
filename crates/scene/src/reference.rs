//! Reference of all keys of the scene file, in Markdown, from its JSON schema.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value};

use crate::properties::range_symbols;
use crate::solver::{json_schema, solvers};

/// Column width of prose.
const COLUMNS: usize = 110;
/// Maximum nesting of tables, which no key reaches.
const MAX_DEPTH: usize = 12;

/// Returns the reference of the scene file: for each key its type or values, default, range and
/// description, and the solvers of each section.
pub fn reference() -> String {
    let schema = json_schema();
    let definitions = schema.get("$defs").cloned().unwrap_or_default();
    let generator =
        Generator { definitions: &definitions, listed: RefCell::default(), section: RefCell::default() };
    let mut text = String::from(
        "# Scene reference\n\n\
         All keys of a scene file (TOML), generated from the types: `frazil scenes --reference` prints this \
         page,\n\
         `frazil scenes --schema` the JSON schema for editors, `frazil new KIND` writes a scene to begin \
         with, and\n\
         `frazil scenes --show NAME` prints a built-in one. Units are SI; a key with a unit is named after \
         it. Any key\n\
         can be set on the command line, array elements by index from 0: `--set \
         particles.0.velocity_m_s=[1,0,0]`.\n",
    );
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let is_required = |name: &str| contains(schema.get("required"), name);
    let is_table = |property: &Value| {
        let resolved = generator.resolve(property);
        resolved.get("properties").is_some() || generator.element_of(resolved).is_some()
    };
    let _ = writeln!(text, "\n## Top level\n");
    let mut rows = Vec::new();
    for (name, property) in properties.iter().filter(|(_, property)| !is_table(property)) {
        generator.add(&mut rows, name, property, is_required(name), 0);
    }
    text += &table(&rows);
    for (name, property) in properties.iter().filter(|(_, property)| is_table(property)) {
        let resolved = generator.resolve(property);
        let element = generator.element_of(resolved);
        let heading = if element.is_some() { format!("[[{name}]]") } else { format!("[{name}]") };
        let _ = writeln!(text, "\n## `{heading}`\n");
        generator.section.replace(heading);
        text += &wrapped(&description(property, resolved));
        let owners: Vec<String> = solvers()
            .into_iter()
            .filter(|solver| solver.sections().iter().any(|section| section.name() == name))
            .map(|solver| format!("`{}`", solver.kind()))
            .collect();
        if !owners.is_empty() {
            let _ = writeln!(text, "\nSolvers: {}.", owners.join(", "));
        }
        let mut rows = Vec::new();
        generator.add_properties(&mut rows, "", element.unwrap_or(resolved), 0);
        let _ = write!(text, "\n{}", table(&rows));
    }
    text
}

/// A line of a table.
struct Row {
    key: String,
    kind: String,
    default: String,
    range: String,
    meaning: String,
}

struct Generator<'a> {
    definitions: &'a Value,
    /// Where the keys of a type are listed, by its name: types that occur again refer to that place.
    listed: RefCell<BTreeMap<String, String>>,
    /// Heading of the present section.
    section: RefCell<String>,
}

impl Generator<'_> {
    /// Follows references and optional types.
    fn resolve<'b>(&'b self, schema: &'b Value) -> &'b Value {
        let mut schema = schema;
        for _ in 0..MAX_DEPTH {
            let named = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
            let optional = schema.get("anyOf").and_then(Value::as_array).and_then(|choices| {
                let others = || choices.iter().filter(|choice| choice.get("type") != Some(&"null".into()));
                if others().count() == 1 { others().next() } else { None }
            });
            schema = match (named.and_then(|name| self.definitions.get(name)), optional) {
                (Some(definition), _) => definition,
                (None, Some(choice)) => choice,
                (None, None) => return schema,
            };
        }
        schema
    }

    /// Returns the name of the type that [`Self::resolve`] ends with, if it has one.
    fn type_name<'b>(&'b self, schema: &'b Value) -> Option<&'b str> {
        let is_null = |choice: &&Value| choice.get("type") == Some(&"null".into());
        let choices = schema.get("anyOf").and_then(Value::as_array);
        let choice = choices.and_then(|choices| choices.iter().find(|choice| !is_null(choice)));
        choice.unwrap_or(schema).get("$ref")?.as_str()?.rsplit('/').next()
    }

    /// Returns where the keys of a property's type are listed already, or else notes that they are now.
    fn listed_at(&self, key: &str, property: &Value) -> Option<String> {
        let place = format!("`{}` `{key}`", self.section.borrow());
        let name = self.type_name(property)?.to_owned();
        let listed = self.listed.borrow().get(&name).cloned();
        listed.or_else(|| self.listed.borrow_mut().insert(name, place))
    }

    /// Returns the table that is the element of an array of tables.
    fn element_of<'b>(&'b self, schema: &'b Value) -> Option<&'b Value> {
        let element = self.resolve(schema.get("items")?);
        let is_table = element.get("properties").is_some() || !variants(element).is_empty();
        is_table.then_some(element)
    }

    /// Adds rows of all keys of a table, and of its variants.
    fn add_properties(&self, rows: &mut Vec<Row>, path: &str, schema: &Value, depth: usize) {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        for (name, property) in properties {
            let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            self.add(rows, &key, property, contains(schema.get("required"), name), depth);
        }
        for (name, variant, about) in variants(schema) {
            let key = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            let meaning = about.unwrap_or_default().to_owned();
            rows.push(Row::of_table(&key, "one of them", &meaning));
            self.add_properties(rows, &key, self.resolve(variant), depth + 1);
        }
    }

    /// Adds the row of a key, and of the keys below it.
    fn add(&self, rows: &mut Vec<Row>, key: &str, property: &Value, is_required: bool, depth: usize) {
        let resolved = self.resolve(property);
        let meaning = description(property, resolved);
        let has_keys = resolved.get("properties").is_some() || !variants(resolved).is_empty();
        if depth < MAX_DEPTH && has_keys {
            let kind = if is_required { "table, required" } else { "table" };
            if let Some(place) = self.listed_at(key, property) {
                rows.push(Row::of_table(key, &format!("{kind}, as {place}"), &meaning));
                return;
            }
            rows.push(Row::of_table(key, kind, &meaning));
            return self.add_properties(rows, key, resolved, depth + 1);
        }
        if let Some(element) = self.element_of(resolved).filter(|_| depth < MAX_DEPTH) {
            rows.push(Row::of_table(key, "array of tables", &meaning));
            return self.add_properties(rows, &format!("{key}.N"), element, depth + 1);
        }
        let default = property.get("default").or(resolved.get("default"));
        let default = match (default, is_required) {
            (Some(Value::Null) | None, false) => String::new(),
            (Some(value), _) if !value.is_null() => format!("`{value}`"),
            _ => "required".to_owned(),
        };
        let (kind, values) = self.kind(property);
        let meaning =
            [meaning, values].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        rows.push(Row { key: key.to_owned(), kind, default, range: range(property, resolved), meaning });
    }

    /// Returns the type of a value, and its values with their descriptions if they are listed.
    fn kind(&self, property: &Value) -> (String, String) {
        let schema = self.resolve(property);
        let choices = schema.get("oneOf").or(schema.get("anyOf")).and_then(Value::as_array);
        if let Some(choices) = choices {
            let mut kinds: Vec<String> = Vec::new();
            let mut values = Vec::new();
            for choice in choices {
                let about = choice.get("description").and_then(Value::as_str).unwrap_or_default();
                match choice.get("const").and_then(Value::as_str) {
                    Some(value) => {
                        kinds.push(format!("`\"{value}\"`"));
                        if !about.is_empty() {
                            values.push(format!("`\"{value}\"`: {about}"));
                        }
                    }
                    None => kinds.push(self.kind(choice).0),
                }
            }
            kinds.dedup();
            return (kinds.join(", "), values.join(" "));
        }
        if let Some(names) = schema.get("enum").and_then(Value::as_array) {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            return (names.join(", "), String::new());
        }
        let name = match schema.get("type") {
            Some(Value::String(name)) => name.as_str(),
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("value")
            }
            _ => "value",
        };
        let kind = match name {
            "array" => {
                let items = schema.get("items").map(|items| self.kind(items).0).unwrap_or_default();
                match (schema.get("minItems"), schema.get("maxItems")) {
                    (Some(min), Some(max)) if min == max => format!("{min} {items}s"),
                    _ => format!("array: {items}"),
                }
            }
            other => other.to_owned(),
        };
        (kind, String::new())
    }
}

impl Row {
    fn of_table(key: &str, kind: &str, meaning: &str) -> Self {
        Self {
            key: key.to_owned(),
            kind: kind.to_owned(),
            default: String::new(),
            range: String::new(),
            meaning: meaning.to_owned(),
        }
    }
}

/// Returns the variants of a table of which a scene has one: name, table and description.
fn variants(schema: &Value) -> Vec<(&str, &Value, Option<&str>)> {
    let choices = schema.get("oneOf").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let variant = |choice| -> Option<(&str, &Value, Option<&str>)> {
        let choice: &Value = choice;
        let (name, table) = choice.get("properties")?.as_object()?.iter().next()?;
        Some((name.as_str(), table, choice.get("description").and_then(Value::as_str)))
    };
    choices.iter().filter_map(variant).collect()
}

fn contains(list: Option<&Value>, name: &str) -> bool {
    list.and_then(Value::as_array).is_some_and(|names| names.iter().any(|other| other == name))
}

/// Returns the description of a key, or else of its type, in one line.
fn description(property: &Value, resolved: &Value) -> String {
    let text = property.get("description").or(resolved.get("description")).and_then(Value::as_str);
    text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the range of a number, or of the elements of an array of numbers.
fn range(property: &Value, resolved: &Value) -> String {
    let element = property.get("items").unwrap_or(resolved);
    match range_symbols(property) {
        range if range.is_empty() => range_symbols(element),
        range => range,
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from("| key | type or values | default | range | |\n|---|---|---|---|---|\n");
    for Row { key, kind, default, range, meaning } in rows {
        // A row is a line, and a bar ends a cell.
        let plain = |cell: &str| cell.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
        text.push('|');
        let key = format!("`{key}`");
        for cell in [key.as_str(), kind, default, range, meaning].map(plain) {
            let space = if cell.is_empty() { "" } else { " " };
            let _ = write!(text, "{space}{cell} |");
        }
        text.push('\n');
    }
    text
}

/// Wraps a paragraph.
fn wrapped(paragraph: &str) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for word in paragraph.split(' ') {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > COLUMNS {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text += word;
        column += width;
    }
    text + "\n"
}
