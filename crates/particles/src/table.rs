//! Table of the columns of a set of particles, each registered once with its uses: permutation, recordings,
//! checkpoints and pictures follow from them.

use crate::column::{Column, ColumnKind, ColumnView, Element};
use crate::permutation::Permutation;
use crate::saved::{Saved, StateError};
use frazil_kernels::Counts;
use frazil_vk::{Buffer, Device, DeviceCount, DoubleBuffer, Recorder, Result};
use std::borrow::Cow;
use std::ops::Range;

/// Uses of a column beyond the step: recordings, checkpoints, pictures and the permutation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    is_recorded: bool,
    is_state: bool,
    is_shown: bool,
    is_permuted: bool,
}

impl Uses {
    /// Recordings, exports, pictures and checkpoints.
    pub const RECORDED: Self = Self { is_recorded: true, is_state: true, is_shown: true, is_permuted: false };
    /// Recordings, exports and pictures, computed for them: no step depends on it.
    pub const OUTPUT: Self = Self { is_recorded: true, is_state: false, is_shown: true, is_permuted: false };
    /// Checkpoints alone: the next step depends on it.
    pub const STATE: Self = Self { is_recorded: false, is_state: true, is_shown: false, is_permuted: false };

    /// Follows the particles through the permutation of a step.
    pub const fn permuted(self) -> Self {
        Self { is_permuted: true, ..self }
    }

    /// Follows them if `condition` is true; else all of its elements are equal, or a pass of its own moves
    /// it.
    pub const fn permuted_if(self, condition: bool) -> Self {
        Self { is_permuted: condition, ..self }
    }

    /// Is also for pictures.
    pub const fn shown(self) -> Self {
        Self { is_shown: true, ..self }
    }
}

/// Columns of one set of particles, their count, and other arrays that checkpoints hold.
pub struct ParticleTable {
    device: Device,
    count: DeviceCount,
    permutation: Permutation,
    columns: Vec<(Column<u32>, Uses)>,
    /// Components of records, for pictures.
    components: Vec<ColumnView>,
    arrays: Vec<Array>,
}

/// Part of a checkpoint whose length is not that of the particles.
struct Array {
    name: Cow<'static, str>,
    unit: &'static str,
    kind: ColumnKind,
    words: DoubleBuffer<u32>,
    /// True if [`ParticleTable::restore_arrays`] restores it, false if its owner does.
    is_restored: bool,
}

impl ParticleTable {
    /// Makes a table of `n` particles without columns, with room for `capacity`. Set-up only: waits for the
    /// device.
    ///
    /// # Errors
    /// Out of memory, or a workgroup size beyond the device's limits.
    ///
    /// # Panics
    /// If there are more particles than `capacity`.
    pub fn new(device: &Device, n: u32, capacity: u32, workgroup_size: u32) -> Result<Self> {
        Ok(Self {
            count: Counts::new(device)?.upload(device, "particle count", n, capacity)?,
            permutation: Permutation::with_workgroup_size(device, workgroup_size)?,
            columns: Vec::new(),
            components: Vec::new(),
            arrays: Vec::new(),
            device: device.clone(),
        })
    }

    /// Returns the number of particles, on the device.
    pub fn count(&self) -> &DeviceCount {
        &self.count
    }

    fn capacity(&self) -> usize {
        self.count.capacity as usize
    }

    /// Registers a double-buffered column, and uploads the values of the first particles; those of the others
    /// are undefined. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory, or a size beyond what the device can bind.
    pub fn column<T: Element>(
        &mut self,
        name: &'static str,
        unit: &'static str,
        uses: Uses,
        values: &[T],
    ) -> Result<Column<T>> {
        let column = Column::new(&self.device, name, unit, self.capacity())?;
        self.register(column, uses, values)
    }

    /// Like [`Self::column`], of matrices with this many entries each.
    ///
    /// # Errors
    /// Like [`Self::column`].
    pub fn matrices(
        &mut self,
        name: &'static str,
        unit: &'static str,
        entries: u32,
        uses: Uses,
        values: &[f32],
    ) -> Result<Column<f32>> {
        let column = Column::of_matrices(&self.device, name, unit, entries, self.capacity())?;
        self.register(column, uses, values)
    }

    /// Like [`Self::column`], of one buffer: for values that a step computes for the particles in their new
    /// order, so that nothing permutes them.
    ///
    /// # Errors
    /// Like [`Self::column`].
    pub fn computed<T: Element>(
        &mut self,
        name: &'static str,
        unit: &'static str,
        uses: Uses,
        values: &[T],
    ) -> Result<Column<T>> {
        let buffer = self.device.buffer(name, self.capacity())?;
        self.register(Column::single(name, unit, T::KIND, buffer), uses, values)
    }

    /// Registers a column like one of another table, of one buffer: for particles of several tables, merged.
    /// Set-up only: waits for the device.
    ///
    /// # Errors
    /// Like [`Self::column`].
    pub fn merged(&mut self, like: &Column<u32>, uses: Uses) -> Result<Column<u32>> {
        let len = self.capacity() * like.kind().words() as usize;
        let buffer = self.device.buffer(&format!("{} (all)", like.name()), len)?;
        let uses = uses.permuted_if(false);
        self.register(Column::single(like.name(), like.unit(), like.kind(), buffer), uses, &[])
    }

