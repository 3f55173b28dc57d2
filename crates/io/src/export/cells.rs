//! Points and faces with their columns, as in the VTK formats.

use std::borrow::Cow;

use crate::frame::{Column, ColumnData, Frame};

/// Faces of rigid bodies at their current positions, each a convex polygon.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Faces {
    /// Positions of corners, in m.
    pub position: Vec<[f32; 3]>,
    /// Corners of all faces, face by face, counted from 0, counter-clockwise seen from outside.
    pub corners: Vec<u32>,
    /// End of each face in `corners`.
    pub ends: Vec<u32>,
    /// Body of each face, counted from 0.
    pub body: Vec<u32>,
}

impl Faces {
    /// Returns an iterator over the corners of each face.
    pub fn each(&self) -> impl Iterator<Item = &[u32]> {
        each(&self.corners, &self.ends)
    }
}

/// Contents of a VTK file: points, and cells (faces or single points) with their columns.
pub(super) struct Cells<'a> {
    pub of: &'static str,
    pub frame: &'a Frame,
    pub are_faces: bool,
    pub position: &'a [[f32; 3]],
    pub corners: Cow<'a, [u32]>,
    pub ends: Cow<'a, [u32]>,
    pub columns: Vec<Cow<'a, Column>>,
}

impl<'a> Cells<'a> {
    pub fn points(frame: &'a Frame, of: &'static str) -> Self {
        let n = u32::try_from(frame.len()).expect("particles are numbered by u32");
        Self {
            of,
            frame,
            are_faces: false,
            position: frame.positions(),
            corners: (0..n).collect(),
            ends: (1..=n).collect(),
            columns: attributes(frame).map(Cow::Borrowed).collect(),
        }
    }

    pub fn faces(frame: &'a Frame, of: &'static str, faces: &'a Faces) -> Self {
        Self {
            of,
            frame,
            are_faces: true,
            position: &faces.position,
            corners: Cow::Borrowed(&faces.corners),
            ends: Cow::Borrowed(&faces.ends),
            columns: attributes(frame).map(|column| Cow::Owned(picked(column, &faces.body))).collect(),
        }
    }

    pub fn each(&self) -> impl Iterator<Item = &[u32]> {
        each(&self.corners, &self.ends)
    }
}

fn each<'a>(corners: &'a [u32], ends: &'a [u32]) -> impl Iterator<Item = &'a [u32]> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, end)| &corners[start as usize..*end as usize])
}

/// Returns the values of a column at the indices `of`.
fn picked(column: &Column, of: &[u32]) -> Column {
    fn pick<T: Copy>(values: &[T], of: &[u32]) -> Vec<T> {
        of.iter().map(|idx| values[*idx as usize]).collect()
    }
    let data = match &column.data {
        ColumnData::U32(values) => ColumnData::U32(pick(values, of)),
        ColumnData::F32(values) => ColumnData::F32(pick(values, of)),
        ColumnData::Vec3(values) => ColumnData::Vec3(pick(values, of)),
    };
    Column::new(column.name.clone(), column.unit.clone(), data)
}

/// Returns the columns other than `position`.
pub(super) fn attributes(frame: &Frame) -> impl Iterator<Item = &Column> + Clone {
    frame.columns().iter().filter(|column| column.name != "position")
}
