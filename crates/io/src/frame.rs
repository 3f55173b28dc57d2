//! A frame: the state of all particles at one instant, as named columns.

use std::collections::HashSet;
use std::fmt;

/// The values of one column, one per particle.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnData {
    /// Identifiers, phases, counts.
    U32(Vec<u32>),
    /// Scalars.
    F32(Vec<f32>),
    /// Vectors x, y, z.
    Vec3(Vec<[f32; 3]>),
}

/// The type of a column without its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// See [`ColumnData::U32`].
    U32,
    /// See [`ColumnData::F32`].
    F32,
    /// See [`ColumnData::Vec3`].
    Vec3,
}

impl fmt::Display for ColumnKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::U32 => "u32",
            Self::F32 => "f32",
            Self::Vec3 => "vec3",
        })
    }
}

impl ColumnData {
    /// Returns the number of particles.
    pub fn len(&self) -> usize {
        match self {
            Self::U32(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::Vec3(values) => values.len(),
        }
    }

    /// Returns true if there is no particle.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the type of the values.
    pub fn kind(&self) -> ColumnKind {
        match self {
            Self::U32(_) => ColumnKind::U32,
            Self::F32(_) => ColumnKind::F32,
            Self::Vec3(_) => ColumnKind::Vec3,
        }
    }

    /// Returns the values as they are in memory, which is little-endian (see the check below).
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::U32(values) => bytemuck::cast_slice(values),
            Self::F32(values) => bytemuck::cast_slice(values),
            Self::Vec3(values) => bytemuck::cast_slice(values),
        }
    }
}

// Recordings, checkpoints and hashes use the memory representation of columns, like the buffers of every
// Vulkan device.
#[cfg(not(target_endian = "little"))]
compile_error!("frazil-io needs a little-endian host");

/// One named property of all particles.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// An identifier: letters, digits and `_`, not beginning with a digit, so that it needs no quotes in any
    /// format.
    pub name: String,
    /// Unit in SI, such as `m/s`; empty if there is none.
    pub unit: String,
    /// The values.
    pub data: ColumnData,
}

impl Column {
    /// Makes a column; its name and unit are checked when it is added to a [`Frame`].
    pub fn new(name: impl Into<String>, unit: impl Into<String>, data: ColumnData) -> Self {
        Self { name: name.into(), unit: unit.into(), data }
    }

    /// Makes a column of `u32`.
    pub fn u32(name: impl Into<String>, unit: impl Into<String>, values: Vec<u32>) -> Self {
        Self::new(name, unit, ColumnData::U32(values))
    }

    /// Makes a column of `f32`.
    pub fn f32(name: impl Into<String>, unit: impl Into<String>, values: Vec<f32>) -> Self {
        Self::new(name, unit, ColumnData::F32(values))
    }

    /// Makes a column of vectors.
    pub fn vec3(name: impl Into<String>, unit: impl Into<String>, values: Vec<[f32; 3]>) -> Self {
        Self::new(name, unit, ColumnData::Vec3(values))
    }

    /// Returns the name with its unit in brackets, as in headers: `velocity [m/s]`.
    pub fn label(&self) -> String {
        label(&self.name, &self.unit)
    }
}

/// Returns a name with its unit in brackets; the name alone if there is no unit.
pub(crate) fn label(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name} [{unit}]") }
}

/// Returns true if a text can be written between brackets in a CSV header, an XML attribute and a PLY
/// comment.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() || "[],\"".contains(c)) && text.trim() == text
}

/// Reason why columns do not make a frame, or a frame has no such column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// Columns of different lengths.
    #[error("column {column:?} has {found} value(s), expected {expected} as in \"id\"")]
    Length {
        /// The column that differs.
        column: String,
        /// Particles in `id`.
        expected: usize,
        /// Values found.
        found: usize,
    },
    /// A required column that is missing.
    #[error("no column {column:?} of type {expected}; the frame has {available}")]
    Missing {
        /// The column's name.
        column: String,
        /// The required type.
        expected: ColumnKind,
        /// The available columns, comma separated.
        available: String,
    },
    /// A column of another type than requested.
    #[error("column {column:?} is of type {found}, expected {expected}")]
    Kind {
        /// The column's name.
        column: String,
        /// The requested type.
        expected: ColumnKind,
        /// The type found.
        found: ColumnKind,
    },
    /// Two columns of the same name.
    #[error("column {column:?} occurs twice; names must differ")]
    Duplicate {
        /// The shared name.
        column: String,
    },
    /// A name that is not an identifier.
    #[error("column name {found:?}: expected letters, digits and '_', not beginning with a digit")]
    Name {
        /// The name.
        found: String,
    },
    /// A unit that cannot be written in a header.
    #[error(
        "unit {found:?} of column {column:?}: expected no brackets, commas, quotes, line breaks or outer \
         blanks"
    )]
    Unit {
        /// The column's name.
        column: String,
        /// The unit.
        found: String,
    },
}

