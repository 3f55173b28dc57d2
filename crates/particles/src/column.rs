//! One property of all particles of a phase.

use crate::display::Display;
use bytemuck::Pod;
use frazil_vk::{Buffer, Device, Result};
use std::borrow::Cow;

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

/// A property of all particles, double-buffered.
#[derive(Debug)]
pub struct Column<T> {
    name: &'static str,
    unit: &'static str,
    kind: ColumnKind,
    front: Buffer<T>,
    back: Buffer<T>,
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
        Self { name: name.into(), unit: unit.into(), kind, words, display: None }
    }

    /// Sets how the column is displayed.
    pub fn shown_as(self, display: Display) -> Self {
        Self { display: Some(display), ..self }
    }
}

/// A column of any element type, as permutations require it.
pub trait AnyColumn {
    /// Returns a type-erased view of the column.
    fn view(&self) -> ColumnView;
    /// Returns the back buffer as 32-bit words.
    fn back_words(&self) -> Buffer<u32>;
    /// Makes the back buffer the front. Only the names are swapped; no data moves.
    fn swap(&mut self);
}

impl<T: Element> Column<T> {
    /// Makes a column of undefined contents.
    ///
    /// # Errors
    /// Out of memory, or a size beyond what the device can bind.
    pub fn new(device: &Device, name: &'static str, unit: &'static str, capacity: usize) -> Result<Self> {
        let front = device.buffer(name, capacity)?;
        let back = device.buffer(&format!("{name} (back)"), capacity)?;
        Ok(Self { name, unit, kind: T::KIND, front, back })
    }

    /// Returns the front buffer, which holds the state.
    pub fn front(&self) -> &Buffer<T> {
        &self.front
    }

    /// Returns the back buffer: target of the next permutation, scratch memory in between.
    pub fn back(&self) -> &Buffer<T> {
        &self.back
    }

    /// Makes `next` the front buffer and returns the old one: for a pass that wrote the whole column
    /// elsewhere.
    pub fn replace_front(&mut self, next: Buffer<T>) -> Buffer<T> {
        std::mem::replace(&mut self.front, next)
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

impl<T: Element> AnyColumn for Column<T> {
    fn view(&self) -> ColumnView {
        ColumnView::new(self.name, self.unit, self.kind, self.front.cast())
    }

    fn back_words(&self) -> Buffer<u32> {
        self.back.cast()
    }

    fn swap(&mut self) {
        std::mem::swap(&mut self.front, &mut self.back);
    }
}
