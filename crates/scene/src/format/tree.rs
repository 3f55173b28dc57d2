//! The scene's text as a tree of values with their source locations.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::SceneError;
use crate::format::source::{Location, Place};

pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    Boolean(bool),
    Integer(i64),
    Float(f64),
    String(String),
    /// A type that no scene uses: a date, or JSON's null.
    Other(&'static str),
    Array(Vec<Node>),
    /// Entries in the order of the text.
    Table(Vec<(String, Node)>),
}

impl Value {
    /// Returns the name of the node's type for error messages.
    fn kind(&self) -> &'static str {
        match self {
            Self::Boolean(_) => "a boolean",
            Self::Integer(_) | Self::Float(_) => "a number",
            Self::String(_) => "a string",
            Self::Other(kind) => kind,
            Self::Array(_) => "an array",
            Self::Table(_) => "a table",
        }
    }
}

impl Node {
    /// Returns the value of an entry, if this is a table that has it.
    pub(crate) fn entry(&self, name: &str) -> Option<&Self> {
        let Value::Table(entries) = &self.value else { return None };
        entries.iter().find(|(key, _)| key == name).map(|(_, node)| node)
    }

    /// Returns the value at a path of names joined by dots, through tables only.
    pub(crate) fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |node, name| node.entry(name))
    }

    /// Takes an entry out of the table, if this is a table that has it.
    pub(crate) fn take_entry(&mut self, name: &str) -> Option<Self> {
        let Value::Table(entries) = &mut self.value else { return None };
        let idx = entries.iter().position(|(key, _)| key == name)?;
        Some(entries.remove(idx).1)
    }

    /// Removes the entry at a path of names joined by dots. Returns false if there is none; elements of
    /// arrays are never removed, which would move those behind them.
    pub(crate) fn remove(&mut self, path: &str) -> bool {
        let Some((name, rest)) = path.split_once('.') else { return self.take_entry(path).is_some() };
        let child = match &mut self.value {
            Value::Table(entries) => entries.iter_mut().find(|(key, _)| key == name).map(|(_, node)| node),
            Value::Array(elements) => name.parse::<usize>().ok().and_then(|idx| elements.get_mut(idx)),
            _ => None,
        };
        child.is_some_and(|child| child.remove(rest))
    }

    /// Parses a whole scene file.
    pub(crate) fn parse(text: &str, origin: &str) -> Result<Self, SceneError> {
        let lines = Lines::of(text);
        let place_at = |offset| lines.place(offset);
        let syntax = |(offset, problem): (usize, String)| SceneError::Syntax {
            language: "TOML",
            at: Location { origin: origin.into(), place: lines.place(offset) },
            problem,
        };
        let table = DeTable::parse(text)
            .map_err(|e| syntax((e.span().map_or(0, |span| span.start), e.message().replace('\n', ", "))))?;
        convert(DeValue::Table(table.into_inner()), 0, &place_at).map_err(syntax)
    }

    /// Parses a scene written as JSON, whose values have no location of their own.
    pub(crate) fn parse_json(text: &str, origin: &str) -> Result<Self, SceneError> {
        let syntax = |place, problem| SceneError::Syntax {
            language: "JSON",
            at: Location { origin: origin.into(), place },
            problem,
        };
        let value = serde_json::from_str(text).map_err(|e| {
            let place = Place::Text { line: e.line() as u32, column: e.column() as u32 };
            syntax(place, e.to_string())
        })?;
        convert_json(value).map_err(|problem| syntax(Place::Whole, problem))
    }

    /// Applies the `turn`-th `--set` argument, `table.key=value`. The value is parsed as TOML; text that is
    /// not TOML, and does not look like an attempt at it, is taken as a string.
    pub(crate) fn apply_override(&mut self, turn: usize, argument: &str) -> Result<(), SceneError> {
        let refuse = |problem: String| SceneError::Override { argument: argument.to_owned(), problem };
        let (key, text) = argument
            .split_once('=')
            .ok_or_else(|| refuse("found no '=', expected table.key=value".to_owned()))?;
        let (key, text) = (key.trim(), text.trim());
        let path: Vec<&str> = key.split('.').collect();
        if path.iter().any(|segment| segment.is_empty()) {
            return Err(refuse(format!("found the key \"{key}\", expected names joined by single dots")));
        }
        if path.len() > MAX_DEPTH {
            return Err(refuse(format!("found a key of {} names, expected at most {MAX_DEPTH}", path.len())));
        }
        if text.is_empty() {
            return Err(refuse("found no value after '=', expected table.key=value".to_owned()));
        }
        let place = Place::Override { turn, argument: argument.into() };
        let value = match DeValue::parse(text) {
            Ok(value) => {
                convert(value.into_inner(), 0, &|_| place.clone()).map_err(|(_, problem)| refuse(problem))?
            }
            Err(error) if text.starts_with(['[', '{', '"', '\'']) => {
                return Err(refuse(format!(
                    "the value is not valid TOML: {}",
                    error.message().replace('\n', ", ")
                )));
            }
            Err(_) => Node { place: place.clone(), value: Value::String(text.to_owned()) },
        };
        self.set(&path, 0, value).map_err(refuse)
    }

    fn set(&mut self, path: &[&str], depth: usize, value: Node) -> Result<(), String> {
        let name = path[depth];
        let last = depth + 1 == path.len();
        let kind = self.value.kind();
        let child = match &mut self.value {
            Value::Table(entries) => {
                let at = entries.iter().position(|(key, _)| key == name).unwrap_or_else(|| {
                    entries.push((
                        name.to_owned(),
                        Node { place: value.place.clone(), value: Value::Table(Vec::new()) },
                    ));
                    entries.len() - 1
                });
                &mut entries[at].1
            }
            Value::Array(elements) => {
                let n = elements.len();
                name.parse::<usize>().ok().and_then(|index| elements.get_mut(index)).ok_or_else(|| {
                    let array = path[..depth].join(".");
                    format!("{array} has {n} elements, expected an index from 0 below {n}, found \"{name}\"")
                })?
            }
            _ => {
                let leaf = path[..depth].join(".");
                return Err(format!("{leaf} is {kind}, which holds no \"{name}\""));
            }
        };
        if last {
            *child = value;
            Ok(())
        } else {
            child.set(path, depth + 1, value)
        }
    }

    /// Returns the location of every value in the tree by its path.
    pub(crate) fn places(&self) -> BTreeMap<String, Place> {
        let mut places = BTreeMap::new();
        self.collect_places("", &mut places);
        places
    }

    fn collect_places(&self, path: &str, places: &mut BTreeMap<String, Place>) {
        if !path.is_empty() {
            places.insert(path.to_owned(), self.place.clone());
        }
        match &self.value {
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    element.collect_places(&join(path, &index.to_string()), places);
                }
            }
            Value::Table(entries) => {
                for (name, entry) in entries {
                    entry.collect_places(&join(path, name), places);
                }
            }
            _ => {}
        }
    }
}

