//! The grains: their columns, what their contacts remember, and the one permutation a step.

use super::parameters::{DemParameters, MAX_CONTACTS};
use crate::SolverError;
use crate::saved::check_lengths;
use frazil_kernels::Counts;
use frazil_particles::{AnyColumn, Column, ColumnView, PhaseArray};
use frazil_shaders::dem::{reorder, tidy_contacts};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// Grains as they are when a simulation begins, touching nothing yet: columns of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grains {
    /// Positions in m.
    pub positions_m: Vec<[f32; 3]>,
    /// Velocities in m/s.
    pub velocities_m_s: Vec<[f32; 3]>,
    /// Angular velocities in 1/s.
    pub spins_1_s: Vec<[f32; 3]>,
    /// Radii in m.
    pub radii_m: Vec<f32>,
}

/// Words of a contact's shear spring and of the time that it has been slow.
const SHEAR_WORDS: u32 = 4;
/// Words of its spring against rolling.
const ROLLING_WORDS: u32 = 3;

/// What contacts remember: `MAX_CONTACTS` places a grain, of which those in use come first.
pub struct Contacts {
    /// How many there are.
    pub count: Column<u32>,
    /// The other's id, or a surface's number.
    pub partner: Column<f32>,
    /// The spring along the surface in m, and the time in s.
    pub shear: Column<f32>,
    /// The spring against rolling; without rolling friction one place that nobody reads.
    pub rolling: Column<f32>,
}

impl Contacts {
    fn new(device: &Device, n: usize, has_rolling: bool) -> Result<Self, SolverError> {
        let rows = |name, unit, words| Column::of_matrices(device, name, unit, words * MAX_CONTACTS, n);
        let n_rolling = if has_rolling { n } else { 1 };
        let words = ROLLING_WORDS * MAX_CONTACTS;
        let contacts = Self {
            count: Column::new(device, "contact_count", "1", n)?,
            partner: rows("contact_partner", "1", 1)?,
            shear: rows("contact_shear", "m", SHEAR_WORDS)?,
            rolling: Column::of_matrices(device, "contact_rolling", "1", words, n_rolling)?,
        };
        device.upload(contacts.count.front(), &vec![0; n])?;
        Ok(contacts)
    }

    /// What was written becomes what is read.
    pub fn swap(&mut self) {
        let columns: [&mut dyn AnyColumn; 4] =
            [&mut self.count, &mut self.partner, &mut self.shear, &mut self.rolling];
        columns.into_iter().for_each(AnyColumn::swap);
    }
}

/// Grains on the device.
pub struct Particles {
    /// Position, velocity, id and count.
    pub phase: PhaseArray,
    /// Angular velocity in 1/s.
    pub spin: Column<[f32; 3]>,
    /// Radius in m.
    pub radius: Column<f32>,
    /// What contacts remember, in the order that the step before left.
    pub contacts: Contacts,
    has_rolling: bool,
    reorder: Kernel<reorder::Interface>,
    tidy: Kernel<tidy_contacts::Interface>,
}

impl Particles {
    /// Makes columns and uploads what grains begin with. Set-up: it waits for the device.
    ///
    /// # Errors
    /// No memory; columns of different lengths.
    pub fn upload(
        device: &Device,
        parameters: &DemParameters,
        grains: &Grains,
        ids: Option<&[u32]>,
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
        let (positions, velocities) = (&grains.positions_m, &grains.velocities_m_s);
        let counts = Counts::new(device)?;
        let phase =
            PhaseArray::restore(device, &counts, positions, velocities, ids.unwrap_or(&own), n as u32)?;
        let has_rolling = parameters.has_rolling();
        let specialization = tidy_contacts::Specialization {
            workgroup_size,
            max_contacts: MAX_CONTACTS,
            has_rolling: has_rolling.into(),
        };
        let particles = Self {
            spin: Column::new(device, "spin", "1/s", n)?,
            radius: Column::new(device, "radius", "m", n)?,
            contacts: Contacts::new(device, n, has_rolling)?,
            has_rolling,
            reorder: Kernel::specialized(device, &reorder::Specialization { workgroup_size })?,
            tidy: Kernel::specialized(device, &specialization)?,
            phase,
        };
        device.upload(particles.spin.front(), &grains.spins_1_s)?;
        device.upload(particles.radius.front(), &grains.radii_m)?;
        Ok(particles)
    }

