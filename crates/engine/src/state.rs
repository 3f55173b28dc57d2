//! Read-back of columns from the device.

use crate::failure::Failure;
use frazil_io::{Checkpoint, Column, ColumnData, Frame};
use frazil_particles::{ColumnKind, ColumnView};
use frazil_scene::Scene;
use frazil_solvers::StateColumn;
use frazil_vk::{DeviceCount, Pending, ReadbackRing, Recorder};
use std::borrow::Cow;

/// A column with a pending copy to the host.
pub struct PendingColumn {
    name: Cow<'static, str>,
    unit: Cow<'static, str>,
    kind: ColumnKind,
    words: Pending<u32>,
    /// Number of particles, if it changes.
    count: Option<Pending<u32>>,
}

/// Words of a column on the host.
#[derive(Clone)]
pub struct HostColumn {
    /// Name of the column.
    pub name: Cow<'static, str>,
    unit: Cow<'static, str>,
    kind: ColumnKind,
    /// Words of all particles.
    pub words: Vec<u32>,
}

/// Records copies of the columns; of those of particles whose number changes only that of `count`.
pub fn read_columns(
    ring: &ReadbackRing,
    recorder: &mut Recorder,
    columns: &[ColumnView],
    count: Option<&DeviceCount>,
) -> frazil_vk::Result<Vec<PendingColumn>> {
    columns
        .iter()
        .map(|column| {
            let words = ring.read(recorder, &column.words, column.words.len())?;
            let count = count.filter(|_| column.is_of_particles);
            let count = count.map(|count| ring.read(recorder, &count.count, 1)).transpose()?;
            let ColumnView { name, unit, kind, .. } = column.clone();
            Ok(PendingColumn { name, unit, kind, words, count })
        })
        .collect()
}

impl PendingColumn {
    /// Waits for the column.
    ///
    /// # Errors
    /// The device was lost.
    pub fn wait(self) -> frazil_vk::Result<HostColumn> {
        let mut words = self.words.wait()?;
        if let Some(count) = self.count {
            let n = count.wait()?.first().map_or(0, |n| *n as usize);
            words.truncate(n * self.kind.words() as usize);
        }
        Ok(HostColumn { name: self.name, unit: self.unit, kind: self.kind, words })
    }
}

impl HostColumn {
    /// Returns the SI unit, `1` for none.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// Returns the type of the elements.
    pub fn kind(&self) -> ColumnKind {
        self.kind
    }
}

/// Returns the columns of particles and those of rigid bodies as a frame for files, in the given order;
/// columns of bodies with the same name become one.
pub fn frame<'a>(
    step: u64,
    time_s: f64,
    columns: impl IntoIterator<Item = &'a HostColumn>,
    bodies: &[HostColumn],
) -> Result<Frame, Failure> {
    let columns = columns.into_iter().map(file_column).collect::<Result<_, _>>()?;
    let mut joined: Vec<HostColumn> = Vec::new();
    for column in bodies {
        match joined.iter_mut().find(|other| other.name == column.name) {
            Some(other) => other.words.extend(&column.words),
            None => joined.push(column.clone()),
        }
    }
    let bodies = joined.iter().map(file_column).collect::<Result<_, _>>()?;
    Frame::new(step, time_s, columns).and_then(|frame| frame.with_bodies(bodies)).map_err(Failure::other)
}

fn file_column(column: &HostColumn) -> Result<Column, Failure> {
    let data = match column.kind {
        ColumnKind::U32 => ColumnData::U32(column.words.clone()),
        ColumnKind::F32 => ColumnData::F32(bytemuck::cast_slice(&column.words).to_vec()),
        ColumnKind::Vec3 => ColumnData::Vec3(bytemuck::cast_slice(&column.words).to_vec()),
        ColumnKind::Matrix(_) | ColumnKind::Component { .. } => {
            return Err(Failure::other(format!("column \"{}\": files hold no matrices", column.name)));
        }
    };
    // Columns have the unit "1" for a dimensionless number, files an empty unit.
    Ok(Column::new(&*column.name, if column.unit == "1" { "" } else { &*column.unit }, data))
}

/// Returns the columns in the form from which a solver is restored.
pub fn state_columns(
    sections: &std::collections::BTreeMap<String, Vec<u8>>,
) -> Result<Vec<StateColumn>, Failure> {
    let column = |(name, bytes): (&String, &Vec<u8>)| {
        if bytes.len() % size_of::<u32>() != 0 {
            return Err(Failure::input(format!(
                "saved state: column \"{name}\" has {} bytes, expected a multiple of four",
                bytes.len()
            )));
        }
        Ok(StateColumn { name: name.clone(), words: bytemuck::pod_collect_to_vec(bytes) })
    };
    sections.iter().map(column).collect()
}

/// Returns the checkpoint of a state, without outputs.
pub fn checkpoint(
    scene: &Scene,
    step: u64,
    time_s: f64,
    columns: &[HostColumn],
) -> Result<Checkpoint, Failure> {
    let section =
        |column: &HostColumn| (column.name.to_string(), bytemuck::cast_slice(&column.words).to_vec());
    Ok(Checkpoint {
        scene_json: serde_json::to_string(scene).map_err(Failure::other)?,
        step,
        time_s,
        seed: scene.seed,
        sections: columns.iter().map(section).collect(),
        outputs: None,
    })
}
