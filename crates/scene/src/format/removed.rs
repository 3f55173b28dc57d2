//! Removed notations: errors that show the same lines in the present one.

use crate::format::error::SceneError;
use crate::format::source::{Place, Source};
use crate::format::tree::{Node, Value, join};

/// Friction of a collider with a `surface` that had none.
const COLLIDER_FRICTION: f64 = 0.1;

/// Maximum number of characters of rewritten lines in a message.
const MAX_LINES_CHARACTERS: usize = 3000;

/// Keys that moved to a section of a solver: the section, and the former paths of its keys, which kept their
/// names.
const MOVED: [(&str, &[&str]); 2] = [
    (
        "pbd",
        &[
            "solver.iterations",
            "solver.density_tolerance",
            "solver.max_iterations",
            "solver.over_relaxation",
            "solver.constraint_relaxation",
            "solver.artificial_pressure",
            "solver.max_density_ratio",
            "solver.max_courant",
        ],
    ),
    ("dem", &["releases", "slabs"]),
];

/// Refuses removed notations of a scene of solver `kind`: each error has the same lines in the present one.
/// `owners_of` returns the kinds of solvers that have a section.
pub(crate) fn refuse_removed(
    tree: &Node,
    source: &Source,
    kind: &str,
    owners_of: &dyn Fn(&str) -> Vec<&'static str>,
) -> Result<(), SceneError> {
    let mut errors = refuse_replaced(tree, source);
    let mut moved = MOVED.map(|(section, keys)| (section, keys, owners_of(section)));
    // Keys with an effect come first.
    moved.sort_by_key(|(_, _, owners)| !owners.contains(&kind));
    for (section, keys, owners) in moved {
        let found: Vec<_> = keys.iter().filter_map(|key| Some((*key, tree.at(key)?))).collect();
        let remedies = if owners.contains(&kind) {
            remedies_of_moved(section, &found)
        } else {
            let kinds: Vec<String> = owners.iter().map(|owner| format!("\"{owner}\"")).collect();
            let remedy = format!("expected nothing: [{section}] needs solver.kind = {}", kinds.join(" or "));
            vec![remedy; found.len()]
        };
        errors.extend(found.into_iter().zip(remedies).map(|((key, node), remedy)| SceneError::RemovedKey {
            at: source.at(node.place.clone()),
            key: key.to_owned(),
            remedy,
        }));
    }
    SceneError::of(errors).map_or(Ok(()), Err)
}

/// Returns the present path of a key that moved, or of a key inside it.
pub(crate) fn moved_key(key: &str) -> Option<String> {
    let moved = |(section, keys): &(&str, &[&str])| {
        let inside = |former: &&&str| join(key, "").starts_with(&join(former, ""));
        keys.iter()
            .find(inside)
            .map(|former| join(section, &(last_name(former).to_owned() + &key[former.len()..])))
    };
    MOVED.iter().find_map(moved)
}

fn last_name(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, name)| name)
}

/// Returns the remedy of each of the keys `found`, which moved to a section: the same override, or the same
/// lines, of which the first remedy has those of all keys.
fn remedies_of_moved(section: &str, found: &[(&str, &Node)]) -> Vec<String> {
    let overrides: Vec<_> = found.iter().map(|(key, node)| moved_override(key, node)).collect();
    let in_lines = found.iter().zip(&overrides).filter(|(_, moved)| moved.is_none()).map(|(entry, _)| *entry);
    let is_short = |lines: &String| (1..=MAX_LINES_CHARACTERS).contains(&lines.chars().count());
    let mut lines = Some(moved_lines(section, &in_lines.collect::<Vec<_>>())).filter(is_short);
    let remedy = |((key, node), moved): (&(&str, &Node), Option<String>)| {
        let table = if is_tables(node) {
            format!("[[{}]]", join(section, last_name(key)))
        } else {
            format!("[{section}]")
        };
        let is_empty = matches!(&node.value, Value::Array(elements) if elements.is_empty());
        match moved {
            Some(moved) => format!("expected {moved}"),
            None if is_empty => format!("expected {table} or nothing"),
            None => match lines.take() {
                Some(lines) => format!("expected {table}; the same in its notation:\n{lines}"),
                None => format!("expected the same in {table}"),
            },
        }
    };
    found.iter().zip(overrides).map(remedy).collect()
}

/// Returns the override that set the value of `key`, or one inside it, with the present key.
fn moved_override(key: &str, node: &Node) -> Option<String> {
    let Place::Override { argument, .. } = &node.place else { return None };
    let (given, value) = argument.split_once('=')?;
    let given = given.trim();
    let is_inside = join(given, "").starts_with(&join(key, ""));
    let moved = is_inside.then(|| moved_key(given)).flatten()?;
    Some(format!("--set {moved}={}", value.trim()))
}

fn is_tables(node: &Node) -> bool {
    matches!(&node.value, Value::Array(elements)
        if elements.iter().all(|element| matches!(element.value, Value::Table(_))))
}

/// Returns keys as a section of a scene file: values first, then arrays of tables.
fn moved_lines(section: &str, found: &[(&str, &Node)]) -> String {
    let (tables, values): (Vec<_>, Vec<_>) = found.iter().partition(|(_, node)| is_tables(node));
    let mut text = String::new();
    if !values.is_empty() {
        text += &format!("\n[{section}]\n");
    }
    for (key, node) in values {
        text += &(entry_line(last_name(key), &node.value) + "\n");
    }
    for (key, node) in tables {
        let Value::Array(elements) = &node.value else { continue };
        for element in elements {
            let Value::Table(entries) = &element.value else { continue };
            text += &format!("\n[[{}]]\n", join(section, last_name(key)));
            for (name, entry) in entries {
                text += &(entry_line(name, &entry.value) + "\n");
            }
        }
    }
    text
}

/// Writes an entry; tables of one entry by dotted keys.
fn entry_line(key: &str, value: &Value) -> String {
    match value {
        Value::Table(entries) => match entries.as_slice() {
            [(name, node)] => entry_line(&join(key, name), &node.value),
            _ => format!("{key} = {}", written(value, &[])),
        },
        _ => format!("{key} = {}", written(value, &[])),
    }
}

/// Returns an error for `[[colliders]]` and for `[[obstacles]]`, with their tables as `[[bodies]]`.
fn refuse_replaced(tree: &Node, source: &Source) -> Vec<SceneError> {
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
    errors.collect()
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