    /// How many there are, on the device.
    pub fn count(&self) -> &DeviceCount {
        &self.phase.count
    }

    /// Records the move of what others read to the order given; contacts stay.
    pub fn permute(&mut self, recorder: &mut Recorder, order: &Buffer<u32>) {
        let bindings = reorder::Bindings {
            count: &self.phase.count.count,
            order,
            position: self.phase.position.front(),
            velocity: self.phase.velocity.front(),
            spin: self.spin.front(),
            radius: self.radius.front(),
            id: self.phase.id.front(),
            moved_position: self.phase.position.back(),
            moved_velocity: self.phase.velocity.back(),
            moved_spin: self.spin.back(),
            moved_radius: self.radius.back(),
            moved_id: self.phase.id.back(),
        };
        recorder.dispatch(&self.reorder, Threads::Counted(&self.phase.count), bindings, ());
        let columns: [&mut dyn AnyColumn; 5] = [
            &mut self.phase.position,
            &mut self.phase.velocity,
            &mut self.spin,
            &mut self.radius,
            &mut self.phase.id,
        ];
        columns.into_iter().for_each(AnyColumn::swap);
    }

    /// What moved and what contacts remember becomes the state.
    pub fn swap_moved(&mut self) {
        let columns: [&mut dyn AnyColumn; 3] =
            [&mut self.phase.position, &mut self.phase.velocity, &mut self.spin];
        columns.into_iter().for_each(AnyColumn::swap);
        self.contacts.swap();
    }

    /// Records what makes equal states of equal bits.
    pub fn tidy(&self, recorder: &mut Recorder) {
        let bindings = tidy_contacts::Bindings {
            count: &self.phase.count.count,
            contact_count: self.contacts.count.front(),
            partner: &self.contacts.partner.front().cast(),
            shear: &self.contacts.shear.front().cast(),
            rolling: &self.contacts.rolling.front().cast(),
        };
        recorder.dispatch(&self.tidy, Threads::Counted(&self.phase.count), bindings, ());
    }

    /// What can be shown, recorded and exported.
    pub fn columns(&self) -> Vec<ColumnView> {
        vec![
            self.phase.position.view(),
            self.phase.velocity.view(),
            self.phase.id.view(),
            self.radius.view(),
            self.spin.view(),
            self.contacts.count.view(),
        ]
    }

    /// That, and all else that the next step depends on; tidy only after [`Self::tidy`].
    pub fn state_columns(&self) -> Vec<ColumnView> {
        let mut columns = self.columns();
        columns.extend([self.contacts.partner.view(), self.contacts.shear.view()]);
        if self.has_rolling {
            columns.push(self.contacts.rolling.view());
        }
        columns
    }

    /// Uploads contacts that were saved.
    ///
    /// # Errors
    /// The device is lost.
    pub fn restore_contacts(
        &self,
        device: &Device,
        count: &[u32],
        partner: &[u32],
        shear: &[u32],
        rolling: Option<&[u32]>,
    ) -> Result<(), SolverError> {
        device.upload(self.contacts.count.front(), count)?;
        device.upload(&self.contacts.partner.front().cast(), partner)?;
        device.upload(&self.contacts.shear.front().cast(), shear)?;
        if let Some(rolling) = rolling {
            device.upload(&self.contacts.rolling.front().cast(), rolling)?;
        }
        Ok(())
    }

    /// Words that a saved grain has in each column of contacts: partners, shear and, where there is one, rolling.
    pub fn contact_words(&self) -> [usize; 3] {
        [1, SHEAR_WORDS, ROLLING_WORDS].map(|words| (words * MAX_CONTACTS) as usize)
    }
}
