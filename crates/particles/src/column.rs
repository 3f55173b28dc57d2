//! One property of all particles of a phase.

use crate::display::Display;
use bytemuck::Pod;
use frazil_vk::{Buffer, Device, Result};
use std::borrow::Cow;

/// What a column's elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// One unsigned integer.
    U32,
    /// One number.
    F32,
    /// Three numbers.
    Vec3,
    /// So many numbers: the entries of a matrix.
    Matrix(u32),
    /// One number of records of several: for pictures only, files take a column of its own.
    Component {
        /// 32-bit words a record takes.
        stride: u32,
        /// Which of them the number is.
        index: u32,
    },
}

impl ColumnKind {
    /// 32-bit words an element takes.
    pub fn words(self) -> u32 {
        match self {
            Self::U32 | Self::F32 => 1,
            Self::Vec3 => 3,
            Self::Matrix(entries) => entries,
            Self::Component { stride, .. } => stride,
        }
    }
}

/// The types that a column can hold.
pub trait Element: Pod {
    /// Which kind it is.
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

/// A property of particles, in two buffers.
#[derive(Debug)]
pub struct Column<T> {
    name: &'static str,
    unit: &'static str,
    kind: ColumnKind,
    front: Buffer<T>,
    back: Buffer<T>,
}

/// A column as others see it: its name, unit, kind, and the words of its front.
#[derive(Clone, Debug)]
pub struct ColumnView {
    /// Its name, as in files and on the command line.
    pub name: Cow<'static, str>,
    /// Its SI unit, `1` for none.
    pub unit: Cow<'static, str>,
    /// What its elements are.
    pub kind: ColumnKind,
    /// The state, as 32-bit words.
    pub words: Buffer<u32>,
    /// How it is shown, as far as its owner says.
    pub display: Option<Display>,
}

impl ColumnView {
    /// Views a buffer as a column of which its owner does not say how it is shown.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        unit: impl Into<Cow<'static, str>>,
        kind: ColumnKind,
        words: Buffer<u32>,
    ) -> Self {
        Self { name: name.into(), unit: unit.into(), kind, words, display: None }
    }

    /// Says how it is shown.
    pub fn shown_as(self, display: Display) -> Self {
        Self { display: Some(display), ..self }
    }
}

/// A column of any element type, as permutations need it.
pub trait AnyColumn {
    /// The column as others see it.
    fn view(&self) -> ColumnView;
    /// The back, as 32-bit words.
    fn back_words(&self) -> Buffer<u32>;
    /// Makes the back the front. Only names change places, not data.
    fn swap(&mut self);
}

impl<T: Element> Column<T> {
    /// Makes a column of undefined contents.
    ///
    /// # Errors
    /// No memory, or more than the device can bind.
    pub fn new(device: &Device, name: &'static str, unit: &'static str, capacity: usize) -> Result<Self> {
        let front = device.buffer(name, capacity)?;
        let back = device.buffer(&format!("{name} (back)"), capacity)?;
        Ok(Self { name, unit, kind: T::KIND, front, back })
    }

    /// The state.
    pub fn front(&self) -> &Buffer<T> {
        &self.front
    }

    /// Where the next permutation goes; scratch in between.
    pub fn back(&self) -> &Buffer<T> {
        &self.back
    }

    /// Makes `next` the front and returns the old front: for a pass that wrote all of a column somewhere else.
    pub fn replace_front(&mut self, next: Buffer<T>) -> Buffer<T> {
        std::mem::replace(&mut self.front, next)
    }
}

impl Column<f32> {
    /// Makes a column of matrices with so many entries each, of undefined contents.
    ///
    /// # Errors
    /// No memory, or more than the device can bind.
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