pub(crate) fn check_columns(columns: &[Column], expected: usize) -> Result<(), FrameError> {
    let mut seen = HashSet::new();
    for Column { name, unit, data } in columns {
        let identifier = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if !identifier {
            return Err(FrameError::Name { found: name.clone() });
        }
        if !is_plain(unit) {
            return Err(FrameError::Unit { column: name.clone(), found: unit.clone() });
        }
        if !seen.insert(name.as_str()) {
            return Err(FrameError::Duplicate { column: name.clone() });
        }
        if data.len() != expected {
            return Err(FrameError::Length { column: name.clone(), expected, found: data.len() });
        }
    }
    Ok(())
}

/// The state of all particles, and of rigid bodies among them, at one instant.
///
/// Invariant, ensured by [`Frame::new`]: all columns have the same length, names are unique identifiers, and
/// `position` (vectors) and `id` (`u32`) are among them.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    step: u64,
    time_s: f64,
    columns: Vec<Column>,
    bodies: Vec<Column>,
}

impl Frame {
    /// Checks the columns and makes a frame of them, in the given order.
    ///
    /// # Errors
    /// [`FrameError`] if `position` or `id` is missing or of another type, lengths differ, a name is not an
    /// identifier or not unique, or a unit cannot be written in a header.
    pub fn new(step: u64, time_s: f64, columns: Vec<Column>) -> Result<Self, FrameError> {
        let frame = Self { step, time_s, columns, bodies: Vec::new() };
        let expected = frame.u32("id")?.len();
        frame.vec3("position")?;
        check_columns(&frame.columns, expected)?;
        Ok(frame)
    }

    /// Adds columns of rigid bodies, which have their own common length.
    ///
    /// # Errors
    /// [`FrameError`] if lengths differ, a name is not an identifier or not unique, or a unit cannot be
    /// written in a header.
    pub fn with_bodies(self, bodies: Vec<Column>) -> Result<Self, FrameError> {
        check_columns(&bodies, bodies.first().map_or(0, |column| column.data.len()))?;
        Ok(Self { bodies, ..self })
    }

    /// Returns the columns of rigid bodies, such as pieces of slabs; empty if there are no bodies.
    pub fn bodies(&self) -> &[Column] {
        &self.bodies
    }

    /// Returns a vector column of rigid bodies, if it exists.
    pub fn body_vec3(&self, name: &str) -> Option<&[[f32; 3]]> {
        match &self.bodies.iter().find(|column| column.name == name)?.data {
            ColumnData::Vec3(values) => Some(values),
            _ => None,
        }
    }

    /// Returns the number of steps since the start of the simulation.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Returns the simulated time in seconds.
    pub fn time_s(&self) -> f64 {
        self.time_s
    }

    /// Returns the columns, in the order given.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the columns by value.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// Returns the number of particles.
    pub fn len(&self) -> usize {
        self.ids().len()
    }

    /// Returns true if there is no particle.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the column of that name, if it exists.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Returns the positions in metres.
    pub fn positions(&self) -> &[[f32; 3]] {
        self.vec3("position").expect("Frame::new refuses a frame without positions")
    }

    /// Returns the ids; a particle keeps its id for life.
    pub fn ids(&self) -> &[u32] {
        self.u32("id").expect("Frame::new refuses a frame without ids")
    }

    /// Returns the frame with its particles in the order of their ids; those with equal ids keep their order.
    pub fn sorted_by_id(mut self) -> Self {
        let ids = self.ids();
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by_key(|&i| ids[i]);
        for column in &mut self.columns {
            match &mut column.data {
                ColumnData::U32(values) => *values = order.iter().map(|&i| values[i]).collect(),
                ColumnData::F32(values) => *values = order.iter().map(|&i| values[i]).collect(),
                ColumnData::Vec3(values) => *values = order.iter().map(|&i| values[i]).collect(),
            }
        }
        self
    }

    /// Returns the values of a `u32` column.
    ///
    /// # Errors
    /// [`FrameError::Missing`] or [`FrameError::Kind`].
    pub fn u32(&self, name: &str) -> Result<&[u32], FrameError> {
        match self.data(name, ColumnKind::U32)? {
            ColumnData::U32(values) => Ok(values),
            other => Err(wrong_kind(name, ColumnKind::U32, other)),
        }
    }

    /// Returns the values of an `f32` column.
    ///
    /// # Errors
    /// [`FrameError::Missing`] or [`FrameError::Kind`].
    pub fn f32(&self, name: &str) -> Result<&[f32], FrameError> {
        match self.data(name, ColumnKind::F32)? {
            ColumnData::F32(values) => Ok(values),
            other => Err(wrong_kind(name, ColumnKind::F32, other)),
        }
    }

