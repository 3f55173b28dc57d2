//! Both phases merged into one set of columns for display and storage, whose length is constant.

use super::migration::Gather;
use super::phase_particles::PhaseParticles;
use crate::SolverError;
use frazil_kernels::Counts;
use frazil_particles::{AnyColumn, ColumnKind, ColumnView};
use frazil_shaders::snow::list_particles;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

pub(super) struct Output {
    list: Kernel<list_particles::Interface>,
    gather: Gather,
    /// Number of all particles.
    count: DeviceCount,
    source: Buffer<u32>,
    phase: Buffer<u32>,
    columns: Vec<ColumnView>,
}

/// Columns gathered from the phases, in order: name, unit, kind. `phase` is computed, not gathered.
const GATHERED: [(&str, &str, ColumnKind); 9] = [
    ("position", "m", ColumnKind::Vec3),
    ("velocity", "m/s", ColumnKind::Vec3),
    ("id", "1", ColumnKind::U32),
    ("density", "kg/m³", ColumnKind::F32),
    ("temperature", "°C", ColumnKind::F32),
    ("blend", "1", ColumnKind::F32),
    // The columns from here on are needed by the next step only.
    ("enthalpy", "J/kg", ColumnKind::F32),
    ("rest position", "m", ColumnKind::Vec3),
    ("key", "1", ColumnKind::U32),
];

/// Number of the columns of [`GATHERED`] that are shown.
const SHOWN: usize = 6;

impl Output {
    pub fn new(device: &Device, workgroup_size: u32, n_particles: u32) -> Result<Self, SolverError> {
        let n = n_particles as usize;
        let column = |(name, unit, kind): (&'static str, &'static str, ColumnKind)| {
            let words = device.buffer(&format!("{name} (all)"), n * kind.words() as usize)?;
            Ok(ColumnView::new(name, unit, kind, words))
        };
        Ok(Self {
            list: Kernel::specialized(device, &list_particles::Specialization { workgroup_size })?,
            gather: Gather::new(device, workgroup_size)?,
            count: Counts::new(device)?.upload(device, "all particles", n_particles, n_particles)?,
            source: device.buffer("source (all)", n)?,
            phase: device.buffer("phase", n)?,
            columns: GATHERED.into_iter().map(column).collect::<Result<_, SolverError>>()?,
        })
    }

    /// Records the merge of both phases into the columns, as of this point of the recorder.
    pub fn record(&self, recorder: &mut Recorder, solid: &PhaseParticles, fluid: &PhaseParticles) {
        let capacity = self.count.capacity;
        let bindings = list_particles::Bindings {
            count: &self.count.count,
            solids: &solid.phase.count.count,
            source: &self.source,
            phase: &self.phase,
        };
        let params = list_particles::Params { capacity };
        recorder.dispatch(&self.list, Threads::Counted(&self.count), bindings, params);
        let parts = words(solid).into_iter().zip(words(fluid));
        for (column, (solid, fluid)) in self.columns.iter().zip(parts) {
            let buffers = [&solid, &fluid, &column.words];
            self.gather.record(recorder, (&self.count, &self.source, capacity), buffers, column.kind.words());
        }
    }

    /// Returns the number of particles, on the device.
    pub fn count(&self) -> &DeviceCount {
        &self.count
    }

    /// Returns the columns to show, record and export.
    pub fn columns(&self) -> Vec<ColumnView> {
        let phase = ColumnView::new("phase", "1", ColumnKind::U32, self.phase.clone());
        self.columns[..SHOWN].iter().cloned().chain([phase]).collect()
    }

    /// Returns the other columns that the next step depends on.
    pub fn hidden_columns(&self) -> &[ColumnView] {
        &self.columns[SHOWN..]
    }
}

/// Returns the columns of [`GATHERED`] in a phase.
fn words(phase_particles: &PhaseParticles) -> [Buffer<u32>; GATHERED.len()] {
    [
        phase_particles.phase.position.view().words,
        phase_particles.phase.velocity.view().words,
        phase_particles.phase.id.view().words,
        phase_particles.density.cast(),
        phase_particles.temperature.view().words,
        phase_particles.blend.view().words,
        phase_particles.enthalpy.view().words,
        phase_particles.rest_position.view().words,
        phase_particles.key.clone(),
    ]
}
