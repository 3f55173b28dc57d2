//! Deserializes the scene's types from the tree, and reports every error with its key.

use std::fmt;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Expected, Unexpected, Visitor, value::StrDeserializer,
};

use crate::format::error::{MAX_ERRORS, SceneError, hint, one_of};
use crate::format::source::Source;
use crate::format::tree::{Node, Value, join};

/// Reads a value of type `T` from the `node` at `key`; `source` locates errors. `more` lists keys that the
/// table at `key` may have beside those of `T`.
///
/// Deserialization ends at the first error. So that all are reported, the key concerned is taken out of the
/// table, and the rest is read again.
pub(crate) fn read<T: DeserializeOwned>(
    node: &mut Node,
    key: &str,
    more: &[&str],
    source: &Source,
) -> Result<T, SceneError> {
    let mut errors = Vec::new();
    let mut removed: Vec<String> = Vec::new();
    loop {
        let error = match T::deserialize(Reader { node: &*node, key: key.to_owned() }) {
            Ok(value) => return SceneError::of(errors).map_or(Ok(value), Err),
            Err(error) => error,
        };
        let (wrong, error) = located(error, key, more, source);
        // A table may lack what was removed, or what a misspelt key was meant to be.
        let lacks = |removed: &String| join(removed, "").starts_with(&join(&wrong, ""));
        let follows = matches!(error, SceneError::MissingKey { .. }) && !errors.is_empty();
        let is_new = !follows && !removed.iter().any(lacks);
        if is_new {
            errors.push(error);
        }
        let path =
            if key.is_empty() { &wrong } else { wrong.strip_prefix(&join(key, "")).unwrap_or_default() };
        if !is_new || errors.len() == MAX_ERRORS || !node.remove(path) {
            return Err(SceneError::of(errors).expect("an error was found"));
        }
        removed.push(wrong);
    }
}

/// Returns the key of an error, and the error with its place.
fn located(error: ReadError, outermost: &str, more: &[&str], source: &Source) -> (String, SceneError) {
    let key = error.key.unwrap_or_default();
    match error.problem {
        Problem::UnknownKey { name, known } => {
            let more = if key == outermost { more } else { &[] };
            let hint = hint(&name, &[known, more].concat());
            let key = join(&key, &name);
            (key.clone(), SceneError::UnknownKey { at: source.locate(&key), key, hint })
        }
        Problem::MissingKey(name) => {
            let missing = join(&key, name);
            (missing.clone(), SceneError::MissingKey { at: source.locate(&key), key: missing })
        }
        Problem::Value { found, expected } => {
            (key.clone(), SceneError::Value { at: source.locate(&key), key, found, expected })
        }
    }
}

#[derive(Debug)]
struct ReadError {
    /// Path of the innermost value being read; set once, while an error propagates.
    key: Option<String>,
    problem: Problem,
}

#[derive(Debug)]
enum Problem {
    UnknownKey { name: String, known: &'static [&'static str] },
    MissingKey(&'static str),
    Value { found: String, expected: String },
}

impl From<Problem> for ReadError {
    fn from(problem: Problem) -> Self {
        Self { key: None, problem }
    }
}

impl ReadError {
    fn within(mut self, key: &str) -> Self {
        self.key.get_or_insert_with(|| key.to_owned());
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.problem)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Problem::Value { found: message.to_string(), expected: "a valid value".to_owned() }.into()
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Problem::Value { found: describe_found(found), expected: describe_expected(expected) }.into()
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(n: usize, expected: &dyn Expected) -> Self {
        Problem::Value { found: format!("an array of {n}"), expected: describe_expected(expected) }.into()
    }

    fn unknown_variant(found: &str, expected: &'static [&'static str]) -> Self {
        Problem::Value { found: format!("\"{found}\""), expected: one_of(expected) }.into()
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        Problem::UnknownKey { name: name.to_owned(), known }.into()
    }

    fn missing_field(name: &'static str) -> Self {
        Problem::MissingKey(name).into()
    }
}

fn describe_found(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(b) => b.to_string(),
        Unexpected::Unsigned(n) => n.to_string(),
        Unexpected::Signed(n) => n.to_string(),
        Unexpected::Float(x) => x.to_string().to_lowercase(),
        Unexpected::Str(text) => format!("\"{text}\""),
        Unexpected::Seq => "an array".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// Describes a type in TOML's terms: serde names Rust types, which the author of a scene does not know.
fn describe_expected(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "f64" => "a number".to_owned(),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" => "a whole number from 0".to_owned(),
        "a sequence" => "an array".to_owned(),
        _ if text.starts_with("struct ") => "a table".to_owned(),
        _ => text.replace("array of length", "array of"),
    }
}

/// Deserializes one node.
struct Reader<'a> {
    node: &'a Node,
    key: String,
}

