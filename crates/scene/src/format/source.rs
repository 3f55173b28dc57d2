//! Where a scene's values were written.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Where something in a scene was written, as precisely as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file, or the name given to the text.
    pub origin: Arc<str>,
    /// The place in it.
    pub place: Place,
}

/// What wrote a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// Nothing in particular: the scene as a whole.
    Whole,
    /// The text, at a line and a column. Both count from 1, columns in characters.
    Text {
        /// Line.
        line: u32,
        /// Column.
        column: u32,
    },
    /// A `--set`.
    Override {
        /// Its turn among them, from 0.
        turn: usize,
        /// `table.key=value`.
        argument: Arc<str>,
    },
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = &self.origin;
        match &self.place {
            Place::Whole => write!(f, "{origin}"),
            Place::Text { line, column } => write!(f, "{origin}:{line}:{column}"),
            Place::Override { argument, .. } => write!(f, "{origin} with --set {argument}"),
        }
    }
}

/// The place of every key of a scene. Where a value was written is not part of what it is: all sources are equal.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    origin: Arc<str>,
    places: Arc<BTreeMap<String, Place>>,
}

impl Default for Source {
    fn default() -> Self {
        Self::new("scene", BTreeMap::new())
    }
}

impl PartialEq for Source {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Source {
    pub(crate) fn new(origin: &str, places: BTreeMap<String, Place>) -> Self {
        Self { origin: origin.into(), places: Arc::new(places) }
    }

    /// The scene as a whole.
    pub(crate) fn whole(&self) -> Location {
        self.at(Place::Whole)
    }

    /// Returns true if `key` was written.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    /// Where `key` was written: by the last override of it or of something inside it, else in the text, else where the
    /// nearest table around it was.
    pub(crate) fn locate(&self, key: &str) -> Location {
        if let Some((_, place)) = self.last_override(key) {
            return self.at(place.clone());
        }
        let mut path = key;
        loop {
            match (self.places.get(path), path.rsplit_once('.')) {
                (Some(place), _) => return self.at(place.clone()),
                (None, Some((parent, _))) => path = parent,
                (None, None) => return self.whole(),
            }
        }
    }

    /// Where a constraint between `keys` was broken: at the last override of any, else where the first is written.
    pub(crate) fn locate_between(&self, keys: &[&str]) -> Location {
        match keys.iter().filter_map(|key| self.last_override(key)).max_by_key(|(turn, _)| *turn) {
            Some((_, place)) => self.at(place.clone()),
            None => keys.first().map_or_else(|| self.whole(), |key| self.locate(key)),
        }
    }

    fn at(&self, place: Place) -> Location {
        Location { origin: self.origin.clone(), place }
    }

    /// The last override of `key` or of something inside it, with its turn.
    fn last_override(&self, key: &str) -> Option<(usize, &Place)> {
        let inside =
            |path: &str| path == key || path.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
        let from_key = self.places.range(key.to_owned()..).take_while(|(path, _)| path.starts_with(key));
        from_key
            .filter_map(|(path, place)| match place {
                Place::Override { turn, .. } if inside(path) => Some((*turn, place)),
                _ => None,
            })
            .max_by_key(|(turn, _)| *turn)
    }
}
