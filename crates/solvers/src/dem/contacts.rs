//! What grains touch, and what their contacts remember: a row each, found anew in every step.

use super::parameters::{DemParameters, MAX_CONTACTS};
use super::particles::Grains;
use super::touching::for_each_neighbour;
use crate::SolverError;
use crate::saved::Saved;
use frazil_kernels::{Counts, Scan, ScanOptions};
use frazil_particles::{AnyColumn, Column, ColumnView};
use frazil_shaders::dem::{find_contacts, tidy_contacts};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// Words of a contact's shear spring and of the time that it has been slow.
const SHEAR_WORDS: u32 = 4;
/// Words of its spring against rolling.
const ROLLING_WORDS: u32 = 3;
/// Room for this many times the contacts that grains begin with, if that is more than a scene asks for.
const MARGIN: f64 = 1.125;

/// Contacts of grains before a step: the rows of grain i are those from `first_row[i]` up to `first_row[i + 1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// One more than there are grains.
    pub first_row: Vec<u32>,
    /// The other's id, or a surface's number.
    pub partner: Vec<u32>,
    /// Four words a row: the spring along the surface in m, and the time in s.
    pub shear: Vec<u32>,
    /// Three words a row: the spring against rolling. Empty where nothing resists rolling.
    pub rolling: Vec<u32>,
}

impl Rows {
    /// Grains that touch nothing yet.
    pub fn none(n: usize) -> Self {
        Self { first_row: vec![0; n + 1], partner: Vec::new(), shear: Vec::new(), rolling: Vec::new() }
    }

    /// Reads what [`Contacts::state_columns`] held.
    ///
    /// # Errors
    /// A column is missing, or has another length than the rows of all grains need.
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
        let partner = saved.any("contact_partner")?;
        if partner.len() < first_row[n] as usize {
            let problem = format!("has {} rows, expected {} at least", partner.len(), first_row[n]);
            return Err(SolverError::State { column: "contact_partner".into(), problem });
        }
        let of = |name, words: u32| saved.whole(name, words as usize * partner.len()).map(<[u32]>::to_vec);
        Ok(Self {
            first_row: first_row.to_vec(),
            shear: of("contact_shear", SHEAR_WORDS)?,
            rolling: if has_rolling { of("contact_rolling", ROLLING_WORDS)? } else { Vec::new() },
            partner: partner.to_vec(),
        })
    }

    /// How many there are, those in no use among them.
    pub fn len(&self) -> usize {
        self.partner.len()
    }
}

/// The rows on the device, and what finds out how many each grain needs.
pub struct Contacts {
    /// Where each grain's rows begin, and where the last one's end.
    pub first_row: Column<u32>,
    /// The other's id, or a surface's number; u32::MAX in a row whose contact ended.
    pub partner: Column<f32>,
    /// The spring along the surface in m, and the time in s.
    pub shear: Column<f32>,
    /// The spring against rolling; without rolling friction one place that nobody reads.
    pub rolling: Column<f32>,
    /// What is near each grain: `MAX_CONTACTS` counts of grains.
    pub near: Buffer<u32>,
    /// How many that are; behind the last grain's, 0.
    pub near_count: Buffer<u32>,
    /// Contacts that last.
    contact_count: Column<u32>,
    /// Grains, and one: what is scanned.
    ends: DeviceCount,
    scan: Scan,
    /// The kernel that finds them.
    pub find: Kernel<find_contacts::Interface>,
    tidy: Kernel<tidy_contacts::Interface>,
    has_rolling: bool,
}