impl<'de> de::Deserializer<'de> for Reader<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let key = self.key;
        match &self.node.value {
            Value::Boolean(b) => visitor.visit_bool(*b),
            Value::Integer(n) => visitor.visit_i64(*n),
            Value::Float(x) => visitor.visit_f64(*x),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Other(kind) => Err(de::Error::invalid_type(Unexpected::Other(kind), &visitor)),
            Value::Array(elements) => {
                let mut items = Elements { rest: elements.iter().enumerate(), key: &key };
                let expected = describe_expected(&visitor);
                visitor.visit_seq(&mut items).and_then(|value| match items.rest.len() {
                    0 => Ok(value),
                    _ => {
                        Err(Problem::Value { found: format!("an array of {}", elements.len()), expected }
                            .into())
                    }
                })
            }
            Value::Table(entries) => {
                visitor.visit_map(Entries { rest: entries.iter(), value: None, key: &key })
            }
        }
        .map_err(|error| error.within(&key))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let key = self.key;
        let mismatch = |found: String| ReadError::from(Problem::Value { found, expected: one_of(variants) });
        match &self.node.value {
            Value::String(name) => visitor.visit_enum(Choice { name, content: None, key: &key }),
            Value::Table(entries) => match entries.as_slice() {
                [(name, node)] => visitor.visit_enum(Choice { name, content: Some(node), key: &key }),
                [] => Err(mismatch("an empty table".to_owned())),
                // The first unknown name, or else the second choice, is taken as the mistake.
                [_, (second, _), ..] => {
                    let stray =
                        entries.iter().map(|(name, _)| name).find(|name| !variants.contains(&name.as_str()));
                    Err(match stray {
                        Some(name) => de::Error::unknown_field(name, variants),
                        None => mismatch(format!("both {} and {second}", entries[0].0)),
                    })
                }
            },
            Value::Boolean(b) => Err(mismatch(b.to_string())),
            Value::Integer(n) => Err(mismatch(n.to_string())),
            Value::Float(x) => Err(mismatch(x.to_string())),
            Value::Other(kind) => Err(mismatch((*kind).to_owned())),
            Value::Array(_) => Err(mismatch("an array".to_owned())),
        }
        .map_err(|error| error.within(&key))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Elements<'a, 'k> {
    rest: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
    key: &'k str,
}

impl<'a> de::SeqAccess<'a> for Elements<'a, '_> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, ReadError> {
        let Some((index, node)) = self.rest.next() else { return Ok(None) };
        seed.deserialize(Reader { node, key: join(self.key, &index.to_string()) }).map(Some)
    }
}

struct Entries<'a, 'k> {
    rest: std::slice::Iter<'a, (String, Node)>,
    value: Option<&'a (String, Node)>,
    key: &'k str,
}

impl<'a> de::MapAccess<'a> for Entries<'a, '_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        self.value = self.rest.next();
        match self.value {
            Some((name, _)) => seed.deserialize(StrDeserializer::new(name)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let (name, node) = self.value.take().expect("serde asks for a value only after its key");
        seed.deserialize(Reader { node, key: join(self.key, name) })
    }
}

/// A choice: `"name"` or `{ name = { … } }`.
struct Choice<'a, 'k> {
    name: &'a str,
    content: Option<&'a Node>,
    key: &'k str,
}

impl<'a, 'k> de::EnumAccess<'a> for Choice<'a, 'k> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'a>>(self, seed: V) -> Result<(V::Value, Self), ReadError> {
        let name: StrDeserializer<'a, ReadError> = StrDeserializer::new(self.name);
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'a> Choice<'a, '_> {
    fn content(&self, expected: &dyn fmt::Display) -> Result<Reader<'a>, ReadError> {
        match self.content {
            Some(node) => Ok(Reader { node, key: join(self.key, self.name) }),
            None => Err(Problem::Value {
                found: format!("\"{}\" alone", self.name),
                expected: format!("{{ {} = {expected} }}", self.name),
            }
            .into()),
        }
    }
}

impl<'a> de::VariantAccess<'a> for Choice<'a, '_> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        match self.content {
            None => Ok(()),
            Some(_) => {
                Err(Problem::Value { found: "a table".to_owned(), expected: format!("\"{}\"", self.name) }
                    .into())
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<T::Value, ReadError> {
        seed.deserialize(self.content(&"…")?)
    }

    fn tuple_variant<V: Visitor<'a>>(self, _len: usize, visitor: V) -> Result<V::Value, ReadError> {
        de::Deserializer::deserialize_any(self.content(&"[…]")?, visitor)
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let expected =
            format!("{{ {} }}", fields.iter().map(|f| format!("{f} = …")).collect::<Vec<_>>().join(", "));
        de::Deserializer::deserialize_any(self.content(&expected)?, visitor)
    }
}
