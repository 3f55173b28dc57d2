//! Columns of the grains, and the one permutation per step.

use super::contacts::{Contacts, Rows};
use super::grains::{Grains, MAX_GRAINS};
use super::parameters::DemParameters;
use crate::SolverError;
use crate::saved::check_lengths;
use frazil_kernels::Counts;
use frazil_particles::{AnyColumn, Column, ColumnView, PhaseArray};
use frazil_shaders::dem::reorder;
use frazil_shaders::types::{ContactLoad, GrainMotion};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// Grains on the device.
pub struct Particles {
    /// Position, velocity, id and count.
    pub phase: PhaseArray,
    /// Angular velocity in 1/s.
    pub spin: Column<[f32; 3]>,
    /// Radius in m.
    pub radius: Column<f32>,
    /// Contact histories, in the order of the previous step.
    pub contacts: Contacts,
    /// Centre and radius of each grain in m, in cell order, valid after [`Self::sort`].
    pub sphere: Buffer<[f32; 4]>,
    /// Motion of each grain, and its rows of contacts of the previous step.
    pub motion: Buffer<GrainMotion>,
    /// Sum of each grain's contact forces.
    pub load: Buffer<ContactLoad>,
    reorder: Kernel<reorder::Interface>,
}

impl Particles {
    /// Makes columns, with capacity for `capacity` rows of contacts, and uploads the initial state. Set-up
    /// only: waits for the device.
    ///
    /// # Errors
    /// Out of memory; columns of different lengths.
    pub fn upload(
        device: &Device,
        parameters: &DemParameters,
        grains: &Grains,
        ids: Option<&[u32]>,
        (rows, capacity): (&Rows, usize),
        workgroup_size: u32,
    ) -> Result<Self, SolverError> {
        let n = grains.positions_m.len();
        let lengths = [
            ("velocity", grains.velocities_m_s.len()),
            ("spin", grains.spins_1_s.len()),
            ("radius", grains.radii_m.len()),
            ("id", ids.map_or(n, <[u32]>::len)),
        ];
        check_lengths(n, lengths)?;
        let own: Vec<u32> = (0..n as u32).collect();
        if let Some(id) = ids.and_then(|ids| ids.iter().find(|id| **id >= MAX_GRAINS)) {
            let problem = format!("has id {id}, expected ids below {MAX_GRAINS}");
            return Err(SolverError::State { column: "id".into(), problem });
        }
        let (positions, velocities) = (&grains.positions_m, &grains.velocities_m_s);
        let counts = Counts::new(device)?;
        let phase =
            PhaseArray::restore(device, &counts, positions, velocities, ids.unwrap_or(&own), n as u32)?;
        let particles = Self {
            spin: Column::new(device, "spin", "1/s", n)?,
            radius: Column::new(device, "radius", "m", n)?,
            contacts: Contacts::new(device, parameters, rows, capacity, workgroup_size)?,
            sphere: device.buffer("grain sphere", n)?,
            motion: device.buffer("grain motion", n)?,
            load: device.buffer("contact load", n)?,
            reorder: Kernel::specialized(device, &reorder::Specialization { workgroup_size })?,
            phase,
        };
        device.upload(particles.spin.front(), &grains.spins_1_s)?;
        device.upload(particles.radius.front(), &grains.radii_m)?;
        Ok(particles)
    }

    /// Returns the number of grains, on the device.
    pub fn count(&self) -> &DeviceCount {
        &self.phase.count
    }

    /// Records the packing of the columns that neighbours read, in the given order; contacts do not move.
    pub fn sort(&mut self, recorder: &mut Recorder, order: &Buffer<u32>) {
        let bindings = reorder::Bindings {
            count: &self.phase.count.count,
            order,
            position: self.phase.position.front(),
            velocity: self.phase.velocity.front(),
            spin: self.spin.front(),
            radius: self.radius.front(),
            id: self.phase.id.front(),
            old_first_row: self.contacts.first_row.front(),
            moved_radius: self.radius.back(),
            moved_id: self.phase.id.back(),
            sphere: &self.sphere,
            motion: &self.motion,
        };
        recorder.dispatch(&self.reorder, Threads::Counted(&self.phase.count), bindings, ());
        self.radius.swap();
        self.phase.id.swap();
    }

    /// Makes the moved grains and the new contact histories the state.
    pub fn swap_moved(&mut self) {
        let columns: [&mut dyn AnyColumn; 3] =
            [&mut self.phase.position, &mut self.phase.velocity, &mut self.spin];
        columns.into_iter().for_each(AnyColumn::swap);
        self.contacts.swap();
    }

    /// Returns the columns to show, record and export; contacts are counted only after [`Contacts::tidy`].
    pub fn columns(&self) -> Vec<ColumnView> {
        vec![
            self.phase.position.view(),
            self.phase.velocity.view(),
            self.phase.id.view(),
            self.radius.view(),
            self.spin.view(),
            self.contacts.count_view(),
        ]
    }
}
