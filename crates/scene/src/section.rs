//! Sections of the scene file that solvers own: their types, and their values in a scene.

use std::any::Any;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::format::error::SceneError;
use crate::format::reader;
use crate::format::source::Source;
use crate::format::tree::Node;

/// A top-level table of the scene file that belongs to a solver.
///
/// The type is plain data that serde reads and writes; `#[serde(deny_unknown_fields)]` makes misspelt keys
/// errors. Ranges of numbers stand at their fields, `#[schemars(range(min = 0, max = 1))]` or
/// `#[schemars(extend("exclusiveMinimum" = 0))]`; the solver's [`validate`](crate::SolverScene::validate)
/// checks values against each other.
pub trait Section:
    Any + Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema + Send + Sync
{
    /// Name of the table.
    const NAME: &'static str;
    /// Description of the table in the JSON schema.
    const DESCRIPTION: &'static str;
}

type ReadSection = fn(&mut Node, &Source) -> Result<Box<dyn AnySection>, SceneError>;

type MakeSection = fn() -> Box<dyn AnySection>;

/// Declaration of a section by a solver: [`required`](Self::required) in its scenes,
/// [`optional`](Self::optional), or present in all of them [`with defaults`](Self::with_defaults). Solvers
/// may share a section.
#[derive(Clone, Copy)]
pub struct SectionType {
    name: &'static str,
    is_required: bool,
    /// Makes the section of scenes that do not write it, if those have it, too.
    make_default: Option<MakeSection>,
    read: ReadSection,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

impl SectionType {
    /// Declares a section that scenes of its solver must have.
    pub const fn required<T: Section>() -> Self {
        Self { is_required: true, ..Self::optional::<T>() }
    }

    /// Declares a section that scenes of its solver may have.
    pub const fn optional<T: Section>() -> Self {
        Self {
            name: T::NAME,
            is_required: false,
            make_default: None,
            read: read_section::<T>,
            schema: section_schema::<T>,
        }
    }

    /// Declares a section all of whose keys have defaults: scenes of its solver that do not write it have it
    /// with these.
    pub const fn with_defaults<T: Section + Default>() -> Self {
        Self { make_default: Some(default_section::<T>), ..Self::optional::<T>() }
    }

    /// Returns the name of the section's table.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns true if scenes of the section's solver must have it.
    pub fn is_required(&self) -> bool {
        self.is_required
    }

    /// Returns the JSON schema of the section, with definitions left in `generator`.
    pub(crate) fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.schema)(generator)
    }
}

impl fmt::Debug for SectionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SectionType")
            .field("name", &self.name)
            .field("is_required", &self.is_required)
            .finish_non_exhaustive()
    }
}

fn read_section<T: Section>(node: &mut Node, source: &Source) -> Result<Box<dyn AnySection>, SceneError> {
    Ok(Box::new(reader::read::<T>(node, T::NAME, &[], source)?))
}

fn default_section<T: Section + Default>() -> Box<dyn AnySection> {
    Box::new(T::default())
}

fn section_schema<T: Section>(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = generator.subschema_for::<Option<T>>();
    schema.insert("description".to_owned(), T::DESCRIPTION.into());
    schema
}

/// Sections of a scene, at most one of each type, in the order in which they are written.
#[derive(Clone, Default)]
pub(crate) struct Sections {
    list: Vec<Box<dyn AnySection>>,
}

impl Sections {
    /// Reads the sections of `own`, those of the scene's solver, that the root table has, and adds the
    /// defaults of others among them. Removes the sections of `types` from the table; `refuse_stray` makes
    /// the error of one that is not the solver's. Returns errors beside the sections without an error.
    pub(crate) fn take(
        root: &mut Node,
        types: impl IntoIterator<Item = SectionType>,
        own: &[SectionType],
        source: &Source,
        refuse_stray: impl Fn(&'static str) -> SceneError,
    ) -> (Self, Vec<SceneError>) {
        let (mut list, mut errors) = (Vec::new(), Vec::new());
        for section in types {
            let is_own = own.iter().any(|other| other.name == section.name);
            match (root.take_entry(section.name), section.make_default) {
                (Some(_), _) if !is_own => errors.push(refuse_stray(section.name)),
                (Some(mut node), _) => match (section.read)(&mut node, source) {
                    Ok(read) => list.push(read),
                    Err(error) => errors.push(error),
                },
                (None, Some(make_default)) if is_own => list.push(make_default()),
                (None, _) => {}
            }
        }
        (Self { list }, errors)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.list.iter().map(|section| section.name())
    }

    pub(crate) fn get<T: Section>(&self) -> Option<&T> {
        self.list.iter().find_map(|section| as_any(&**section).downcast_ref())
    }

    pub(crate) fn get_mut<T: Section>(&mut self) -> Option<&mut T> {
        self.list.iter_mut().find_map(|section| {
            let any: &mut dyn Any = &mut **section;
            any.downcast_mut()
        })
    }

    /// Adds a section and replaces an existing one of the same type.
    pub(crate) fn set<T: Section>(&mut self, value: T) {
        match self.get_mut() {
            Some(section) => *section = value,
            None => self.list.push(Box::new(value)),
        }
    }

    pub(crate) fn remove<T: Section>(&mut self) -> Option<T> {
        let idx = self.list.iter().position(|section| as_any(&**section).is::<T>())?;
        let section: Box<dyn Any> = self.list.remove(idx);
        section.downcast().ok().map(|section| *section)
    }
}

impl fmt::Debug for Sections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list.iter().map(|section| section.as_debug())).finish()
    }
}

/// Compares sections by type, in any order.
impl PartialEq for Sections {
    fn eq(&self, other: &Self) -> bool {
        let has_equal = |section: &dyn AnySection| other.list.iter().any(|theirs| section.equals(&**theirs));
        self.list.len() == other.list.len() && self.list.iter().all(|section| has_equal(&**section))
    }
}

/// Serializes the sections as a map from names to values, to be flattened into the scene.
impl Serialize for Sections {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.list.len()))?;
        for section in &self.list {
            map.serialize_entry(section.name(), section.as_serialize())?;
        }
        map.end()
    }
}

/// A [`Section`] whose type is known at run time only.
trait AnySection: Any + Send + Sync {
    fn name(&self) -> &'static str;
    fn to_box(&self) -> Box<dyn AnySection>;
    fn equals(&self, other: &dyn AnySection) -> bool;
    fn as_debug(&self) -> &dyn fmt::Debug;
    fn as_serialize(&self) -> &dyn erased_serde::Serialize;
}

impl<T: Section> AnySection for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn to_box(&self) -> Box<dyn AnySection> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn AnySection) -> bool {
        as_any(other).downcast_ref() == Some(self)
    }

    fn as_debug(&self) -> &dyn fmt::Debug {
        self
    }

    fn as_serialize(&self) -> &dyn erased_serde::Serialize {
        self
    }
}

impl Clone for Box<dyn AnySection> {
    fn clone(&self) -> Self {
        (**self).to_box()
    }
}

fn as_any(section: &dyn AnySection) -> &dyn Any {
    section
}
