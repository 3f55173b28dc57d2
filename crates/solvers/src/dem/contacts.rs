//! Contacts of grains and their histories, one row each, detected in every step.

use super::grains::Grains;
use super::parameters::{DemParameters, MAX_CONTACTS};
use super::touching::for_each_neighbour;
use crate::SolverError;
use crate::saved::Saved;
use frazil_kernels::{Counts, Scan, ScanOptions};
use frazil_particles::{AnyColumn, Column, ColumnView};
use frazil_shaders::dem::{find_contacts, tidy_contacts};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// Words of a contact's tangential spring and of the time for which it has been slow.
const SHEAR_WORDS: u32 = 4;

/// Number of words that identify the partner of a contact and hold its rolling spring, as in
/// `dem/contact_rows.glsl`.
fn contact_words(has_rolling: bool) -> u32 {
    if has_rolling { 4 } else { 1 }
}
/// Factor on the number of initial contacts that sets the capacity, if that exceeds what the scene asks for.
const MARGIN: f64 = 1.125;

/// Contacts of grains before a step: the rows of grain i are those from `first_row[i]` up to `first_row[i +
/// 1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// Index of the first row of each grain, and the end of the last; one more than there are grains.
    pub first_row: Vec<u32>,
    /// One word per row: the partner's id and the bond state, or the number of a surface. With rolling
    /// resistance three more: the rolling spring.
    pub contact: Vec<u32>,
    /// Four words per row: the tangential spring in m, and the slow time in s.
    pub shear: Vec<u32>,
}

impl Rows {
    /// Returns the rows of grains without contacts.
    pub fn none(n: usize) -> Self {
        Self { first_row: vec![0; n + 1], contact: Vec::new(), shear: Vec::new() }
    }

    /// Reads the columns that [`Contacts::state_columns`] returned.
    ///
    /// # Errors
    /// A column is missing, or its length does not match the rows of all grains.
    pub fn of(saved: &Saved<'_>, has_rolling: bool) -> Result<Self, SolverError> {
        let n = saved.ids.len();
        let first_row = saved.whole("contact_first_row", n + 1)?;
        let wrong = |problem| Err(SolverError::State { column: "contact_first_row".into(), problem });
        if let Some(i) = (0..n).find(|&i| first_row[i + 1].wrapping_sub(first_row[i]) > MAX_CONTACTS) {
            let [from, to] = [first_row[i], first_row[i + 1]];
            return wrong(format!("has rows {from} to {to} for one grain, expected {MAX_CONTACTS} at most"));
        }
        if first_row[0] != 0 {
            return wrong(format!("begins with {}, expected 0", first_row[0]));
        }
        let shear = saved.any("contact_shear")?;
        let n_rows = shear.len() / SHEAR_WORDS as usize;
        if n_rows < first_row[n] as usize {
            let problem = format!("has {n_rows} rows, expected {} at least", first_row[n]);
            return Err(SolverError::State { column: "contact_shear".into(), problem });
        }
        let contact = saved.whole("contact", contact_words(has_rolling) as usize * n_rows)?;
        Ok(Self { first_row: first_row.to_vec(), contact: contact.to_vec(), shear: shear.to_vec() })
    }

    /// Returns the number of rows, including unused ones.
    pub fn len(&self) -> usize {
        self.shear.len() / SHEAR_WORDS as usize
    }
}

/// Contact rows on the device, and the passes that count the rows each grain needs.
pub struct Contacts {
    /// Index of the first row of each grain, and the end of the last.
    pub first_row: Column<u32>,
    /// Partner of each contact, and its rolling spring if there is rolling resistance.
    pub contact: Column<f32>,
    /// Tangential spring in m, and the slow time in s.
    pub shear: Column<f32>,
    /// Neighbours of each grain: `MAX_CONTACTS` times the number of grains.
    pub near: Buffer<u32>,
    /// Number of neighbours of each grain; 0 after the last grain.
    pub near_count: Buffer<u32>,
    /// Number of persistent contacts of each grain.
    contact_count: Column<u32>,
    /// Number of grains plus one: the length of the scan.
    ends: DeviceCount,
    scan: Scan,
    /// Kernel that detects contacts.
    pub find: Kernel<find_contacts::Interface>,
    tidy: Kernel<tidy_contacts::Interface>,
    capacity: usize,
}

impl Contacts {
    /// Makes buffers for `capacity` rows, some of them in use. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory, or more than the device can bind.
    pub fn new(
        device: &Device,
        parameters: &DemParameters,
        rows: &Rows,
        capacity: usize,
        workgroup_size: u32,
    ) -> Result<Self, SolverError> {
        let n = rows.first_row.len() - 1;
        let has_rolling = parameters.has_rolling();
        let capacity = capacity.max(1);
        let of_rows = |name, unit, words, n| Column::of_matrices(device, name, unit, words, n);
        let tidy = tidy_contacts::Specialization { workgroup_size, has_rolling: has_rolling.into() };
        let options = ScanOptions::for_device(device, workgroup_size);
        let contacts = Self {
            first_row: Column::new(device, "contact_first_row", "1", n + 1)?,
            contact: of_rows("contact", "1", contact_words(has_rolling), capacity)?,
            shear: of_rows("contact_shear", "m", SHEAR_WORDS, capacity)?,
            near: device.buffer("near", n * MAX_CONTACTS as usize)?,
            near_count: device.buffer_from("near_count", &vec![0; n + 1])?,
            contact_count: Column::new(device, "contact_count", "1", n)?,
            ends: Counts::new(device)?.upload(device, "grains and one", n as u32 + 1, n as u32 + 1)?,
            scan: Scan::with_options(device, n as u32 + 1, options)?,
            find: find_kernel(device, parameters, workgroup_size)?,
            tidy: Kernel::specialized(device, &tidy)?,
            capacity,
        };
        contacts.upload(device, rows)?;
        Ok(contacts)
    }

