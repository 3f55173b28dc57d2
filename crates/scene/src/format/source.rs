//! Source locations of a scene's values.

use crate::format::text::shortened;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Location in a scene's source, as precisely as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// File, or the name given to the text.
    pub origin: Arc<str>,
    /// Position in it.
    pub place: Place,
}

/// Position of a value in its source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The scene as a whole.
    Whole,
    /// The text, at a line and a column. Both count from 1, columns in characters.
    Text {
        /// Line.
        line: u32,
        /// Column.
        column: u32,
    },
    /// A `--set` argument.
    Override {
        /// Its index among them, from 0.
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
            Place::Override { argument, .. } => write!(f, "{origin} with --set {}", shortened(argument)),
        }
    }
}

/// Locations of all keys of a scene. They are no part of a scene's value: all sources compare equal.
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

    /// Returns the location of the scene as a whole.
    pub(crate) fn whole(&self) -> Location {
        self.at(Place::Whole)
    }

    /// Returns true if `key` was written.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    /// Returns the location of `key`: its last override or that of a key inside it, else its position in the
    /// text, else that of the nearest enclosing table.
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

    /// Returns the location of a violated constraint between `keys`: the last override of any, else the
    /// position of the first.
    pub(crate) fn locate_between(&self, keys: &[&str]) -> Location {
        match keys.iter().filter_map(|key| self.last_override(key)).max_by_key(|(turn, _)| *turn) {
            Some((_, place)) => self.at(place.clone()),
            None => keys.first().map_or_else(|| self.whole(), |key| self.locate(key)),
        }
    }

    /// Returns the location of a place.
    pub(crate) fn at(&self, place: Place) -> Location {
        Location { origin: self.origin.clone(), place }
    }

    /// Returns true if `key` or a key inside it was overridden.
    pub(crate) fn is_overridden(&self, key: &str) -> bool {
        self.last_override(key).is_some()
    }

    /// Returns the last override of `key` or of a key inside it, with its index.
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