    /// Registers a buffer of records as a column of one type-erased element per particle.
    pub fn records(
        &mut self,
        name: &'static str,
        unit: &'static str,
        kind: ColumnKind,
        uses: Uses,
        words: Buffer<u32>,
    ) {
        self.columns.push((Column::single(name, unit, kind, words), uses));
    }

    /// Registers a word of a buffer of records of `stride` words per particle, for pictures.
    pub fn component(
        &mut self,
        name: &'static str,
        unit: &'static str,
        stride: u32,
        index: u32,
        words: Buffer<u32>,
    ) {
        let kind = ColumnKind::Component { stride, index };
        self.components.push(ColumnView::new(name, unit, kind, words));
    }

    /// Registers an array of any length that checkpoints hold, in place of one of the same name.
    pub fn array(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        unit: &'static str,
        kind: ColumnKind,
        words: DoubleBuffer<u32>,
    ) {
        let name = name.into();
        let place = self.arrays.iter().position(|array| array.name == name);
        let array = Array { name, unit, kind, words, is_restored: true };
        // At the same place: the hash of a state depends on the order of its columns.
        match place {
            Some(place) => self.arrays[place] = array,
            None => self.arrays.push(array),
        }
    }

    /// Like [`Self::array`], of an array that its owner restores: its length may change, or its order.
    pub fn array_of_owner(
        &mut self,
        name: &'static str,
        unit: &'static str,
        kind: ColumnKind,
        words: DoubleBuffer<u32>,
    ) {
        self.array(name, unit, kind, words);
        self.arrays.iter_mut().filter(|array| array.name == name).for_each(|array| array.is_restored = false);
    }

    fn register<T: bytemuck::Pod>(
        &mut self,
        column: Column<T>,
        uses: Uses,
        values: &[T],
    ) -> Result<Column<T>> {
        self.device.upload(column.front(), values)?;
        self.columns.push((column.words(), uses));
        Ok(column)
    }

    /// Records the step's one permutation: `new column[i] = old column[order[i]]` for each permuted column.
    ///
    /// `order` must be a permutation of 0 … count − 1.
    pub fn permute(&self, recorder: &mut Recorder, order: &Buffer<u32>) {
        self.permute_columns(recorder, order, &self.permuted());
    }

    /// Records the permutation of other columns.
    pub fn permute_columns(&self, recorder: &mut Recorder, order: &Buffer<u32>, columns: &[Column<u32>]) {
        self.permutation.record(recorder, &self.count, order, columns);
    }

    /// Returns the columns that follow the particles through a permutation.
    pub fn permuted(&self) -> Vec<Column<u32>> {
        self.columns.iter().filter(|(_, uses)| uses.is_permuted).map(|(column, _)| column.clone()).collect()
    }

    /// Returns the recorded and exported columns.
    pub fn recorded_columns(&self) -> Vec<ColumnView> {
        self.views(|uses| uses.is_recorded).collect()
    }

    /// Returns the columns that pictures can show.
    pub fn shown_columns(&self) -> Vec<ColumnView> {
        self.views(|uses| uses.is_shown).chain(self.components.iter().cloned()).collect()
    }

    /// Returns what a checkpoint holds: the recorded columns, the others that the next step depends on, and
    /// arrays of other lengths.
    pub fn state_columns(&self) -> Vec<ColumnView> {
        let arrays = self.arrays.iter().map(|Array { name, unit, kind, words, .. }| {
            let view = ColumnView::new(name.clone(), *unit, *kind, words.front().clone());
            ColumnView { is_of_particles: false, ..view }
        });
        let others = self.views(|uses| uses.is_state && !uses.is_recorded);
        self.recorded_columns().into_iter().chain(others).chain(arrays).collect()
    }

    fn views(&self, is_chosen: impl Fn(&Uses) -> bool) -> impl Iterator<Item = ColumnView> {
        self.columns.iter().filter(move |(_, uses)| is_chosen(uses)).map(|(column, _)| column.view())
    }

    /// Returns the columns with one element per particle that steps depend on, each with its uses.
    pub fn state_entries(&self) -> impl Iterator<Item = &(Column<u32>, Uses)> {
        self.columns.iter().filter(|(_, uses)| uses.is_state)
    }

    /// Uploads a saved state of as many particles as there are. Set-up only: waits for the device.
    ///
    /// # Errors
    /// A column is missing or has another length; the device was lost.
    pub fn restore(&self, saved: &Saved<'_>) -> std::result::Result<(), StateError> {
        self.restore_rows(saved, 0..saved.ids.len())?;
        self.restore_arrays(saved)
    }

    /// Uploads some rows of the columns of a saved state, to the first particles. Set-up only: waits for the
    /// device.
    ///
    /// # Errors
    /// Like [`Self::restore`].
    pub fn restore_rows(&self, saved: &Saved<'_>, rows: Range<usize>) -> std::result::Result<(), StateError> {
        for (column, _) in self.state_entries() {
            let words = column.kind().words() as usize;
            let all = saved.of(column.name(), words)?;
            self.device.upload(column.front(), &all[words * rows.start..words * rows.end])?;
        }
        Ok(())
    }

    /// Uploads the arrays of a saved state. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Like [`Self::restore`].
    pub fn restore_arrays(&self, saved: &Saved<'_>) -> std::result::Result<(), StateError> {
        for array in self.arrays.iter().filter(|array| array.is_restored) {
            let words = array.words.front();
            self.device.upload(words, saved.whole(&array.name, words.len())?)?;
        }
        Ok(())
    }
}
