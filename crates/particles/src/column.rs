//! One property of all particles of a phase.

use crate::display::Display;
use bytemuck::Pod;
use frazil_vk::{Buffer, Device, DoubleBuffer, Result};
use std::borrow::Cow;
use std::ops::Deref;

/// Type of a column's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// One unsigned integer.
    U32,
    /// One floating-point number.
    F32,
    /// Three floating-point numbers.
    Vec3,
    /// A matrix with this many entries.
    Matrix(u32),
    /// One 32-bit word of a record: for pictures only; files take a column of its own.
    Component {
        /// Size of a record in 32-bit words.
        stride: u32,
        /// Index of the word in the record.
        index: u32,
    },
}

impl ColumnKind {
    /// Returns the size of an element in 32-bit words.
    pub fn words(self) -> u32 {
        match self {
            Self::U32 | Self::F32 => 1,
            Self::Vec3 => 3,
            Self::Matrix(entries) => entries,
            Self::Component { stride, .. } => stride,
        }
    }
}

/// A type that a column can hold.
pub trait Element: Pod {
    /// Column kind of this type.
    const KIND: ColumnKind;
}

impl Element for u32 {
    const KIND: ColumnKind = ColumnKind::U32;
}

impl Element for f32 {
    const KIND: ColumnKind = ColumnKind::F32;
}

impl Element for [f32; 3] {
    const KIND: ColumnKind = ColumnKind::Vec3;
}

/// A property of all particles, double-buffered; it dereferences to its buffers. Clones are the same column.
#[derive(Debug)]
pub struct Column<T> {
    name: &'static str,
    unit: &'static str,
    kind: ColumnKind,
    buffers: DoubleBuffer<T>,
}

/// Type-erased view of a column: its name, unit, kind, and the words of its front buffer.
#[derive(Clone, Debug)]
pub struct ColumnView {
    /// Name, as in files and on the command line.
    pub name: Cow<'static, str>,
    /// SI unit, `1` for none.
    pub unit: Cow<'static, str>,
    /// Type of the elements.
    pub kind: ColumnKind,
    /// The front buffer (the state), as 32-bit words.
    pub words: Buffer<u32>,
    /// True if it has an element for each particle, false for an array of another length.
    pub is_of_particles: bool,
    /// Display settings, where the owner states any.
    pub display: Option<Display>,
}

impl ColumnView {
    /// Views a buffer as a column without display settings.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        unit: impl Into<Cow<'static, str>>,
        kind: ColumnKind,
        words: Buffer<u32>,
    ) -> Self {
        let (name, unit) = (name.into(), unit.into());
        Self { name, unit, kind, words, is_of_particles: true, display: None }
    }

    /// Sets how the column is displayed.
    pub fn shown_as(self, display: Display) -> Self {
        Self { display: Some(display), ..self }
    }
}

impl<T: Element> Column<T> {
    /// Makes a column of undefined contents.
    ///
    /// # Errors
    /// Out of memory, or a size beyond what the device can bind.
    pub fn new(device: &Device, name: &'static str, unit: &'static str, capacity: usize) -> Result<Self> {
        let buffers = DoubleBuffer::new(device, name, capacity)?;
        Ok(Self { name, unit, kind: T::KIND, buffers })
    }
}

impl Column<f32> {
    /// Makes a column of matrices with this many entries each, of undefined contents.
    ///
    /// # Errors
    /// Out of memory, or a size beyond what the device can bind.
    pub fn of_matrices(
        device: &Device,
        name: &'static str,
        unit: &'static str,
        entries: u32,
        capacity: usize,
    ) -> Result<Self> {
        let column = Self::new(device, name, unit, entries as usize * capacity)?;
        Ok(Self { kind: ColumnKind::Matrix(entries), ..column })
    }
}

impl<T: Pod> Column<T> {
    /// Makes a column of one buffer, which stands for its back, too.
    pub(crate) fn single(
        name: &'static str,
        unit: &'static str,
        kind: ColumnKind,
        buffer: Buffer<T>,
    ) -> Self {
        Self { name, unit, kind, buffers: DoubleBuffer::single(buffer) }
    }

    /// Returns the name, as in files and on the command line.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the SI unit, `1` for none.
    pub fn unit(&self) -> &'static str {
        self.unit
    }

    /// Returns the type of the elements.
    pub fn kind(&self) -> ColumnKind {
        self.kind
    }

    /// Returns the same column as 32-bit words.
    pub fn words(&self) -> Column<u32> {
        Column { name: self.name, unit: self.unit, kind: self.kind, buffers: self.buffers.cast() }
    }

    /// Returns a view of the front buffer.
    pub fn view(&self) -> ColumnView {
        ColumnView::new(self.name, self.unit, self.kind, self.front().cast())
    }
}

impl<T> Clone for Column<T> {
    fn clone(&self) -> Self {
        Self { name: self.name, unit: self.unit, kind: self.kind, buffers: self.buffers.clone() }
    }
}

impl<T> Deref for Column<T> {
    type Target = DoubleBuffer<T>;

    fn deref(&self) -> &DoubleBuffer<T> {
        &self.buffers
    }
}