    /// Returns the values of a vector column.
    ///
    /// # Errors
    /// [`FrameError::Missing`] or [`FrameError::Kind`].
    pub fn vec3(&self, name: &str) -> Result<&[[f32; 3]], FrameError> {
        match self.data(name, ColumnKind::Vec3)? {
            ColumnData::Vec3(values) => Ok(values),
            other => Err(wrong_kind(name, ColumnKind::Vec3, other)),
        }
    }

    fn data(&self, name: &str, expected: ColumnKind) -> Result<&ColumnData, FrameError> {
        self.column(name).map(|column| &column.data).ok_or_else(|| FrameError::Missing {
            column: name.to_owned(),
            expected,
            available: list(self.columns.iter().map(|column| column.name.as_str())),
        })
    }
}

fn wrong_kind(column: &str, expected: ColumnKind, found: &ColumnData) -> FrameError {
    FrameError::Kind { column: column.to_owned(), expected, found: found.kind() }
}

/// Joins names for an error message: comma separated, "nothing" if there are none.
pub(crate) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valid() -> Vec<Column> {
        vec![Column::vec3("position", "m", vec![[0.0; 3]; 2]), Column::u32("id", "", vec![3, 4])]
    }

    fn error_with(change: impl FnOnce(&mut Vec<Column>)) -> String {
        let mut columns = valid();
        change(&mut columns);
        Frame::new(0, 0.0, columns).unwrap_err().to_string()
    }

    #[test]
    fn frame_errors_name_the_column_and_the_problem() {
        assert!(Frame::new(0, 0.0, valid()).is_ok());
        assert_eq!(
            error_with(|columns| drop(columns.remove(0))),
            "no column \"position\" of type vec3; the frame has id"
        );
        assert_eq!(error_with(Vec::clear), "no column \"id\" of type u32; the frame has nothing");
        assert_eq!(
            error_with(|columns| columns[1] = Column::f32("id", "", vec![0.0; 2])),
            "column \"id\" is of type f32, expected u32"
        );
        assert_eq!(
            error_with(|columns| columns.push(Column::f32("density", "kg/m^3", vec![1000.0]))),
            "column \"density\" has 1 value(s), expected 2 as in \"id\""
        );
        assert_eq!(
            error_with(|columns| columns.push(Column::u32("id", "", vec![0; 2]))),
            "column \"id\" occurs twice; names must differ"
        );
        for name in ["", "2nd", "a b", "größe", "a\n"] {
            assert!(
                error_with(|columns| columns.push(Column::u32(name, "", vec![0; 2]))).contains("column name")
            );
        }
        for unit in ["m,s", "[m]", "m\n", " m", "\"m\""] {
            assert!(error_with(|columns| columns.push(Column::u32("a", unit, vec![0; 2]))).contains("unit"));
        }
    }

    #[test]
    fn sorting_by_id_moves_all_columns_of_particles() {
        let mut columns = valid();
        columns[0] = Column::vec3("position", "m", vec![[1.0; 3], [2.0; 3]]);
        columns[1] = Column::u32("id", "", vec![9, 4]);
        columns.push(Column::f32("temperature", "°C", vec![-10.0, 0.5]));
        let bodies = vec![Column::u32("number", "", vec![7, 6])];
        let frame = Frame::new(1, 0.5, columns).unwrap().with_bodies(bodies.clone()).unwrap().sorted_by_id();
        assert_eq!((frame.ids(), frame.f32("temperature").unwrap()), (&[4, 9][..], &[0.5, -10.0][..]));
        assert_eq!((frame.positions(), frame.bodies()), (&[[2.0; 3], [1.0; 3]][..], &bodies[..]));
        assert_eq!((frame.step(), frame.time_s()), (1, 0.5));
    }

    #[test]
    fn accessors_return_the_values_or_an_error() {
        let mut columns = valid();
        columns.push(Column::f32("temperature", "°C", vec![-10.0, 0.5]));
        let frame = Frame::new(7, 0.25, columns).unwrap();
        assert_eq!((frame.step(), frame.time_s(), frame.len()), (7, 0.25, 2));
        assert_eq!(frame.ids(), [3, 4]);
        assert_eq!(frame.f32("temperature").unwrap(), [-10.0, 0.5]);
        assert_eq!(frame.column("temperature").unwrap().label(), "temperature [°C]");
        assert!(matches!(frame.vec3("temperature"), Err(FrameError::Kind { .. })));
        assert!(matches!(frame.f32("density"), Err(FrameError::Missing { .. })));
    }
}
