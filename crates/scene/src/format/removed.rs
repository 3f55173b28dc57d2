//! Removed notations: errors that show the same lines in the present one.

use crate::format::error::SceneError;
use crate::format::source::Source;
use crate::format::tree::{Node, Value};

/// Friction of a collider with a `surface` that had none.
const COLLIDER_FRICTION: f64 = 0.1;

/// Refuses the removed `[[colliders]]` and `[[obstacles]]`: each error has their tables as `[[bodies]]`.
pub(crate) fn refuse_removed(tree: &Node, source: &Source) -> Result<(), SceneError> {
    let rewrites: [(&str, Rewrite); 2] = [("colliders", body_of_collider), ("obstacles", body_of_obstacle)];
    let errors = rewrites.into_iter().filter_map(|(key, rewrite)| {
        let remedy = match &tree.entry(key)?.value {
            Value::Array(tables) if tables.is_empty() => "expected [[bodies]] or nothing".to_owned(),
            Value::Array(tables) => tables
                .iter()
                .filter_map(rewrite)
                .fold("expected [[bodies]]; the same in its notation:\n".to_owned(), |written, lines| {
                    written + "\n[[bodies]]\n" + &lines.join("\n") + "\n"
                }),
            _ => "expected keys of [[bodies]], such as bodies.0.friction".to_owned(),
        };
        Some(SceneError::RemovedKey { at: source.locate(key), key: key.to_owned(), remedy })
    });
    SceneError::of(errors.collect()).map_or(Ok(()), Err)
}

/// Returns the lines of a body.
type Rewrite = fn(&Node) -> Option<Vec<String>>;

fn body_of_collider(collider: &Node) -> Option<Vec<String>> {
    let Value::Table(shapes) = &collider.value else { return None };
    let (name, shape) = shapes.first()?;
    let line = |key: &str, value: &Value| format!("{key} = {}", written(value, &[]));
    let mut lines = vec![format!("shape.{name} = {}", written(&shape.value, &["side", "surface", "motion"]))];
    lines.extend(shape.entry("side").map(|side| line("side", &side.value)));
    if let Some(surface) = shape.entry("surface") {
        let friction = surface.entry("friction").map(|friction| &friction.value);
        lines.push(line("friction", friction.unwrap_or(&Value::Float(COLLIDER_FRICTION))));
        lines.extend(surface.entry("sticky").map(|sticky| line("sticky", &sticky.value)));
    }
    lines.extend(shape.entry("motion").map(|motion| line("motion.uniform", &motion.value)));
    Some(lines)
}

fn body_of_obstacle(obstacle: &Node) -> Option<Vec<String>> {
    let Value::Table(entries) = &obstacle.value else { return None };
    let line = |(key, node): &(String, Node)| match (key.as_str(), &node.value) {
        ("shape", Value::Table(shapes)) => {
            let (name, shape) = shapes.first()?;
            let name = if name == "cylinder" { "upright_cylinder" } else { name };
            Some(format!("shape.{name} = {}", written(&shape.value, &[])))
        }
        (key, value) => Some(format!("{key} = {}", written(value, &[]))),
    };
    Some(entries.iter().filter_map(line).collect())
}

/// Writes a value as TOML, a table without the keys `omitted`.
fn written(value: &Value, omitted: &[&str]) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        Value::Boolean(b) => b.to_string(),
        Value::Integer(n) => n.to_string(),
        Value::Float(x) => format!("{x:?}").to_lowercase(),
        // The escapes of JSON are those of TOML.
        Value::String(text) => serde_json::Value::from(text.as_str()).to_string(),
        Value::Other(kind) => format!("{kind:?}"),
        Value::Array(elements) => {
            format!("[{}]", list(elements.iter().map(|element| written(&element.value, &[])).collect()))
        }
        Value::Table(entries) => {
            let kept = entries.iter().filter(|(key, _)| !omitted.contains(&key.as_str()));
            let entry = |(key, node): &(String, Node)| format!("{key} = {}", written(&node.value, &[]));
            format!("{{ {} }}", list(kept.map(entry).collect()))
        }
    }
}