    /// Adopts bodies of the same shapes with other motions.
    pub fn set_bodies(
        &mut self,
        device: &Device,
        parameters: &DemParameters,
        workgroup_size: u32,
    ) -> Result<(), SolverError> {
        self.find = find_kernel(device, parameters, workgroup_size)?;
        Ok(())
    }

    fn upload(&self, device: &Device, rows: &Rows) -> Result<(), SolverError> {
        device.upload(self.first_row.front(), &rows.first_row)?;
        for (column, words) in [(&self.contact, &rows.contact), (&self.shear, &rows.shear)] {
            if !words.is_empty() {
                device.upload(&column.front().cast(), words)?;
            }
        }
        Ok(())
    }

    /// Returns the capacity in rows.
    pub fn n_rows(&self) -> u32 {
        self.capacity as u32
    }

    /// Records the scan of neighbour counts to the first row of each grain.
    ///
    /// # Errors
    /// The scan returns an error.
    pub fn record_rows(&self, recorder: &mut Recorder) -> Result<(), SolverError> {
        Ok(self.scan.record(recorder, &self.ends, &self.near_count, self.first_row.back(), None)?)
    }

    /// Swaps the columns just written with those to be read.
    pub fn swap(&mut self) {
        let columns: [&mut dyn AnyColumn; 3] = [&mut self.first_row, &mut self.contact, &mut self.shear];
        columns.into_iter().for_each(AnyColumn::swap);
    }

    /// Records the count of each grain's contacts, and clears unused words, so that equal states have equal
    /// bits.
    pub fn tidy(&self, recorder: &mut Recorder, count: &DeviceCount) {
        let bindings = tidy_contacts::Bindings {
            count: &count.count,
            first_row: self.first_row.front(),
            contact: &self.contact.front().cast(),
            shear: &self.shear.front().cast(),
            contact_count: self.contact_count.front(),
        };
        let threads = self.capacity.max(count.capacity as usize);
        recorder.dispatch(&self.tidy, Threads::Fixed(threads), bindings, ());
    }

    /// Returns the number of contacts of each grain, valid after [`Self::tidy`].
    pub fn count_view(&self) -> ColumnView {
        self.contact_count.view()
    }

    /// Returns all columns that the next step depends on; canonical only after [`Self::tidy`].
    pub fn state_columns(&self) -> Vec<ColumnView> {
        vec![self.first_row.view(), self.contact.view(), self.shear.view()]
    }
}

/// Returns the capacity in rows that a scene asks for, or more if its grains are initially closer than it
/// says. Contacts with walls and bodies are covered by the margin.
pub fn capacity_for(parameters: &DemParameters, grains: &Grains) -> usize {
    let t = &parameters.terms;
    let bond_gap_m = if t.has_bonds != 0 { t.bond_strength_n / t.normal_stiffness_n_m } else { 0.0 };
    let gap_m = t.cohesion_range_m.max(bond_gap_m);
    let mut n_near = 0_u64;
    for_each_neighbour(grains, |r, other| r + other + gap_m, |_, _| n_near += 1);
    parameters.n_rows(grains.positions_m.len()).max((MARGIN * n_near as f64).ceil() as usize)
}

/// Returns rows with bonds between grains that touch.
///
/// # Errors
/// A grain touches more than `MAX_CONTACTS` others.
pub fn bonded_rows(grains: &Grains, has_rolling: bool) -> Result<Rows, SolverError> {
    let n = grains.positions_m.len();
    let mut rows = Rows::none(n);
    let touches = |r: f32, other: f32| r + other + TOUCHING_RADII * r.min(other);
    for_each_neighbour(grains, touches, |i, j| {
        rows.first_row[i + 1] += 1;
        rows.contact.extend([BONDED | j as u32, 0, 0, 0].iter().take(contact_words(has_rolling) as usize));
        rows.shear.extend([0; SHEAR_WORDS as usize]);
    });
    if rows.first_row.iter().any(|&n| n > MAX_CONTACTS) {
        let problem = format!("has a grain that touches more than {MAX_CONTACTS} others at the start");
        return Err(SolverError::State { column: "position".into(), problem });
    }
    for i in 0..n {
        rows.first_row[i + 1] += rows.first_row[i];
    }
    Ok(rows)
}

/// Bit of a partner's word that marks a contact as a bond, as in `dem/contact_rows.glsl`.
const BONDED: u32 = 1 << 30;
/// Largest gap that counts as touching, as a share of a radius.
const TOUCHING_RADII: f32 = 0.01;

/// Makes the kernel that finds contacts.
fn find_kernel(
    device: &Device,
    parameters: &DemParameters,
    workgroup_size: u32,
) -> frazil_vk::Result<Kernel<find_contacts::Interface>> {
    let surroundings = &parameters.surroundings;
    let specialization = find_contacts::Specialization {
        workgroup_size,
        max_contacts: MAX_CONTACTS,
        has_bodies: (!surroundings.bodies.is_empty()).into(),
        has_pieces: (parameters.terms.n_pieces > 0).into(),
        body_kinds: surroundings.kinds(),
        has_motion: surroundings.has_motion().into(),
    };
    Kernel::specialized(device, &specialization)
}