impl Contacts {
    /// Room for `capacity` rows, of which some are in use. Set-up: it waits for the device.
    ///
    /// # Errors
    /// No memory, or more than the device can bind.
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
        let surroundings = &parameters.surroundings;
        let specialization = find_contacts::Specialization {
            workgroup_size,
            max_contacts: MAX_CONTACTS,
            has_bodies: (!surroundings.colliders.is_empty()).into(),
            has_pieces: (parameters.terms.n_pieces > 0).into(),
            has_meshes: surroundings.has_meshes().into(),
        };
        let tidy = tidy_contacts::Specialization { workgroup_size, has_rolling: has_rolling.into() };
        let options = ScanOptions { workgroup_size, ..Default::default() };
        let contacts = Self {
            first_row: Column::new(device, "contact_first_row", "1", n + 1)?,
            partner: of_rows("contact_partner", "1", 1, capacity)?,
            shear: of_rows("contact_shear", "m", SHEAR_WORDS, capacity)?,
            rolling: of_rows("contact_rolling", "1", ROLLING_WORDS, if has_rolling { capacity } else { 1 })?,
            near: device.buffer("near", n * MAX_CONTACTS as usize)?,
            near_count: device.buffer_from("near_count", &vec![0; n + 1])?,
            contact_count: Column::new(device, "contact_count", "1", n)?,
            ends: Counts::new(device)?.upload(device, "grains and one", n as u32 + 1, n as u32 + 1)?,
            scan: Scan::with_options(device, n as u32 + 1, options)?,
            find: Kernel::specialized(device, &specialization)?,
            tidy: Kernel::specialized(device, &tidy)?,
            has_rolling,
        };
        contacts.upload(device, rows)?;
        Ok(contacts)
    }

    fn upload(&self, device: &Device, rows: &Rows) -> Result<(), SolverError> {
        device.upload(self.first_row.front(), &rows.first_row)?;
        let mut columns = vec![(&self.partner, &rows.partner), (&self.shear, &rows.shear)];
        if self.has_rolling {
            columns.push((&self.rolling, &rows.rolling));
        }
        for (column, words) in columns.into_iter().filter(|(_, words)| !words.is_empty()) {
            device.upload(&column.front().cast(), words)?;
        }
        Ok(())
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> u32 {
        self.partner.front().len() as u32
    }

    /// Records where each grain's rows will begin, from how many are near it.
    ///
    /// # Errors
    /// The scan refuses.
    pub fn record_rows(&self, recorder: &mut Recorder) -> Result<(), SolverError> {
        Ok(self.scan.record(recorder, &self.ends, &self.near_count, self.first_row.back(), None)?)
    }

    /// What was written becomes what is read.
    pub fn swap(&mut self) {
        let columns: [&mut dyn AnyColumn; 4] =
            [&mut self.first_row, &mut self.partner, &mut self.shear, &mut self.rolling];
        columns.into_iter().for_each(AnyColumn::swap);
    }

    /// Records the count of each grain's contacts, and what makes equal states of equal bits.
    pub fn tidy(&self, recorder: &mut Recorder, count: &DeviceCount) {
        let partner: Buffer<u32> = self.partner.front().cast();
        let bindings = tidy_contacts::Bindings {
            count: &count.count,
            first_row: self.first_row.front(),
            partner: &partner,
            shear: &self.shear.front().cast(),
            rolling: &self.rolling.front().cast(),
            contact_count: self.contact_count.front(),
        };
        let threads = partner.len().max(count.capacity as usize);
        recorder.dispatch(&self.tidy, Threads::Fixed(threads), bindings, ());
    }

    /// How many contacts each grain has, once tidy.
    pub fn count_view(&self) -> ColumnView {
        self.contact_count.view()
    }

    /// All that the next step depends on; tidy only after [`Self::tidy`].
    pub fn state_columns(&self) -> Vec<ColumnView> {
        let mut columns = vec![self.first_row.view(), self.partner.view(), self.shear.view()];
        if self.has_rolling {
            columns.push(self.rolling.view());
        }
        columns
    }
}

/// As many rows as a scene asks for, or more if its grains begin closer than it says. Walls and bodies are within the margin.
pub fn capacity_for(parameters: &DemParameters, grains: &Grains) -> usize {
    let t = &parameters.terms;
    let bond_gap_m = if t.has_bonds != 0 { t.bond_strength_n / t.normal_stiffness_n_m } else { 0.0 };
    let gap_m = t.cohesion_range_m.max(bond_gap_m);
    let mut n_near = 0_u64;
    for_each_neighbour(grains, |r, other| r + other + gap_m, |_, _| n_near += 1);
    parameters.n_rows(grains.positions_m.len()).max((MARGIN * n_near as f64).ceil() as usize)
}

/// Rows of bonds between grains that touch.
///
/// # Errors
/// A grain touches more than can be remembered.
pub fn bonded_rows(grains: &Grains, has_rolling: bool) -> Result<Rows, SolverError> {
    let n = grains.positions_m.len();
    let mut rows = Rows::none(n);
    let touches = |r: f32, other: f32| r + other + TOUCHING_RADII * r.min(other);
    for_each_neighbour(grains, touches, |i, j| {
        rows.first_row[i + 1] += 1;
        rows.partner.push(j as u32);
    });
    if rows.first_row.iter().any(|&n| n > MAX_CONTACTS) {
        let problem = format!("has a grain that touches more than {MAX_CONTACTS} others at the start");
        return Err(SolverError::State { column: "position".into(), problem });
    }
    for i in 0..n {
        rows.first_row[i + 1] += rows.first_row[i];
    }
    rows.shear = [0.0, 0.0, 0.0, BONDED].map(f32::to_bits).repeat(rows.len());
    rows.rolling = if has_rolling { vec![0; ROLLING_WORDS as usize * rows.len()] } else { Vec::new() };
    Ok(rows)
}

/// The time that says of a contact that it is a bond.
const BONDED: f32 = -1.0;
/// Gaps of this share of a radius count as touching.
const TOUCHING_RADII: f32 = 0.01;