/// Returns `parent.name`, or `name` at the root.
pub(crate) fn join(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}

/// Maximum nesting depth, which no scene reaches; a deeper override would only exhaust the stack.
const MAX_DEPTH: usize = 32;

/// Converts `value`, which begins at byte `offset` of its text, to a tree; an error comes with its byte
/// offset.
fn convert(
    value: DeValue<'_>,
    offset: usize,
    place_at: &dyn Fn(usize) -> Place,
) -> Result<Node, (usize, String)> {
    let value = match value {
        DeValue::Boolean(b) => Value::Boolean(b),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(n) => Value::Integer(n),
            Err(_) => {
                return Err((offset, format!("found {number}, expected a whole number of at most 64 bits")));
            }
        },
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(x) => Value::Float(x),
            Err(_) => return Err((offset, format!("found {number}, expected a number"))),
        },
        DeValue::String(text) => Value::String(text.into_owned()),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(elements) => {
            let convert_element = |element: Spanned<DeValue<'_>>| {
                let offset = element.span().start;
                convert(element.into_inner(), offset, place_at)
            };
            Value::Array(elements.into_iter().map(convert_element).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => {
            let mut entries: Vec<_> = table.into_iter().collect();
            entries.sort_by_key(|(key, _)| key.span().start);
            let convert_entry = |(key, entry): (Spanned<DeString<'_>>, Spanned<DeValue<'_>>)| {
                let node = convert(entry.into_inner(), key.span().start, place_at)?;
                Ok((key.into_inner().into_owned(), node))
            };
            Value::Table(entries.into_iter().map(convert_entry).collect::<Result<_, _>>()?)
        }
    };
    Ok(Node { place: place_at(offset), value })
}

fn convert_json(value: serde_json::Value) -> Result<Node, String> {
    use serde_json::Value as Json;
    let value = match value {
        Json::Null => Value::Other("null"),
        Json::Bool(b) => Value::Boolean(b),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(n), _) => Value::Integer(n),
            (None, Some(x)) if number.is_f64() => Value::Float(x),
            _ => return Err(format!("found {number}, expected a whole number of at most 64 bits")),
        },
        Json::String(text) => Value::String(text),
        Json::Array(elements) => {
            Value::Array(elements.into_iter().map(convert_json).collect::<Result<_, _>>()?)
        }
        Json::Object(entries) => {
            let convert_entry = |(name, entry)| Ok((name, convert_json(entry)?));
            Value::Table(entries.into_iter().map(convert_entry).collect::<Result<_, String>>()?)
        }
    };
    Ok(Node { place: Place::Whole, value })
}

/// Converts byte offsets to lines and columns.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts[line - 1];
        let column = 1 + self.text.get(start..offset).map_or(offset - start, |before| before.chars().count());
        // Scene files are bounded far below 2³² bytes.
        Place::Text { line: line as u32, column: column as u32 }
    }
}
